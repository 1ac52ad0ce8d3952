package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"drift-detector/report"
)

// elsewhere are the reasons of an answer that are no step before a cluster is unpaused,
// with where the plan deals with them.
var elsewhere = map[report.Reason]string{
	report.BackupError: "the checks", report.NewerBackup: "its first lines", report.ErrorsOccurred: "the errors", report.Incomplete: "the scopes", report.NoForecast: "a report with a forecast",
	report.NothingToCompare: "another backup", report.StatusNotHealthy: "whatever the status comes from", report.InstancesToConfirm: "the VMs to confirm",
	report.ClustersFirst: "the restore", report.ControlPlaneDown: "the control plane", report.GhostsLeft: "the Ghosts",
	report.MachinesUnknown: "the Unknown machines", report.CopiedID: "the copies", report.MachinesBroken: "the Stale machines", report.InstancesNeverJoin: "the Stale machines", report.StaleReplaced: "nothing to do",
	report.InstancesStopped: "the machines that are off", report.ResourceMade: "nothing to do", report.PoolMachinesDeleted: "nothing to do",
}

// A reason for which the answer is not yes is dealt with in the plan, and in one place.
func TestEveryReasonOfTheAnswerHasAPlaceInThePlan(t *testing.T) {
	var schema struct {
		Codes map[report.Reason]string `json:"x-reasons"`
	}
	if err := json.Unmarshal(report.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	known := 0
	for code, text := range schema.Codes {
		if !strings.HasPrefix(text, "Answer, ") {
			continue
		}
		known++
		if (settled[code] == "") == (elsewhere[code] == "") {
			t.Errorf("%s is neither settled nor elsewhere, or both", code)
		}
	}
	if known != len(settled)+len(elsewhere) {
		t.Errorf("the schema has %d reasons, %d are settled and %d elsewhere", known, len(settled), len(elsewhere))
	}
}

// No Stale machine whose controllers act, or cannot, is deleted by a line of its own.
func TestStaleMachinesThatTheirOwnersDealWith(t *testing.T) {
	for _, outcome := range []report.Outcome{
		report.RolledByOwner, report.DeletedByOwner, report.DeletedByMachineHealthCheck, report.Halted, report.ReplacedByMachineHealthCheck, report.NewInstanceCreated, report.OtherInstanceTaken,
	} {
		r := sample("alpha")
		m := find(t, r, report.Stale, "worker")
		m.Forecast = &report.MachineForecast{Outcome: outcome, Message: "because of it"}
		steps := stepsOf(t, r, report.Stale, "worker")
		if len(steps) == 0 {
			t.Errorf("%s: no step", outcome)
		}
		for _, line := range commands(steps) {
			if deletesMachine(line) || strings.Contains(line, " scale ") {
				t.Errorf("%s: %s", outcome, line)
			}
		}
	}
}
