package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"drift-detector/backup/archive"
	"drift-detector/backup/scan"
)

// limits bound what a Load may cost, beside those on each archive.
type limits struct {
	archive archive.Bounds
	kinds   int // resources of control planes, and of infrastructure clusters, in all backups
	// What is kept of all backups, in bytes: memory whatever their size, less of
	// small ones: spare and expansion times the size of the files.
	memory, spare, expansion int64

	future time.Time // no object was created after it, whatever it says; zero for no such bound
}

// A machine takes 3.6 kB with all that is kept about it, and its objects 1.9 kB
// of a compressed backup (the lab's). So 1 GiB is room for 300,000 machines, spare
// for 35,000, and expansion for a backup eight times as terse.
var defaultLimits = limits{
	archive: archive.DefaultBounds, kinds: 64,
	memory: 1 << 30, spare: 128 << 20, expansion: 16,
}

const (
	nextOrigin = "check where the file comes from: no management cluster has that many"
	nextMemory = "check where the file comes from; if it is yours, back up the namespaces of the clusters only, and give one backup at a time"
)

// pass is one walk over one backup.
type pass struct {
	load     *loading
	backup   int
	name     string        // of the source
	resource string        // of the item before
	readers  []reader      // of that resource
	joint    *scan.Capture // for all of them, or nil
	reading  []reader      // readers of the body that comes
	entry    entry
	beside   archive.Visitor // see Want.Beside
	asks     bool            // it wants the body that comes
	// When the youngest object was created, and the youngest that may be true.
	youngest, youngestTrue time.Time
}

// readSource makes the pass over one source.
func (l *loading) readSource(ctx context.Context, backup int, source Source) (Info, error) {
	p := &pass{load: l, backup: backup, name: source.Name}
	if l.beside != nil {
		p.beside = l.beside(backup)
	}
	counted := Source{Name: source.Name, Open: func() (io.ReadCloser, error) {
		file, err := source.Open()
		if err != nil {
			return nil, err
		}
		return counter{file, &l.input}, nil
	}}
	read, err := archive.Walk(ctx, counted, l.limits.archive, archive.Visitor{Want: p.want, Visit: p.visit, Problem: p.problem})
	if err != nil {
		return Info{}, err
	}
	unread := l.unreadOf(backup, source)
	if !holdsClusterAPI(read.Resources) {
		return Info{}, nothing(source, unread)
	}
	l.holds = append(l.holds, read.Resources)
	info := Info{
		Path: source.Name, SHA256: read.SHA256, FormatVersion: read.FormatVersion,
		WrittenFrom: read.WrittenFrom, WrittenTo: read.WrittenTo, Items: read.Items,
		Live: source.Live, Mode: source.Mode, Unread: unread,
	}
	if info.Mode == "" && !source.Live {
		info.Mode = archive.ByVelero
	}
	if !source.Live { // whose times are one clock's
		p.date(&info)
	}
	return info, nil
}

// counter adds up the bytes that are read of a file.
type counter struct {
	io.ReadCloser
	bytes *int64
}

func (c counter) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	*c.bytes += int64(n)
	return n, err
}

// nothing returns the error for a source without objects of Cluster API.
func nothing(source Source, unread map[string]string) error {
	for _, resource := range slices.Sorted(maps.Keys(unread)) {
		if isClusterAPI(groupOfResource(resource)) {
			return &InputError{
				Name: source.Name, Problem: fmt.Sprintf("nothing of Cluster API could be read; %s: %s", resource, unread[resource]),
				Next: "give an account with the role that 'drift-detector permissions kubernetes' prints",
			}
		}
	}
	if source.Live {
		return &InputError{Name: source.Name, Problem: "holds no Cluster API objects", Next: "give the kubeconfig, and the context, of the management cluster", Err: ErrNoClusterAPI}
	}
	return &InputError{
		Name: source.Name, Problem: "a backup without Cluster API objects",
		Next: "give a backup of the management cluster that includes the namespaces of its clusters", Err: ErrNoClusterAPI,
	}
}

// ErrNoClusterAPI is the cause of the error for a backup that was read to its end, and holds
// nothing of Cluster API.
var ErrNoClusterAPI = errors.New("no Cluster API objects")

// holdsClusterAPI reports whether a resource is of Cluster API.
func holdsClusterAPI(resources map[string]int) bool {
	for resource := range resources {
		if isClusterAPI(groupOfResource(resource)) {
			return true
		}
	}
	return false
}

// refuse returns the error for a backup that cannot be used.
func (p *pass) refuse(problem, next string) error {
	return &InputError{Name: p.name, Problem: problem, Next: next}
}

// want reports whether a reader wants an item, and notes which.
func (p *pass) want(h *archive.Header) (bool, error) {
	if h.Resource != p.resource {
		readers, err := p.readersOf(h.Resource)
		if err != nil {
			return false, err
		}
		p.resource, p.readers, p.joint = h.Resource, readers, p.load.joint[h.Resource]
	}
	p.reading = p.reading[:0]
	for _, r := range p.readers {
		if r.wants(h) {
			p.reading = append(p.reading, r)
		}
	}
	if p.asks = false; p.beside.Visit != nil {
		var err error
		if p.asks, err = p.beside.Want(h); err != nil {
			return false, err
		}
	}
	return len(p.reading) > 0 || p.asks, nil
}

// visit hands an item to the readers that want it.
func (p *pass) visit(item *archive.Item) error {
	if p.asks {
		if err := p.beside.Visit(item); err != nil {
			return err
		}
	}
	p.entry = entry{Item: item, backup: p.backup, ownerless: !slices.ContainsFunc(p.reading, func(r reader) bool { return !r.ownerless() })}
	if len(p.reading) > 1 && p.joint != nil {
		// What one reader refuses, others may take: then each scans it for itself.
		if p.load.scanner.Scan(p.joint, item.Body) == nil {
			p.entry.found = p.joint
		}
	}
	for _, r := range p.reading {
		err := r.read(&p.entry, &p.load.scanner)
		p.born(p.entry.created)
		p.load.dying(&p.entry)
		if err != nil {
			p.problem(item.Path(), err.Error())
			break
		}
	}
	p.load.restoring(&p.entry)
	return p.affordable()
}

// affordable returns an error when what is kept so far is out of bounds.
func (p *pass) affordable() error {
	l := p.load
	most := min(l.limits.memory, l.limits.spare+l.limits.expansion*l.input)
	if l.memory.kept <= most {
		return nil
	}
	return p.refuse(fmt.Sprintf("what it says about clusters and machines needs more than %d MiB of memory, more than a file of its size should", most>>20), nextMemory)
}

// born notes when an object was created.
func (p *pass) born(created time.Time) {
	if created.After(p.youngest) {
		p.youngest = created
	}
	if future := p.load.limits.future; created.After(p.youngestTrue) && (future.IsZero() || !created.After(future)) {
		p.youngestTrue = created
	}
}

// ClockSkew is how far the clocks of two machines may be apart, such as those of Velero and of the API server.
const ClockSkew = 5 * time.Minute

// date compares the times of the entries with those of the objects. Entries tell
// when the backup was written only as long as nobody packs them again under
// another time; an object in it was there before it was written, by the clock of
// the API server, unless that is ahead of everybody's. To take the backup for
// older than it is would make Ghosts of what it leaves out.
func (p *pass) date(i *Info) {
	i.Undated = p.youngest.After(i.WrittenTo.Add(ClockSkew))
	if !p.youngestTrue.After(i.WrittenTo) {
		return
	}
	i.WrittenTo = p.youngestTrue.UTC()
	if i.Undated {
		i.WrittenFrom = i.WrittenTo
	}
}

// maxShown is how many bytes of a path a Problem quotes.
const maxShown = 512

func (p *pass) problem(path, reason string) {
	p.load.problem(p.backup, path[:min(len(path), maxShown)], reason)
}
