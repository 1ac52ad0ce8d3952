package detector

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// clockSkew is how far the clocks of an infrastructure and of the cluster that
// wrote the backup may be apart.
const clockSkew = 5 * time.Minute

// missing returns why the instance may be that of a machine which only the backup
// lacks, or empty when the link's owner made it later. What was created after the
// backup was written needs no counting.
func (ix *index) missing(v *vm, b link) string {
	if why := ix.kindsUnread[infra.Reading{Backup: b.cluster().Backup, Provider: v.provider}]; why != "" {
		return why
	}
	if name := ix.made[b.cluster()]; name != "" && (v.Created.IsZero() || v.Created.After(ix.snap.Backups[b.cluster().Backup].WrittenFrom.Add(-clockSkew))) {
		return "Machine " + name + " was made while the infrastructure was listed"
	}
	current := func(i int32) bool { return ix.tooOld(&ix.scopes.listings[i], b.cluster()) == nil }
	if !slices.ContainsFunc(v.seen, current) {
		return "it was listed before " + ix.subject.Written() + ", and may be gone with its machine since"
	}
	if p := ix.unaskedPool(v, b); p != nil {
		return fmt.Sprintf("it may be a member of %s %s, which was not asked for where it was listed", p.Kind, p.Name)
	}
	owner := b.owner()
	if b.controlPlane && owner.Kind == "" {
		owner = ix.owners.planeOf(b.cluster(), backup.Owner{})
	}
	c := ix.unnamed[owner]
	if known := ix.owners.resolve(owner); known.Kind != "" {
		c = cmp.Or(c, ix.unnamed[known])
	}
	if c != nil {
		return fmt.Sprintf("it may be that of machine %s/%s, for which %s has neither the id nor the name of its instance", c.of.Namespace, c.of.Name, ix.subject.The())
	}
	if v.Created.After(ix.writtenTo(b.cluster()).Add(clockSkew)) {
		return ""
	}
	return ix.owners.missing(ix.owners.resolve(owner))
}

// doubt returns why instances that a name or an endpoint ties to a cluster may belong
// to somebody else (the fourth law), or empty. For a mark that only the cluster's
// controllers write, the only doubt is a missing Node.
func (ix *index) doubt(v *vm, all []link) string {
	b := all[0]
	byName := !slices.ContainsFunc(all, func(b link) bool { return !b.byName })
	switch {
	case byName && v.Created.IsZero():
		return "when it was created is not known"
	case byName && !v.Created.After(ix.writtenTo(b.cluster())):
		return ix.subject.Or("it is older than the backup, which", "it was there before the management cluster was read, which") + " would hold its machine"
	case ix.nodes.lists[b.cluster()].State == nodesRead && len(ix.nodes.on(v)) == 0:
		return "the cluster has no Node on it, or none yet"
	}
	return ""
}

// writtenTo returns when the backup of a cluster was written to its end; in the far
// future when that is not known, so that nothing is younger.
func (ix *index) writtenTo(id backup.ClusterID) time.Time {
	if at := ix.dated(id); !at.IsZero() {
		return at
	}
	return time.Unix(1<<40, 0)
}

// dated returns the end of the backup that the cluster is from; zero where nobody knows it.
func (ix *index) dated(id backup.ClusterID) time.Time {
	if i := id.Backup; i >= 0 && i < len(ix.snap.Backups) && !ix.snap.Backups[i].Undated {
		return ix.snap.Backups[i].WrittenTo
	}
	return time.Time{}
}

// ghost decides on an instance that belongs to a cluster by evidence of one
// grade: a Ghost when its owner's machines are all in the backup.
func (f *instanceFacts) ghost(links []link, s code.Strength) placement {
	if ids := clustersOf(links); len(ids) > 1 {
		p := f.suggest(code.AmbiguousOwner, "it may belong to "+clusterNames(ids), ids...)
		p.unattributed.Evidence = linkEvidence(links, s)
		return p
	}
	b := links[0]
	why := ""
	for _, one := range links {
		if w := f.missing(one); w != "" && why == "" {
			b, why = one, w
		}
	}
	instance := f.vm.shown()
	v := Verdict{
		Status: code.Ghost, Message: "it belongs to the cluster, but " + f.index.subject.The() + " has no Machine for it",
		Name: f.vm.Name, Namespace: b.cluster().Namespace, ControlPlane: b.controlPlane, RoleKnown: b.roleKnown,
		Instance: &instance, Scope: f.vm.scope, Evidence: linkEvidence(links, s),
		Warnings: conditions(f.vm, f.index.words[f.vm.provider]),
	}
	if b.node != nil {
		v.Node, v.ProviderID = b.node.Name, b.node.ProviderID
	}
	if why != "" {
		v.Status, v.Reason = code.Unknown, code.MachineNotInBackup
		v.Message = "it belongs to the cluster, but " + f.index.subject.Or("its machine may be missing from the backup only: ", "may be without its Machine for now only: ") + why
		return placement{verdict: &v, link: b}
	}
	if s != code.Medium {
		return placement{verdict: &v, link: b}
	}
	if doubt := f.doubt(links); doubt != "" {
		p := f.suggest(code.NameOnly, "it is named as machines of "+clusterNames(clustersOf(links))+" are, and may not be the cluster's: "+doubt, clustersOf(links)...)
		p.unattributed.Evidence = v.Evidence
		return p
	}
	if unlisted := f.unlisted(b.cluster()); unlisted != "" {
		v.Status, v.Reason = code.Unknown, code.NodeListUnread
		v.Message = "it is named as machines of the cluster are, but a Node may contradict that, and " + unlisted + "; --skip-access-apiserver decides without Nodes"
	}
	return placement{verdict: &v, link: b}
}

// elsewhere returns the placement of an instance that is tied to clusters, at a place
// that is not proven to be where their machines are.
func (f *instanceFacts) elsewhere(links []link) placement {
	ids := clustersOf(links)
	p := f.suggest(code.ScopeIncomplete, "it is named as machines of "+clusterNames(ids)+" are, but no id shows that it is where they are", ids...)
	p.unattributed.Evidence = linkEvidence(links, code.Weak)
	return p
}

// linkEvidence returns what the first of the links rest on, and how many more there are.
func linkEvidence(links []link, s code.Strength) []report.Evidence {
	var out []report.Evidence
	for i, b := range links {
		if i == shownMost {
			return append(out, report.Evidence{Kind: "tie", Detail: fmt.Sprintf("and %d more such pieces of evidence", len(links)-i), Strength: s})
		}
		kind := "tie"
		if b.node != nil {
			kind = "node"
		}
		out = append(out, report.Evidence{Kind: kind, Detail: b.detail(), Strength: s})
	}
	return out
}
