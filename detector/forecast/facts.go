package forecast

import (
	"fmt"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
)

// kubeadm is the control plane whose behaviour towards etcd is known.
const kubeadm = "KubeadmControlPlane"

// cluster is one cluster with all that its forecast rests on.
type cluster struct {
	*detector.Cluster
	controller   infra.Controller
	plane        set
	groups       []*set
	checks       []*check
	backups      []backup.Info
	halts        []string // objects without which its controllers do nothing
	read         bool     // its Node list was read
	externalEtcd bool

	// What weigh finds out about the control plane.
	recorded    int // Machines of the control plane in the backup
	nodeless    int // of those, how many will have no Node
	undecided   int // of those, how many may or may not have one
	alive       int // instances of control-plane machines that run, or are powered on after the restore; ghosts included
	waking      int // of those, how many are off until the controller powers them on
	stopped     int // instances of control-plane machines that exist, and that nothing starts
	stale       int // Machines whose instance does not exist
	remediates  bool
	remediation string // why, or why not
}

// set is a control plane or a group of workers.
type set struct {
	*detector.Set
	cluster   *cluster
	plane     *backup.ControlPlane // of a control plane, its object
	sets      []string             // names of a group's MachineSets
	members   []facts
	recorded  int // Machines in the backup
	created   int // Machines that the owners make because they are short of some
	deleted   int // Machines that the owners delete because they have too many
	managedBy string
}

// count compares what an owner wants with the Machines that it has. A paused
// cluster's owners do neither.
func (s *set) count(desired backup.Number, have int) {
	if !desired.Known || s.cluster.Paused {
		return
	}
	s.created += max(0, int(desired.N)-have)
	s.deleted += max(0, have-int(desired.N))
}

// facts are what the tables ask about one machine or instance.
type facts struct {
	cluster   *cluster
	set       *set
	verdict   *detector.Verdict
	machine   *backup.Machine // nil for ghosts, and where only infrastructure objects are left
	node      *infra.Node     // a registered Node with the machine's provider id
	check     *check          // a MachineHealthCheck that covers the machine
	unhealthy bool            // a health check that covers the machine would call it unhealthy
	paused    bool
	remedied  bool    // something replaces the machine because it is unhealthy
	remedy    string  // what, or why nothing does
	outcome   Outcome // once it is decided
}

func (f *facts) ghost() bool  { return f.verdict.Status == detector.Ghost }
func (f *facts) stale() bool  { return f.verdict.Status == detector.Stale }
func (f *facts) orphan() bool { return f.machine == nil && f.verdict.Status == detector.Healthy }
func (f *facts) known() bool  { return f.machine != nil || f.orphan() }
func (f *facts) pool() bool   { return f.machine != nil && f.machine.Pool != "" }
func (f *facts) healthy() bool {
	return f.machine != nil && f.verdict.Status == detector.Healthy
}

func (f *facts) unprovisioned() bool { return f.stale() && f.verdict.Reason == detector.NotProvisioned }

// startupTime is how long a machine may take to get its instance and its Node
// (Cluster API's own default, api/core/v1beta2 DefaultNodeStartupTimeoutSeconds v1.14.2).
const startupTime = 10 * time.Minute

// failed says that a machine without an instance had long enough to get one
// when the backup was taken, and said why it did not.
func (f *facts) failed() bool {
	if f.machine == nil || f.machine.InfraMessage == "" {
		return false
	}
	taken := f.cluster.backups[f.machine.Backup].WrittenFrom
	return !taken.IsZero() && taken.Sub(f.machine.Created) > startupTime
}

func (f *facts) warned(reason string) bool {
	for _, w := range f.verdict.Warnings {
		if w.Reason == reason {
			return true
		}
	}
	return false
}

func (f *facts) reason(any ...string) bool {
	for _, r := range any {
		if f.machine != nil && f.verdict.Status == detector.Unknown && f.verdict.Reason == r {
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
	case f.reason(detector.InfraObjectMissing) && f.verdict.Instance == nil:
		return "its infrastructure object is not in the backup, so that no controller looks for an instance or makes one"
	case f.reason(detector.InfraObjectMissing):
		return "its infrastructure object is not in the backup, so that no controller ties the Machine to the instance that exists"
	}
	return f.controller() + " looks for the recorded id in one place, and the instance is elsewhere or bears another: it will not be found"
}

// complaint is why a health check calls the machine unhealthy.
func (f *facts) complaint() string {
	switch {
	case f.node != nil:
		return f.check.title() + " finds its Node " + f.node.Name + " not Ready"
	default:
		return fmt.Sprintf("%s waits %s for its Node, counted from when the control plane is initialised", f.check.title(), f.check.timeout)
	}
}

// replacement is who acts on that.
func (f *facts) replacement() string {
	if f.verdict.ControlPlane {
		return ": KubeadmControlPlane deletes the Machine and makes another"
	}
	return ": the Machine is deleted, and its " + f.machine.Owner.Kind + " makes another"
}

// oneLine puts a message of several lines into one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
