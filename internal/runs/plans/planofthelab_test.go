package plans_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// runbookLines returns the commands of a runbook, each as one line, that hold a piece of text.
func runbookLines(plan, piece string) []string {
	return slices.DeleteFunc(strings.Split(runs.WholeLines(plan), "\n"), func(l string) bool { return !strings.Contains(l, piece) })
}

// scopeOf returns the only scope of a provider.
func scopeOf(t *testing.T, r *report.Report, provider string) *report.Scope {
	t.Helper()
	for i := range r.Scopes {
		if r.Scopes[i].Provider == provider {
			return &r.Scopes[i]
		}
	}
	t.Fatalf("no scope of %s", provider)
	return nil
}

// The report says which vCenter and which account it was made from, through a saved
// inventory, too, and each line that deletes a Machine looks first at the Nodes of its cluster, and
// whether its VM is gone.
func TestThePlanOfTheLabProvesItsPlace(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*runs.World{"fleet": runs.Fleet(t), "restored": runs.Restored(t)} {
		live := w.Detect()
		saved := filepath.Join(w.Dir, "inventory.json")
		runs.Run(t, slices.Concat([]string{"inventory", "-o", saved}, w.Sources(), w.Reach())...)
		offline := w.Run("--backup", w.Backups[0], "--inventory", saved)
		for _, r := range []*report.Report{live.Report, offline.Report} {
			if got := scopeOf(t, r, "vsphere").Identity; got != w.VCenter.InstanceUUID() || got == "" {
				t.Errorf("%s: the vCenter is %q, want %q", name, got, w.VCenter.InstanceUUID())
			}
			if name == "fleet" && scopeOf(t, r, "aws").Identity != lab.EC2Account {
				t.Errorf("the account is %q", scopeOf(t, r, "aws").Identity)
			}
		}
		runbook := w.Plan(live)
		deletes := runbookLines(runbook, " delete machines.cluster.x-k8s.io/")
		for _, l := range deletes {
			if strings.Contains(l, "AWS_1") {
				continue
			}
			if !regexp.MustCompile(` not-ready machine/\S+ .* gone machine/\S+ --at "\$\{VCENTER_1:\?\}" --restore "\$\{RESTORE:\?\}"(; \})? && .* delete machines\.`).MatchString(l) {
				t.Errorf("%s: %s", name, l)
			}
		}
		if len(deletes) < 5 {
			t.Errorf("%s: %d lines delete Machines", name, len(deletes))
		}
		// An inventory of an older release does not say where it was made.
		older := strings.ReplaceAll(string(runs.MustRead(t, saved)), `"identity": "`+w.VCenter.InstanceUUID()+`",`, "")
		if err := os.WriteFile(saved, []byte(older), 0o600); err != nil {
			t.Fatal(err)
		}
		text := w.Plan(w.Run("--backup", w.Backups[0], "--inventory", saved))
		if n := len(runbookLines(text, "govc vm.destroy")) + len(slices.DeleteFunc(runbookLines(text, " delete machines."), func(l string) bool { return strings.Contains(l, "AWS_1") })); n > 0 {
			t.Errorf("%s: %d lines delete in a vCenter that is not known", name, n)
		}
		if !strings.Contains(text, "does not say which vCenter") {
			t.Errorf("%s: it does not say why", name)
		}
	}
}

// A VM with the name of a lost control-plane machine lives in another folder.
func TestANamesakeOfALostControlPlane(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	for _, vm := range []string{"alpha-prod-jzxnt-clone", "jumphost-01"} { // which lie where its machines did
		if err := w.VCenter.Move(vm, "/DC0/vm/restored"); err != nil {
			t.Fatal(err)
		}
	}
	before := w.Plan(w.Detect())
	if !strings.Contains(before, "leave it out of the restore") || !strings.Contains(before, "notin (alpha-dev)") {
		t.Fatal("without a namesake the plan does not leave the lost cluster out")
	}
	if _, err := w.VCenter.Clone("alpha-prod-jzxnt-clone", lab.CloneSpec{Name: "alpha-dev-nzj74", Folder: "/DC0/vm/restored"}); err != nil {
		t.Fatal(err)
	}
	text := w.Plan(w.Detect())
	for _, not := range []string{"No machine of its control plane exists", "No machine of the control plane exists", "notin (alpha-dev)"} {
		if strings.Contains(text, not) {
			t.Errorf("it says %q", not)
		}
	}
	if !strings.Contains(text, "/DC0/vm/restored/alpha-dev-nzj74") {
		t.Error("the VM is not named")
	}
}

// Of three control-plane machines two are known to run: one is off or gone. With one
// more off, no line removes the Ghost beside them.
func TestTheLastKnownMajorityOfTheLab(t *testing.T) {
	t.Parallel()
	removes := func(text, name string) bool {
		return len(runbookLines(text, "drain node/"+name)) > 0
	}
	w := runs.Restored(t)
	o := w.Detect()
	ghost := ""
	for _, m := range runs.ClusterOf(t, o.Report, "alpha-prod").ControlPlane.Machines {
		if m.Status == code.Ghost {
			ghost = m.Name
		}
	}
	if ghost == "" || !removes(w.Plan(o), ghost) {
		t.Fatalf("the Ghost %q has no lines though two of three machines run", ghost)
	}
	if err := w.VCenter.SetPower("alpha-prod-kcn2q", false); err != nil {
		t.Fatal(err)
	}
	text := w.Plan(w.Detect())
	if removes(text, ghost) || !strings.Contains(text, "1 control-plane machine is known to run of those that the backup records, and a majority is 2") {
		t.Errorf("the Ghost is removed while one of three machines is known to run")
	}
}

// Machines whose nodeRef the backup lacks run all the same.
func TestALabWithoutNodeRefs(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.Edited("no-noderefs", func(item string, body []byte) ([]byte, bool) {
		resource, name := runs.ItemOf(item)
		if resource != "machines.cluster.x-k8s.io" || !strings.HasPrefix(name, "beta-prod-") {
			return body, true
		}
		var o map[string]any
		if err := json.Unmarshal(body, &o); err != nil {
			t.Fatal(err)
		}
		delete(o["status"].(map[string]any), "nodeRef")
		body, err := json.Marshal(o)
		return body, err == nil
	})
	var off string
	for _, m := range runs.ClusterOf(t, w.Detect("--skip-access-apiserver").Report, "beta-prod").ControlPlane.Machines {
		if m.Node != "" {
			t.Fatalf("%s has Node %s", m.Name, m.Node)
		}
		off = m.Name
	}
	if err := w.VCenter.SetPower(off, false); err != nil {
		t.Fatal(err)
	}
	o := w.Detect("--skip-access-apiserver")
	if text := w.Plan(o); !strings.Contains(text, off) || strings.Contains(text, "No machine of its control plane is known to run") {
		t.Errorf("2 of 3 run:\n%s", strings.Join(runbookLines(text, "known to run"), "\n"))
	}
}

// Each line that deletes a Machine looks at the Nodes first, whether the report has them or not.
func TestThePlanOfTheLabReadsNodesFirst(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*runs.World{"fleet": runs.Fleet(t), "restored": runs.Restored(t)} {
		deletes := runbookLines(w.Plan(w.Detect("--skip-access-apiserver")), " delete machines.cluster.x-k8s.io/")
		for _, l := range deletes {
			if at := strings.Index(l, ` get nodes --output=json | drift-detector recheck "${REPORT:?}" not-ready machine/`); at < 0 || at > strings.Index(l, " delete machines.") {
				t.Errorf("%s: %s", name, l)
			}
		}
		if len(deletes) < 4 {
			t.Errorf("%s: %d lines delete Machines", name, len(deletes))
		}
	}
}

// A Ghost of a control plane behind an NLB leaves its target groups.
func TestALabBehindAnNLB(t *testing.T) {
	const arn = "arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/net/aws-prod-apiserver/50dc6c495c0c9188"
	w := runs.Fleet(t)
	ec2 := runs.ServeEC2(t, runs.FleetEC2())
	const ghost = "i-0e09aee8835a36969"
	ec2.Change(func(i *lab.EC2Instance) bool {
		if i.InstanceID == ghost {
			for j := range i.Tags {
				if strings.HasSuffix(i.Tags[j].Key, "/role") {
					i.Tags[j].Value = "control-plane"
				}
				if i.Tags[j].Key == "Name" {
					i.Tags[j].Value = "aws-prod-control-plane-zzzzz"
				}
			}
			i.Tags = append(i.Tags, lab.EC2Tag{Key: "MachineName", Value: "tenant-aws/aws-prod-control-plane-zzzzz"})
		}
		return true
	})
	classic := w.Plan(w.Detect())
	if len(runbookLines(classic, "elb deregister-instances-from-load-balancer --load-balancer-name=aws-prod-apiserver --instances="+ghost)) != 1 || strings.Contains(classic, "elbv2") {
		t.Errorf("classic: %q", runbookLines(classic, "elb"))
	}
	w.Edited("nlb", func(item string, body []byte) ([]byte, bool) {
		if resource, _ := runs.ItemOf(item); strings.HasPrefix(resource, "awsclusters.") {
			body = bytes.ReplaceAll(body, []byte(`"name":"aws-prod-apiserver"`), []byte(`"name":"aws-prod-apiserver","loadBalancerType":"nlb","arn":"`+arn+`"`))
		}
		return body, true
	})
	o := w.Detect()
	want := []report.LoadBalancer{{Type: "nlb", Name: "aws-prod-apiserver", ARN: arn}}
	if got := runs.ClusterOf(t, o.Report, "aws-prod").APILoadBalancers; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	nlb := w.Plan(o)
	if len(runbookLines(nlb, "elbv2 deregister-targets --target-group-arn \"${TARGET_GROUP:?}\" --targets=Id="+ghost)) != 1 || len(runbookLines(nlb, "--load-balancer-arn "+arn)) != 1 || strings.Contains(nlb, " elb ") {
		t.Errorf("NLB: %q", runbookLines(nlb, "elb"))
	}
}

// The plan of the lab begins with what has to hold until all is restored, and looks
// at its tools and places first.
func TestThePlanOfTheLabBeginsWithItsConditions(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	text := w.Plan(w.Detect())
	at := 0
	for _, piece := range []string{
		"- Most important: ", `export VELERO_NAMESPACE="${VELERO_NAMESPACE:-velero}"`, "## Before the restore", "govc version -require 0.46.0",
		" place " + w.VCenter.InstanceUUID() + " --at ", "## The restore", "it holds Clusters:", "create configmap restore-paused",
		"restore create", "--dry-run=server", "## After the restore", " restored clusters.cluster.x-k8s.io/",
	} {
		i := strings.Index(text[at:], piece)
		if i < 0 {
			t.Errorf("%q is missing, or not there", piece)
			continue
		}
		at += i
	}
}

// The lab's pool has 3 members and the backup wants 2: it is set to 3 before its
// cluster is unpaused.
func TestThePoolOfTheLab(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	text := w.Plan(w.Detect())
	_, text, _ = strings.Cut(runs.WholeLines(text), "## After the restore")
	scale := strings.Index(text, "scale machinepools.cluster.x-k8s.io/aws-prod-mp-0 --current-replicas=2 --replicas=3")
	unpause := strings.Index(text, `--namespace=tenant-aws patch clusters.cluster.x-k8s.io/aws-prod --type=merge '--patch={"spec":{"paused":false}}'`)
	if scale < 0 || unpause < scale {
		t.Errorf("scaled at %d, unpaused at %d", scale, unpause)
	}
	if len(runbookLines(text, "recheck \"${REPORT:?}\" pool i-002e263aadef727c1 3 --at ")) != 1 {
		t.Errorf("the group's size is not read again: %q", runbookLines(text, " pool "))
	}
}
