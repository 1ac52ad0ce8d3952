package rehearsal

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	//lint:ignore SA1019 Deprecated, and what backups hold.
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
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

// decodeCheck reads the spec of a MachineHealthCheck, or a health check of a topology
// or a class, which has the same members. Those of v1alpha3 to v1beta1 have other
// names than those of v1beta2, so that a text needs no version (Cluster API
// api/core/v1beta1 and v1beta2 v1.14.2).
func decodeCheck(text string) (*clusterv1.MachineHealthCheckSpec, error) {
	var spec clusterv1.MachineHealthCheckSpec
	var older clusterv1beta1.MachineHealthCheckSpec
	if err := json.Unmarshal([]byte(text), &older); err != nil {
		return nil, err
	}
	if err := clusterv1beta1.Convert_v1beta1_MachineHealthCheckSpec_To_v1beta2_MachineHealthCheckSpec(&older, &spec, nil); err != nil {
		return nil, err
	}
	err := json.Unmarshal([]byte(text), &spec)
	return &spec, err
}

// check is a health check with what it finds after the restore.
type check struct {
	name     string
	spec     *clusterv1.MachineHealthCheckSpec
	selector labels.Selector
	timeout  time.Duration // zero: it does not mind a missing Node
	notReady bool          // it minds a Node that is not Ready
	silent   bool          // it minds a Node of which nobody hears, and whose Ready is Unknown
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
		c.silent = c.silent || condition.Type == "Ready" && condition.Status == "Unknown"
	}
	return c
}

// remediator is the kind of an external remediation; empty when the owner remediates.
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

// demands are the labels that a machine must have.
func (h *check) demands() map[string]string {
	out := map[string]string{}
	all, _ := h.selector.Requirements()
	for i := range all {
		if value, exact := h.selector.RequiresExactMatch(all[i].Key()); exact {
			out[all[i].Key()] = value
		}
	}
	return out
}

// of are the health checks that cover a machine; each acts by itself. Machines
// that ask to be spared are no targets (Cluster API
// internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.10.0).
func (c *cover) of(m *backup.Machine) []*check {
	if c.all == 0 || m.SkipRemediation {
		return nil
	}
	out, known := c.asked[m.Labels]
	if !known {
		all := m.Labels.Map()
		for _, h := range c.checks.MayFit(all) {
			if h.selector.Matches(labels.Set(all)) {
				out = append(out, h)
			}
		}
		c.asked[m.Labels] = out
	}
	return out
}

// sight is all that health checks see of a machine, by which they call it unhealthy or not.
type sight struct {
	checks **check // the first in the list of those that cover it
	plane  bool    // it is of the control plane
	spared bool    // they leave it alone
	asked  bool    // an annotation asks for it
	broken breakage
	late   bool   // it will have no Node
	unwell bool   // its Node is not Ready
	others string // conditions of its Node beside Ready
	gone   bool   // nor is its instance there, so that nobody hears of the Node
	unsure bool   // whether it will have one is not known
}

// judgement is what health checks say of all machines of which they see the same: many
// checks may cover many machines.
type judgement struct {
	checks   []*check
	machines int
	by       *check // see facts
	minded   string
	bad      bool
}

// examine does what each health check will do that covers a machine. Of several that
// call it unhealthy one decides that leaves it to the owner of the machine. One that is paused
// is no target until it is unpaused, and is judged for that time.
func (c *cluster) examine() {
	all := map[sight]*judgement{}
	for _, s := range c.all {
		for i := range s.members {
			f := s.members[i]
			if len(f.checks) == 0 || f.Machine.Paused && f.despitePause() != "" {
				continue
			}
			seen := f.sight()
			j := all[seen]
			if j == nil {
				j = seen.judge(f.checks)
				all[seen] = j
			}
			j.machines += one(!f.Machine.Paused)
			f.check, f.minded, f.unhealthy = j.by, j.minded, j.bad
		}
	}
	for seen, j := range all {
		for _, h := range j.checks {
			h.targets += j.machines
			if seen.plane {
				h.planes += j.machines
			}
			if _, bad := h.minds(seen); bad || seen.late {
				h.unhealthy += j.machines
			} else if seen.unsure {
				h.unsure += j.machines
			}
		}
	}
}

func (s sight) judge(checks []*check) *judgement {
	j := &judgement{checks: checks}
	for _, h := range checks {
		minded, bad := h.minds(s)
		if j.by == nil || bad && (!j.bad || j.by.remediator() != "" && h.remediator() == "") {
			j.by, j.minded, j.bad = h, minded, bad
		}
	}
	return j
}

// sight is what health checks look at: the annotation, the Machine's conditions and the
// Node. They spare workers until the control plane is initialised, and of one that is not
// nobody sees the Nodes. What has stopped does not tell the API server that it is well.
func (f *machine) sight() sight {
	s := sight{checks: &f.checks[0], plane: f.set == &f.cluster.control, asked: f.Machine.Remediate, broken: f.broken(), gone: f.stale()}
	switch {
	case f.cluster.uninitialised:
		s.spared, s.late = !f.verdict.ControlPlane && !s.asked, true
	case f.stopped() && (f.node != nil || !f.cluster.read):
		s.unwell = true
	case f.node != nil:
		s.unwell, s.others = !f.node.Ready, f.node.Conditions
	default:
		s.late = f.nodeMissing()
		s.unsure = f.verdict.Status == code.Unknown
	}
	return s
}

// statusWhenGone is that of the conditions of a Machine whose instance is gone, as a real
// restore showed them (Cluster API 1.13.1; setNodeHealthyAndReadyConditions and what the
// infrastructure's own condition says).
var statusWhenGone = map[string]metav1.ConditionStatus{
	clusterv1.InfrastructureReadyCondition: metav1.ConditionFalse,
	clusterv1.ReadyCondition:               metav1.ConditionFalse,
	clusterv1.AvailableCondition:           metav1.ConditionFalse,
	clusterv1.MachineNodeHealthyCondition:  metav1.ConditionUnknown,
	clusterv1.MachineNodeReadyCondition:    metav1.ConditionUnknown,
}

// breakage is the parts of a Machine whose conditions will not hold for long after the
// restore, as it was seen when a backup was really restored.
type breakage struct{ infrastructure, node, bootstrap bool }

func (f *machine) broken() breakage {
	return breakage{
		infrastructure: f.stale() || f.stopped() || f.healthy() && f.node != nil && (f.blocked() != "" || f.takesOther() || f.waits() != ""),
		node:           f.stopped() || f.node != nil && !f.node.Ready || f.node == nil && (f.stale() || f.healthy() && f.nodeMissing()),
		bootstrap:      f.healthy() && f.unbootstrapped(),
	}
}

// of reports whether a condition of the Machine will not hold.
func (b breakage) of(condition string) bool {
	switch condition {
	case clusterv1.InfrastructureReadyCondition:
		return b.infrastructure
	case clusterv1.BootstrapConfigReadyCondition:
		return b.bootstrap
	case clusterv1.MachineNodeHealthyCondition, clusterv1.MachineNodeReadyCondition:
		return b.node
	case clusterv1.ReadyCondition, clusterv1.AvailableCondition:
		return b != breakage{}
	}
	return false
}

// soon is how long controllers may take to find what is theirs after a restore. Until then no
// Machine is ready.
const soon = 5 * time.Minute

// hasty returns the condition for which the check may have a Machine replaced before its
// controller has found its instance, or nothing: a restore takes the status away, and conditions
// begin as they are without an instance (reconcileInfrastructure in
// internal/controllers/machine/machine_controller_status.go, needsRemediation in
// internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.13.6).
func (h *check) hasty() string {
	for _, c := range h.spec.Checks.UnhealthyMachineConditions {
		within := time.Duration(0)
		if c.TimeoutSeconds != nil {
			within = time.Duration(*c.TimeoutSeconds) * time.Second
		}
		if (breakage{infrastructure: true, node: true}).of(c.Type) && c.Status != metav1.ConditionTrue && within < soon {
			return fmt.Sprintf("%s=%s for %s", c.Type, c.Status, within)
		}
	}
	return ""
}

// minds reports whether the check calls a machine unhealthy, and for which condition of
// the Machine, if for one. Of a machine that lives that may be False or Unknown.
func (h *check) minds(s sight) (condition string, bad bool) {
	if s.spared {
		return "", false
	}
	for _, c := range h.spec.Checks.UnhealthyMachineConditions {
		if s.broken.of(c.Type) && c.Status != metav1.ConditionTrue && (!s.gone || c.Status == statusWhenGone[c.Type]) {
			return c.Type, true
		}
	}
	minds := h.notReady
	if s.gone {
		minds = h.silent
	}
	return "", s.asked || s.late && h.timeout > 0 || s.unwell && minds || h.mindsNode(s.others) != ""
}

// mindsNode returns the first condition of a Node beside Ready for which the check calls its
// machine unhealthy, or nothing. A Node that is not there has none.
func (h *check) mindsNode(conditions string) string {
	n := infra.Node{Conditions: conditions}
	for _, c := range h.spec.Checks.UnhealthyNodeConditions {
		if kind, status := string(c.Type), string(c.Status); conditions != "" && kind != "Ready" && n.HasCondition(kind, status) {
			return kind + "=" + status
		}
	}
	return ""
}

// allows reports whether the health check acts on that many unhealthy machines, and
// otherwise why not. Of a percentage the limit is rounded down, and one that is a text
// without a percent sign is an error, after which it does nothing (getMaxUnhealthy in
// internal/controllers/machinehealthcheck v1.8.0 to v1.13.1).
func (h *check) allows() (bool, string) {
	if within := h.spec.Remediation.TriggerIf.UnhealthyInRange; within != "" {
		low, high, ok := parseRange(within)
		if ok && (h.unhealthy < low || h.unhealthy > high) {
			return false, fmt.Sprintf("%s stops, because %s not within %s", h.title(), plural(h.unhealthy, "unhealthy machine is", "unhealthy machines are"), within)
		}
		return true, ""
	}
	limit := h.spec.Remediation.TriggerIf.UnhealthyLessThanOrEqualTo
	if limit == nil {
		return true, ""
	}
	switch n, err := intstr.GetScaledValueFromIntOrPercent(limit, h.targets, false); {
	case err != nil:
		return false, fmt.Sprintf("%s stops, because its limit is neither a number nor a percentage: %s", h.title(), limit)
	case h.unhealthy > n:
		return false, fmt.Sprintf("%s stops, because %d of %s %s unhealthy and %s is its limit",
			h.title(), h.unhealthy, plural(h.targets, "machine", "machines"), verb(h.unhealthy, "is", "are"), limit)
	}
	return true, ""
}

// certainly is allows of a machine that is gone: it is not healed by a health check that may
// stop because of machines of which nobody knows whether they have a Node.
func (h *check) certainly() (bool, string) {
	if ok, why := h.allows(); !ok {
		return false, why
	}
	most := *h
	most.unhealthy += h.unsure
	ok, why := most.allows()
	if !ok {
		why += ", if those that are Unknown have no Node"
	}
	return ok, why
}

// passesRange reports whether the number of unhealthy machines comes from within the range
// of the health check, or above, and ends below: right after a restore none has a Node.
func (h *check) passesRange() bool {
	low, _, ok := parseRange(h.spec.Remediation.TriggerIf.UnhealthyInRange)
	return ok && h.unhealthy < low && low <= h.targets
}

// parseRange reads "[3-5]", both ends included.
func parseRange(text string) (low, high int, ok bool) {
	a, b, found := strings.Cut(strings.Trim(text, "[]"), "-")
	low, err1 := strconv.Atoi(a)
	high, err2 := strconv.Atoi(b)
	return low, high, found && err1 == nil && err2 == nil
}
