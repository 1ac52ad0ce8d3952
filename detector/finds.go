package detector

import "fmt"

// NotFoundByName is the reason code of a machine whose instance exists, and whose
// controller searches for it by name and does not find it.
const NotFoundByName = "NotFoundByName"

// searches says that the machine's controller has no id to go by, and searches by
// name. A member of a pool is never made for its Machine, whatever is found.
func (f *machineFacts) searches() bool {
	c := f.claim
	return c.Provider != "" && c.machine != nil && !c.InfraMissing && c.Reads != "" && !c.ReadsID && !f.inPool()
}

// match is the instance that the keys of the claim single out, or nil.
func (f *machineFacts) match() *vm {
	switch {
	case len(f.home) == 1 && alive(f.home[0]):
		return f.home[0]
	case !f.claim.Strong.IsZero() || f.contested || len(f.home) > 0:
	case len(f.identity) == 1:
		return f.identity[0]
	case len(f.identity) == 0 && len(f.weak) == 1:
		return f.weak[0]
	}
	return nil
}

// searchRow holds to the law that Healthy is said of the instance that the controller
// takes.
var searchRow = machineRow{
	"7 matched, but its controller searches by name and takes another or none",
	func(f *machineFacts) bool {
		found := f.match()
		return found != nil && f.searches() && (len(f.without(found, f.searched)) > 0 || len(f.searched) == 0 && f.scope.complete)
	},
	func(f *machineFacts) Verdict {
		found := f.match()
		if len(f.searched) > 0 {
			return f.ambiguous(f.without(nil, []*vm{found}, f.searched))
		}
		return f.with(unknown(NotFoundByName, fmt.Sprintf(
			"%s is its instance, but the backup holds no id in %s, where its controller reads it: it searches by name, finds none and makes a second one; write the id there before the controllers start",
			nameOf(found), f.claim.Reads)), found, StrengthMedium)
	},
}

// finds says what the controller takes, given the verdict.
func (f *machineFacts) finds(v *Verdict) Finds {
	c := f.claim
	switch {
	case c.Provider != "" && c.machine != nil && !c.InfraMissing && c.ReadsID:
		return FindsByID
	case !f.searches():
		return FindsUnknown
	case len(f.searched) > 1:
		return FindsSeveral
	case !f.scope.complete:
		return FindsUnknown
	case len(f.searched) == 0:
		return FindsNothing
	case v.Instance == &f.searched[0].Instance:
		return FindsByName
	}
	return FindsOther
}
