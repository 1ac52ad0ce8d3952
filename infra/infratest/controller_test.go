package infratest

import (
	"strings"
	"testing"

	"drift-detector/infra"
)

func TestControllerProblems(t *testing.T) {
	key := []infra.Key{{Kind: infra.KeyKindOf("name"), Value: "m"}}
	spec := infra.Controller{Name: "CAPT", Makes: "creates a VM", ID: infra.IDInSpec}
	status := infra.Controller{Name: "CAPT", Makes: "creates a VM", ID: infra.IDInStatus}
	with := func(c infra.Controller, o infra.Obstacle, why string) infra.Controller {
		c.Obstacles = map[infra.Obstacle]string{o: why}
		return c
	}
	byID, byName := infra.ExpectedMachine{Reads: "spec.id", ReadsID: true, Searches: key}, infra.ExpectedMachine{Searches: key}
	for name, c := range map[string]struct {
		controller infra.Controller
		machines   []infra.ExpectedMachine
		want       string // in the only problem; empty: there is none
	}{
		"id in the spec":        {spec, []infra.ExpectedMachine{byID, {Reads: "spec.id", Searches: key}, {}}, ""},
		"id in the status":      {with(status, infra.Renamed, "it is in use"), []infra.ExpectedMachine{byName}, ""},
		"nothing is foretold":   {infra.Controller{}, nil, ""},
		"no name":               {infra.Controller{ID: infra.IDInSpec}, nil, "without a Name"},
		"no place of the id":    {infra.Controller{Name: "CAPT", Makes: "creates a VM"}, nil, "where the id is"},
		"makes nothing":         {infra.Controller{Name: "CAPT", ID: infra.IDInSpec}, nil, "how it creates"},
		"unknown obstacle":      {with(status, "Bad", "it is"), nil, "no Obstacle"},
		"obstacle, no reason":   {with(status, infra.OtherID, ""), nil, "no clause"},
		"obstacle, a sentence":  {with(status, infra.OtherID, "It is."), nil, "no clause"},
		"late, two lines":       {infra.Controller{Name: "CAPT", Makes: "m", ID: infra.IDNowhere, Late: "a\nb"}, nil, "no clause"},
		"starts what it misses": {infra.Controller{Name: "CAPT", Makes: "m", ID: infra.IDNowhere, RunningOnly: true, PowersOn: true}, nil, "starts none"},
		"id in no field":        {spec, []infra.ExpectedMachine{{ReadsID: true}}, "in no field"},
		"reads a status":        {status, []infra.ExpectedMachine{{Reads: "status.id", Searches: key}}, "read after a restore"},
		"by name, no field":     {spec, []infra.ExpectedMachine{byName}, "no field is named"},
		"looks for nothing":     {spec, []infra.ExpectedMachine{{}}, "how it looks"},
	} {
		got := ControllerProblems(c.controller, c.machines)
		if c.want == "" && got != nil || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
