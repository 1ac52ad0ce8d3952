package detector

import (
	"cmp"
	"fmt"

	"drift-detector/report/code"
)

// finds returns what the controller takes for the machine's instance, given the
// verdict.
func (f *machineFacts) finds(v *Verdict) Finds {
	c := f.Machine
	switch {
	case c.Provider != "" && c.Recorded != nil && !c.InfraMissing && c.ReadsID:
		return FindsByID
	case !f.SearchesByName():
		return FindsUnknown
	case len(f.Searched) > 1:
		return FindsSeveral
	case !f.Place.Complete || f.Hidden:
		return FindsUnknown
	case len(f.Searched) == 0:
		return FindsNothing
	case v.Instance == f.Searched[0].Instance:
		return FindsByName
	}
	return FindsOther
}

// remadeRow is the second law for instances that are still listed when they have ended.
var remadeRow = machineRow{
	"ended-and-replaced",
	"The instance with the recorded id has ended, and a running one has the machine's second id, or its name in its place.",
	[]outcome{{code.Unknown, code.IdentityChanged}},
	func(f *machineFacts) bool { return len(f.Remade) > 0 },
	func(f *machineFacts) Verdict {
		return f.naming(unknown(code.IdentityChanged, fmt.Sprintf("%s, which %s records, is listed as %s, and %s has its place and its name: its Node, or an administrator of the infrastructure, can say whether it is the machine",
			nameOf(f.AtHome[0]), f.subject.The(), cmp.Or(f.AtHome[0].State, "ended"), nameOf(f.Remade[0]))), f.Remade)
	},
}
