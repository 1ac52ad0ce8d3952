package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/detector/forecast"
	"drift-detector/report/schematest"
)

// foretold is the sample with a forecast that has every part.
func foretold() Parts {
	p := sampleParts()
	n := func(n int64) backup.Number { return backup.Number{N: n, Known: true} }
	f := &forecast.Forecast{
		Outcomes: map[forecast.Outcome]int{forecast.Adopted: 23, forecast.Stuck: 4}, NotHealing: 4,
		Notes: []forecast.Note{{Code: forecast.AssumedOrder, Message: "the forecast assumes an order"}},
	}
	for i := range p.Result.Clusters {
		c := &p.Result.Clusters[i]
		one := forecast.Cluster{
			Text: "1 adopted, 2 broken until\nsomebody acts", Outcomes: map[forecast.Outcome]int{forecast.Stuck: 1}, NotHealing: 1,
			Notes: []forecast.Note{{Code: forecast.ControlPlaneGone, Message: "gone"}},
			ControlPlane: forecast.ControlPlane{
				Machines: fates(c.ControlPlane.Machines), Why: "no MachineHealthCheck", Rollout: &forecast.Rollout{Stale: 3, Ghosts: 3, Message: "rolled out"},
				Replicas: forecast.Replicas{Desired: n(3), Recorded: 1, Working: 2, Created: 3, Deleted: 4, Running: 5, Unknown: 6, Surplus: 7, Missing: 8},
				Etcd:     forecast.Etcd{Quorum: forecast.QuorumStands, Recorded: 1, Existing: 2, Removed: 3, After: 4, Message: "stands"},
			},
		}
		for j := range c.WorkerGroups {
			one.Groups = append(one.Groups, forecast.Group{Machines: fates(c.WorkerGroups[j].Machines), ManagedBy: "cluster autoscaler"})
		}
		f.Clusters = append(f.Clusters, one)
	}
	p.Forecast = f
	return p
}

// fates names each machine in its own forecast.
func fates(vs []detector.Verdict) []forecast.Machine {
	out := make([]forecast.Machine, len(vs))
	for i, v := range vs {
		out[i] = forecast.Machine{Outcome: forecast.Stuck, Message: "of " + v.Name}
	}
	return out
}

func TestForecastStandsBesideWhatItIsOf(t *testing.T) {
	for _, ignore := range []bool{false, true} {
		p := foretold()
		p.Options.IgnoreHealthy = ignore
		r := New(p)
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
			if cp.Replicas != (Replicas{1, 2, 3, 4, 5, 6, 7, 8}) || *cp.Etcd != (Etcd{"Stands", 1, 2, 3, 4, "stands"}) || *cp.Rollout != (Rollout{3, 3, "rolled out"}) || cp.Why == "" {
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
		if err := schematest.Strict(t, Schema())(encode(t, r)); err != nil {
			t.Error(err)
		}
	}
}

func TestReportWithoutForecastSaysNothingOfIt(t *testing.T) {
	if doc := encode(t, New(sampleParts())); bytes.Contains(doc, []byte(`"forecast"`)) {
		t.Error("the document has a forecast")
	}
}

func TestTextForecastsInALinePerCluster(t *testing.T) {
	var out bytes.Buffer
	if err := Text(&out, New(foretold()), TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	// Of the six clusters one is of a provider that is not supported.
	if n := strings.Count(text, "after the restore: 1 adopted"); n != 5 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
	if !strings.Contains(text, "- 4 of the Stale will not heal by themselves after the restore") {
		t.Errorf("the answer does not say it:\n%s", out.String())
	}
}

// Every outcome that the schema names is one of the forecast's, and the other
// way round.
func TestOutcomesOfTheSchema(t *testing.T) {
	have := string(Schema())
	for _, o := range []forecast.Outcome{
		forecast.Adopted, forecast.AdoptedPoweredOn, forecast.AdoptedByName, forecast.Stuck, forecast.StuckNodeLeft,
		forecast.ReplacedByMachineHealthCheck, forecast.UntouchedPaused, forecast.OrphanedAndReplaced, forecast.NewInstanceCreated,
		forecast.GhostKeepsRunning, forecast.GhostEtcdMemberRemoved, forecast.GhostEtcdMemberKept, forecast.CannotKnow,
		forecast.RolledByOwner, forecast.DeletedByOwner, forecast.DeletedByMachineHealthCheck, forecast.MemberGone, forecast.Halted,
	} {
		if !strings.Contains(have, ": "+string(o)+",") && !strings.Contains(have, " "+string(o)+",") && !strings.Contains(have, " "+string(o)+". New") {
			t.Errorf("the schema does not name outcome %s", o)
		}
	}
	reasons := decodeSchema(t).Reasons
	for code, text := range reasons {
		if strings.HasPrefix(text, "Forecast: ") && !slices.Contains(strings.FieldsFunc(have, func(r rune) bool { return r == ' ' || r == ',' || r == '.' }), code) {
			t.Errorf("outcome %s is explained and not listed", code)
		}
	}
}
