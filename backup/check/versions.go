package check

import (
	"slices"
	"strings"

	"drift-detector/backup"
)

var (
	ruleNotServed      = rule("not served")
	ruleServedNoLonger = rule("served no longer")
)

// ServedVersion is an API version that some releases of its controllers do not serve.
type ServedVersion struct {
	Version string // "v1alpha4"
	Until   string // which release is the last: "Cluster API serves it up to release v1.5"
	Ending  bool   // current releases serve it still
}

// VersionKind is a resource of which only the API version of its objects is read.
type VersionKind = backup.Kind[versionFields]

type versionFields struct{ APIVersion string }

// NewVersionKind declares a resource whose API versions are looked at.
func NewVersionKind(resource string) *VersionKind {
	return backup.NewKind(resource, backup.Text(func(v *versionFields) *string { return &v.APIVersion }, "apiVersion")).Ownerless()
}

// Kinds returns kinds as a [backup.Want] takes them.
func Kinds(of []*VersionKind) []backup.AnyKind {
	all := make([]backup.AnyKind, len(of))
	for i, k := range of {
		all[i] = k
	}
	return all
}

// Versions counts the objects of resources that are of one of the API versions. The
// Snapshot must have been loaded with the kinds.
func Versions(s *backup.Snapshot, kinds []*VersionKind, served []ServedVersion) []Finding {
	type use struct {
		backup            int
		resource, version string
	}
	counts := map[use]int{}
	all := map[use]*users{}
	for _, k := range kinds {
		for r := range k.In(s).All() {
			_, version, _ := strings.Cut(r.Data.APIVersion, "/")
			if !slices.ContainsFunc(served, func(v ServedVersion) bool { return v.Version == version }) {
				continue
			}
			u := use{r.Backup, k.Resource(), version}
			if counts[u]++; all[u] == nil {
				all[u] = newUsers()
			}
			cluster := r.ClusterName
			if k.Resource() == clusterKind.Resource() {
				cluster = r.Name
			}
			all[u].add(r.Backup, r.Namespace, cluster)
		}
	}
	var found []Finding
	for u, n := range counts {
		i := slices.IndexFunc(served, func(v ServedVersion) bool { return v.Version == u.version })
		rule := ruleNotServed
		if served[i].Ending {
			rule = ruleServedNoLonger
		}
		found = append(found, rule.On(u.backup, u.resource, "%s in %s: %s", count(n, "object"), u.version, served[i].Until).Of(all[u].clusters(s)...))
	}
	return found
}

// users gathers the clusters that objects concern: the one that an object's label
// names, else all in its namespace.
type users struct {
	named map[backup.ClusterID]bool
	in    map[namespace]bool
}

func newUsers() *users { return &users{map[backup.ClusterID]bool{}, map[namespace]bool{}} }

func (u *users) add(n int, in, cluster string) {
	switch {
	case cluster != "":
		u.named[backup.ClusterID{Backup: n, Namespace: in, Name: cluster}] = true
	case in != "":
		u.in[namespace{n, in}] = true
	}
}

func (u *users) clusters(s *backup.Snapshot) []backup.ClusterID {
	var all []backup.ClusterID
	for i := range s.Clusters {
		if c := &s.Clusters[i]; u.named[c.ID()] || u.in[namespace{c.Backup, c.Namespace}] {
			all = append(all, c.ID())
		}
	}
	return all
}

// served are the API versions of Cluster API itself, which served v1alpha3 up to v1.4
// and v1alpha4 up to v1.5 (config/crd v1.4.0, v1.5.0, v1.6.0), and stops serving
// v1beta1 in v1.16 (docs/book reference/versions.md v1.14.0).
var served = []ServedVersion{
	{Version: "v1alpha3", Until: "Cluster API serves it up to release v1.4"},
	{Version: "v1alpha4", Until: "Cluster API serves it up to release v1.5"},
	{Version: "v1beta1", Until: "Cluster API stops serving it in release v1.16", Ending: true},
}

// versionedKinds are those of Cluster API whose API version is looked at: one of each
// group tells for the others, and they are few.
var versionedKinds = []*VersionKind{
	NewVersionKind("clusters." + coreGroup),
	NewVersionKind("machinedeployments." + coreGroup),
	NewVersionKind("kubeadmcontrolplanes." + controlPlaneGroup),
	NewVersionKind("kubeadmconfigtemplates." + bootstrapGroup),
}

func versions(e *examination) []Finding { return Versions(e.Snapshot, versionedKinds, served) }
