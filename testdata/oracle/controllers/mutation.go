package oracle

import (
	"maps"
	"math/rand"
	"time"
)

// A mutation changes the world and says how, or "" where there is nothing to change.
type mutation func(w *World, r *rand.Rand) string

// mutations are all of them by name: edits, drift and damage.
var mutations = func() map[string]mutation {
	all := map[string]mutation{}
	for _, some := range []map[string]mutation{ownerEdits, machineEdits, drift, damage, secretDamage} {
		maps.Copy(all, some)
	}
	return all
}()

// mutate changes the world, and reports whether there was something to change.
func (w *World) mutate(name string, r *rand.Rand, when string) bool {
	what := mutations[name](w, r)
	if what != "" {
		w.What = append(w.What, when+" "+name+": "+what)
	}
	return what != ""
}

// on changes one of the objects of a kind.
func on(kind string, change func(o *obj, w *World, r *rand.Rand) string) mutation {
	return func(w *World, r *rand.Rand) string {
		o := one(r, w.of(kind))
		if o == nil {
			return ""
		}
		if s := change(o, w, r); s != "" {
			return kind + " " + o.GetName() + ": " + s
		}
		return ""
	}
}

// at returns a time some hours from now.
func at(hours int) string {
	return time.Now().Add(time.Duration(hours) * time.Hour).UTC().Format(time.RFC3339)
}

// setting sets a field to one of some values.
func setting(kind string, values []any, field ...string) mutation {
	return on(kind, func(o *obj, _ *World, r *rand.Rand) string {
		v := pick(r, values)
		set(o, v, field...)
		return field[len(field)-1] + " " + string(asJSON(v))
	})
}

func annotating(kind, key, value string) mutation {
	return on(kind, func(o *obj, _ *World, _ *rand.Rand) string {
		annotate(o, key, value)
		return "annotation " + key
	})
}

// deleting returns what somebody does with kubectl delete.
func deleting(kind string) mutation {
	return on(kind, func(o *obj, _ *World, _ *rand.Rand) string {
		set(o, at(-1), "metadata", "deletionTimestamp")
		return "deleted"
	})
}

func lacking(kind string) mutation {
	return func(w *World, r *rand.Rand) string {
		o := one(r, w.of(kind))
		if o == nil {
			return ""
		}
		w.drop(o)
		return "the backup lacks " + kind + " " + o.GetName()
	}
}

func unlabelling(kind string) mutation {
	return on(kind, func(o *obj, _ *World, r *rand.Rand) string {
		l := aLabel(r, o)
		if l == "" {
			return ""
		}
		unlabel(o, l)
		return "without label " + l
	})
}

// labelsOf gives an object the labels that another's selector wants.
func labelsOf(o, selecting *obj) {
	for k, v := range stringMap(selecting, "spec", "selector", "matchLabels") {
		label(o, k, v)
	}
}

// repeated returns a list with some of its elements several times: those are picked more often.
func repeated(times int, names ...string) []string {
	var all []string
	for range times {
		all = append(all, names...)
	}
	return all
}
