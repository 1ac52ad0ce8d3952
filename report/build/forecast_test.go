package build_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
	"drift-detector/report/schematest"
)

func TestForecastStandsBesideWhatItIsOf(t *testing.T) {
	for _, ignore := range []bool{false, true} {
		p := buildtest.Foretold()
		p.Options.IgnoreHealthy = ignore
		r := build.New(p)
		for _, c := range r.Clusters {
			for _, s := range c.Sets() {
				for _, m := range s.Machines {
					if m.Forecast == nil || m.Forecast.Message != "of "+m.Name || m.Forecast.Outcome != "Stuck" {
						t.Errorf("%s has the forecast %+v", m.Name, m.Forecast)
					}
				}
			}
			if c.Forecast.NotHealing != 1 || c.Forecast.Notes[0].Code != "ControlPlaneGone" {
				t.Errorf("%+v", c.Forecast)
			}
			cp := c.ControlPlane.Forecast
			if cp.Replicas != (report.Replicas{Recorded: 1, Working: 2, Created: 3, Deleted: 4, Running: 5, Unknown: 6, Surplus: 7, Missing: 8}) || *cp.Etcd != (report.Etcd{Quorum: "Stands", Recorded: 1, Existing: 2, Removed: 3, After: 4, Message: "stands"}) || *cp.Rollout != (report.Rollout{Stale: 3, Ghosts: 3, Message: "rolled out"}) || cp.Why == "" {
				t.Errorf("%+v", cp)
			}
			for _, g := range c.Workers.Groups {
				if g.Forecast.ManagedBy != "cluster autoscaler" || g.Forecast.Rollout != nil {
					t.Errorf("%+v", g.Forecast)
				}
			}
		}
		if f := r.Summary.Forecast; f.NotHealing != 4 || f.Outcomes["Adopted"] != 23 || len(f.Notes) != 1 {
			t.Errorf("%+v", f)
		}
		if err := schematest.Strict(t, report.Schema())(reporttest.JSON(t, r)); err != nil {
			t.Error(err)
		}
	}
}

func TestReportWithoutForecastSaysNothingOfIt(t *testing.T) {
	if doc := reporttest.JSON(t, build.New(buildtest.Sample())); bytes.Contains(doc, []byte(`"forecast"`)) {
		t.Error("the document has a forecast")
	}
}

// Every outcome that the schema names is one of the forecast's, and the other
// way round.
func TestOutcomesOfTheSchema(t *testing.T) {
	have := string(report.Schema())
	for _, o := range []code.Outcome{
		code.Adopted, code.AdoptedPoweredOn, code.AdoptedByName, code.Stuck, code.StuckNodeLeft,
		code.ReplacedByMachineHealthCheck, code.UntouchedPaused, code.OrphanedAndReplaced, code.NewInstanceCreated,
		code.GhostKeepsRunning, code.GhostEtcdMemberRemoved, code.GhostEtcdMemberKept, code.CannotKnow,
		code.RolledByOwner, code.DeletedByOwner, code.DeletedByMachineHealthCheck, code.MemberGone, code.Halted, code.NewInstanceNeverJoins, code.OtherInstanceTaken,
	} {
		if f := (report.MachineForecast{Outcome: code.Outcome(string(o))}); f.Heals() != o.Heals() {
			t.Errorf("report says %v of healing after %s", f.Heals(), o)
		}
		if !strings.Contains(have, ": "+string(o)+",") && !strings.Contains(have, " "+string(o)+",") && !strings.Contains(have, " "+string(o)+". New") {
			t.Errorf("the schema does not name outcome %s", o)
		}
	}
	var s struct {
		Reasons map[string]string `json:"x-reasons"`
	}
	if err := json.Unmarshal(report.Schema(), &s); err != nil {
		t.Fatal(err)
	}
	for code, text := range s.Reasons {
		if strings.HasPrefix(text, "Forecast: ") && !slices.Contains(strings.FieldsFunc(have, func(r rune) bool { return r == ' ' || r == ',' || r == '.' }), code) {
			t.Errorf("outcome %s is explained and not listed", code)
		}
	}
}
