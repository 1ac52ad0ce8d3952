package plan

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// hasChanging reports whether one of the commands of a step changes something.
func hasChanging(s *Step) bool {
	return slices.ContainsFunc(s.Commands, func(line string) bool {
		return slices.ContainsFunc(plantest.Changing, func(word string) bool { return strings.Contains(line, word) })
	})
}

// lineless returns the objects that the answer by the plan calls resolved by a line, and that no step
// of the plan with a line is about.
func lineless(r *report.Report) []string {
	pl, p := newPlanner(r, providerTools), New(r, providerTools)
	var out []string
	for _, reason := range r.Summary.AnswerByPlan.Resolved {
		if !code.Of(reason.Code).ByLine {
			continue
		}
		for _, object := range reason.Objects {
			done := pl.staysPaused(object)
			for _, s := range p.Sections {
				for _, c := range s.Chapters {
					for i := range c.Steps {
						step := &c.Steps[i]
						done = done || hasChanging(step) && (slices.Contains(step.about, object) || slices.Contains(step.about, reason.Until))
					}
				}
			}
			if !done {
				out = append(out, fmt.Sprintf("%s of %s", reason.Code, object))
			}
		}
	}
	return out
}

// What the answer by the plan calls resolved by a line has a line, in whatever reports: what has
// none stays, and the answer with it.
func TestTheResolvedHasALine(t *testing.T) {
	words := []code.Reason{code.MachinesMade, code.LivingReplaced, code.PoolScaledBack, code.PoolGrown, code.ClusterHalted, code.MachinesNotReady, code.MachinesDeleted, code.RolloutDue}
	seen := map[bool]int{}
	for seed := range uint64(300) {
		r, dice := plantest.AtRandom(sample("alpha"), seed), rand.New(rand.NewPCG(seed, 11))
		now, by := &report.SafeAnswer{Safe: code.No}, &report.PlanAnswer{}
		for i := range r.Clusters {
			c := &r.Clusters[i]
			objects := []string{"Cluster " + c.Title()}
			for j := range c.Workers.Groups {
				g := &c.Workers.Groups[j]
				g.Kind = "MachineDeployment"
				g.Forecast = &report.GroupForecast{Replicas: report.Replicas{Recorded: dice.IntN(3), Created: dice.IntN(3), Deleted: dice.IntN(8) / 7}}
				if dice.IntN(4) == 0 {
					g.Forecast.ManagedBy = "Argo CD"
				}
				objects = append(objects, g.Kind+" "+c.Namespace+"/"+g.Name)
				for k := range g.Machines {
					objects = append(objects, "Machine "+c.Namespace+"/"+g.Machines[k].Name)
				}
			}
			for _, o := range objects {
				reason := report.AnswerReason{Code: words[dice.IntN(len(words))], Message: "of " + o, Objects: []string{o}}
				now.Reasons = append(now.Reasons, reason)
				if dice.IntN(2) == 0 {
					by.Resolved = append(by.Resolved, reason)
				} else {
					by.Reasons = append(by.Reasons, reason)
				}
			}
		}
		r.Summary.Answer, r.Summary.AnswerByPlan = now, by
		Fill(r, providerTools)
		if got := lineless(r); len(got) > 0 {
			t.Fatalf("report %d: resolved without a line: %q", seed, got)
		}
		if by.Safe != report.SafeAfter(by.Reasons) {
			t.Errorf("report %d: %s of %d reasons", seed, by.Safe, len(by.Reasons))
		}
		for _, reason := range by.Resolved {
			seen[code.Of(reason.Code).ByLine]++
		}
		first := fmt.Sprint(*by)
		if Fill(r, providerTools); fmt.Sprint(*by) != first {
			t.Errorf("report %d: filled twice it is another: %v, %s", seed, *by, first)
		}
	}
	if seen[true] < 50 {
		t.Errorf("only %d are resolved by a line", seen[true])
	}
}

// Each object stays or is resolved on its own.
func TestOneOfTwoObjectsHasALine(t *testing.T) {
	r := sample("alpha")
	c, g := &r.Clusters[0], plantest.Group(r)
	g.Kind, g.Name, g.Desired, g.Forecast = "MachineDeployment", "md-0", plantest.Number(3), &report.GroupForecast{Replicas: report.Replicas{Recorded: 2, Created: 1}}
	reason := report.AnswerReason{Code: code.MachinesMade, Message: "New", Objects: []string{"MachineDeployment " + c.Namespace + "/md-0", "MachineDeployment " + c.Namespace + "/md-1"}}
	r.Summary.Answer, r.Summary.AnswerByPlan = &report.SafeAnswer{Reasons: []report.AnswerReason{reason}}, &report.PlanAnswer{Safe: code.Yes, Resolved: []report.AnswerReason{reason}}
	Fill(r, providerTools)
	by := r.Summary.AnswerByPlan
	if by.Safe != code.WithWork || len(by.Reasons) != 1 || len(by.Resolved) != 1 || by.Reasons[0].Objects[0] != reason.Objects[1] || by.Resolved[0].Objects[0] != reason.Objects[0] {
		t.Errorf("%+v", by)
	}
}

// A cluster that waits for the thumbprint of another certificate has a line that asks for it; one
// that waits for something else has none, and stays.
func TestAPinnedThumbprintHasALine(t *testing.T) {
	for _, tt := range []struct {
		row, kind, name string
		line            bool
	}{
		{rowCertificate, "VSphereCluster", "x", true},
		{rowCertificate, "VSphereCluster", "a;b", false},
		{"vsphere.C4", "VSphereCluster", "x", false},
		{rowCertificate, "Secret", "x", false},
	} {
		r := sample("alpha")
		c := &r.Clusters[0]
		reason := report.AnswerReason{Code: code.ClusterHalted, Objects: []string{"Cluster " + c.Title()}, Until: tt.kind + " " + c.Namespace + "/" + tt.name, Row: tt.row}
		r.Summary.Answer, r.Summary.AnswerByPlan = &report.SafeAnswer{Reasons: []report.AnswerReason{reason}}, &report.PlanAnswer{Reasons: []report.AnswerReason{reason}}
		Fill(r, providerTools)
		line := strings.Contains(planText(New(r, providerTools)), `{"spec":{"thumbprint":"`)
		if line != tt.line || (r.Summary.AnswerByPlan.Safe == code.Yes) != tt.line {
			t.Errorf("%+v: a line is %v, %s", tt, line, r.Summary.AnswerByPlan.Safe)
		}
	}
}

// A MachineSet that is not scaled ends the line: the MachineDeployment stays as it is, and the line
// fails.
func TestAMachineSetThatIsNotScaledEndsTheLine(t *testing.T) {
	r := sample("alpha")
	g := plantest.Group(r)
	g.Kind, g.Name, g.Desired, g.Forecast = "MachineDeployment", "md-0", plantest.Number(3), &report.GroupForecast{Replicas: report.Replicas{Recorded: 2, Created: 1}}
	lines, _ := newPlanner(r, providerTools).asRestored(&r.Clusters[0], []string{"MachineDeployment " + r.Clusters[0].Namespace + "/md-0"})
	for refused, want := range map[string]string{"none": "ms-1 ms-2 md-0", "ms-1": "", "ms-2": "ms-1"} {
		bin := t.TempDir()
		done := filepath.Join(bin, "done")
		for name, script := range map[string]string{
			"drift-detector": "cat > " + bin + "/asked",
			"kubectl": `case "$*" in
*" get machinesets"*) echo ms-1 ms-2 ;;
*" scale "*/` + refused + `" "*) exit 1 ;;
*" scale "*) echo "$*" | sed "s,.* scale [a-z.0-9-]*/,,; s, .*,," >> ` + done + ` ;;
esac`,
		} {
			if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("sh", "-c", lines[0].Text())
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "MGMT=m", "RESTORE=r", "REPORT=f"}
		out, err := cmd.CombinedOutput()
		text, _ := os.ReadFile(done)
		if got := strings.Join(strings.Fields(string(text)), " "); got != want || (err == nil) != (refused == "none") {
			t.Errorf("%s refused: scaled %q, %v: %s", refused, got, err, out)
		}
	}
}

// A reason that a line has to settle and that is of no object has none: it stays.
func TestAReasonOfNothingStays(t *testing.T) {
	r := sample("alpha")
	reason := report.AnswerReason{Code: code.MachinesMade, Message: "machines are made", Objects: []string{}}
	r.Summary.Answer, r.Summary.AnswerByPlan = &report.SafeAnswer{Reasons: []report.AnswerReason{reason}}, &report.PlanAnswer{Reasons: []report.AnswerReason{reason}}
	Fill(r, providerTools)
	if by := r.Summary.AnswerByPlan; by.Safe == code.Yes || len(by.Reasons) != 1 || len(by.Resolved) != 0 {
		t.Errorf("%+v", by)
	}
}
