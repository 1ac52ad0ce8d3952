package infra

import "drift-detector/backup"

// Restore is what the objects behind a machine say, beside its id, of what its
// controller does after a restore. It decides no verdict.
type Restore struct {
	// Template is the name of the template that the infrastructure machine of a
	// control-plane machine was made from: annotation cluster.x-k8s.io/cloned-from-name.
	Template string
	// Failure is why its controller could not make an instance, in the controller's
	// own words, when the backup was taken. It is set only where the controller said
	// that it had failed, not where it was still waiting.
	Failure string
	// Lacks are the objects that the backup lacks and without which the controller
	// does nothing for this machine: "VSphereDeploymentZone zone-a".
	Lacks []string
	// Refused is why the controller can do nothing for this machine although all its
	// objects are there and none is paused, in a sentence without its full stop.
	Refused string
	// Paused is the infrastructure object of the machine whose annotation keeps the
	// controller from it, the highest of several: "VSphereVM a". Empty: none is paused.
	Paused string
	// Unclaimed is an object for an address from a pool that the backup lacks, and that
	// controllers make again: which address that is, nobody knows here.
	Unclaimed string
	// Independent is an object that is not paused and for which the controller makes an
	// instance, or takes one of the name, even if the Machine and the objects between are
	// paused: "OpenStackServer a". What it makes is recorded in none of those. Empty: the
	// controller waits for the objects above, because a restore takes away the
	// ownerReferences, and only the controllers of those set them again.
	Independent string
}

// Recipe is what must exist for an instance to be made from one object: from a
// template, or from the object of a machine that has no instance yet.
type Recipe struct {
	Cluster backup.ClusterID
	Machine int    // index into Snapshot.Machines; -1 when Object is a template
	Object  string // "VSphereMachineTemplate tenant/md-0"
	Needs   []Need
	// First are those that its controller looks up before it looks for the instance:
	// without one of them it takes over none that exists.
	First []Need
}

// Need names a Resource of the same cluster by what its state in a Result keeps.
type Need struct{ Kind, Name, UsedBy string }
