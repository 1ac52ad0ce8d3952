package openstack

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"drift-detector/backup"
	"drift-detector/internal/lazyregexp"
)

// deployment is a Deployment, of which the images of its containers are read: one of them
// says which release of CAPO ran.
type deployment struct{ Images []string }

var deployments = backup.NewKind("deployments.apps", backup.Texts(func(d *deployment) *[]string { return &d.Images }, "spec.template.spec.containers[].image"))

// inventory is what clusterctl keeps of a provider that it installed.
type inventory struct{ Name, Type, Version string }

var inventories = backup.NewKind("providers.clusterctl.cluster.x-k8s.io",
	backup.Text(func(i *inventory) *string { return &i.Name }, "providerName"),
	backup.Text(func(i *inventory) *string { return &i.Type }, "type"),
	backup.Text(func(i *inventory) *string { return &i.Version }, "version"),
)

// capoImage is the image of CAPO's controller, wherever it is mirrored, with its tag.
var capoImage = lazyregexp.New(`(?:^|/)capi-openstack-controller(?:-[a-z0-9]+)?:(v[0-9][0-9A-Za-z.+-]*)(?:@.*)?$`)

// installedVersions returns the versions of CAPO that ran when the backups were taken, by
// backup, where that is known.
func installedVersions(s *backup.Snapshot) map[int][]*version.Version {
	found := map[int][]*version.Version{}
	note := func(n int, tag string) {
		if v, err := version.ParseSemantic(tag); err == nil {
			found[n] = append(found[n], v)
		}
	}
	for d := range deployments.In(s).All() {
		for _, image := range d.Data.Images {
			if m := capoImage.FindStringSubmatch(image); m != nil {
				note(d.Backup, m[1])
			}
		}
	}
	for i := range inventories.In(s).All() {
		if i.Data.Name == "openstack" && i.Data.Type == "InfrastructureProvider" && found[i.Backup] == nil {
			note(i.Backup, strings.TrimSpace(i.Data.Version))
		}
	}
	return found
}

// releaseOfAll returns the release of the versions, where they are of one.
func releaseOfAll(versions []*version.Version) (one release, known bool) {
	for i, v := range versions {
		r := releaseOfVersion(v)
		if i > 0 && r != one {
			return 0, false
		}
		one = r
	}
	return one, len(versions) > 0
}

// releaseOfVersion returns the release of CAPO with the version.
func releaseOfVersion(v *version.Version) release {
	before := func(other string) bool { return v.LessThan(version.MustParseSemantic(other)) }
	switch {
	case before("0.10.0-alpha.0"):
		return byNameAlone
	case before("0.11.0-alpha.0"):
		return withoutServers
	case before("0.15.0-alpha.0"):
		return withServers
	case before("0.15.0-beta.1"):
		return untilBeta
	}
	return lookingAgain
}
