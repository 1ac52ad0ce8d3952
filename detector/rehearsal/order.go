package rehearsal

import (
	"encoding/json"
	"slices"
	"strings"

	"drift-detector/backup"
)

// A restore brings resources back one after the other, in an order that the server
// of Velero is started with (Velero pkg/types/priority.go and pkg/restore/restore.go
// v1.18.1): the high priorities, all others by their names, the low priorities.
// Cluster objects are among the low ones by default.

// server is a Deployment, as far as it says how its server is started. Velero's is known by its
// image and its flag: charts call it as they like.
type server struct {
	Images    []string // of its containers
	Arguments []string // JSON lists, of each container
	Commands  []string // likewise
}

var servers = backup.NewKind("deployments.apps",
	backup.Texts(func(s *server) *[]string { return &s.Images }, "spec.template.spec.containers[].image"),
	backup.Raws(func(s *server) *[]string { return &s.Arguments }, "spec.template.spec.containers[].args"),
	backup.Raws(func(s *server) *[]string { return &s.Commands }, "spec.template.spec.containers[].command"),
)

const (
	prioritiesFlag = "--restore-resource-priorities"
	separator      = "-"
)

// before are the resources that have to be back before their Clusters are, so that
// controllers find the machines that they own.
var before = []string{"machinesets.cluster.x-k8s.io", "machines.cluster.x-k8s.io"}

const clustersResource = "clusters.cluster.x-k8s.io"

// ownOrder returns the priorities with which the backup's own Velero restores
// Clusters before the machines, and false when it does not, or when the backup does
// not hold its Deployment.
func ownOrder(s *backup.Snapshot) (priorities string, clustersFirst bool) {
	for r := range servers.In(s).All() {
		for _, text := range slices.Concat(r.Data.Commands, r.Data.Arguments) {
			var args []string
			if json.Unmarshal([]byte(text), &args) != nil {
				continue
			}
			for i, a := range args {
				value, ok := strings.CutPrefix(a, prioritiesFlag+"=")
				if a == prioritiesFlag && i+1 < len(args) {
					value, ok = args[i+1], true
				}
				if ok && bringsClustersFirst(value) {
					return value, true
				}
			}
		}
	}
	return "", false
}

// bringsClustersFirst reports whether priorities put Clusters before what has to
// precede them. Without low priorities of their own Velero's stay: Clusters last.
func bringsClustersFirst(priorities string) bool {
	high := strings.Split(priorities, ",")
	low := []string{clustersResource}
	if i := slices.Index(high, separator); i >= 0 {
		if rest := high[i+1:]; len(rest) > 0 {
			low = rest
		}
		high = high[:i]
	}
	at := func(resource string) int {
		short, _, _ := strings.Cut(resource, ".")
		is := func(name string) bool {
			return name == resource || name == short || name == strings.TrimSuffix(short, "s")
		}
		if i := slices.IndexFunc(high, is); i >= 0 {
			return i
		}
		if i := slices.IndexFunc(low, is); i >= 0 {
			return len(high) + 1 + i
		}
		return len(high) // among the others, which go by their names
	}
	clusters := at(clustersResource)
	return slices.ContainsFunc(before, func(r string) bool {
		return at(r) > clusters || at(r) == clusters && clustersResource < r
	})
}
