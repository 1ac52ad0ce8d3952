package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// The list has the reasons of both answers, what an object of a later one adds, and the
// conditions that a person has to see to; a check that is an error stands for the clusters that
// it halts.
func TestToDoHasWhatBothAnswersHave(t *testing.T) {
	r := &report.Report{
		Clusters: []report.Cluster{{Namespace: "t", Name: "a"}, {Namespace: "t", Name: "b", Paused: true}},
		Checks:   []report.Check{{Severity: code.CheckError, Code: code.IdentityAbsent, Object: "Identity i", Message: "not there"}},
	}
	r.Summary.Answer = &report.SafeAnswer{
		Safe: code.No,
		Reasons: []report.AnswerReason{
			{Code: code.BackupError, Message: "not fit", Objects: []string{"Identity i"}},
			{Code: code.ClusterHalted, Message: "halted", Objects: []string{"Cluster t/a"}, Until: "Identity i"},
			{Code: code.InstancesToConfirm, Message: "may", Objects: []string{"instance x"}},
			{Code: code.GhostsLeft, Message: "run on", Objects: []string{"instance y"}},
		},
		Conditions: []report.Note{{Code: code.OldManagementCluster}, {Code: code.NewestBackup}, {Code: code.UnpausedClusters}},
	}
	r.Summary.AnswerByPlan = &report.PlanAnswer{
		Safe: code.Unclear,
		Reasons: []report.AnswerReason{
			{Code: code.InstancesToConfirm, Message: "may", Objects: []string{"instance x"}},
			{Code: code.SecondInstance, Message: "twice", Objects: []string{"Machine t/m"}},
		},
		Resolved: []report.AnswerReason{{Code: code.BackupError}, {Code: code.ClusterHalted}, {Code: code.GhostsLeft, Message: "run on", Objects: []string{"instance y", "instance z"}}},
	}
	Fill(r, providerTools)
	var got []string
	for i := range r.ToDo {
		td := &r.ToDo[i]
		if td.Objects == nil || td.Steps == nil {
			t.Errorf("%s: a list is nil", td.Code)
		}
		got = append(got, fmt.Sprint(td.Phase, " ", td.Mark(), " ", td.Code, " ", td.Reason, td.Objects, " ", td.Decide, " ", td.Resolved))
	}
	want := []string{
		"before ! IdentityAbsent BackupError[Identity i] false true",
		"before ! OldManagementCluster [] false true",
		"before ? InstancesToConfirm [instance x] true false",
		"restore ! UnpausedClusters [] false true",
		"whilePaused ! SecondInstance [Machine t/m] false false",
		"after - GhostsLeft [instance y instance z] false true",
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// The phase of each thing to do is that of the first of its steps, whatever code it has and whatever
// it is about: nobody is sent to a step of another part of the plan.
func TestThePhaseIsThatOfTheStep(t *testing.T) {
	identity := report.Check{Severity: code.CheckError, Code: code.IdentityAbsent, Message: "not there", Do: "create it", Why: "it logs in"}
	absent := report.Check{Severity: code.CheckError, Code: "InfraMachineAbsent", Object: "VSphereMachine alpha/alpha", Clusters: []string{"alpha/alpha"}, Message: "not there"}
	seen := map[code.Phase]int{}
	for n, r := range many(t) {
		dice := rand.New(rand.NewPCG(uint64(n), 7))
		name := r.Clusters[0].Name
		lost := identity
		lost.Object = "VSphereClusterIdentity " + name
		r.Checks = append(r.Checks, lost, absent)
		if dice.IntN(2) == 0 {
			r.Clusters[0].Forecast = &report.ClusterForecast{Notes: []report.Note{{Code: code.IdentityAbsent, Message: "not there", Objects: []string{lost.Object}}}}
		}
		if dice.IntN(4) == 0 {
			r.Clusters[0].Confirmed = &report.Confirmed{As: "givenUp", By: "x", On: "2026-11-25"}
		}
		objects := []string{"Cluster " + r.Clusters[0].Title(), "Cluster " + r.Clusters[1].Title(), r.InfraMachines[0].Instance.Object(), "MachineDeployment " + r.Clusters[0].Title(), "instance " + name}
		for i := range r.Clusters {
			for _, s := range r.Clusters[i].Sets() {
				for k := range s.Machines {
					objects = append(objects, "Machine "+s.Machines[k].Namespace+"/"+s.Machines[k].Name)
				}
			}
		}
		now, by := &report.SafeAnswer{Safe: code.No, Conditions: []report.Note{{Code: code.OldManagementCluster}, {Code: code.UnpausedClusters}}}, &report.PlanAnswer{Safe: code.No}
		for _, row := range code.Table {
			if !row.Is(code.Answer) || dice.IntN(2) == 0 {
				continue
			}
			reason := report.AnswerReason{Code: row.Code, Message: "it is so"}
			for _, o := range objects {
				if dice.IntN(3) == 0 {
					reason.Objects = append(reason.Objects, o)
				}
			}
			if row.Code == code.BackupError {
				reason.Objects = []string{lost.Object, absent.Object}
			}
			now.Reasons = append(now.Reasons, reason)
			if dice.IntN(2) == 0 {
				by.Reasons = append(by.Reasons, reason)
			}
		}
		r.Summary.Answer, r.Summary.AnswerByPlan = now, by
		p := New(r, providerTools)
		phases := map[int]code.Phase{}
		for _, s := range p.Sections {
			of := map[string]code.Phase{Before: code.Before, Restore: code.Restoring, After: code.After}[s.Phase]
			for i := range s.Chapters {
				c, own := &s.Chapters[i], of
				if of == code.After {
					own = code.Paused
				}
				for k := range c.Steps {
					number, _ := c.place(k)
					phases[number] = own
				}
				for k := range c.Batches {
					phases[c.Batches[k].Number] = of
				}
			}
		}
		for _, d := range p.toDo() {
			if len(d.Steps) == 0 {
				continue
			}
			seen[d.Phase]++
			if at := phases[d.Steps[0]]; at != d.Phase {
				t.Errorf("report %d: %s %v is for %q, and its first step of %v for %q", n, d.Code, d.Objects, d.Phase, d.Steps, at)
			}
		}
	}
	for _, phase := range code.Phases() {
		if seen[phase] == 0 {
			t.Errorf("nothing was for %s", phase)
		}
	}
}

// What the plan writes before and applies while the clusters are paused is in the list for both.
func TestAnIdentityIsAppliedWhilePaused(t *testing.T) {
	r := sample("alpha")
	object := "VSphereClusterIdentity alpha"
	r.Checks = []report.Check{{Severity: code.CheckError, Code: code.IdentityAbsent, Object: object, Message: "not there", Do: "create it", Why: "it logs in"}}
	r.Summary.Answer = &report.SafeAnswer{Safe: code.No, Reasons: []report.AnswerReason{{Code: code.BackupError, Message: "not fit", Objects: []string{object}}}}
	for _, waits := range []bool{false, true} {
		want := "before[alpha]"
		if waits {
			r.Clusters[0].Forecast.Notes = []report.Note{{Code: code.IdentityAbsent, Message: "not there", Objects: []string{object}}}
			want = "before[alpha] whilePaused[alpha]"
		}
		p := New(r, providerTools)
		var got []string
		for _, d := range p.toDo() {
			got = append(got, fmt.Sprint(d.Phase, d.Objects))
			if len(d.Steps) != 1 || strings.Contains(d.Message, "after the restore") != (waits && d.Phase == code.Before) {
				t.Errorf("waits %v: %+v", waits, d)
			}
		}
		if want = strings.ReplaceAll(want, "alpha", object); strings.Join(got, " ") != want {
			t.Errorf("waits %v: %q, want %q", waits, got, want)
		}
	}
}
