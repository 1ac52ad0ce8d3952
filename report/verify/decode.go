package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/report"
)

// object is what is read of one, in the versions v1beta1 and v1beta2 of Cluster API and v1beta1 of
// the providers.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Name              string            `json:"name"`
		UID               string            `json:"uid"`
		Labels            map[string]string `json:"labels"`
		Annotations       map[string]string `json:"annotations"`
		CreationTimestamp *time.Time        `json:"creationTimestamp"`
		DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
		OwnerReferences   []Owner           `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		Paused            *bool             `json:"paused"`
		ClusterName       string            `json:"clusterName"`
		InfrastructureRef report.ObjectName `json:"infrastructureRef"`
		ProviderID        string            `json:"providerID"`
		BiosUUID          string            `json:"biosUUID"`   // VSphereVM
		InstanceID        string            `json:"instanceID"` // AWSMachine
	} `json:"spec"`
	Status struct {
		Phase   string `json:"phase"`
		NodeRef struct {
			Name string `json:"name"`
		} `json:"nodeRef"`
		InstanceID    string          `json:"instanceID"` // OpenStackServer, OpenStackMachine
		InstanceState string          `json:"instanceState"`
		VMState       string          `json:"vmState"`
		FailureReason string          `json:"failureReason"`
		Conditions    []conditionJSON `json:"conditions"`
		V1Beta2       conditionsJSON  `json:"v1beta2"`
		Deprecated    struct {
			V1Beta1 struct {
				conditionsJSON
				FailureReason string `json:"failureReason"`
			} `json:"v1beta1"`
		} `json:"deprecated"`
	} `json:"status"`
}

type conditionsJSON struct {
	Conditions []conditionJSON `json:"conditions"`
}

type conditionJSON struct {
	Type, Status, Reason, Message, Severity string
	LastTransitionTime                      *time.Time
}

// Labels and annotations of Cluster API.
const (
	clusterLabel      = "cluster.x-k8s.io/cluster-name"
	deploymentLabel   = "cluster.x-k8s.io/deployment-name"
	setLabel          = "cluster.x-k8s.io/set-name"
	poolLabel         = "cluster.x-k8s.io/pool-name"
	planeLabel        = "cluster.x-k8s.io/control-plane-name"
	pausedMark        = "cluster.x-k8s.io/paused"
	remediationMark   = "controlplane.cluster.x-k8s.io/remediation-for" // RemediationData of controlplane/kubeadm v1.13.6
	kubeSystem        = "kube-system"
	machineDeployment = "MachineDeployment"
)

// kinds are those of Cluster API that decide something, by their resources.
var kinds = map[string]string{
	"namespaces":                           "Namespace",
	"clusters.cluster.x-k8s.io":            "Cluster",
	"machines.cluster.x-k8s.io":            "Machine",
	"machinedeployments.cluster.x-k8s.io":  machineDeployment,
	"machinesets.cluster.x-k8s.io":         "MachineSet",
	"machinepools.cluster.x-k8s.io":        "MachinePool",
	"machinehealthchecks.cluster.x-k8s.io": "MachineHealthCheck",
}

// Kind returns the kind of the objects of a resource, as the directory of a backup names it; empty
// for one that decides nothing. That of a control plane is its resource.
func Kind(resource string) string {
	if kind := kinds[resource]; kind != "" {
		return kind
	}
	if strings.HasSuffix(resource, ".controlplane.cluster.x-k8s.io") {
		return resource
	}
	for name := range providers {
		for _, kind := range slices.Concat(Kinds(name), providers[name].clusters) {
			if resource == strings.ToLower(kind)+"s.infrastructure.cluster.x-k8s.io" {
				return kind
			}
		}
	}
	return ""
}

// NotRead notes resources that were not read whole, and why.
func (o *Observation) NotRead(resources map[string]string) {
	for _, resource := range slices.Sorted(maps.Keys(resources)) {
		if kind := Kind(resource); kind != "" {
			o.Unread = append(o.Unread, Unread{kind, resources[resource]})
		}
	}
}

// Add takes an object of the API server, as JSON. One of a kind that decides nothing is skipped.
// Items of a list may come without their kind; it is given then.
func (o *Observation) Add(kind string, data []byte) error {
	var in object
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("reading a %s: %w", kind, err)
	}
	if in.Kind != "" {
		kind = in.Kind
	}
	m := &in.Metadata
	switch {
	case kind == "Namespace":
		o.Namespaces = append(o.Namespaces, Namespace{m.Name, in.deleting()})
		if m.Name == kubeSystem {
			o.KubeSystemUID, o.Created = m.UID, in.created()
		}
	case kind == "Cluster":
		o.Clusters = append(o.Clusters, Cluster{
			Namespace: m.Namespace, Name: m.Name, UID: m.UID, Created: in.created(), Deleting: in.deleting(), Paused: in.paused(), Conditions: in.conditions(), Infrastructure: in.Spec.InfrastructureRef,
		})
	case kind == "Machine":
		o.Machines = append(o.Machines, in.machine())
	case kind == "MachineHealthCheck":
		o.Checks = append(o.Checks, Check{m.Namespace, m.Name, in.cluster()})
	case slices.Contains([]string{machineDeployment, "MachineSet", "MachinePool"}, kind), strings.HasSuffix(kind, "ControlPlane"):
		o.Groups = append(o.Groups, Group{Kind: kind, Namespace: m.Namespace, Name: m.Name, Cluster: in.cluster(), UID: m.UID, Deleting: in.deleting(), Owners: m.OwnerReferences})
	case isObject(kind):
		o.Objects = append(o.Objects, in.infrastructure(kind))
	case isInfrastructure(kind):
		o.Infrastructures = append(o.Infrastructures, Infrastructure{report.ObjectName{Kind: kind, Namespace: m.Namespace, Name: m.Name}, m.UID, in.deleting()})
	}
	return nil
}

// isInfrastructure reports whether a kind is that of the infrastructure's objects of Clusters.
func isInfrastructure(kind string) bool {
	for _, p := range providers {
		if slices.Contains(p.clusters, kind) {
			return true
		}
	}
	return false
}

// isObject reports whether a kind is that of an object of an infrastructure's controller.
func isObject(kind string) bool {
	for name := range providers {
		if slices.Contains(Kinds(name), kind) {
			return true
		}
	}
	return false
}

func (in *object) machine() Machine {
	m, l := &in.Metadata, in.Metadata.Labels
	out := Machine{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, Cluster: in.cluster(), Set: l[setLabel], Created: in.created(), Deleting: in.deleting(), Paused: in.paused(),
		Phase: in.Status.Phase, Node: in.Status.NodeRef.Name, Conditions: in.conditions(), Owners: m.OwnerReferences, Infrastructure: in.Spec.InfrastructureRef,
	}
	// The label of a control plane may be a hash of its name.
	i := slices.IndexFunc(m.OwnerReferences, func(by Owner) bool { return strings.HasSuffix(by.Kind, "ControlPlane") })
	switch {
	case i >= 0:
		out.Group = m.OwnerReferences[i].Name
	case l[deploymentLabel] != "":
		out.Group = l[deploymentLabel]
	case l[poolLabel] != "":
		out.Group = l[poolLabel]
	case l[planeLabel] != "":
		out.Group = l[planeLabel]
	default:
		out.Group = l[setLabel]
	}
	var remediated struct{ Machine string }
	if err := json.Unmarshal([]byte(m.Annotations[remediationMark]), &remediated); err == nil {
		out.RemediationFor = remediated.Machine
	}
	return out
}

func (in *object) infrastructure(kind string) Object {
	out := Object{
		ObjectName: report.ObjectName{Kind: kind, Namespace: in.Metadata.Namespace, Name: in.Metadata.Name},
		UID:        in.Metadata.UID, Cluster: in.cluster(), Deleting: in.deleting(), Owners: in.Metadata.OwnerReferences, Conditions: in.conditions(), State: cmp.Or(in.Status.InstanceState, in.Status.VMState),
		Failure: cmp.Or(in.Status.FailureReason, in.Status.Deprecated.V1Beta1.FailureReason),
	}
	switch {
	case strings.HasPrefix(kind, "OpenStack"): // what its spec says came with the restore
		out.ID = in.Status.InstanceID
	case in.Spec.BiosUUID != "":
		out.ID = in.Spec.BiosUUID
	case in.Spec.InstanceID != "":
		out.ID = in.Spec.InstanceID
	default:
		out.ID = in.Spec.ProviderID
	}
	return out
}

func (in *object) cluster() string {
	if in.Spec.ClusterName != "" {
		return in.Spec.ClusterName
	}
	return in.Metadata.Labels[clusterLabel]
}

func (in *object) paused() bool {
	_, marked := in.Metadata.Annotations[pausedMark]
	return marked || in.Spec.Paused != nil && *in.Spec.Paused
}

func (in *object) created() time.Time  { return timeOf(in.Metadata.CreationTimestamp) }
func (in *object) deleting() time.Time { return timeOf(in.Metadata.DeletionTimestamp) }

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// conditions returns those of v1beta2 of the contract, then those that an object has beside them.
// One that is older than its object came with the restore, which brings a status back where
// annotation velero.io/restore-status asks for it: no controller has said it since.
func (in *object) conditions() []Condition {
	var out []Condition
	for _, c := range slices.Concat(in.Status.V1Beta2.Conditions, in.Status.Conditions, in.Status.Deprecated.V1Beta1.Conditions) {
		if since := timeOf(c.LastTransitionTime); !since.IsZero() && since.Before(in.created()) {
			continue
		}
		out = append(out, Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, Severity: c.Severity, Since: timeOf(c.LastTransitionTime)})
	}
	return out
}
