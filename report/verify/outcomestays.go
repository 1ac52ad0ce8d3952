package verify

import (
	"slices"

	"drift-detector/report"
	"drift-detector/report/code"
)

// This file has the outcomes of what nobody repairs, and of what nobody touches.

// patiently takes what is as foretold for such only when nobody is left who would act: soon after
// the controllers could, and where a health check watches the Machine, or may, after the time that
// it mostly waits.
func (f *subject) patiently(is *finding) *finding {
	wait := soon
	watched := isUnread(f.seen, "MachineHealthCheck") || f.machine != nil && condition(f.machine.Conditions, "HealthCheckSucceeded").Type != "" ||
		slices.ContainsFunc(f.seen.Checks, func(c Check) bool { return c.Namespace == f.cluster.Namespace && c.Cluster == f.cluster.Name })
	if watched {
		wait = startup
	}
	if is.verdict != As || f.longer(wait) {
		return is
	}
	return f.awaits(is.seen+"; whether it stays so shows later", wait)
}

func (f *subject) stuck() *finding {
	out := f.patiently(f.unrepaired())
	switch {
	case out.verdict != As || !f.machine.nodeHealthy():
		return out
	case f.of.Status == code.Stale && f.cluster.Nodes.State == report.NodesRead:
		return not("has no VM, and its Node is registered all the same")
	case f.of.Status == code.Stale:
		return as(out.seen + "; its Node is registered all the same, which the report did not look at")
	}
	return notYet(out.seen + ", and its Node is Ready")
}

func (f *subject) stuckNodeLeft() *finding {
	out := f.patiently(f.unrepaired())
	if out.verdict == As && !f.machine.nodeHealthy() {
		return f.awaits(out.seen+", and its Node is not seen", soon)
	}
	return out
}

// tookVM returns what contradicts that a Machine's controller takes no VM, or nil.
func (f *subject) tookVM() *finding {
	switch t := f.taken; {
	case f.machine.joined():
		return not("is Running")
	case t.id != "" && t.id != f.recorded:
		return not("has taken instance " + t.id)
	case t.is == found:
		return not("its VM is taken over")
	}
	return nil
}

// unrepaired asks for a Machine whose controller has no VM that runs, and makes none. That it says
// nothing for a long time counts only where its VM is known to be gone.
func (f *subject) unrepaired() *finding {
	if f.machine == nil || !f.machine.Deleting.IsZero() || !beyondPaused(f.machine.Conditions) {
		return f.stays()
	}
	if out := f.tookVM(); out != nil {
		return out
	}
	t, at := f.taken, f.instance()
	switch {
	case t.is == broken:
		return not("its VM is there, and its controller leaves it alone: " + t.say.Reason)
	case t.is == off:
		return as("its VM does not run").at(t.say.Since)
	case t.is == absent && (at != runs || f.of.Status != code.Stale):
		return as("its controller finds no VM: " + t.say.Reason).at(t.say.Since)
	case at == runs:
		return notYet("its VM runs, and its controller has not taken it")
	case t.is == refused:
		return as("no VM can be created: " + t.say.Reason).at(t.say.Since)
	case !f.longer(startup):
		return f.awaits("its controller says nothing of a VM yet", startup)
	case f.of.Status != code.Stale && f.of.Instance != nil:
		return unjudged("its controller says nothing of a VM")
	case at == isMissing:
		return as("has no VM, and its controller creates none")
	}
	return unseen("its controller says nothing of a VM, and whether there is one was not listed")
}

// halted asks for a Machine whose controller does nothing, beside an instance that runs on.
func (f *subject) halted() *finding {
	if out := f.stays(); out != nil {
		return out
	}
	if out := f.tookVM(); out != nil {
		return out
	}
	t := f.taken
	switch {
	case t.is == off:
		return not("its controller has its VM, which does not run").at(t.say.Since)
	case t.is == absent:
		return not("its controller finds no VM: " + t.say.Reason).at(t.say.Since)
	}
	switch at := f.instance(); {
	case at == isMissing && f.recorded != "" && f.of.Status == code.Healthy:
		return not("its VM is gone")
	case at == unlisted:
		return unseen("its controller does nothing; that its VM runs on was not listed")
	case at == isMissing:
		return unjudged("its controller does nothing; that its VM runs on was not seen")
	case at == stopped && !f.of.IsOff():
		return not("its VM is off")
	case t.is == broken || t.is == refused:
		return f.patiently(as("its controller leaves it alone: " + t.say.Reason).at(t.say.Since))
	case !f.longer(startup):
		return f.awaits("its controller has not acted so far", startup)
	}
	return as("its controller does nothing, and its VM is there")
}

// untouched asks for a paused Machine of which no controller has written anything.
func (f *subject) untouched() *finding {
	switch {
	case f.machine == nil:
		return not("its Machine is not there")
	case !f.machine.Deleting.IsZero():
		return f.deleting()
	case !f.paused():
		return unjudged("is not paused any more: what the forecast says of it no longer applies")
	case f.of.Instance != nil && f.instance() == isMissing:
		return not("its VM is gone")
	case beyondPaused(f.machine.Conditions) || len(f.machine.Owners) > 0:
		return not("is paused, and a controller has acted on it")
	case len(f.objects) == 0:
		return unjudged("is paused; its infrastructure object was not seen")
	case slices.ContainsFunc(f.objects, func(o *Object) bool { return beyondPaused(o.Conditions) || !o.Deleting.IsZero() }):
		return not("is paused, and its infrastructure's controller has acted on it")
	}
	return as("is paused, and nobody has touched it")
}

// ghost judges a VM without a Machine. What takes for granted that it has one is not as foretold.
func (f *subject) ghost(rule func(*subject) *finding) *finding {
	switch f.outcome {
	case code.GhostKeepsRunning, code.GhostEtcdMemberKept, code.GhostEtcdMemberRemoved:
		return rule(f)
	}
	return not("is a VM without a Machine")
}

// keepsRunning asks for a VM that is there as it was, and that nothing was created beside.
func (f *subject) keepsRunning() *finding {
	ghost := f.of.Status == code.Ghost
	switch {
	case f.machine != nil:
		return not("has a Machine")
	case !ghost && f.objectGone():
		return not("its infrastructure object is gone, or being deleted")
	}
	if out := f.vmStays(); out != nil {
		return out
	}
	switch {
	case f.of.Role != report.RoleWorker:
		return unjudged("its VM is there; etcd was not asked")
	case !ghost && f.surplus() > 0:
		return unjudged("its VM is there; whether " + f.group.younger[0].Name + " was created in its place is not known")
	case !ghost && !f.longer(soon):
		return f.awaits("its VM is there; whether another Machine is created shows later", soon)
	}
	return as("its VM is there")
}

// vmStays returns nil where the VM is there as the report has it.
func (f *subject) vmStays() *finding {
	at := f.instance()
	switch {
	case f.of.Instance == nil:
		return unjudged("its VM was not listed")
	case at == unlisted:
		return unseen("its VM was not listed")
	case at == isMissing:
		return not("its VM is gone")
	case at == stopped && !isOff(f.of.Instance.State):
		return not("its VM is off")
	}
	return nil
}

func (f *subject) etcdMember() *finding {
	if f.of.Status != code.Ghost {
		return not("is no VM without a Machine")
	}
	if out := f.vmStays(); out != nil {
		return out
	}
	return unjudged("its VM is there; etcd was not asked")
}
