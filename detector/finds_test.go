package detector

import (
	"testing"

	"drift-detector/infra"
)

// What the controller takes is told of every machine that it looks for, whatever the
// verdict is.
func TestFinds(t *testing.T) {
	byName := func(s *scene) *infra.Claim {
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
		"none, and the list is not whole":    {func(s *scene) { searching(s); s.listings[0].State = infra.Partial }, FindsUnknown},
		"one by name, the list is not whole": {func(s *scene) { searching(s); s.vm("n", searched); s.listings[0].State = infra.Partial }, FindsUnknown},
		"two by name, the list is not whole": {func(s *scene) {
			searching(s)
			s.vm("n", searched)
			s.vm("o", searched)
			s.listings[0].State = infra.Partial
		}, FindsSeveral},
		"never made, a namesake is found": {func(s *scene) { byName(s); s.vm("n", searched) }, FindsOther},
		"never made":                      {func(s *scene) { byName(s) }, FindsNothing},
	} {
		s := newScene()
		c.arrange(s)
		if got := verdictOf(t, s).Finds; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// verdictOf is the verdict on the scene's machine.
func verdictOf(t *testing.T, s *scene) Verdict {
	t.Helper()
	for _, c := range s.detect().Clusters {
		for _, g := range c.WorkerGroups {
			for _, v := range g.Machines {
				if v.UID != "" {
					return v
				}
			}
		}
	}
	t.Fatal("the scene has no machine")
	return Verdict{}
}
