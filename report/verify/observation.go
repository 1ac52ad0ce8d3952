package verify

import (
	"slices"
	"time"

	"drift-detector/report"
)

// Observation is what was seen of a management cluster and of the infrastructure at one moment.
type Observation struct {
	At            time.Time // the server's
	Server        string    // for people
	KubeSystemUID string
	Created       time.Time // of namespace kube-system
	Clusters      []Cluster
	Machines      []Machine
	Objects       []Object // of the infrastructure's controllers: VSphereMachine, VSphereVM, OpenStackServer
	Groups        []Group  // control planes and groups of workers
	Checks        []Check
	Namespaces    []Namespace
	// Infrastructures are the infrastructure's objects of Clusters: VSphereCluster, AWSManagedCluster.
	Infrastructures []Infrastructure
	// Serves has the kinds that the server serves; nil: not known.
	Serves map[string]bool
	// Instances and Scopes are as a report has them. Absence of an instance is concluded only
	// from a scope that is complete.
	Instances []report.Instance
	Scopes    []report.Scope
	// NoInfrastructure says that the infrastructure was not to be listed.
	NoInfrastructure bool
	// ByPlan says that the restore was made by the report's plan.
	ByPlan bool
	Unread []Unread
}

// Unread is a kind of objects that was not read whole.
type Unread struct {
	Kind string `json:"kind"`
	Why  string `json:"why"`
}

// serves reports whether the server has a kind, by what it says or by an object.
func (o *Observation) serves(kind string) bool {
	return o.Serves[kind] || slices.ContainsFunc(o.Objects, func(one Object) bool { return one.Kind == kind })
}

// Namespace is a namespace of Kubernetes.
type Namespace struct {
	Name     string
	Deleting time.Time // zero: it is not being deleted
}

// Infrastructure is the infrastructure's object of a Cluster.
type Infrastructure struct {
	report.ObjectName
	UID      string
	Deleting time.Time
}

// Cluster is a Cluster of Cluster API.
type Cluster struct {
	Namespace, Name, UID string
	Created              time.Time
	Deleting             time.Time
	Paused               bool
	Conditions           []Condition
	Infrastructure       report.ObjectName // of its namespace
}

// Machine is a Machine of Cluster API.
type Machine struct {
	Namespace, Name, UID string
	Cluster              string
	Set                  string // its MachineSet, by its label
	Group                string // the MachineDeployment, else the MachineSet, MachinePool or control plane that it is of
	Created              time.Time
	Deleting             time.Time // zero: it is not being deleted
	Paused               bool      // by its annotation
	Phase, Node          string
	Conditions           []Condition
	Owners               []Owner
	Infrastructure       report.ObjectName
	// RemediationFor is the Machine in place of which KubeadmControlPlane created it: machine in
	// annotation controlplane.cluster.x-k8s.io/remediation-for.
	RemediationFor string
}

// Object is an object of an infrastructure's controller.
type Object struct {
	report.ObjectName
	UID        string
	Cluster    string // by its label; a restore keeps it
	Deleting   time.Time
	Conditions []Condition
	Owners     []Owner
	// ID is the instance that it names, in the form of a provider id or without its prefix:
	// VSphereVM.spec.biosUUID, OpenStackServer.status.instanceID, AWSMachine.spec.instanceID. A
	// restore brings back what is in a spec.
	ID      string
	Failure string // status.failureReason, which no controller takes back
	State   string // OpenStackServer.status.instanceState, AWSMachine.status.instanceState, AzureMachine.status.vmState
}

// Group is a control plane or a group of workers.
type Group struct {
	Kind, Namespace, Name, Cluster, UID string
	Deleting                            time.Time
	Owners                              []Owner
}

// Check is a MachineHealthCheck.
type Check struct{ Namespace, Name, Cluster string }

// Owner is an ownerReference.
type Owner struct {
	Kind, Name, UID string
	Controller      bool
}

// Condition is a condition of an object that a controller has written since the object was
// created, those of v1beta2 before those of the same type of v1beta1.
type Condition struct {
	Type, Status, Reason, Message string
	Severity                      string    // of v1beta1
	Since                         time.Time // lastTransitionTime
}

// none is the Condition of what has none of a type.
var none Condition

// condition returns the first of a type; none where there is no such.
func condition(list []Condition, kind string) *Condition {
	for i := range list {
		if list[i].Type == kind {
			return &list[i]
		}
	}
	return &none
}

// beyondPaused reports whether a controller has written more than that it is paused.
func beyondPaused(list []Condition) bool {
	for i := range list {
		if list[i].Type != "Paused" {
			return true
		}
	}
	return false
}

// joined reports whether the Machine is Running with its instance and its Node. Its phase alone
// proves nothing, nor does its providerID, which the restore brings back.
func (m *Machine) joined() bool {
	return m.Phase == "Running" && condition(m.Conditions, "InfrastructureReady").Status == "True" && m.nodeHealthy()
}

func (m *Machine) nodeHealthy() bool { return condition(m.Conditions, "NodeHealthy").Status == "True" }
