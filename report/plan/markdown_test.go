package plan

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
	bin := install(t, "#!/bin/sh\necho \"${0##*/} $*\" >>\"$RECORD\"\n"+behaviour)
	calls := make([]string, len(blocks))
	for i, block := range blocks {
		record := filepath.Join(t.TempDir(), "record")
		cmd := exec.Command("sh", writeScript(t, unset.ReplaceAllString(filled+strings.Join(block, "\n"), "$1='filled'")))
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

// filled sets the variables that are at the top of a runbook, and those that
// another fence of the same item asks for.
var filled = func() string {
	text := ""
	for _, name := range []string{"REPORT", "MGMT", "OLD_MGMT", "BACKUP", "RESTORE", "VELERO_NAMESPACE", "ETCD_POD", "VCENTER_1", "VCENTER_2", "AWS_1", "CTX_ALPHA_ALPHA", "CTX_ALPHA_ALPHA2", "CTX_BETA_BETA", "NODE"} {
		text += name + "=filled\n"
	}
	return text
}()

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
		if strings.Contains(calls, "drift-detector ready ") && !slices.ContainsFunc(changing, func(w string) bool { return strings.Contains(calls, w) }) {
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
	Fill(r, providerTools)
	ends := 0
	for _, block := range blocks {
		for i := range block {
			block[i] = strings.TrimSuffix(block[i], " &&")
		}
		if strings.HasPrefix(block[0], "export ") {
			continue
		}
		if slices.ContainsFunc(block, destroys) {
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

// everyStep returns each step of a plan: of findings, and of the restore as a whole.
func everyStep(r *report.Report) []report.Step {
	out := allSteps(r)
	for _, s := range New(r, providerTools).Sections {
		for _, c := range s.Chapters {
			out = append(out, plain(c.Steps)...)
		}
	}
	return out
}

// That one Cluster of the old management cluster can't be paused keeps no other from it.
func TestEveryClusterOfTheOldManagementClusterIsPaused(t *testing.T) {
	steps := New(sample("alpha"), providerTools).Sections[0].Chapters[0].Steps
	for _, line := range commands(steps) {
		if !strings.Contains(line, `{"spec":{"paused":true}}`) {
			continue
		}
		o := try(t, line, `*" get clusters"*go-template*) echo "n/a m/b "; exit ;;`, `*patch*) exit 1 ;;`)
		if !o.did("--namespace=n patch clusters.cluster.x-k8s.io/a ") || !o.did("--namespace=m patch clusters.cluster.x-k8s.io/b ") || strings.Count(o.printed, "not paused") != 2 {
			t.Errorf("%q, %s", o.calls, o.printed)
		}
		if o := try(t, line, "*) exit 1 ;;"); o.did(" patch ") {
			t.Errorf("%q", o.calls)
		}
		return
	}
	t.Error("nothing pauses them")
}

// A VM that still runs is not destroyed, even if the step before was left out.
func TestWhatRunsIsNotDestroyed(t *testing.T) {
	for runs, want := range map[string]int{"case \"${0##*/} $*\" in\n" + stops(" --state=off ") + "\nesac\n": 0, "": 3} {
		calls := strings.Join(paste(t, fences(asMarkdown(t, sample("alpha"))), runs+answers), "")
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
		bin := install(t, "#!/bin/sh\ncase \"$*\" in *delete*|*remove*|*drain*|*detach*|*deregister*) echo changed ;; esac\n"+answers)
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
	p := New(r, nil)
	if p.Unknown == nil {
		t.Fatal("nothing is unknown")
	}
	for name, write := range map[string]func(io.Writer, Plan) error{"Markdown": Markdown, "shell": Shell} {
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
