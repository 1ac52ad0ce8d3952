package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// Each test of this file holds one point of what was found wrong in plans, by its
// number, and its siblings in other providers and commands.

// linesWith returns the commands of a report's findings that hold a piece of text.
func linesWith(r *report.Report, piece string) []string {
	Fill(r, providerTools)
	return slices.DeleteFunc(commands(plantest.AllSteps(r)), func(c string) bool { return !strings.Contains(c, piece) })
}

// planLines returns all commands of a plan.
func planLines(r *report.Report) []string { return commands(everyStep(r)) }

// A VM of which a person says that it is no machine is none of a cluster that is gone.
func TestAVMThatIsNoMachineKeepsNoClusterIn(t *testing.T) {
	for as, out := range map[string]bool{"notAMachine": true, "leave": false} {
		r := deleted()
		vm := &r.InfraMachines[0]
		vm.Cluster, vm.Candidates, vm.Confirmed = "", []string{"other/other", "alpha/alpha"}, &report.Confirmed{As: as}
		if got := strings.Contains(planText(New(r, providerTools)), "notin (alpha)"); got != out {
			t.Errorf("%s: left out %v", as, got)
		}
	}
}

// No text may say that no machine exists while VMs with the names of recorded ones
// live or machines are Unknown, and no line leaves such a cluster out.
func TestNoMachineExistsIsNotSaidWhileNamesakesLive(t *testing.T) {
	for name, change := range map[string]func(*report.Report){
		"a namesake of the control plane": func(r *report.Report) {
			m := &r.Clusters[0].ControlPlane.Machines[0]
			m.Warnings = []report.Warning{{Reason: "SameNameElsewhere"}}
			m.Others = []report.Instance{*plantest.VSphereVM("restored", plantest.LivingID, 9)}
		},
		"a VM that may be of the cluster": func(r *report.Report) {
			r.InfraMachines[0].Cluster, r.InfraMachines[0].Instance.Path = "alpha/alpha", "/DC/vm/restored"
		},
		"a VM that may be of one of several": func(r *report.Report) {
			r.InfraMachines[0].Cluster, r.InfraMachines[0].Candidates, r.InfraMachines[0].Instance.Path = "", []string{"other/other", "alpha/alpha"}, "/DC/vm/restored"
		},
		"an Unknown worker": func(r *report.Report) {
			c := &r.Clusters[0]
			c.Counts.Total, c.Counts.Unknown = 2, 1
		},
	} {
		r := deleted()
		r.Clusters[0].Forecast.Notes = []report.Note{{Code: "ControlPlaneGone", Message: "No machine of its control plane exists. Leave it out of the restore"}}
		change(r)
		text := planText(New(r, providerTools))
		for _, not := range []string{"No machine of its control plane exists", "No machine of the control plane exists", "If the cluster was deleted after the backup, leave it out", "no machine of these exists", "notin (alpha)"} {
			if strings.Contains(text, not) {
				t.Errorf("%s: it says %q", name, not)
			}
		}
		if !strings.Contains(text, "None of the machines of the control plane that the backup records was found. But ") {
			t.Errorf("%s: it does not say what is left to look at", name)
		}
		if name != "an Unknown worker" && !strings.Contains(text, "/DC/vm/restored") {
			t.Errorf("%s: the VM is not named", name)
		}
		if slices.ContainsFunc(planLines(r), func(c string) bool {
			return strings.Contains(c, "clusters.cluster.x-k8s.io/alpha --type=merge") && strings.Contains(c, `"paused":false`)
		}) {
			t.Errorf("%s: the cluster is unpaused", name)
		}
	}
}

// A health check that has the only machine of a lost control plane replaced makes an empty
// cluster: that is not left to it.
func TestALostControlPlaneIsNotLeftToAHealthCheck(t *testing.T) {
	r := deleted()
	m := &r.Clusters[0].ControlPlane.Machines[0]
	m.Forecast.Outcome, m.Forecast.Message = code.ReplacedByMachineHealthCheck, "KubeadmControlPlane creates another, with an empty etcd"
	text := planText(New(r, providerTools))
	if !strings.Contains(text, "Keep the cluster paused until that is decided: KubeadmControlPlane creates another, with an empty etcd.") || strings.Contains(text, "Watch, and do nothing") {
		t.Error(text)
	}
}

// A step about a copy first finds out which VM is alive, and acts on the one that is
// off and not the machine's.
func TestTheLivingCopyIsNeverPoweredOffOrRenamed(t *testing.T) {
	arrange := func(machine, copied string) (*report.Report, *report.Machine) {
		r := sample("alpha")
		m := plantest.Find(t, r, code.Healthy, "control-plane")
		other := *plantest.VSphereVM("copy", plantest.LivingID, 9)
		m.Instance.State, other.State = machine, copied
		m.Warnings, m.Others = []report.Warning{{Reason: "DuplicateID"}}, []report.Instance{other}
		if machine != "poweredOn" {
			m.Warnings = append(m.Warnings, report.Warning{Reason: "PoweredOff"})
		}
		return r, m
	}
	for _, machine := range []string{"poweredOn", "poweredOff", "suspended"} {
		for _, copied := range []string{"poweredOn", "poweredOff"} {
			r, m := arrange(machine, copied)
			Fill(r, providerTools)
			text := fmt.Sprint(m.Remediation)
			if !strings.Contains(text, "First find out which of them its Node runs on") || !strings.Contains(text, "get node/alpha --output=wide") {
				t.Errorf("%s, copy %s: nothing finds out which VM is alive", machine, copied)
			}
			line := changes(t, m.Remediation)
			if (line != "") != (machine == "poweredOn") || slices.ContainsFunc(commands(m.Remediation), func(c string) bool { return strings.Contains(c, "vm.power -on") }) {
				t.Errorf("%s, copy %s: %s", machine, copied, text)
			}
		}
	}
	r, m := arrange("poweredOn", "poweredOff")
	Fill(r, providerTools)
	line := changes(t, m.Remediation)
	for _, c := range []string{plantest.Stops(" vm " + plantest.LivingID + " vm-1 --state=on "), plantest.Stops(" vm " + plantest.LivingID + " vm-9 --state=off ")} {
		if o := plantest.Try(t, line, c); o.Did("vm.change") {
			t.Errorf("%s: %q", c, o.Calls)
		}
	}
	if o := plantest.Try(t, line); !o.Did("vm.change -vm VirtualMachine:vm-9") || o.Did("vm.change -vm VirtualMachine:vm-1") {
		t.Errorf("%q", o.Calls)
	}
	// A copy in a place that is known, of a machine in one that is not.
	r, m = arrange("poweredOn", "poweredOff")
	m.Others[0].Scope = "vsphere vc2.example"
	r.Scopes[2], r.Scopes[0].Identity = report.Scope{Provider: "vsphere", Endpoint: "vc2.example", Identity: plantest.VCenterID}, ""
	if got := linesWith(r, "vm.change"); len(got) > 0 {
		t.Errorf("%q", got)
	}
	// A copy whose machine is not in the report, or has no steps, is its owner's.
	r, m = arrange("poweredOn", "poweredOff")
	r.InfraMachines[0].Instance, r.InfraMachines[0].Reason, m.Ignored = m.Others[0], "DuplicateID", &report.Ignored{}
	if got := linesWith(r, "vm.change"); len(got) > 0 {
		t.Errorf("%q", got)
	}
	// FindByUuid of CAPV looks in one datacenter, CAPA in one account.
	if text := planText(New(sample("alpha"), providerTools)); strings.Contains(text, "destroys every VM") || strings.Contains(text, "every VM with") || !strings.Contains(text, "CAPV destroy every VM of its datacenter that has its id") || !strings.Contains(text, "CAPA terminate the instance that has its id") {
		t.Error("the plan says that every VM with an id is destroyed, wherever it is")
	}
}

// The tool's least release is named and looked at before anything else, and Velero
// may be in any namespace.
func TestToolsAndNamespacesAreNotAssumed(t *testing.T) {
	r := sample("alpha")
	first := New(r, providerTools).Sections[0].Chapters[0].Steps[0]
	if !slices.Contains(first.Commands, "govc version -require 0.46.0") || !strings.Contains(first.Text, "0.46.0") {
		t.Errorf("%+v", first)
	}
	if !slices.Contains(first.Commands, `drift-detector recheck "${REPORT:?}" place `+plantest.VCenterID+` --at "${VCENTER_1:?}"`) ||
		!slices.Contains(first.Commands, `drift-detector recheck "${REPORT:?}" place `+plantest.Account+` --at "${AWS_1:?}" --region=us-east-1`) {
		t.Errorf("the places are not looked at first: %+v", first)
	}
	velero := 0
	for _, c := range planLines(r) {
		if strings.Contains(c, "namespace=velero") || strings.Contains(c, "-n velero") {
			t.Errorf("it takes Velero's namespace for granted: %s", c)
		}
		if strings.HasPrefix(c, "velero ") || strings.Contains(c, "restore-paused") {
			velero++
			if !strings.Contains(c, `--namespace="${VELERO_NAMESPACE:?}"`) {
				t.Errorf("without a namespace: %s", c)
			}
		}
	}
	if velero < 4 {
		t.Errorf("%d lines are for Velero", velero)
	}
	if !slices.ContainsFunc(New(r, providerTools).Variables, func(v Variable) bool {
		return v.Name == "VELERO_NAMESPACE" && v.Value == "velero" && strings.Contains(v.Meaning, "OADP uses openshift-adp")
	}) {
		t.Error("the namespace is no variable")
	}
}

// Whoever has read the Node list is not asked to read it.
func TestTheNodeListIsAskedForOnlyWhereItWasNotRead(t *testing.T) {
	for state, want := range map[string]bool{"read": false, "skipped": true, "denied": true} {
		r := sample("alpha")
		r.Clusters[0].Nodes.State = state
		plantest.Find(t, r, code.Ghost, "worker").Evidence = []report.Evidence{{Kind: "name", Strength: "medium"}}
		if text := fmt.Sprint(stepsOf(t, r, code.Ghost, "worker")); strings.Contains(text, "with the Node list the evidence becomes strong") != want {
			t.Errorf("%s: %s", state, text)
		}
	}
}
