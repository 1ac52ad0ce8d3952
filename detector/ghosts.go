package detector

import (
	"fmt"

	"drift-detector/detector/match"
	"drift-detector/report"
	"drift-detector/report/code"
)

// ghost decides on an instance that belongs to a cluster by evidence of one
// grade: a Ghost when its owner's machines are all in the backup.
func (f *instanceFacts) ghost(links []match.Link, s code.Strength) placement {
	if ids := match.ClustersOf(links); len(ids) > 1 {
		p := f.suggest(code.AmbiguousOwner, "it may belong to "+clusterNames(ids), ids...)
		p.unattributed.Evidence = linkEvidence(links, s)
		return p
	}
	b := links[0]
	why := ""
	for _, one := range links {
		if w := f.Missing(one); w != "" && why == "" {
			b, why = one, w
		}
	}
	instance := f.VM.Shown()
	v := Verdict{
		Status: code.Ghost, Message: "it belongs to the cluster, but " + f.subject.The() + " has no Machine for it",
		Name: f.VM.Name, Namespace: b.Cluster().Namespace, ControlPlane: b.ControlPlane, RoleKnown: b.RoleKnown,
		Instance: &instance, Scope: f.VM.Scope, Evidence: linkEvidence(links, s),
		Warnings: conditions(f.VM, f.words),
	}
	if b.Node != nil {
		v.Node, v.ProviderID = b.Node.Name, b.Node.ProviderID
	}
	if why != "" {
		v.Status, v.Reason = code.Unknown, code.MachineNotInBackup
		v.Message = "it belongs to the cluster, but " + f.subject.Or("its machine may be missing from the backup only: ", "may be without its Machine for now only: ") + why
		return placement{verdict: &v, link: b}
	}
	if s != code.Medium {
		return placement{verdict: &v, link: b}
	}
	if doubt := f.Doubt(links); doubt != "" {
		p := f.suggest(code.NameOnly, "it is named as machines of "+clusterNames(match.ClustersOf(links))+" are, and may not be the cluster's: "+doubt, match.ClustersOf(links)...)
		p.unattributed.Evidence = v.Evidence
		return p
	}
	if unlisted := f.Unlisted(b.Cluster()); unlisted != "" {
		v.Status, v.Reason = code.Unknown, code.NodeListUnread
		v.Message = "it is named as machines of the cluster are, but a Node may contradict that, and " + unlisted + "; --skip-access-apiserver decides without Nodes"
	}
	return placement{verdict: &v, link: b}
}

// elsewhere returns the placement of an instance that is tied to clusters, at a place
// that is not proven to be where their machines are.
func (f *instanceFacts) elsewhere(links []match.Link) placement {
	ids := match.ClustersOf(links)
	p := f.suggest(code.ScopeIncomplete, "it is named as machines of "+clusterNames(ids)+" are, but no id shows that it is where they are", ids...)
	p.unattributed.Evidence = linkEvidence(links, code.Weak)
	return p
}

// linkEvidence returns what the first of the links rest on, and how many more there are.
func linkEvidence(links []match.Link, s code.Strength) []report.Evidence {
	var out []report.Evidence
	for i, b := range links {
		if i == shownMost {
			return append(out, report.Evidence{Kind: "tie", Detail: fmt.Sprintf("and %d more such pieces of evidence", len(links)-i), Strength: s})
		}
		kind := "tie"
		if b.Node != nil {
			kind = "node"
		}
		out = append(out, report.Evidence{Kind: kind, Detail: b.Detail(), Strength: s})
	}
	return out
}

func (f *instanceFacts) foreignEvidence() []report.Evidence {
	if len(f.Foreign) == 0 {
		return nil
	}
	return []report.Evidence{{Kind: "node", Detail: "Node " + f.Foreign[0].Name + " has its provider id", Strength: code.Strong}}
}
