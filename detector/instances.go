package detector

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/detector/match"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// terminated is the cause under which an ended instance without a machine is
// counted as excluded.
const terminated = "terminated"

// instanceRows is the table for instances without a machine: the first row that
// applies decides. host-name-of-machine comes before the rows that give Ghosts, because
// the host name of a machine outweighs all other evidence.
var instanceRows = []instanceRow{
	{
		"left-out-but-related",
		"The instance is a template, or managed by an extension of its infrastructure, but has a name or mark of a cluster.",
		[]outcome{{"", code.NameOnly}},
		func(f *instanceFacts) bool {
			return f.VM.MayBeOurs() && !f.VM.Gone && !f.VM.Member && (len(f.Strong)+len(f.Medium) > 0 || f.Named())
		},
		decideLeftOut,
	},
	{
		"excluded",
		"The provider knows that the instance is no machine, it is terminated, or it is a member of a known pool.",
		[]outcome{{"", excluded}},
		func(f *instanceFacts) bool { return f.exclude() != "" },
		func(f *instanceFacts) placement { return placement{excluded: f.exclude()} },
	},
	{
		"id-of-matched-machine",
		"The instance has the id of a machine that was matched with another instance.",
		[]outcome{{"", code.DuplicateID}},
		func(f *instanceFacts) bool { return f.VM.DuplicateOf != nil },
		func(f *instanceFacts) placement {
			c := f.VM.DuplicateOf
			return f.unattributed(code.DuplicateID, fmt.Sprintf("it has the id of machine %s/%s, whose instance is %s", c.Of.Namespace, c.Of.Name, nameOf(c.Matched)), c)
		},
	},
	{
		"referenced-by-machine",
		"The instance has a name or key of a machine that it was not matched with, or its Node names one.",
		referenced,
		func(f *instanceFacts) bool { return f.VM.Reference.Machine != nil },
		func(f *instanceFacts) placement {
			return f.unattributed(f.VM.Reference.Reason, referenceText(f.VM.Reference, f.subject), f.VM.Reference.Machine)
		},
	},
	{
		"former-pool-member",
		"The backup records the instance as a member of a pool, and it is none now.",
		[]outcome{{"", code.LeftPool}},
		func(f *instanceFacts) bool { return f.VM.Former != nil },
		func(f *instanceFacts) placement {
			p := f.VM.Former
			out := f.suggest(code.LeftPool, fmt.Sprintf("%s records it as a member of %s %s, and it is none now", f.subject.The(), p.Kind, p.Name), p.Cluster)
			out.unattributed.Evidence = []report.Evidence{{Kind: "pool", Detail: p.Kind + " " + p.Name + " of " + f.subject.The(), Strength: code.Medium}}
			return out
		},
	},
	{
		"host-name-of-machine",
		"The host name in the instance's own metadata is that of a machine.",
		[]outcome{{"", code.CloneOf}},
		func(f *instanceFacts) bool { return f.VM.CloneOf != nil },
		func(f *instanceFacts) placement {
			c := f.VM.CloneOf
			p := f.unattributed(code.CloneOf, fmt.Sprintf("its own metadata says it is %s, the host name of machine %s/%s", f.VM.Host.Value, c.Of.Namespace, c.Of.Name), c)
			p.unattributed.Evidence = []report.Evidence{{Kind: f.VM.Host.Kind.String(), Detail: "host name in its metadata is " + f.VM.Host.Value, Strength: code.Medium}}
			return p
		},
	},
	{
		"id-on-two-instances",
		"Another running instance has the same id, and something ties one of them to a cluster.",
		[]outcome{{"", code.DuplicateID}},
		func(f *instanceFacts) bool { return f.Duplicate != nil && len(f.Suspects) > 0 },
		decideSharedID,
	},
	{
		"tied-at-contradicted-place",
		"Something ties the instance to a cluster, but more names than ids say that this is another place.",
		[]outcome{{"", code.ScopeIncomplete}},
		func(f *instanceFacts) bool { return f.Contradicted && len(f.Strong)+len(f.Medium) > 0 },
		func(f *instanceFacts) placement { return f.elsewhere(slices.Concat(f.Strong, f.Medium)) },
	},
	{
		"node-or-ownership-mark",
		"A Node of a cluster runs on the instance, or it has a mark that only the cluster's controllers write.",
		[]outcome{{"", code.AmbiguousOwner}, {code.Ghost, ""}, {code.Unknown, code.MachineNotInBackup}},
		func(f *instanceFacts) bool { return len(f.Strong) > 0 },
		func(f *instanceFacts) placement { return f.ghost(f.Strong, code.Strong) },
	},
	{
		"foreign-node",
		"A Node runs on the instance, but it lacks Cluster API's annotations or nothing else ties the instance to the Node's cluster.",
		[]outcome{{"", code.ForeignNode}},
		func(f *instanceFacts) bool { return len(f.Foreign) > 0 },
		func(f *instanceFacts) placement {
			n := f.Foreign[0]
			but := "Cluster API did not create it"
			if n.Agrees() {
				but = "it is neither placed nor named as the cluster's machines are"
			}
			p := f.suggest(code.ForeignNode, fmt.Sprintf("Node %s of cluster %s/%s says that it runs on it, but %s", n.Name, n.Cluster.Namespace, n.Cluster.Name, but), f.ForeignTo()...)
			p.unattributed.Foreign = f.ForeignCluster
			p.unattributed.Evidence = f.foreignEvidence()
			return p
		},
	},
	{
		"unreadable-with-cluster-name",
		"The instance has a name or tags like a cluster's machines, and cannot be read.",
		[]outcome{{"", code.InstanceUnreadable}},
		func(f *instanceFacts) bool { return (len(f.Medium) > 0 || f.Named()) && f.VM.Unreadable },
		func(f *instanceFacts) placement {
			like := f.Medium
			if len(like) == 0 {
				like = f.ByName()
			}
			p := f.suggest(code.InstanceUnreadable, "it has a name or tags like the machines of "+clusterNames(match.ClustersOf(like))+", but its properties cannot be read", match.ClustersOf(like)...)
			p.unattributed.Evidence = linkEvidence(like, code.Weak)
			p.unattributed.Unread = true
			return p
		},
	},
	{
		"cluster-name-at-unproven-place",
		"The instance has a name or endpoint of a cluster, but no id proves that the cluster's machines are there.",
		[]outcome{{"", code.ScopeIncomplete}},
		func(f *instanceFacts) bool { return len(f.Medium) > 0 && f.Unproven(f.Medium) },
		func(f *instanceFacts) placement { return f.elsewhere(f.Medium) },
	},
	{
		"cluster-name",
		"The instance has a name or endpoint of a cluster.",
		[]outcome{{"", code.AmbiguousOwner}, {code.Ghost, ""}, {"", code.NameOnly}, {code.Unknown, code.MachineNotInBackup}, {code.Unknown, code.NodeListUnread}},
		func(f *instanceFacts) bool { return len(f.Medium) > 0 },
		func(f *instanceFacts) placement { return f.ghost(f.Medium, code.Medium) },
	},
	{
		"unreadable-in-cluster-place",
		"The instance cannot be read, and is where a cluster's machines are or in an unknown place.",
		[]outcome{{"", code.InstanceUnreadable}},
		func(f *instanceFacts) bool { return f.VM.Unreadable && (len(f.Location) > 0 || f.VM.Path == "") },
		func(f *instanceFacts) placement {
			p := f.suggest(code.InstanceUnreadable, "its properties cannot be read, so whose it is is not known", f.Linked(f.Location).Clusters...)
			p.unattributed.Evidence = linkEvidence(f.Location, code.Weak)
			p.unattributed.Unread = f.VM.Name == "" // a name that is no machine's is known, at least
			return p
		},
	},
	{
		"in-cluster-place",
		"The instance is where a cluster's machines are.",
		[]outcome{{"", code.InClusterFolder}},
		func(f *instanceFacts) bool { return len(f.Location) > 0 },
		func(f *instanceFacts) placement {
			all := f.Linked(f.Location)
			ids := all.Clusters
			p := f.suggest(code.InClusterFolder, "it is where machines of "+clusterNames(ids)+" are; nothing else links it to them", ids...)
			if f.ForeignTag != "" {
				p.unattributed.Message = "it is where machines of " + clusterNames(ids) + " are, but its tags name cluster " + f.ForeignTag + ", which " + f.subject.The() + " does not hold"
				p.unattributed.Foreign = f.ForeignTag
			}
			p.unattributed.Evidence = linkEvidence(f.Location, code.Weak)
			p.unattributed.Unlisted, p.unattributed.Unlinked = all.Unlisted, all.OlderThan(f.VM.Created)
			return p
		},
	},
	{
		"cluster-name-elsewhere",
		"The instance has a name of a cluster, but is not where the cluster's machines are.",
		[]outcome{{"", code.NameOnly}},
		func(f *instanceFacts) bool { return f.Named() },
		func(f *instanceFacts) placement {
			like := f.ByName()
			all := f.Linked(like)
			ids := all.Clusters
			why := ", and nothing else links it to them"
			if f.HavePlaces(ids) {
				why = ", and is where none of them is"
			}
			p := f.suggest(code.NameOnly, "it is named as machines of "+clusterNames(ids)+" are"+why, ids...)
			p.unattributed.Evidence = linkEvidence(like, code.Weak)
			p.unattributed.Unlisted = all.Unlisted
			return p
		},
	},
	{
		"unrelated",
		"Nothing ties the instance to a cluster of the backup.",
		[]outcome{{"", outOfScope}},
		func(*instanceFacts) bool { return true },
		func(f *instanceFacts) placement { return placement{outOfScope: true, foreign: f.ForeignTag} },
	},
}

// exclude returns the cause for which the instance is only counted, or empty.
func (f *instanceFacts) exclude() string {
	switch {
	case f.VM.Gone:
		return cmp.Or(f.VM.Exclude, terminated)
	case f.VM.Member:
		return cmp.Or(f.VM.Exclude, memberOfPool)
	}
	return f.VM.Exclude
}

// decideSharedID decides on instances that share an id. A Node runs on only one of
// them and a machine missing from the backup may own another, so none may be called a
// Ghost.
func decideSharedID(f *instanceFacts) placement {
	ids := slices.Clone(f.Suspects)
	sorting.By(ids, match.CompareClusters)
	ids = slices.Compact(ids)
	p := f.suggest(code.DuplicateID, nameOf(f.Duplicate)+" has the same id, and nothing shows which of them belongs to "+clusterNames(ids), ids...)
	p.unattributed.Foreign = f.ForeignCluster
	p.unattributed.Evidence = slices.Concat(linkEvidence(f.Strong, code.Strong), f.foreignEvidence(), linkEvidence(f.Medium, code.Medium))
	return p
}

// decideLeftOut keeps templates and managed instances with a name or mark of a cluster
// in the result (the fifth law).
func decideLeftOut(f *instanceFacts) placement {
	like := f.Strong
	if len(like) == 0 {
		like = append(slices.Clone(f.Medium), f.ByName()...)
	}
	ids := match.ClustersOf(like)
	is := "a template"
	if f.exclude() == infra.Managed {
		is = "managed by an extension of its infrastructure"
	}
	p := f.suggest(code.NameOnly, "it has a name or mark of the machines of "+clusterNames(ids)+", and is "+is, ids...)
	p.unattributed.Evidence = linkEvidence(like, code.Weak)
	return p
}

// referenceText explains a reference in a sentence.
func referenceText(r match.Reference, of code.Subject) string {
	name := r.Machine.Of.Namespace + "/" + r.Machine.Of.Name
	switch r.Reason {
	case code.SameName:
		return "it has the name of machine " + name + ", but not its id"
	case code.NodeOfMachine:
		if r.Machine.Strong.IsZero() {
			return "a Node on it says it is machine " + name + ", for which " + of.The() + " records no id"
		}
		return "a Node on it says it is machine " + name + ", whose recorded id is another"
	case code.InstanceUnreadable:
		return "it may be machine " + name + ", but its properties cannot be read"
	case code.FoundElsewhere:
		return "it has the id of machine " + name + ", but is not where the controllers look"
	case code.IdentityChanged:
		return "it has the second key of machine " + name + ", but another id"
	default:
		return "it may be machine " + name + ", which cannot be decided: " + cmp.Or(r.Machine.Message, string(r.Reason))
	}
}
