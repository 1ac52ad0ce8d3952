package rehearsal

import (
	"fmt"
	"strings"

	"drift-detector/report/code"
)

// conditionRow says when an outcome holds or does not hold; it is empty when
// it has nothing to say about a machine. All rows that say something are joined.
type conditionRow func(*machine) string

// conditionRows are the conditions, the strongest first.
var conditionRows = []conditionRow{
	// Without its identity CAPV does not even begin, and Cluster API waits for it.
	func(f *machine) string {
		if len(f.cluster.halts) == 0 || f.outcome == code.GhostKeepsRunning || f.ghost() && f.paused {
			return ""
		}
		return f.cluster.until
	},
	func(f *machine) string {
		if !f.cluster.Derived || f.ghost() {
			return ""
		}
		return "only once its Cluster object, which the backup lacks, exists: without it no controller acts"
	},
	func(f *machine) string {
		switch r := f.restore; {
		case f.outcome != code.Halted:
			return ""
		case r != nil && len(r.Lacks) > 0:
			return "until " + strings.Join(r.Lacks, " and ") + " exists again"
		}
		return "until that is resolved"
	},
	func(f *machine) string {
		if !f.unbootstrapped() || f.outcome != code.Adopted && f.outcome != code.AdoptedPoweredOn {
			return ""
		}
		return fmt.Sprintf("but its Machine does not report Ready until %s %s, which the backup lacks, exists again", f.Machine.Bootstrap.Kind, f.Machine.Bootstrap.Name)
	},
	func(f *machine) string {
		if r := f.restore; r == nil || r.Unclaimed == "" || f.outcome != code.Adopted && f.outcome != code.AdoptedPoweredOn && f.outcome != code.AdoptedByName {
			return ""
		}
		return "only once it has an address from its pool again: the backup lacks " + f.restore.Unclaimed + ", and which address comes in its place is not known here"
	},
	// What is taken by its name may be late.
	func(f *machine) string {
		byName := f.found() && !f.idRestored() && f.outcome == code.Adopted || f.outcome == code.AdoptedPoweredOn || f.outcome == code.AdoptedByName
		if !byName {
			return ""
		}
		return f.cluster.controller.Late
	},
	func(f *machine) string {
		if f.outcome != code.OtherInstanceTaken {
			return ""
		}
		return "deleting the Machine terminates that instance, even if it was made by hand"
	},
	// Clusters before Machines: CAPV makes the VSphereVM before Velero does,
	// without its id, and then looks for the VM by folder and name.
	func(f *machine) string {
		if f.cluster.controller.ClustersFirst == "" || f.cluster.moved() || !f.stale() || f.unprovisioned() {
			return ""
		}
		return "only if Velero restores Clusters last, as by default: if first, " + f.controller() + " clones a new VM under the old name"
	},
	func(f *machine) string {
		if f.cluster.controller.ClustersFirst == "" || f.cluster.moved() || f.outcome != code.Adopted || !f.warned(code.Renamed) && !f.warned(code.Moved) {
			return ""
		}
		return "only if Velero restores Clusters last, as by default: if first, " + f.controller() + " does not find it by name and clones a second VM beside it"
	},
	func(f *machine) string {
		switch {
		case !f.warned(code.DuplicateID):
			return ""
		case f.cluster.controller.DeletesCopies:
			return "another VM has the same id, and may be the one that is found; deleting the Machine makes " + f.controller() + " destroy every VM of its datacenter with that id, one after the other"
		}
		return "another instance has the same id, and may be the one that is found; whether deleting the Machine deletes both is not known here"
	},
	func(f *machine) string {
		if !f.warned(code.Reidentified) {
			return ""
		}
		return "if that VM is the machine's and not a copy of it: both second keys differ"
	},
	func(f *machine) string {
		if f.ghost() || f.orphan() || f.stray || f.set.deleted == 0 || f.outcome == code.DeletedByOwner || f.outcome == code.MemberGone {
			return ""
		}
		if f.set.deleted == 1 {
			return "unless it is the Machine that its owner deletes at once, with its instance, because it has one more than its replicas; one without a Node goes first"
		}
		return fmt.Sprintf("unless it is among the %d Machines that its owner deletes at once, with their instances, because it has more than its replicas; those without a Node go first", f.set.deleted)
	},
	func(f *machine) string {
		switch s := f.set; {
		case !f.healthy() || f.stray || deletes[f.outcome]:
			return ""
		case f.rolled == "" && s.rolledSets[f.Machine.Set] != "":
			return "unless its owner deletes it at once: " + s.rolledSets[f.Machine.Set]
		case f.rolled != "" && s.unmakeable != "" && !s.idle():
			return "unless its owner deletes it before it creates another, which it cannot: " + s.unmakeable
		}
		return ""
	},
	func(f *machine) string {
		if f.outcome != code.AdoptedPoweredOn || !f.replaceable() || f.held {
			return ""
		}
		return "unless its Node is not Ready for longer than " + f.healer().title() + " allows: then Machine and VM are deleted and re-created"
	},
	func(f *machine) string {
		if !f.healthy() || deletes[f.outcome] || !f.isHeld() {
			return ""
		}
		return "unless fewer machines are unhealthy than now: then " + f.check.title() + " has its Machine and instance deleted"
	},
	func(f *machine) string {
		if f.outcome != code.ReplacedByMachineHealthCheck || f.check.starting == 0 {
			return ""
		}
		now := f.check.unhealthy + f.check.starting
		if ok, why := f.check.within(now, now); !ok {
			return "only once those run that are started or created: until then " + why
		}
		return ""
	},
	func(f *machine) string {
		if !f.healthy() || f.outcome != code.Stuck || !f.verdict.ControlPlane || f.cluster.remaking == "" {
			return ""
		}
		return "unless it is the Machine that KubeadmControlPlane deletes first: " + f.cluster.remaking
	},
	func(f *machine) string {
		if !deletes[f.outcome] || f.hooks() == "" {
			return ""
		}
		return "but only once annotation " + f.hooks() + " is taken away by what set it: until then its Machine stays"
	},
	func(f *machine) string {
		if f.outcome != code.ReplacedByMachineHealthCheck || f.nodesRead() {
			return ""
		}
		if f.stale() && !f.check.silent {
			return "unless its Node is still registered: the Node list was not read"
		}
		return "unless its Node is still registered and Ready: the Node list was not read"
	},
	func(f *machine) string {
		if f.outcome != code.RolledByOwner || !f.verdict.ControlPlane || f.cluster.nodeless == 0 {
			return ""
		}
		return "only once every Machine of the control plane has a Node: until then " + f.cluster.control.Kind + " waits"
	},
	func(f *machine) string {
		if f.outcome != code.NewInstanceCreated {
			return ""
		}
		return "the bootstrap token in the backup expires soon after it was created: the new instance may not be able to join"
	},
	func(f *machine) string {
		if f.outcome != code.Stuck || !f.unprovisioned() {
			return ""
		}
		return "until the cause is gone: then a new instance is created"
	},
	func(f *machine) string {
		if !f.ghost() || f.verdict.RoleKnown {
			return ""
		}
		return "if it is a worker: a ghost control-plane machine is an etcd member, too"
	},
}
