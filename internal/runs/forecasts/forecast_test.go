package forecasts_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// What the real controllers did to every machine and ghost of the restored fleet
// is in the report that was made before.
func TestReportForecastsTheRestore(t *testing.T) {
	t.Parallel()
	var oracle struct {
		Machines []struct{ Namespace, Name, Outcome string }
		Ghosts   []struct{ Path, Code string }
	}
	data, err := os.ReadFile(runs.Testdata + "restore/outcomes.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &oracle); err != nil {
		t.Fatal(err)
	}
	o := runs.Restored(t).Detect()
	o.Demand(t, cli.ExitOK)
	p := runs.PlacementsOf(o.Report)
	agree := func(what string, m report.Machine, want string) {
		if m.Forecast == nil || string(m.Forecast.Outcome) != want || m.Forecast.Message == "" {
			t.Errorf("%s: %+v, want %s", what, m.Forecast, want)
		}
	}
	for _, want := range oracle.Machines {
		agree(want.Name, p.Machines[want.Namespace+"/"+want.Name].Machine, want.Outcome)
	}
	for _, want := range oracle.Ghosts {
		if len(p.Vms[want.Path]) == 1 {
			agree(want.Path, p.Vms[want.Path][0].Machine, want.Code)
		} else {
			t.Errorf("%s is not in the report", want.Path)
		}
	}
	f := o.Report.Summary.Forecast
	if f == nil || f.NotHealing != 14 || f.Outcomes["CannotKnow"] != 0 {
		t.Errorf("the summary forecasts %+v", f)
	}
	// One of the 15 Stale is replaced by its health check; the others are not.
	text := strings.Join(strings.Fields(strings.ReplaceAll(o.Stdout, "│", "")), " ")
	for _, want := range []string{
		"0 Unknown, 15 Stale,",
		"after the restore: is not reconciled until VSphereClusterIdentity vcenter-shared exists; then 5 adopted, 5 broken until you act",
		"after the restore: paused: nothing happens until it is unpaused",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, o.Stdout)
		}
	}
}
