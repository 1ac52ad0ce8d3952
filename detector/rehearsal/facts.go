package rehearsal

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"drift-detector/report/code"
)

func (f *machine) ghost() bool  { return f.verdict.Status == code.Ghost }
func (f *machine) stale() bool  { return f.verdict.Status == code.Stale }
func (f *machine) orphan() bool { return f.Machine == nil && f.verdict.Status == code.Healthy }
func (f *machine) known() bool  { return f.Machine != nil || f.orphan() }
func (f *machine) pool() bool   { return f.Machine != nil && f.Machine.Pool != "" }
func (f *machine) healthy() bool {
	return f.Machine != nil && f.verdict.Status == code.Healthy
}

// leftBehind reports whether its instance is gone from its pool, and nobody deletes its Machine.
func (f *machine) leftBehind() bool {
	return f.pool() && f.stale() && f.verdict.Reason == code.PoolMember && f.waits() != ""
}

// decided reports whether it is known of a Machine whether its instance exists.
func (f *machine) decided() bool { return f.healthy() || f.Machine != nil && f.stale() }

func (f *machine) unprovisioned() bool { return f.stale() && f.verdict.Reason == code.NotProvisioned }

// startupTime is how long a machine may take to get its instance and its Node
// (Cluster API's own default, api/core/v1beta2 DefaultNodeStartupTimeoutSeconds v1.14.2).
const startupTime = 10 * time.Minute

// failed reports whether a machine without an instance had long enough to get one
// when the backup was taken, and said why it did not.
func (f *machine) failed() bool {
	if f.failure() != "" {
		return true
	}
	if f.Machine == nil || f.Machine.InfraMessage == "" {
		return false
	}
	taken := f.cluster.world.in.Snapshot.Backups[f.Machine.Backup].WrittenFrom
	return !taken.IsZero() && taken.Sub(f.Machine.Created) > startupTime
}

// failure returns why the machine's controller could make no instance, in its own words.
// What the Machine says of that may only count conditions.
func (f *machine) failure() string {
	if r := f.restore; r != nil {
		return r.Failure
	}
	return ""
}

// cause returns why a machine had no instance when the backup was taken.
func (f *machine) cause() string { return oneLine(cmp.Or(f.failure(), f.Machine.InfraMessage)) }

func (f *machine) warned(reason code.Reason) bool {
	for _, w := range f.verdict.Warnings {
		if w.Reason == reason {
			return true
		}
	}
	return false
}

func (f *machine) reason(any ...code.Reason) bool {
	for _, r := range any {
		if f.Machine != nil && f.verdict.Status == code.Unknown && f.verdict.Reason == r {
			return true
		}
	}
	return false
}

func (f *machine) nodesRead() bool { return f.cluster.read }

// controller returns the name of the infrastructure controller.
func (f *machine) controller() string { return f.cluster.controller.Name }

// neverMade returns why a machine whose id is recorded gets no new instance (CAPV
// pkg/services/govmomi/service.go v1.16.1, CAPA controllers/awsmachine_controller.go v2.11.1).
func (f *machine) neverMade() string {
	return f.controller() + " never creates a new instance for a machine whose id is recorded"
}

// lost returns why the controllers do not get hold of an instance that exists.
func (f *machine) lost() string {
	switch {
	case f.reason(code.InfraObjectMissing) && f.verdict.Instance == nil:
		return "its infrastructure object is not in the backup, so that no controller looks for an instance or creates one"
	case f.reason(code.InfraObjectMissing):
		return "its infrastructure object is not in the backup, so that no controller ties the Machine to the instance that exists"
	}
	return f.controller() + " looks for the recorded id in one place, and the instance is elsewhere or has another: it will not be found"
}

// complaint returns the row for which a health check calls the machine unhealthy, and why.
func (f *machine) complaint() (row, why string) {
	switch {
	case f.Machine.Remediate:
		return "core.H4", "annotation cluster.x-k8s.io/remediate-machine asks for it, and " + f.check.title() + " obeys at once"
	case f.minded != "":
		return "core.H6", f.check.title() + " minds that condition " + f.minded + " of its Machine does not hold"
	case f.verdict.ControlPlane && f.cluster.uninitialised:
		return "core.H7", fmt.Sprintf("%s waits %s for its Node, which nobody sees while the API server does not answer", f.check.title(), f.check.timeout)
	case f.node == nil && f.off():
		return "core.H8", f.check.title() + " finds its Node not Ready, because its instance does not run"
	case f.node != nil && f.check.mindsNode(f.node.Conditions) != "" && (f.node.Ready && !f.off() || !f.check.notReady):
		return "core.H8", f.check.title() + " finds condition " + f.check.mindsNode(f.node.Conditions) + " on its Node " + f.node.Name
	case f.node != nil:
		return "core.H8", f.check.title() + " finds its Node " + f.node.Name + " not Ready"
	default:
		return "core.H7", fmt.Sprintf("%s waits %s for its Node, counted from when the control plane is initialised", f.check.title(), f.check.timeout)
	}
}

// healer returns the first health check of the machine that leaves it to its owner, or nil.
func (f *machine) healer() *check {
	for _, h := range f.checks {
		if h.remediator() == "" {
			return h
		}
	}
	return nil
}

// awaiter returns the first health check that acts on the machine if its Node does not come, or nil.
func (f *machine) awaiter() *check {
	for _, h := range f.checks {
		if h.timeout > 0 {
			return h
		}
	}
	return nil
}

// hurried reports whether a health check may have the machine deleted before it has started: what its
// Node has been for longer than the check allows is too long at once (nodeChecks in
// internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.13.6).
func (f *machine) hurried() bool {
	if !f.unhealthy || !f.remedied {
		return false
	}
	row, _ := f.complaint()
	return row == "core.H8" || row == "core.H6"
}

// isHeld reports whether a health check calls the machine unhealthy, and leaves it alone only as long as
// too many are. One that is started has its Node again before that.
func (f *machine) isHeld() bool {
	return f.unhealthy && f.held && !f.starts() && f.check.actsOnFewer()
}

// doubt says of a machine that runs and that a health check calls unhealthy why nobody knows
// whether it is replaced, or is empty. That KubeadmControlPlane refuses while several Machines
// have no Node is true only of those that no health check calls unhealthy
// (HasHealthyMachineStillProvisioning in controlplane/kubeadm/internal v1.8.0,
// controlplane/kubeadm/pkg v1.14.0), and other control planes have rules of their own.
func (f *machine) doubt() string {
	if !f.healthy() || !f.unhealthy || f.remedied {
		return ""
	}
	allowed, _ := f.check.allows()
	switch h := f.check; {
	case !isForecast(f.minded) && allowed:
		return " for condition " + f.minded + " of the Machine: whether that holds is not known here"
	case h.remediator() != "":
		return " and leaves them to " + h.remediator() + ": what that does is not known here"
	case h.passesRange():
		return " and acts within " + h.spec.Remediation.TriggerIf.UnhealthyInRange + " alone. Until the Nodes of its machines are found again it counts those, too, and may pass that: whether it has these replaced is not known here"
	case f.isHeld():
		return ": " + f.remedy + ". Once fewer are, by a step of the plan or by themselves, it has these replaced"
	case f.verdict.ControlPlane && f.cluster.doubtful && allowed:
		return ". Whether they are replaced is not known here: " + f.cluster.remediation
	}
	return ""
}

// replacement returns why a health check calls the machine unhealthy, and who acts on that.
func (f *machine) replacement() string {
	_, why := f.complaint()
	if f.verdict.ControlPlane {
		text := why + ": KubeadmControlPlane deletes the Machine and creates another"
		if f.cluster.uninitialised && !f.cluster.externalEtcd() {
			text += ", with an empty etcd"
		}
		return text
	}
	return why + ": the Machine is deleted, and its " + f.Machine.Owner.Kind + " creates another"
}

// oneLine puts a message of several lines into one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
