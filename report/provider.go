package report

import "drift-detector/report/code"

// Provider describes an infrastructure and the controller that acts on it after a
// restore, so that a plan can be made of a saved report.
type Provider struct {
	Name  string `json:"name"`  // as in Cluster.Provider: "vsphere"
	Title string `json:"title"` // for people: "vSphere"
	Noun  string `json:"noun"`  // what one of its scopes is called: "vCenter"
	// SeparateAccounts says that accounts do not see each other's instances at one
	// endpoint.
	SeparateAccounts bool `json:"separateAccounts"`

	Controller string `json:"controller"` // "CAPV"
	PowersOn   bool   `json:"powersOn"`   // the controller starts an instance that is off, unless it is suspended
	// OnDelete is a sentence on what the controller does to instances when a Machine is
	// deleted.
	OnDelete string `json:"onDelete,omitempty"`
	// ClustersFirst is what the controller does when Clusters are restored before their
	// Machines: "makes VSphereVMs without their ids". Absent: no harm is known.
	ClustersFirst string `json:"clustersFirst,omitempty"`
	// RefusedAtFirst are the objects that the controller's webhooks refuse while their Cluster is not
	// back, so that the backup is restored twice. Absent: none.
	RefusedAtFirst string `json:"refusedAtFirst,omitempty"`
	// Remedies are what to do about a machine of a reason, where that differs from what is
	// done elsewhere.
	Remedies map[code.Reason]string `json:"remedies,omitempty"`
	// OwnsKubeconfig is the kind of control plane whose kubeconfig Secret the controller
	// refuses when it does not own it, as after a restore.
	OwnsKubeconfig string `json:"ownsKubeconfig,omitempty"`

	MachineKinds  []Kind `json:"machineKinds"` // the one that a Machine refers to first
	ClusterKind   *Kind  `json:"clusterKind,omitempty"`
	ManagedPlanes []Kind `json:"managedPlanes,omitempty"` // control planes without machines, which stand for the infrastructure cluster
	IdentityKinds []Kind `json:"identityKinds,omitempty"` // cluster-scoped, and lead a cluster to its credential
}

// Kind is a kind of API objects, with its resource as kubectl and Velero write it:
// "vspheremachines.infrastructure.cluster.x-k8s.io".
type Kind struct {
	Kind     string `json:"kind"`
	Resource string `json:"resource"`
}
