package markdown

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

func text(t *testing.T, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func all() map[string]*report.Report {
	out := map[string]*report.Report{
		"hostile": reporttest.HostileReport(), "empty": build.New(build.Parts{}), "nil": {},
		"large": reporttest.Sized(50, 100), "huge": reporttest.Sized(300, 40), "loud": loud(),
	}
	for seed := range uint64(200) {
		out[fmt.Sprint("random ", seed)] = reporttest.Random(seed)
	}
	return out
}

// loud returns a report whose every string is longer than any honest one, of
// characters that take the most room.
func loud() *report.Report {
	r := reporttest.Random(4)
	r.Options.Filter = &report.Filter{Clusters: []string{"a"}}
	for range 5 {
		r.Backups = append(r.Backups, r.Backups[0])
	}
	kinds := []string{strings.Repeat("\U0001f47b ", 3000), strings.Repeat("`", 3000), strings.Repeat("\u202e", 3000), strings.Repeat("@ ", 3000)}
	n := 0
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				fill(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() && !slices.Contains([]string{"Status", "StatusWithoutRules", "Safe", "Severity", "State", "SchemaVersion"}, f.Name) {
					fill(v.Field(i))
				}
			}
		case reflect.Slice:
			for i := range v.Len() {
				fill(v.Index(i))
			}
		case reflect.String:
			n++
			v.SetString(kinds[n%len(kinds)])
		}
	}
	fill(reflect.ValueOf(r).Elem())
	return r
}

func TestItFitsIntoATicket(t *testing.T) {
	for name, r := range all() {
		if n := len(text(t, r)); n > Limit {
			t.Errorf("%s: %d bytes, at most %d may be", name, n, Limit)
		}
	}
}

func scan(t *testing.T, doc, pattern string) []int {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + pattern).FindStringSubmatch(doc)
	if m == nil {
		t.Fatalf("no %s in\n%s", pattern, doc)
	}
	out := make([]int, len(m)-1)
	for i := range out {
		out[i], _ = strconv.Atoi(m[i+1])
	}
	return out
}

func TestCountsAreTheReports(t *testing.T) {
	for name, r := range all() {
		doc, s := text(t, r), &r.Summary
		compare := func(what string, got []int, want ...int) {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s %v, the report says %v", name, what, got, want)
			}
		}
		c, m := s.Clusters, s.Machines
		compare("machines", scan(t, doc, `- Machines: (\d+) in (\d+) clusters?: (\d+) Ghost, (\d+) Unknown, (\d+) Stale, (\d+) Healthy`),
			m.Total, c.Total, m.Ghost, m.Unknown, m.Stale, m.Healthy)
		if i := s.IgnoredMachines; i != nil {
			compare("set aside", scan(t, doc, `- Set aside: (\d+) of these machines: (\d+) Ghost, (\d+) Unknown, (\d+) Stale, (\d+) Healthy`),
				i.Total, i.Ghost, i.Unknown, i.Stale, i.Healthy)
		}
		compare("clusters", scan(t, doc, `- Clusters: (\d+): (\d+) ManualRemediationRequired, (\d+) NeedFurtherConfirmation, (\d+) ManualRemediationNotRequired, (\d+) Healthy`),
			c.Total, c.ManualRemediationRequired, c.NeedFurtherConfirmation, c.ManualRemediationNotRequired, c.Healthy)
		out := 0
		for _, n := range s.Excluded {
			out += n
		}
		compare("VMs", scan(t, doc, `- Other VMs: (\d+) to confirm, (\d+) of them set aside; (\d+) excluded.*; (\d+) out of scope`),
			s.InfraMachines, s.IgnoredInfraMachines, out, s.OutOfScope)
		compare("resources", scan(t, doc, `- Resources: (\d+) present, (\d+) absent, (\d+) unknown`), s.Resources.Present, s.Resources.Absent, s.Resources.Unknown)
		compare("places", scan(t, strings.ReplaceAll(doc, ", no errors", ", 0 errors"), `- Listed: (\d+) of (\d+) places?, (\d+) errors?`), len(r.Scopes)-len(r.Incomplete()), len(r.Scopes), s.Errors)
	}
}

// listed counts the findings of a section: what its title says, and what its items
// and the sentence on what was cut add up to. Both are 0 when it is not there.
func listed(t *testing.T, doc, title string) (says, holds int) {
	t.Helper()
	_, s, found := strings.Cut(doc, "\n### "+title+" (")
	if !found {
		return 0, 0
	}
	s, _, _ = strings.Cut(s, "\n### ")
	number, body, _ := strings.Cut(s, ")")
	says, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(body, "\n") {
		switch m := regexp.MustCompile(`^(?:- \*\*|… and )(\d+) (?:machines\*\*|more)`).FindStringSubmatch(l); {
		case m != nil:
			n, _ := strconv.Atoi(m[1])
			holds += n
		case strings.HasPrefix(l, "- "):
			holds++
		}
	}
	return says, holds
}

func TestSectionsAddUp(t *testing.T) {
	for name, r := range all() {
		doc, warned := text(t, r), 0
		for i := range r.Clusters {
			for _, s := range r.Clusters[i].Sets() {
				for j := range s.Machines {
					m := &s.Machines[j]
					if !r.Clusters[i].Self && m.Status == code.Healthy && m.Finding() && m.Ignored == nil {
						warned++
					}
				}
			}
		}
		open := r.Open()
		for title, want := range map[string]int{
			"Ghost": open.Ghost, "Unknown": open.Unknown, "Stale": open.Stale, "Healthy": warned,
			"VMs to confirm": r.Summary.InfraMachines - r.Summary.IgnoredInfraMachines, "Set aside by ignore rules": r.Summary.Ignored,
			"Not complete": len(r.Incomplete()), "Errors": len(r.OtherErrors()),
		} {
			if says, holds := listed(t, doc, title); says != want || holds != want {
				t.Errorf("%s: %s says %d and holds %d, the report has %d", name, title, says, holds, want)
			}
		}
	}
}

func TestASavedReportGivesTheSame(t *testing.T) { reporttest.Format(Write).ReadsBack(t, all()) }

// outside returns a line without its code: what a reader of Markdown acts on.
func outside(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); {
		run := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		if run == 0 {
			b.WriteByte(line[i])
			i++
			continue
		}
		end := closingRun(line, i+run, run)
		if end < 0 {
			return b.String() + line[i:]
		}
		b.WriteByte('C')
		i = end
	}
	return b.String()
}

// closingRun returns where the run of so many backticks ends that comes first.
func closingRun(line string, from, run int) int {
	for i := from; i < len(line); {
		n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		if n == run {
			return i + n
		}
		i += max(n, 1)
	}
	return -1
}

// Foreign text is nothing but code, wherever it is.
func TestForeignTextIsNoMarkup(t *testing.T) {
	act := regexp.MustCompile("[<>\\[\\]@#&_~$\\\\`{}=\x00-\x09\x0b-\x1f]|://|www\\.|\\*\\*\\*|!C|\\d{7}")
	own := regexp.MustCompile(`^(#{2,3} |  <details><summary>[A-Za-z, ]+</summary>$|  </details>$|\|)`)
	for name, r := range all() {
		columns, fence := 0, ""
		for _, l := range strings.Split(text(t, r), "\n") {
			if at := strings.TrimSpace(l); fence != "" || strings.HasPrefix(at, "```") {
				switch {
				case fence == "":
					fence = strings.TrimSuffix(at, "sh")
				case at == fence:
					fence = ""
				}
				continue
			}
			rest := own.ReplaceAllString(outside(l), "")
			if act.MatchString(rest) {
				t.Errorf("%s: %q is read as %q", name, l, rest)
			}
			if !strings.HasPrefix(l, "|") {
				columns = 0
				continue
			}
			if n := strings.Count(l, "|"); columns == 0 {
				columns = n
			} else if n != columns {
				t.Errorf("%s: %d bars in a table of %d: %q", name, n, columns, l)
			}
		}
		if fence != "" {
			t.Errorf("%s: a block of code is not closed", name)
		}
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"vm-1": "`vm-1`", "": "`\"\"`", " a": "`\" a\"`", "a`b": "``a`b``", "``": "``` `` ```", "`a": "`` `a ``",
		"a\nb\u202e\xff": "`a\\x0ab\\xe2\\x80\\xae\ufffd`", "<b>@team #1": "`<b>@team #1`",
	} {
		if got := Code(in); got != want {
			t.Errorf("code(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"it can't be re-joined (see below); 53 VMs.": "it can't be re-joined (see below); 53 VMs.",
		"ask @team, or #123!":                        "ask `@team`, or `#123`!",
		"a commit deadbee or 1234567":                "a commit `deadbee` or `1234567`",
		"in ns/name, \"vm-1\": ABC-123":              "in `ns/name`, \"`vm-1`\": `ABC-123`",
		"see www.example.com or (http://a.b/)":       "see `www.example.com` or (`http://a.b/`)",
		"*bold* _it_ [a](b) <b> `x` ~~no~~ --":       "`*bold*` `_it_` `[a](b`) `<b>` `` `x` `` `~~no~~` `--`",
		":smile: é -":                                "`:smile`: `é` `-`",
	} {
		if got := prose(in); got != want {
			t.Errorf("prose(%q)\n got %s\nwant %s", in, got, want)
		}
	}
}

// crowd has more findings than a ticket takes, the most urgent in the last cluster.
func crowd() *report.Report {
	r := &report.Report{SchemaVersion: report.SchemaVersion, Summary: report.Summary{Status: code.ManualRemediationRequired}}
	for i := range 20 {
		c := report.Cluster{Namespace: "tenant", Name: fmt.Sprintf("c%02d", i), Status: code.ManualRemediationNotRequired}
		for j := range 50 {
			c.ControlPlane.Machines = append(c.ControlPlane.Machines, report.Machine{
				Name: fmt.Sprintf("stale-%d-%d", i, j), Status: code.Stale, Reason: "InstanceNotFound", Message: strings.Repeat("word ", 20),
			})
		}
		c.Counts = report.MachineCounts{Total: 50, Stale: 50}
		r.Clusters = append(r.Clusters, c)
	}
	last := &r.Clusters[19]
	last.Status = code.ManualRemediationRequired
	for j := range 30 {
		last.ControlPlane.Machines = append(last.ControlPlane.Machines, report.Machine{
			Name: fmt.Sprintf("ghost-%d", j), Status: code.Ghost, Evidence: []report.Evidence{{Kind: "node", Detail: fmt.Sprintf("its-node-%d", j), Strength: "strong"}, {Kind: "name", Detail: "its name", Strength: "weak"}},
		})
	}
	last.Counts = report.MachineCounts{Total: 80, Stale: 50, Ghost: 30}
	r.Summary.Machines = report.MachineCounts{Total: 1030, Stale: 1000, Ghost: 30}
	r.InfraMachines = []report.InfraMachine{{Instance: report.Instance{Name: "odd-one"}, Reason: "InClusterFolder"}}
	return r
}

func TestTheMostUrgentSurvivesTheCut(t *testing.T) {
	doc := text(t, crowd())
	for j := range 30 {
		if !strings.Contains(doc, fmt.Sprintf("**`ghost-%d`**", j)) {
			t.Errorf("ghost-%d was cut", j)
		}
	}
	says, holds := listed(t, doc, "Stale")
	if says != 1000 || holds != 1000 {
		t.Errorf("1000 Stale: the title says %d, and the items with what was cut are %d", says, holds)
	}
	if !regexp.MustCompile("(?m)^… and [0-9]+ more: .*50 in `tenant/c1[0-9]`.*; the whole list is in the JSON report\\.$").MatchString(doc) {
		t.Errorf("what was cut is not said in\n%s", doc)
	}
	if !strings.Contains(doc, "odd-one") {
		t.Error("a whole section was cut for another")
	}
	if !strings.Contains(doc, "The details of ") {
		t.Error("that details were cut is not said")
	}
}

// A vCenter that is down is one finding.
func TestMachinesThatAreAlikeShareAnItem(t *testing.T) {
	r := &report.Report{Clusters: []report.Cluster{{Namespace: "a", Name: "b"}}}
	for i := range 12 {
		r.Clusters[0].ControlPlane.Machines = append(r.Clusters[0].ControlPlane.Machines, report.Machine{
			Name: fmt.Sprintf("m-%d", i), Status: code.Unknown, Reason: "ScopeIncomplete", Message: "vc2 could not be listed", ProviderID: fmt.Sprintf("vsphere://id-%d", i),
		})
	}
	doc := text(t, r)
	if !strings.Contains(doc, "- **12 machines** in `a/b`\n  - Why: ScopeIncomplete: `vc2` could not be listed\n") || !strings.Contains(doc, "`m-11`") {
		t.Error(doc)
	}
	r.Clusters[0].ControlPlane.Machines = r.Clusters[0].ControlPlane.Machines[:4]
	if doc := text(t, r); !strings.Contains(doc, "- **4 machines** in `a/b`") {
		t.Error(doc)
	}
	r.Clusters[0].ControlPlane.Machines = r.Clusters[0].ControlPlane.Machines[:3]
	if doc := text(t, r); !strings.Contains(doc, "- **`m-2`**") || !strings.Contains(doc, "Recorded as: `vsphere://id-2`") {
		t.Error(doc)
	}
}

// What is of the management cluster itself is shown and counted nowhere else.
func TestTheManagementClusterItself(t *testing.T) {
	r := &report.Report{Clusters: []report.Cluster{{
		Namespace: "a", Name: "mgmt", Self: true, Status: code.ManualRemediationRequired, Counts: report.MachineCounts{Total: 1, Ghost: 1},
		ControlPlane: report.ControlPlane{Reason: "ControlPlaneLost", Machines: []report.Machine{{Name: "own", Status: code.Ghost}}},
	}}}
	doc := text(t, r)
	if !strings.Contains(doc, "`a/mgmt` | ManualRemediationRequired | 1 | 0 | 0 | 0 | the management cluster itself, not counted |") {
		t.Error(doc)
	}
	if strings.Contains(doc, "`own`") || strings.Contains(doc, "ControlPlaneLost") {
		t.Errorf("its machines are findings:\n%s", doc)
	}
}

func TestTheErrorOfTheWriterIsReturned(t *testing.T) { reporttest.Format(Write).NamesError(t) }

// Every note is there, of the whole and of its clusters; one that several
// clusters have is there once.
func TestEveryNoteIsThere(t *testing.T) {
	r := reporttest.Sized(8, 3)
	fleet := []report.Note{{Code: "OldManagementCluster", Message: "Make sure that the old one is gone"}, {Code: "AssumedOrder", Message: "Clusters come last."}}
	r.Summary.Forecast = &report.GeneralForecast{Notes: fleet}
	paused := report.Note{Code: "ClusterPaused", Message: "Nothing is adopted"}
	for i := range r.Clusters {
		own := report.Note{Code: "EtcdShrinks", Message: fmt.Sprintf("Group %d was rolled out", i)}
		r.Clusters[i].Forecast = &report.ClusterForecast{Text: fmt.Sprintf("%d adopted", i), Notes: []report.Note{paused, own}}
	}
	doc := text(t, r)
	want := []string{"- `OldManagementCluster`: Make sure that the old one is gone.\n", "- `AssumedOrder`: Clusters come last.\n", " and 3 more: Nothing is adopted.\n"}
	for i := range r.Clusters {
		want = append(want, fmt.Sprintf("- `EtcdShrinks`, of %s: Group %d was rolled out.\n", Name(r.Clusters[i].Title()), i))
	}
	for _, w := range want {
		if strings.Count(doc, w) != 1 {
			t.Errorf("%d times %q in:\n%s", strings.Count(doc, w), w, doc)
		}
	}
	if says, holds := listed(t, doc, "To know before the restore"); says != len(want) || holds != says {
		t.Errorf("the section says %d and holds %d, want %d", says, holds, len(want))
	}
	for i := range r.Clusters {
		if w := fmt.Sprintf("after the restore: %d adopted |\n", i); strings.Count(doc, w) != 1 {
			t.Errorf("%d times %q in the row of its cluster in:\n%s", strings.Count(doc, w), w, doc)
		}
	}
}

// What a ticket has no room for is cut, and counted.
func TestNotesOfManyClustersAreCut(t *testing.T) {
	r := reporttest.Sized(300, 2)
	for i := range r.Clusters {
		long := strings.Repeat(fmt.Sprintf("note %d ", i), 100)
		r.Clusters[i].Forecast = &report.ClusterForecast{Notes: []report.Note{{Code: "EtcdGrows", Message: long}, {Code: "EtcdShrinks", Message: long}}}
	}
	doc := text(t, r)
	if len(doc) > Limit {
		t.Errorf("%d bytes", len(doc))
	}
	want := 600 + len(r.Summary.Forecast.Notes)
	if says, holds := listed(t, doc, "To know before the restore"); says != want || holds != want || !strings.Contains(doc, "\n… and ") {
		t.Errorf("says %d, holds %d, want %d", says, holds, want)
	}
}

// A block holds one line: what follows a line that failed is not pasted with it.
func TestABlockOfCommandsIsOneLine(t *testing.T) {
	got := steps([]report.Step{{Text: "Look", Commands: []string{"first", "second"}}, {Text: "Think"}, {Text: "Act", Commands: []string{"third"}}})
	if n := strings.Count(got, "```sh\n"); n != 3 || strings.Contains(got, "first\n    second") {
		t.Errorf("%d blocks:\n%s", n, got)
	}
}
