package plan

import (
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// settled says what to do first, before a cluster is unpaused, about a reason for which
// the answer of the report is not yes. Reasons that are not here have steps of their own:
// at their machines, at the restore, or at the errors of the backup.
var settled = map[code.Reason]string{
	code.MachinesDeleted:    "Unless that is wanted, let the owners want what exists: set their replicas, or put back into the topology what it lacks.",
	code.RolloutDue:         "Unless that is wanted now, let the owners want what their machines are (version, template, rollout), or take a backup that is newer than the rollout.",
	code.LivingReplaced:     "Unless that is wanted, start what is off, see that their Nodes are Ready, and take the annotation cluster.x-k8s.io/remediate-machine away. Until then the lines keep health checks from them.",
	code.SecondInstance:     "Keep all their infrastructure objects paused until they have the ids of the instances that exist: two of one machine harm each other.",
	code.OtherInstance:      "Rename these instances first, or keep all infrastructure objects of the machines paused: deleting such a Machine ends an instance that is not its own.",
	code.ClusterHalted:      "Nothing is taken over before that is resolved.",
	code.ResourceUndecided:  "Look it up first: if it is gone, the cluster is not reconciled.",
	code.PoolNotDecided:     "Look the pool up first, and compare its size with the replicas of its MachinePool: the controller sets it to those.",
	code.OutcomeUnknown:     "Find out what becomes of these first, and watch them when it is unpaused.",
	code.SpecUnseen:         "Compare what it wants with what exists first.",
	code.OwnerHalted:        "Make again what is missing, as it was, or give the machines the labels that their owner selects: else nobody replaces them.",
	code.MachinesHalted:     "Their forecasts say what keeps their controller away: resolve that, or leave it so on purpose.",
	code.CannotReplace:      "Bring back what is missing first. Machines that are deleted before are not made again.",
	code.EtcdMembersRemoved: "If that is not wanted, keep the cluster paused, and take a backup that holds their Machines. Unpause it only if the members that stay are all there, and a majority of them answers.",
	code.MachinesMissing:    "Take a newer backup if there is one. Else compare the instances that run with the Machines that were restored, as new ones are made beside them.",
	code.MachinesMade:       "Unless that is wanted, let the owners want what exists.",
	code.PoolScaledBack:     "Unless that is wanted, let the MachinePool and its infrastructure object want what the pool has.",
	code.PoolGrown:          "Unless that is wanted, let the MachinePool and its infrastructure object want what the pool has.",
	code.InstancesStarted:   "Unless that is wanted, find out who stopped them, and whether another one runs in their place.",
	code.FoundByNameOnly:    "See that the instance of each name is the machine, and no copy of it.",
	code.MachinesNotReady:   "Make the bootstrap objects again from another backup or your sources.",
	code.HostedControlPlane: "See that its control plane runs and that its data is there.",
	code.RolloutScheduled:   "Unless that is wanted, take the time away.",
}

// settle comes before a cluster is unpaused: what the answer of the report says of it, and
// what to do about that. It reports whether there is anything.
func (pl *planner) settle(d *draft, c *report.Cluster) bool {
	if pl.reasonsOf == nil {
		pl.findReasons()
	}
	any := false
	for _, reason := range pl.reasonsOf[c] {
		r, own, first := reason.AnswerReason, reason.objects, settled[reason.Code]
		if first == "" {
			continue
		}
		any = true
		text := "Before it is unpaused: " + strings.TrimSuffix(r.Message, ".")
		if !strings.Contains(r.Message, strings.TrimPrefix(own[0], "Cluster ")) {
			text += ": " + listed(own)
		}
		d.after(text+". "+first, pl.spare(c, r.Code, own)...)
	}
	return any
}

// ownReason is a reason of the answer, with the objects of one cluster that it is about.
type ownReason struct {
	*report.AnswerReason
	objects []string
}

func (pl *planner) findReasons() {
	pl.reasonsOf = map[*report.Cluster][]ownReason{}
	if pl.Summary.Answer == nil {
		return
	}
	for i := range pl.Summary.Answer.Reasons {
		r := &pl.Summary.Answer.Reasons[i]
		for _, object := range r.Objects {
			for _, c := range pl.clustersOf(object) {
				all := pl.reasonsOf[c]
				if len(all) == 0 || all[len(all)-1].AnswerReason != r {
					all = append(all, ownReason{AnswerReason: r})
				}
				last := &all[len(all)-1]
				last.objects = append(last.objects, object)
				pl.reasonsOf[c] = all
			}
		}
	}
}

// listed names the first that a sentence is about, as errors do; the report has all.
func listed(names []string) string {
	return english.First(3, names)
}

// spare keeps MachineHealthChecks from living machines: one that has the annotation is
// none of their targets (Cluster API
// internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.10.0).
func (pl *planner) spare(c *report.Cluster, reason code.Reason, objects []string) []shell.Command {
	var lines []shell.Command
	for _, object := range objects {
		if name, ok := strings.CutPrefix(object, "Machine "+c.Namespace+"/"); ok && reason == code.LivingReplaced {
			lines = append(lines, restored(c.Namespace, machines+name).Then(manage(c.Namespace, "annotate", machines+name, "--overwrite", "cluster.x-k8s.io/skip-remediation=yes")))
		}
	}
	return lines
}
