package program

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/code"
)

// Every rule of the packages that check is one that explain knows.
func TestEveryCheckIsExplained(t *testing.T) {
	known := map[string]bool{}
	for _, c := range allCodes() {
		known[string(c.Code)] = true
		if c.Why == "" || c.Do == "" && c.Severity == code.CheckError {
			t.Errorf("%s is not explained: %+v", c.Code, c)
		}
	}
	n := 0
	for _, dir := range []string{"../../../backup/check", "../../../infra"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				return skipDir(err)
			}
			if filepath.Base(path) == "rules.txt" {
				text, err := os.ReadFile(path)
				for _, m := range regexp.MustCompile(`(?m)^[a-z][a-z ]* \| (\w+) \|`).FindAllStringSubmatch(string(text), -1) {
					if n++; !known[m[1]] {
						t.Errorf("%s: explain does not know check %s", path, m[1])
					}
				}
				return err
			}
			if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if code := ruleCode(node); code != "" {
					n++
					if !known[code] {
						t.Errorf("%s: explain does not know check %s", path, code)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 50 {
		t.Errorf("%d rules are found", n)
	}
}

func skipDir(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// ruleCode returns the code of a literal Rule{"Code", …} or check.Rule{Code: "Code", …}.
func ruleCode(node ast.Node) string {
	l, ok := node.(*ast.CompositeLit)
	if !ok || len(l.Elts) == 0 {
		return ""
	}
	name, _ := l.Type.(*ast.Ident)
	if s, ok := l.Type.(*ast.SelectorExpr); ok {
		name = s.Sel
	}
	if name == nil || name.Name != "Rule" {
		return ""
	}
	first := l.Elts[0]
	if kv, ok := first.(*ast.KeyValueExpr); ok {
		first = kv.Value
	}
	switch c := first.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(c.Value)
		return text
	case *ast.SelectorExpr:
		return c.Sel.Name
	}
	return ""
}

func TestExplain(t *testing.T) {
	all := runs.Run(t, "explain")
	all.Demand(t, cli.ExitOK)
	var rows []struct {
		Code, Kind, Meaning, Happens, Why, Do string
		Kinds, Phases                         []string
	}
	if err := json.Unmarshal([]byte(runs.Run(t, "explain", "--format", "json").Stdout), &rows); err != nil || len(rows) < 150 {
		t.Fatalf("%d codes: %v", len(rows), err)
	}
	for _, r := range rows {
		if !strings.Contains(all.Stdout, "\n   "+r.Code+" ") {
			t.Errorf("%s is not listed", r.Code)
		}
		for _, text := range []string{r.Happens, r.Why, r.Do} {
			if text != "" && !strings.HasSuffix(text, ".") || text == "" && r.Kind != "Checks of the backup" {
				t.Errorf("%s: %q is no sentence", r.Code, text)
			}
			for _, word := range []string{"ends, doubles", " doubles ", "made again", " makes another", " strangers"} {
				if r.Kind != "Checks of the backup" && strings.Contains(text, word) {
					t.Errorf("%s: %q is no word of Cluster API: %s", r.Code, word, text)
				}
			}
		}
	}
	if short := string(listed(allCodes(), true)); !strings.Contains(short, "…") {
		t.Error("on a terminal no line is cut")
	} else {
		for line := range strings.Lines(short) {
			if len([]rune(line)) > 81 {
				t.Errorf("%d columns: %s", len([]rune(line))-1, line)
			}
		}
	}
	runs.Run(t, "explain", "--format", "pdf").Demand(t, cli.ExitUsage)
	hostile := runs.Run(t, "explain", "x\x1b[31m\ny")
	if hostile.Code != cli.ExitUsage || strings.Contains(hostile.Stderr, "\x1b") {
		t.Errorf("%q", hostile.Stderr)
	}
}

// The phases that explain names are those in which the plans of real fleets have steps
// about what a code is said of.
func TestPhasesAreWhereTheStepsAre(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*runs.World{"fleet": runs.Fleet(t), "restored": runs.Restored(t)} {
		r := w.Detect().Report
		f := &explainedReport{"report.json", r, planOf(r)}
		phases := map[string]string{}
		for _, row := range f.plan.Rows() {
			phases[strconv.Itoa(row.Number)] = row.Phase
		}
		n := 0
		for _, row := range allCodes() {
			where, steps := map[string]bool{}, 0
			for _, o := range f.of(row) {
				for _, label := range o.Steps {
					number, _, _ := strings.Cut(label, ".")
					if phases[number] == "" {
						t.Errorf("%s: %s is of step %s, which the plan does not have", name, row.Code, label)
					}
					where[phases[number]] = true
					steps++
				}
			}
			there := slices.ContainsFunc(row.Phases, func(p code.Phase) bool {
				return where[string(p)] || p == code.Paused && where[string(code.After)]
			})
			if steps > 0 && len(row.Phases) > 0 {
				if n++; !there {
					t.Errorf("%s: %s has steps in %v, and explain says %v", name, row.Code, where, row.Phases)
				}
			}
		}
		if n < 20 {
			t.Errorf("%s: only %d codes have steps", name, n)
		}
	}
}

// A new reason is one row: it is in schema, page, explain, screen and plan.
func TestANewReasonIsOneRow(t *testing.T) {
	before := code.Table
	t.Cleanup(func() { code.Table = before })
	code.Table = append(slices.Clone(before), code.Row{
		Code: "ProxyGone", Kinds: []code.Kind{code.Answer}, Safe: code.WithWork, Phases: []code.Phase{code.Paused},
		Happens: "The proxy of the cluster is gone.", Why: "Nothing reaches its API server.", Do: "Create the proxy.",
		Screen: "no proxy in front of it", Plan: "Create the proxy first.",
	})
	r := build.New(buildtest.Foreseen(buildtest.Healthy(), report.AnswerReason{Code: "ProxyGone", Message: "Its proxy is gone", Objects: []string{"Cluster tenant-zeta/zeta"}}))
	if r.Summary.Answer.Safe != code.WithWork {
		t.Errorf("the answer is %s", r.Summary.Answer.Safe)
	}
	object := "Machine " + r.Clusters[0].Namespace + "/" + r.Clusters[0].ControlPlane.Machines[0].Name
	r.Summary.Answer.Reasons[0].Objects = []string{object}
	file := filepath.Join(t.TempDir(), "report.json")
	var text bytes.Buffer
	if err := report.JSON(&text, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want, got string }{
		{"the schema", `"ProxyGone": "Answer, withWork: The proxy of the cluster is gone."`, string(report.Schema())},
		{"the page of codes", "### ProxyGone\n\nAnswer, withWork: The proxy of the cluster is gone.", codesPage()},
		{"explain", "What to do      Create the proxy.\nIn the plan     drift-detector plan report.json --phase after", runs.Run(t, "explain", "ProxyGone").Stdout},
		{"the screen", "ProxyGone", runs.Run(t, "render", "--format", "screen", file).Stdout},
		{"the screen", "no proxy in front of it", runs.Run(t, "render", "--format", "screen", file).Stdout},
		{"the plan", "Create the proxy first.", runs.Run(t, "plan", file).Stdout},
		{"explain of the report", object + "   step", runs.Run(t, "explain", "ProxyGone", file).Stdout},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s does not say %q:\n%s", c.in, c.want, c.got)
		}
	}
}

// What a real report holds is explained: the codes of the lab's.
func TestCodesOfAReportAreExplained(t *testing.T) {
	o := runs.Fleet(t).Detect()
	var known []string
	for _, c := range allCodes() {
		known = append(known, string(c.Code))
	}
	var used []string
	for _, c := range o.Report.Checks {
		used = append(used, string(c.Code))
	}
	for i := range o.Report.Clusters {
		for _, set := range o.Report.Clusters[i].Sets() {
			for _, m := range set.Machines {
				used = append(used, string(m.Reason), string(m.Status))
				if m.Forecast != nil {
					used = append(used, string(m.Forecast.Outcome))
				}
			}
		}
	}
	for _, word := range used {
		if word != "" && !slices.Contains(known, word) {
			t.Errorf("explain does not know %s", word)
		}
	}
}

// Each code says what happens and what to do in words of its own: two codes of which the same is
// said are one, or one of them says too little. Checks for objects that the backup lacks have one
// remedy.
func TestCodesSayWhatIsTheirOwn(t *testing.T) {
	for what, of := range map[string]func(*code.Row) string{"what happens": func(r *code.Row) string { return r.Happens }, "what to do": func(r *code.Row) string { return r.Do }} {
		said := map[string]code.Reason{}
		for _, r := range allCodes() {
			text := of(&r)
			if before, twice := said[text]; twice && before != r.Code && text != "" && (what == "what happens" || !r.Is(code.Check)) {
				t.Errorf("%s: %s and %s both say %q", what, before, r.Code, text)
			}
			said[text] = r.Code
		}
	}
}

// explain with a report lists all of the report that a code is said of, with the steps that the
// list of what to do has, in the four fleets.
func TestExplainOfAReport(t *testing.T) {
	line := regexp.MustCompile(`(?m)^ {16}(\S.*?)(?:   steps? ([0-9., and()]+))?$`)
	for name, serve := range runs.FourFleets {
		o := serve(t)
		file := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(file, o.JSON, 0o600); err != nil {
			t.Fatal(err)
		}
		steps := 0
		for i := range o.Report.ToDo {
			todo := &o.Report.ToDo[i]
			explained := runs.Run(t, "explain", string(todo.Code), file)
			explained.Demand(t, cli.ExitOK)
			_, listed, _ := strings.Cut(explained.Stdout, "\nIn the report")
			listed = regexp.MustCompile(`/\n {16}(\S)`).ReplaceAllString(listed, "/$1")  // names
			listed = regexp.MustCompile(`\n {18}(\S)`).ReplaceAllString(listed, "   $1") // and their steps
			found := map[string][]string{}
			for _, m := range line.FindAllStringSubmatch(listed, -1) {
				found[m[1]] = append(found[m[1]], regexp.MustCompile(`[0-9.]+`).FindAllString(m[2], -1)...)
			}
			var numbers []int
			objects := todo.Objects
			if len(objects) == 0 {
				objects = []string{"the restore as a whole"}
			}
			for _, object := range objects {
				labels, there := found[object]
				if !there {
					t.Errorf("%s: explain %s does not list %s:\n%s", name, todo.Code, object, explained.Stdout)
				}
				for _, l := range labels {
					l, _, _ = strings.Cut(l, ".")
					if n, err := strconv.Atoi(l); err == nil {
						numbers = append(numbers, n)
					}
				}
			}
			for _, n := range todo.Steps {
				if steps++; !slices.Contains(numbers, n) {
					t.Errorf("%s: explain %s has no step %d of %v, but %v:\n%s", name, todo.Code, n, todo.Steps, numbers, explained.Stdout)
				}
			}
		}
		if steps < 3 {
			t.Errorf("%s: only %d steps", name, steps)
		}
	}
}

// What explain says of any code, alone and of a report, is no wider than a terminal.
func TestExplainFitsATerminal(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.Detect()
	found, err := readFound(filepath.Join(w.Dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	found.file = "report.json"
	wide := "instance /" + strings.Repeat("long/", 40)
	found.report.InfraMachines[0].Instance.Path = strings.TrimPrefix(wide, "instance ")
	for _, of := range []*explainedReport{nil, found} {
		o := explainOptions{found: of, program: "drift-detector", named: true}
		for _, c := range codeNames() {
			rows, err := codesNamed([]string{c})
			if err != nil {
				t.Fatal(err)
			}
			for row := range strings.Lines(string(o.print(rows, true))) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(row, "\n")); n > 80 {
					t.Errorf("%s: %d columns: %q", c, n, row)
				}
			}
		}
	}
}

// Steps are named as people do: a part of a step that is named as a whole is said with it.
func TestStepsInWords(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "8": "step 8", "8.2": "step 8.2", "8.2 8.3": "steps 8.2 and 8.3", "8.2 8.3 8": "step 8 (8.2 and 8.3)", "8 8.2": "step 8 (8.2)",
		"3 8.2 8": "steps 3 and 8 (8.2)", "3.1 8.2 8.3 8 11": "steps 3.1, 8 (8.2 and 8.3) and 11", "18 8.1": "steps 18 and 8.1",
	} {
		if got := stepsInWords(strings.Fields(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
