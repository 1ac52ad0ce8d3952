package releases

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func withoutRecord(k *controller) *Release {
	namespace, name, _ := strings.Cut(k.release, "/")
	return &Release{Name: name, Namespace: namespace, target: k.target, Reason: Deleted, History: []Revision{}}
}

// settle keeps what the comparison of an object found, with the values of Secrets masked.
func (w *wanted) settle(out *outcome, server string) {
	c := w.compared
	c.Refused, c.Added = out.refused, out.added
	if out.refused == "" {
		w.keep(out.changes, server)
		w.keep(out.whole, server)
	}
	for i := range out.changes {
		out.changes[i].Upgrade = w.upgrade(&out.changes[i], out)
	}
	for i := range out.whole { // a rule for the report is none for Helm
		if w.upgrade(&out.whole[i], out) != Fails {
			continue
		}
		if c.Upgrade = Fails; c.Refused == "" {
			c.Message = "a rule sets aside a field that another manager wrote"
		}
	}
	for i := range c.Added {
		if w.removes(&c.Added[i]) {
			c.Added[i].Upgrade = Repairs
		}
	}
	if c.Kind == "Secret" && strings.HasPrefix(c.APIVersion, "v1") {
		mask(out)
	}
	if holdsCharts(c.APIVersion) {
		maskValues(out)
	}
	maskNamed(out)
	c.Patch = out.changes
	count := map[string]int{}
	counted := false
	for _, ch := range c.Patch {
		if !ch.Unseen {
			count[ch.Op]++
		}
		counted = counted || ch.Benign == ""
	}
	c.Verdict = Unchanged
	if counted || c.Refused != "" {
		c.Verdict = Changed
	}
	switch seen := count["add"] + count["replace"] + count["remove"]; {
	case c.Refused != "":
	case seen > 0:
		c.Summary = fmt.Sprintf("%s changed (%d additions, %d changes, %d removals)", c.Subject(), count["add"], count["replace"], count["remove"])
	default:
		c.Summary = c.Subject() + " unchanged"
	}
	if len(c.Patch) > 0 {
		c.Event = event(c)
	}
}

// exclude sets an object aside as a whole, for the report and for Flux. Helm knows no rule:
// what its next upgrade fails at is said.
func (w *wanted) exclude(why string, out *outcome) {
	c := w.compared
	c.Verdict, c.Message = Excluded, why
	if out == nil {
		return
	}
	all := out.changes
	if out.whole != nil {
		all = out.whole
	}
	if slices.ContainsFunc(all, func(ch Change) bool { return w.upgrade(&ch, out) == Fails }) {
		c.Upgrade, c.Refused = Fails, out.refused
		if c.Refused == "" {
			c.Message += " sets aside a field that another manager wrote"
		}
	}
}

// upgrade says what Helm's next upgrade, with the same chart and values, does to a field.
// Helm 3 merges built-in kinds with the live object and changes of custom resources only
// what changed between the manifests; a server-side apply meets every other manager, over whom
// helm-controller always forces its way.
func (w *wanted) upgrade(ch *Change, out *outcome) string {
	method, flux := w.release.method()
	switch {
	case ch.kept:
		return Leaves
	case flux != nil && flux.replaces && method != "ssa" && !strings.Contains(out.refused, "immutable") && !strings.Contains(out.refused, "shrink"):
		return Repairs
	case method == "ssa":
		others := ch.unknown || slices.ContainsFunc(ch.Owners, func(o Owner) bool { return !o.own || o.Operation != "Apply" })
		switch {
		case out.refused != "" && !out.applies || others && flux == nil && !ch.unapplied:
			return Fails
		case ch.unapplied:
			return Leaves
		}
		return Repairs
	case out.refused != "" && !out.passes:
		return Fails
	case out.next != nil && !makes(out.next, out.merged, ch), out.next == nil && w.twoWay && !w.marks(ch), ch.stays && !w.twoWay:
		return Leaves
	}
	return Repairs
}

// method returns how the next upgrade writes, and the HelmRelease that has it done, if any
// (helm-controller internal/action/upgrade.go v1.6.3).
func (r *Release) method() (string, *controller) {
	if k := r.controller; k != nil && k.kind == "HelmRelease" {
		return cmp.Or(k.apply, r.ApplyMethod), k
	}
	return r.ApplyMethod, nil
}

// removes reports whether the next upgrade takes away what others added: a merge replaces
// lists that an apply merges as sets, and upgrade.force whole objects.
func (w *wanted) removes(a *Added) bool {
	method, flux := w.release.method()
	if method == "ssa" || a.path[0].FieldName != nil && *a.path[0].FieldName == "metadata" {
		return false
	}
	return flux != nil && flux.replaces || !w.twoWay && a.path[len(a.path)-1].Value != nil
}

// marks reports whether a change gives an object the marks of Helm, which no manifest has, and
// which each upgrade writes (pkg/action/upgrade.go v4.2.4).
func (w *wanted) marks(ch *Change) bool {
	is := func(name string) bool {
		return name == releaseAnnotation || name == namespaceAnnotation || name == managedByLabel && !w.labelled
	}
	switch ch.Pointer {
	case "/metadata/labels", "/metadata/annotations":
		m, _ := ch.Desired.(map[string]any)
		for k := range m {
			if !is(k) {
				return false
			}
		}
		return len(m) > 0
	}
	segments := segmentsOf(ch.Pointer)
	return len(segments) == 3 && segments[0] == "metadata" && is(segments[2])
}

// Result ends the second pass.
func (c *Collector) Result() *Result {
	for _, targets := range c.wanted {
		for _, w := range targets {
			if !w.done && w.compared.Verdict == "" {
				c.missing(w)
			}
		}
	}
	slices.SortStableFunc(c.releases, func(a, b *Release) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Storage, b.Storage))
	})
	out := &Result{Releases: c.releases, WithoutRecord: []WithoutRecord{}, Rules: c.rules, Said: c.said, Problems: c.problems}
	for _, r := range c.releases {
		r.finish()
	}
	for _, id := range sortedKeys(c.lost) {
		out.WithoutRecord = append(out.WithoutRecord, *c.lost[id])
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// missing decides about an object that is not in the backup.
func (c *Collector) missing(w *wanted) {
	o := w.compared
	desired, _ := parse(w.body)
	leftOut := c.leftOut(w.resource, o.Namespace, w.cluster)
	excluded, _ := c.excluded(w, desired, nil)
	w.body = nil
	switch {
	case w.other:
		o.Verdict, o.Message = NotComparable, errVersion.Error()
	case o.Message != "":
		o.Verdict = NotComparable
	case excluded != "":
		o.Verdict, o.Message = Excluded, excluded
		if w.custom && !c.resources[w.resource] && !c.defines(o) {
			o.Upgrade, o.undefined = Fails, true
			o.Message += " sets aside that the backup has no CustomResourceDefinition of it"
		}
	case stringMap(desired, "metadata", "labels")["velero.io/exclude-from-backup"] == "true":
		o.Verdict, o.Message = NotInBackup, "its label keeps it out of backups"
	case o.Kind == "Job" && at(desired, "spec", "ttlSecondsAfterFinished") != nil:
		o.Verdict, o.Message = Expired, "a Job that deletes itself when it has finished"
	case leftOut != "":
		o.Verdict, o.Message = NotInBackup, leftOut
	case w.custom && !c.resources[w.resource] && !c.defines(o):
		o.Verdict, o.Upgrade, o.undefined = NotInBackup, Fails, true
		o.Message = "the backup has neither its CustomResourceDefinition nor another of its kind"
	default:
		o.Verdict, o.Upgrade = Removed, Repairs
		o.Summary = o.Subject() + " removed"
		if w.custom && !c.defines(o) {
			o.Upgrade, o.undefined = Fails, true
			o.Message = "its CustomResourceDefinition is not in the backup either"
		}
		o.Event = fmt.Sprintf("%s is in the manifest and does not exist", o.Subject())
	}
}

// defines reports whether the backup has the CustomResourceDefinition of an object.
func (c *Collector) defines(o *Compared) bool {
	return c.crds[schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind()] != nil
}

// leftOut says why the absence of an object from the backup does not say that it
// did not exist, or returns "". Without Velero's description a kind is in the backup that
// has an object there, and a namespace; cluster-scoped objects are not, by Velero's defaults.
func (c *Collector) leftOut(resource, namespace string, cluster bool) string {
	switch {
	case c.scope != nil:
		return c.scope(resource, namespace)
	case cluster:
		return "a backup by default leaves cluster-scoped objects out"
	case !c.namespaces[namespace]:
		return "the backup has nothing of its namespace"
	case !c.resources[resource]:
		return "the backup has nothing of its kind"
	}
	return ""
}

// finish gives a release its state: the first row that applies.
func (r *Release) finish() {
	r.count()
	row := func(ready, reason, format string, args ...any) {
		r.Ready, r.Reason, r.Message = ready, reason, fmt.Sprintf(format, args...)
	}
	k := r.controller
	older := slices.IndexFunc(r.History, func(h Revision) bool { return h.Status == "deployed" })
	switch n := r.Counts; {
	case r.newer != "":
		row("Unknown", NoDeployedRevision, "left behind by a change of HELM_DRIVER: its records of kind %s are newer", r.newer)
	case r.Reason == Unreadable || len(r.faults) > 0:
		row("Unknown", Unreadable, "%s", strings.Join(r.faults[:min(len(r.faults), 3)], "; "))
	case r.Reason == Incomplete:
		row("Unknown", Incomplete, "%s", r.Message)
	case r.Reason == Deleted:
		row("False", Deleted, "%s has no release record", r.Controller)
	case strings.HasPrefix(r.HelmStatus, "pending-"):
		row("False", Locked, "revision %d is %s", r.Revision, r.HelmStatus)
	case r.HelmStatus == "failed":
		row("False", Failed, "revision %d failed", r.Revision)
	case r.HelmStatus == "uninstalling" && older < 0:
		// prepareUpgrade in Helm pkg/action/upgrade.go v4.2.4; through Flux, too (fluxcd/flux2
		// issue 4614). One that is uninstalled is installed again by upgrade --install.
		row("False", Uninstalled, "revision %d is %s: an upgrade fails, for Helm \"has no deployed releases\"", r.Revision, r.HelmStatus)
	case r.HelmStatus == "uninstalled" || r.HelmStatus == "uninstalling":
		row("False", Uninstalled, "revision %d is %s", r.Revision, r.HelmStatus)
	case r.HelmStatus != "deployed" && older >= 0:
		row("Unknown", NoDeployedRevision, "the newest revision is %s, and %d is deployed", cmp.Or(r.HelmStatus, "of no status"), r.History[older].Revision)
	case r.HelmStatus != "deployed":
		row("Unknown", NoDeployedRevision, "no revision is deployed; the newest is %s", cmp.Or(r.HelmStatus, "of no status"))
	case k != nil && k.kind == "HelmRelease" && k.newest != 0 && k.newest != r.Revision:
		row("False", RevisionMismatch, "%s knows revision %d, the newest record is %d", k.object, k.newest, r.Revision)
	case n.Changed+n.Removed > 0:
		row("False", Drifted, "drifted: %s", r.brief())
	case n.NotCompared > 0:
		row("Unknown", Incomplete, "objects that are not compared: %d of %d", n.NotCompared, n.NotCompared+n.Unchanged+n.Excluded)
	default:
		row("True", InSync, "in sync%s", prefixed(": ", r.brief()))
	}
	r.Stalled = slices.Contains([]string{Deleted, Locked, Failed, RevisionMismatch, Drifted}, r.Reason)
	r.after()
	r.Objects = slices.DeleteFunc(r.Objects, func(o *Compared) bool {
		return o.Verdict == Unchanged && len(o.Added) == 0 && len(o.Patch) == 0 && o.Upgrade == ""
	})
	r.hooks, r.base = nil, nil
}

// brief returns Flux's text, with the fields that others added.
func (r *Release) brief() string {
	var parts []string
	for _, p := range []struct {
		name string
		n    int
	}{{"removed", r.Counts.Removed}, {"changed", r.Counts.Changed}, {"excluded", r.Counts.Excluded}, {"added", r.Counts.Added}, {"changed at admission", r.Counts.Admitted}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", p.name, p.n))
		}
	}
	return strings.Join(parts, ", ")
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func (r *Release) count() {
	if r.Objects == nil {
		r.Objects = []*Compared{}
	}
	if r.Extra == nil {
		r.Extra = []string{}
	}
	slices.Sort(r.Extra)
	n := &r.Counts
	n.Extra = len(r.Extra)
	for _, o := range r.Objects {
		switch o.Verdict {
		case Changed:
			n.Changed++
		case Removed:
			n.Removed++
		case Excluded:
			n.Excluded++
		case Unchanged, Expired:
			n.Unchanged++
		default:
			n.NotCompared++
		}
		if o.Refused != "" {
			continue // the same port under another name is the change, not an addition
		}
		for _, a := range o.Added {
			if a.Benign == "" {
				n.Added++
			}
		}
		for _, ch := range o.Patch {
			if ch.Admitted {
				n.Admitted++
			}
		}
	}
}
