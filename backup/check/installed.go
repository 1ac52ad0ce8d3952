package check

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/internal/lazyregexp"
	"drift-detector/internal/sorting"
)

// Provider is a release of Cluster API or of one of its providers that was installed in the
// management cluster. Type is core, or the name of the flag by which 'clusterctl init' takes it:
// bootstrap, control-plane, infrastructure (cmd/clusterctl/cmd/init.go v1.14.0).
type Provider struct{ Type, Name, Version string }

// inventoryFields are what clusterctl keeps of a provider that it installed.
type inventoryFields struct{ Name, Type, Version string }

var inventoryKind = backup.NewKind("providers.clusterctl.cluster.x-k8s.io",
	backup.Text(func(i *inventoryFields) *string { return &i.Name }, "providerName"),
	backup.Text(func(i *inventoryFields) *string { return &i.Type }, "type"),
	backup.Text(func(i *inventoryFields) *string { return &i.Version }, "version"),
)

// controllerFields are what a Deployment of a provider says: the label of its components, and
// the images of its containers.
type controllerFields struct {
	Provider string
	Images   []string
}

var controllerKind = backup.NewKind("deployments.apps",
	backup.Text(func(d *controllerFields) *string { return &d.Provider }, "label:cluster.x-k8s.io/provider"),
	backup.Texts(func(d *controllerFields) *[]string { return &d.Images }, "spec.template.spec.containers[].image"),
)

// providerTypes are the types of clusterctl's inventory, and the beginnings of the labels of
// their components (cmd/clusterctl/api/v1alpha3/provider_type.go, labels.go v1.14.0).
var providerTypes = []struct{ inventory, word string }{
	{"CoreProvider", "core"},
	{"BootstrapProvider", "bootstrap"},
	{"ControlPlaneProvider", "control-plane"},
	{"InfrastructureProvider", "infrastructure"},
	{"IPAMProvider", "ipam"},
	{"RuntimeExtensionProvider", "runtime-extension"},
	{"AddonProvider", "addon"},
}

// The forms of a name and of a version. Both become words of a command.
var (
	providerForm = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	versionForm  = lazyregexp.New(`^v[0-9]+\.[0-9]+\.[0-9]+([.+-][0-9A-Za-z.+-]{1,40})?$`)
	imageTag     = lazyregexp.New(`:(v[0-9][^:/@]*)(?:@.*)?$`)
)

// InstalledKinds returns the kinds that Installed reads.
func InstalledKinds() []backup.AnyKind { return []backup.AnyKind{inventoryKind, controllerKind} }

// Installed returns what was installed in the management cluster of a backup: what clusterctl
// noted, and what Deployments ran. A provider is there as often as that is not the same.
func Installed(s *backup.Snapshot, n int) []Provider {
	var noted, ran []Provider
	for i := range inventoryKind.In(s).All() {
		for _, t := range providerTypes {
			if i.Backup == n && i.Data.Type == t.inventory {
				noted = append(noted, Provider{t.word, i.Data.Name, strings.TrimSpace(i.Data.Version)})
			}
		}
	}
	for d := range controllerKind.In(s).All() {
		if d.Backup == n && d.Data.Provider != "" {
			ran = append(ran, d.Data.release()...)
		}
	}
	noted = append(noted, ran...)
	noted = slices.DeleteFunc(noted, func(p Provider) bool { return !providerForm.MatchString(p.Name) || !versionForm.MatchString(p.Version) })
	sorting.By(noted, func(a, b Provider) int {
		return cmp.Or(cmp.Compare(orderOf(a.Type), orderOf(b.Type)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	return slices.Compact(noted)
}

func orderOf(word string) int {
	return slices.IndexFunc(providerTypes, func(t struct{ inventory, word string }) bool { return t.word == word })
}

// release returns what a Deployment ran, by the tag of its first image that is no proxy's.
func (d *controllerFields) release() []Provider {
	p := Provider{"core", d.Provider, ""}
	for _, t := range providerTypes[1:] {
		if name, ok := strings.CutPrefix(d.Provider, t.word+"-"); ok {
			p.Type, p.Name = t.word, name
		}
	}
	for _, image := range d.Images {
		if m := imageTag.FindStringSubmatch(image); m != nil && !strings.Contains(image, "kube-rbac-proxy") {
			p.Version = m[1]
			return []Provider{p}
		}
	}
	return nil
}
