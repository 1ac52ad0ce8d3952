package forecast

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"drift-detector/backup"
)

// healthCheck is a MachineHealthCheck as v1alpha3 to v1beta2 write it (Cluster
// API api/core/v1beta1 and v1beta2 machinehealthcheck_types.go v1.14.2).
type healthCheck struct {
	Cluster, Selector string
	Timeout           string // a duration; before v1beta2
	TimeoutSeconds    backup.Number
	Types, Statuses   []string // of the Node conditions that are unhealthy
	// MachineTypes and MachineStatuses are of the Machine conditions that are unhealthy
	// (from Cluster API v1.12 on).
	MachineTypes, MachineStatuses []string
	Limit, Range                  string // how many may be unhealthy before it stops
	Template                      string // an external remediation instead of the owner's
}

var healthChecks = backup.NewKind("machinehealthchecks.cluster.x-k8s.io",
	backup.Text(func(h *healthCheck) *string { return &h.Cluster }, "spec.clusterName"),
	backup.Raw(func(h *healthCheck) *string { return &h.Selector }, "spec.selector"),
	backup.Text(func(h *healthCheck) *string { return &h.Timeout }, "spec.nodeStartupTimeout"),
	backup.Count(func(h *healthCheck) *backup.Number { return &h.TimeoutSeconds }, "spec.checks.nodeStartupTimeoutSeconds"),
	backup.Texts(func(h *healthCheck) *[]string { return &h.Types }, "spec.checks.unhealthyNodeConditions[].type", "spec.unhealthyConditions[].type"),
	backup.Texts(func(h *healthCheck) *[]string { return &h.Statuses }, "spec.checks.unhealthyNodeConditions[].status", "spec.unhealthyConditions[].status"),
	backup.Texts(func(h *healthCheck) *[]string { return &h.MachineTypes }, "spec.checks.unhealthyMachineConditions[].type", "spec.unhealthyMachineConditions[].type"),
	backup.Texts(func(h *healthCheck) *[]string { return &h.MachineStatuses }, "spec.checks.unhealthyMachineConditions[].status", "spec.unhealthyMachineConditions[].status"),
	backup.Raw(func(h *healthCheck) *string { return &h.Limit }, "spec.remediation.triggerIf.unhealthyLessThanOrEqualTo", "spec.maxUnhealthy"),
	backup.Text(func(h *healthCheck) *string { return &h.Range }, "spec.remediation.triggerIf.unhealthyInRange", "spec.unhealthyRange"),
	backup.Text(func(h *healthCheck) *string { return &h.Template }, "spec.remediation.templateRef.kind", "spec.remediationTemplate.kind"),
)

// check is a health check with what it finds after the restore.
type check struct {
	name     string
	data     *healthCheck
	selector labels.Selector
	fits     map[backup.Labels]bool // by distinct text: machines share them
	timeout  time.Duration          // zero: it does not mind a missing Node
	notReady bool                   // it minds a Node that is not Ready
	// Of the machines that it covers.
	targets, unhealthy int
}

func (h *check) title() string { return "MachineHealthCheck " + h.name }

// readChecks are the health checks by cluster. One whose selector cannot be
// read covers nothing, as in Cluster API.
func readChecks(s *backup.Snapshot, managed map[backup.ClusterID]*topology) map[backup.ClusterID][]*check {
	out := map[backup.ClusterID][]*check{}
	for r := range healthChecks.In(s).All() {
		var selector metav1.LabelSelector
		if r.Data.Selector != "" && json.Unmarshal([]byte(r.Data.Selector), &selector) != nil {
			continue
		}
		parsed, err := metav1.LabelSelectorAsSelector(&selector)
		if err != nil || r.Paused {
			continue
		}
		if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
			parsed = labels.Everything()
		}
		id := backup.ClusterID{Backup: r.Backup, Namespace: r.Namespace, Name: r.Data.Cluster}
		out[id] = append(out[id], newCheck(r.Name, &r.Data, parsed))
	}
	addTopologyChecks(managed, out)
	return out
}

// mindsMachine reports whether the check calls a machine unhealthy for a condition of
// the Machine that does not hold.
func (h *check) mindsMachine(broken map[string]bool) string {
	for i, kind := range h.data.MachineTypes {
		if broken[kind] && i < len(h.data.MachineStatuses) && h.data.MachineStatuses[i] != "True" {
			return kind
		}
	}
	return ""
}

func newCheck(name string, data *healthCheck, selector labels.Selector) *check {
	c := &check{name: name, data: data, selector: selector, fits: map[backup.Labels]bool{}, timeout: data.startup()}
	for i, kind := range data.Types {
		if kind == "Ready" && i < len(data.Statuses) && data.Statuses[i] != "True" {
			c.notReady = true
		}
	}
	return c
}

// startup is how long a machine may be without a Node; zero is for ever.
func (h *healthCheck) startup() time.Duration {
	if h.TimeoutSeconds.Known {
		return time.Duration(h.TimeoutSeconds.N) * time.Second
	}
	if h.Timeout != "" {
		if d, err := time.ParseDuration(h.Timeout); err == nil {
			return d
		}
	}
	return startupTime
}

// covering are the health checks that cover a machine; each acts by itself. Machines that are paused or ask to be spared are no targets (Cluster API
// internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.10.0).
func covering(checks []*check, m *backup.Machine) []*check {
	if m.SkipRemediation || m.Paused {
		return nil
	}
	var out []*check
	for _, h := range checks {
		fits, ok := h.fits[m.Labels]
		if !ok {
			fits = h.selector.Matches(labels.Set(m.Labels.Map()))
			h.fits[m.Labels] = fits
		}
		if fits {
			out = append(out, h)
		}
	}
	return out
}

// allows says whether the health check acts on that many unhealthy machines,
// and otherwise why not.
func (h *check) allows() (bool, string) {
	if h.data.Range != "" {
		low, high, ok := parseRange(h.data.Range)
		if ok && (h.unhealthy < low || h.unhealthy > high) {
			return false, fmt.Sprintf("%s stops, because %s not within %s", h.title(), plural(h.unhealthy, "unhealthy machine is", "unhealthy machines are"), h.data.Range)
		}
		return true, ""
	}
	limit, text, ok := h.limit()
	if ok && h.unhealthy > limit {
		return false, fmt.Sprintf("%s stops, because %d of %s %s unhealthy and %s is its limit",
			h.title(), h.unhealthy, plural(h.targets, "machine", "machines"), verb(h.unhealthy, "is", "are"), text)
	}
	return true, ""
}

// limit is the number of unhealthy machines up to which it acts. A percentage
// is rounded down (Cluster API uses GetScaledValueFromIntOrPercent so, v1.10.0).
func (h *check) limit() (n int, text string, ok bool) {
	var v any
	if h.data.Limit == "" || json.Unmarshal([]byte(h.data.Limit), &v) != nil {
		return 0, "", false
	}
	switch v := v.(type) {
	case float64:
		return int(v), strconv.Itoa(int(v)), true
	case string:
		percent, err := strconv.Atoi(strings.TrimSuffix(v, "%"))
		if err != nil {
			return 0, "", false
		}
		if !strings.HasSuffix(v, "%") {
			return percent, v, true
		}
		return percent * h.targets / 100, v, true
	}
	return 0, "", false
}

// parseRange reads "[3-5]", both ends included.
func parseRange(text string) (low, high int, ok bool) {
	a, b, found := strings.Cut(strings.Trim(text, "[]"), "-")
	low, err1 := strconv.Atoi(a)
	high, err2 := strconv.Atoi(b)
	return low, high, found && err1 == nil && err2 == nil
}
