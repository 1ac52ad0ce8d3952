package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/outline"
)

// sections returns the lists that are not empty, as people read them. Ghosts are new where
// other findings are changes, so what is new comes first.
func (d *Diff) sections() []outline.Section {
	all := append(lists("Machines", &d.Machines, itemOf), lists("VMs to confirm", &d.InfraMachines, itemOf)...)
	all = append(all, lists("Clusters", &d.Clusters, clusterOf)...)
	all = append(all, lists("Places", &d.Scopes, scopeOf)...)
	all = append(all, lists("Errors", &d.Errors, errorOf)...)
	all = append(all, lists("Checks", &d.Checks, checkOf)...)
	for i := range all {
		for j := range all[i].Items {
			valid(&all[i].Items[j])
		}
	}
	return slices.DeleteFunc(all, func(s outline.Section) bool { return len(s.Items) == 0 })
}

// valid makes all texts of an item what they are when the reports are read back.
func valid(it *outline.Item) {
	for _, s := range []*string{&it.Status, &it.Code, &it.Name, &it.Text, &it.Cluster, &it.Aside} {
		*s = report.Valid(*s)
	}
	for i := range it.Facts {
		f := &it.Facts[i]
		f.Label, f.Text = report.Valid(f.Label), report.Valid(f.Text)
		for j := range f.Values {
			f.Values[j].Text = report.Valid(f.Values[j].Text)
		}
	}
}

// lists returns the lists of a kind. Of makes an item of a thing, whole when nothing
// else is said of it.
func lists[T any](kind string, l *Lists[T], of func(t *T, whole bool) outline.Item) []outline.Section {
	fresh := outline.Section{Title: kind + " new"}
	for i := range l.New {
		fresh.Items = append(fresh.Items, of(&l.New[i], true))
	}
	changed := outline.Section{Title: kind + " changed"}
	for i := range l.Changed {
		it := of(&l.Changed[i].New, false)
		it.Facts = append(changes(l.Changed[i].Fields), it.Facts...)
		changed.Items = append(changed.Items, it)
	}
	gone := outline.Section{Title: kind + " gone"}
	for i := range l.Gone {
		it := of(&l.Gone[i], true)
		it.Mark = " "
		gone.Items = append(gone.Items, it)
	}
	unseen := outline.Section{Title: kind + " not seen in the newer"}
	for i := range l.NotSeen {
		unseen.Items = append(unseen.Items, of(&l.NotSeen[i], true))
	}
	return []outline.Section{fresh, changed, gone, unseen}
}

func changes(fields []Field) []outline.Fact {
	var out []outline.Fact
	for _, f := range fields {
		change := outline.Fact{Label: f.Name, Change: true, Values: []outline.Value{{Text: cmp.Or(f.Old, none)}, {Text: cmp.Or(f.New, none)}}}
		switch {
		case f.Name == "warning" && f.Old == "":
			change = outline.Fact{Label: "warning gained", Text: f.New}
		case f.Name == "warning":
			change = outline.Fact{Label: "warning lost", Text: f.Old}
		}
		out = append(out, change)
	}
	return out
}

const none = "(none)"

func itemOf(i *Item, whole bool) outline.Item {
	it := outline.Item{Mark: code.Mark(i.Status), Status: string(i.Status), Name: i.Name, Cluster: i.Cluster, Text: i.Message}
	if i.Status == code.Healthy && len(i.Warnings) > 0 {
		it.Mark = "*"
	}
	switch {
	case i.Self:
		it.Aside = "of the management cluster itself"
	case i.Ignored:
		it.Aside = "ignored: " + cmp.Or(i.Because, "no reason given")
	}
	if it.Aside != "" {
		it.Mark = " "
	}
	if whole {
		it.Code = i.Reason
		if len(i.Warnings) > 0 {
			it.Facts = append(it.Facts, outline.Fact{Label: "warnings", Text: strings.Join(i.Warnings, ", ")})
		}
	}
	if v := i.Instance; v != nil {
		it.Facts = append(it.Facts, outline.VM(v))
	}
	return it
}

func clusterOf(c *Cluster, _ bool) outline.Item {
	it := outline.Item{Mark: code.Mark(c.Status), Status: string(c.Status), Name: c.title()}
	if c.Self {
		it.Mark, it.Aside = " ", "the management cluster itself"
	}
	return it
}

func scopeOf(s *Scope, whole bool) outline.Item {
	it := outline.Item{Mark: code.Mark(code.Unknown), Status: string(s.State), Name: s.title}
	if s.State == code.ScopeComplete {
		it.Mark = code.Mark(code.Healthy)
	}
	if whole {
		it.Code = s.Reason
	}
	return it
}

func errorOf(e *report.Error, whole bool) outline.Item {
	it := outline.Error(e)
	if !whole {
		it.Text = ""
	}
	return it
}

func checkOf(c *report.Check, _ bool) outline.Item {
	return outline.Item{Mark: outline.CheckMark(c.Severity), Status: string(c.Severity), Code: string(c.Code), Name: c.Object, Text: c.Message}
}

const noDifference = "No difference."

// headline says in one line what there is.
func (d *Diff) headline() string {
	if !d.Different {
		return noDifference
	}
	var parts []string
	for _, t := range d.tallies() {
		if t.new+t.gone+t.changed+t.unseen > 0 {
			text := fmt.Sprintf("%s: %d new, %d gone, %d changed", t.what, t.new, t.gone, t.changed)
			if t.unseen > 0 {
				text += fmt.Sprintf(", %d not seen in the newer report", t.unseen)
			}
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 && sameNumbers(d.Old, d.New) {
		return "Only the answer differs."
	}
	if len(parts) == 0 {
		return "Only counts of the whole differ."
	}
	return strings.Join(parts, "; ") + "."
}

// tally is how many things of a kind differ.
type tally struct {
	what                       string
	new, gone, changed, unseen int
}

func (d *Diff) tallies() []tally {
	return []tally{
		{"Machines", len(d.Machines.New), len(d.Machines.Gone), len(d.Machines.Changed), len(d.Machines.NotSeen)},
		{"VMs to confirm", len(d.InfraMachines.New), len(d.InfraMachines.Gone), len(d.InfraMachines.Changed), len(d.InfraMachines.NotSeen)},
		{"Clusters", len(d.Clusters.New), len(d.Clusters.Gone), len(d.Clusters.Changed), len(d.Clusters.NotSeen)},
		{"Places", len(d.Scopes.New), len(d.Scopes.Gone), len(d.Scopes.Changed), len(d.Scopes.NotSeen)},
		{"Errors", len(d.Errors.New), len(d.Errors.Gone), len(d.Errors.Changed), len(d.Errors.NotSeen)},
		{"Checks", len(d.Checks.New), len(d.Checks.Gone), len(d.Checks.Changed), len(d.Checks.NotSeen)},
	}
}

// verdict returns the status of the whole, before and after.
func (d *Diff) verdict(quoted func(string) string, arrow string) string {
	switch {
	case d.Old.Status == d.New.Status:
		return quoted(string(d.New.Status)) + ", as before"
	case code.Worse(d.New.Status, d.Old.Status):
		return quoted(string(d.Old.Status)) + arrow + quoted(string(d.New.Status)) + ", worse"
	}
	better := ", better"
	if !d.New.Complete { // what was not seen is no better than it was
		better = ", which says nothing: the new report is incomplete"
	}
	return quoted(string(d.Old.Status)) + arrow + quoted(string(d.New.Status)) + better
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
		{string(code.Ghost), a.Machines.Ghost, b.Machines.Ghost},
		{string(code.Unknown), a.Machines.Unknown, b.Machines.Unknown},
		{string(code.Stale), a.Machines.Stale, b.Machines.Stale},
		{string(code.Healthy), a.Machines.Healthy, b.Machines.Healthy},
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

// sides returns the two reports with their names.
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
