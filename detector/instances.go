package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Reason codes of instances that no machine explains.
const (
	// terminated is the cause under which an ended instance without a machine is
	// counted as excluded.
	terminated = "terminated"
)

// instanceFacts is all that a row of the table for instances may look at.
type instanceFacts struct {
	*factsOfInstance
	subject code.Subject      // of sentences
	words   map[string]string // of its provider
}

// placement is where an instance without a machine is put: excluded, out of
// scope, unattributed, or under a cluster with a verdict.
type placement struct {
	excluded     string
	outOfScope   bool
	foreign      string // cluster outside the backup that the tags of one out of scope name
	unattributed *Unattributed
	verdict      *Verdict
	link         link // of the verdict
}

// instanceRows is the table for instances without a machine: the first row that
// applies decides. host-name-of-machine comes before the rows that give Ghosts, because
// the host name of a machine outweighs all other evidence.
var instanceRows = []instanceRow{
	{
		"left-out-but-related",
		"The instance is a template, or managed by an extension of its infrastructure, but has a name or mark of a cluster.",
		[]outcome{{"", code.NameOnly}},
		func(f *instanceFacts) bool {
			return f.vm.mayBeOurs() && !f.vm.Gone && !f.vm.member && (len(f.strong)+len(f.medium) > 0 || f.named())
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
		func(f *instanceFacts) bool { return f.vm.duplicateOf != nil },
		func(f *instanceFacts) placement {
			c := f.vm.duplicateOf
			return f.unattributed(code.DuplicateID, fmt.Sprintf("it has the id of machine %s/%s, whose instance is %s", c.of.Namespace, c.of.Name, nameOf(c.matched)), c)
		},
	},
	{
		"referenced-by-machine",
		"The instance has a name or key of a machine that it was not matched with, or its Node names one.",
		referenced,
		func(f *instanceFacts) bool { return f.vm.reference.machine != nil },
		func(f *instanceFacts) placement {
			return f.unattributed(f.vm.reference.reason, referenceText(f.vm.reference, f.subject), f.vm.reference.machine)
		},
	},
	{
		"former-pool-member",
		"The backup records the instance as a member of a pool, and it is none now.",
		[]outcome{{"", code.LeftPool}},
		func(f *instanceFacts) bool { return f.vm.former != nil },
		func(f *instanceFacts) placement {
			p := f.vm.former
			out := f.suggest(code.LeftPool, fmt.Sprintf("%s records it as a member of %s %s, and it is none now", f.subject.The(), p.Kind, p.Name), p.Cluster)
			out.unattributed.Evidence = []report.Evidence{{Kind: "pool", Detail: p.Kind + " " + p.Name + " of " + f.subject.The(), Strength: code.Medium}}
			return out
		},
	},
	{
		"host-name-of-machine",
		"The host name in the instance's own metadata is that of a machine.",
		[]outcome{{"", code.CloneOf}},
		func(f *instanceFacts) bool { return f.vm.cloneOf != nil },
		func(f *instanceFacts) placement {
			c := f.vm.cloneOf
			p := f.unattributed(code.CloneOf, fmt.Sprintf("its own metadata says it is %s, the host name of machine %s/%s", f.vm.Host.Value, c.of.Namespace, c.of.Name), c)
			p.unattributed.Evidence = []report.Evidence{{Kind: f.vm.Host.Kind.String(), Detail: "host name in its metadata is " + f.vm.Host.Value, Strength: code.Medium}}
			return p
		},
	},
	{
		"id-on-two-instances",
		"Another running instance has the same id, and something ties one of them to a cluster.",
		[]outcome{{"", code.DuplicateID}},
		func(f *instanceFacts) bool { return f.duplicate != nil && len(f.suspects) > 0 },
		decideSharedID,
	},
	{
		"tied-at-contradicted-place",
		"Something ties the instance to a cluster, but more names than ids say that this is another place.",
		[]outcome{{"", code.ScopeIncomplete}},
		func(f *instanceFacts) bool { return f.contradicted && len(f.strong)+len(f.medium) > 0 },
		func(f *instanceFacts) placement { return f.elsewhere(slices.Concat(f.strong, f.medium)) },
	},
	{
		"node-or-ownership-mark",
		"A Node of a cluster runs on the instance, or it has a mark that only the cluster's controllers write.",
		[]outcome{{"", code.AmbiguousOwner}, {code.Ghost, ""}, {code.Unknown, code.MachineNotInBackup}},
		func(f *instanceFacts) bool { return len(f.strong) > 0 },
		func(f *instanceFacts) placement { return f.ghost(f.strong, code.Strong) },
	},
	{
		"foreign-node",
		"A Node runs on the instance, but it lacks Cluster API's annotations or nothing else ties the instance to the Node's cluster.",
		[]outcome{{"", code.ForeignNode}},
		func(f *instanceFacts) bool { return len(f.foreign) > 0 },
		func(f *instanceFacts) placement {
			n := f.foreign[0]
			but := "Cluster API did not create it"
			if n.agrees() {
				but = "it is neither placed nor named as the cluster's machines are"
			}
			p := f.suggest(code.ForeignNode, fmt.Sprintf("Node %s of cluster %s/%s says that it runs on it, but %s", n.Name, n.Cluster.Namespace, n.Cluster.Name, but), f.foreignTo()...)
			p.unattributed.Foreign = f.foreignCluster
			p.unattributed.Evidence = f.foreignEvidence()
			return p
		},
	},
	{
		"unreadable-with-cluster-name",
		"The instance has a name or tags like a cluster's machines, and cannot be read.",
		[]outcome{{"", code.InstanceUnreadable}},
		func(f *instanceFacts) bool { return (len(f.medium) > 0 || f.named()) && f.vm.Unreadable },
		func(f *instanceFacts) placement {
			like := f.medium
			if len(like) == 0 {
				like = f.byName()
			}
			p := f.suggest(code.InstanceUnreadable, "it has a name or tags like the machines of "+clusterNames(clustersOf(like))+", but its properties cannot be read", clustersOf(like)...)
			p.unattributed.Evidence = linkEvidence(like, code.Weak)
			p.unattributed.Unread = true
			return p
		},
	},
	{
		"cluster-name-at-unproven-place",
		"The instance has a name or endpoint of a cluster, but no id proves that the cluster's machines are there.",
		[]outcome{{"", code.ScopeIncomplete}},
		func(f *instanceFacts) bool { return len(f.medium) > 0 && f.unproven(f.medium) },
		func(f *instanceFacts) placement { return f.elsewhere(f.medium) },
	},
	{
		"cluster-name",
		"The instance has a name or endpoint of a cluster.",
		[]outcome{{"", code.AmbiguousOwner}, {code.Ghost, ""}, {"", code.NameOnly}, {code.Unknown, code.MachineNotInBackup}, {code.Unknown, code.NodeListUnread}},
		func(f *instanceFacts) bool { return len(f.medium) > 0 },
		func(f *instanceFacts) placement { return f.ghost(f.medium, code.Medium) },
	},
	{
		"unreadable-in-cluster-place",
		"The instance cannot be read, and is where a cluster's machines are or in an unknown place.",
		[]outcome{{"", code.InstanceUnreadable}},
		func(f *instanceFacts) bool { return f.vm.Unreadable && (len(f.location) > 0 || f.vm.Path == "") },
		func(f *instanceFacts) placement {
			p := f.suggest(code.InstanceUnreadable, "its properties cannot be read, so whose it is is not known", f.linked(f.location).clusters...)
			p.unattributed.Evidence = linkEvidence(f.location, code.Weak)
			p.unattributed.Unread = f.vm.Name == "" // a name that is no machine's is known, at least
			return p
		},
	},
	{
		"in-cluster-place",
		"The instance is where a cluster's machines are.",
		[]outcome{{"", code.InClusterFolder}},
		func(f *instanceFacts) bool { return len(f.location) > 0 },
		func(f *instanceFacts) placement {
			all := f.linked(f.location)
			ids := all.clusters
			p := f.suggest(code.InClusterFolder, "it is where machines of "+clusterNames(ids)+" are; nothing else links it to them", ids...)
			if f.foreignTag != "" {
				p.unattributed.Message = "it is where machines of " + clusterNames(ids) + " are, but its tags name cluster " + f.foreignTag + ", which " + f.subject.The() + " does not hold"
				p.unattributed.Foreign = f.foreignTag
			}
			p.unattributed.Evidence = linkEvidence(f.location, code.Weak)
			p.unattributed.Unlisted, p.unattributed.Unlinked = all.unlisted, all.olderThan(f.vm)
			return p
		},
	},
	{
		"cluster-name-elsewhere",
		"The instance has a name of a cluster, but is not where the cluster's machines are.",
		[]outcome{{"", code.NameOnly}},
		func(f *instanceFacts) bool { return f.named() },
		func(f *instanceFacts) placement {
			like := f.byName()
			all := f.linked(like)
			ids := all.clusters
			why := ", and nothing else links it to them"
			if f.havePlaces(ids) {
				why = ", and is where none of them is"
			}
			p := f.suggest(code.NameOnly, "it is named as machines of "+clusterNames(ids)+" are"+why, ids...)
			p.unattributed.Evidence = linkEvidence(like, code.Weak)
			p.unattributed.Unlisted = all.unlisted
			return p
		},
	},
	{
		"unrelated",
		"Nothing ties the instance to a cluster of the backup.",
		[]outcome{{"", outOfScope}},
		func(*instanceFacts) bool { return true },
		func(f *instanceFacts) placement { return placement{outOfScope: true, foreign: f.foreignTag} },
	},
}

// exclude returns the cause for which the instance is only counted, or empty.
func (f *instanceFacts) exclude() string {
	switch {
	case f.vm.Gone:
		return cmp.Or(f.vm.Exclude, terminated)
	case f.vm.member:
		return cmp.Or(f.vm.Exclude, memberOfPool)
	}
	return f.vm.Exclude
}

// decideSharedID decides on instances that share an id. A Node runs on only one of
// them and a machine missing from the backup may own another, so none may be called a
// Ghost.
func decideSharedID(f *instanceFacts) placement {
	ids := slices.Clone(f.suspects)
	sorting.By(ids, compareClusters)
	ids = slices.Compact(ids)
	p := f.suggest(code.DuplicateID, nameOf(f.duplicate)+" has the same id, and nothing shows which of them belongs to "+clusterNames(ids), ids...)
	p.unattributed.Foreign = f.foreignCluster
	p.unattributed.Evidence = slices.Concat(linkEvidence(f.strong, code.Strong), f.foreignEvidence(), linkEvidence(f.medium, code.Medium))
	return p
}

// decideLeftOut keeps templates and managed instances with a name or mark of a cluster
// in the result (the fifth law).
func decideLeftOut(f *instanceFacts) placement {
	like := f.strong
	if len(like) == 0 {
		like = append(slices.Clone(f.medium), f.byName()...)
	}
	ids := clustersOf(like)
	is := "a template"
	if f.exclude() == infra.Managed {
		is = "managed by an extension of its infrastructure"
	}
	p := f.suggest(code.NameOnly, "it has a name or mark of the machines of "+clusterNames(ids)+", and is "+is, ids...)
	p.unattributed.Evidence = linkEvidence(like, code.Weak)
	return p
}

// unattributed returns the placement of an instance that a machine refers to.
func (f *instanceFacts) unattributed(reason code.Reason, message string, c *expectedMachine) placement {
	p := f.suggest(reason, message, c.of.Cluster)
	p.unattributed.Unread = reason == code.InstanceUnreadable
	p.unattributed.Evidence = []report.Evidence{{Kind: "machine", Detail: c.of.Namespace + "/" + c.of.Name, Strength: code.Medium}}
	return p
}

// mostCandidates is of how many clusters at most it is said that a VM may be theirs. In a folder that hundreds
// share it may be anybody's.
const mostCandidates = 20

// suggest leaves an instance to a person, with the clusters that it may belong to.
func (f *instanceFacts) suggest(reason code.Reason, message string, ids ...backup.ClusterID) placement {
	u := &Unattributed{Instance: f.vm.shown(), Scope: f.vm.scope, Reason: reason, Message: message}
	if ids = slices.Compact(slices.SortedFunc(slices.Values(ids), compareClusters)); len(ids) <= mostCandidates {
		u.Clusters = ids
	}
	return placement{unattributed: u}
}

// clusterNames names the clusters, of many the first few.
func clusterNames(ids []backup.ClusterID) string {
	const few = 5
	var names []string
	for i, id := range ids {
		if i == few && len(ids) > few+1 {
			names = append(names, fmt.Sprintf("one of %d more", len(ids)-i))
			break
		}
		names = append(names, id.Namespace+"/"+id.Name)
	}
	return strings.Join(names, " or ")
}

// referenceText explains a reference in a sentence.
func referenceText(r reference, of code.Subject) string {
	name := r.machine.of.Namespace + "/" + r.machine.of.Name
	switch r.reason {
	case code.SameName:
		return "it has the name of machine " + name + ", but not its id"
	case code.NodeOfMachine:
		if r.machine.Strong.IsZero() {
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
		return "it may be machine " + name + ", which cannot be decided: " + cmp.Or(r.machine.message, string(r.reason))
	}
}
