package releases

import (
	"fmt"
	"slices"
	"strings"
)

// after says what a restore makes of a release, and what to do about it first.
func (r *Release) after() {
	a := &r.After
	a.Missing = r.Counts.Removed
	a.Reasons, a.Do = []string{}, []Step{}
	if r.newer != "" {
		a.State = "unknown"
		return
	}
	switch {
	case r.Reason == Unreadable || r.Storage == "":
		a.State = "unknown"
	case r.Counts.Changed+r.Counts.Added+r.Counts.Extra > 0:
		a.State = "drifted"
	case r.Counts.NotCompared > 0:
		a.State = "unknown"
	default:
		a.State = "desired"
	}
	r.overwrites()
	r.nextUpgrade()
	r.firstSteps()
}

// overwrites says who changes the release once its controllers run again. Velero
// restores no status: helm-controller takes a HelmRelease without history as one that it
// does not manage, and upgrades (internal/reconcile/state.go v1.6.3).
func (r *Release) overwrites() {
	a, k := &r.After, r.controller
	switch {
	case k == nil:
		a.Reasons = append(a.Reasons, "no controller looks after it: what comes back stays")
	case k.kind == "HelmRelease" && k.suspended:
		a.Reasons = append(a.Reasons, k.object+" is suspended: what comes back stays until it is resumed, then helm-controller upgrades")
	case k.kind == "HelmRelease":
		a.Overwrites = k.object
		does := "upgrades"
		if r.Reason == Deleted || r.Reason == Uninstalled {
			does = "installs"
		}
		when := " at once"
		if k.waits {
			when = " once what it depends on is ready"
		}
		a.Reasons = append(a.Reasons, k.object+" comes back without history: helm-controller "+does+when+", with every driftDetection.mode")
	case k.paused != "":
		a.Reasons = append(a.Reasons, fmt.Sprintf("%s deploys nothing, for %s: what comes back stays until that ends", k.object, k.paused))
	case k.mode == "DryRun":
		a.Reasons = append(a.Reasons, fmt.Sprintf("%s has syncMode DryRun: what comes back stays", k.object))
	case k.uninstalls:
		a.Overwrites = k.object
		a.Reasons = append(a.Reasons, k.object+" has helmChartAction Uninstall: its controller uninstalls the release")
	case k.mode == "OneTime": // done once is what its status said (shouldReconcile of clustersummary_controller.go)
		a.Overwrites = k.object
		a.Reasons = append(a.Reasons, fmt.Sprintf("%s has syncMode OneTime, and comes back without status: its controller deploys the charts once more", k.object))
	default:
		a.Overwrites = k.object
		a.Reasons = append(a.Reasons, fmt.Sprintf("%s has syncMode %s: the charts are deployed again when its controller starts without status", k.object, k.mode))
	}
}

// nextUpgrade notes the worst of what the next upgrade does to the release's fields.
func (r *Release) nextUpgrade() {
	a := &r.After
	for _, o := range r.Objects {
		for _, c := range o.Patch {
			if c.Benign != "" && c.Upgrade == Fails && o.Refused == "" {
				a.Reasons = append(a.Reasons, fmt.Sprintf("%s: %s is %s: Helm's apply conflicts with that, and the next upgrade fails; best leave it out of the chart's values", o.Subject(), c.Path, c.Benign))
			}
		}
		for _, u := range upgradesOf(o) {
			if a.Upgrade == "" || u == Fails || u == Leaves && a.Upgrade == Repairs {
				a.Upgrade = u
			}
		}
		switch {
		case o.Refused != "" && o.Fails():
			a.Reasons = append(a.Reasons, o.Subject()+": "+o.Refused+": Flux does not see it, and the next upgrade fails")
		case o.Refused != "":
			a.Reasons = append(a.Reasons, o.Subject()+": "+o.Refused+": Flux does not see it; Helm's upgrade is not refused")
		case o.Upgrade == Fails: // without its definition, or in spite of a rule
			a.Reasons = append(a.Reasons, o.Subject()+": "+o.Message+": the next upgrade fails")
		}
	}
	if slices.ContainsFunc(r.Objects, func(o *Compared) bool {
		return slices.ContainsFunc(o.Added, func(a Added) bool { return a.Benign == "" && a.Upgrade == "" })
	}) {
		a.Reasons = append(a.Reasons, "what others added stays: neither Helm nor Flux removes it")
	}
}

func upgradesOf(o *Compared) []string {
	var out []string
	if o.Upgrade != "" {
		out = append(out, o.Upgrade)
	}
	for _, c := range o.Patch {
		if c.Benign == "" || c.Upgrade == Fails { // an apply conflicts with an autoscaler, too
			out = append(out, c.Upgrade)
		}
	}
	return out
}

func (r *Release) firstSteps() {
	flux := r.controller != nil && r.controller.kind == "HelmRelease"
	name, namespace := quote(r.Name), quote(r.Namespace)
	do := func(text, command string) { r.After.Do = append(r.After.Do, Step{text, command}) }
	switch r.Reason {
	case Locked:
		if flux && !r.controller.suspended {
			do("Helm refuses to touch a locked release; helm-controller unlocks it by itself", "")
			break
		}
		if to := r.lastDeployed(); to > 0 {
			do("Helm refuses to touch a locked release: roll back to the last deployed revision first", fmt.Sprintf("helm rollback %s %d --namespace %s", name, to, namespace))
		} else {
			do("Helm refuses to touch a locked release, and no revision of it was ever deployed: uninstall it and install it again", fmt.Sprintf("helm status %s --namespace %s", name, namespace))
		}
	case Failed:
		from := "it"
		if i := slices.IndexFunc(r.History, func(h Revision) bool { return h.Status == "deployed" }); i >= 0 {
			from = fmt.Sprintf("revision %d, which is deployed", r.History[i].Revision)
		}
		do("look why the last upgrade failed; the next one starts from "+from, fmt.Sprintf("helm history %s --namespace %s", name, namespace))
	case Deleted:
		if r.controller.suspended {
			do("without a record Helm installs: its objects are adopted when they have its annotations", fmt.Sprintf("helm upgrade --install %s CHART --namespace %s", name, namespace))
		} else {
			do("helm-controller installs it again, and adopts objects that have Helm's annotations", "")
		}
	case RevisionMismatch:
		do("helm was used beside Flux: compare what the revisions have", fmt.Sprintf("helm history %s --namespace %s", name, namespace))
	}
	r.fieldSteps(name, namespace, do)
	r.keptApart()
}

// keptApart takes commands away that would put objects into the namespace of the records:
// Helm has one namespace for both, helm-controller two.
func (r *Release) keptApart() {
	if r.target == "" || r.target == r.Namespace {
		return
	}
	for i := range r.After.Do {
		if do := &r.After.Do[i]; strings.HasPrefix(do.Command, "helm rollback ") || strings.HasPrefix(do.Command, "helm upgrade ") {
			do.Text += fmt.Sprintf("; not by hand: its records are in %s, where helm would put objects of %s that have no namespace: have helm-controller do it", r.Namespace, r.target)
			do.Command = ""
		}
	}
}

// fieldSteps returns about objects that fail the next upgrade.
func (r *Release) fieldSteps(name, namespace string, do func(text, command string)) {
	conflict := false
	for _, o := range r.Objects {
		switch {
		case o.Refused != "" && o.Fails():
			in := ""
			if o.Namespace != "" {
				in = " --namespace " + quote(o.Namespace)
			}
			do("take the change back by hand before any upgrade: "+o.Refused, fmt.Sprintf("kubectl edit %s %s%s", quote(strings.ToLower(o.Kind)), quote(o.Name), in))
		case o.undefined:
			do("install the CustomResourceDefinition of "+o.Subject()+" before any upgrade", "")
		case o.unowned:
			do("have Helm adopt "+o.Subject(), fmt.Sprintf("helm upgrade %s CHART --namespace %s --reuse-values --take-ownership", name, namespace))
		default:
			for _, c := range o.Patch {
				conflict = conflict || c.Upgrade == Fails
			}
			conflict = conflict || o.Upgrade == Fails
		}
	}
	if conflict {
		do("fields that another manager wrote conflict with Helm 4's apply, and the release would be failed: take them back, or upgrade with --force-conflicts",
			fmt.Sprintf("helm upgrade %s CHART --namespace %s --reuse-values --force-conflicts", name, namespace))
	}
}

// lastDeployed returns the newest older revision that was deployed, or 0.
func (r *Release) lastDeployed() int {
	for _, h := range r.History {
		if h.Status == "deployed" || h.Status == "superseded" {
			return h.Revision
		}
	}
	return 0
}

// quote makes one word for a POSIX shell.
func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@") == "" && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
