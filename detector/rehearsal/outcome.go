package rehearsal

import (
	"cmp"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// phrases say of a machine what the outcomes of machines are.
var phrases = map[code.Outcome]string{
	code.Adopted:                      "adopted",
	code.AdoptedPoweredOn:             "adopted and powered on",
	code.AdoptedByName:                "adopted by its name",
	code.Stuck:                        "broken until you act",
	code.StuckNodeLeft:                "broken until you act, although its Node is there",
	code.ReplacedByMachineHealthCheck: "replaced by its health check",
	code.OrphanedAndReplaced:          "left without a Machine, beside a new one",
	code.GhostKeepsRunning:            "left without a Machine",
	code.NewInstanceCreated:           "given a new instance",
	code.RolledByOwner:                "replaced by its owner",
	code.DeletedByOwner:               "deleted by its owner",
	code.DeletedByMachineHealthCheck:  "deleted by its health check, without a new one",
	code.MemberGone:                   "deleted with the member that is gone",
	code.Halted:                       "left as it is by its controller",
	code.NewInstanceNeverJoins:        "given a new instance that never joins",
	code.OtherInstanceTaken:           "given another instance of its name",
	code.CannotKnow:                   "not known",
}

// stuck are the outcomes that need action.
var stuck = map[code.Outcome]bool{code.Stuck: true, code.StuckNodeLeft: true, code.NewInstanceNeverJoins: true, code.OtherInstanceTaken: true}

// outcomeRow is one row of the table.
type outcomeRow struct {
	Name    string
	Fits    func(*machine) bool
	Outcome code.Outcome
	Why     func(*machine) string
}

// clauses puts a second clause, if there is one, behind a first.
func clauses(first, second string) string {
	if second == "" {
		return first
	}
	return first + "; " + second
}

func say(text string) func(*machine) string { return func(*machine) string { return text } }

// outcomeRows is the table: the first row that fits decides.
var outcomeRows = []outcomeRow{
	{
		"ghost worker, or of unknown role", func(f *machine) bool { return f.ghost() && !f.verdict.ControlPlane }, code.GhostKeepsRunning,
		func(f *machine) string {
			const unnoticed = "no object refers to it, so that no controller notices it: "
			if f.off() {
				return unnoticed + f.runsOn()
			}
			return unnoticed + f.runsOn() + ", and keep their addresses"
		},
	},
	{
		"ghost control plane, etcd elsewhere", func(f *machine) bool { return f.ghost() && f.cluster.externalEtcd() }, code.GhostKeepsRunning,
		func(f *machine) string {
			return "no object refers to it, so that no controller notices it: " + f.runsOn() + "; etcd is external"
		},
	},
	{
		"ghost of another kind of control plane", func(f *machine) bool { return f.ghost() && f.cluster.control.Kind != kubeadm }, code.CannotKnow,
		func(f *machine) string {
			return f.runsOn() + "; what " + cmp.Or(f.cluster.control.Kind, "its control plane") + " does to an etcd member without a Machine is not known here"
		},
	},
	{
		"ghost control plane, paused", func(f *machine) bool { return f.ghost() && f.paused }, code.GhostEtcdMemberKept,
		func(f *machine) string {
			return f.cluster.keepsEtcd() + ": VM, Node and etcd member stay as they are until it is unpaused"
		},
	},
	{
		"ghost control plane beside one without a Node", func(f *machine) bool {
			return f.ghost() && f.cluster.nodeless > f.cluster.joining && !f.cluster.dropsNodeless()
		}, code.GhostEtcdMemberKept,
		func(f *machine) string {
			n := f.cluster.nodeless
			return fmt.Sprintf("%s; KubeadmControlPlane leaves etcd alone while %s no Node, and removes this member within seconds once %s gone",
				f.runsOn(), plural(n, "control-plane Machine has", "control-plane Machines have"), verb(n, "it is", "they are"))
		},
	},
	{
		"ghost control plane beside one that cannot be forecast", func(f *machine) bool {
			return f.ghost() && (f.cluster.undecided > 0 || f.cluster.recorded == 0 || f.cluster.stalled() || f.cluster.joining > 0)
		}, code.CannotKnow,
		func(f *machine) string {
			if n := f.cluster.joining; n > 0 {
				return "KubeadmControlPlane removes its etcd member as soon as " + plural(n, "Machine of the control plane that has no Node gets one", "Machines of the control plane that have no Node get one")
			}
			if f.cluster.stalled() {
				return "KubeadmControlPlane removes its etcd member only while etcd has a majority, and that depends on machines of the control plane that are stopped"
			}
			return "whether KubeadmControlPlane removes its etcd member depends on control-plane Machines whose state is not known"
		},
	},
	{
		"ghost control plane", func(f *machine) bool { return f.ghost() }, code.GhostEtcdMemberRemoved,
		func(f *machine) string {
			const removes = "KubeadmControlPlane removes etcd members without a Machine within seconds after its start; "
			if f.off() {
				return removes + f.runsOn()
			}
			return removes + "VM, Node, kubelet and API server keep running behind the endpoint"
		},
	},
	{
		"paused in part, by clusterctl", func(f *machine) bool { return f.cluster.moved() && f.pausedObject() != "" }, code.CannotKnow,
		func(f *machine) string {
			return f.pausedObject() + " has the annotation " + clusterv1.PausedAnnotation + ", and the controllers of its other objects do not wait for it, because clusterctl restores whose they are"
		},
	},
	{
		"paused", (*machine).pausedMachine, code.UntouchedPaused,
		func(f *machine) string { return f.whyPaused() },
	},
	{
		"infrastructure without Machine, owner short of machines", func(f *machine) bool { return f.orphan() && f.set.created > 0 }, code.OrphanedAndReplaced,
		func(f *machine) string {
			return leftOut + f.runsOn() + " without one, and the owner creates a new Machine because it is short of one"
		},
	},
	{
		"infrastructure without Machine", func(f *machine) bool { return f.orphan() }, code.GhostKeepsRunning,
		func(f *machine) string {
			return leftOut + f.runsOn() + " without one, and none is missing"
		},
	},
	{
		"of a controller that is not known", func(f *machine) bool {
			known := f.controller() != "" && f.cluster.controller.ID != ""
			return f.Machine != nil && !known && !f.reason(code.UnsupportedProvider)
		}, code.CannotKnow,
		func(f *machine) string {
			return "what the controller of provider " + cmp.Or(f.cluster.Provider, "none") + " does after a restore is not known here"
		},
	},
	{
		"member of a pool that is paused", func(f *machine) bool {
			return f.pool() && f.set.pausedPool() != "" && (f.verdict.Status != code.Healthy || f.reason(code.LeftPool))
		}, code.Halted,
		func(f *machine) string {
			return f.set.pausedPool() + " is paused: " + f.controller() + " neither creates members of its pool nor deletes the Machines of those that left it"
		},
	},
	{
		"member that left its pool", func(f *machine) bool { return f.pool() && f.verdict.Reason == code.PoolMember && !f.leftBehind() }, code.MemberGone,
		func(f *machine) string {
			return "its pool has replaced or dropped it: " + f.controller() + " deletes its Machine and infrastructure object, and creates those of new members"
		},
	},
	{
		"lives, and left its pool", func(f *machine) bool { return f.pool() && f.reason(code.LeftPool) }, code.DeletedByOwner,
		func(f *machine) string {
			return "its pool lists it no more: " + f.controller() + " deletes its Machine, and terminates the instance with it"
		},
	},
	{
		"member of a pool that is not there, or stopped", func(f *machine) bool {
			return f.pool() && !f.leftBehind() && (f.verdict.Status != code.Healthy || f.off() && !f.poweredOn() && f.waits() == "")
		}, code.CannotKnow,
		say("its pool creates and replaces its members by itself"),
	},
	{
		"its owner goes", func(f *machine) bool { return f.decided() && f.set.removed != "" }, code.DeletedByOwner,
		func(f *machine) string {
			return clauses(f.set.removed+": it is deleted with all its machines and their instances", f.ended())
		},
	},
	{
		"several owners select it", func(f *machine) bool { return f.decided() && f.contested != nil }, code.CannotKnow,
		func(f *machine) string {
			s := f.contested
			return s.Why + ": " + s.Does().What
		},
	},
	{
		"its controller does nothing for it", func(f *machine) bool {
			replaced := f.healthy() && f.unhealthy && f.remedied // which waits for nothing
			return f.decided() && f.halted() != "" && !replaced
		}, code.Halted,
		func(f *machine) string { return f.halted() },
	},
	{
		"its owner specifies another one", func(f *machine) bool {
			return f.rolled != "" && f.set.unmakeable == "" && (f.healthy() || f.stale() && (!f.verdict.ControlPlane || f.superseded()))
		}, code.RolledByOwner,
		func(f *machine) string {
			if f.superseded() {
				return f.rolled + ": its owner has created another, and deletes it"
			}
			return clauses(f.rolled+": its owner creates another and deletes it, one after the other", f.ended())
		},
	},
	{
		"asked to be replaced", func(f *machine) bool {
			return f.decided() && f.Machine.Remediate && f.remedied && f.set.unmakeable == ""
		}, code.ReplacedByMachineHealthCheck,
		func(f *machine) string { return clauses(f.replacement(), f.ended()) },
	},
	{
		"healthy, a template", func(f *machine) bool {
			finds := f.idRestored() || f.verdict.Finds == detector.FindsByName
			return f.healthy() && f.template() && finds
		}, code.Stuck,
		func(f *machine) string {
			return "its VM is a template now: " + f.controller() + " finds it, cannot run it and creates no other"
		},
	},
	{
		"its controller searches by name and takes another one, or any of several", func(f *machine) bool {
			other := f.verdict.Finds == detector.FindsOther && f.idRestored()
			return f.decided() && (other || f.verdict.Finds == detector.FindsSeveral)
		}, code.CannotKnow,
		func(f *machine) string { return f.noID() + ", and its search by name may take another instance" },
	},
	{
		"its controller searches by name, finds none, and cannot create one", func(f *machine) bool { return f.makesOne() && f.cannotBeMade() != "" }, code.Stuck,
		func(f *machine) string { return f.searched() + ", and no new one can be created: " + f.cannotBeMade() },
	},
	{
		"its controller searches by name, creates one, and cannot record its id", func(f *machine) bool {
			return f.makesOne() && f.obstacle(infra.OtherID) != "" && !f.replaced()
		}, code.NewInstanceNeverJoins,
		func(f *machine) string {
			return f.searchedAndMade() + ", whose id cannot be recorded: " + f.obstacle(infra.OtherID)
		},
	},
	{
		"its controller searches by name and finds none", func(f *machine) bool { return f.makesOne() && f.obstacle(infra.OtherID) == "" }, code.NewInstanceCreated,
		func(f *machine) string { return f.searchedAndMade() },
	},
	{
		"powered off, and a health check may not wait for it", func(f *machine) bool {
			return f.starts() && f.hurried() && (f.found() || f.verdict.Finds == detector.FindsByName)
		}, code.CannotKnow,
		func(f *machine) string {
			_, why := f.complaint()
			return "its VM is found by " + f.recognised() + ", and " + f.controller() + " powers it on, but " + why + ": unless its Node is Ready again before that acts, Machine and VM are deleted"
		},
	},
	{
		"healthy, powered off", func(f *machine) bool { return f.poweredOn() && f.found() }, code.AdoptedPoweredOn,
		func(f *machine) string {
			return "its VM is found by " + f.recognised() + ", and " + f.controller() + " powers it on at once"
		},
	},
	{
		"what its controller finds is not known", func(f *machine) bool {
			return f.verdict.Finds == detector.FindsUnknown && !f.pool() && (f.healthy() || f.stale() && !f.idRestored() && !f.unprovisioned())
		}, code.CannotKnow,
		func(f *machine) string { return f.noID() + ", and what its search by name finds is not known here" },
	},
	{
		"a health check deletes it, and none can be created", func(f *machine) bool {
			return f.decided() && f.unhealthy && f.remedied && f.set.unmakeable != ""
		}, code.DeletedByMachineHealthCheck,
		func(f *machine) string {
			_, why := f.complaint()
			return clauses(why+": the Machine is deleted, and its owner can create no other: "+f.set.unmakeable, f.ended())
		},
	},
	{
		"healthy, its Node is bad for a health check", func(f *machine) bool { return f.healthy() && f.unhealthy && f.remedied }, code.ReplacedByMachineHealthCheck,
		func(f *machine) string {
			goes := ", and its instance is deleted"
			if f.waits() == "" && f.halted() != "" {
				goes += " once that is resolved: " + f.halted()
			}
			return "its instance exists, but " + f.replacement() + cmp.Or(clauses("", f.ended()), goes)
		},
	},
	{
		"its instance is in its controller's way", func(f *machine) bool { return f.healthy() && f.blocked() != "" }, code.Halted,
		func(f *machine) string { return f.blocked() },
	},
	{
		"its controller searches by name and takes another one", func(f *machine) bool { return f.takesOther() && !f.replaced() }, code.OtherInstanceTaken,
		func(f *machine) string { return f.taken() },
	},
	{
		"healthy, its Node may not come, and a health check waits for it", func(f *machine) bool {
			return f.awaitsNode() && !f.off() && f.check != nil && f.awaiter() != nil && (f.replaceable() || f.awaiter().remediator() != "")
		}, code.CannotKnow,
		func(f *machine) string {
			h, does := f.awaiter(), "has the Machine deleted with its instance"
			if h.remediator() != "" {
				does = "leaves the Machine to " + h.remediator()
			}
			return fmt.Sprintf("it was being made when the backup was taken, and its instance runs without a Node: unless that comes, %s %s %s after the control plane is initialised", h.title(), does, h.timeout)
		},
	},
	{
		"healthy, found by name", func(f *machine) bool { return f.healthy() && f.verdict.Finds == detector.FindsByName && !f.found() }, code.AdoptedByName,
		func(f *machine) string {
			filled := f.noID() + ": it is found by its name, and the id is filled in"
			if f.verdict.ControlPlane && f.verdict.ByID {
				return filled + "; whether its bootstrap data is used again is not proven, and of a first control-plane machine that data creates a new cluster"
			}
			return filled
		},
	},
	{
		"healthy, stopped", func(f *machine) bool { return f.healthy() && f.off() }, code.Stuck,
		func(f *machine) string { return f.whyOff() },
	},
	{
		"healthy", func(f *machine) bool { return f.healthy() }, code.Adopted,
		func(f *machine) string {
			found := "its instance is found by " + f.recognised() + " and taken over as it is"
			switch {
			case f.unseen():
				return found + "; " + f.cluster.plane.Kind + " " + unseenMachine
			case f.stray || f.set != nil && f.ownerless():
				return found + "; nobody manages the Machine"
			}
			return found
		},
	},
	{
		"not provisioned, replaced", func(f *machine) bool { return f.unprovisioned() && f.remedied && f.failed() }, code.ReplacedByMachineHealthCheck,
		func(f *machine) string {
			return "it never got an instance, and " + f.replacement() + ", which fails likewise while the cause lasts"
		},
	},
	{
		"not provisioned, and could not be", func(f *machine) bool { return f.unprovisioned() && f.failed() }, code.Stuck,
		func(f *machine) string {
			return "it could not be provisioned before the backup either: " + f.cause()
		},
	},
	{
		"not provisioned, and cannot be", func(f *machine) bool { return f.unprovisioned() && f.cannotBeMade() != "" }, code.Stuck,
		func(f *machine) string {
			return "no id is recorded and no instance has its name, and no new one can be created: " + f.cannotBeMade()
		},
	},
	{
		"not provisioned", func(f *machine) bool { return f.unprovisioned() }, code.NewInstanceCreated,
		func(f *machine) string {
			return f.although("no id is recorded and no instance has its name: a new one is created")
		},
	},
	{
		"stale, replaced", func(f *machine) bool { return f.stale() && f.unhealthy && f.remedied }, code.ReplacedByMachineHealthCheck,
		func(f *machine) string { return f.meanwhile() + "; " + f.replacement() },
	},
	{
		"stale, Node left", func(f *machine) bool { return f.stale() && f.node != nil }, code.StuckNodeLeft,
		func(f *machine) string {
			return f.neverMade() + "; its Node " + f.node.Name + " is still registered, so that it looks joined; " + f.remedy
		},
	},
	{
		"stale", func(f *machine) bool { return f.stale() }, code.Stuck,
		func(f *machine) string { return f.neverMade() + "; " + f.remedy },
	},
	{
		"instance where its controller does not look", func(f *machine) bool {
			return f.outOfSight() && f.node != nil
		}, code.StuckNodeLeft,
		func(f *machine) string { return f.lost() + "; its Node " + f.node.Name + " is registered all the same" },
	},
	{
		"instance where its controller does not look, no Node", (*machine).outOfSight, code.Stuck,
		func(f *machine) string { return f.lost() },
	},
	{
		"unknown", func(*machine) bool { return true }, code.CannotKnow,
		func(f *machine) string {
			if why := f.obstacle(infra.Unread); f.reason(code.InstanceUnreadable) && why != "" {
				return "its instance cannot be read: " + why
			}
			return "the verdict is " + string(f.verdict.Status) + " (" + cmp.Or(string(f.verdict.Reason), "no reason") + "): whether there is an instance decides, and that is not known"
		},
	},
}
