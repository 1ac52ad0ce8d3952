package forecast

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// kubeadm is the control plane whose behaviour towards etcd is known.
const kubeadm = "KubeadmControlPlane"

// cluster is one cluster with all that its forecast rests on.
type cluster struct {
	*detector.Cluster
	controller   infra.Controller
	plane        set
	groups       []*set
	all          []*set // the control plane and the groups
	checks       []*check
	cover        *cover // of checks
	backups      []backup.Info
	index        *index
	managed      *topology // nil when it has none
	states       map[infra.Need]code.Presence
	halts        []standstill // why its controllers do nothing
	walked       []*walk.Step // steps of the walk that did not pass
	read         bool         // its Node list was read
	externalEtcd bool

	// What weigh finds out about the control plane.
	recorded      int  // Machines of the control plane in the backup
	nodeless      int  // of those, how many will have no Node
	undecided     int  // of those, how many may or may not have one
	alive         int  // instances of control-plane machines that run, or are powered on after the restore; ghosts included
	waking        int  // of those, how many are off until the controller powers them on
	stopped       int  // instances of control-plane machines that exist, and that nothing starts
	stale         int  // Machines whose instance does not exist
	behind        bool // one of its Machines runs another version of Kubernetes than is wanted
	remediates    bool
	remediation   string // why, or why not
	doubtful      bool   // whether it replaces one that runs is not known
	lost          string // what the backup lacks, without which nobody manages the control plane
	uninitialised bool   // see isUninitialised
	remaking      string // what KubeadmControlPlane does to a control plane that is not initialised
}

// set is a control plane or a group of workers.
type set struct {
	*detector.Set
	cluster  *cluster
	plane    *backup.ControlPlane // of a control plane, its object
	sets     []string             // names of a group's MachineSets
	titled   string               // of title, once it was asked for
	members  []facts
	recorded int // Machines in the backup
	// Of a paused cluster this and all that follows comes once it is unpaused.
	created    int               // Machines that the owners make because they are short of some
	deleted    int               // Machines that the owners delete because they have too many
	removed    string            // why the owner itself goes, with all its machines
	due        string            // why a rollout is due, of one of its machines
	rolledSets map[string]string // MachineSets that are rolled out, and why
	current    *backup.Group     // the MachineSet that is kept, of a MachineDeployment that makes no rollout
	unmakeable string            // why its owner can make no machine
	managedBy  string
	poolWants  int  // of a pool whose members end, how many are to be left
	bounded    bool // a pool that somebody else sets is outside of the bounds that its controller sets
}

// madeNow and deletedNow are how many Machines the owners make and delete right after the
// restore. A paused cluster's owners do neither.
func (s *set) madeNow() int { return s.now(s.created) }

func (s *set) deletedNow() int { return s.now(s.deleted) }

func (s *set) now(n int) int {
	if s.cluster.Paused {
		return 0
	}
	return n
}

// facts are what the tables ask about one machine or instance.
type facts struct {
	cluster   *cluster
	set       *set
	verdict   *detector.Verdict
	machine   *backup.Machine // nil for ghosts, and where only infrastructure objects are left
	details                   // what its provider says of it
	node      *infra.Node     // a registered Node with the machine's provider id
	checks    []*check        // the MachineHealthChecks that cover the machine
	check     *check          // of those the one that decides, or nil
	unhealthy bool            // a health check that covers the machine would call it unhealthy
	minded    string          // the condition of the Machine for which it does
	rolled    string          // why its owner replaces it, because it wants another one
	paused    bool
	remedied  bool         // something replaces the machine because it is unhealthy
	remedy    string       // what, or why nothing does
	outcome   code.Outcome // once it is decided
}

func (f *facts) ghost() bool  { return f.verdict.Status == code.Ghost }
func (f *facts) stale() bool  { return f.verdict.Status == code.Stale }
func (f *facts) orphan() bool { return f.machine == nil && f.verdict.Status == code.Healthy }
func (f *facts) known() bool  { return f.machine != nil || f.orphan() }
func (f *facts) pool() bool   { return f.machine != nil && f.machine.Pool != "" }
func (f *facts) healthy() bool {
	return f.machine != nil && f.verdict.Status == code.Healthy
}

// decided reports whether it is known of a Machine whether its instance exists.
func (f *facts) decided() bool { return f.healthy() || f.machine != nil && f.stale() }

func (f *facts) unprovisioned() bool { return f.stale() && f.verdict.Reason == code.NotProvisioned }

// startupTime is how long a machine may take to get its instance and its Node
// (Cluster API's own default, api/core/v1beta2 DefaultNodeStartupTimeoutSeconds v1.14.2).
const startupTime = 10 * time.Minute

// failed reports whether a machine without an instance had long enough to get one
// when the backup was taken, and said why it did not.
func (f *facts) failed() bool {
	if f.failure() != "" {
		return true
	}
	if f.machine == nil || f.machine.InfraMessage == "" {
		return false
	}
	taken := f.cluster.backups[f.machine.Backup].WrittenFrom
	return !taken.IsZero() && taken.Sub(f.machine.Created) > startupTime
}

// failure is why the machine's controller could make no instance, in its own words.
// What the Machine says of that may only count conditions.
func (f *facts) failure() string {
	if r := f.restore; r != nil {
		return r.Failure
	}
	return ""
}

// cause is why a machine had no instance when the backup was taken.
func (f *facts) cause() string { return oneLine(cmp.Or(f.failure(), f.machine.InfraMessage)) }

func (f *facts) warned(reason code.Reason) bool {
	for _, w := range f.verdict.Warnings {
		if w.Reason == reason {
			return true
		}
	}
	return false
}

func (f *facts) reason(any ...code.Reason) bool {
	for _, r := range any {
		if f.machine != nil && f.verdict.Status == code.Unknown && f.verdict.Reason == r {
			return true
		}
	}
	return false
}

func (f *facts) nodesRead() bool { return f.cluster.read }

// controller is the name of the infrastructure controller.
func (f *facts) controller() string { return f.cluster.controller.Name }

// neverMade is why a machine whose id is recorded gets no new instance (CAPV
// pkg/services/govmomi/service.go v1.16.1, CAPA controllers/awsmachine_controller.go v2.11.1).
func (f *facts) neverMade() string {
	return f.controller() + " never makes a new instance for a machine whose id is recorded"
}

// lost is why the controllers do not get hold of an instance that exists.
func (f *facts) lost() string {
	switch {
	case f.reason(code.InfraObjectMissing) && f.verdict.Instance == nil:
		return "its infrastructure object is not in the backup, so that no controller looks for an instance or makes one"
	case f.reason(code.InfraObjectMissing):
		return "its infrastructure object is not in the backup, so that no controller ties the Machine to the instance that exists"
	}
	return f.controller() + " looks for the recorded id in one place, and the instance is elsewhere or has another: it will not be found"
}

// complaint is why a health check calls the machine unhealthy.
func (f *facts) complaint() string {
	switch {
	case f.machine.Remediate:
		return "annotation cluster.x-k8s.io/remediate-machine asks for it, and " + f.check.title() + " obeys at once"
	case f.minded != "":
		return f.check.title() + " minds that condition " + f.minded + " of its Machine does not hold"
	case f.verdict.ControlPlane && f.cluster.uninitialised:
		return fmt.Sprintf("%s waits %s for its Node, which nobody sees while the API server does not answer", f.check.title(), f.check.timeout)
	case f.node == nil && f.off():
		return f.check.title() + " finds its Node not Ready, because its instance does not run"
	case f.node != nil && f.node.Ready && !f.off():
		return f.check.title() + " finds condition " + f.check.mindsNode(f.node.Conditions) + " on its Node " + f.node.Name
	case f.node != nil:
		return f.check.title() + " finds its Node " + f.node.Name + " not Ready"
	default:
		return fmt.Sprintf("%s waits %s for its Node, counted from when the control plane is initialised", f.check.title(), f.check.timeout)
	}
}

// doubt says of a machine that runs and that a health check calls unhealthy why nobody knows
// whether it is replaced, or is empty. That KubeadmControlPlane refuses while several Machines
// have no Node is true only of those that no health check calls unhealthy
// (HasHealthyMachineStillProvisioning in controlplane/kubeadm/internal v1.8.0,
// controlplane/kubeadm/pkg v1.14.0), and other control planes have rules of their own.
func (f *facts) doubt() string {
	if !f.healthy() || !f.unhealthy || f.remedied {
		return ""
	}
	allowed, _ := f.check.allows()
	switch h := f.check; {
	case h.remediator() != "":
		return " and leaves them to " + h.remediator() + ": what that does is not known here"
	case h.passesRange():
		return " and acts within " + h.spec.Remediation.TriggerIf.UnhealthyInRange + " alone. Until the Nodes of its machines are found again it counts those, too, and may pass that: whether it has these replaced is not known here"
	case f.verdict.ControlPlane && f.cluster.doubtful && allowed:
		return ". Whether they are replaced is not known here: " + f.cluster.remediation
	}
	return ""
}

// replacement is who acts on that.
func (f *facts) replacement() string {
	if f.verdict.ControlPlane {
		text := ": KubeadmControlPlane deletes the Machine and makes another"
		if f.cluster.uninitialised && !f.cluster.externalEtcd {
			text += ", with an empty etcd"
		}
		return text
	}
	return ": the Machine is deleted, and its " + f.machine.Owner.Kind + " makes another"
}

// oneLine puts a message of several lines into one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
