package detector

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"drift-detector/detector/match"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// This file makes the verdicts on machines, and is the sixth law: Healthy means that the one that runs
// is the one that the controller will take.

// machineFacts is all that a row of the table for machines may look at.
type machineFacts struct {
	match.MachineFacts
	subject code.Subject      // of sentences
	words   map[string]string // of its provider
	read    time.Time         // when its management cluster was, where it is one that runs
	named   []*match.VM       // beside the verdict's own instance
}

// shownMost is how many instances, and how many pieces of evidence, a verdict names.
const shownMost = 16

// ambiguous returns the verdict when several instances may be the machine, or one
// that may be another's.
func (f *machineFacts) ambiguous(candidates []*match.VM) Verdict {
	message := fmt.Sprintf("%d instances may be it, and nothing shows which", len(candidates))
	if len(candidates) == 1 {
		message = nameOf(candidates[0]) + " may be it, or another machine's, or a copy"
	}
	return f.naming(unknown(code.AmbiguousMatch, message), candidates)
}

// naming adds candidates to a verdict as evidence, without deciding on them.
func (f *machineFacts) naming(v Verdict, lists ...[]*match.VM) Verdict {
	all := f.Without(nil, lists...)
	for _, one := range all[:min(len(all), shownMost)] {
		v.Evidence = append(v.Evidence, f.evidence(one, code.Weak)...)
	}
	return f.others(v, all)
}

// others adds to the instances that a verdict names beside its own: the first of them,
// each once, and how many more there are.
func (f *machineFacts) others(v Verdict, more []*match.VM) Verdict {
	f.named = f.Without(nil, f.named, more)
	v.MoreOthers = max(0, len(f.named)-shownMost)
	all := slices.Clone(f.named[:len(f.named)-v.MoreOthers])
	slices.SortStableFunc(all, func(a, b *match.VM) int { return match.CompareInstances(a.Instance, b.Instance) })
	v.Others, v.OtherScopes = nil, nil
	for _, one := range all {
		v.Others = append(v.Others, one.Shown())
		v.OtherScopes = append(v.OtherScopes, one.Scope)
	}
	return v
}

// with sets the instance of a verdict, its evidence and what is the matter with it.
func (f *machineFacts) with(v Verdict, found *match.VM, s code.Strength) Verdict {
	v.Instance = found.Instance
	v.Evidence = f.evidence(found, s)
	v.Warnings = conditions(found, f.words)
	return v
}

// healthy returns the verdict of a match, with what goes with it, unless its controller
// takes something else, or something else runs in its place.
func (f *machineFacts) healthy(found *match.VM, s code.Strength) Verdict {
	if v, overlooked := f.overlooked(found); overlooked {
		return v
	}
	if v, displaced := f.displaced(found); displaced {
		return v
	}
	v := f.with(Verdict{Status: code.Healthy, ByID: found.Has(f.Machine.Strong)}, found, s)
	if found.Exclude == infra.Template {
		v.Warnings = append(v.Warnings, report.Warning{Reason: code.Template, Message: "the VM is a template now: neither a person nor its controller can power it on"})
	}
	for _, x := range f.Machine.Expect {
		if found.HasOther(x.Key) {
			v.Warnings = append(v.Warnings, report.Warning{Reason: x.Warning, Message: fmt.Sprintf("its %s is %s, %s says %s", f.label(x.Key.Kind), found.Value(x.Key.Kind), f.subject.The(), x.Key.Value)})
		}
	}
	if copies := f.Without(found, f.AtHome, f.Copies); len(copies) > 0 && !f.Machine.Strong.IsZero() {
		v.Warnings = append(v.Warnings, report.Warning{Reason: code.DuplicateID, Message: fmt.Sprintf("%s has the same id; deleting the machine may destroy both", nameOf(copies[0]))})
	}
	if f.Reidentified {
		v.Warnings = append(v.Warnings, report.Warning{Reason: code.Reidentified, Message: "both second keys differ: it was restored from a copy, or only a copy is left"})
	}
	if says := f.idle(); says != "" {
		v.Warnings = append(v.Warnings, report.Warning{Reason: code.NotRunning, Message: says})
	}
	sorting.By(v.Warnings, compareWarnings)
	v.Warnings = slices.Compact(v.Warnings)
	return v
}

// soon is within what time a Machine comes to run: controllers of all providers take minutes.
const soon = 10 * time.Minute

// idle says of a machine of a management cluster that runs, and that has its VM, why it is not Running.
func (f *machineFacts) idle() string {
	m := f.Machine.Recorded
	if f.read.IsZero() || m == nil || m.Phase == "" || m.Phase == "Running" || f.read.Sub(m.Created) < soon {
		return ""
	}
	says := "its Machine is " + m.Phase
	if m.InfraMessage != "" {
		says += ": " + m.InfraMessage
	}
	return says
}

func compareWarnings(a, b report.Warning) int {
	return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
}

// evidence lists the keys that an instance shares with the machine.
func (f *machineFacts) evidence(v *match.VM, weakest code.Strength) []report.Evidence {
	var room [3]report.Evidence // most have not more
	out := room[:0]
	add := func(k infra.Key, source string, s code.Strength) {
		if v.Has(k) {
			out = append(out, report.Evidence{Kind: k.Kind.String(), Detail: f.label(k.Kind) + " " + k.Value + " (" + source + ") is that of " + nameOf(v), Strength: s})
		}
	}
	add(f.Machine.Strong, cmp.Or(f.Machine.Source, "recorded"), code.Strong)
	add(f.Machine.Identity, "second key", code.Strong)
	add(f.Machine.Ref, "second key", code.Medium)
	if len(out) == 0 {
		for _, k := range slices.Concat(f.Machine.Weak, f.Machine.Blind) {
			add(k, "weaker key", weakest)
		}
	}
	return append([]report.Evidence(nil), out...)
}

// id names what the machine was looked for by.
func (f *machineFacts) id() string {
	switch c := f.Machine; {
	case !c.Strong.IsZero():
		return f.label(c.Strong.Kind) + " " + c.Strong.Value
	case !c.Identity.IsZero():
		return f.label(c.Identity.Kind) + " " + c.Identity.Value
	default:
		return "an instance of machine " + c.Of.Name
	}
}

func unknown(reason code.Reason, message string) Verdict {
	return Verdict{Status: code.Unknown, Reason: reason, Message: message}
}

func stale(reason code.Reason, message string) Verdict {
	return Verdict{Status: code.Stale, Reason: reason, Message: message}
}

// label returns what people call a kind of key of the machine's provider.
func (f *machineFacts) label(kind infra.KeyKind) string {
	name := kind.String()
	return cmp.Or(f.words[name], name)
}

// displaced reports what runs in the place of an instance that is off. Whoever
// starts that one makes a second machine of the name.
func (f *machineFacts) displaced(found *match.VM) (v Verdict, displaced bool) {
	if found.Runs() {
		return v, false
	}
	running := f.Running(found)
	switch {
	case f.Node != nil:
		v = unknown(code.NodeAlive, fmt.Sprintf("%s does not run, but Node %s reports that it is %s: another instance runs in its place, and powering this one on creates a second", nameOf(found), f.Node.Name, condition(f.Node)))
	case len(running) > 0:
		v = unknown(code.AmbiguousMatch, fmt.Sprintf("%s does not run, and %s, which has its id or its name, does: powering on creates a second one", nameOf(found), nameOf(running[0])))
	case !f.Place.Complete:
		v = unknown(code.ScopeIncomplete, fmt.Sprintf("%s does not run, and what may run in its place is not known: %s", nameOf(found), f.Place.Fault.Message))
	case f.Unlisted != "":
		v = unknown(code.NodeListUnread, fmt.Sprintf("%s does not run, and whether its Node does is not known: %s", nameOf(found), f.Unlisted))
	default:
		return v, false
	}
	return f.others(f.with(v, found, code.Strong), f.Without(found, f.AtHome, f.Copies, running)), true
}

// overlooked returns the verdict on a match that the machine's controller does not take
// for its instance: it searches by name, and finds another one, several or none. Healthy
// means that the controller takes it (the sixth law).
//
// A controller that has no id after any restore looks by name for every machine, and
// nothing that is written into the backup changes that. There the verdict says only
// that the instance exists, and Finds and the forecast say what the controller takes.
func (f *machineFacts) overlooked(found *match.VM) (v Verdict, overlooked bool) {
	switch {
	case !f.SearchesByName() || f.Machine.Reads == "":
		return v, false
	case slices.ContainsFunc(f.Searched, func(v *match.VM) bool { return v != found }):
		return f.ambiguous(f.Without(nil, []*match.VM{found}, f.Searched)), true
	case len(f.Searched) == 0 && f.Place.Complete:
		return f.with(unknown(code.NotFoundByName, fmt.Sprintf(
			"%s is its instance, but %s holds no id in %s, where its controller reads it: it searches by name, finds none and creates a second one; write the id there before the controllers start",
			nameOf(found), f.subject.The(), f.Machine.Reads)), found, code.Medium), true
	}
	return v, false
}
