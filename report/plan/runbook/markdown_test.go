package runbook

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan"
	"drift-detector/report/plan/plantest"
	"drift-detector/report/reporttest"
)

// indented is how far code is indented that has no fence.
const indented = "      "

// fences returns the blocks of code of a runbook: what a reader copies at once.
func fences(text string) [][]string {
	var out [][]string
	var block []string
	fence := ""
	end := func() {
		if block != nil {
			out, block = append(out, block), nil
		}
	}
	for _, row := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(row, " ")
		switch {
		case fence != "" && trimmed == fence:
			fence = ""
			end()
		case fence == "" && strings.HasPrefix(trimmed, "```"):
			end()
			fence = trimmed[:strings.LastIndexByte(trimmed, '`')+1]
		case fence != "" || strings.HasPrefix(row, indented):
			block = append(block, trimmed)
		default:
			end()
		}
	}
	return out
}

// paste gives a shell one fence after the other, each as a whole, with programs
// that record their calls and do as they are scripted. The operator has filled all
// values in.
func paste(t *testing.T, blocks [][]string, behaviour string) []string {
	t.Helper()
	bin := plantest.Install(t, "#!/bin/sh\necho \"${0##*/} $*\" >>\"$RECORD\"\n"+behaviour)
	calls := make([]string, len(blocks))
	for i, block := range blocks {
		record := filepath.Join(t.TempDir(), "record")
		cmd := exec.Command("sh", writeScript(t, unset.ReplaceAllString(plantest.Filled+strings.Join(block, "\n"), "$1='filled'")))
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RECORD="+record, "SAMPLE=alpha")
		_ = cmd.Run() // that it fails is what some of them are scripted to
		data, err := os.ReadFile(record)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		calls[i] = string(data)
	}
	return calls
}

// everyStep returns each step of a plan: of findings, and of the restore as a whole.
func everyStep(r *report.Report) []report.Step {
	out := plantest.AllSteps(r)
	for _, s := range plan.New(r, providerTools).Sections {
		for _, c := range s.Chapters {
			for _, step := range c.Steps {
				out = append(out, step.Step)
			}
		}
	}
	return out
}

// A terminal runs each line of what is pasted, whatever became of the one before:
// a drain that a PodDisruptionBudget refuses must not be followed by the end of
// the VM.
func TestPasteOfAFenceStopsAtTheFirstFailure(t *testing.T) {
	text := asMarkdown(t, sample("alpha"))
	if !strings.Contains(text, "within a block nothing runs after a command that failed, except in a loop") {
		t.Error("the reader does not read so")
	}
	blocks := fences(text)
	ran := 0
	for i, calls := range paste(t, blocks, "exit 1") {
		if strings.Contains(calls, "drift-detector ready ") && !slices.ContainsFunc(plantest.Changing, func(w string) bool { return strings.Contains(calls, w) }) {
			continue // it says what was not printed, and is no go then
		}
		n := strings.Count(calls, "\n") - strings.Count(calls, "drift-detector recheck ") - strings.Count(calls, " get --raw /apis") // before a pipe or behind one
		if strings.HasPrefix(calls, "drift-detector recheck ") && n == 0 {
			n = 1
		}
		ran += min(n, 1)
		if n > 1 {
			t.Errorf("after a failure there is more to come:\n%s\nof\n%s", calls, strings.Join(blocks[i], "\n"))
		}
	}
	if ran < 40 {
		t.Errorf("%d fences call something", ran)
	}
}

// What ends a VM, and what goes before it, are each a fence of their own.
func TestFenceHoldsOneStep(t *testing.T) {
	r := sample("alpha")
	blocks := fences(asMarkdown(t, r))
	plan.Fill(r, providerTools)
	ends := 0
	for _, block := range blocks {
		for i := range block {
			block[i] = strings.TrimSuffix(block[i], " &&")
		}
		if strings.HasPrefix(block[0], "export ") {
			continue
		}
		if slices.ContainsFunc(block, plantest.Destroys) {
			ends++
		}
		within := func(s report.Step) bool {
			return strings.Contains("\n"+strings.Join(s.Commands, "\n")+"\n", "\n"+strings.Join(block, "\n")+"\n")
		}
		if !slices.ContainsFunc(everyStep(r), within) {
			t.Errorf("these are not of one step:\n%s", strings.Join(block, "\n"))
		}
	}
	if ends != 6 { // off and away, for three Ghosts
		t.Errorf("%d fences end a VM, want 6", ends)
	}
}

// A VM that still runs is not destroyed, even if the step before was left out.
func TestWhatRunsIsNotDestroyed(t *testing.T) {
	for runs, want := range map[string]int{"case \"${0##*/} $*\" in\n" + plantest.Stops(" --state=off ") + "\nesac\n": 0, "": 3} {
		calls := strings.Join(paste(t, fences(asMarkdown(t, sample("alpha"))), runs+plantest.Answers), "")
		if got := strings.Count(calls, "govc vm.destroy") + strings.Count(calls, "terminate-instances"); got != want {
			t.Errorf("%q: %d VMs are destroyed, want %d", runs, got, want)
		}
	}
}

var asking = regexp.MustCompile(`^[A-Z][A-Z0-9_]*='' # `)

// Where the operator has to fill a value in, a paste of the fence as it is fails.
func TestFenceWithAnOpenValueDoesNothing(t *testing.T) {
	asked := 0
	for _, block := range fences(asMarkdown(t, sample("alpha"))) {
		if !asking.MatchString(block[0]) {
			if slices.ContainsFunc(block, asking.MatchString) {
				t.Errorf("the value is not the first thing:\n%s", strings.Join(block, "\n"))
			}
			continue
		}
		asked++
		name, _, _ := strings.Cut(block[0], "=")
		text := strings.Join(block[1:], "\n")
		if !strings.Contains(text, "${"+name+":?}") {
			t.Errorf("%s is not read: %s", name, text)
		}
		bin := plantest.Install(t, "#!/bin/sh\ncase \"$*\" in *delete*|*remove*|*drain*|*detach*|*deregister*) echo changed ;; esac\n"+plantest.Answers)
		cmd := exec.Command("sh", writeScript(t, strings.Join(block, "\n")))
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RECORD="+filepath.Join(t.TempDir(), "record"), "SAMPLE=alpha",
			"MGMT=x", "RESTORE=filled", "VCENTER_1=x", "AWS_1=x", "CTX_ALPHA_ALPHA=x", "CTX_ALPHA_ALPHA2=x")
		out, err := cmd.CombinedOutput()
		if err == nil || strings.Contains(string(out), "changed") {
			t.Errorf("it works with no value: %v\n%s\n%s", err, out, strings.Join(block, "\n"))
		}
	}
	if asked < 4 {
		t.Errorf("%d fences ask for a value", asked)
	}
}

// A sentence about all clusters of a large fleet names three of them.
func TestNoLineNamesAFleet(t *testing.T) {
	r := reporttest.Sized(100, 3)
	r.Summary.Answer = &report.SafeAnswer{Safe: code.Unclear, Reasons: []report.AnswerReason{{Code: code.LivingReplaced, Message: "m"}}}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		c.Self, c.Derived, c.Nodes.State = false, i > 0, "unreachable"
		for j := range 9 {
			r.Checks = append(r.Checks, report.Check{Severity: code.CheckError, Code: code.Reason(fmt.Sprint("C", j)), Object: "Cluster " + c.Namespace + "/" + c.Name, Message: "m"})
		}
		r.Summary.Answer.Reasons[0].Objects = append(r.Summary.Answer.Reasons[0].Objects, "Machine "+r.Clusters[0].Namespace+"/m-"+c.Name)
	}
	p := plan.New(r, nil)
	if p.Unknown == nil {
		t.Fatal("nothing is unknown")
	}
	for name, write := range map[string]func(io.Writer, plan.Plan) error{"Markdown": Markdown, "shell": Shell} {
		var b bytes.Buffer
		if err := write(&b, p); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if n := strings.Count(line, "cluster-"); n > 4 {
				t.Errorf("%s: %d clusters: %.300s", name, n, line)
			}
		}
	}
}

// outsideFences returns the rows of Markdown that are no code.
func outsideFences(text string) []string {
	var out []string
	fence := ""
	for _, row := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(row, " ")
		switch {
		case fence == "" && strings.HasPrefix(trimmed, "```"):
			fence = trimmed[:strings.LastIndexByte(trimmed, '`')+1]
		case fence != "" && trimmed == fence:
			fence = ""
		case fence == "" && !strings.HasPrefix(row, indented):
			out = append(out, row)
		}
	}
	return out
}

// span is code in a line, in which nothing is markup.
var span = regexp.MustCompile("`[^`]+`")

var markup = regexp.MustCompile(`(^|[^\\])[<>\[\]|]`)

// table is a row of the checklist: it has five cells, whatever names hold.
var table = regexp.MustCompile(`^\| (\d+|#) \|( ([^|\\]|\\.)* \|){4}$|^(\|---){5}\|$`)

func TestMarkdownShowsForeignTextAsText(t *testing.T) {
	headings := func(rows []string) (n int) {
		for _, row := range rows {
			if strings.HasPrefix(row, "#") {
				n++
			}
		}
		return n
	}
	want := headings(outsideFences(asMarkdown(t, sample("alpha"))))
	for _, name := range []string{"# x", "<b>x</b>", "[l](http://x)", "![i](x)", "|a|b|", "```", "````\n# x", "**x**", "x\n\n# y", "- [ ] x", "&lt;"} {
		rows := outsideFences(asMarkdown(t, sample(name)))
		if got := headings(rows); got != want {
			t.Errorf("%q: %d headings, want %d", name, got, want)
		}
		for _, row := range rows {
			row = strings.TrimPrefix(row, "- [ ] ")
			if table.MatchString(row) {
				row = strings.ReplaceAll(strings.ReplaceAll(strings.Trim(row, "|"), " | ", ""), "---|", "")
			}
			if m := markup.FindString(span.ReplaceAllString(row, "code")); m != "" {
				t.Errorf("%q: markup %q in %s", name, m, row)
			}
		}
	}
}

// A forge tells @team and links #12 wherever they are, but not in code.
func TestProseNotifiesNobody(t *testing.T) {
	if got, want := prose("ask @team, or `me` about #12, GH-1 at https://a.example"), "ask `@team,` or \\`me\\` about `#12,` `GH-1` at `https://a.example`"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
