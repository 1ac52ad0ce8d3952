package plan

import (
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/english"
	"drift-detector/internal/lazyregexp"
	"drift-detector/internal/sorting"
)

// Names and versions of a report become words of a command: only what has these forms is taken.
var (
	providerForm = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	versionForm  = lazyregexp.New(`^v[0-9]+\.[0-9]+\.[0-9]+([.+-][0-9A-Za-z.+-]{1,40})?$`)
)

// initFlags are the flags of 'clusterctl init' that take providers, in the order of its help.
var initFlags = []string{"core", "bootstrap", "control-plane", "infrastructure", "ipam", "runtime-extension", "addon"}

// provided is a provider that the new management cluster needs, with the releases of it that
// the backup says; none where it does not say it.
type provided struct {
	kind, name string
	versions   []string
}

// installed returns the providers of the old management cluster: those that the backup names,
// and those that its clusters need. Without --core clusterctl takes the newest.
func (pl *planner) installed() []provided {
	var out []provided
	add := func(kind, name string, versions ...string) {
		i := slices.IndexFunc(out, func(p provided) bool { return p.kind == kind && p.name == name })
		if i < 0 {
			i, out = len(out), append(out, provided{kind: kind, name: name})
		}
		for _, v := range versions {
			if !slices.Contains(out[i].versions, v) {
				out[i].versions = append(out[i].versions, v)
			}
		}
	}
	add("core", "cluster-api")
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		if p := pl.providers[c.Provider]; p != nil && len(p.MachineKinds) > 0 && providerForm.MatchString(c.Provider) && !c.Self {
			add("infrastructure", c.Provider)
		}
		if c.ControlPlane.Kind == "KubeadmControlPlane" {
			add("bootstrap", "kubeadm")
			add("control-plane", "kubeadm")
		}
	}
	for i := range pl.Backups {
		for _, p := range pl.Backups[i].Installed {
			if slices.Contains(initFlags, p.Type) && providerForm.MatchString(p.Name) && versionForm.MatchString(p.Version) {
				add(p.Type, p.Name, p.Version)
			}
		}
	}
	sorting.StableBy(out, func(a, b provided) int { return slices.Index(initFlags, a.kind) - slices.Index(initFlags, b.kind) })
	return out
}

// install makes the new management cluster one of Cluster API. What the backup does not say,
// or says in two ways, is left to the operator, so that no release is taken by accident.
func (pl *planner) install(d *draft) {
	words := []any{shell.Raw("clusterctl init --kubeconfig-context"), shell.Variable(management)}
	var asks []shell.Command
	var unknown, several []string
	asked := map[string]bool{}
	for _, p := range pl.installed() {
		if len(p.versions) == 1 {
			words = append(words, "--"+p.kind+"="+p.name+":"+p.versions[0])
			continue
		}
		variable := strings.ToUpper(strings.ReplaceAll(p.name, "-", "_")) + "_RELEASE"
		words = append(words, shell.Pieces{"--" + p.kind + "=" + p.name + ":", shell.Variable(variable)})
		what := "release of " + p.name + ", such as v1.2.3"
		if len(p.versions) > 1 {
			several = append(several, p.name+" ("+strings.Join(p.versions, ", ")+")")
		} else if !asked[variable] {
			unknown = append(unknown, p.name)
		}
		if !asked[variable] {
			asks = append(asks, shell.Ask(variable, what))
		}
		asked[variable] = true
	}
	word := ": ready asks for your word"
	if pl.IsMoved() { // ready is about Velero
		word = ""
	}
	text := "In the new cluster install the releases of Cluster API and of the providers that the old one had, or later patches of them; with a later minor release see first that it still serves the API versions of the backup" + word + ". The line is for clusterctl; what another tool installed, install with that."
	if len(unknown) > 0 {
		text += " The backup does not say the release of " + english.First(10, unknown) + ": look in your sources."
	}
	if len(several) > 0 {
		text += " Of these it names several releases, which one ran is not known: " + english.First(10, several) + "."
	}
	d.before(text, append(asks, pl.isNew().Then(shell.Line(words...)))...)
}
