package verify

import (
	"strings"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// This file has the outcomes of what is deleted. Of a Machine that is gone nobody can see who
// deleted it: what is there in its place says it.

// goes returns nil where the Machine is gone, with its infrastructure object and its VM.
func (f *subject) goes(due time.Time) *finding {
	awaited := func(why string) *finding { return &finding{verdict: NotYet, seen: why, until: due} }
	switch {
	case f.machine == nil:
	case !f.machine.Deleting.IsZero():
		return awaited("is Deleting").at(f.machine.Deleting)
	case f.machine.joined() && !due.IsZero() && f.seen.At.After(due.Add(soon)):
		return not("is Running, and nobody has deleted it")
	case f.machine.joined():
		return awaited("is Running so far")
	default:
		return awaited("is not deleted so far")
	}
	if !f.objectGone() {
		return awaited("its Machine is not there, and its infrastructure object is")
	}
	if f.of.Instance == nil {
		return nil // there was no VM
	}
	switch f.instance() {
	case isMissing:
		return nil
	case unlisted:
		return unseen("its Machine is gone; whether its VM is was not listed")
	}
	return awaited("its Machine is gone, and its VM is still there")
}

// due returns when a health check calls the machine unhealthy, as the report says; zero where the
// event from which that is counted has not come, or is not known.
func (f *subject) due() time.Time {
	by := f.of.Forecast.ExpectedBy
	at := f.start()
	if at.IsZero() || by.Event == "" {
		return time.Time{}
	}
	if by.Event == report.NodeStartup {
		initialized := condition(f.there.Conditions, "ControlPlaneInitialized")
		if initialized.Status != "True" && !f.plane {
			return time.Time{} // it spares workers until then
		}
		for _, c := range []*Condition{initialized, condition(f.there.Conditions, "InfrastructureReady"), f.infrastructureReady()} {
			if c.Status == "True" && c.Since.After(at) {
				at = c.Since
			}
		}
		if f.machine != nil && f.machine.Created.After(at) {
			at = f.machine.Created
		}
	}
	return at.Add(time.Duration(min(by.Seconds, 1<<31)) * time.Second)
}

func (f *subject) infrastructureReady() *Condition {
	if f.machine == nil {
		return &none
	}
	return condition(f.machine.Conditions, "InfrastructureReady")
}

// replaced asks for a Machine in place of one that a health check had deleted: of the same
// MachineSet, or by the annotation of KubeadmControlPlane.
func (f *subject) replaced() *finding {
	if out := f.goes(f.due()); out != nil {
		return out
	}
	return f.inPlace("was replaced", func(y *Machine) bool {
		if f.plane {
			return y.RemediationFor == f.of.Name
		}
		return setOfName(y.Name) == setOfName(f.of.Name)
	})
}

// rolled asks for a Machine of another MachineSet, or of a control plane one that was not created
// in place of an unhealthy one.
func (f *subject) rolled() *finding {
	if out := f.goes(time.Time{}); out != nil {
		return out
	}
	return f.inPlace("was rolled out", func(y *Machine) bool {
		if f.plane {
			return y.RemediationFor == ""
		}
		return setOfName(y.Name) != setOfName(f.of.Name)
	})
}

// setOfName returns the name of the MachineSet that gave a Machine its name: all but the five
// letters at the end.
func setOfName(machine string) string {
	i := strings.LastIndexByte(machine, '-')
	return machine[:max(i, 0)]
}

// inPlace returns as foretold where there are as many new Machines as those of the report that are gone
// from the group.
func (f *subject) inPlace(seen string, is func(*Machine) bool) *finding {
	n, one := 0, ""
	for _, y := range f.group.younger {
		if is(y) && y.Deleting.IsZero() {
			n, one = n+1, y.Name
		}
	}
	switch {
	case n == 0:
		return notYet("its Machine is gone, and no other is created in its place")
	case !f.plane && n < f.group.lost:
		return notYet("its Machine is gone, and not each that is gone from its group has another in its place")
	}
	return as(seen + ": " + one + " is there")
}

// surplus returns how many new Machines a group has beyond those in place of Machines of the report.
func (f *subject) surplus() int { return len(f.group.younger) - f.group.lost }

// owner returns whether the owner of the machine is there; known is false where that was not read.
func (f *subject) owner() (there, known bool) {
	if isUnread(f.seen, f.kind) {
		return false, false
	}
	for i := range f.seen.Groups {
		g := &f.seen.Groups[i]
		if g.Kind == f.kind && g.Namespace == f.cluster.Namespace && g.Name == f.in && g.Deleting.IsZero() {
			return true, true
		}
	}
	return false, true
}

func (f *subject) deletedByOwner() *finding {
	if out := f.goes(time.Time{}); out != nil {
		return out
	}
	there, known := f.owner()
	switch {
	case !known:
		return unjudged("its Machine is gone, and " + f.kind + " could not be read")
	case f.pool && f.of.Status == code.Stale:
		return unjudged("its Machine is gone, and its VM was before")
	case f.pool:
		return as("its Machine and its VM are gone")
	case there:
		return notYet("its Machine is gone, and " + f.kind + " " + f.in + " is still there")
	}
	return as("it is gone with " + f.kind + " " + f.in)
}

// deletedByCheck waits until no other Machine is created any more.
func (f *subject) deletedByCheck() *finding {
	if out := f.goes(f.due()); out != nil {
		return out
	}
	there, known := f.owner()
	switch {
	case !known:
		return unjudged("its Machine is gone, and " + f.kind + " could not be read")
	case len(f.group.younger) >= f.group.lost:
		return not("its Machine is gone, and " + f.group.younger[0].Name + " was created, which was not foretold")
	case f.pool || !there:
		return not("its Machine is gone with its owner")
	case len(f.group.younger) > 0 || f.due().IsZero() || f.seen.At.Before(f.due().Add(startup)):
		return notYet("its Machine is gone; whether another is created shows later")
	}
	return as("its Machine is gone, and no other was created")
}

func (f *subject) memberGone() *finding {
	switch {
	case !f.pool || f.of.Status != code.Stale:
		return unjudged("the report does not say of a member of a pool that its VM is gone")
	case f.machine != nil && f.machine.joined():
		return not("is Running")
	}
	if out := f.goes(time.Time{}); out != nil {
		return out
	}
	return as("its Machine is gone")
}

// orphaned asks for a VM and an infrastructure object without a Machine, and a new Machine beside.
func (f *subject) orphaned() *finding {
	switch {
	case f.machine != nil:
		return not("has a Machine")
	case f.objectGone():
		return not("its infrastructure object is gone, or being deleted")
	}
	if out := f.vmStays(); out != nil {
		return out
	}
	if f.surplus() < 1 {
		return f.awaits("its VM runs on; no new Machine is created beside it yet", soon)
	}
	return as("its VM runs on, and " + f.group.younger[0].Name + " was created beside it")
}
