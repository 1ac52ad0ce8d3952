package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// A line that deletes a Machine does so in the right place alone, for somebody who
// sees the cluster there, while nothing has the id.
func TestPoint26MachinesAreDeletedOnlyWhereTheirVMWouldBeSeen(t *testing.T) {
	vsphere := map[string]string{
		"another vCenter":            `*content.about.instanceUuid) echo 0a0a0a0a-0000-4000-8000-000000000001; exit ;;`,
		"a vCenter that fails":       `"govc "*instanceUuid) exit 1 ;;`,
		"a blind account":            `"govc find "*) exit ;;`,
		"a search that fails":        `"govc find "*` + staleID + `|"govc find "*` + copyID + `) exit 1 ;;`,
		"the VM is there":            `"govc find "*) echo /DC/vm/x; exit ;;`,
		"another management cluster": `*" get machines."*providerID*) echo vsphere://another; exit ;;`,
		"no management cluster":      `*" get machines."*providerID*) exit 1 ;;`,
	}
	aws := map[string]string{
		"another account":            `*get-caller-identity*) echo 999999999999; exit ;;`,
		"no account":                 `*get-caller-identity*) exit 254 ;;`,
		"another region":             `*"Values=` + ec2Living + `"*) exit ;;`,
		"a search that fails":        `*"Values=` + ec2StaleD + `"*) exit 254 ;;`,
		"the instance is there":      `*"Values=` + ec2StaleD + `"*) echo ` + ec2StaleD + `; exit ;;`,
		"another management cluster": vsphere["another management cluster"],
	}
	r := sample("alpha")
	seen := map[string]int{}
	for _, line := range linesWith(r, " delete machines.") {
		cases, kind := vsphere, "vsphere"
		if strings.Contains(line, "aws ") {
			cases, kind = aws, "aws"
		}
		seen[kind]++
		if o := try(t, line); !o.ok || !o.did("delete machines.") {
			t.Errorf("%s: it is not deleted where all is as it has to be: %s%s", kind, o.printed, line)
		}
		for name, c := range cases {
			if o := try(t, line, c); o.ok || o.did(" delete ") {
				t.Errorf("%s, %s: it goes on: %q", kind, name, o.calls)
			}
		}
	}
	if seen["vsphere"] != 2 || seen["aws"] != 1 {
		t.Errorf("%v lines delete Machines", seen)
	}
}

// unhealthy makes Unknown of what is Healthy in a cluster.
func unhealthy(c *report.Cluster) {
	for _, s := range sets(c) {
		for i := range s.machines {
			if s.machines[i].Status == code.Healthy {
				s.machines[i].Status, s.machines[i].Reason = code.Unknown, "ScopeIncomplete"
			}
		}
	}
	for i := range c.Workers.Groups {
		c.Workers.Groups[i].Counts.Healthy = 0
	}
	c.ControlPlane.Counts.Healthy = 0
}

// Where nothing proves the place, a person decides, and sees what to look at.
func TestPoint26WithoutAProofNoLineDeletes(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*report.Report)
		says   string
		worker bool // the Stale worker of vSphere is asked about, else that of AWS
	}{
		"nothing is Healthy": {func(r *report.Report) { unhealthy(&r.Clusters[0]) }, "no machine of its cluster is Healthy in vsphere vc.example", true},
		"healthy ones left out": {func(r *report.Report) {
			c := &r.Clusters[0].ControlPlane
			c.Machines = slices.DeleteFunc(c.Machines, func(m report.Machine) bool { return m.Status == code.Healthy })
		}, "is Healthy in", true},
		"vCenter not known":    {func(r *report.Report) { r.Scopes[0].Identity = "" }, "does not say which vCenter", true},
		"vCenter is no UUID":   {func(r *report.Report) { r.Scopes[0].Identity = "$(touch x)" }, "does not say which vCenter", true},
		"account not known":    {func(r *report.Report) { r.Scopes[1].Identity = "" }, "does not say which AWS account", false},
		"nothing lives on AWS": {func(r *report.Report) { unhealthy(&r.Clusters[1]) }, "is Healthy in aws", false},
		"VPC alone, Nodes not read": {func(r *report.Report) {
			unhealthy(&r.Clusters[1])
			r.Clusters[1].Resources = []report.Resource{{Kind: "VPC", Name: "vpc-0a1b2c3d4e5f60718", State: report.Present}}
		}, "Node list of its cluster was not read", false},
	} {
		r := sample("alpha")
		tt.change(r)
		Fill(r, providerTools)
		var m *report.Machine
		if tt.worker {
			m = find(t, r, code.Stale, "worker")
		} else {
			m = &r.Clusters[1].Workers.Groups[0].Machines[1]
		}
		text := fmt.Sprint(m.Remediation)
		if slices.ContainsFunc(commands(m.Remediation), deletesMachine) || !strings.Contains(text, tt.says) || !strings.Contains(text, "Decide by hand") || !strings.Contains(text, "describe") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// On AWS the VPC shows the region, where no machine does.
func TestPoint26AVPCShowsTheRegion(t *testing.T) {
	r := sample("alpha")
	unhealthy(&r.Clusters[1])
	r.Clusters[1].Nodes.State = "read"
	r.Clusters[1].Resources = []report.Resource{{Kind: "VPC", Name: "vpc-0a1b2c3d4e5f60718", State: report.Present}}
	lines := slices.DeleteFunc(linesWith(r, " delete machines."), func(l string) bool { return !strings.Contains(l, "aws ") })
	if len(lines) != 1 {
		t.Fatalf("%q", lines)
	}
	vpc := `*describe-vpcs*) echo vpc-0a1b2c3d4e5f60718; exit ;;`
	if o := try(t, lines[0], vpc); !o.did("delete machines.") {
		t.Errorf("%s", o.printed)
	}
	if o := try(t, lines[0]); o.did("delete machines.") {
		t.Errorf("it is deleted where the VPC is not: %q", o.calls)
	}
}

// Without a Node list no Machine is deleted before one was read.
func TestPointD1NodesAreReadBeforeAMachineIsDeleted(t *testing.T) {
	for _, state := range []string{"skipped", "unreachable", "denied", "noKubeconfig", ""} {
		r := sample("alpha")
		for i := range r.Clusters {
			r.Clusters[i].Nodes.State = state
		}
		r.Clusters[0].ControlPlane.Machines[2].Status = code.Unknown // workers alone
		lines := linesWith(r, " delete machines.")
		if len(lines) != 2 {
			t.Fatalf("%s: %q", state, lines)
		}
		for _, line := range lines {
			id, living := "vsphere://"+staleID, "vsphere://"+livingID
			if strings.Contains(line, "aws ") {
				id, living = "aws:///us-east-1a/"+ec2StaleD, "aws:///us-east-1a/"+ec2Living
			}
			for name, tt := range map[string]struct {
				nodes   string
				deletes bool
			}{
				"it has no Node":                {`echo "` + living + ` True "`, true},
				"its Node is left behind":       {`echo "` + living + ` True ` + id + ` Unknown "`, true},
				"its Node is alive":             {`echo "` + living + ` True ` + id + ` True "`, false},
				"the list is of another one":    {`echo "x://another True "`, false},
				"the list is empty":             {`true`, false},
				"the API server does not reply": {`false || exit 1`, false},
			} {
				if o := try(t, line, `*" get nodes "*) `+tt.nodes+`; exit ;;`); o.did("delete machines.") != tt.deletes {
					t.Errorf("%s, %s: %q\n%s", state, name, o.calls, o.printed)
				}
			}
		}
		if text := planText(t, r); !strings.Contains(text, "no Node with the id is Ready (the report was made without the Node list)") {
			t.Errorf("%s: the step does not say so", state)
		}
	}
	// With its whole control plane gone an API server can't be asked, and nothing is deleted.
	r := deleted()
	r.Clusters[0].Nodes.State = "unreachable"
	if got := linesWith(r, "delete machines.cluster.x-k8s.io/alpha-cp"); len(got) > 0 {
		t.Errorf("%q", got)
	}
	r = sample("alpha")
	m := find(t, r, code.Unknown, "worker")
	m.Reason, m.Instance = "NodeListUnread", nil
	Fill(r, providerTools)
	if text := fmt.Sprint(m.Remediation); !strings.Contains(text, "--skip-access-apiserver") || strings.Contains(text, "could not be decided") || slices.ContainsFunc(commands(m.Remediation), deletesMachine) {
		t.Error(text)
	}
}

// Where the report does not say which place it was made from, nothing of a Ghost is
// touched, nor is a VM given another id.
func TestPoint26GhostsOfAnUnknownPlaceStay(t *testing.T) {
	r := sample("alpha")
	r.Scopes[0].Identity, r.Scopes[1].Identity = "", ""
	m := find(t, r, code.Unknown, "worker")
	m.Reason, m.ProviderID, m.Others, m.Instance = "IdentityChanged", "vsphere://"+staleID, []report.Instance{*m.Instance}, nil
	Fill(r, providerTools)
	if text := fmt.Sprint(m.Remediation); len(m.Remediation) != 1 || strings.Contains(text, "FOUND") {
		t.Error(text)
	}
	ghosts := 0
	for i := range r.Clusters {
		for _, s := range sets(&r.Clusters[i]) {
			for _, m := range s.machines {
				if m.Status != code.Ghost {
					continue
				}
				ghosts++
				if text := fmt.Sprint(m.Remediation); len(m.Remediation) != 1 || !strings.Contains(text, "run detect again") || strings.Contains(text, " drain ") {
					t.Error(text)
				}
			}
		}
	}
	if ghosts != 3 {
		t.Errorf("%d Ghosts", ghosts)
	}
}

// The VM by which an account shows that it sees a cluster is where those of the
// cluster are: not one that was moved, while there is another, and one of the same
// group where there is any.
func TestPoint26TheWitnessIsASibling(t *testing.T) {
	r := sample("alpha")
	g := group(r)
	sibling := *find(t, r, code.Healthy, "control-plane")
	sibling.Role, sibling.Instance = "worker", vsphereVM("sibling", "66666666-6666-6666-6666-666666666666", 12)
	moved := sibling
	moved.Warnings, moved.Instance = []report.Warning{{Reason: "Moved"}}, vsphereVM("moved", "77777777-7777-7777-7777-777777777777", 13)
	rest := g.Machines
	for name, tt := range map[string]struct {
		add  []report.Machine
		want string
	}{
		"a sibling":      {[]report.Machine{moved, sibling}, sibling.Instance.ID},
		"moved siblings": {[]report.Machine{moved}, livingID},
		"no sibling":     {nil, livingID},
	} {
		g.Machines = append(slices.Clone(rest), tt.add...)
		Fill(r, providerTools)
		for _, c := range commands(find(t, r, code.Stale, "worker").Remediation) {
			if strings.Contains(c, " delete machines.") && !strings.Contains(c, `-config.uuid `+tt.want+`)" ||`) {
				t.Errorf("%s: %s", name, c)
			}
		}
	}
}
