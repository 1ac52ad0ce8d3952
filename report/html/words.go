package html

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/outline"
)

// functions are the words of the template.
var functions = template.FuncMap{
	"safe": report.SafeWords, "first": func(all []string) string { return english.First(20, all) },
	"mark": code.Mark, "explain": explain, "meaning": meaning, "tone": tone, "look": look, "label": label,
	"stamp": stamp, "plural": english.Count, "name": name, "title": title, "pairs": pairs, "total": total, "count": count,
	"object": object, "instance": instance, "fates": verdictFacts, "replicas": replicas, "nodeLists": nodeLists, "reasons": reasons,
	"severity": severity, "existence": existence, "gone": gone, "ids": ids, "next": func(i int) int { return i + 1 },
}

// tone returns the class that colours a status. It never carries a meaning that
// mark and word beside it do not.
func tone(status code.Status) string {
	return [...]string{"ghost", "unknown", "stale", "healthy"}[code.Urgency(status)]
}

// face is how a thing looks: class and mark.
type face struct{ Tone, Mark string }

// look differs from tone and mark for machines that are Healthy with a warning.
func look(m machine) face {
	if m.Status == code.Healthy && m.Finding() {
		return face{"warned", "*"}
	}
	return face{tone(m.Status), code.Mark(m.Status)}
}

// label returns what a machine is called where only its mark is seen.
func label(m machine) string {
	s := name(m.Name) + ": " + string(m.Status) + ", " + m.Fate.Word
	if m.Status == code.Healthy && m.Finding() {
		s += ", with a warning"
	}
	if m.Ignored != nil {
		s += ", set aside by a rule"
	}
	return s
}

// explain returns what a reason or an outcome means, and of what it is one.
func explain(word any) string {
	row := code.Of(fmt.Sprint(word))
	return row.Meaning()
}

// meaning returns what a reason or an outcome means.
func meaning(word any) string { return code.Of(fmt.Sprint(word)).Happens }

// severities are shown like the statuses that ask for as much.
var severities = map[code.Severity]code.Status{code.CheckError: code.Ghost, code.CheckWarning: code.Unknown, code.CheckInfo: code.Healthy}

func severity(s code.Severity) code.Status { return cmp.Or(severities[s], code.Unknown) }

// existence returns the status that is marked like whether a thing exists.
func existence(state code.Presence) code.Status {
	if state == code.Present {
		return code.Healthy
	}
	return code.Unknown
}

// gone counts the resources that are not known to exist.
func gone(all []report.Resource) int {
	n := 0
	for i := range all {
		if all[i].State != code.Present {
			n++
		}
	}
	return n
}

// list is ids with what they are.
type list struct {
	Label string
	IDs   []string
}

func ids(label string, ids []string) list { return list{label, ids} }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// name shows where a foreign name begins and ends when that is not plain to see.
func name(s string) string {
	if s == "" || strings.ContainsAny(s, " \u00a0\u3000\"") {
		return `"` + s + `"`
	}
	return s
}

// title returns namespace/name of a cluster, or of what may lack a namespace.
func title(namespace, of string) string {
	if namespace == "" {
		return name(of)
	}
	return name(namespace + "/" + of)
}

// pair is a key of a map and its value.
type pair struct {
	Key   string
	Value any
}

// pairs returns those of a map by key, with strings as a reader may see them.
func pairs(m any) []pair {
	switch m := m.(type) {
	case map[string]int:
		return sortedPairs(m)
	case map[code.Outcome]int:
		return sortedPairs(m)
	case map[string]string:
		return sortedPairs(m)
	}
	panic(fmt.Sprintf("html: the pairs of a %T", m))
}

func sortedPairs[K ~string, V any](m map[K]V) []pair {
	var out []pair
	for _, k := range slices.Sorted(maps.Keys(m)) {
		p := pair{text(string(k)), m[k]}
		if v, ok := p.Value.(string); ok {
			p.Value = text(v)
		}
		out = append(out, p)
	}
	return out
}

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// counted is a number of the summary under the name that it has in the JSON.
type counted struct {
	Key string
	N   int
}

func count(key string, n int) counted { return counted{key, n} }

// fact is one thing that is known, with what it is called.
type fact struct {
	Label, Text string
	Copy        bool // an id or a path, which people paste elsewhere
}

// known returns the facts that there are.
func known(facts ...fact) []fact {
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Text == "" })
}

// object returns what the backup knows of a machine, or what a Ghost is called.
func object(m machine) []fact {
	return known(
		fact{"Machine", title(m.Namespace, m.Name), true}, fact{"Role", string(m.Role), false}, fact{"UID", m.UID, true},
		fact{"providerID", m.ProviderID, true}, fact{"Node", m.Node, true})
}

// instance returns what is known of a VM; nothing of none.
func instance(i *report.Instance) []fact {
	if i == nil {
		return nil
	}
	created := ""
	if i.Created != nil {
		created = stamp(*i.Created)
	}
	facts := known(
		fact{"VM", name(i.Name), true}, fact{"VM id", i.ID, true}, fact{"VM ref", i.Ref, true}, fact{"Path", i.Path, true}, fact{"State", i.State, false},
		fact{"Created", created, false}, fact{"Size", i.Size.String(), false}, fact{"Addresses", strings.Join(i.Addresses, ", "), true}, fact{"Provider", i.Provider, false}, fact{"Listed in", i.Scope, true}, fact{"Account", i.Account, true})
	for _, t := range pairs(i.Tags) {
		facts = append(facts, fact{"Tag", fmt.Sprintf("%s = %s", name(t.Key), name(t.Value.(string))), false})
	}
	return facts
}

// verdictFacts lists a machine's verdict, evidence and forecast.
func verdictFacts(m machine) []fact {
	var facts []fact
	if m.Reason != "" || m.Message != "" {
		facts = append(facts, fact{"Verdict", strings.TrimSpace(string(m.Reason) + " " + m.Message), false})
	}
	for _, e := range m.Evidence {
		facts = append(facts, fact{"Evidence, " + string(e.Strength), e.Kind + ": " + e.Detail, false})
	}
	if f := m.Forecast; f != nil {
		facts = append(facts, fact{"After the restore", string(f.Outcome) + ": " + f.Message, false})
		if f.ByPlan != "" {
			facts = append(facts, fact{"After the plan’s steps", string(f.ByPlan), false})
		}
		if f.Condition != "" {
			facts = append(facts, fact{"Condition", f.Condition, false})
		}
	}
	return facts
}

// quantity is one of several numbers about one thing.
type quantity struct {
	Label string
	N     int
}

func replicas(r report.Replicas) []quantity {
	return []quantity{
		{"recorded in the backup", r.Recorded},
		{"working after the restore", r.Working},
		{"re-created", r.Created},
		{"deleted", r.Deleted},
		{"VMs running afterwards", r.Running},
		{"surplus", r.Surplus},
		{"missing", r.Missing},
		{"not known", r.Unknown},
	}
}

// nodeLists says how many clusters were asked for their Nodes and answered.
func nodeLists(r *report.Report) string {
	return cmp.Or(outline.NodeLists(r), "none was asked for")
}

// reasons returns the codes that a reader may filter a machine by.
func reasons(m machine) string {
	out := []string{}
	if m.Reason != "" {
		out = append(out, string(m.Reason))
	}
	for _, w := range m.Warnings {
		out = append(out, string(w.Reason))
	}
	return strings.Join(out, " ")
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
