package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// What people confirm of the lab's fleet is no question any more: neither of the answers nor of
// the plan, and a condition that names who says so.
func TestConfirmationsAreTaken(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	o := w.Detect()
	saved := filepath.Join(w.Dir, "before.json")
	if err := os.WriteFile(saved, o.JSON, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.Dir, "confirmed.yaml")
	say := func(as string, names ...string) {
		t.Helper()
		runs.Run(t, append(append([]string{"confirm", saved}, names...), "--as", as, "--by", "OPS-1", "-o", file)...).Demand(t, cli.ExitOK)
	}
	var vms []string
	for i := range o.Report.InfraMachines {
		vms = append(vms, o.Report.InfraMachines[i].Instance.Path)
	}
	say("notAMachine", vms...)
	say("leave", "/DC0/vm/capi/tenant-beta")
	say("givenUp", "tenant-alpha/alpha-dev")
	say("staysOff", "tenant-aws/aws-prod-md-1a-f7mmd-kplkg")
	say("leave", "tenant-gamma/gamma-edge-md-1-rrrv7-s6h7f")

	after := w.Detect("--confirmations", file)
	after.Demand(t, cli.ExitOK)
	r := after.Report
	for _, reasons := range [][]report.AnswerReason{r.Summary.Answer.Reasons, r.Summary.AnswerByPlan.Reasons} {
		for i := range reasons {
			if c := reasons[i].Code; c == code.InstancesToConfirm || c == code.InstancesStopped || c == code.MachinesMissing {
				t.Errorf("%s is a reason still, of %v", c, reasons[i].Objects)
			}
		}
	}
	for _, r := range r.Summary.AnswerByPlan.Reasons {
		if slices.ContainsFunc(r.Objects, func(o string) bool { return strings.Contains(o, "alpha-dev") }) {
			t.Errorf("by the plan %s is of the cluster that is given up: %v", r.Code, r.Objects)
		}
	}
	if !slices.ContainsFunc(r.Summary.Answer.Reasons, func(r report.AnswerReason) bool { return r.Code == code.ControlPlaneDown }) {
		t.Error("Velero restores a cluster that is given up, and the answer does not say it")
	}
	said := 0
	for _, n := range r.Summary.Answer.Conditions {
		if n.Code == code.OnTheWordOf && strings.Contains(n.Message, "OPS-1") {
			said++
		}
	}
	if said < 4 || said > 5 {
		t.Errorf("%d conditions name OPS-1", said)
	}
	for i := range r.ToDo {
		if d := &r.ToDo[i]; d.Decide && d.Code != code.InstancesStarted {
			t.Errorf("%s is to be decided still: %v", d.Code, d.Objects)
		}
	}
	out := slices.IndexFunc(r.ToDo, func(d report.ToDo) bool { return d.Code == code.ControlPlaneDown })
	if out < 0 || r.ToDo[out].Decide || !r.ToDo[out].Resolved || r.ToDo[out].Phase != code.Restoring || len(r.ToDo[out].Steps) != 1 || !strings.Contains(r.ToDo[out].Message, "on the word of OPS-1") {
		t.Errorf("the list does not say why the answer is NO: %+v", r.ToDo)
	}
	path := filepath.Join(w.Dir, "after.json")
	if err := os.WriteFile(path, after.JSON, 0o600); err != nil {
		t.Fatal(err)
	}
	plan := runs.Run(t, "plan", path)
	plan.Demand(t, cli.ExitOK)
	for _, not := range []string{"Ask its owner", "If you leave clusters out"} {
		if strings.Contains(plan.Stdout, not) {
			t.Errorf("the plan says %q", not)
		}
	}
	if !strings.Contains(plan.Stdout, "notin (alpha-dev)") {
		t.Error("the plan restores the cluster that is given up")
	}
	if !strings.Contains(plan.Stdout, `export SAID="${SAID:-`+file+`}"`) || !strings.Contains(plan.Stdout, `ready "${REPORT:?}" --confirmations "${SAID:?}"`) {
		t.Error("the plan does not name the file of confirmations")
	}
	text := runs.Run(t, "render", path, "--format", "text").Stdout
	if !strings.Contains(text, "CONFIRMED BY PEOPLE (") || !strings.Contains(text, "notAMachine, says OPS-1") {
		t.Errorf("the text does not say it:\n%s", text)
	}
}

// A confirmation that does not fit any more is listed, said and not taken; a file that
// contradicts itself or is none ends the run before anything is contacted.
func TestConfirmationsThatDoNotFit(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	o := w.Detect()
	i := slices.IndexFunc(o.Report.InfraMachines, func(m report.InfraMachine) bool { return m.Instance.Name == "jumphost-01" })
	v := o.Report.InfraMachines[i].Instance
	s := o.Report.Scopes[slices.IndexFunc(o.Report.Scopes, func(s report.Scope) bool { return s.Holds(&v) })]
	entry := func(vm, id, place, rest string) string {
		return "- {vm: " + vm + ", id: " + id + ", provider: vsphere, place: " + place + ", by: OPS-1, on: 2026-11-25, " + rest + "}\n"
	}
	file := filepath.Join(w.Dir, "confirmed.yaml")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("confirmations:\n"+strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		line  string
		state report.ConfirmationState
	}{
		"as it is":            {entry(v.Name, v.ID, s.Identity, "as: notAMachine"), report.ConfirmationTaken},
		"capitals":            {entry(v.Name, strings.ToUpper(v.ID), s.Identity, "as: leave"), report.ConfirmationTaken},
		"another id":          {entry(v.Name, "c8d5e690-c1ba-5046-ad82-8487620a36be", s.Identity, "as: notAMachine"), report.ConfirmationChanged},
		"gone":                {entry("nobody", "c8d5e690-c1ba-5046-ad82-8487620a36be", s.Identity, "as: notAMachine"), report.ConfirmationUnused},
		"of another report":   {entry(v.Name, v.ID, "11111111-1111-1111-1111-111111111111", "as: notAMachine"), report.ConfirmationUnused},
		"expired":             {entry(v.Name, v.ID, s.Identity, "as: notAMachine, expires: 2020-01-01"), report.ConfirmationExpired},
		"a cluster that runs": {"- {cluster: tenant-alpha/alpha-prod, as: givenUp, by: OPS-1, on: 2026-11-25}\n", report.ConfirmationChanged},
		"no such cluster":     {"- {cluster: tenant-alpha/nobody, as: givenUp, by: OPS-1, on: 2026-11-25}\n", report.ConfirmationUnused},
	} {
		write(c.line)
		after := w.Detect("--confirmations", file)
		after.Demand(t, cli.ExitOK)
		got := after.Report.Confirmations
		if len(got) != 1 || got[0].State != c.state {
			t.Errorf("%s: %+v", name, got)
		}
		if said := strings.Contains(after.Stderr, "is not taken"); said != (c.state != report.ConfirmationTaken) {
			t.Errorf("%s: stderr %q", name, after.Stderr)
		}
		if taken := after.Report.InfraMachines[i].Confirmed != nil; taken != (c.state == report.ConfirmationTaken) {
			t.Errorf("%s: confirmed is %v", name, taken)
		}
	}
	for name, lines := range map[string][]string{
		"unknown key":  {"- {vn: x}\n"},
		"unknown word": {entry(v.Name, v.ID, s.Identity, "as: mine")},
		"no id":        {"- {vm: x, provider: vsphere, place: p, as: leave, by: b, on: 2026-11-25}\n"},
		"no day":       {entry(v.Name, v.ID, s.Identity, "as: leave, expires: soon")},
		"of a cluster": {"- {cluster: a/b, as: leave, by: b, on: 2026-11-25}\n"},
	} {
		write(lines...)
		after := w.Detect("--confirmations", file)
		after.Demand(t, cli.ExitUsage)
		if after.Report != nil || strings.Count(after.Stderr, "\n") > 2 {
			t.Errorf("%s: %q", name, after.Stderr)
		}
	}
	write(entry(v.Name, v.ID, s.Identity, "as: leave"), strings.Replace(entry(v.Name, v.ID, s.Identity, "as: notAMachine"), "OPS-1", "OPS-2", 1))
	after := w.Detect("--confirmations", file)
	after.Demand(t, cli.ExitOK)
	if got := after.Report.Confirmations; len(got) != 2 || got[0].State != report.ConfirmationContradicted || got[1].State != report.ConfirmationContradicted || after.Report.InfraMachines[i].Confirmed != nil || !strings.Contains(after.Stderr, "OPS-2 says notAMachine of VM "+v.Name) {
		t.Errorf("two that contradict: %+v\n%s", got, after.Stderr)
	}
	for _, args := range [][]string{{"jumphost-01"}, {"jumphost-01", "--as", "leave", "--by", "x", "--expires", "2020-01-01"}, {"jumphost-01", "--as", "mine", "--by", "x"}, {"jumphost-01", "--as", "leave"}, {"nobody", "--as", "leave", "--by", "x"}, {"jumphost-01", "--as", "leave", "--by", "x", "--expires", "2027-02-30"}, {"jumphost-01", "--as", "given-up", "--by", "x"}} {
		saved := filepath.Join(w.Dir, "report.json")
		if err := os.WriteFile(saved, o.JSON, 0o600); err != nil {
			t.Fatal(err)
		}
		runs.Run(t, append([]string{"confirm", saved}, args...)...).Demand(t, cli.ExitUsage)
	}
}

// What one person wrote down, another does not take away: each keeps their own word, a change of
// one's own is said, and so is what contradicts.
func TestConfirmKeepsWhatOthersSaid(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	saved, file := filepath.Join(w.Dir, "others.json"), filepath.Join(w.Dir, "others.yaml")
	if err := os.WriteFile(saved, w.Detect().JSON, 0o600); err != nil {
		t.Fatal(err)
	}
	say := func(as, by string) runs.Outcome {
		t.Helper()
		out := runs.Run(t, "confirm", saved, "jumphost-01", "--as", as, "--by", by, "-o", file)
		out.Demand(t, cli.ExitOK)
		return out
	}
	say("leave", "K. Lee")
	if out := say("not-a-machine", "OPS-2"); !strings.Contains(out.Stderr, "OPS-2 says notAMachine of VM jumphost-01, and neither is taken: K. Lee says leave") {
		t.Errorf("a contradiction is not said: %s", out.Stderr)
	}
	if out := say("leave", "OPS-2"); !strings.Contains(out.Stderr, "replaced what OPS-2 said of VM jumphost-01 before: notAMachine") {
		t.Errorf("what was replaced is not said: %s", out.Stderr)
	}
	if out := runs.Run(t, "confirm", saved, "tenant-alpha/alpha-prod", "--as", "given-up", "--by", "OPS-2", "-o", filepath.Join(w.Dir, "alive.yaml")); out.Code != cli.ExitOK || !strings.Contains(out.Stderr, "Cluster tenant-alpha/alpha-prod is written down as givenUp, and detect will not take that") || !strings.Contains(out.Stderr, "would run on, and nothing would manage it") {
		t.Errorf("status %d, a cluster that lives is given up: %s", out.Code, out.Stderr)
	}
	if out := runs.Run(t, "confirm", saved, "jumphost-01", "--as", "leave", "--by", "x", "--expires", "2026-02-30"); !strings.Contains(out.Stderr, `--expires "2026-02-30" is no day`) {
		t.Errorf("a day that no calendar has: %s", out.Stderr)
	}
	all, err := readConfirmations([]string{file})
	if err != nil || len(all) != 2 || all[0].By != "K. Lee" || all[1].By != "OPS-2" {
		t.Errorf("%v: %+v", err, all)
	}
}
