package infra

// Controller says how a provider's infrastructure controller acts on what it finds
// after a restore. One with a Name keeps to what all known ones do: it looks for an
// instance by the id that is recorded, and where none is by the machine's name, and
// never makes a new one for an id that is recorded. Of one without a Name nothing is
// foretold.
type Controller struct {
	Name        string // "CAPV"
	Makes       string // how it makes a machine's instance: "clones a VM"
	PowersOn    bool   // it starts an instance that is off, unless it is suspended
	RunningOnly bool   // by name it looks among the instances that run
	// ClustersFirst is what it does when Cluster objects are restored before Machines,
	// if it loses the recorded ids then: "makes VSphereVMs without their ids".
	ClustersFirst string
	// DeletesCopies says that with a machine it destroys every instance that has
	// its id.
	DeletesCopies bool
	// OwnsKubeconfig is the kind of control plane whose kubeconfig Secret it makes by
	// itself, and refuses when the Secret is there and not its own.
	OwnsKubeconfig string
	// Defaults says that new infrastructure machines need what its webhooks fill in.
	Defaults bool
}
