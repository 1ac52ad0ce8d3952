package backup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"drift-detector/backup/archive"
	"drift-detector/backup/scan"
)

// Source is one backup to load. See [archive.FileSource].
type Source = archive.Source

// InputError is an input that cannot be used at all, with what to do about it.
type InputError = archive.InputError

// Load reads the sources, one streaming pass each, and keeps the core objects of
// Cluster API and what w asks for. The order of the sources is that of
// Snapshot.Backups.
//
// An input that can't be used is an [*InputError]; when the context ends, its
// error is returned. What is wrong with single items is in Snapshot.Problems.
func Load(ctx context.Context, sources []Source, w Want) (*Snapshot, *Secrets, error) {
	bounds := defaultLimits
	bounds.future = time.Now().Add(24 * time.Hour)
	return load(ctx, sources, w, bounds)
}

func load(ctx context.Context, sources []Source, w Want, bounds limits) (*Snapshot, *Secrets, error) {
	l := newLoading(len(sources), w, bounds)
	for i, source := range sources {
		info, err := l.readSource(ctx, i, source)
		if err != nil {
			return nil, nil, err
		}
		if i > 0 && info.Mode != l.infos[0].Mode {
			return nil, nil, &InputError{Name: source.Name, Problem: "is restored in another way than " + sources[0].Name + ", which other controllers' acts follow", Next: "give backups of Velero and folders of clusterctl apart"}
		}
		l.infos = append(l.infos, info)
	}
	for _, resource := range slices.Sorted(maps.Keys(l.readers)) { // the problems are listed in this order
		for _, r := range l.readers[resource] {
			r.finish(l)
		}
	}
	if err := l.refuseOverlaps(sources); err != nil {
		return nil, nil, err
	}
	return l.assemble(), l.secrets.take(), nil
}

// loading is the state of one Load.
type loading struct {
	sources  int
	limits   limits
	infos    []Info
	memory   *memory
	input    int64 // bytes of the files that were read so far
	scanner  scan.Scanner
	wanted   []AnyKind
	beside   func(backup int) archive.Visitor
	readers  map[string][]reader      // by resource
	joint    map[string]*scan.Capture // for all of them, where there are several
	secrets  *secretReader
	tables   map[AnyKind]any
	holds    []map[string]int // by backup: its objects, by resource
	faults   []faults         // by backup
	overlaps *overlap         // the first of them
	looked   Meta             // see lookUp
	present  []AnyKind        // of which only names are read
	deleting map[objectKey]deletion
	restored []string // see Snapshot.Restored

	// Kinds that are met while reading: all control planes, all infrastructure clusters.
	controlPlanes []*Kind[controlPlaneFields]
	infraClusters []*Kind[infraClusterFields]
}

func newLoading(sources int, w Want, bounds limits) *loading {
	l := &loading{
		sources: sources,
		limits:  bounds,
		memory:  newMemory(),
		wanted:  slices.Concat(w.Kinds, coreKinds),
		beside:  w.Beside,
		readers: map[string][]reader{},
		joint:   map[string]*scan.Capture{},
		tables:  map[AnyKind]any{},
		faults:  make([]faults, sources),

		deleting: map[objectKey]deletion{},
	}
	l.secrets = newSecretReader(w, l.memory)
	return l
}

// readersOf makes the readers of a resource when it is first met.
func (p *pass) readersOf(resource string) ([]reader, error) {
	l := p.load
	if rs, ok := l.readers[resource]; ok {
		return rs, nil
	}
	if isControlPlane(resource) && len(l.controlPlanes) == l.limits.kinds {
		return nil, p.refuse(fmt.Sprintf("holds more than %d kinds of control planes", l.limits.kinds), nextOrigin)
	}
	if isInfraCluster(resource) && len(l.infraClusters) == l.limits.kinds {
		return nil, p.refuse(fmt.Sprintf("holds more than %d kinds of infrastructure clusters", l.limits.kinds), nextOrigin)
	}
	var rs []reader
	for i, k := range l.wanted {
		if k.Resource() == resource && !slices.Contains(l.wanted[:i], k) {
			rs = append(rs, k.reader(l.memory))
		}
	}
	if isControlPlane(resource) {
		k := newControlPlaneKind(resource)
		l.controlPlanes = append(l.controlPlanes, k)
		rs = append(rs, k.reader(l.memory))
	}
	if isInfraCluster(resource) {
		k := newInfraClusterKind(resource)
		l.infraClusters = append(l.infraClusters, k)
		rs = append(rs, k.reader(l.memory))
	}
	if resource == secretResource && l.secrets.wanted() {
		rs = append(rs, l.secrets)
	}
	if len(rs) == 0 && isReferredTo(resource) && len(l.present) < l.limits.kinds {
		k := NewKind[struct{}](resource).Ownerless()
		l.present = append(l.present, k)
		rs = append(rs, k.reader(l.memory))
	}
	l.readers[resource] = rs
	l.join(resource, rs)
	return rs, nil
}

// join has the objects of a resource scanned once for all that read them, unless two
// readers contradict each other.
func (l *loading) join(resource string, rs []reader) {
	if len(rs) < 2 {
		return
	}
	p := newPlan()
	for _, r := range rs {
		if r.join(p) != nil {
			return
		}
	}
	l.joint[resource] = l.memory.capture(p)
}

// faults are what is wrong with the items of one backup.
type faults struct {
	listed   []Problem
	unlisted int  // how many are only counted
	decisive bool // one of those is, see Problem
}

// maxProblems is how many Problems of one backup are listed.
const maxProblems = 1000

// problem notes what is wrong with an item.
func (l *loading) problem(backup int, item, reason string) {
	l.note(Problem{Backup: backup, Item: item, Reason: reason, Decisive: l.decisive(archive.ResourceIn(item))})
}

func (l *loading) note(p Problem) {
	f := &l.faults[p.Backup]
	if len(f.listed) >= maxProblems {
		f.unlisted++
		f.decisive = f.decisive || p.Decisive
		return
	}
	f.listed = append(f.listed, p)
}

// decisive reports whether verdicts rest on objects of a resource: it is one of Cluster
// API or of an infrastructure provider, and was asked for.
func (l *loading) decisive(resource string) bool {
	return isClusterAPI(groupOfResource(resource)) && (isControlPlane(resource) || isInfraCluster(resource) ||
		slices.ContainsFunc(l.wanted, func(k AnyKind) bool { return k.Resource() == resource }))
}

// allProblems returns the list for the Snapshot. The last of a backup's counts
// those that are not listed.
func (l *loading) allProblems() []Problem {
	var all []Problem
	for i, f := range l.faults {
		all = append(all, f.listed...)
		if f.unlisted > 0 {
			reason := fmt.Sprintf("further items with problems that are not listed: %d", f.unlisted)
			all = append(all, Problem{Backup: i, Item: l.infos[i].Path, Reason: reason, Decisive: f.decisive})
		}
	}
	return all
}

// lookUp reports whether the backup holds an object, and whether that is known at
// all: only of resources that were read.
func (l *loading) lookUp(resource string, backup int, ref Ref) (known, found bool) {
	l.looked = Meta{Backup: backup, Namespace: ref.Namespace, Name: ref.Name}
	for _, r := range l.readers[resource] {
		t, ok := r.(interface{ has(*Meta) bool })
		if !ok {
			continue
		}
		known = true
		found = found || t.has(&l.looked)
	}
	return known, found
}
