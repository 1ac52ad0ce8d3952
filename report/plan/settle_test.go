package plan

import (
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// elsewhere are the reasons of an answer that are no step before a cluster is unpaused,
// with where the plan deals with them.
var elsewhere = map[code.Reason]string{
	code.BackupError: "the checks", code.BackupErrorsUnclear: "the checks", code.NewerBackup: "its first lines", code.ErrorsOccurred: "the errors", code.Incomplete: "the scopes", code.NoForecast: "a report with a forecast",
	code.NothingToCompare: "another backup", code.StatusNotHealthy: "whatever the status comes from", code.InstancesToConfirm: "the VMs to confirm",
	code.ClustersFirst: "the restore", code.CreatedFirst: "the restore", code.RefusedAtFirst: "the restore", code.ControlPlaneDown: "the control plane", code.GhostsLeft: "the Ghosts",
	code.MachinesUnknown: "the Unknown machines", code.CopiedID: "the copies", code.MachinesBroken: "the Stale machines", code.StaleReplaced: "nothing to do",
	code.InstancesStopped: "the machines that are off", code.ResourceMade: "nothing to do", code.PoolMachinesDeleted: "nothing to do",
}

// A reason for which the answer is not yes is dealt with in the plan, and in one place.
// That a pool has another size is one step, with its line, and not a second one without.
func TestAPoolIsScaledInOneStep(t *testing.T) {
	two := int64(2)
	for _, c := range []struct {
		code   code.Reason
		object string
		steps  int
	}{
		{code.PoolScaledBack, "MachinePool alpha/mp-0", 1},
		{code.PoolGrown, "MachinePool alpha/mp-0", 1},
		{code.PoolScaledBack, "MachinePool alpha/mp-1", 2}, // of which no number is known
		{code.PoolNotDecided, "MachinePool alpha/mp-0", 2},
	} {
		r := sample("alpha")
		r.Clusters[1].Workers.Groups = append(r.Clusters[1].Workers.Groups,
			report.Group{Kind: "MachinePool", Name: "mp-0", Pool: &report.Pool{State: code.Present, Desired: &two, Now: []string{plantest.EC2ID, plantest.EC2ID, plantest.EC2ID}}},
			report.Group{Kind: "MachinePool", Name: "mp-1", Pool: &report.Pool{State: code.Undecided}})
		r.Summary.Answer = &report.SafeAnswer{Reasons: []report.AnswerReason{{Code: c.code, Message: "The pool of " + c.object + " is another", Objects: []string{c.object}}}}
		n := 0
		for _, s := range New(r, providerTools).Sections[2].Chapters[1].Steps {
			if strings.Contains(s.Text, "mp-") {
				n++
			}
		}
		if n != c.steps {
			t.Errorf("%s of %s: %d steps, want %d", c.code, c.object, n, c.steps)
		}
	}
}

// The replicas of a group that creates machines are set to what was restored, and those of its
// MachineSet with them: where somebody else sets them, or it lacks something else, no line
// does that.
func TestAGroupIsScaledToWhatWasRestored(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.Group)
		line   bool
	}{
		"one is short":         {func(*report.Group) {}, true},
		"an autoscaler":        {func(g *report.Group) { g.Forecast.ManagedBy = "cluster autoscaler" }, false},
		"a topology":           {func(g *report.Group) { g.Topology = "md" }, false},
		"a rollout":            {func(g *report.Group) { g.Forecast.Rollout = &report.Rollout{} }, false},
		"others are deleted":   {func(g *report.Group) { g.Forecast.Replicas.Deleted = 1 }, false},
		"another difference":   {func(g *report.Group) { g.Forecast.Replicas.Created = 2 }, false},
		"replicas not known":   {func(g *report.Group) { g.Desired = nil }, false},
		"no form of an object": {func(g *report.Group) { g.Name = "md;0" }, false},
	} {
		r := sample("alpha")
		g := plantest.Group(r)
		g.Kind, g.Name, g.Desired, g.Forecast = "MachineDeployment", "md-0", plantest.Number(3), &report.GroupForecast{Replicas: report.Replicas{Recorded: 2, Created: 1}}
		c.change(g)
		object := "MachineDeployment " + r.Clusters[0].Namespace + "/" + g.Name
		r.Summary.Answer = &report.SafeAnswer{Reasons: []report.AnswerReason{{Code: code.MachinesMade, Message: object + " creates 1 machine", Objects: []string{object}}}}
		text := planText(New(r, providerTools))
		at := strings.Index(text, `"machinesets.cluster.x-k8s.io/$S" --current-replicas=3 --replicas=2`)
		if line := at >= 0 && strings.Contains(text[at:], "machinedeployments.cluster.x-k8s.io/md-0 --current-replicas=3 --replicas=2"); line != c.line {
			t.Errorf("%s: a line is %v", name, line)
		}
		if !strings.Contains(text, "those of its MachineSet, too") {
			t.Errorf("%s: nobody says that the MachineSet has replicas", name)
		}
	}
}

// Machines that a control plane finds by their owner alone get it again, with the uid that it has now,
// and the answer by the plan rests on that line.
func TestMachinesGetTheirOwnerAgain(t *testing.T) {
	for name, line := range map[string]bool{"prod": true, "prod\"}": false} {
		r := sample("alpha")
		c := &r.Clusters[0]
		c.ControlPlane.Kind, c.ControlPlane.Name = "RKE2ControlPlane", name
		object := "Cluster " + c.Namespace + "/" + c.Name
		reason := report.AnswerReason{Code: code.MachinesUnowned, Message: "it finds its Machines by ownerReference alone", Objects: []string{object}}
		r.Summary.Answer = &report.SafeAnswer{Safe: code.WithWork, Reasons: []report.AnswerReason{reason}}
		r.Summary.AnswerByPlan = &report.PlanAnswer{Safe: code.WithWork, Reasons: []report.AnswerReason{reason}}
		Fill(r, providerTools)
		text := planText(New(r, providerTools))
		for _, part := range []string{
			"get rke2controlplanes.controlplane.cluster.x-k8s.io/prod '--output=jsonpath={.metadata.uid}'", "cluster.x-k8s.io/cluster-name=" + c.Name + ",cluster.x-k8s.io/control-plane",
			`"kind":"RKE2ControlPlane","name":"prod","uid":"`, `"controller":true,"blockOwnerDeletion":true`,
		} {
			if strings.Contains(text, part) != line {
				t.Errorf("control plane %s: that a line has %s is not %v", name, part, line)
			}
		}
		if yes := r.Summary.AnswerByPlan.Safe == code.Yes; yes != line {
			t.Errorf("control plane %s: by the plan %s", name, r.Summary.AnswerByPlan.Safe)
		}
	}
}

func TestEveryReasonOfTheAnswerHasAPlaceInThePlan(t *testing.T) {
	for _, r := range code.Table {
		if r.Is(code.Answer) && (r.Plan == "") == (elsewhere[r.Code] == "") {
			t.Errorf("%s is neither settled nor elsewhere, or both", r.Code)
		}
	}
}

// No Stale machine whose controllers act, or cannot, is deleted by a line of its own.
func TestStaleMachinesThatTheirOwnersDealWith(t *testing.T) {
	for _, outcome := range []code.Outcome{
		code.RolledByOwner, code.DeletedByOwner, code.DeletedByMachineHealthCheck, code.Halted, code.ReplacedByMachineHealthCheck, code.NewInstanceCreated, code.OtherInstanceTaken,
	} {
		r := sample("alpha")
		m := plantest.Find(t, r, code.Stale, "worker")
		m.Forecast = &report.MachineForecast{Outcome: outcome, Message: "because of it"}
		steps := stepsOf(t, r, code.Stale, "worker")
		if len(steps) == 0 {
			t.Errorf("%s: no step", outcome)
		}
		for _, line := range commands(steps) {
			if deletesMachine(line) || strings.Contains(line, " scale ") {
				t.Errorf("%s: %s", outcome, line)
			}
		}
	}
}

// What makes the answer NO has a step in the plan: that running etcd members are removed, and
// that new instances never join, before the cluster is unpaused.
func TestReasonsAboutInstancesHaveAStep(t *testing.T) {
	for _, c := range []struct {
		reason code.Reason
		status code.Status
		role   report.Role
		object func(m *report.Machine) string
	}{
		{code.EtcdMembersRemoved, code.Ghost, "control-plane", func(m *report.Machine) string { return "instance " + m.Name }},
		{code.InstancesNeverJoin, code.Stale, "worker", func(m *report.Machine) string { return "Machine " + m.Namespace + "/" + m.Name }},
	} {
		r := sample("alpha")
		m := plantest.Find(t, r, c.status, c.role)
		r.Summary.Answer = &report.SafeAnswer{Safe: code.No, Reasons: []report.AnswerReason{{Code: c.reason, Message: "it does so", Objects: []string{c.object(m)}}}}
		var found []report.ToDo
		for _, do := range ToDo(r, providerTools) {
			if do.Code == c.reason {
				found = append(found, do)
			}
		}
		if len(found) != 1 || len(found[0].Steps) == 0 || found[0].Phase != code.Paused {
			t.Errorf("%s: %+v", c.reason, found)
		}
	}
}
