package infra

import (
	"iter"
	"time"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Expected is what the backup expects to exist, of one provider or of all of them.
type Expected struct {
	Machines       []ExpectedMachine
	decided        []Restoring // of the machines, once Decided has let go of them
	OwnershipHints []OwnershipHint
	Proofs         []VisibilityProof
	Absent         []backup.Absence // what the provider misses in the backup
	Exclude        []Exclusion
	Pools          []Pool
	UnreadPools    []UnreadPool // those that list members; the Registry fills them in
	Resources      []Resource
	Recipes        []Recipe
	OwnerTags      []Key // of kind OwnerTag: those of the backup's own clusters
	Halts          []Halt
	// Steps are the steps of the provider's walk that the backup alone does not pass, and
	// those that a listing decides.
	Steps []Step
	// OnInstance asks, by provider, the rows that look at the instance which a machine's
	// controller takes: of the machine with that index in Snapshot.Machines. It returns the
	// steps with their answers; the caller says whose they are.
	OnInstance map[string]func(machine int, at Sight) []walk.Step
	// Alone are objects of no cluster for which a controller adopts or makes an instance,
	// such as "OpenStackServer ns/jump". No listing looks for those instances.
	Alone []string
	// LoadBalancers are those before the API server of each cluster, as the backup
	// records them.
	LoadBalancers map[backup.ClusterID][]LoadBalancer
	// Providers names the provider of each cluster that has one.
	Providers map[backup.ClusterID]string
	// ManagedPlanes are the kinds of control planes that have no machines, and Words the
	// words by provider, both as the Specs have them. The Registry fills them in.
	ManagedPlanes map[string]bool
	Words         map[string]map[string]string
	// Unread says which objects could not be read that decide on machines of a backup of which
	// a provider reads the kind, and why, in a sentence without its full stop. The Registry
	// fills it in.
	Unread map[Reading]string
	// Made names, by cluster, a Machine of a management cluster that runs which was made while
	// the places were listed. See Meanwhile.
	Made map[backup.ClusterID]string
	// Controllers are the clusters whose controller is not as in Spec.Controller, because
	// the backup tells that it has another version.
	Controllers map[backup.ClusterID]Controller
}

// Restoring is what is said of the restore of a machine.
type Restoring struct {
	Machine      int // as in ExpectedMachine
	InfraMissing bool
	Restore      *Restore
}

// Restoring returns those of the machines of which something is said.
func (c *Expected) Restoring() []Restoring {
	if c.decided != nil {
		return c.decided
	}
	said := func(m *ExpectedMachine) bool { return m.Restore != nil || m.InfraMissing }
	n := 0
	for i := range c.Machines {
		if said(&c.Machines[i]) {
			n++
		}
	}
	all := make([]Restoring, 0, n)
	for i := range c.Machines {
		if m := &c.Machines[i]; said(m) {
			all = append(all, Restoring{m.Machine, m.InfraMissing, m.Restore})
		}
	}
	return all
}

// Decided lets go of what only decides verdicts: of machines there is left what Restoring says.
func (c *Expected) Decided() {
	c.decided, c.Machines, c.OwnershipHints, c.Proofs = c.Restoring(), nil, nil, nil
}

// Look answers the steps that a listing decides, which nobody has to look at again. Those that
// pass are left out, but for the first of a row.
func (c *Expected) Look(inv *Inventory) {
	var q Questions
	for s := range c.Answers(inv) {
		if q.Keeps(s.Row, s.Answer) {
			q.Steps = append(q.Steps, s)
		}
	}
	c.Steps = q.Steps
}

// Answers returns the steps with their answers.
func (c *Expected) Answers(inv *Inventory) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		for _, s := range c.Steps {
			switch {
			case s.Each != nil:
				for one := range s.Each(inv) {
					if !yield(Step{Step: one}) {
						return
					}
				}
				continue
			case s.Look != nil:
				s.Answer, s.Look = s.Look(inv), nil
			}
			if !yield(s) {
				return
			}
		}
	}
}

// ExpectedMachine is one machine and the keys by which its instance is found.
type ExpectedMachine struct {
	Machine  int     // index into Snapshot.Machines; -1 when there is only an Orphan
	Orphan   *Orphan // infrastructure machine whose Machine is not in the backup
	Provider string  // name of the provider; empty when none supports the kind

	Home     HomeScope // where the machine's controller looks
	Strong   Key       // the recorded id; zero when the backup records none
	Source   string    // where Strong was read: "VSphereVM.spec.biosUUID"
	Conflict string    // two sources of the strong key differ: which, and both values
	Doubted  []Key     // the ids beside Strong that sources record: an instance of one may be the machine
	Identity Key       // second key that finds by itself: vSphere instanceUuid == VSphereVM uid
	Ref      Key       // second key that only separates or confirms: vSphere managed object id
	Weak     []Key     // any one of these on exactly one instance is a weaker match: name + folder
	Names    []Key     // an instance that has only one of these is a namesake
	// Witness are keys of a living instance under another id at the machine's place that
	// has the machine's name, as its own or in its metadata: the machine is not gone as
	// long as nobody knows that these are two.
	Witness []Key
	Unnamed string // why nobody knows what its instance is called, so that Names lack it; empty: they do not
	Hosts   []Key  // an instance whose own metadata has one of these is a copy of the machine
	Blind   []Key  // an unreadable instance that has one of these may be the machine
	Hidden  []Key  // an unreadable instance at home that has one of these may have any name, also that which is searched for
	Expect  []Expectation
	// Reads names the field of the backup from which the machine's controller takes
	// the instance's id after a restore: "VSphereVM.spec.biosUUID". ReadsID says that
	// an id is recorded there. Where none is, the controller takes the instance at
	// home that has one of Searches. Only instances that the search finds have keys of
	// Searches: where the controller looks among running ones alone, those.
	//
	// Reads is empty for a controller whose Controller.ID is not IDInSpec, and, with
	// Searches, where nobody knows how the controller looks.
	Reads    string
	Searches []Key
	ReadsID  bool
	// InfraMissing says that the infrastructure object is not in the backup.
	InfraMissing bool
	Restore      *Restore // nil when there is nothing to say
	// Blockers are what keeps its controller from the machine where it is found at home.
	Blockers []Blocker
	// Dying is the deletion of the machine, or of an object without which it has no instance; nil
	// when none is being deleted. The Registry fills it in.
	Dying *Deletion
	// Pool is the Key of the Pool that the machine is a member of. A pool makes
	// and replaces its members itself, so that one that is gone proves nothing.
	Pool Key
	// LeavesPool says what becomes of the machine's objects after a restore when its instance is
	// none of the pool's any more, in a clause; empty: Cluster API deletes the Machine by itself.
	LeavesPool string
}

// Deletion is that an object of a management cluster that runs is being deleted.
type Deletion struct {
	Text  string    // a sentence without its full stop
	Since time.Time // zero: it is gone
}

// Reading is what a provider reads of a backup.
type Reading struct {
	Backup   int
	Provider string
}

// Blocker is something that is not an instance, and that makes a machine's controller do
// nothing for the machine: it neither takes an instance nor makes one.
type Blocker struct {
	Key Key    // among the Probes of the target
	Why string // in a sentence without its full stop
	// Making says that it keeps the controller only from making an instance: one that is
	// there it takes all the same.
	Making bool
	Target string // where Key is looked for, one of Target.IDs; empty: that of Home
}

// Step is a step of a provider's walk. Look, where it is not nil, answers it once all is
// listed; Each, where it is not nil, returns many steps instead. With a Secret the
// step passes where the backup holds that bootstrap Secret of a MachinePool, and has its answer
// where it does not.
type Step struct {
	walk.Step
	Look   func(*Inventory) walk.Answer
	Each   func(*Inventory) iter.Seq[walk.Step]
	Secret *SecretAt
}

// SecretAt is where a Secret is in the backups.
type SecretAt struct {
	Backup          int
	Namespace, Name string
}

// Sight is an instance and where it was seen; Listing may be nil.
type Sight struct {
	Instance *Instance
	Listing  *Listing
}

// Exclusion is for instances with the key: they are known, and nobody's machine, as a
// bastion or a NAT instance.
type Exclusion struct {
	Key   Key
	Cause string // counted under this word: "bastion"
}

// Halt is why the controllers do nothing for a cluster after a restore, although the
// backup holds the objects that it refers to: an identity that the cluster's namespace
// may not use. What the backup lacks is an Absence with Halts instead.
type Halt struct {
	Cluster   backup.ClusterID
	Object    string // that is the cause: "AWSClusterRoleIdentity team-a"
	Message   string // why, in a sentence without its full stop
	Undecided bool   // the backup does not say whether they do: Message says why
}

// Orphan is an infrastructure machine of the backup without its Machine: Velero
// skips objects that were being deleted (pkg/backup/item_backupper.go v1.18.1).
type Orphan struct {
	Kind, Namespace, Name, UID string
	Cluster                    backup.ClusterID
	ControlPlane               bool
	Owner                      OwnerID // the control plane or MachineSet that it belongs to, from its labels
	ProviderID                 string
}

// HomeScope is where the controller of a machine looks for its instance.
type HomeScope struct {
	Target string // one of Target.IDs
	Within Key    // key that an instance at home also has (its datacenter); zero: anywhere in the target
	Folder string // of the target, with proofs of its own; empty: the target as a whole
}

// Expectation is a key that a matched instance should have; when it has
// another of that kind instead, the verdict carries the warning.
type Expectation struct {
	Key     Key
	Warning code.Reason // code.Renamed, code.Moved
}
