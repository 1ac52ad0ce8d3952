package readiness

import (
	"slices"
	"strings"

	"drift-detector/backup"
)

const doVersion = "restore into a management cluster with a release that serves this version, and upgrade there; or convert the backup by upgrading the source before it"

var (
	ruleNotServed = Rule{
		"APIVersionNotServed", Error,
		"Velero restores objects in the version that they were stored in; where the new management cluster does not serve it, they are refused one by one.",
		doVersion,
	}
	ruleServedNoLonger = Rule{
		"APIVersionEnding", Info,
		"A release that does not serve this version any more refuses the objects.",
		doVersion,
	}
)

// servedVersion is an API version that some releases do not serve.
type servedVersion struct {
	group, version string // coreGroup stands for all groups of Cluster API itself
	rule           Rule
	says           string
}

// servedVersions say which releases serve an API version. Cluster API served
// v1alpha3 up to v1.4 and v1alpha4 up to v1.5 (config/crd v1.4.0, v1.5.0,
// v1.6.0), and stops serving v1beta1 in v1.16 (docs/book reference/versions.md
// v1.14.0); Cluster API Provider vSphere v1.8 still served both alphas, v1.10
// does not (config CRDs v1.8.10, v1.10.4).
var servedVersions = []servedVersion{
	{coreGroup, "v1alpha3", ruleNotServed, "Cluster API serves it up to release v1.4"},
	{coreGroup, "v1alpha4", ruleNotServed, "Cluster API serves it up to release v1.5"},
	{coreGroup, "v1beta1", ruleServedNoLonger, "Cluster API stops serving it in release v1.16"},
	{infrastructureGroup, "v1alpha3", ruleNotServed, "Cluster API Provider vSphere serves it up to release v1.8 or v1.9"},
	{infrastructureGroup, "v1alpha4", ruleNotServed, "Cluster API Provider vSphere serves it up to release v1.8 or v1.9"},
}

// versions counts the objects of each resource that are of an old API version.
func versions(e *examination) []Finding {
	type use struct {
		backup                   int
		resource, group, version string
	}
	uses := map[use]int{}
	note := func(m *backup.Meta, resource, apiVersion string) {
		group, version, _ := strings.Cut(apiVersion, "/")
		uses[use{m.Backup, resource, group, version}]++
	}
	for c := range clusterKind.In(e.Snapshot).All() {
		note(&c.Meta, clusterKind.Resource(), c.Data.APIVersion)
	}
	for _, k := range versionedKinds {
		for r := range k.In(e.Snapshot).All() {
			note(&r.Meta, k.Resource(), r.Data.APIVersion)
		}
	}
	var found []Finding
	for u, n := range uses {
		group := coreGroup
		if u.group == infrastructureGroup {
			group = infrastructureGroup
		}
		i := slices.IndexFunc(servedVersions, func(v servedVersion) bool { return v.group == group && v.version == u.version })
		if i >= 0 {
			v := servedVersions[i]
			found = append(found, v.rule.On(u.backup, u.resource, "%s in %s: %s", count(n, "object"), u.version, v.says))
		}
	}
	return found
}
