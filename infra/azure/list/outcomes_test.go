package list

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/report/code"
)

// foretold are the outcomes that the forecast may have for what the controllers really did.
var foretold = map[string][]code.Outcome{
	"Adopted":                   {code.Adopted},
	"Stuck":                     {code.Stuck, code.StuckNodeLeft},
	"CreateFailed":              {code.Stuck},
	"MachineDeletedAndReplaced": {code.ReplacedByMachineHealthCheck},
	"StuckPoolMember":           {code.Halted},
	"InfraObjectGone":           {code.Halted},
}

// What the real controllers did to every machine when the lab's backups were restored twice is what
// the forecast says, of both backups.
func TestForecastIsWhatTheRealControllersDid(t *testing.T) {
	var oracle struct {
		Machines []struct{ Name, Outcome, Edge, PowerState string }
	}
	text, err := os.ReadFile(lab + "outcomes.json")
	if err == nil {
		err = json.Unmarshal(text, &oracle)
	}
	if err != nil || len(oracle.Machines) != 27 {
		t.Fatal("the oracle lacks something", err, len(oracle.Machines))
	}
	s := azurelab.Serve(t, lab, azurelab.Options{})
	// Seven seconds later one had its bootstrap data, and that backup holds it.
	for file, later := range map[string]bool{"azure-data.tar.gz": false, "azure-cluster-scoped-data.tar.gz": true} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(lab + file)
			if err != nil {
				t.Fatal(err)
			}
			w, f := rehearse(t, data, access(s))
			got := map[string]rehearsal.Machine{}
			for i, c := range w.Clusters {
				for j, v := range c.ControlPlane.Machines {
					got[v.Name] = f.Forecast.Clusters[i].ControlPlane.Machines[j]
				}
				for k, g := range c.WorkerGroups {
					for j, v := range g.Machines {
						got[v.Name] = f.Forecast.Clusters[i].Groups[k].Machines[j]
					}
				}
			}
			for _, m := range oracle.Machines {
				want := foretold[m.Outcome]
				switch {
				case m.Edge == "recreatedUnderItsName":
					want = []code.Outcome{code.OtherInstanceTaken}
				case m.Edge == "inCreationAtBackup" && later:
					want = []code.Outcome{code.AdoptedByName}
				case m.Edge == "inCreationAtBackup":
					want = []code.Outcome{code.Halted}
				case m.Outcome == "Adopted" && m.PowerState != "running":
					want = []code.Outcome{code.Stuck} // not started
				}
				if is := got[m.Name]; !slices.Contains(want, is.Outcome) || is.Message == "" {
					t.Errorf("%s (%s %s): %s, want %v: %s; %s", m.Name, m.Outcome, m.Edge, is.Outcome, want, is.Message, is.Condition)
				}
			}
		})
	}
}

// rehearse lists, decides and forecasts, without Node lists.
func rehearse(t *testing.T, data []byte, a infra.Access) (detector.Result, rehearsal.Rehearsal) {
	t.Helper()
	p := small(azurelab.Operator)
	r := infra.NewRegistry(p)
	wants := r.Want()
	more := rehearsal.Want()
	wants.Kinds, wants.Secrets = append(wants.Kinds, more.Kinds...), append(wants.Secrets, more.Secrets...)
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", data)}, wants)
	if err != nil {
		t.Fatal(err)
	}
	inv := r.Collect(t.Context(), r.Targets(s, secrets, a), nil)
	expected := r.Expected(s)
	result := detector.Detect(s, expected, inv, detector.Options{Now: time.Now()})
	return result, rehearsal.Rehearse(rehearsal.Inputs{
		Snapshot: s, Expected: expected, Inventory: inv, Result: result, Controllers: r.Controllers(), Secrets: rehearsal.ReadSecrets(s, secrets), Now: time.Now(),
	})
}
