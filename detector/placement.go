package detector

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/detector/match"
	"drift-detector/report"
	"drift-detector/report/code"
)

// placement is where an instance without a machine is put: excluded, out of
// scope, unattributed, or under a cluster with a verdict.
type placement struct {
	excluded     string
	outOfScope   bool
	foreign      string // cluster outside the backup that the tags of one out of scope name
	unattributed *Unattributed
	verdict      *Verdict
	link         match.Link // of the verdict
}

// instanceFacts is all that a row of the table for instances may look at.
type instanceFacts struct {
	match.InstanceFacts
	subject code.Subject      // of sentences
	words   map[string]string // of its provider
}

// unattributed returns the placement of an instance that a machine refers to.
func (f *instanceFacts) unattributed(reason code.Reason, message string, c *match.Machine) placement {
	p := f.suggest(reason, message, c.Of.Cluster)
	p.unattributed.Unread = reason == code.InstanceUnreadable
	p.unattributed.Evidence = []report.Evidence{{Kind: "machine", Detail: c.Of.Namespace + "/" + c.Of.Name, Strength: code.Medium}}
	return p
}

// mostCandidates is of how many clusters at most it is said that a VM may be theirs. In a folder that hundreds
// share it may be anybody's.
const mostCandidates = 20

// suggest leaves an instance to a person, with the clusters that it may belong to.
func (f *instanceFacts) suggest(reason code.Reason, message string, ids ...backup.ClusterID) placement {
	u := &Unattributed{Instance: f.VM.Shown(), Scope: f.VM.Scope, Reason: reason, Message: message}
	if ids = slices.Compact(slices.SortedFunc(slices.Values(ids), match.CompareClusters)); len(ids) <= mostCandidates {
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
