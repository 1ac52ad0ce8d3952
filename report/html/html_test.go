package html

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

// written returns the page of a report, parsed as a browser parses it.
func written(t *testing.T, r *report.Report) (string, *html.Node) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	root, err := html.ParseWithOptions(bytes.NewReader(b.Bytes()), html.ParseOptionEnableScripting(false)) // with what noscript holds
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), root
}

// find returns the elements below n that fit.
func find(n *html.Node, fits func(*html.Node) bool) []*html.Node {
	var out []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && fits(d) {
			out = append(out, d)
		}
	}
	return out
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

func class(name string) func(*html.Node) bool {
	return func(n *html.Node) bool { return slices.Contains(strings.Fields(attr(n, "class")), name) }
}

func content(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func value(t *testing.T, n *html.Node) int {
	t.Helper()
	v, err := strconv.Atoi(attr(n, "value"))
	if err != nil || content(n) != attr(n, "value") {
		t.Fatalf("%s shows %q and has the value %q", attr(n, "data-count"), content(n), attr(n, "value"))
	}
	return v
}

// counts returns the numbers of the summary under the names that the page gives them.
func counts(r *report.Report) map[string]int {
	s := &r.Summary
	out := map[string]int{
		"infraMachines": s.InfraMachines, "outOfScope": s.OutOfScope, "errors": s.Errors, "ignored": s.Ignored, "excluded.total": total(s.Excluded),
		"resources.present": s.Resources.Present, "resources.absent": s.Resources.Absent, "resources.unknown": s.Resources.Unknown,
		"scopes": len(r.Scopes),
	}
	add := func(prefix string, v any) {
		for i, t := 0, reflect.TypeOf(v); i < t.NumField(); i++ {
			out[prefix+t.Field(i).Tag.Get("json")] = int(reflect.ValueOf(v).Field(i).Int())
		}
	}
	add("machines.", s.Machines)
	add("clusters.", s.Clusters)
	if s.IgnoredMachines != nil {
		add("ignoredMachines.", *s.IgnoredMachines)
	}
	if s.IgnoredInfraMachines > 0 {
		out["ignoredInfraMachines"] = s.IgnoredInfraMachines
	}
	if s.ConfirmedInfraMachines > 0 {
		out["confirmedInfraMachines"] = s.ConfirmedInfraMachines
	}
	if s.Forecast != nil && s.Forecast.NotHealing > 0 {
		out["forecast.notHealing"] = s.Forecast.NotHealing
	}
	return out
}

func TestEveryCountIsTheReports(t *testing.T) {
	for seed := range uint64(200) {
		r := reporttest.Random(seed)
		_, root := written(t, r)
		got := map[string]int{}
		for _, n := range find(root, func(n *html.Node) bool { return has(n, "data-count") }) {
			key := attr(n, "data-count")
			if _, twice := got[key]; twice {
				t.Errorf("seed %d: %s is there twice", seed, key)
			}
			got[key] = value(t, n)
		}
		if want := counts(r); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: the page counts %v, the report %v", seed, got, want)
		}
		for _, n := range find(root, func(n *html.Node) bool { return has(n, "data-status") && attr(n, "id") == "answer" }) {
			if a := r.Answer(); attr(n, "data-status") != string(a.Status) || !strings.Contains(content(n), a.Safe) {
				t.Errorf("seed %d: the page does not answer %q, %q", seed, a.Status, a.Safe)
			}
		}
	}
}

// The rows, the cells and the sums of each cluster agree with its counts.
func TestRowsAndCellsAgreeWithTheCounts(t *testing.T) {
	for seed := range uint64(200) {
		r := reporttest.Random(seed)
		_, root := written(t, r)
		lots := find(root, class("lot"))
		clusters := find(root, class("cluster"))
		if len(lots) != len(r.Clusters) || len(clusters) != len(r.Clusters) {
			t.Fatalf("seed %d: %d clusters in the picture and %d below, of %d", seed, len(lots), len(clusters), len(r.Clusters))
		}
		for i := range clusters {
			c := &r.Clusters[atoi(t, attr(clusters[i], "data-index"))]
			want := c.Counts
			listed := map[string]int{}
			for _, s := range c.Sets() {
				for j := range s.Machines {
					listed[string(s.Machines[j].Status)]++
				}
			}
			rows := map[string]int{}
			for _, n := range find(clusters[i], class("row")) {
				rows[attr(n, "data-status")]++
			}
			if !reflect.DeepEqual(rows, listed) {
				t.Errorf("seed %d, cluster %d: rows %v of machines %v", seed, i, rows, listed)
			}
			sum := report.MachineCounts{}
			header := find(clusters[i], func(n *html.Node) bool { return n.Data == "summary" })[0]
			for _, n := range find(header, func(n *html.Node) bool { return has(n, "data-of") }) {
				for range value(t, n) {
					sum.Count(code.Status(attr(n, "data-of")))
				}
			}
			if sum != want {
				t.Errorf("seed %d, cluster %d: the page sums up %+v, the report %+v", seed, i, sum, want)
			}
		}
		for i := range lots {
			c := &r.Clusters[atoi(t, attr(lots[i], "data-index"))]
			got := report.MachineCounts{}
			for _, n := range find(lots[i], func(n *html.Node) bool { return has(n, "aria-label") || n.Data == "i" }) {
				_, says, _ := strings.Cut(attr(n, "aria-label"), ": ")
				status, _, _ := strings.Cut(says, ",")
				got.Count(cmp.Or(code.Status(status), code.Healthy))
			}
			if got != c.Counts {
				t.Errorf("seed %d, cluster %d: cells %+v, counts %+v", seed, i, got, c.Counts)
			}
		}
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Every link leads to something, and every machine of the picture to itself.
func TestLinksLeadToWhatTheyName(t *testing.T) {
	for seed := range uint64(60) {
		_, root := written(t, reporttest.Random(seed))
		targets := map[string]*html.Node{}
		for _, n := range find(root, func(n *html.Node) bool { return has(n, "id") }) {
			if targets[attr(n, "id")] != nil {
				t.Fatalf("seed %d: two elements are called %s", seed, attr(n, "id"))
			}
			targets[attr(n, "id")] = n
		}
		for _, n := range find(root, func(n *html.Node) bool { return n.Data == "a" }) {
			target := targets[strings.TrimPrefix(attr(n, "href"), "#")]
			if target == nil {
				t.Fatalf("seed %d: link to %q", seed, attr(n, "href"))
			}
			if label := attr(n, "aria-label"); label != "" {
				row := target.Parent
				called := content(find(row, class("name"))[0]) + ": " + attr(row, "data-status")
				if !strings.HasPrefix(label, called) {
					t.Errorf("seed %d: a cell is called %q and leads to %q", seed, label, called)
				}
			}
		}
	}
}

// What a name may be made of, and what must never come of it.
func TestNamesStayText(t *testing.T) {
	known := map[string]bool{}
	for seed := range uint64(210) {
		r := reporttest.HostileReport()
		if seed > 0 {
			r = reporttest.Random(seed - 1)
		}
		page, root := written(t, r)
		for _, n := range find(root, func(*html.Node) bool { return true }) {
			known[n.Data] = true
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "src", a.Key == "srcset", a.Key == "action":
					t.Fatalf("seed %d: <%s %s=%q>", seed, n.Data, a.Key, a.Val)
				case a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
					t.Fatalf("seed %d: a link to %q", seed, a.Val)
				}
			}
		}
		for line := range strings.Lines(page) {
			if line = strings.Trim(line, "\t\n"); terminal.Escape(line) != line {
				t.Fatalf("seed %d: characters that must not be shown as they are: %q", seed, line)
			}
		}
		if n := strings.Count(page, "<script"); n != 1 {
			t.Fatalf("seed %d: %d scripts", seed, n)
		}
	}
	for _, bad := range []string{"img", "svg", "iframe", "object", "embed", "form", "base", "link"} {
		if known[bad] {
			t.Errorf("the page holds <%s>", bad)
		}
	}
	_, root := written(t, reporttest.HostileReport())
	all := content(root)
	for _, name := range reporttest.Hostile {
		if !strings.Contains(all, text(name)) {
			t.Errorf("%q is not shown", name)
		}
	}
}

func TestPolicyAllowsThisStyleAndThisScriptAlone(t *testing.T) {
	_, root := written(t, reporttest.HostileReport())
	var got string
	for _, n := range find(root, func(n *html.Node) bool { return attr(n, "http-equiv") == "Content-Security-Policy" }) {
		got += attr(n, "content")
	}
	body := func(tag string) string {
		n := find(root, func(n *html.Node) bool { return n.Data == tag })
		if len(n) != 1 {
			t.Fatalf("%d elements <%s>", len(n), tag)
		}
		return content(n[0])
	}
	want := "default-src 'none'; script-src " + hashed(body("script")) + "; style-src " + hashed(body("style")) + "; base-uri 'none'; form-action 'none'"
	if got != want {
		t.Errorf("policy\n%s, want\n%s", got, want)
	}
}

func TestReportReadBackPrintsTheSame(t *testing.T) {
	reports := []*report.Report{reporttest.HostileReport(), reporttest.Sized(2, 30)}
	for seed := range uint64(200) {
		reports = append(reports, reporttest.Random(seed))
	}
	for i, r := range reports {
		var doc, first, second bytes.Buffer
		if err := report.JSON(&doc, r); err != nil {
			t.Fatal(err)
		}
		back, err := report.Read(&doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(Write(&first, r), Write(&second, back)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("report %d prints otherwise after it was read from JSON", i)
		}
	}
}

// marker numbers the strings of a report.
type marker struct {
	n     int
	paths map[string]string
}

func (m *marker) mark(path string) string {
	m.n++
	s := fmt.Sprintf("marker%04dx", m.n)
	m.paths[s] = path
	return s
}

// fill sets every string that a value can hold; everything else is there and not zero.
func (m *marker) fill(v reflect.Value, path string) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(m.mark(path))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Struct:
		for i := range v.NumField() {
			m.fill(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		m.fill(v.Index(0), path+"[]")
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		m.fill(value, path+"[value]")
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(m.mark(path+"[key]")).Convert(v.Type().Key()), value)
	}
}

// leftOut are the strings that the page does not show, with why.
var leftOut = map[string]string{
	"Report.Digests[key]":                 "of the document, for ready and recheck",
	"Report.Digests[value]":               "of the document, for ready and recheck",
	"Report.Options.FailOn[]":             "of the run, not of the fleet; JUnit asks for it",
	"Report.Confirmations[].IDs[]":        "of the VMs of a folder, which are listed with their ids",
	"Report.Options.Confirmations[]":      "of the run; the plan in the page names the file, and the words of it are listed",
	"Report.Checks[].Clusters[]":          "the object of a check is named; the list is for scripts",
	"Report.Summary.Answer.Safe":          "its words are the title: NOT CLEAR YET",
	"Report.Summary.AnswerByPlan.Safe":    "its words are shown",
	"Report.InfraMachines[].Candidates[]": "where Cluster is empty",
	"Report.ToDo[].Phase":                 "its title is shown",
	"Report.ToDo[].Safe":                  "its mark is shown",

	// Of the reasons for which something is to be done.
	"Report.Summary.Answer.Reasons[].Code":      "ToDo has it",
	"Report.Summary.Answer.Reasons[].Objects[]": "ToDo has them",
	"Report.Summary.Answer.Reasons[].Message":   "folded beside what is to be done",
	"Report.ToDo[].Reason":                      "the code is shown",

	// What sentences say that are shown, for programs.
	"Report.Summary.Answer.Reasons[].Until":        "the message says it",
	"Report.Summary.AnswerByPlan.Reasons[].Until":  "the message says it",
	"Report.Summary.AnswerByPlan.Resolved[].Until": "the message says it",
	"Report.Summary.Answer.Reasons[].Row":          "where docs/walks.md has the source of the message",
	"Report.Summary.AnswerByPlan.Reasons[].Row":    "where docs/walks.md has the source of the message",
	"Report.Summary.AnswerByPlan.Resolved[].Row":   "where docs/walks.md has the source of the message",
	"Report.Summary.Answer.Conditions[].Objects[]": "the message names them",
	"Report.Summary.Forecast.Notes[].Objects[]":    "the message names them",
	"Report.Clusters[].Forecast.Notes[].Objects[]": "the message names them",
	"Report.Backups[].RestoreMode":                 "the question says it",
	"Report.Checks[].Brief":                        "the message is shown",
	"Report.Scopes[].Clusters[]":                   "their machines say so",
}

// A machine without findings is reported in fewer words, and must tell as much.
func TestEverythingIsShown(t *testing.T) {
	for _, plain := range []bool{false, true} {
		m := marker{paths: map[string]string{}}
		r := new(report.Report)
		m.fill(reflect.ValueOf(r).Elem(), "Report")
		r.Clusters[0].Self, r.Options.Filter.View = false, false
		if plain {
			w := &r.Clusters[0].Workers.Groups[0].Machines[0]
			w.Status, w.Warnings, w.Ignored, w.Confirmed, w.Others, w.Remediation = code.Healthy, nil, nil, nil, nil, nil
		}
		_, root := written(t, r)
		body := content(find(root, func(n *html.Node) bool { return n.Data == "body" })[0])
		for s, path := range m.paths {
			gone := plain && strings.HasPrefix(path, "Report.Clusters[].Workers.Groups[].Machines[].") &&
				slices.ContainsFunc([]string{".Status", ".Warnings", ".Ignored", ".Confirmed", ".Others", ".Remediation"}, func(f string) bool { return strings.Contains(path, "Machines[]"+f) })
			// Providers are for the commands of plans, and these for what looks at the API server
			// after the restore.
			gone = gone || strings.Contains(path, "Machines[].Infrastructure.") || strings.HasSuffix(path, ".Forecast.ExpectedBy.Event") || strings.HasSuffix(path, "Machines[].Forecast.Row")
			if !gone && leftOut[path] == "" && !strings.HasPrefix(path, "Report.Providers[]") && !strings.Contains(body, s) {
				t.Errorf("plain %t: %s is not shown", plain, path)
			}
		}
	}
}

// A VM that may belong to one of several clusters is found by each of them.
func TestVMOfSeveralClusters(t *testing.T) {
	r := &report.Report{InfraMachines: []report.InfraMachine{{Candidates: []string{"t/a", "t/b c"}, Instance: report.Instance{Name: "vm"}}}}
	page, root := written(t, r)
	row := find(root, class("row"))[0]
	if got := attr(row, "data-of"); got != "t/a\n\"t/b c\"" || !strings.Contains(page, "t/a or t/b c") {
		t.Errorf("it is of %q", got)
	}
}

func TestReportsWithoutAnything(t *testing.T) {
	for _, r := range []*report.Report{{}, {Clusters: make([]report.Cluster, 1)}, {IgnoreRules: make([]report.IgnoreRule, 1)}} {
		if page, _ := written(t, r); !strings.HasSuffix(page, "</html>\n") {
			t.Error("the page is not whole")
		}
	}
}

// The cells of the picture are as large as their number allows.
func TestCellsShrink(t *testing.T) {
	for total, want := range map[int]string{1: "large few", 60: "large few", 61: "medium", 600: "medium", 601: "small"} {
		_, page := written(t, &report.Report{Clusters: []report.Cluster{{Name: "a", Counts: report.MachineCounts{Total: 1}}, {Name: "b", Counts: report.MachineCounts{Total: total - 1}}}})
		body := find(page, func(n *html.Node) bool { return n.Data == "body" })
		if len(body) != 1 || attr(body[0], "class") != want {
			t.Errorf("%d machines: body %v, want %s", total, body, want)
		}
	}
}

// A report without healthy machines shows as many cells as it counts machines,
// and says how many it leaves out.
func TestHealthyMachinesThatAreLeftOutAreDrawn(t *testing.T) {
	r := reporttest.Sized(1, 20)
	r.Options.IgnoreHealthy = true
	left := 0
	for i := range r.Clusters[0].Workers.Groups {
		g := &r.Clusters[0].Workers.Groups[i]
		g.Machines = nil
		left += g.Counts.Healthy
	}
	page, root := written(t, r)
	if n := len(find(root, func(n *html.Node) bool { return n.Data == "i" && class("lot")(n.Parent.Parent.Parent.Parent) })); n != left {
		t.Errorf("%d cells without a link, want %d", n, left)
	}
	for _, g := range r.Clusters[0].Workers.Groups {
		if want := fmt.Sprintf("%d Healthy without a warning, left out of this report", g.Counts.Healthy); !strings.Contains(page, want) {
			t.Errorf("the page does not say: %s", want)
		}
	}
}

type brokenWriter struct{ after int }

var errBroken = errors.New("disk full")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.after -= len(p); w.after < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestFirstErrorOfTheWriterIsReturned(t *testing.T) {
	for _, after := range []int{0, 5000, 30000} {
		if err := Write(&brokenWriter{after}, reporttest.Sized(3, 50)); !errors.Is(err, errBroken) {
			t.Errorf("after %d bytes: %v", after, err)
		}
	}
}
