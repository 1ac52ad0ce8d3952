package infratest

import (
	"reflect"
	"slices"
	"testing"

	"drift-detector/infra"
)

// orphans returns the expected machines without a Machine.
func orphans(c infra.Expected) (all []infra.Orphan) {
	for _, m := range c.Machines {
		if m.Orphan != nil {
			all = append(all, *m.Orphan)
		}
	}
	return all
}

// withoutFunctions leaves out what cannot be compared.
func withoutFunctions(c infra.Expected) infra.Expected {
	c.OnInstance, c.Steps = nil, slices.Clone(c.Steps)
	for i := range c.Steps {
		c.Steps[i].Look, c.Steps[i].Each = nil, nil
	}
	return c
}

func expectedIsConsistent(t *testing.T, r *run, all []infra.Listing) {
	probes := map[string][]infra.Key{}
	for _, target := range r.targets {
		for _, id := range target.IDs {
			probes[id] = target.Probes
		}
	}
	c := r.provider.Expected(r.snapshot)
	if again := r.provider.Expected(r.snapshot); !reflect.DeepEqual(withoutFunctions(c), withoutFunctions(again)) {
		t.Error("two calls of Expected differ")
	}
	if fast, ok := r.provider.(infra.Surveyor); ok {
		brief := fast.Survey(r.snapshot)
		if !reflect.DeepEqual([]any{brief.Providers, brief.Absent, orphans(brief)}, []any{c.Providers, c.Absent, orphans(c)}) {
			t.Errorf("Survey says %+v, Expected another", brief)
		}
	}
	asked := func(target, what string, keys ...infra.Key) {
		for _, k := range keys {
			if !k.IsZero() && !slices.Contains(probes[target], k) {
				t.Errorf("nobody looks at %q for landmark %s of %s", target, k, what)
			}
		}
	}
	for _, m := range c.Machines {
		if _, ok := probes[m.Home.Target]; !ok {
			t.Errorf("machine %d calls %q home, which is no target", m.Machine, m.Home.Target)
		}
		if m.Home.Folder != "" && !slices.ContainsFunc(c.Proofs, func(p infra.VisibilityProof) bool { return p.Target == m.Home.Target && p.Folder == m.Home.Folder }) {
			t.Errorf("nothing can prove part %q of %q, the home of machine %d", m.Home.Folder, m.Home.Target, m.Machine)
		}
	}
	for _, p := range c.Pools {
		asked(p.Target, p.Kind+" "+p.Name, p.Probe)
	}
	for _, r := range c.Resources {
		asked(r.Target, r.Kind+" "+r.Name, r.Keys...)
	}
	for _, p := range c.Proofs {
		marks, ok := probes[p.Target]
		if !ok {
			t.Errorf("the proof for %v is about %q, which is no target", p.Cluster, p.Target)
		}
		for _, k := range p.All {
			if !slices.Contains(marks, k) {
				t.Errorf("nobody looks for landmark %s of %v", k, p.Cluster)
			}
		}
	}
	if len(c.Machines) > 0 && !anyFound(c, all) {
		t.Error("not one claim finds an instance by its strong key")
	}
}

func anyFound(c infra.Expected, all []infra.Listing) bool {
	have := map[infra.Key]bool{}
	for _, l := range all {
		for _, i := range l.Instances {
			for _, k := range i.Keys {
				have[k] = true
			}
		}
	}
	return slices.ContainsFunc(c.Machines, func(m infra.ExpectedMachine) bool { return have[m.Strong] })
}
