package report

import (
	"fmt"
	"strings"
	"testing"

	"drift-detector/report/code"
)

func TestFirstLeadsToItsObjects(t *testing.T) {
	machine := func(name string, s code.Status) Machine { return Machine{Namespace: "t", Name: name, Status: s} }
	r := &Report{
		Clusters: []Cluster{
			{Namespace: "t", Name: "dev", Status: code.ManualRemediationNotRequired, ControlPlane: ControlPlane{Kind: "KubeadmControlPlane", Name: "dev", Machines: []Machine{machine("dev-a", code.Stale)}}},
			{Namespace: "t", Name: "prod", Status: code.ManualRemediationRequired, Workers: Workers{Groups: []Group{
				{Kind: "MachineDeployment", Name: "md-0", Machines: []Machine{machine("md-0-a", code.Healthy), machine("md-0-b", code.Stale), machine("md-0-c", code.Ghost)}},
			}}},
		},
		InfraMachines: []InfraMachine{{Instance: Instance{Path: "/DC0/vm/jump"}}},
		Scopes:        []Scope{{Provider: "vsphere", Endpoint: "vc1"}, {Provider: "vsphere", Endpoint: "vc2", Account: "me"}},
		Checks:        []Check{{Severity: CheckInfo, Object: "Secret a"}, {Severity: CheckError, Object: "Secret a"}},
		Errors:        []Error{{Message: "lost"}},
	}
	r.Summary.Answer = &SafeAnswer{Safe: code.No, Reasons: []AnswerReason{
		{code.MachinesBroken, "They stay broken", []string{"Machine t/dev-a", "Machine t/md-0-b"}},
		{code.ClusterHalted, "Until a exists", []string{"Cluster t/dev"}},
		{code.ClusterHalted, "Until b exists", []string{"Cluster t/prod"}},
		{code.BackupError, "Not fit", []string{"Secret a"}},
		{code.Incomplete, "Not all", []string{"vsphere vc2 as me"}},
		{code.InstancesToConfirm, "Ask", []string{"instance /DC0/vm/jump"}},
		{code.ErrorsOccurred, "Errors", []string{"lost"}},
		{code.MachinesMade, "Made", []string{"MachineDeployment t/md-0", "template x of t/dev", "what nobody knows"}},
		{code.GhostsLeft, "Left", []string{"instance md-0-c"}},
		{code.NoForecast, "None", nil},
	}}
	var got []string
	for _, p := range r.First() {
		text := string(p.Code) + " " + string(p.Status)
		for _, o := range p.Objects {
			text += fmt.Sprintf("; %s %d %d %d", o.At.Part, o.At.Index, o.At.Set, o.At.Machine)
		}
		got = append(got, fmt.Sprintf("%s +%d", text, len(p.Likes)))
	}
	want := []string{
		"ClusterHalted ManualRemediationRequired; clusters 0 -1 -1 +1",
		"BackupError ManualRemediationRequired; checks 1 0 0 +0",
		"Incomplete NeedFurtherConfirmation; scopes 1 0 0 +0",
		"InstancesToConfirm NeedFurtherConfirmation; infraMachines 0 0 0 +0",
		"ErrorsOccurred NeedFurtherConfirmation; errors 0 0 0 +0",
		"NoForecast NeedFurtherConfirmation +0",
		"MachinesBroken ManualRemediationNotRequired; clusters 1 1 1; clusters 0 0 0 +0", // the worse cluster first
		"MachinesMade ManualRemediationNotRequired; clusters 1 1 -1; clusters 0 -1 -1;  0 0 0 +0",
		"GhostsLeft ManualRemediationNotRequired; clusters 1 1 2 +0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if (&Report{}).First() != nil {
		t.Error("a report without an answer has reasons")
	}
}
