package oracle

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/code"
	"drift-detector/report/markdown"
	"drift-detector/report/prometheus"
	"drift-detector/report/reporttest"
)

func reports() map[string]*report.Report {
	out := map[string]*report.Report{
		"empty": build.New(build.Parts{}), "hostile": reporttest.HostileReport(),
		"large": reporttest.Sized(50, 100), "huge": reporttest.Sized(500, 100), "backticks": backticks(),
	}
	for seed := range uint64(200) {
		out[fmt.Sprint("random ", seed)] = reporttest.Random(seed)
	}
	return out
}

// backticks returns a report whose names and messages try to end the code that they
// stand in.
func backticks() *report.Report {
	tries := []string{"x` @team <b>", "``` #1\n# y", "`", "a `` https://a.example ``` b", "x\\` ![i](j)", "~~~ ` | `"}
	n := 0
	next := func() string { n++; return tries[n%len(tries)] }
	r := reporttest.HostileReport()
	for i := range r.Clusters {
		c := &r.Clusters[i]
		c.Name = next()
		for _, s := range c.Sets() {
			for j := range s.Machines {
				m := &s.Machines[j]
				m.Name, m.Message = next(), next()
				if m.Instance != nil {
					m.Instance.Path = next()
				}
				for k := range m.Remediation {
					m.Remediation[k].Commands = append(slices.Clone(tries), "```", "@team <b>")
				}
			}
		}
	}
	return r
}

func written(t *testing.T, f report.Format[*report.Report], r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPrometheusReadsTheMetrics holds them against Prometheus' own parser, as
// node_exporter's textfile collector calls it, and against its rules for names.
func TestPrometheusReadsTheMetrics(t *testing.T) {
	for name, r := range reports() {
		doc := written(t, prometheus.Write, r)
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(bytes.NewReader(doc))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		samples := 0
		for _, f := range families {
			samples += len(f.Metric)
			checkFamily(t, name, f)
		}
		if lines := bytes.Count(doc, []byte("\n")) - 2*len(families); samples != lines {
			t.Errorf("%s: %d samples in %d lines", name, samples, lines)
		}
		problems, err := promlint.New(bytes.NewReader(doc)).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", name, problems, err)
		}
		if got, want := ghosts(families), r.Summary.Machines.Ghost; got != want {
			t.Errorf("%s: Prometheus reads %d Ghost, the report has %d", name, got, want)
		}
	}
}

// checkFamily complains of what the collector skips a file for, or takes only half of.
func checkFamily(t *testing.T, name string, f *dto.MetricFamily) {
	t.Helper()
	if f.GetHelp() == "" || f.GetType() != dto.MetricType_GAUGE {
		t.Errorf("%s: %s has help %q and type %v", name, f.GetName(), f.GetHelp(), f.GetType())
	}
	seen := map[string]bool{}
	for _, m := range f.Metric {
		key := fmt.Sprint(m.Label)
		if seen[key] {
			t.Errorf("%s: two samples of %s%s", name, f.GetName(), key)
		}
		seen[key] = true
		if m.TimestampMs != nil {
			t.Errorf("%s: %s%s has a timestamp", name, f.GetName(), key)
		}
		for _, l := range m.Label {
			if !model.LabelValue(l.GetValue()).IsValid() {
				t.Errorf("%s: %s has a value that is no UTF-8: %q", name, f.GetName(), l.GetValue())
			}
		}
	}
}

func ghosts(families map[string]*dto.MetricFamily) int {
	n := 0
	for _, m := range families["drift_detector_machines"].GetMetric() {
		for _, l := range m.Label {
			if l.GetName() == "status" && l.GetValue() == string(code.Ghost) {
				n += int(m.GetGauge().GetValue())
			}
		}
	}
	return n
}

var (
	folding = regexp.MustCompile(`^(<details><summary>[A-Za-z, ]+</summary>|</details>)\s*$`)
	// reference is what GitHub, GitLab, Jira and Mattermost make a link of in text.
	reference = regexp.MustCompile(`@|#|://|www\.|[A-Z]-[0-9]|[0-9a-f]{7}|[<>\[\]|*_]`)
)

// TestMarkdownIsNothingButOurs renders the tickets with a parser of CommonMark
// with GitHub's tables, links and strikethrough, and looks for what nobody but us
// may have put there.
func TestMarkdownIsNothingButOurs(t *testing.T) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	for name, r := range reports() {
		doc := written(t, markdown.Write, r)
		if len(doc) > markdown.Limit {
			t.Errorf("%s: %d bytes", name, len(doc))
		}
		w := walker{t: t, name: name, doc: doc}
		if err := ast.Walk(md.Parser().Parse(text.NewReader(doc)), w.visit); err != nil {
			t.Fatal(err)
		}
		if w.details != 0 {
			t.Errorf("%s: details are opened %d times more than closed", name, w.details)
		}
		if (w.tables == 1) != (len(r.Clusters) > 0) || w.tables > 1 {
			t.Errorf("%s: %d tables", name, w.tables)
		}
	}
}

type walker struct {
	t               *testing.T
	name            string
	doc             []byte
	tables, details int
}

func (w *walker) complain(format string, parts ...any) {
	w.t.Helper()
	w.t.Errorf("%s: %s", w.name, fmt.Sprintf(format, parts...))
}

func (w *walker) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.CodeSpan, *ast.FencedCodeBlock:
		return ast.WalkSkipChildren, nil
	case *ast.HTMLBlock:
		w.html(n)
	case *tables.Table:
		w.table(n)
	case *ast.Text:
		if s := string(n.Segment.Value(w.doc)); reference.MatchString(s) {
			w.complain("text %q", s)
		}
	case *ast.Heading:
		if n.Level != 2 && n.Level != 3 {
			w.complain("heading %q", n.Lines().Value(w.doc))
		}
	case *ast.Emphasis:
		if n.Level != 2 {
			w.complain("emphasis")
		}
	case *ast.List:
		if n.IsOrdered() {
			w.complain("an ordered list")
		}
	case *ast.Document, *ast.Paragraph, *ast.TextBlock, *ast.ListItem, *tables.TableHeader, *tables.TableRow, *tables.TableCell:
	default:
		w.complain("a node of kind %s", n.Kind())
	}
	return ast.WalkContinue, nil
}

func (w *walker) html(n *ast.HTMLBlock) {
	s := strings.TrimSpace(string(n.Lines().Value(w.doc)))
	if !folding.MatchString(s) {
		w.complain("HTML %q", s)
	}
	w.details += strings.Count(s, "<details>") - strings.Count(s, "</details>")
}

// table complains of a row that has other columns than its head. The parser fills
// short rows, so what is counted is the bars of the line.
func (w *walker) table(n *tables.Table) {
	w.tables++
	columns := len(n.Alignments)
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		if row.ChildCount() != columns {
			w.complain("a row of %d columns in a table of %d", row.ChildCount(), columns)
		}
		line := row.FirstChild().Lines().At(0)
		from := bytes.LastIndexByte(w.doc[:line.Start], '\n') + 1
		to := from + bytes.IndexByte(w.doc[from:], '\n')
		if bars := bytes.Count(w.doc[from:to], []byte("|")); bars != columns+1 {
			w.complain("%d bars in a row of a table of %d columns: %q", bars, columns, w.doc[from:to])
		}
	}
}
