package backup

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/backup/archive"
)

// Needs returns which resources a Load with w reads or counts: what else a management cluster
// that runs holds need not be asked for.
func (w Want) Needs() func(resource string) bool {
	named := map[string]bool{}
	for _, k := range slices.Concat(w.Kinds, coreKinds) {
		named[k.Resource()] = !slices.Contains(selfKinds, k)
	}
	secrets := len(w.Secrets) > 0
	return func(resource string) bool {
		return named[resource] || secrets && resource == secretResource || isClusterAPI(groupOfResource(resource)) || isReferredTo(resource)
	}
}

// definitionResource are the CustomResourceDefinitions, without which nobody knows what a
// server should serve.
const definitionResource = "customresourcedefinitions.apiextensions.k8s.io"

// UnreadHint returns the hint for kinds that a management cluster did not let be read, or that a folder
// of 'clusterctl move' has in part.
func (s *Snapshot) UnreadHint(backup int) string {
	const nothing = "nothing is concluded from what could not be read; "
	if s.Moved(backup) {
		return nothing + "have 'clusterctl move --to-directory' write all of it again, into an empty folder"
	}
	return nothing + "'drift-detector permissions kubernetes' prints what the account must be allowed"
}

// unreadOf notes which resources a source could not read whole. All that rests on one is
// unknown; it is not absent.
func (l *loading) unreadOf(backup int, source Source) map[string]string {
	if source.Unread == nil {
		return nil
	}
	unread := source.Unread()
	for _, resource := range slices.Sorted(maps.Keys(unread)) {
		l.note(Problem{Backup: backup, Item: resource, Reason: "not read: " + unread[resource], Decisive: l.needs(resource)})
	}
	return unread
}

// needs reports whether objects of a resource are read, so that a backup without them
// does not hold everything.
func (l *loading) needs(resource string) bool {
	return resource == definitionResource || resource == secretResource && l.secrets.wanted() || isControlPlane(resource) || isInfraCluster(resource) ||
		isReferredTo(resource) || slices.ContainsFunc(l.wanted, func(k AnyKind) bool { return k.Resource() == resource && !slices.Contains(selfKinds, k) })
}

// unreadCore names a resource that verdicts on all machines of a backup rest on and that could
// not be read, and why; both are empty where there is none.
func (i *Info) unreadCore() (resource, why string) {
	for _, resource := range slices.Sorted(maps.Keys(i.Unread)) {
		group := groupOfResource(resource)
		if resource == definitionResource || isControlPlane(resource) || group == coreGroup && !strings.HasPrefix(resource, "machinehealthchecks.") && !strings.HasPrefix(resource, "clusterclasses.") {
			return resource, i.Unread[resource]
		}
	}
	return "", ""
}

// Unread returns, for verdicts on machines of a backup that a provider of those kinds reads,
// which resource they rest on that could not be read, and why; both are empty where there is
// none.
func (s *Snapshot) Unread(backup int, kinds []AnyKind) (resource, why string) {
	if backup < 0 || backup >= len(s.Backups) || len(s.Backups[backup].Unread) == 0 {
		return "", ""
	}
	i := &s.Backups[backup]
	if resource, why = i.unreadCore(); resource != "" {
		return resource, why
	}
	for _, resource := range slices.Sorted(maps.Keys(i.Unread)) {
		if isInfrastructure(groupOfResource(resource)) && slices.ContainsFunc(kinds, func(k AnyKind) bool { return k.Resource() == resource }) {
			return resource, i.Unread[resource]
		}
	}
	return "", ""
}

// deletion is an object that is being deleted, and since when.
type deletion struct {
	kind, name string // name is empty for the object itself, and kind too where its owner goes with it
	since      time.Time
}

// Deleting names what is being deleted of an object, itself or what it controls of its
// infrastructure, and since when; the time is zero where nothing is. Velero leaves such objects
// out, a management cluster that runs holds them.
func (s *Snapshot) Deleting(backup int, kind, namespace, name string) (what string, since time.Time) {
	if len(s.deleting) == 0 {
		return "", since
	}
	d := s.deleting[objectKey{backup, plural(kind), namespace, name}]
	if d.name == "" {
		return kind + " " + namespace + "/" + name, d.since
	}
	return d.kind + " " + namespace + "/" + d.name, d.since
}

// revive takes what was being deleted when clusterctl wrote it for what it is after the restore:
// it comes back living, as an API server takes no deletionTimestamp of a new object
// (WipeObjectMetaSystemFields: k8s.io/apiserver pkg/registry/rest/meta.go v0.35.0).
func (s *Snapshot) revive() {
	for k, d := range s.deleting {
		if !s.Moved(k.backup) {
			continue
		}
		delete(s.deleting, k)
		if d.kind != "" {
			s.Revived = append(s.Revived, d.kind+" "+k.namespace+"/"+cmp.Or(d.name, k.name))
		}
	}
	slices.Sort(s.Revived)
}

// kindIn returns the kind that an object says it is of, else its resource.
func kindIn(body []byte, resource string) string {
	var is struct{ Kind string }
	_ = json.Unmarshal(body, &is) // it was read before
	return cmp.Or(is.Kind, resource)
}

// plural returns a kind as resources name it.
func plural(kind string) string { return archive.ResourceOf(kind, "") }

// restoring notes an object whose status Velero brings back. The controllers of MachineDeployment,
// MachineSet and MachineHealthCheck read theirs for nothing but a rollout, which is said without it
// (internal/controllers of Cluster API v1.8.0 to v1.13.4); templates have none.
func (l *loading) restoring(e *entry) {
	resource, group, _ := strings.Cut(e.Resource, ".")
	switch {
	case !e.restored || e.meta == nil || !isClusterAPI(group) && group != bootstrapGroup || strings.HasSuffix(resource, "templates"):
	case group == coreGroup && (resource == "machinedeployments" || resource == "machinesets" || resource == "machinehealthchecks"):
	default:
		l.restored = append(l.restored, kindIn(e.Body, resource)+" "+e.meta.Namespace+"/"+e.meta.Name)
		l.memory.spend(smallObject)
	}
}

// dying notes an object that is being deleted, and that its owner loses what it
// needs: a Machine whose VSphereVM is being deleted is about to lose its VM.
func (l *loading) dying(e *entry) {
	if e.deleting.IsZero() || e.meta == nil {
		return
	}
	resource, _, _ := strings.Cut(e.Resource, ".")
	d := deletion{since: e.deleting}
	if groupOfResource(e.Resource) == coreGroup || isControlPlane(e.Resource) {
		d.kind = kindIn(e.Body, resource)
	}
	l.deleting[objectKey{e.backup, resource, e.meta.Namespace, e.meta.Name}] = d
	l.memory.spend(smallObject)
	if !isInfrastructure(groupOfResource(e.Resource)) {
		return
	}
	for _, o := range e.meta.Owners {
		if !strings.HasSuffix(o.Kind, "Machine") {
			continue // a template of a Cluster, for example, comes and goes
		}
		k := objectKey{e.backup, plural(o.Kind), e.meta.Namespace, o.Name}
		if _, known := l.deleting[k]; !known {
			l.deleting[k] = deletion{kindIn(e.Body, resource), e.meta.Name, e.deleting}
			l.memory.spend(smallObject)
		}
	}
}
