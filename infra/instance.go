package infra

import (
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/report/code"
)

// Instance is one VM as its infrastructure reports it.
type Instance struct {
	// Identity is equal exactly for two sightings of one VM, whoever saw it:
	// vCenter's own instanceUuid, the key of its certificate and the managed
	// object id; AWS account and instance id. No server may be able to give its
	// instances the identity of another's: what they say would count for both.
	Identity  string    `json:"identity"`
	ID        string    `json:"id,omitempty"`  // the strong key's value: BIOS UUID, instance id
	Ref       string    `json:"ref,omitempty"` // managed object id
	Name      string    `json:"name,omitempty"`
	Path      string    `json:"path,omitempty"` // inventory path, for people
	State     string    `json:"state,omitempty"`
	Created   time.Time `json:"created,omitzero"`
	Size      Size      `json:"size,omitzero"`
	Addresses []string  `json:"addresses,omitempty"`
	Tags      []Tag     `json:"tags,omitempty"` // by key; for people and their rules, no evidence
	Keys      []Key     `json:"keys"`
	Host      Key       `json:"host,omitzero"` // host name in its own metadata, read for candidates only
	// Exclude says why it can be nobody's machine: Template, Managed, "vCLS".
	Exclude string `json:"exclude,omitempty"`
	// Unreadable says that its properties could not be read, so that its
	// missing keys prove nothing.
	Unreadable bool `json:"unreadable,omitempty"`
	// Gone says that it is listed but ended: terminated, shutting down.
	Gone bool `json:"gone,omitempty"`
	// Warnings are conditions that go with a Healthy verdict: code.PoweredOff.
	Warnings []code.Reason `json:"warnings,omitempty"`
	// Facts are further properties that steps of the walk ask for, of instances that are
	// related to the backup. A fact that is absent was not seen.
	Facts Facts `json:"facts,omitempty"`
}

// Facts are properties by names that a provider chooses.
type Facts []Fact

// Fact is one property of an instance or of a place.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Get returns the value of the first fact of that name, and whether there is one.
func (f Facts) Get(name string) (string, bool) {
	for i := range f {
		if f[i].Name == name {
			return f[i].Value, true
		}
	}
	return "", false
}

// All returns the values of all facts of that name.
func (f Facts) All(name string) []string {
	var out []string
	for i := range f {
		if f[i].Name == name {
			out = append(out, f[i].Value)
		}
	}
	return out
}

// Template is the cause to exclude an instance that is a template: it cannot run.
const Template = "template"

// Managed is the cause to exclude an instance that an extension of its infrastructure
// manages.
const Managed = "managedByExtension"

// Runs reports whether the instance exists and is not off.
func (i *Instance) Runs() bool {
	return !i.Gone && i.Exclude != Template && !slices.Contains(i.Warnings, code.PoweredOff)
}

// Tag is one tag that its infrastructure has on an instance.
type Tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// HasKey reports whether the instance has the key.
func (i *Instance) HasKey(k Key) bool {
	for _, have := range i.Keys {
		if have == k {
			return true
		}
	}
	return false
}

// Node is one Node of a workload cluster.
type Node struct {
	Cluster    backup.ClusterID `json:"cluster"`
	Name       string           `json:"name"`
	ProviderID string           `json:"providerID,omitempty"`
	// Keys are ProviderID's normalised keys, see Spec.Keys.
	Keys  []Key `json:"keys,omitempty"`
	Ready bool  `json:"ready,omitempty"`
	// Unready says that its kubelet reports that it is not ready, which none does
	// whose machine is gone: of one that is not heard nothing is known.
	Unready bool `json:"unready,omitempty"`
	// NoReady says that its conditions do not tell whether it is ready, which the control
	// plane does for each Node: that is no answer.
	NoReady      bool      `json:"noReady,omitempty"`
	Heartbeat    time.Time `json:"heartbeat,omitzero"` // of condition Ready, by the API server's clock
	ControlPlane bool      `json:"controlPlane,omitempty"`
	// Conditions are those beside Ready, as TYPE=STATUS, sorted and with spaces between them;
	// those that every kubelet reports are left out while they are False, see HasCondition.
	Conditions string `json:"conditions,omitempty"`
	// Machine, ClusterName, ClusterNamespace, OwnerKind and OwnerName are the
	// annotations that Cluster API puts on its Nodes.
	Machine          string `json:"machine,omitempty"`
	ClusterName      string `json:"clusterName,omitempty"`
	ClusterNamespace string `json:"clusterNamespace,omitempty"`
	OwnerKind        string `json:"ownerKind,omitempty"`
	OwnerName        string `json:"ownerName,omitempty"`
}

// FactNodeConditions is a Fact of a list of Nodes whose conditions were read. Inventories that
// were saved before they were lack it.
const FactNodeConditions = "nodeConditions"

// FactKubeadmConfig is a Fact of a list of Nodes whose control plane is a KubeadmControlPlane: whether
// ConfigMap kube-system/kubeadm-config exists.
const (
	FactKubeadmConfig    = "kubeadmConfig"
	KubeadmConfigPresent = "present"
	KubeadmConfigAbsent  = "absent"
)

// usual are the conditions beside Ready that every kubelet or its cloud reports
// (k8s.io/api/core/v1 NodeConditionType v0.36.0).
var usual = map[string]bool{"MemoryPressure": true, "DiskPressure": true, "PIDPressure": true, "NetworkUnavailable": true}

// IsUsual reports whether Conditions leave a condition out.
func IsUsual(kind, status string) bool { return usual[kind] && status == "False" }

// HasCondition reports whether the Node has a condition beside Ready with that status.
func (n *Node) HasCondition(kind, status string) bool {
	for one := range strings.FieldsSeq(n.Conditions) {
		if of, is, _ := strings.Cut(one, "="); of == kind {
			return is == status
		}
	}
	return IsUsual(kind, status)
}
