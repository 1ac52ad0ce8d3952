package diff

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/report"
	"drift-detector/report/terminal"
	"drift-detector/report/text"
)

// Format writes a diff in one form, the same bytes for the same diff. It returns
// the first error of the writer.
type Format func(io.Writer, *Diff) error

var formats = map[string]Format{
	"json": JSON, "text": plainText, "markdown": Markdown, "junit": JUnit, "prometheus": Prometheus,
}

// Names are the names of all formats, sorted.
func Names() []string { return slices.Sorted(maps.Keys(formats)) }

// Of returns the format of that name. The error names those that there are.
func Of(name string) (Format, error) {
	if f, ok := formats[name]; ok {
		return f, nil
	}
	names := Names()
	last := len(names) - 1
	return nil, fmt.Errorf("format %q of a diff is not known; it is %s or %s", name, strings.Join(names[:last], ", "), names[last])
}

func plainText(w io.Writer, d *Diff) error { return Text(w, d, text.Options{}) }

// JSON writes the document itself, in the form of [report.JSON].
func JSON(w io.Writer, d *Diff) error { return report.Document(w, d) }

// section is one list of the diff as people read it.
type section struct {
	title string // "Machines changed"
	rows  []row
}

// row is one thing of a list. Its texts are foreign and not escaped.
type row struct {
	status string
	aside  string // why nobody must act upon it
	place  string // its cluster
	name   string
	gone   bool
	warned bool // Healthy, and not the whole story
	check  bool // status is the severity of a finding on the backup itself
	facts  []fact
}

// fact is something about a thing, or, with change, what it was and what it is.
type fact struct {
	label    string
	old, new string
	change   bool
}

// sections are the lists that are not empty. Ghosts are new where other findings
// are changes, so what is new comes first.
func (d *Diff) sections() []section {
	var out []section
	add := func(title string, rows []row) {
		if len(rows) > 0 {
			out = append(out, section{title, rows})
		}
	}
	for _, l := range []struct {
		what string
		*Lists[Item]
	}{{"Machines", &d.Machines}, {"VMs to confirm", &d.InfraMachines}} {
		add(l.what+" new", rows(l.New, func(i *Item) row { return itemRow(i, nil) }))
		add(l.what+" changed", rows(l.Changed, func(c *Change[Item]) row { return itemRow(&c.New, changes(c.Fields)) }))
		add(l.what+" gone", gone(rows(l.Gone, func(i *Item) row { return itemRow(i, nil) })))
	}
	add("Clusters changed", rows(d.Clusters.Changed, func(c *Change[Cluster]) row { return clusterRow(&c.New, changes(c.Fields)) }))
	add("Clusters new", rows(d.Clusters.New, func(c *Cluster) row { return clusterRow(c, nil) }))
	add("Clusters gone", gone(rows(d.Clusters.Gone, func(c *Cluster) row { return clusterRow(c, nil) })))
	add("Scopes changed", rows(d.Scopes.Changed, func(c *Change[Scope]) row { return scopeRow(&c.New, changes(c.Fields)) }))
	add("Scopes new", rows(d.Scopes.New, func(s *Scope) row { return scopeRow(s, nil) }))
	add("Scopes gone", gone(rows(d.Scopes.Gone, func(s *Scope) row { return scopeRow(s, nil) })))
	add("Errors changed", rows(d.Errors.Changed, func(c *Change[report.Error]) row { return errorRow(&c.New, changes(c.Fields)) }))
	add("Errors new", rows(d.Errors.New, func(e *report.Error) row { return errorRow(e, nil) }))
	add("Errors gone", gone(rows(d.Errors.Gone, func(e *report.Error) row { return errorRow(e, nil) })))
	add("Checks changed", rows(d.Checks.Changed, func(c *Change[report.Check]) row { return checkRow(&c.New, changes(c.Fields)) }))
	add("Checks new", rows(d.Checks.New, func(c *report.Check) row { return checkRow(c, nil) }))
	add("Checks gone", gone(rows(d.Checks.Gone, func(c *report.Check) row { return checkRow(c, nil) })))
	return out
}

func rows[T any](all []T, of func(*T) row) []row {
	out := make([]row, len(all))
	for i := range all {
		out[i] = of(&all[i])
	}
	return out
}

func gone(rows []row) []row {
	for i := range rows {
		rows[i].gone = true
	}
	return rows
}

func changes(fields []Field) []fact {
	out := make([]fact, len(fields))
	for i, f := range fields {
		out[i] = fact{f.Name, f.Old, f.New, true}
	}
	return out
}

func itemRow(i *Item, facts []fact) row {
	r := row{status: string(i.Status), place: i.Cluster, name: i.Name, warned: i.Status == report.Healthy && len(i.Warnings) > 0, facts: facts}
	switch {
	case i.Self:
		r.aside = "of the management cluster itself"
	case i.Ignored:
		r.aside = "ignored: " + cmp.Or(i.Because, "no reason given")
	}
	add := func(label, s string) {
		if s != "" {
			r.facts = append(r.facts, fact{label: label, new: s})
		}
	}
	if facts == nil {
		add("reason", i.Reason)
		add("warnings", strings.Join(i.Warnings, ", "))
	}
	add("", i.Message)
	if v := i.Instance; v != nil {
		add("VM", cmp.Or(v.Path, v.Name))
		add("id", v.ID)
		add("ref", v.Ref)
		add("in", v.Scope)
	}
	return r
}

func clusterRow(c *Cluster, facts []fact) row {
	r := row{status: string(c.Status), name: c.title(), facts: facts}
	if c.Self {
		r.aside = "the management cluster itself"
	}
	return r
}

func scopeRow(s *Scope, facts []fact) row {
	if facts == nil && s.Reason != "" {
		facts = []fact{{label: "reason", new: s.Reason}}
	}
	return row{status: string(s.State), name: s.title, facts: facts}
}

func errorRow(e *report.Error, facts []fact) row {
	if facts == nil {
		facts = []fact{{new: e.Message}}
	}
	if e.Hint != "" {
		facts = append(facts, fact{label: "hint", new: e.Hint})
	}
	return row{status: "error", name: strings.TrimSpace(e.Scope + " " + e.Object), facts: facts}
}

func checkRow(c *report.Check, facts []fact) row {
	return row{check: true, status: string(c.Severity), place: c.Code, name: c.Object, facts: append(facts, fact{new: c.Message})}
}

// look is the mark before a status and its colour: those of the report, and for
// places those of what they let us know.
func (r *row) look() (string, terminal.Style) {
	switch {
	case r.gone || r.aside != "":
		return " ", terminal.Dim
	case r.warned:
		return "*", terminal.Yellow
	case r.check:
		return text.CheckLook(report.Severity(r.status))
	case r.status == string(report.ScopeComplete):
		return report.Mark(report.Healthy), text.Style(report.Healthy)
	default:
		return report.Mark(report.Status(r.status)), text.Style(report.Status(r.status))
	}
}

// told is what a fact is called, and its value, or what it was and what it is.
func (f *fact) told() (label string, values []string) {
	switch {
	case !f.change:
		return f.label, []string{f.new}
	case f.label == "warning" && f.old == "":
		return "warning gained", []string{f.new}
	case f.label == "warning":
		return "warning lost", []string{f.old}
	default:
		return f.label, []string{cmp.Or(f.old, none), cmp.Or(f.new, none)}
	}
}

// line is the fact in plain text.
func (f *fact) line() string {
	if f.label == "" {
		return clean(f.new)
	}
	label, values := f.told()
	for i, v := range values {
		values[i] = quoted(v)
	}
	return clean(label) + ": " + strings.Join(values, " -> ")
}

const none = "(none)"

const noDifference = "No difference."

// headline says in one line what there is.
func (d *Diff) headline() string {
	if !d.Different {
		return noDifference
	}
	var parts []string
	for _, t := range d.tallies() {
		if t.new+t.gone+t.changed > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d new, %d gone, %d changed", t.what, t.new, t.gone, t.changed))
		}
	}
	if len(parts) == 0 {
		return "Only counts of the whole differ."
	}
	return strings.Join(parts, "; ") + "."
}

// tally is how many things of a kind differ.
type tally struct {
	what, kind         string // for people, and for programs
	new, gone, changed int
}

func (d *Diff) tallies() []tally {
	return []tally{
		{"Machines", "machine", len(d.Machines.New), len(d.Machines.Gone), len(d.Machines.Changed)},
		{"VMs to confirm", "infra_machine", len(d.InfraMachines.New), len(d.InfraMachines.Gone), len(d.InfraMachines.Changed)},
		{"Clusters", "cluster", len(d.Clusters.New), len(d.Clusters.Gone), len(d.Clusters.Changed)},
		{"Scopes", "scope", len(d.Scopes.New), len(d.Scopes.Gone), len(d.Scopes.Changed)},
		{"Errors", "error", len(d.Errors.New), len(d.Errors.Gone), len(d.Errors.Changed)},
		{"Checks", "check", len(d.Checks.New), len(d.Checks.Gone), len(d.Checks.Changed)},
	}
}

// trend is what became of the status of the whole.
func (d *Diff) trend() string {
	switch {
	case d.Old.Status == d.New.Status:
		return "as before"
	case d.Worse:
		return "worse"
	default:
		return "better"
	}
}

// verdict is the status of the whole, before and after.
func (d *Diff) verdict(quoted func(string) string, arrow string) string {
	if d.Old.Status == d.New.Status {
		return quoted(string(d.New.Status)) + ", " + d.trend()
	}
	return quoted(string(d.Old.Status)) + arrow + quoted(string(d.New.Status)) + ", " + d.trend()
}

// number is a count of the whole, before and after.
type number struct {
	what     string
	old, new int
}

func (d *Diff) numbers() []number {
	a, b := &d.Old, &d.New
	return []number{
		{"Machines", a.Machines.Total, b.Machines.Total},
		{string(report.Ghost), a.Machines.Ghost, b.Machines.Ghost},
		{string(report.Unknown), a.Machines.Unknown, b.Machines.Unknown},
		{string(report.Stale), a.Machines.Stale, b.Machines.Stale},
		{string(report.Healthy), a.Machines.Healthy, b.Machines.Healthy},
		{"VMs to confirm", a.InfraMachines, b.InfraMachines},
		{"Ignored", a.Ignored, b.Ignored},
		{"Errors", a.Errors, b.Errors},
		{"Backup errors", a.BackupErrors, b.BackupErrors},
	}
}

func (n number) change() string {
	if n.old == n.new {
		return "="
	}
	return fmt.Sprintf("%+d", n.new-n.old)
}

// sides are the two reports with their names.
func (d *Diff) sides() []struct {
	name string
	*Side
} {
	return []struct {
		name string
		*Side
	}{{"Old", &d.Old}, {"New", &d.New}}
}

func (s *Side) completeness() string {
	if s.Complete {
		return "complete"
	}
	return "INCOMPLETE"
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// clean makes foreign text one line that a terminal shows as it is.
func clean(s string) string { return terminal.Escape(report.Valid(s)) }

// quoted shows where a foreign name begins and ends when that is not plain to see.
func quoted(s string) string { return terminal.Quoted(report.Valid(s)) }
