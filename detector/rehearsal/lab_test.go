package rehearsal_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

const testdata = "../../testdata/"

// foretold is a forecast with what it was made from.
type forecastOf struct {
	snapshot  *backup.Snapshot
	inventory infra.Inventory
	result    detector.Result
	forecast  rehearsal.Forecast
}

// foretell lists the lab's infrastructure and forecasts the restore of a backup.
func foretell(t *testing.T, tarball, vcenter, nodes string, skipNodes bool) forecastOf {
	t.Helper()
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: testdata + vcenter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	api, err := lab.StartAPIServers(testdata+tarball, testdata+nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	file, err := v.WriteCredentials(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	access := infra.Access{SkipNodes: skipNodes}
	if access.Credentials, _, err = infra.ReadCredentials(file); err != nil {
		t.Fatal(err)
	}
	for _, text := range append(api.Reroutes(), v.Reroute()) {
		r, err := infra.ParseReroute(text)
		if err != nil {
			t.Fatal(err)
		}
		access.Reroutes = append(access.Reroutes, r)
	}
	registry := all.Registry()
	want := registry.Want()
	want.Kinds = append(want.Kinds, rehearsal.Want().Kinds...)
	want.Secrets = append(want.Secrets, rehearsal.Want().Secrets...)
	source, err := archive.FileSource(testdata + tarball)
	if err != nil {
		t.Fatal(err)
	}
	s, secrets, err := backup.Load(context.Background(), []backup.Source{source}, want)
	if err != nil {
		t.Fatal(err)
	}
	expected, held := registry.Expected(s), rehearsal.ReadSecrets(s, secrets)
	inv := registry.Collect(context.Background(), registry.Targets(s, secrets, access), nil)
	out := forecastOf{snapshot: s, inventory: inv, result: detector.Detect(s, expected, inv, detector.Options{Now: time.Now()})}
	out.forecast = *rehearsal.Rehearse(rehearsal.Inputs{
		Snapshot: s, Expected: expected, Inventory: inv, Result: out.result, Controllers: registry.Controllers(), Secrets: held, Now: time.Now(),
	}).Forecast
	return out
}

// by returns the forecast of every machine, ghosts apart, by name, and of every
// ghost by its path.
func (f *forecastOf) by() (machines, ghosts map[string]rehearsal.Machine) {
	machines, ghosts = map[string]rehearsal.Machine{}, map[string]rehearsal.Machine{}
	for i, c := range f.result.Clusters {
		note := func(v *detector.Verdict, m rehearsal.Machine) {
			if v.Status == code.Ghost {
				ghosts[v.Instance.Path] = m
			} else {
				machines[v.Name] = m
			}
		}
		for j := range c.ControlPlane.Machines {
			note(c.ControlPlane.Machines[j], f.forecast.Clusters[i].ControlPlane.Machines[j])
		}
		for k, g := range c.WorkerGroups {
			for j := range g.Machines {
				note(g.Machines[j], f.forecast.Clusters[i].Groups[k].Machines[j])
			}
		}
	}
	return machines, ghosts
}

// What the real controllers did to every machine and every ghost when this
// backup was restored is what the forecast says. Nothing in it is CannotKnow.
func TestForecastIsWhatTheRealControllersDid(t *testing.T) {
	f := foretell(t, "restore/restored-data.tar.gz", "restore/vcenter-before-restore.tar.gz", "restore/nodes", false)
	var oracle struct {
		Machines []struct{ Name, Outcome, Condition string }
		Ghosts   []struct{ Path, Code string }
		Created  []struct {
			Cluster string
			Owner   []string
		}
	}
	data, err := os.ReadFile(testdata + "restore/outcomes.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &oracle); err != nil {
		t.Fatal(err)
	}
	if len(oracle.Machines) != 50 || len(oracle.Ghosts) != 11 {
		t.Fatalf("the oracle has %d machines and %d ghosts", len(oracle.Machines), len(oracle.Ghosts))
	}
	machines, ghosts := f.by()
	for _, want := range oracle.Machines {
		got, ok := machines[want.Name]
		if !ok || string(got.Outcome) != want.Outcome {
			t.Errorf("%s: %+v, want %s", want.Name, got, want.Outcome)
		}
		if want.Condition != "" && got.Condition == "" {
			t.Errorf("%s: no condition, want %s", want.Name, want.Condition)
		}
		if got.Message == "" {
			t.Errorf("%s: no reason", want.Name)
		}
		delete(machines, want.Name)
	}
	for _, want := range oracle.Ghosts {
		if got := ghosts[want.Path]; string(got.Outcome) != want.Code {
			t.Errorf("ghost %s: %+v, want %s", want.Path, got, want.Code)
		}
		delete(ghosts, want.Path)
	}
	if len(machines) > 0 || len(ghosts) > 0 {
		t.Errorf("forecasts that the oracle does not have: %v, %v", machines, ghosts)
	}
	if n := f.forecast.Outcomes[code.CannotKnow]; n != 0 {
		t.Errorf("%d cannot be known", n)
	}
	// New Machines: one per replaced machine, and those that owners are short of.
	created := f.forecast.Outcomes[code.ReplacedByMachineHealthCheck]
	for _, c := range f.forecast.Clusters {
		created += c.ControlPlane.Replicas.Created
		for _, g := range c.Groups {
			created += g.Replicas.Created
		}
	}
	if created != len(oracle.Created) {
		t.Errorf("%d Machines are to be created, the controllers made %d", created, len(oracle.Created))
	}
}

// Without the Node lists all outcomes are the same, but that nobody can tell
// that a Node was left behind.
func TestForecastWithoutNodeLists(t *testing.T) {
	with := foretell(t, "restore/restored-data.tar.gz", "restore/vcenter-before-restore.tar.gz", "restore/nodes", false)
	without := foretell(t, "restore/restored-data.tar.gz", "restore/vcenter-before-restore.tar.gz", "restore/nodes", true)
	a, ghostsA := with.by()
	b, ghostsB := without.by()
	for name, m := range a {
		want := m.Outcome
		if want == code.StuckNodeLeft {
			want = code.Stuck
		}
		if got := b[name].Outcome; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for path, m := range ghostsA {
		if got := ghostsB[path].Outcome; got != m.Outcome {
			t.Errorf("%s: %s, want %s", path, got, m.Outcome)
		}
	}
	if len(a) != len(b) || len(ghostsA) != len(ghostsB) {
		t.Errorf("%d and %d machines", len(a), len(b))
	}
}
