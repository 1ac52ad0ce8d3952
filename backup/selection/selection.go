// Package selection says which clusters of a backup were asked for.
package selection

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"drift-detector/backup"
)

// Selection is what was asked for. A cluster is selected when every part that is
// given fits it; the zero value selects all.
type Selection struct {
	Clusters   []string // names, or namespace/name; any of them
	Namespaces []string // any of them
	Selector   string   // of the Cluster's labels, in the form that kubectl takes
}

// IsZero reports whether nothing was asked for.
func (q *Selection) IsZero() bool {
	return len(q.Clusters) == 0 && len(q.Namespaces) == 0 && q.Selector == ""
}

// Of returns what tells the selected clusters. A name, namespace or selector
// that fits no cluster of the backup is an error, which names those that there
// are: a typing mistake must not read as "nothing found".
func (q *Selection) Of(s *backup.Snapshot) (func(backup.ClusterID) bool, error) {
	selector, err := labels.Parse(q.Selector)
	if err != nil {
		return nil, fmt.Errorf("--selector %q is no label selector: %w", q.Selector, err)
	}
	for _, name := range q.Clusters {
		if !slices.ContainsFunc(s.Clusters, func(c backup.Cluster) bool { return called(c.ID(), name) }) {
			return nil, fmt.Errorf("--cluster %s: the backup holds no such cluster; it holds %s", name, known(s))
		}
	}
	for _, name := range q.Namespaces {
		if !slices.ContainsFunc(s.Clusters, func(c backup.Cluster) bool { return c.Namespace == name }) {
			return nil, fmt.Errorf("--namespace %s: the backup holds no cluster there; it holds %s", name, known(s))
		}
	}
	selected := map[backup.ClusterID]bool{}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		if q.names(c.ID()) && selector.Matches(labels.Set(c.Labels.Map())) {
			selected[c.ID()] = true
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("no cluster matches all of --cluster, --namespace and --selector; the backup holds %s", known(s))
	}
	return func(id backup.ClusterID) bool { return selected[id] }, nil
}

// names reports whether the cluster's name and namespace fit.
func (q *Selection) names(id backup.ClusterID) bool {
	return (len(q.Clusters) == 0 || slices.ContainsFunc(q.Clusters, func(name string) bool { return called(id, name) })) &&
		(len(q.Namespaces) == 0 || slices.Contains(q.Namespaces, id.Namespace))
}

func called(id backup.ClusterID, name string) bool {
	return id.Name == name || id.Namespace+"/"+id.Name == name
}

// shown is how many clusters an error lists.
const shown = 20

func known(s *backup.Snapshot) string {
	if len(s.Clusters) == 0 {
		return "none"
	}
	var names []string
	for i := range s.Clusters {
		names = append(names, s.Clusters[i].Namespace+"/"+s.Clusters[i].Meta.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
