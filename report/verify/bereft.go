package verify

import (
	"slices"
	"strings"

	"drift-detector/report/code"
)

// This file has what keeps a machine: the owner without which it is garbage, its group and its
// infrastructure's objects.

// bereft returns nil unless something that keeps the machine is gone, or may have to come yet.
func (f *subject) bereft() *finding {
	if f.machine == nil || !f.isKept() || f.of.Status == code.Ghost {
		return nil
	}
	for _, rule := range []func(*subject) *finding{(*subject).ownerless, (*subject).groupless, (*subject).objectless} {
		if out := rule(f); out != nil {
			return out
		}
	}
	return nil
}

// lacks returns of what is gone: not yet there while things may still be restored.
func (f *subject) lacks(what string) *finding {
	if !f.longer(soon) || f.seen.At.Sub(f.latest) <= soon {
		return f.awaits(what+" is not there yet", soon)
	}
	return not(what + " is gone")
}

// ownerless asks for the controller that the Machine names, by its uid. One that has none yet is
// taken by a controller, if one does that; that of a pool's member is its infrastructure's.
func (f *subject) ownerless() *finding {
	if f.pool || f.outcome == code.UntouchedPaused && len(f.machine.Owners) == 0 {
		return nil
	}
	if out := f.garbage(f.machine.Namespace, "its Machine", f.machine.Owners); out != nil {
		return out
	}
	if set := f.set(); set != nil && !f.plane {
		if out := f.garbage(f.machine.Namespace, set.title(), set.owners); out != nil {
			return out
		}
	}
	for _, o := range f.objects {
		if out := f.garbage(o.Namespace, o.Kind+" "+o.Name, o.Owners); out != nil {
			return out
		}
	}
	owned := slices.ContainsFunc(f.machine.Owners, func(o Owner) bool { return o.Controller && f.isThere(f.machine.Namespace, o) })
	if !owned && f.kept && !f.paused() {
		return f.awaits("no controller owns its Machine yet", soon)
	}
	return nil
}

// garbage returns nil unless none of the owners that an object names is there: it is deleted with them.
// One of a kind that was not read, or is not known here, may be there.
func (f *subject) garbage(namespace, what string, owners []Owner) *finding {
	var first *finding
	for _, o := range owners {
		switch is := f.thing(o.Kind, namespace, o.Name); {
		case f.isThere(namespace, o):
			return nil
		case is == nil:
			first = f.lacks(what + "'s owner " + o.Kind + " " + o.Name)
		default:
			first = not(what + "'s owner " + is.title() + " is not the one that is there, by its uid")
		}
	}
	return first
}

// isThere reports whether the object that an owner reference names is, as far as is known.
func (f *subject) isThere(namespace string, o Owner) bool {
	is := f.thing(o.Kind, namespace, o.Name)
	return !f.isKnown(o.Kind) || isUnread(f.seen, o.Kind) || is != nil && (is.uid == "" || o.UID == "" || is.uid == o.UID)
}

// isKnown reports whether objects of a kind are gathered.
func (f *subject) isKnown(kind string) bool {
	switch kind {
	case "Machine", "Cluster", machineDeployment, "MachineSet":
		return true
	}
	return strings.HasSuffix(kind, "ControlPlane") && kind == f.kind || slices.Contains(Kinds(f.cluster.Provider), kind)
}

// groupless asks for the group of the Machine, where the backup has it.
func (f *subject) groupless() *finding {
	if !f.kept || f.pool || f.kind == "" || isUnread(f.seen, f.kind) || f.thing(f.kind, f.cluster.Namespace, f.in) != nil {
		return nil
	}
	if f.seen.ByPlan {
		return unjudged(f.kind + " " + f.in + " is not there, which a plan may leave out")
	}
	return f.lacks(f.kind + " " + f.in)
}

// objectless asks for the infrastructure's objects. That they were there since the restore is what was
// made of them: then they are gone, else they may still come.
func (f *subject) objectless() *finding {
	ref := f.of.Infrastructure
	if ref == nil || !isObject(ref.Kind) || f.of.Reason == code.InfraObjectMissing || f.unread() != "" {
		return nil
	}
	is := func(kind string) bool {
		return slices.ContainsFunc(f.objects, func(o *Object) bool { return o.Kind == kind })
	}
	ready := condition(f.machine.Conditions, "InfrastructureReady")
	missing, was := "", ready.Status == "True" || strings.Contains(ready.Reason, "Deleted")
	own := ownKind(f.cluster.Provider)
	switch {
	case !is(ref.Kind) && f.seen.Serves != nil && !f.seen.Serves[ref.Kind]:
		return nil // its kind is of another group of the API
	case !is(ref.Kind):
		missing = "its " + ref.Kind
	case own != "" && !is(own) && f.seen.serves(own):
		missing, was = "its "+own, was || f.taken.is == found
	default:
		return nil
	}
	if was {
		return f.lacks(missing)
	}
	return f.awaits(missing+" is not there yet", soon)
}

// ownKind returns the kind of the object that a provider's object of a Machine owns; empty where it has none.
func ownKind(provider string) string {
	for _, kind := range Kinds(provider) {
		if !isMachineKind(kind) {
			return kind
		}
	}
	return ""
}
