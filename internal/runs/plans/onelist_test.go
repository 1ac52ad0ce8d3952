package plans_test

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/screen"
)

// toDoLine is a thing to do that a format prints: code, steps, and the line, whose names are
// as they are.
type toDoLine struct{ code, steps, line string }

// lists read the list out of each format.
var lists = map[string]func(document string) []toDoLine{
	"screen": func(s string) []toDoLine {
		return toDoLines(s, `(?m)^.{7} +(?P<steps>[0-9][0-9 -]*)? +[!?=-] (?P<code>[A-Z]\w+)  ?.*$`)
	},
	"text": func(s string) []toDoLine {
		_, s, _ = strings.Cut(s, "\n\n")
		s, _, _ = strings.Cut(s, "\nMachines ")
		return toDoLines(s, `(?m)^  [!?=-] (?:decide +)?(?P<code>[A-Z]\w+) .*?(?:\(steps? (?P<steps>[0-9 -]+)\).*)?$`)
	},
	"markdown": func(s string) []toDoLine {
		s = strings.ReplaceAll(s, "`", "")
		var out string
		for _, title := range []string{"Before the restore", "The restore", "While paused", "Later"} {
			if _, section, ok := strings.Cut(s, "\n### "+title+" ("); ok {
				section, _, _ = strings.Cut(section, "\n#")
				out += section + "\n"
			}
		}
		return toDoLines(strings.ReplaceAll(out, `\`, ""), `(?m)^- (?:\*\*decide\*\* )?(?P<code>[A-Z]\w+): .*?(?:\(steps? (?P<steps>[0-9 -]+)\))?$`)
	},
	"html": func(s string) []toDoLine {
		var all []string
		for _, line := range regexp.MustCompile(`(?s)<li class="due".*?</li>`).FindAllString(s, -1) {
			all = append(all, html.UnescapeString(strings.ReplaceAll(line, "\n", " ")))
		}
		return toDoLines(strings.Join(all, "\n"), `(?m)^<li class="due" data-code="(?P<code>\w+)" data-steps="(?P<steps>[0-9 -]*)".*$`)
	},
	"plan": func(s string) []toDoLine {
		s = strings.NewReplacer("`", "", `\`, "").Replace(s)
		_, s, _ = strings.Cut(s, "\n## What is to be done\n")
		s, _, _ = strings.Cut(s, "\n| # |")
		return toDoLines(s, `(?m)^- (?:Before the restore|The restore|While paused|Later): (?:decide )?(?P<code>[A-Z]\w+): .*?(?:\(steps? (?P<steps>[0-9 -]+)\))?$`)
	},
	"plan as a script": func(s string) []toDoLine {
		_, s, _ = strings.Cut(s, "## ======== WHAT IS TO BE DONE\n")
		s, _, _ = strings.Cut(s, "\n\n## ========")
		s = strings.ReplaceAll(s, "\n##   ", " ")
		return toDoLines(s, `(?m)^## - (?:Before the restore|The restore|While paused|Later): (?:decide )?(?P<code>[A-Z]\w+): .*?(?:\(steps? (?P<steps>[0-9 -]+)\))?$`)
	},
	"junit": func(s string) []toDoLine {
		return toDoLines(s, `(?m)^(?:Before the restore|The restore|While paused|Later): [!?=-] (?:decide )?(?P<code>[A-Z]\w+) .*?(?:\(steps? (?P<steps>[0-9 -]+)\).*)?$`)
	},
}

func toDoLines(s, pattern string) []toDoLine {
	re := regexp.MustCompile(pattern)
	var out []toDoLine
	for _, m := range re.FindAllStringSubmatch(s, -1) {
		out = append(out, toDoLine{m[re.SubexpIndex("code")], strings.TrimSpace(m[re.SubexpIndex("steps")]), m[0]})
	}
	return out
}

// numbers returns those that a text of steps names.
func numbers(text string) []int {
	var out []int
	for _, part := range strings.Fields(text) {
		from, to, is := strings.Cut(part, "-")
		a, _ := strconv.Atoi(from)
		b := a
		if is {
			b, _ = strconv.Atoi(to)
		}
		for n := a; n <= b; n++ {
			out = append(out, n)
		}
	}
	return out
}

// What is to be done about the four fleets is the same list in every format: codes, order,
// objects and numbers of steps; and each number leads to a step of the plan about that.
func TestOneListInEveryFormat(t *testing.T) {
	for name, serve := range runs.FourFleets {
		t.Run(name, func(t *testing.T) {
			saved := filepath.Join(t.TempDir(), "onelist.json")
			o := serve(t)
			if err := os.WriteFile(saved, o.JSON, 0o600); err != nil {
				t.Fatal(err)
			}
			r := o.Report
			if len(r.ToDo) < 2 {
				t.Fatalf("only %d things to do", len(r.ToDo))
			}
			places := r.Places()
			for format, read := range lists {
				got := read(inFormat(t, r, saved, format))
				if len(got) != len(r.ToDo) {
					t.Errorf("%s has %d things to do, the report %d: %v", format, len(got), len(r.ToDo), got)
					continue
				}
				for i := range r.ToDo {
					want := &r.ToDo[i]
					if got[i].code != string(want.Code) || !slices.Equal(numbers(got[i].steps), want.Steps) {
						t.Errorf("%s, number %d: %+v, want %s %v", format, i+1, got[i], want.Code, want.Steps)
					}
					named := 3 // of the things that it is about; the others are counted
					if format == "screen" || format == "html" {
						named = 1
					}
					for _, at := range places.At(want)[:min(named, len(want.Objects))] {
						if !strings.Contains(got[i].line, places.Short(at)) {
							t.Errorf("%s, number %d: no %s in %q", format, i+1, places.Short(at), got[i].line)
						}
					}
					if more := len(want.Objects) - named; more > 0 && !strings.Contains(got[i].line, fmt.Sprint("and ", more, " more")) {
						t.Errorf("%s, number %d: %d more are not counted in %q", format, i+1, more, got[i].line)
					}
				}
			}
			sameCodes(t, r, saved)
			leads(t, r, saved)
		})
	}
}

// inFormat returns a report as a format has it, with room for all.
func inFormat(t *testing.T, r *report.Report, saved, format string) string {
	t.Helper()
	if format == "screen" {
		var b strings.Builder
		if err := screen.Write(&b, r, screen.Options{Width: 400, Height: 500}); err != nil {
			t.Fatal(err)
		}
		s, _, _ := strings.Cut(b.String(), "CLUSTER ")
		return s
	}
	switch format {
	case "plan":
		return runs.Run(t, "plan", saved).Stdout
	case "plan as a script":
		return runs.Run(t, "plan", saved, "--format", "shell").Stdout
	}
	s := runs.Run(t, "render", saved, "--format", format).Stdout
	if format == "text" { // each thing in one line
		s = regexp.MustCompile(`\n    +`).ReplaceAllString(s, " ")
	}
	return s
}

// sameCodes demands that what is for programs has the codes of the list, in its order: those of
// reasons, for all that is to be done, and for what the plan leaves and resolves.
func sameCodes(t *testing.T, r *report.Report, saved string) {
	t.Helper()
	want := func(wanted func(*report.ToDo) bool) string {
		var out []string
		for i := range r.ToDo {
			d := &r.ToDo[i]
			if isCondition := d.Code == code.OldManagementCluster || d.Code == code.UnpausedClusters; wanted(d) && !isCondition && !slices.Contains(out, string(d.Code)) {
				out = append(out, string(d.Code))
			}
		}
		return strings.Join(out, " ")
	}
	junit := runs.Run(t, "render", saved, "--format", "junit").Stdout
	for property, wanted := range map[string]func(*report.ToDo) bool{
		"answer.reasons":        func(*report.ToDo) bool { return true },
		"answerByPlan.reasons":  func(d *report.ToDo) bool { return !d.Resolved },
		"answerByPlan.resolved": func(d *report.ToDo) bool { return d.Resolved },
	} {
		got := regexp.MustCompile(`<property name="` + property + `" value="([^"]*)"`).FindStringSubmatch(junit)
		if got == nil || got[1] != want(wanted) {
			t.Errorf("JUnit's %s is %q, want %q", property, got, want(wanted))
		}
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^drift_detector_answer_reasons\{code="(\w+)"\} \d+$`).FindAllStringSubmatch(runs.Run(t, "render", saved, "--format", "prometheus").Stdout, -1) {
		got = append(got, m[1])
	}
	if all := want(func(*report.ToDo) bool { return true }); strings.Join(got, " ") != all {
		t.Errorf("Prometheus has the reasons %q, want %q", got, all)
	}
}

// leads demands that the steps of a thing to do are about it, the first in its phase: each names one of its objects, and
// each object is named by one of them.
func leads(t *testing.T, r *report.Report, saved string) {
	t.Helper()
	places := r.Places()
	texts := map[int]string{}
	phases := map[string]string{} // of the plan, by step
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \|`).FindAllStringSubmatch(runs.Run(t, "plan", saved, "--all").Stdout, -1) {
		phases[row[1]] = row[2]
	}
	of := map[code.Phase]string{code.Before: "before", code.Restoring: "restore", code.Paused: "after", code.After: "after"}
	for i := range r.ToDo {
		todo := &r.ToDo[i]
		if len(todo.Steps) > 0 && phases[fmt.Sprint(todo.Steps[0])] != of[todo.Phase] {
			t.Errorf("%s is for %s, and step %d for %s", todo.Code, todo.Phase, todo.Steps[0], phases[fmt.Sprint(todo.Steps[0])])
		}
		about := map[string]bool{}
		for _, n := range todo.Steps {
			if texts[n] == "" {
				texts[n] = strings.ReplaceAll(runs.Run(t, "plan", saved, "--step", fmt.Sprint(n)).Stdout, `\`, "")
			}
			names := 0
			for _, at := range places.At(todo) {
				short := places.Short(at)
				_, last, ok := strings.Cut(short, "/")
				if !ok {
					last = short[strings.LastIndexByte(short, ' ')+1:]
				}
				if strings.Contains(texts[n], last) {
					about[at.Name], names = true, names+1
				}
			}
			if texts[n] == "" || names == 0 && len(todo.Objects) > 0 {
				t.Errorf("step %d of %s is not about %q:\n%s", n, todo.Code, todo.Objects, texts[n])
			}
		}
		if len(todo.Steps) > 0 && len(about) < len(todo.Objects) && todo.Safe != code.Unclear {
			t.Errorf("%s: of %q only %v are in steps %v", todo.Code, todo.Objects, about, todo.Steps)
		}
	}
}
