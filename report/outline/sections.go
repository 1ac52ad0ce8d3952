package outline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Totals returns the counts of the summary, and what the report was made of.
func Totals(r *report.Report) []Fact {
	s, c := &r.Summary, &r.Summary.Clusters
	var out []Fact
	say := func(label, text string) { out = append(out, Fact{Label: label, Text: text}) }
	all := func(n report.MachineCounts) string {
		return fmt.Sprintf("%d Ghost, %d Unknown, %d Stale, %d Healthy", n.Ghost, n.Unknown, n.Stale, n.Healthy)
	}
	say("Machines", fmt.Sprintf("%d in %s: %s", s.Machines.Total, english.Count(c.Total, "cluster"), all(s.Machines)))
	if n := s.IgnoredMachines; n != nil {
		say("Set aside", fmt.Sprintf("%d of these machines: %s", n.Total, all(*n)))
	}
	say("Clusters", fmt.Sprintf("%d: %d %s, %d %s, %d %s, %d %s", c.Total, c.ManualRemediationRequired, code.ManualRemediationRequired,
		c.NeedFurtherConfirmation, code.NeedFurtherConfirmation, c.ManualRemediationNotRequired, code.ManualRemediationNotRequired, c.Healthy, code.Healthy))
	say("Other VMs", fmt.Sprintf("%d to confirm, %d of them set aside; %s; %s", s.InfraMachines, s.IgnoredInfraMachines,
		total(sum(s.Excluded), "excluded", s.Excluded), total(s.OutOfScope, "out of scope", s.ForeignTags)))
	say("Resources", fmt.Sprintf("%d present, %d absent, %d unknown", s.Resources.Present, s.Resources.Absent, s.Resources.Unknown))
	if f := s.Forecast; f != nil && len(f.Outcomes) > 0 {
		say("Outcomes", parts(f.Outcomes, len(f.Outcomes)))
	}
	say("Listed", fmt.Sprintf("%d of %s, %s", len(r.Scopes)-len(r.Incomplete()), english.Count(len(r.Scopes), "place"), errorsOf(s.Errors)))
	for _, text := range places(r) {
		say("Place", text)
	}
	if text := NodeLists(r); text != "" {
		say("Node lists", text)
	}
	for i := range r.Backups {
		b := &r.Backups[i]
		out = append(out, Fact{
			Label: english.Capital(r.Subject()), Values: values(Value{Text: b.Path}, Value{Label: "sha256", Text: b.SHA256, Detail: true}),
			Text: fmt.Sprintf("written %s to %s, %s", Stamp(b.WrittenFrom), Stamp(b.WrittenTo), english.Count(b.Items, "object")),
		})
	}
	return out
}

// places returns the places that were listed: all where they are few, else the first ones
// that were not listed completely, and how many more there are by state.
func places(r *report.Report) []string {
	const few, most = 5, 3
	all := r.Scopes
	if len(all) > few {
		all = slices.Clone(all)
		sorting.StableBy(all, func(a, b report.Scope) int {
			return cmp.Compare(complete(&a), complete(&b))
		})
		all = all[:most]
	}
	var out []string
	for i := range all {
		out = append(out, fmt.Sprintf("%s: %s, %s", all[i].Title(), all[i].State, english.Count(all[i].Instances, "VM")))
	}
	if n := len(r.Scopes) - len(all); n > 0 {
		by := map[string]int{}
		for i := range r.Scopes {
			by[string(r.Scopes[i].State)]++
		}
		for i := range all {
			by[string(all[i].State)]--
		}
		out = append(out, fmt.Sprintf("%d more: %s", n, parts(by, len(by))))
	}
	return out
}

// complete orders places: 0 is not listed completely, 1 is.
func complete(s *report.Scope) int {
	if s.State == code.ScopeComplete {
		return 1
	}
	return 0
}

// total returns a number with the first of its parts: "12 excluded (10 template, 2 vCLS)".
func total(n int, what string, by map[string]int) string {
	text := fmt.Sprintf("%d %s", n, what)
	if list := parts(by, 10); list != "" {
		text += " (" + list + ")"
	}
	return text
}

func parts[Word ~string](by map[Word]int, most int) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(by)) {
		if by[k] > 0 {
			list = append(list, some(by[k], string(k)))
		}
	}
	return english.First(most, list)
}

func sum(by map[string]int) int {
	n := 0
	for _, c := range by {
		n += c
	}
	return n
}

// Stamp writes a time as documents for people have it.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}

// NodeLists says how many clusters were asked for their Nodes and answered.
func NodeLists(r *report.Report) string {
	if r.Options.SkipNodes {
		return "not read, as asked"
	}
	asked, read := 0, 0
	for i := range r.Clusters {
		switch r.Clusters[i].Nodes.State {
		case "":
		case report.NodesRead:
			asked, read = asked+1, read+1
		default:
			asked++
		}
	}
	if asked == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s read", read, english.Count(asked, "cluster"))
}

// ToDo returns what a person has to do or to decide, a section for each phase.
func ToDo(r *report.Report) []Section { return ToDoOf(r, func(*report.ToDo) bool { return true }) }

// ToDoOf returns that of the things that are wanted.
func ToDoOf(r *report.Report, wanted func(*report.ToDo) bool) []Section {
	var out []Section
	places := r.Places()
	for _, phase := range code.Phases() {
		s := Section{Title: english.Capital(phase.Title())}
		for _, t := range r.ToDoIn(phase) {
			if wanted(&t) && places.IsShown(&t) {
				s.Items = append(s.Items, toDo(r, places, &t))
			}
		}
		out = append(out, s)
	}
	return out
}

func toDo(r *report.Report, places *report.Places, t *report.ToDo) Item {
	it := Item{Mark: t.Mark(), Code: string(t.Code), Text: english.Join(": ", places.About(t, 3), t.Message)}
	switch steps := t.StepsText(); len(t.Steps) {
	case 0:
	case 1:
		it.Text += " (step " + steps + ")"
	default:
		it.Text += " (steps " + steps + ")"
	}
	if t.Decide {
		it.Status = "decide"
	}
	const most = 3 // sentences
	why := r.Because(t)
	for i, text := range why[:min(most, len(why))] {
		if n := len(why) - most; i == most-1 && n > 0 {
			text += fmt.Sprintf(" And %d more of this kind.", n)
		}
		it.Facts = append(it.Facts, Fact{Text: text})
	}
	return it
}

// Conditions returns what the answer holds only while it is true.
func Conditions(r *report.Report) Section {
	s := Section{Title: "This holds only while"}
	for _, n := range r.Answer().Conditions {
		s.Items = append(s.Items, Item{Mark: code.Mark(code.Unknown), Code: string(n.Code), Text: n.Sentence()})
	}
	return s
}

// Notes returns what to know before the restore that is not of a single machine.
func Notes(r *report.Report) Section {
	s := Section{Title: "To know before the restore"}
	conditions := r.Answer().Conditions
	add := func(n *report.Note, clusters []string) {
		if slices.ContainsFunc(conditions, func(c report.Note) bool { return c.Code == n.Code && c.Sentence() == n.Sentence() }) {
			return
		}
		s.Items = append(s.Items, Item{Mark: code.Mark(code.Unknown), Code: string(n.Code), Text: n.Sentence(), Clusters: clusters})
	}
	if f := r.Summary.Forecast; f != nil {
		for i := range f.Notes {
			if f.Notes[i].Code != code.NotHealing { // a fact of the answer
				add(&f.Notes[i], nil)
			}
		}
	}
	for _, n := range r.ClusterNotes() {
		if n.Code != code.RolledOut { // said with the machines that it is about
			add(&n.Note, n.Clusters)
		}
	}
	return s
}

// Rest returns the sections after the clusters.
func Rest(r *report.Report) []Section {
	return []Section{toConfirm(r), incomplete(r), missing(r), Checks(r.Checks, r.Backups), errors(r), confirmed(r), rules(r), setAside(r)}
}

func toConfirm(r *report.Report) Section {
	s := Section{Title: "VMs to confirm"}
	for i := range r.InfraMachines {
		if m := &r.InfraMachines[i]; m.Ignored == nil && m.Confirmed == nil {
			s.Items = append(s.Items, InfraMachine(r, m))
		}
	}
	return s
}

// InfraMachine returns what is said about a VM to confirm.
func InfraMachine(r *report.Report, m *report.InfraMachine) Item {
	it := Item{Mark: code.Mark(code.Unknown), Kind: "VM", Name: m.Instance.Name, Code: string(m.Reason), Text: m.Message, Steps: m.Remediation}
	if m.Confirmed != nil {
		it.Aside = m.Confirmed.String()
	}
	if m.Ignored != nil {
		it.Aside = "set aside by an ignore rule: " + m.Ignored.Reason
	}
	where := vm("VM", &m.Instance, m.Instance.Name)
	where.Values = showScope(where.Values, len(r.Scopes) > 1)
	it.Facts = append(it.Facts, where)
	if of := m.MayBelongTo(); len(of) > 0 {
		f := Fact{Label: "May belong to"}
		for _, cluster := range of {
			f.Values = append(f.Values, Value{Text: cluster})
		}
		if len(of) > 1 {
			f.Text = "one of them; it is counted once"
		}
		it.Facts = append(it.Facts, f)
	}
	it.Facts = append(it.Facts, named("Names the cluster", m.ForeignCluster)...)
	it.Facts = append(it.Facts, evidence(m.Evidence, false)...)
	return it
}

func incomplete(r *report.Report) Section {
	s := Section{Title: "Not complete"}
	for _, p := range r.Incomplete() {
		s.Items = append(s.Items, Place(&p))
	}
	return s
}

// Place returns what is said about a place that was listed.
func Place(p *report.Scope) Item {
	it := Item{Mark: code.Mark(code.Unknown), Status: string(p.State), Kind: p.Provider, Name: p.Endpoint, Facts: append(named("Location", p.Location), named("Account", p.Account)...)}
	if p.State == code.ScopeComplete {
		it.Mark = code.Mark(code.Healthy)
	}
	if f := p.Error; f != nil {
		it.Code, it.Text, it.Facts = string(f.Reason), f.Message, append(it.Facts, fact("Hint", f.Hint)...)
	}
	return it
}

func missing(r *report.Report) Section {
	s := Section{Title: "Missing in the " + r.Subject()}
	for i := range r.Backups {
		b := &r.Backups[i]
		for j := range b.Missing {
			m := &b.Missing[j]
			it := Item{
				Mark: code.Mark(code.Unknown), Kind: m.Kind, Name: english.Join("/", m.Namespace, m.Name), Text: m.Why,
				Facts: fact("Referred to by", m.ReferredBy),
			}
			if len(r.Backups) > 1 {
				it.Facts = append(it.Facts, named("In", b.Path)...)
			}
			s.Items = append(s.Items, it)
		}
	}
	return s
}

// checkMarks are the marks of the severities of checks.
var checkMarks = map[code.Severity]string{code.CheckError: "!", code.CheckWarning: "?", code.CheckInfo: "="}

// CheckMark returns the mark of a severity; one that is not known has none.
func CheckMark(severity code.Severity) string { return checkMarks[severity] }

// Checks returns what is wrong with the backup itself. Neighbours of one code and one
// meaning are one item; those that are only good to know are minor.
func Checks(all []report.Check, from []report.Backup) Section {
	sum := report.CountChecks(all)
	s := Section{
		Title: "The backup", Count: sum.String(),
		Hint: "drift-detector check says why each matters and what to do",
	}
	if slices.ContainsFunc(from, func(b report.Backup) bool { return b.Live }) {
		s.Title = "The management cluster"
	}
	if sum.Errors+sum.Warnings == 0 {
		s.Hint = ""
	}
	for i := range all {
		c := &all[i]
		if i == 0 || !sameCheck(c, &all[i-1]) {
			s.Items = append(s.Items, Item{
				Mark: CheckMark(c.Severity), Status: string(c.Severity), Code: string(c.Code), Minor: c.Severity == code.CheckInfo, Most: 3,
				Facts: []Fact{{Label: "Why", Text: c.Why, Detail: true}, {Label: "Do", Text: c.Do, Detail: true}},
			})
			if c.Ignored != nil {
				last := &s.Items[len(s.Items)-1]
				last.Mark, last.Aside, last.Minor = " ", "set aside by an ignore rule: "+c.Ignored.Reason, true
			}
		}
		like := Item{Name: c.Object, Text: c.Message}
		if len(from) > 1 && c.Backup >= 0 && c.Backup < len(from) {
			like.Facts = named("In", from[c.Backup].Path)
		}
		last := &s.Items[len(s.Items)-1]
		last.Likes = append(last.Likes, like)
	}
	return s
}

func sameCheck(a, b *report.Check) bool {
	same := a.Ignored == b.Ignored || a.Ignored != nil && b.Ignored != nil && *a.Ignored == *b.Ignored
	return same && a.Severity == b.Severity && a.Code == b.Code && a.Why == b.Why && a.Do == b.Do
}

func errors(r *report.Report) Section {
	s := Section{Title: "Errors"}
	for _, e := range r.OtherErrors() {
		s.Items = append(s.Items, Error(&e))
	}
	return s
}

// Error returns what is said about something that went wrong during the run.
func Error(e *report.Error) Item {
	return Item{Mark: code.Mark(code.Unknown), Status: "error", Name: strings.TrimSpace(e.Scope + " " + e.Object), Text: e.Message, Facts: fact("Hint", e.Hint)}
}

// rules are the ignore rules that need a look: they expired, or match nothing.
// confirmed are the confirmations, those that were not taken first.
func confirmed(r *report.Report) Section {
	s := Section{Title: "Confirmed by people"}
	for i := range r.Confirmations {
		c := &r.Confirmations[i]
		it := Item{Mark: code.Mark(code.Healthy), Name: c.Subject, Text: english.Sentence(c.As + ", says " + c.By + " (" + c.On + ")")}
		if c.State != report.ConfirmationTaken {
			it.Mark, it.Status = code.Mark(code.Unknown), string(c.State)
			it.Text += " Not taken: " + english.Sentence(c.Message)
		}
		s.Items = append(s.Items, it)
	}
	sorting.StableBy(s.Items, func(a, b Item) int { return cmp.Compare(b.Status, a.Status) })
	return s
}

func rules(r *report.Report) Section {
	s := Section{Title: "Ignore rules to look at"}
	for i := range r.IgnoreRules {
		u := &r.IgnoreRules[i]
		it := Item{Mark: code.Mark(code.Unknown), Kind: "Rule", Name: fmt.Sprintf("%s:%d", u.File, u.Line)}
		switch {
		case u.State == report.RuleExpired:
			it.Text = "expired on " + u.Expires + " and sets nothing aside any more"
		case u.Matched == 0:
			it.Text = "matches nothing: it is wrong, or no longer needed"
		default:
			continue
		}
		s.Items = append(s.Items, it)
	}
	return s
}

// setAside returns the findings that ignore rules set aside, with the reasons of the rules.
func setAside(r *report.Report) Section {
	s := Section{Title: "Set aside by ignore rules"}
	add := func(status code.Status, name, cluster string, reason code.Reason, by *report.Ignored) {
		if by != nil {
			s.Items = append(s.Items, Item{Mark: code.Mark(status), Status: string(status), Name: name, Code: string(reason), Cluster: cluster, Facts: fact("Because", by.Reason)})
		}
	}
	for _, c := range worstFirst(r) {
		for _, set := range c.Sets() {
			for i := range set.Machines {
				m := &set.Machines[i]
				add(m.Status, m.Name, c.Title(), m.Reason, m.Ignored)
			}
		}
	}
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		add("to confirm", m.Instance.Name, m.Cluster, m.Reason, m.Ignored)
	}
	return s
}

func errorsOf(n int) string {
	if n == 0 {
		return "no errors"
	}
	return english.Count(n, "error")
}
