package infra

import "drift-detector/report/code"

// Controller says how a provider's infrastructure controller acts on what it finds
// after a restore. Of one without a Name nothing is foretold.
//
// Common to all of them is what forecasts build on. A controller that has an id to go by
// takes the instance with that id or none, and makes no other. One that has none looks
// by the machine's name: it takes what it finds, and makes an instance where it finds
// nothing. Deleting a Machine ends the instance that the controller took for it. A
// controller says here where it differs; what is unlike all others it says in words, in
// Obstacles and Late.
type Controller struct {
	Name  string // "CAPV"
	Makes string // how it makes a machine's instance: "clones a VM"
	// ID is where the id is by which it looks for an instance. A Controller with a
	// Name says it.
	ID          IDPlace
	PowersOn    bool // it starts an instance that is off, unless it is suspended
	RunningOnly bool // by name it looks among the instances that run
	// NameIsID says that recorded ids are made of the names by which it looks: it takes whatever
	// has the name, and creates no instance for a machine whose id is recorded.
	NameIsID bool
	// Obstacles are what keeps it from a machine that works, each with the reason, as a
	// clause without its full stop that can follow a colon. What has no entry is none.
	Obstacles map[Obstacle]string
	// Late says, in a clause that can follow the outcome, that an instance which it takes
	// by name may not be ready at once, for how long, and what shortens that: "perhaps
	// ready only after 20 minutes: …". Empty: it is ready at once.
	Late string
	// ClustersFirst is what it does when Cluster objects are restored before Machines,
	// if it loses the recorded ids then: "makes VSphereVMs without their ids".
	ClustersFirst string
	// RefusedAtFirst are the objects that its webhooks refuse as long as their Cluster is not
	// back, which Velero restores last: "AzureMachines". Only a second restore of the same
	// backup brings them. Empty: none.
	RefusedAtFirst string
	// DeletesCopies says that with a machine it destroys every instance that has
	// its id.
	DeletesCopies bool
	// OwnsKubeconfig is the kind of control plane whose kubeconfig Secret it makes by
	// itself, and refuses when the Secret is there and not its own.
	OwnsKubeconfig string
	// Defaults says that new infrastructure machines need what its webhooks fill in.
	Defaults bool
}

// IDPlace is where the id is by which a controller looks for an instance.
type IDPlace string

// Places of ids.
const (
	// IDInSpec is for a field that a restore brings back. ExpectedMachine.Reads names it,
	// and only machines without an id in it are looked for by name.
	IDInSpec IDPlace = "spec"
	// IDInStatus is for a status, which Velero drops: after a restore the controller looks
	// for every machine by its name.
	IDInStatus IDPlace = "status"
	// IDNowhere is for a controller that looks by name, after a restore or not.
	IDNowhere IDPlace = "nowhere"
)

// Obstacle is something about a machine's instance that may keep a controller from a
// machine that works.
type Obstacle string

// Obstacles. Renamed, ErrorState and NotActive are warnings of verdicts, too: a provider gives
// Renamed as the Warning of an Expectation, and ErrorState and NotActive in
// Instance.Warnings.
const (
	// Renamed is for a machine's instance that has another name than the machine's. If
	// this is no obstacle, an instance found by id is taken over, and beside one that is
	// looked for by name a second one is made.
	Renamed = Obstacle(code.Renamed)
	// SharedName is for several instances with the name that is looked for: the Machine
	// can be neither taken on nor deleted. If this is no obstacle, any of them may be
	// taken.
	SharedName Obstacle = "SharedName"
	// OtherID is for an instance with another id than the recorded one, be it re-created or
	// taken by its name: its id cannot be recorded, so that its Node never belongs to the
	// Machine. If this is no obstacle, the new id is recorded.
	OtherID Obstacle = "OtherID"
	// ErrorState is for an instance that its infrastructure calls broken. If this is no
	// obstacle, it is taken over as any other.
	ErrorState = Obstacle(code.ErrorState)
	// NotActive is for an instance that its infrastructure still makes or changes. If this
	// is no obstacle, it is taken over as any other.
	NotActive = Obstacle(code.NotActive)
	// NoBootstrapData is for a Machine whose bootstrap data the backup lacks, if the controller
	// reads that although its instance exists. If this is no obstacle, it does so only to make one.
	NoBootstrapData Obstacle = "NoBootstrapData"
	// Unread is for an instance that cannot be read: what the controller does meanwhile is
	// said, and nothing is foretold. If this is no obstacle, nothing is said either.
	Unread Obstacle = "Unread"
)
