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
	switch {
	case c != 0:
		return c
	case b.Instance == nil && a.Instance == nil:
		return 0
	case a.Instance == nil:
		return -1
	case b.Instance == nil:
		return 1
	}
	return match.CompareInstances(a.Instance, b.Instance)
}
