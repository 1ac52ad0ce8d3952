package detector

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/report/code"
)

// overlooked returns the verdict on a match that the machine's controller does not take
// for its instance: it searches by name, and finds another one, several or none. Healthy
// means that the controller takes it (the sixth law).
//
// A controller that has no id after any restore looks by name for every machine, and
// nothing that is written into the backup changes that. There the verdict says only
// that the instance exists, and Finds and the forecast say what the controller takes.
func (f *machineFacts) overlooked(found *vm) (v Verdict, overlooked bool) {
	switch {
	case !f.searches() || f.expected.Reads == "":
		return v, false
	case slices.ContainsFunc(f.searched, func(v *vm) bool { return v != found }):
		return f.ambiguous(f.without(nil, []*vm{found}, f.searched)), true
	case len(f.searched) == 0 && f.scope.complete:
		return f.with(unknown(code.NotFoundByName, fmt.Sprintf(
			"%s is its instance, but %s holds no id in %s, where its controller reads it: it searches by name, finds none and creates a second one; write the id there before the controllers start",
			nameOf(found), f.subject.The(), f.expected.Reads)), found, code.Medium), true
	}
	return v, false
}

// finds returns what the controller takes for the machine's instance, given the
// verdict.
func (f *machineFacts) finds(v *Verdict) Finds {
	c := f.expected
	switch {
	case c.Provider != "" && c.machine != nil && !c.InfraMissing && c.ReadsID:
		return FindsByID
	case !f.searches():
		return FindsUnknown
	case len(f.searched) > 1:
		return FindsSeveral
	case !f.scope.complete || f.hidden:
		return FindsUnknown
	case len(f.searched) == 0:
		return FindsNothing
	case v.Instance == f.searched[0].Instance:
		return FindsByName
	}
	return FindsOther
}

// remadeRow is the second law for instances that are still listed when they have ended.
var remadeRow = machineRow{
	"ended-and-replaced",
	"The instance with the recorded id has ended, and a running one has the machine's second id, or its name in its place.",
	[]outcome{{code.Unknown, code.IdentityChanged}},
	func(f *machineFacts) bool { return len(f.remade) > 0 },
	func(f *machineFacts) Verdict {
		return f.naming(unknown(code.IdentityChanged, fmt.Sprintf("%s, which %s records, is listed as %s, and %s has its place and its name: its Node, or an administrator of the infrastructure, can say whether it is the machine",
			nameOf(f.home[0]), f.subject.The(), cmp.Or(f.home[0].State, "ended"), nameOf(f.remade[0]))), f.remade)
	},
}
