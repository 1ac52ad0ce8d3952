package plan

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/shell"
	"drift-detector/infra/shell/shelltest"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// commandsOf returns the lines for the first machine of a status and role.
func commandsOf(t *testing.T, r *report.Report, status code.Status, role report.Role) (lines []string) {
	t.Helper()
	for _, s := range stepsOf(t, r, status, role) {
		lines = append(lines, s.Commands...)
	}
	return lines
}

// kubectl fails at a kind that its cluster does not know: a line names those of the
// cluster's own provider.
func TestKindsAreThoseOfTheProvider(t *testing.T) {
	for provider, want := range map[string]string{
		"vsphere": " vspheremachines.infrastructure.cluster.x-k8s.io,vspherevms.infrastructure.cluster.x-k8s.io ",
		"aws":     " awsmachines.infrastructure.cluster.x-k8s.io ",
		"other":   "",
	} {
		r := sample("alpha")
		r.Clusters[0].Provider = provider
		m := plantest.Find(t, r, code.Healthy, "control-plane")
		m.Warnings, m.Forecast = []report.Warning{{Reason: "MachineMissing"}}, &report.MachineForecast{Outcome: "GhostKeepsRunning"}
		about := slices.DeleteFunc(commandsOf(t, r, code.Healthy, "control-plane"), func(l string) bool { return !strings.Contains(l, ".infrastructure.") })
		switch {
		case want == "" && len(about) > 0:
			t.Errorf("%s: %v", provider, about)
		case want != "" && (len(about) != 1 || !strings.Contains(about[0], want)):
			t.Errorf("%s: %v, want %q", provider, about, want)
		}
	}
}

// Of a provider that this release has no commands for, a plan says what to do, and
// addresses no instance.
func TestAProviderWithoutCommands(t *testing.T) {
	r := sample("alpha")
	for i := range r.Scopes {
		if s := &r.Scopes[i]; s.Provider == "vsphere" {
			s.Provider = "other"
		}
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Provider != "vsphere" {
			continue
		}
		c.Provider = "other"
		for _, s := range sets(c) {
			for j := range s.machines {
				if n := s.machines[j].Instance; n != nil {
					n.Provider, n.Scope = "other", strings.Replace(n.Scope, "vsphere", "other", 1)
				}
			}
		}
	}
	for _, role := range []report.Role{"worker", "control-plane"} {
		steps := stepsOf(t, r, code.Ghost, role)
		if len(steps) != 2 || len(steps[0].Commands)+len(steps[1].Commands) > 0 || steps[1].When != report.AfterRestore || !strings.Contains(steps[1].Text, "by hand, and not before") {
			t.Errorf("Ghost, %s: %+v", role, steps)
		}
		for _, l := range commandsOf(t, r, code.Stale, role) {
			if strings.Contains(l, " delete "+machines) || strings.Contains(l, " delete '"+machines) || strings.Contains(l, "govc") {
				t.Errorf("Stale, %s: a line deletes though nobody can look for a VM: %s", role, l)
			}
		}
	}
}

// What is no id of the provider's finds nothing wherever one looks: that proves no
// absence, and no line deletes the Machine.
func TestAnIDOfAnotherFormProvesNothing(t *testing.T) {
	deletes := func(id string) bool {
		r := sample("alpha")
		plantest.Find(t, r, code.Stale, "worker").ProviderID = id
		return slices.ContainsFunc(commandsOf(t, r, code.Stale, "worker"), func(l string) bool { return strings.Contains(l, " delete "+machines) })
	}
	if !deletes("vsphere://" + plantest.StaleID) {
		t.Error("with an id of the right form no line deletes the Machine")
	}
	for _, id := range []string{"", "vsphere://x", "vsphere://" + plantest.StaleID + "0", "aws:///us-east-1a/" + plantest.EC2ID} {
		if deletes(id) {
			t.Errorf("%q: a line deletes the Machine", id)
		}
	}
}

// Two AWS accounts have the same regions: each has a profile of its own, and what
// cannot be distinguished is not addressed.
func TestTwoAccountsOfOneRegion(t *testing.T) {
	const second = "111111111111"
	arrange := func(of string) *report.Report {
		r := sample("alpha")
		other := r.Scopes[1]
		other.Account, other.Identity = second, second
		r.Scopes = append([]report.Scope{other}, r.Scopes...)
		c := &r.Clusters[1]
		for _, s := range sets(c) {
			for i := range s.machines {
				if n := s.machines[i].Instance; n != nil {
					n.Account = of
				}
			}
		}
		return r
	}
	linesOf := func(r *report.Report) string {
		Fill(r, providerTools)
		var all []string
		for _, s := range sets(&r.Clusters[1]) {
			for i := range s.machines {
				for _, step := range s.machines[i].Remediation {
					all = append(all, step.Commands...)
				}
			}
		}
		return strings.Join(all, "\n")
	}
	for profile, of := range map[string]string{"AWS_1": second, "AWS_2": plantest.Account} {
		text := linesOf(arrange(of))
		if other := map[string]string{"AWS_1": "AWS_2", "AWS_2": "AWS_1"}[profile]; !strings.Contains(text, profile+":?") || strings.Contains(text, other+":?") {
			t.Errorf("account %s is addressed by\n%s", of, text)
		}
	}
	if text := linesOf(arrange("")); strings.Contains(text, "terminate-instances") {
		t.Errorf("an account that is not known is addressed by\n%s", text)
	}
}

// Clusters of one name in two backups have a context each.
func TestClustersOfOneNameInTwoBackups(t *testing.T) {
	r := sample("alpha")
	r.Backups = append(r.Backups, report.Backup{Path: "second.tar.gz"})
	r.Clusters[0].Backup = 0
	duplicate := r.Clusters[0]
	duplicate.Backup = 1
	r.Clusters = append(r.Clusters, duplicate)
	pl := newPlanner(r, providerTools)
	first, last := pl.contexts[&r.Clusters[0]], pl.contexts[&r.Clusters[len(r.Clusters)-1]]
	if first == "" || first == last {
		t.Errorf("the contexts are %q and %q", first, last)
	}
	for _, name := range []string{first, last} {
		if !slices.ContainsFunc(pl.variables, func(v Variable) bool { return v.Name == name && strings.Contains(v.Meaning, " of backup ") }) {
			t.Errorf("%s is not explained: %+v", name, pl.variables)
		}
	}
	if !slices.ContainsFunc(pl.limits(Narrowing{}), func(s string) bool { return strings.Contains(s, "alpha/alpha is in several backups") }) {
		t.Errorf("the limits are %q", pl.limits(Narrowing{}))
	}
}

// A stopped machine of a control plane is started, never deleted; and who starts it
// is the forecast's word, whatever provider it is of.
func TestStoppedMachines(t *testing.T) {
	for name, c := range map[string]struct{ provider, outcome, says, not string }{
		"CAPA":                           {"aws", "Stuck", "costs it a member of etcd", "or delete its Machine"},
		"a provider without commands":    {"other", "AdoptedPoweredOn", "The controller of provider other powers its VM on", "Start it"},
		"the same, and nobody starts it": {"other", "Stuck", "costs it a member of etcd", "powers"},
	} {
		t.Run(name, func(t *testing.T) {
			r := sample("alpha")
			r.Clusters[0].Provider = c.provider
			second := *plantest.Find(t, r, code.Healthy, "control-plane")
			r.Clusters[0].ControlPlane.Machines = append(r.Clusters[0].ControlPlane.Machines, second)
			m := plantest.Find(t, r, code.Healthy, "control-plane")
			m.Warnings, m.Forecast = []report.Warning{{Reason: "PoweredOff"}}, &report.MachineForecast{Outcome: code.Outcome(c.outcome)}
			steps := stepsOf(t, r, code.Healthy, "control-plane")
			last := steps[len(steps)-1].Text
			if !strings.Contains(last, c.says) || strings.Contains(last, c.not) {
				t.Errorf("%q", last)
			}
		})
	}
}

// The identity of an EKS cluster is read from its control plane.
func TestRetryOfAnEKSCluster(t *testing.T) {
	for kind, want := range map[string]string{"KubeadmControlPlane": " awsclusters.", "AWSManagedControlPlane": " awsmanagedcontrolplanes.controlplane."} {
		r := sample("alpha")
		c := &r.Clusters[1]
		c.ControlPlane.Kind, c.Backup = kind, 0
		r.Backups[0].Missing = []report.Missing{{Kind: "AWSClusterRoleIdentity", Name: "role"}}
		c.Forecast = &report.ClusterForecast{Notes: []report.Note{{Code: code.IdentityAbsent, Objects: []string{"AWSClusterRoleIdentity role"}}}}
		var d draft
		newPlanner(r, providerTools).identities(&d, c)
		if len(d.steps) != 1 || len(d.steps[0].Commands) != 3 || !strings.Contains(d.steps[0].Commands[0], "apply --filename=manifests/AWSClusterRoleIdentity.role.yaml") || !strings.Contains(d.steps[0].Commands[2], want) {
			t.Errorf("%s: %+v", kind, d.steps)
		}
	}
}

// A provider is its description in the report and its tool: under another name it has
// the same plan.
func TestANewProviderNeedsNothingHere(t *testing.T) {
	renamed := func(s string) string {
		return strings.NewReplacer("vsphere vc.example", "tiny vc.example", "vsphere alpha", "tiny alpha", "infrastructure-vsphere", "infrastructure-tiny",
			"infrastructure=vsphere", "infrastructure=tiny", "VSPHERE_RELEASE", "TINY_RELEASE", "release of vsphere", "release of tiny", "kubeadm, vsphere", "kubeadm, tiny").Replace(s)
	}
	var doc bytes.Buffer
	if err := report.JSON(&doc, sample("alpha")); err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(strings.NewReader(strings.ReplaceAll(renamed(doc.String()), `"vsphere"`, `"tiny"`)))
	if err != nil {
		t.Fatal(err)
	}
	tools := maps.Clone(providerTools)
	tools["tiny"] = tools["vsphere"]
	delete(tools, "vsphere")
	got, want := planText(New(r, tools)), renamed(planText(New(sample("alpha"), providerTools)))
	if got != want || !strings.Contains(got, "govc vm.destroy") {
		t.Errorf("the plan of a renamed provider is\n%s\nwant\n%s", got, want)
	}
}

// A report may have been edited: no resource of a provider is an option of kubectl, or
// anything else than a resource.
func TestResourcesThatAreNone(t *testing.T) {
	for _, bad := range append(shelltest.Hostile, shelltest.Unprintable...) {
		if bad == "" {
			continue
		}
		r := sample("alpha")
		r.Providers = slices.Clone(described)
		for i := range r.Providers {
			p := &r.Providers[i]
			kind := report.Kind{Kind: "VSphereClusterIdentity", Resource: bad}
			p.MachineKinds, p.ClusterKind, p.ManagedPlanes, p.IdentityKinds = []report.Kind{kind}, &kind, []report.Kind{{Kind: "KubeadmControlPlane", Resource: bad}}, []report.Kind{kind}
		}
		m := plantest.Find(t, r, code.Healthy, "control-plane")
		m.Warnings = []report.Warning{{Reason: code.MachineMissing}}
		quoted, _ := shell.Quote(bad)
		for _, l := range append(planLines(r), commandsOf(t, r, code.Healthy, "control-plane")...) {
			for _, verb := range []string{" get ", " annotate "} {
				if _, rest, found := strings.Cut(l, verb); found && quoted != "" && strings.HasPrefix(rest+" ", quoted+" ") {
					t.Errorf("%q is a resource of %s", bad, l)
				}
			}
		}
	}
	if r := sample("alpha"); !slices.ContainsFunc(planLines(r), func(l string) bool { return strings.Contains(l, "annotate vspheremachines.infrastructure") }) {
		t.Error("no line names a resource")
	}
}
