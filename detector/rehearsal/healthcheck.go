package rehearsal

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report"
	"drift-detector/report/code"
)

// checkDeeds are asked of each cluster.
var checkDeeds = []deed[*cluster]{
	{walk.Row{
		ID: "core.H3", Of: "MachineHealthCheck",
		Asks:    "the Machines that its selector matches",
		Refused: "its spec, which has a form that is not known here",
		Source:  "getTargetsFromMHC: internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.8.0 to v1.14.0",
	}, checksRead},
	{walk.Row{
		ID: "core.H5", Of: "MachineHealthCheck",
		Asks:    "conditions and Nodes of Machines, which begin after a restore as they are without an instance",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.OutcomeUnknown, What: "it may call every Machine unhealthy before its controller has found its instance"},
		Source:  "needsRemediation: internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.13.6; reconcileInfrastructure: internal/controllers/machine/machine_controller_status.go",
	}, checksPatient},
}

// healthDeeds are asked of each Machine that a health check covers.
var healthDeeds = []deed[*machine]{
	{walk.Row{
		ID: "core.H4", Of: "MachineHealthCheck",
		Asks:    "annotation cluster.x-k8s.io/remediate-machine of the Machine",
		Differs: walk.Replaces.Says("it marks the Machine at once, for its owner to replace it"),
		Source:  "needsRemediation: internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.7.0 to v1.14.0",
	}, minds("core.H4", walk.Differs)},
	{walk.Row{
		ID: "core.H6", Of: "MachineHealthCheck",
		Asks:    "the conditions of the Machine that its spec names",
		Differs: walk.Replaces.Says("it marks the Machine, for its owner to replace it"),
		Source:  "machineChecks: internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.12.0 to v1.14.0",
	}, minds("core.H6", walk.Differs)},
	{walk.Row{
		ID: "core.H7", Of: "MachineHealthCheck",
		Asks:   "the Node of the Machine, for which it waits; of a control plane that is not initialised it sees none",
		None:   walk.Replaces.Says("it marks the Machine, for its owner to replace it"),
		Source: "nodeChecks: internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.8.0 to v1.14.0",
	}, minds("core.H7", walk.None)},
	{walk.Row{
		ID: "core.H8", Of: "MachineHealthCheck",
		Asks:    "the conditions of the Node that its spec names",
		Differs: walk.Replaces.Says("it marks the Machine, for its owner to replace it"),
		Source:  "nodeChecks: internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.8.0 to v1.14.0",
	}, minds("core.H8", walk.Differs)},
	{walk.Row{
		ID: "core.H9", Of: "MachineHealthCheck",
		Asks:    "the number of its Machines that are unhealthy, against its limit",
		Differs: walk.OwnerHalts.Says("it marks none: nothing replaces them"),
		Source:  "isAllowedRemediation, getMaxUnhealthy: internal/controllers/machinehealthcheck v1.8.0 to v1.14.0",
	}, limited},
	{walk.Row{
		ID: "core.H10", Of: "MachineHealthCheck",
		Asks:    "a template of a remediation of others",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.OutcomeUnknown, What: "it creates a request of that kind, and what that does is not known here"},
		Source:  "patchUnhealthyTargets: internal/controllers/machinehealthcheck v1.8.0 to v1.14.0",
	}, remediatedByOthers},
}

// checksRead asks core.H3.
func checksRead(p *actions, c *cluster) bool {
	for _, h := range c.checks {
		if h.unread {
			p.finds(walk.Unread, h.title()+" could not be read: which machines it has replaced is not known here")
		}
	}
	return len(c.checks) > 0
}

// checksPatient asks core.H5.
func checksPatient(p *actions, c *cluster) bool {
	for _, h := range c.checks {
		if condition := h.hasty(); condition != "" && h.targets > 0 {
			p.finds(walk.Differs, h.title()+" calls a Machine unhealthy after "+condition+", as each is after a restore until its controller has found its instance: whether that takes longer is not known here")
		}
	}
	return len(c.checks) > 0
}

// minds asks one of the rows by which a health check calls a Machine unhealthy.
func minds(row string, found walk.Found) func(*actions, *machine) bool {
	return func(p *actions, f *machine) bool {
		if f.check == nil || !f.unhealthy {
			return f.check != nil
		}
		if by, why := f.complaint(); by == row {
			p.notes(found, why)
		}
		return true
	}
}

// limited asks core.H9.
func limited(p *actions, f *machine) bool {
	if f.check == nil || !f.unhealthy {
		return f.check != nil
	}
	if ok, why := f.check.heals(f); !ok {
		p.notes(walk.Differs, why)
	}
	return true
}

// heals reports whether the health check acts on a machine that it calls unhealthy, and
// otherwise why not.
func (h *check) heals(f *machine) (bool, string) {
	switch {
	case f.stale():
		return h.certainly()
	case f.starts(): // itself included
		return h.within(h.unhealthy+1, h.unhealthy+max(1, h.starting))
	}
	return h.allows()
}

// remediatedByOthers asks core.H10.
func remediatedByOthers(p *actions, f *machine) bool {
	if f.check != nil && f.unhealthy && f.check.remediator() != "" {
		p.notes(walk.Differs, f.check.title()+" leaves it to "+f.check.remediator())
	}
	return f.check != nil
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
	starts bool   // it does not run yet, and its controller starts or creates it
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
			_, bad := h.minds(seen)
			switch bad = bad || seen.late; {
			case bad && seen.starts:
				h.starting += j.machines
			case bad:
				h.unhealthy += j.machines
			case seen.unsure:
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

// sight returns what health checks look at: the annotation, the Machine's conditions and the
// Node. They spare workers until the control plane is initialised, and of one that is not
// nobody sees the Nodes. What has stopped does not tell the API server that it is well; of what
// is started soon, a Node that was read counts as it is.
func (f *machine) sight() sight {
	s := sight{checks: &f.checks[0], plane: f.set == &f.cluster.control, asked: f.Machine.Remediate, broken: f.broken(), gone: f.stale(), starts: f.starts() || f.isMade()}
	switch {
	case f.cluster.uninitialised:
		s.spared, s.late = !f.verdict.ControlPlane && !s.asked, true
	case f.stopped() && (f.node != nil || !f.cluster.read), f.starts() && !f.cluster.read:
		s.unwell = true
	case f.node != nil:
		s.unwell, s.others = !f.node.Ready, f.node.Conditions
	default:
		s.late = f.nodeMissing()
		s.unsure = f.verdict.Status == code.Unknown || f.awaitsNode()
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

// expectedBy returns when a health check calls the machine unhealthy, the latest of what it may
// mean by its complaint; zero where none covers it.
func (f *machine) expectedBy() report.ExpectedBy {
	if f.check == nil {
		return report.ExpectedBy{}
	}
	out := report.ExpectedBy{Event: report.ControllersStart}
	later := func(seconds *int32) {
		if seconds != nil {
			out.Seconds = max(out.Seconds, int64(*seconds))
		}
	}
	switch row, _ := f.complaint(); row {
	case "core.H6":
		out.Event = report.MachineCondition
		for _, c := range f.check.spec.Checks.UnhealthyMachineConditions {
			if c.Type == f.minded {
				later(c.TimeoutSeconds)
			}
		}
	case "core.H7":
		out.Event, out.Seconds = report.NodeStartup, int64(f.check.timeout/time.Second)
	case "core.H8":
		out.Event = report.NodeCondition
		for _, c := range f.check.spec.Checks.UnhealthyNodeConditions {
			later(c.TimeoutSeconds)
		}
	}
	return out
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

// joined is how long they may take to find the Nodes, for which they need the id that a Machine
// has and an API server that answers, which is asked again every 30 seconds.
const joined = 2 * time.Minute

// hasty returns the condition for which the check may have a Machine replaced before its
// controller has found its instance, or nothing: a restore takes the status away, and conditions
// begin as they are without an instance and without a Node (reconcileInfrastructure in
// internal/controllers/machine/machine_controller_status.go, needsRemediation and nodeChecks in
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
	if 0 < h.timeout && h.timeout < joined {
		return fmt.Sprintf("%s without a Node", h.timeout)
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
