package plan

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// A member of a pool whose owner a restore takes away has a line that deletes its infrastructure
// object, and stops where that has a finalizer; one that waits for something else has none.
func TestMembersOfPoolsAreFreed(t *testing.T) {
	for row, want := range map[string]bool{rowMember: true, "azure.M3": false, "": false} {
		r := sample("alpha")
		c, g := &r.Clusters[0], plantest.Group(r)
		r.Providers = slices.Clone(r.Providers) // all tests have one list
		for i := range r.Providers {
			if r.Providers[i].Name == c.Provider {
				r.Providers[i].MachineKinds = append(r.Providers[i].MachineKinds[:1:1], report.Kind{Kind: "PoolMachine", Resource: "poolmachines.infrastructure.cluster.x-k8s.io"})
			}
		}
		g.Kind = "MachinePool"
		m := &g.Machines[0]
		m.Name, m.Status, m.Forecast = "member-0", code.Healthy, &report.MachineForecast{Outcome: code.Halted, Message: "as another release would say it", Row: row}
		r.Summary.Answer = &report.SafeAnswer{Safe: code.WithWork, Reasons: []report.AnswerReason{{Code: code.MachinesHalted, Message: "Halted", Objects: []string{"Machine " + c.Namespace + "/member-0"}}}}
		text := planText(New(r, providerTools))
		line := strings.Contains(text, "delete poolmachines.infrastructure.cluster.x-k8s.io/member-0")
		if line != want || want && !strings.Contains(text, "it has a finalizer: its instance would be deleted with it") {
			t.Errorf("row %q: a line is %v", row, line)
		}
	}
}
