package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		if h.targets == 0 {
			continue
		}
		if condition := h.hasty(); condition != "" {
			p.finds(walk.Differs, h.title()+" calls a Machine unhealthy after "+condition+", as each is after a restore until its controller has found its instance: whether that takes longer is not known here")
		}
		if condition := h.contrary(); condition != "" {
			p.finds(walk.Differs, h.title()+" calls a Machine unhealthy for "+condition+", as those are that are well: which machines it has replaced is not known here")
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
	if ok, why := f.check.heals(f.stale(), f.starts()); !ok {
		p.notes(walk.Differs, why)
	}
	return true
}

// heals reports whether the health check acts on a machine that it calls unhealthy, and
// otherwise why not.
func (h *check) heals(gone, starts bool) (bool, string) {
	switch {
	case gone:
		return h.certainly()
	case starts: // itself included
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
	dark   bool   // nothing is heard of its kubelet, so that what that reports is Unknown
	others string // conditions of its Node beside Ready
	gone   bool   // nor is its instance there, so that nobody hears of the Node
	unsure bool   // whether it will have one is not known
	starts bool   // it does not run yet, and its controller starts or creates it
}

// judgement is what health checks say of all machines of which they see the same: many
// checks may cover many machines.
type judgement struct {
	checks  []*check
	members []*machine
}

// examine does what each health check will do that covers a machine. Each acts by itself: of
// several that call it unhealthy that one decides which does most about it, once all have
// counted. One that is paused is no target until it is unpaused, and is judged for that time.
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
				j = &judgement{checks: f.checks}
				all[seen] = j
			}
			j.members = append(j.members, f)
		}
	}
	for seen, j := range all {
		n := 0
		for _, f := range j.members {
			n += one(!f.Machine.Paused)
		}
		for _, h := range j.checks {
			h.targets += n
			if seen.plane {
				h.planes += n
			}
			_, bad := h.minds(seen)
			switch bad = bad || seen.late; {
			case bad && seen.starts:
				h.starting += n
			case bad:
				h.unhealthy += n
			case seen.unsure:
				h.unsure += n
			}
		}
	}
	for seen, j := range all {
		by := slices.MaxFunc(j.checks, func(a, b *check) int { return cmp.Compare(a.urgency(seen), b.urgency(seen)) })
		minded, bad := by.minds(seen)
		for _, f := range j.members {
			f.check, f.minded, f.unhealthy = by, minded, bad
		}
	}
}

// urgency returns how much the health check does about a machine, from nothing to nothing as long as
// its limit holds, something that is not known here, and a mark for the owner.
func (h *check) urgency(s sight) int {
	minded, bad := h.minds(s)
	acts, _ := h.heals(s.gone, s.starts)
	switch {
	case !bad:
		return 0
	case !acts && !h.actsOnFewer() && !h.passesRange():
		return 1
	case !acts:
		return 2
	case h.remediator() != "" || !isForecast(minded):
		return 3
	}
	return 4
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
	case f.node != nil:
		s.unwell, s.others = !f.node.Ready || f.stopped(), f.node.Conditions
		s.dark = f.stopped() || s.unwell && !f.cluster.described
	case (f.stopped() || f.starts()) && !f.cluster.read:
		s.unwell, s.dark = true, true
	default:
		s.late = f.nodeMissing()
		s.unsure = f.verdict.Status == code.Unknown || f.awaitsNode()
	}
	return s
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

// broken returns what of the machine does not hold.
func (f *machine) broken() breakage {
	node := f.cluster.uninitialised || f.stopped() || f.node != nil && !f.node.Ready || f.node == nil && (f.stale() || f.starts() || f.healthy() && f.nodeMissing())
	return breakage{
		infrastructure: f.stale() || f.stopped() || f.healthy() && f.node != nil && (f.blocked() != "" || f.takesOther() || f.halted() != ""),
		node:           node,
		bootstrap:      f.healthy() && f.unbootstrapped(),
		pressed:        f.node != nil && slices.ContainsFunc(pressures, func(kind string) bool { return !f.node.HasCondition(kind, "False") }),
		pods:           node && f.verdict.ControlPlane,
		outdated:       f.set.outdated[f.by.name],
	}
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
		if _, begins := statusWhenGone(c.Type); begins && (h.planes > 0 || !podsOf[c.Type]) && c.Status != metav1.ConditionTrue && within < soon {
			return fmt.Sprintf("%s=%s for %s", c.Type, c.Status, within)
		}
	}
	if 0 < h.timeout && h.timeout < joined {
		return fmt.Sprintf("%s without a Node", h.timeout)
	}
	return ""
}

// contrary returns the condition of a machine that is well for which the check has one replaced, or nothing.
func (h *check) contrary() string {
	for _, c := range h.spec.Checks.UnhealthyNodeConditions {
		if kind, status := string(c.Type), string(c.Status); kind == "Ready" && status == "True" || infra.IsUsual(kind, status) {
			return kind + "=" + status
		}
	}
	for _, c := range h.spec.Checks.UnhealthyMachineConditions {
		if well, known := statusWhenWell(c.Type); known && c.Status == well {
			return c.Type + "=" + string(c.Status)
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
		status, _ := statusWhenGone(c.Type)
		if !s.broken.of(c.Type) || c.Status == metav1.ConditionTrue || s.gone && c.Status != status {
			continue
		}
		if condition = c.Type; isForecast(condition) {
			return condition, true
		}
	}
	if s.asked || s.late && h.timeout > 0 || s.unwell && h.notReady && !s.gone || (s.dark || s.unwell && s.gone) && h.silent || h.mindsNode(s.others) != "" {
		return "", true
	}
	return condition, condition != ""
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
