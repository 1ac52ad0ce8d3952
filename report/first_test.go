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
		InfraMachines: []InfraMachine{{Instance: Instance{Path: "/DC0/vm/jump"}}, {Instance: Instance{Name: "md-0-c"}}}, // a Ghost is called so, too
		Scopes:        []Scope{{Provider: "vsphere", Endpoint: "vc1"}, {Provider: "vsphere", Endpoint: "vc2", Account: "me"}},
		Checks:        []Check{{Severity: code.CheckInfo, Object: "Secret a"}, {Severity: code.CheckError, Object: "Secret a"}},
		Errors:        []Error{{Message: "lost"}},
	}
	r.Summary.Answer = &SafeAnswer{Safe: code.No, Reasons: []AnswerReason{
		{Code: code.MachinesBroken, Message: "They stay broken", Objects: []string{"Machine t/dev-a", "Machine t/md-0-b"}},
		{Code: code.ClusterHalted, Message: "Until a exists", Objects: []string{"Cluster t/dev"}},
		{Code: code.ClusterHalted, Message: "Until b exists", Objects: []string{"Cluster t/prod"}},
		{Code: code.BackupError, Message: "Not fit", Objects: []string{"Secret a"}},
		{Code: code.Incomplete, Message: "Not all", Objects: []string{"vsphere vc2 as me"}},
		{Code: code.InstancesToConfirm, Message: "Ask", Objects: []string{"instance /DC0/vm/jump", "instance md-0-c"}},
		{Code: code.ErrorsOccurred, Message: "Errors", Objects: []string{"lost"}},
		{Code: code.MachinesMade, Message: "Made", Objects: []string{"MachineDeployment t/md-0", "template x of t/dev", "what nobody knows"}},
		{Code: code.GhostsLeft, Message: "Left", Objects: []string{"instance md-0-c"}},
		{Code: code.NoForecast, Message: "None", Objects: nil},
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
		"InstancesToConfirm NeedFurtherConfirmation; infraMachines 0 0 0; infraMachines 1 0 0 +0",
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
