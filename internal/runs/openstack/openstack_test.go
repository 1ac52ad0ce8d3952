package openstack_test

import (
	"slices"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
)

// Every verdict is right, and every outcome of the real restore is foretold.
func TestOpenStackFleet(t *testing.T) {
	t.Parallel()
	var truth runs.OpenStackTruth
	var outcomes runs.OpenStackOutcomes
	runs.ReadJSON(t, runs.OpenStackData+"truth.json", &truth)
	runs.ReadJSON(t, runs.OpenStackData+"outcomes.json", &outcomes)
	if len(truth.Machines) == 0 || len(truth.Servers) == 0 || len(outcomes.Machines) == 0 || len(outcomes.Ghosts) == 0 {
		t.Fatal("the oracle lacks something")
	}
	w, _ := runs.OpenStackFleet(t, openstacklab.Options{})
	live := w.Run(slices.Concat(w.Sources(), w.WithOpenStackNodes())...)
	for name, o := range map[string]runs.Outcome{
		"live": live, "without Nodes": w.Run(append(w.Sources(), "--skip-access-apiserver")...),
	} {
		t.Run(name, func(t *testing.T) {
			o.Demand(t, cli.ExitOK)
			o.DemandOpenStack(t, truth)
			o.DemandOutcomes(t, outcomes)
		})
	}
}
