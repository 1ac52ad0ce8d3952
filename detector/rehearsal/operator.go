package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// operatorRows are those of Cluster API Operator, which installs providers, and of Rancher
// Turtles, which has it install them.
var operatorRows = []row[*world]{{walk.Row{
	ID: "core.O1", Of: "provider of Cluster API Operator",
	Asks:      "the release that is installed, which a restore takes away with its status: it installs the one that the object names, or the latest, over what is there, as soon as it is restored",
	Differs:   walk.Does{Effect: walk.Writes, Code: code.OutcomeUnknown, What: "it installs other controllers than those that wrote the backup, and what these do to machines is not known here"},
	Condition: code.ProvidersInstalled,
	Source:    "Load: internal/controller/phase_load.go; Upgrade, Install: phase_lifecycle.go v0.9.2 of cluster-api-operator; CAPIProvider: api/v1alpha1 of Turtles, which has the same spec",
}, providersInstalled}}

// provider is an object of which providers are installed.
type provider struct{ Version, Installed string }

// providerKinds are those objects, by their kinds.
var providerKinds = func() map[string]*backup.Kind[provider] {
	all := map[string]*backup.Kind[provider]{}
	for kind, group := range map[string]string{
		"CoreProvider": operatorGroup, "BootstrapProvider": operatorGroup, "ControlPlaneProvider": operatorGroup, "InfrastructureProvider": operatorGroup,
		"AddonProvider": operatorGroup, "IPAMProvider": operatorGroup, "RuntimeExtensionProvider": operatorGroup, "CAPIProvider": "turtles-capi.cattle.io",
	} {
		all[kind] = backup.NewKind(strings.ToLower(kind)+"s."+group,
			backup.Text(func(p *provider) *string { return &p.Version }, "spec.version"),
			backup.Text(func(p *provider) *string { return &p.Installed }, "status.installedVersion"))
	}
	return all
}()

const operatorGroup = "operator.cluster.x-k8s.io"

// providersInstalled asks core.O1.
func providersInstalled(w *world) walk.Answer {
	var objects, others []string
	for kind, of := range providerKinds {
		for r := range of.In(w.in.Snapshot).All() {
			title, release := named(kind, r.Namespace, r.Name), strings.TrimPrefix(r.Data.Version, "v")
			if is := strings.TrimPrefix(r.Data.Installed, "v"); is != "" && release != "" && is != release {
				others = append(others, fmt.Sprintf("%s names v%s, and v%s was installed", title, release, is))
			}
			objects = append(objects, fmt.Sprintf("%s (%s)", title, cmp.Or(r.Data.Version, "latest")))
		}
	}
	slices.Sort(others)
	switch {
	case others != nil:
		title, _, _ := strings.Cut(others[0], " names ")
		return differs(others[0], title+" names the release that was installed, or the operator is off", title)
	case objects != nil:
		return unseen(objects...)
	}
	return passed
}
