package detector

import (
	"testing"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// searched is what the controller's search by name finds.
var searched = key("searched", subject)

// searching returns a machine whose id is recorded where its controller does not read it.
func searching(s *scene) *infra.ExpectedMachine {
	c := s.worker(subject)
	c.Reads, c.Searches = "spec.id", []infra.Key{searched}
	return c
}

// Finds is set for every machine that a controller looks for, whatever the verdict is.
func TestFinds(t *testing.T) {
	byName := func(s *scene) *infra.ExpectedMachine {
		c := searching(s)
		c.Strong, c.Weak = infra.Key{}, []infra.Key{weakly("w")}
		return c
	}
	for name, c := range map[string]struct {
		arrange func(*scene)
		want    Finds
	}{
		"nothing is known of its controller": {func(s *scene) { s.worker(subject); s.vmOf(subject) }, FindsUnknown},
		"the id is where it is read":         {func(s *scene) { searching(s).ReadsID = true; s.vmOf(subject) }, FindsByID},
		"likewise, and the instance is gone": {func(s *scene) { searching(s).ReadsID = true }, FindsByID},
		"infrastructure object missing":      {func(s *scene) { searching(s).InfraMissing = true; s.vmOf(subject) }, FindsUnknown},
		"a member of a pool":                 {func(s *scene) { searching(s).Pool = asg("p"); s.vmOf(subject) }, FindsUnknown},
		"found by name":                      {func(s *scene) { searching(s); s.vm("m", bios("b-m"), searched) }, FindsByName},
		"found by name, no id anywhere":      {func(s *scene) { byName(s); s.vm("m", weakly("w"), searched) }, FindsByName},
		"found elsewhere only":               {func(s *scene) { searching(s); s.vmOf(subject); s.list("far"); s.vmIn(1, "n", searched) }, FindsNothing},
		"the namesake has ended":             {func(s *scene) { searching(s); s.vmOf(subject); s.vm("n", searched).Gone = true }, FindsNothing},
		"another by name":                    {func(s *scene) { searching(s); s.vmOf(subject); s.vm("n", searched) }, FindsOther},
		"another by name, its own is gone":   {func(s *scene) { searching(s); s.vm("n", searched) }, FindsOther},
		"two by name":                        {func(s *scene) { searching(s); s.vm("m", bios("b-m"), searched); s.vm("n", searched) }, FindsSeveral},
		"none, and its own is gone":          {func(s *scene) { searching(s) }, FindsNothing},
		"none, and the list is not whole":    {func(s *scene) { searching(s); s.listings[0].State = code.ScopePartial }, FindsUnknown},
		"one by name, the list is not whole": {func(s *scene) { searching(s); s.vm("n", searched); s.listings[0].State = code.ScopePartial }, FindsUnknown},
		"two by name, the list is not whole": {func(s *scene) {
			searching(s)
			s.vm("n", searched)
			s.vm("o", searched)
			s.listings[0].State = code.ScopePartial
		}, FindsSeveral},
		"never made, a namesake is found": {func(s *scene) { byName(s); s.vm("n", searched) }, FindsOther},
		"never made":                      {func(s *scene) { byName(s) }, FindsNothing},
		"no id after any restore":         {func(s *scene) { searching(s).Reads = ""; s.vm("m", bios("b-m"), searched) }, FindsByName},
		"likewise, renamed":               {func(s *scene) { searching(s).Reads = ""; s.vmOf(subject) }, FindsNothing},
		"likewise, another has the name":  {func(s *scene) { searching(s).Reads = ""; s.vmOf(subject); s.vm("n", searched) }, FindsOther},
		"likewise, two have the name": {func(s *scene) {
			searching(s).Reads = ""
			s.vm("m", bios("b-m"), searched)
			s.vm("n", searched)
		}, FindsSeveral},
		"likewise, gone": {func(s *scene) { searching(s).Reads = "" }, FindsNothing},
	} {
		s := newScene()
		c.arrange(s)
		if got := verdictOf(t, s).Finds; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// verdictOf returns the verdict on the scene's machine.
func verdictOf(t *testing.T, s *scene) Verdict {
	t.Helper()
	for _, c := range s.detect().Clusters {
		for _, g := range c.WorkerGroups {
			for _, v := range g.Machines {
				if v.UID != "" {
					return *v
				}
			}
		}
	}
	t.Fatal("the scene has no machine")
	return Verdict{}
}

// Healthy is said of the instance that the controller takes, by whatever keys it was
// found.
func TestMatchesThatTheControllerOverlooks(t *testing.T) {
	second := func(s *scene) { searching(s).Strong = infra.Key{} }
	for name, c := range map[string]struct {
		arrange func(*scene)
		status  code.Status
		reason  code.Reason
	}{
		"by id, found by name":          {func(s *scene) { searching(s); s.vm("m", bios("b-m"), searched) }, code.Healthy, ""},
		"by id, under another name":     {func(s *scene) { searching(s); s.vmOf(subject) }, code.Unknown, code.NotFoundByName},
		"by id, another has the name":   {func(s *scene) { searching(s); s.vmOf(subject); s.vm("n", searched) }, code.Unknown, code.AmbiguousMatch},
		"by id, two have the name":      {func(s *scene) { searching(s); s.vm("m", bios("b-m"), searched); s.vm("n", searched) }, code.Unknown, code.AmbiguousMatch},
		"by id, in a part of the place": {func(s *scene) { searching(s); s.vmOf(subject); s.listings[0].State = code.ScopePartial }, code.Healthy, ""},
		"one of two with the id":        {func(s *scene) { searching(s); s.vmOf(subject); s.vm("copy", bios("b-m")) }, code.Unknown, code.NotFoundByName},
		"by the second key":             {func(s *scene) { second(s); s.vm("m", bios("b-x"), uuid("i-m")) }, code.Unknown, code.NotFoundByName},
		"by the second key and name":    {func(s *scene) { second(s); s.vm("m", bios("b-x"), uuid("i-m"), searched) }, code.Healthy, ""},
		"the id is where it is read":    {func(s *scene) { searching(s).ReadsID = true; s.vmOf(subject); s.vm("n", searched) }, code.Healthy, ""},
		"a member of a pool":            {func(s *scene) { searching(s).Pool = asg("p"); s.vmOf(subject) }, code.Healthy, ""},
		"no id after any restore":       {func(s *scene) { searching(s).Reads = ""; s.vmOf(subject) }, code.Healthy, ""},
		"likewise, two have the name": {func(s *scene) {
			searching(s).Reads = ""
			s.vm("m", bios("b-m"), searched)
			s.vm("n", searched)
		}, code.Healthy, ""},
		"likewise, another has the name": {func(s *scene) { searching(s).Reads = ""; s.vmOf(subject); s.vm("n", searched) }, code.Healthy, ""},
	} {
		s := newScene()
		c.arrange(s)
		if v := verdictOf(t, s); v.Status != c.status || v.Reason != c.reason {
			t.Errorf("%s: %s %s: %s; want %s %s", name, v.Status, v.Reason, v.Message, c.status, c.reason)
		}
	}
}

// In every world, Healthy machines are those that their controllers take, but for
// controllers that have no id after any restore.
func TestRandomWorldsHealthyIsWhatTheControllerTakes(t *testing.T) {
	finds := map[Finds]int{}
	for seed := range uint64(1500) {
		s := randomWorld(seed)
		idLost := searchByName(s, seed)
		for _, c := range s.detect().Clusters {
			for _, v := range verdictsOf(c) {
				finds[v.Finds]++
				if v.Status == code.Healthy && !idLost[v.UID] && v.Finds != FindsByID && v.Finds != FindsByName && v.Finds != FindsUnknown {
					t.Fatalf("world %d: %s is Healthy, and its controller finds %q", seed, v.Name, v.Finds)
				}
			}
		}
	}
	for _, f := range []Finds{FindsUnknown, FindsByID, FindsByName, FindsOther, FindsSeveral, FindsNothing} {
		if finds[f] == 0 {
			t.Errorf("no world led to %q", f)
		}
	}
	t.Log(finds)
}

// searchByName gives a part of the machines controllers that search by name, and returns
// the uids of those whose controllers have no id after any restore.
func searchByName(s *scene, seed uint64) map[string]bool {
	idLost := map[string]bool{}
	for i := range s.expected.Machines {
		c, kind := &s.expected.Machines[i], (seed+uint64(i))%3
		switch {
		case c.Provider == "" || kind == 0:
			continue
		case seed%13 == 5:
			c.Searches = c.Names
			if c.Machine >= 0 {
				idLost[s.snap.Machines[c.Machine].UID] = true
			}
		default:
			c.Reads, c.ReadsID, c.Searches = "spec.id", !c.Strong.IsZero() && kind == 1, c.Names
		}
	}
	return idLost
}
