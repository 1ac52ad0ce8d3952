package diff

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/report"
	"drift-detector/report/code"
)

// statuses are those by which new findings are called.
var statuses = []struct {
	kind   string
	status code.Status
}{
	{"new-ghost", code.Ghost},
	{"new-stale", code.Stale},
	{"new-unknown", code.Unknown},
	{"new-unattributed", code.Unattributed},
	{leaked, code.Ghost}, // as detect calls them of a management cluster that runs
	{"new-lost", code.Stale},
}

const leaked = "new-leaked"

// Kinds returns what Fails may be asked for:
//
//	new-ghost, new-stale, new-unknown, new-unattributed, new-leaked, new-lost
//	             a machine or VM that is so now and was not, or was not there
//	new-error    an error of the run that was not there
//	new-check    an error in the backup itself that was not there, or was none
//	worse        the status of the whole, or an answer, got worse, or the new
//	             report did not look where the old one did, or its backup lacks a
//	             cluster that the old one had
//	changed      there is any difference
//	incomplete   one of the reports is incomplete
//
// What an ignore rule sets aside and machines of the management cluster itself
// are no new findings.
func Kinds() []string {
	var out []string
	for _, s := range statuses {
		out = append(out, s.kind)
	}
	return append(out, "new-error", "new-check", "worse", "changed", "incomplete")
}

// Fails says which of the kinds the diff has, in the order asked for, each once.
// A kind that there is not is an error, whatever the diff.
func (d *Diff) Fails(kinds []string) (matched []string, err error) {
	has := map[string]bool{
		"new-error":  len(d.Errors.New) > 0,
		"new-check":  d.newCheckErrors(),
		"worse":      d.Worse,
		"changed":    d.Different,
		"incomplete": !d.Complete,
	}
	for _, s := range statuses {
		has[s.kind] = d.became(func(i *Item) bool { return i.Status == s.status }) > 0
	}
	has[leaked] = d.became(d.leaked) > 0
	for _, k := range kinds {
		if _, ok := has[k]; !ok {
			return nil, fmt.Errorf("a diff has no %q; it may have %s", k, strings.Join(Kinds(), ", "))
		}
		if has[k] && !slices.Contains(matched, k) {
			matched = append(matched, k)
		}
	}
	return matched, nil
}

// newCheckErrors says that the backup itself has an error that it had not.
func (d *Diff) newCheckErrors() bool {
	return slices.ContainsFunc(d.Checks.New, func(c report.Check) bool { return c.Error() }) ||
		slices.ContainsFunc(d.Checks.Changed, func(c Change[report.Check]) bool { return c.New.Error() && !c.Old.Error() })
}

// leaked reports whether a VM belongs to no Machine; see report.Machine.IsLeaked.
func (d *Diff) leaked(i *Item) bool {
	return i.Status == code.Ghost || d.live && i.Status == code.Healthy && slices.Contains(i.Warnings, string(code.MachineMissing))
}

// became counts what is so now and was not, or was not there.
func (d *Diff) became(is func(*Item) bool) int {
	n := 0
	for _, l := range []*Lists[Item]{&d.Machines, &d.InfraMachines} {
		for i := range l.New {
			n += one(is(&l.New[i]) && l.New[i].open())
		}
		for i := range l.Changed {
			c := &l.Changed[i]
			n += one(is(&c.New) && !is(&c.Old) && c.New.open())
		}
	}
	return n
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
