package rehearsal

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
)

// healthCheck is a MachineHealthCheck of the backup.
type healthCheck struct {
	Cluster string
	Spec    string // JSON, of any API version
}

var healthChecks = backup.NewKind("machinehealthchecks.cluster.x-k8s.io",
	backup.Text(func(h *healthCheck) *string { return &h.Cluster }, "spec.clusterName"),
	backup.Raw(func(h *healthCheck) *string { return &h.Spec }, "spec"),
)

// olderCheck is what a health check up to v1beta1 names otherwise than one of v1beta2
// (Cluster API api/core/v1beta1/machinehealthcheck_types.go v1.14.2).
type olderCheck struct {
	NodeStartupTimeout         *metav1.Duration
	UnhealthyConditions        []olderCondition
	UnhealthyMachineConditions []olderCondition
	MaxUnhealthy               *intstr.IntOrString
	UnhealthyRange             string
	RemediationTemplate        clusterv1.MachineHealthCheckRemediationTemplateReference
}

type olderCondition struct {
	Type, Status string
	Timeout      metav1.Duration
}

// decodeCheck reads the spec of a MachineHealthCheck, or a health check of a topology
// or a class, which has the same members. Those of v1alpha3 to v1beta1 have other
// names than those of v1beta2, so that a text needs no version.
func decodeCheck(text string) (*clusterv1.MachineHealthCheckSpec, error) {
	var older olderCheck
	if err := json.Unmarshal([]byte(text), &older); err != nil {
		return nil, err
	}
	spec := older.convert()
	err := json.Unmarshal([]byte(text), spec)
	return spec, err
}

// convert returns it as v1beta2 writes it, but for the members that have the same name
// in both (Convert_v1beta1_MachineHealthCheckSpec_To_v1beta2_MachineHealthCheckSpec in
// Cluster API api/core/v1beta1/conversion.go v1.14.2, a package that is deprecated and
// 600 kB of the program).
func (o *olderCheck) convert() *clusterv1.MachineHealthCheckSpec {
	var spec clusterv1.MachineHealthCheckSpec
	for _, c := range o.UnhealthyConditions {
		spec.Checks.UnhealthyNodeConditions = append(spec.Checks.UnhealthyNodeConditions, clusterv1.UnhealthyNodeCondition{
			Type: corev1.NodeConditionType(c.Type), Status: corev1.ConditionStatus(c.Status), TimeoutSeconds: clusterv1.ConvertToSeconds(&c.Timeout),
		})
	}
	for _, c := range o.UnhealthyMachineConditions {
		spec.Checks.UnhealthyMachineConditions = append(spec.Checks.UnhealthyMachineConditions, clusterv1.UnhealthyMachineCondition{
			Type: c.Type, Status: metav1.ConditionStatus(c.Status), TimeoutSeconds: clusterv1.ConvertToSeconds(&c.Timeout),
		})
	}
	spec.Checks.NodeStartupTimeoutSeconds = clusterv1.ConvertToSeconds(o.NodeStartupTimeout)
	spec.Remediation.TriggerIf.UnhealthyLessThanOrEqualTo = o.MaxUnhealthy
	spec.Remediation.TriggerIf.UnhealthyInRange = o.UnhealthyRange
	spec.Remediation.TemplateRef = o.RemediationTemplate
	return &spec
}

// check is a health check with what it finds after the restore.
type check struct {
	name     string
	spec     *clusterv1.MachineHealthCheckSpec
	selector labels.Selector
	timeout  time.Duration // zero: it does not mind a missing Node
	notReady bool          // it minds a Node that is not Ready
	silent   bool          // it minds a Node of which nobody hears, and whose conditions are Unknown
	unread   bool          // nobody knows what it covers
	covered
}

// covered counts the machines that a check covers; planes are those of the control plane. Those
// that have no Node are unhealthy for its limits, even where it does not have them replaced
// (healthCheckTargets and unhealthyMachineCount in
// internal/controllers/machinehealthcheck v1.8.0 to v1.13.1).
type covered struct {
	targets, planes, unhealthy int
	unsure                     int // that are not known to have a Node, nor to have none
	starting                   int // that it calls unhealthy until they run, and that their controller starts or creates
}

func (h *check) title() string { return "MachineHealthCheck " + h.name }

// unreadCheck returns a health check of which only the name is known.
func unreadCheck(name string) *check {
	c := newCheck(name, &clusterv1.MachineHealthCheckSpec{}, labels.Nothing())
	c.unread = true
	return c
}

// pausedCheck names a health check that does nothing, by its cluster and its selector.
type pausedCheck struct {
	cluster  backup.ClusterID
	selector string
}

// readChecks returns the health checks by cluster. One whose selector is wrong covers
// nothing, as in Cluster API.
func readChecks(s *backup.Snapshot, managed map[backup.ClusterID]*topology) map[backup.ClusterID][]*check {
	out, paused := map[backup.ClusterID][]*check{}, map[pausedCheck]bool{}
	for r := range healthChecks.In(s).All() {
		id := backup.ClusterID{Backup: r.Backup, Namespace: r.Namespace, Name: r.Data.Cluster}
		spec, err := decodeCheck(r.Data.Spec)
		if err != nil && !r.Paused {
			out[id] = append(out[id], unreadCheck(r.Name))
		}
		if err != nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(&spec.Selector)
		if err != nil {
			continue
		}
		if r.Paused {
			paused[pausedCheck{id, selector.String()}] = true
			continue
		}
		if len(spec.Selector.MatchLabels)+len(spec.Selector.MatchExpressions) == 0 {
			selector = labels.Everything()
		}
		out[id] = append(out[id], newCheck(r.Name, spec, selector))
	}
	addTopologyChecks(managed, paused, out)
	return out
}

func newCheck(name string, spec *clusterv1.MachineHealthCheckSpec, selector labels.Selector) *check {
	c := &check{name: name, spec: spec, selector: selector, timeout: startupTime}
	if n := spec.Checks.NodeStartupTimeoutSeconds; n != nil {
		c.timeout = time.Duration(*n) * time.Second
	}
	for _, condition := range spec.Checks.UnhealthyNodeConditions {
		c.notReady = c.notReady || condition.Type == "Ready" && condition.Status != "True"
		c.silent = c.silent || condition.Status == "Unknown" && (condition.Type == "Ready" || slices.Contains(pressures, string(condition.Type)))
	}
	return c
}

// remediator returns the kind of an external remediation; empty when the owner remediates.
func (h *check) remediator() string { return h.spec.Remediation.TemplateRef.Kind }

// cover finds the health checks of a cluster that cover a machine.
type cover struct {
	all    int
	checks *backup.Demands[*check]
	asked  map[backup.Labels][]*check // by distinct text: machines share them
}

func newCover(checks []*check) *cover {
	return &cover{all: len(checks), checks: backup.NewDemands(checks, (*check).demands), asked: map[backup.Labels][]*check{}}
}

// demands returns the labels that a machine must have.
func (h *check) demands() iter.Seq2[string, string] {
	out := map[string]string{}
	all, _ := h.selector.Requirements()
	for i := range all {
		if value, exact := h.selector.RequiresExactMatch(all[i].Key()); exact {
			out[all[i].Key()] = value
		}
	}
	return maps.All(out)
}

// of returns the health checks that cover a machine; each acts by itself. Machines
// that ask to be spared are no targets (Cluster API
// internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.10.0).
func (c *cover) of(m *backup.Machine) []*check {
	if c.all == 0 || m.SkipRemediation {
		return nil
	}
	out, known := c.asked[m.Labels]
	if !known {
		for _, h := range c.checks.MayFit(m.Labels) {
			if h.selector.Matches(m.Labels) {
				out = append(out, h)
			}
		}
		c.asked[m.Labels] = out
	}
	return out
}
