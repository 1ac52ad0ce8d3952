package detector

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// shownMost is how many instances, and how many pieces of evidence, a verdict names.
const shownMost = 16

// ambiguous returns the verdict when several instances may be the machine, or one
// that may be another's.
func (f *machineFacts) ambiguous(candidates []*vm) Verdict {
	message := fmt.Sprintf("%d instances may be it, and nothing shows which", len(candidates))
	if len(candidates) == 1 {
		message = nameOf(candidates[0]) + " may be it, or another machine's, or a copy"
	}
	return f.naming(unknown(code.AmbiguousMatch, message), candidates)
}

// naming adds candidates to a verdict as evidence, without deciding on them.
func (f *machineFacts) naming(v Verdict, lists ...[]*vm) Verdict {
	all := f.without(nil, lists...)
	for _, one := range all[:min(len(all), shownMost)] {
		v.Evidence = append(v.Evidence, f.evidence(one, code.Weak)...)
	}
	return f.others(v, all)
}

// others adds to the instances that a verdict names beside its own: the first of them,
// each once, and how many more there are.
func (f *machineFacts) others(v Verdict, more []*vm) Verdict {
	f.named = f.without(nil, f.named, more)
	v.MoreOthers = max(0, len(f.named)-shownMost)
	all := slices.Clone(f.named[:len(f.named)-v.MoreOthers])
	slices.SortStableFunc(all, func(a, b *vm) int { return compareInstances(a.Instance, b.Instance) })
	v.Others, v.OtherScopes = nil, nil
	for _, one := range all {
		v.Others = append(v.Others, one.shown())
		v.OtherScopes = append(v.OtherScopes, one.scope)
	}
	return v
}

// with sets the instance of a verdict, its evidence and what is the matter with it.
func (f *machineFacts) with(v Verdict, found *vm, s code.Strength) Verdict {
	v.Instance = found.Instance
	v.Evidence = f.evidence(found, s)
	v.Warnings = conditions(found, f.words)
	return v
}

// healthy returns the verdict of a match, with what goes with it, unless its controller
// takes something else, or something else runs in its place.
func (f *machineFacts) healthy(found *vm, s code.Strength) Verdict {
	if v, overlooked := f.overlooked(found); overlooked {
		return v
	}
	if v, displaced := f.displaced(found); displaced {
		return v
	}
	v := f.with(Verdict{Status: code.Healthy, ByID: found.has(f.expected.Strong)}, found, s)
	if found.Exclude == infra.Template {
		v.Warnings = append(v.Warnings, report.Warning{Reason: code.Template, Message: "the VM is a template now: neither a person nor its controller can power it on"})
	}
	for _, x := range f.expected.Expect {
		if found.hasOther(x.Key) {
			v.Warnings = append(v.Warnings, report.Warning{Reason: x.Warning, Message: fmt.Sprintf("its %s is %s, %s says %s", f.label(x.Key.Kind), found.value(x.Key.Kind), f.subject.The(), x.Key.Value)})
		}
	}
	if copies := f.without(found, f.home, f.copies); len(copies) > 0 && !f.expected.Strong.IsZero() {
		v.Warnings = append(v.Warnings, report.Warning{Reason: code.DuplicateID, Message: fmt.Sprintf("%s has the same id; deleting the machine may destroy both", nameOf(copies[0]))})
	}
	if f.reidentified {
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
	m := f.expected.machine
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
func (f *machineFacts) evidence(v *vm, weakest code.Strength) []report.Evidence {
	var out []report.Evidence
	add := func(k infra.Key, source string, s code.Strength) {
		if v.has(k) {
			out = append(out, report.Evidence{Kind: k.Kind.String(), Detail: f.label(k.Kind) + " " + k.Value + " (" + source + ") is that of " + nameOf(v), Strength: s})
		}
	}
	add(f.expected.Strong, cmp.Or(f.expected.Source, "recorded"), code.Strong)
	add(f.expected.Identity, "second key", code.Strong)
	add(f.expected.Ref, "second key", code.Medium)
	if len(out) == 0 {
		for _, k := range slices.Concat(f.expected.Weak, f.expected.Blind) {
			add(k, "weaker key", weakest)
		}
	}
	return out
}

// id names what the machine was looked for by.
func (f *machineFacts) id() string {
	switch c := f.expected; {
	case !c.Strong.IsZero():
		return f.label(c.Strong.Kind) + " " + c.Strong.Value
	case !c.Identity.IsZero():
		return f.label(c.Identity.Kind) + " " + c.Identity.Value
	default:
		return "an instance of machine " + c.of.Name
	}
}
