package detector

import (
	"cmp"
	"slices"

	"drift-detector/detector/match"
	"drift-detector/report"
	"drift-detector/report/code"
)

// finish puts the verdicts of a set in order and rolls them up. A reason means
// that the set needs confirmation whatever its machines are.
func (s *Set) finish(reason code.Reason) {
	slices.SortStableFunc(s.Machines, compareVerdicts)
	s.Status, s.Reason = code.Healthy, reason
	if reason != "" {
		s.Status = code.NeedFurtherConfirmation
	}
	for _, v := range s.Machines {
		s.Status = code.Worst(s.Status, report.RollUp(v.Status, v.Warnings))
	}
}

func compareVerdicts(a, b *Verdict) int {
	c := cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	if c != 0 || a.Instance == nil || b.Instance == nil {
		return cmp.Or(c, a.instances()-b.instances())
	}
	return match.CompareInstances(a.Instance, b.Instance)
}

// instances returns how many instances the verdict has of its own, one or none.
func (v *Verdict) instances() int {
	if v.Instance == nil {
		return 0
	}
	return 1
}
