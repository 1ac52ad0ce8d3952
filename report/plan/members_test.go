package plan

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// orphaned is a report of a cluster with a member of a pool whose infrastructure object lost its
// owner.
func orphaned(message string) *report.Report {
	r := sample("alpha")
	r.Providers = slices.Clone(r.Providers) // samples share them
	for i := range r.Providers {
		r.Providers[i].MachineKinds = append(r.Providers[i].MachineKinds[:1:1], report.Kind{Kind: "PoolMember", Resource: "poolmembers.infrastructure.cluster.x-k8s.io"})
	}
	c := &r.Clusters[0]
	m := report.Machine{Namespace: c.Namespace, Name: "mp-0-1", Status: code.Healthy, Forecast: &report.MachineForecast{Outcome: code.Halted, Message: message}}
	c.Workers.Groups = append(c.Workers.Groups, report.Group{Kind: "MachinePool", Name: "mp-0", Machines: []report.Machine{m}})
	r.Summary.Answer = &report.SafeAnswer{Reasons: []report.AnswerReason{{Code: code.MachinesHalted, Message: "nothing is done", Objects: []string{"Machine " + c.Namespace + "/mp-0-1"}}}}
	return r
}

// A member whose object nobody owns is set free before its cluster is unpaused, unless deleting
// the object would delete the instance.
func TestMembersWithoutAnOwnerAreFreed(t *testing.T) {
	const delete = " delete poolmembers.infrastructure.cluster.x-k8s.io/mp-0-1"
	line := ""
	for _, l := range planLines(orphaned("a restore takes the owner of PoolMember alpha/mp-0-1 away")) {
		if strings.Contains(l, delete) {
			line = l
		}
	}
	if line == "" {
		t.Fatal("no line frees it")
	}
	const finalizers = `*"get poolmembers"*) echo '["f"]'; exit ;;`
	for name, tt := range map[string]struct {
		cases []string
		want  bool
	}{
		"as restored":        {[]string{`*"get poolmembers"*) exit ;;`}, true},
		"with a finalizer":   {[]string{finalizers}, false},
		"not of the restore": {[]string{stops(" restored "), `*"get poolmembers"*) exit ;;`}, false},
	} {
		if o := try(t, line, tt.cases...); o.did(delete) != tt.want {
			t.Errorf("%s: %q\n%s", name, o.calls, o.printed)
		}
	}
	for _, l := range planLines(orphaned("its Machine is paused")) {
		if strings.Contains(l, delete) {
			t.Errorf("another cause has a line: %s", l)
		}
	}
}
