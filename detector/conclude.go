package detector

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/detector/match"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// HintSkipNodes is what to do about a Node list that was not read.
const HintSkipNodes = "let the API server be reached (--endpoint, --credentials), or decide without Node lists: --skip-access-apiserver"

// conclude rolls the result up. The management cluster's own machines are shown
// and do not count here.
func (r *Result) conclude(s *backup.Snapshot) {
	r.Status, r.Complete = code.Healthy, true
	for i := range r.Clusters {
		if !r.Clusters[i].Self {
			r.Status = code.Worst(r.Status, r.Clusters[i].Status)
		}
	}
	if len(r.Unattributed) > 0 {
		r.Status = code.Worst(r.Status, code.NeedFurtherConfirmationInfraMachines)
	}
	// Problems of clusters that are not shown count as well: the VM of a machine that
	// could not be read cannot be distinguished from any other VM.
	for _, p := range s.Problems {
		e := Error{Object: p.Item, Message: p.Reason, Unread: p.Decisive}
		if p.Decisive {
			r.Complete = false
			e.Hint = "nothing is concluded from what could not be read; take another backup, or see what that object is"
			if s.Backups[p.Backup].Live || s.Moved(p.Backup) {
				e.Hint = s.UnreadHint(p.Backup)
			}
		}
		r.Errors = append(r.Errors, e)
	}
	for i := range r.Scopes {
		if sc := &r.Scopes[i]; sc.State != code.ScopeComplete {
			r.Complete = false
			r.Errors = append(r.Errors, Error{Scope: sc.Provider + " " + sc.Endpoint, Message: sc.Error.Message, Hint: sc.Error.Hint})
		}
	}
	if unread := r.nodeListErrors(); len(unread) > 0 {
		r.Complete = false
		r.Errors = append(r.Errors, unread...)
	}
	if text := unreadable(r.Unattributed); text != "" {
		r.Complete = false
		r.Errors = append(r.Errors, Error{Message: text, Hint: "see whether the account may read them (drift-detector permissions), and whether they are inaccessible or orphaned"})
	}
	if r.Complete && len(s.Clusters) == 0 && slices.ContainsFunc(s.Backups, func(b backup.Info) bool { return b.Live }) {
		r.Complete = false
		r.Errors = append(r.Errors, Error{Message: "no Cluster is in the management cluster", Hint: "see whether it is the right one: give its kubeconfig, and its context"})
	}
	sorting.By(r.Errors, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Hint, b.Hint))
	})
	if len(r.Errors) > 0 {
		r.Status = code.Worst(r.Status, code.NeedFurtherConfirmation)
	}
}

// unreadable returns a message that names the instances that may be machines and could
// not be read; empty when there are none.
func unreadable(all []Unattributed) string {
	const few = 5
	var names []string
	for i := range all {
		if all[i].Unread {
			names = append(names, cmp.Or(all[i].Instance.Path, all[i].Instance.Name, all[i].Instance.Ref))
		}
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return "a VM that may be a machine cannot be read: " + names[0]
	case n > few:
		names = append(names[:few], fmt.Sprintf("%d more", n-few))
		fallthrough
	default:
		return fmt.Sprintf("%d VMs that may be machines cannot be read: %s", n, strings.Join(names, ", "))
	}
}

// UnreadNodeLists names the clusters on whose machines or instances nothing was
// concluded because their Node lists were not read.
func (r *Result) UnreadNodeLists() []backup.ClusterID {
	return slices.SortedFunc(maps.Keys(r.unlisted()), match.CompareClusters)
}

// unlisted counts per cluster what an unread Node list leaves undecided.
func (r *Result) unlisted() map[backup.ClusterID]int {
	n, shown := map[backup.ClusterID]int{}, make(map[backup.ClusterID]bool, len(r.Clusters))
	for i := range r.Clusters {
		c := &r.Clusters[i]
		shown[c.ID] = true
		count := func(s *Set) {
			for _, v := range s.Machines {
				if v.Reason == code.NodeListUnread {
					n[c.ID]++
				}
			}
		}
		count(&c.ControlPlane)
		for j := range c.WorkerGroups {
			count(&c.WorkerGroups[j])
		}
	}
	lists, times := [][]backup.ClusterID(nil), map[*backup.ClusterID]int{} // many instances share a list, see match.LinkedClusters
	for i := range r.Unattributed {
		if list := r.Unattributed[i].Unlisted; len(list) > 0 {
			if times[&list[0]]++; times[&list[0]] == 1 {
				lists = append(lists, list)
			}
		}
	}
	for _, list := range lists {
		for _, id := range list {
			if shown[id] {
				n[id] += times[&list[0]]
			}
		}
	}
	return n
}

// nodeListErrors returns the errors of a run that did not read what it asked for.
func (r *Result) nodeListErrors() []Error {
	var out []Error
	unlisted := r.unlisted()
	why := make(map[backup.ClusterID]string, len(unlisted))
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if unlisted[c.ID] == 0 {
			continue
		}
		why[c.ID] = fmt.Sprintf("it was not read (%s)", cmp.Or(c.Nodes.Error, c.Nodes.State))
		if c.Nodes.State == report.NodesRead {
			why[c.ID] = "it does not say of every Node whether it is ready, and since when"
		}
	}
	for id, n := range unlisted {
		out = append(out, Error{
			Object:  "Node list of " + id.Namespace + "/" + id.Name,
			Message: fmt.Sprintf("%s, and leaves %s undecided", why[id], quantity(n, "machine or VM", "machines and VMs")),
			Hint:    HintSkipNodes,
		})
	}
	return out
}
