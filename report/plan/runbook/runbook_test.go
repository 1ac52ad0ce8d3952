package runbook

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/shell/shelltest"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan"
	"drift-detector/report/plan/plantest"
	"drift-detector/report/reporttest"
)

func TestBothFormsHoldEveryCommandOnce(t *testing.T) {
	r := sample("alpha")
	shell, markdown := asShell(t, r), asMarkdown(t, r)
	plan.Fill(r, providerTools)
	for _, step := range plantest.AllSteps(r) {
		for _, c := range step.Commands {
			if !strings.Contains(shell, "\n# "+c+"\n") {
				t.Errorf("the script lacks %s", c)
			}
			if !strings.Contains(markdown, "  "+c+"\n") && !strings.Contains(markdown, "  "+c+" &&\n") {
				t.Errorf("the Markdown lacks %s", c)
			}
		}
	}
}

// texted returns all texts of a plan that are for people.
func texted(p plan.Plan) []string {
	out := slices.Concat(p.Answer, p.Unknown)
	for _, r := range p.Checklist {
		out = append(out, r.What)
	}
	for _, v := range p.Variables {
		out = append(out, v.Meaning)
	}
	for _, s := range p.Sections {
		for _, c := range s.Chapters {
			out = append(append(out, c.Title), c.Notes...)
			for i := range c.Steps {
				out = append(out, c.Label(i), c.Steps[i].Text)
			}
			for _, b := range c.Batches {
				out = append(out, b.Title, b.Note, b.Forecast)
				for i := range b.Steps {
					out = append(out, b.Label(i), b.Steps[i].Text)
				}
				for _, item := range b.Items {
					out = append(out, item.Name, item.Detail, item.Forecast)
				}
			}
		}
	}
	return out
}

// Whatever a plan says and however it is folded, both forms say it: the script in full, and the
// Markdown once.
func TestBothFormsSayAllThatThePlanSays(t *testing.T) {
	r := sample("alpha")
	r.Checks = []report.Check{{Severity: code.CheckError, Code: "CertificateAbsent", Object: "Secret alpha/alpha-ca", Message: "it is absent", Why: "nobody trusts it", Do: "create it"}}
	for _, r := range []*report.Report{r, threefold("alpha"), plantest.Twice(t, threefold("alpha"))} {
		p := plan.New(r, providerTools)
		shell, markdown := inOneRow(strings.ReplaceAll(printed(t, Shell, p), "\n##", " ")), inOneRow(printed(t, Markdown, p))
		n := 0
		for _, text := range texted(p) {
			if text = inOneRow(text); text == "" {
				continue
			}
			n++
			if !strings.Contains(shell, text) {
				t.Errorf("the script lacks %s", text)
			}
			if first, _, _ := strings.Cut(text, ". "); !strings.Contains(markdown, prose(text)) && !strings.Contains(markdown, prose(first+". As in ")) && !strings.Contains(markdown, text) { // within a fence
				t.Errorf("the Markdown lacks %s", text)
			}
		}
		if n < 100 {
			t.Errorf("the plan has %d texts", n)
		}
	}
}

func inOneRow(text string) string { return strings.Join(strings.Fields(text), " ") }

// What a plan could not know both forms say before its first step, and only where there is something.
func TestWhatIsNotKnownIsAtTheTop(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.Report)
		says   int
	}{
		"complete":   {func(*report.Report) {}, 0},
		"incomplete": {func(r *report.Report) { r.Summary.Complete = false }, 1},
		"three things": {func(r *report.Report) {
			r.Options.SkipNodes, r.Options.IgnoreHealthy, r.Summary.Errors = true, true, 3
		}, 3},
		"a cut list": {func(r *report.Report) { r.InfraMachines = nil }, 1},
	} {
		r := sample("alpha")
		r.Clusters = r.Clusters[:1]
		r.Summary.Complete, r.Summary.Forecast = true, &report.GeneralForecast{}
		c.change(r)
		unknown := plan.New(r, providerTools).Unknown
		if len(unknown) != c.says {
			t.Errorf("%s: %q", name, unknown)
		}
		for kind, text := range map[string]string{"shell": asShell(t, r), "markdown": strings.ReplaceAll(asMarkdown(t, r), `\`, "")} {
			head, _, found := strings.Cut(strings.ToLower(text), "before the restore\n")
			head = inOneRow(strings.ReplaceAll(head, "\n##", " "))
			if !found || strings.Contains(head, "could not know") != (c.says > 0) {
				t.Errorf("%s: %s says so before the steps: %v", name, kind, c.says == 0)
			}
			for _, u := range unknown {
				if !strings.Contains(head, strings.ToLower(u)) {
					t.Errorf("%s: %s does not say before the steps: %s", name, kind, u)
				}
			}
		}
	}
}

// Whatever a report holds, its plan is printed.
func TestAnyReportHasARunbook(t *testing.T) {
	for seed := range uint64(60) {
		asMarkdown(t, reporttest.Random(seed))
	}
	asMarkdown(t, reporttest.HostileReport())
	for r := range plantest.Lacking(func() *report.Report { return sample("alpha") }) {
		asMarkdown(t, r)
	}
}

func TestNoRowHoldsWhatATerminalWouldNotShow(t *testing.T) {
	for _, name := range shelltest.Unprintable {
		r := sample(name)
		for kind, text := range map[string]string{"shell": asShell(t, r), "markdown": asMarkdown(t, r)} {
			for _, row := range strings.Split(text, "\n") {
				if terminal.Escape(row) != row {
					t.Errorf("%q: %s has the row %q", name, kind, row)
				}
			}
		}
	}
}

// What a report says about its own remediation is not printed.
func TestStepsOfTheReportAreNotPrinted(t *testing.T) {
	r := sample("alpha-prod")
	evil := []report.Step{{When: report.BeforeRestore, Who: report.Operator, Text: "trust me", Commands: []string{"rm -rf /"}}}
	for _, m := range []*report.Machine{plantest.Find(t, r, code.Ghost, "worker"), plantest.Find(t, r, code.Healthy, "control-plane")} {
		m.Remediation = evil
	}
	r.InfraMachines[0].Remediation = evil
	for kind, text := range map[string]string{"shell": asShell(t, r), "markdown": asMarkdown(t, r)} {
		if strings.Contains(text, "rm -rf") || strings.Contains(text, "trust me") {
			t.Errorf("%s repeats them", kind)
		}
	}
}

// What is one event is said where its machines are, before the restore or after
// it, and not twice.
func TestEventIsToldOnceAndWithItsMachines(t *testing.T) {
	const reported = "are most likely one event"
	r := sample("alpha")
	off := *plantest.Find(t, r, code.Healthy, "control-plane")
	off.Role, off.Warnings, off.Instance = "worker", []report.Warning{{Reason: "PoweredOff"}}, plantest.VSphereVM("off", "66666666-6666-6666-6666-666666666666", 8)
	for _, m := range []*[]report.Machine{&r.Clusters[0].ControlPlane.Machines, &plantest.Group(r).Machines} {
		*m = append([]report.Machine{off}, *m...)
	}
	heading, headings := "", []string{}
	for _, row := range strings.Split(asMarkdown(t, r), "\n") {
		if strings.HasPrefix(row, "#") {
			heading = row
		}
		if strings.Contains(row, reported) {
			headings = append(headings, heading)
		}
	}
	if want := []string{"#### 14. KubeadmControlPlane alpha: 1 Stale", "#### 18. MachineDeployment alpha: 1 Stale", "#### 19. MachineSet alpha: 1 Stale"}; !slices.Equal(headings, want) {
		t.Errorf("shown below %q, want %q", headings, want)
	}
}

// Every variable that a command reads is set at the top, and only those are.
func TestVariablesAreSetOnceAndUsed(t *testing.T) {
	text := asShell(t, sample("alpha-prod"))
	for _, v := range plan.New(sample("alpha-prod"), providerTools).Variables {
		if n := strings.Count(text, "export "+v.Name+`="${`+v.Name+":-"+v.Value+`}"`); n != 1 {
			t.Errorf("%s is set %d times", v.Name, n)
		}
		if !strings.Contains(text, "${"+v.Name+":?}") {
			t.Errorf("%s is never read", v.Name)
		}
	}
	for _, row := range strings.Split(text, "${") {
		name, _, ok := strings.Cut(row, ":?}")
		if ok && !strings.Contains(text, name+"='") && !strings.Contains(text, name+`="`) && !strings.Contains(text, name+"=etcd-") {
			t.Errorf("%s is never set", name)
		}
	}
}

type brokenWriter struct{ left int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

func TestErrorOfTheWriterIsTold(t *testing.T) {
	p := plan.New(sample("alpha"), providerTools)
	for _, left := range []int{0, 5000} {
		if err := Markdown(&brokenWriter{left}, p); err == nil {
			t.Errorf("Markdown is silent after %d bytes", left)
		}
		if err := Shell(&brokenWriter{left}, p); err == nil {
			t.Errorf("Shell is silent after %d bytes", left)
		}
	}
}
