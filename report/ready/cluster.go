package ready

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
)

// API groups of what is looked at.
const (
	clusterGroup  = "cluster.x-k8s.io"
	providerGroup = "clusterctl.cluster.x-k8s.io"
	veleroGroup   = "velero.io"
	webhookGroup  = "admissionregistration.k8s.io"
)

// Look at all that lets a restore begin, in the order of what it would do.
func (l *looking) cluster() {
	s, err := &seen{}, errors.New("nothing was piped in")
	if l.Printed != nil {
		s, err = read(l.Printed)
	}
	if err != nil {
		for _, k := range []struct{ check, what string }{
			{"oldCluster", "that it is another cluster than the old one"},
			{"clusters", "that it holds none of the Clusters"},
			{"releases", "the releases of its providers"},
			{"controllers", "that its controllers run"},
			{"webhooks", "that its webhook configurations are answered"},
			{"applied", "that Flux, Argo CD and k0rdent are off"},
			{"namespaces", "that no namespace is being deleted"},
			{"velero", "its Velero"},
			{"location", "its storage locations"},
			{"restores", "that no other Restore is under way"},
			{"backup", "the Backup of Velero"},
			{"modifiers", "the ConfigMap that pauses Clusters"},
		} {
			l.unseen(k.check, k.what, err.Error())
		}
		return
	}
	l.another(s)
	l.none(s)
	l.velero(s)
	l.releases(s)
	l.controllers(s)
	l.applied(s)
	l.namespaces(s)
}

// unseen adds what was not looked at.
func (l *looking) unseen(check, what, why string, words ...string) {
	next := "pipe it in as '" + l.Program + " help ready' says"
	if l.restore > 0 {
		next = l.step(l.restore) + " has the line"
	}
	for _, w := range words {
		next = "look yourself; once it is right: --done " + w
	}
	l.add(Item{Check: check, State: Unseen, What: "not looked at: " + what, Why: why, Next: next, Step: l.restore}, words...)
}

// another sees that it is not the management cluster of the backup.
func (l *looking) another(s *seen) {
	uid, created := "", time.Time{}
	for _, o := range s.of("", "Namespace") {
		if o.Metadata.Name == "kube-system" {
			if uid != "" && uid != o.Metadata.UID {
				l.unseen("oldCluster", "which cluster it is", "two clusters were piped in")
				return
			}
			uid, created = o.Metadata.UID, o.Metadata.Created
		}
	}
	is, said := l.Report.IsOld(uid, created)
	var nodes []report.SeenNode
	for _, o := range s.of("", "Node") {
		nodes = append(nodes, report.SeenNode{Name: o.Metadata.Name, ProviderID: o.Spec.ProviderID, Annotations: o.Metadata.Annotations})
	}
	of, why := l.Report.ClusterOf(nodes)
	if i := slices.IndexFunc(nodes, func(n report.SeenNode) bool { return n.Cluster() != "" }); i >= 0 && of == "" {
		l.unseen("ofCluster", "whose cluster this is", "Node "+name(nodes[i].Name)+" says that it is of Cluster "+name(nodes[i].Cluster())+": it may be a workload cluster of others, and no management cluster", "ofCluster")
	}
	switch next := "set the context to the new management cluster, and pipe that in"; {
	case is:
		l.add(Item{Check: "oldCluster", State: Missing, What: "this is the OLD management cluster: stop", Why: "its kube-system has the uid of the one in the backup", Next: next, Step: l.restore})
	case of != "":
		l.add(Item{Check: "oldCluster", State: Missing, What: "this is cluster " + name(of) + " of the report: stop", Why: report.Valid(why), Next: next, Step: l.restore})
	case uid == "":
		l.unseen("oldCluster", "that it is another cluster than the old one", "its namespace kube-system was not piped in")
	case len(nodes) == 0:
		l.unseen("oldCluster", "that it is no cluster of the report", "no Node was piped in")
	case !said:
		l.unseen("oldCluster", "that it is another cluster than the old one", "the backup does not have the uid of kube-system", "oldCluster")
	default:
		l.add(Item{Check: "oldCluster", State: Holds, What: "it is another cluster than the old one, by the uid of kube-system, and none of the report, by " + english.Count(len(nodes), "Node")})
	}
}

// none sees that it holds no Cluster: of the report its controllers would act on while Machines are
// missing, and one that holds others may be the living management cluster of those. The line of the
// plan restores nothing where one is.
func (l *looking) none(s *seen) {
	var all []report.HeldCluster
	for _, o := range s.of(clusterGroup, "Cluster") {
		all = append(all, report.HeldCluster{Title: o.title(), Paused: o.Spec.Paused, Restore: o.Metadata.Labels["velero.io/restore-name"], Created: o.Metadata.Created})
	}
	ours, others := l.Report.Held(all)
	if len(ours) > 0 {
		l.add(Item{Check: "clusters", State: Missing, What: "it already holds " + strings.TrimSuffix(about(ours), ": "), Why: "controllers act on them while their Machines are not yet back", Next: "turn off what created them, and restore into a cluster that holds none: " + l.step(l.restore), Step: l.restore, Objects: ours})
	}
	if len(others) > 0 {
		l.add(Item{Check: "clusters", State: Missing, What: "it holds Clusters that the report does not name: " + strings.TrimSuffix(about(others), ": "), Why: "it may be the running management cluster of others", Next: "set the context to the new management cluster; restore into one that holds none: " + l.step(l.restore), Step: l.restore, Objects: others})
	}
	switch {
	case len(ours)+len(others) > 0:
	case !s.lists["Cluster"]:
		l.unseen("clusters", "that it holds none of the Clusters", "no ClusterList was piped in; an empty list of kubectl get does not say of what")
	default:
		l.add(Item{Check: "clusters", State: Holds, What: "it holds " + held(len(all))})
	}
}

// Types of clusterctl's inventory, and what 'clusterctl init' and reports call them
// (cmd/clusterctl/api/v1alpha3/provider_type.go v1.14.0).
var providerTypes = map[string]string{
	"CoreProvider": "core", "BootstrapProvider": "bootstrap", "ControlPlaneProvider": "control-plane",
	"InfrastructureProvider": "infrastructure", "IPAMProvider": "ipam", "RuntimeExtensionProvider": "runtime-extension", "AddonProvider": "addon",
}

// releases sees that the providers are those of the backup, or of the same minor release.
func (l *looking) releases(s *seen) {
	has, needs := map[[2]string][]string{}, map[[2]string][]report.Installed{}
	var order [][2]string
	for _, o := range s.of(providerGroup, "Provider") {
		key := [2]string{providerTypes[o.Type], o.ProviderName}
		has[key] = append(has[key], strings.TrimSpace(o.Version))
	}
	for i := range l.Report.Backups {
		for _, p := range l.Report.Backups[i].Installed {
			key := [2]string{p.Type, p.Name}
			if needs[key] == nil {
				order = append(order, key)
			}
			if !slices.Contains(needs[key], p) {
				needs[key] = append(needs[key], p)
			}
		}
	}
	switch {
	case len(has) == 0:
		l.unseen("releases", "the releases of its providers", "no Provider object was piped in: none is installed as clusterctl does, or kubectl was not asked", "releases")
		return
	case !slices.ContainsFunc(order, func(k [2]string) bool { return k[0] == "core" }), !slices.ContainsFunc(order, func(k [2]string) bool { return k[0] == "infrastructure" }):
		l.unseen("releases", "the releases of the old cluster", "the backup does not say those of Cluster API and an infrastructure provider", "releases")
	}
	differs := false
	for _, key := range order {
		differs = l.release(key[0]+" provider "+name(key[1]), needs[key], has[key]) || differs
	}
	if !differs && len(order) > 0 {
		l.add(Item{Check: "releases", State: Holds, What: english.Count(len(order), "provider") + " with the releases of the backup, or later patches of them"})
	}
}

// release reports whether a provider is not known to be as in the backup.
func (l *looking) release(what string, old []report.Installed, now []string) bool {
	versions := make([]string, len(old))
	for i := range old {
		versions[i] = old[i].Version
	}
	worst := report.SameMinor
	for _, v := range now {
		if c := old[0].Compare(v); c == report.OtherRelease || worst == report.SameMinor {
			worst = c
		}
	}
	item := Item{Check: "releases", State: Missing, Step: l.restore, Next: "install the release of the backup: " + l.step(l.restore)}
	switch {
	case len(now) == 0:
		item.What, item.Why = what+" is not there", "the old cluster had "+name(versions[0])
	case len(old) > 1:
		l.unseen("releases", "the release of "+what, "the backup names several: "+strings.TrimSuffix(about(versions), ": "), "releases")
		return true
	case worst == report.OtherRelease:
		item.What, item.Why = what+" has release "+name(strings.Join(now, ", ")), "the old cluster had "+name(versions[0])
	case worst == report.LaterMinor:
		l.unseen("releases", "whether "+what+" still serves the API versions of the backup", "it has the later release "+name(strings.Join(now, ", "))+", the old cluster had "+name(versions[0]), "releases")
		return true
	default:
		return false
	}
	l.add(item)
	return true
}

func titles(all []*object) []string {
	out := make([]string, len(all))
	for i, o := range all {
		out[i] = o.title()
	}
	return out
}

func held(n int) string {
	if n == 0 {
		return "no Cluster"
	}
	return "no Cluster but " + strconv.Itoa(n) + " that the restore of another backup of the report has made"
}
