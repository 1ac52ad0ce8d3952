package backup

import (
	"context"
	"fmt"
	"slices"
	"time"
)

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
		l.infos = append(l.infos, info)
	}
	for _, readers := range l.readers {
		for _, r := range readers {
			r.finish(l)
		}
	}
	if err := l.refuseTwins(sources); err != nil {
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
	scanner  scanner
	wanted   []AnyKind
	readers  map[string][]reader // by resource
	secrets  *secretReader
	tables   map[AnyKind]any
	holds    []map[string]bool // by backup: the resources that it has items of
	problems [][]Problem       // by backup
	more     []Problem         // by backup: what is said of those that are only counted
	unlisted []int             // by backup: how many they are
	twins    *twin             // the first of them

	// Kinds that are met while reading: all control planes, all infrastructure clusters.
	controlPlanes []*Kind[controlPlaneFields]
	infraClusters []*Kind[infraClusterFields]
}

func newLoading(sources int, w Want, bounds limits) *loading {
	l := &loading{
		sources:  sources,
		limits:   bounds,
		memory:   newMemory(),
		wanted:   append(slices.Clone(w.Kinds), coreKinds...),
		readers:  map[string][]reader{},
		tables:   map[AnyKind]any{},
		more:     make([]Problem, sources),
		unlisted: make([]int, sources),

		problems: make([][]Problem, sources),
	}
	l.secrets = newSecretReader(w.Secrets, l.memory)
	return l
}

// readersOf makes the readers of a resource when it is first met.
func (l *loading) readersOf(resource string) ([]reader, error) {
	if rs, ok := l.readers[resource]; ok {
		return rs, nil
	}
	if isControlPlane(resource) && len(l.controlPlanes) == l.limits.kinds {
		return nil, breach{fmt.Sprintf("holds more than %d kinds of control planes", l.limits.kinds), nextOrigin}
	}
	if isInfraCluster(resource) && len(l.infraClusters) == l.limits.kinds {
		return nil, breach{fmt.Sprintf("holds more than %d kinds of infrastructure clusters", l.limits.kinds), nextOrigin}
	}
	var rs []reader
	have := map[AnyKind]bool{}
	for _, k := range l.wanted {
		if k.Resource() == resource && !have[k] {
			have[k] = true
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
	l.readers[resource] = rs
	return rs, nil
}

// maxProblems is how many Problems of one backup are listed.
const maxProblems = 1000

// problem notes what is wrong with an item.
func (l *loading) problem(backup int, item, reason string) {
	p := Problem{Backup: backup, Item: item, Reason: reason, Decisive: l.decisive(resourceIn(item))}
	if len(l.problems[backup]) >= maxProblems {
		l.unlisted[backup]++
		l.more[backup].Decisive = l.more[backup].Decisive || p.Decisive
		return
	}
	l.problems[backup] = append(l.problems[backup], p)
}

// decisive reports whether verdicts rest on objects of a resource: it is one of Cluster
// API or of an infrastructure provider, and somebody asked for it.
func (l *loading) decisive(resource string) bool {
	return isClusterAPI(groupOfResource(resource)) && (isControlPlane(resource) || isInfraCluster(resource) ||
		slices.ContainsFunc(l.wanted, func(k AnyKind) bool { return k.Resource() == resource }))
}

// allProblems is the list for the Snapshot, which owns up to those not listed.
func (l *loading) allProblems() []Problem {
	for i, n := range l.unlisted {
		if n > 0 {
			more := l.more[i]
			more.Backup, more.Item, more.Reason = i, l.infos[i].Path, fmt.Sprintf("%d more items have problems that are not listed", n)
			l.problems[i] = append(l.problems[i], more)
		}
	}
	return slices.Concat(l.problems...)
}

// lookUp says whether the backup holds an object, and whether that is known at
// all: only of resources that were read.
func (l *loading) lookUp(resource string, backup int, ref Ref) (known, found bool) {
	for _, r := range l.readers[resource] {
		t, ok := r.(interface{ has(*Meta) bool })
		if !ok {
			continue
		}
		known = true
		found = found || t.has(&Meta{Backup: backup, Namespace: ref.Namespace, Name: ref.Name})
	}
	return known, found
}
