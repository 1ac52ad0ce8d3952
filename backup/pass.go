package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Bounds on what a backup may ask of us. Those on one item cost the item, those
// on the backup as a whole end the pass: whatever were left out to keep them
// might be what decides.
type limits struct {
	item     int64 // bytes of one item
	versions int   // directories of API versions of one resource

	items     int // distinct objects of a backup
	resources int // distinct resources of a backup
	kinds     int // resources of control planes, and of infrastructure clusters, in all backups
	// What is kept of all backups, in bytes: memory whatever their size, less of
	// small ones: spare and expansion times the size of the files.
	memory, spare, expansion int64

	future time.Time // no object was created after it, whatever it says; zero for no such bound
}

// A machine takes 3.6 kB with all that is kept about it, and its objects 1.9 kB
// of a compressed backup (the lab's). So 1 GiB is room for 300,000 machines, spare
// for 35,000, and expansion for a backup eight times as terse.
var defaultLimits = limits{
	item: 16 << 20, versions: 32,
	items: 5_000_000, resources: 10_000, kinds: 64,
	memory: 1 << 30, spare: 128 << 20, expansion: 16,
}

// breach says which bound on the backup as a whole is broken, and what to do.
type breach struct{ problem, next string }

func (b breach) Error() string { return b.problem }

const (
	nextSmaller = "back up the namespaces of the clusters only"
	nextOrigin  = "check where the file comes from: no management cluster has that many"
	nextMemory  = "check where the file comes from; if it is yours, back up the namespaces of the clusters only, and give one backup at a time"
)

// resource is what a pass knows of one resource directory.
type resource struct {
	name    string
	readers []reader
	forms   []formCount
	items   int // objects of the fullest form
}

type formCount struct {
	form  copyForm
	items int
}

// pass is one walk over one tarball.
type pass struct {
	load      *loading
	backup    int
	info      Info
	resources map[string]*resource
	current   *resource
	entry     entry
	reading   []reader // readers of the body that comes; none for metadata/version
	// The last classic item whose body was read. Velero writes its
	// preferred-version twin, byte for byte the same, right behind it.
	lastName, lastBody []byte
	lastResource       *resource
	// When the youngest object was created, and the youngest that may be true.
	youngest, youngestTrue time.Time
}

// guarded ends the pass when the context ends.
type guarded struct {
	ctx    context.Context
	walker *tarWalker
}

func (g guarded) Write(p []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	return g.walker.Write(p)
}

// enter decides about one entry by its header.
func (p *pass) enter(h *tarHeader) (bool, error) {
	path := bytes.TrimPrefix(h.name, []byte("./"))
	if h.kind == '5' {
		path = bytes.TrimSuffix(path, []byte("/"))
	}
	p.reading = p.reading[:0]
	switch err := checkPath(path); {
	case h.tooLong:
		p.problem(path, fmt.Sprintf("the name is longer than %d bytes", maxName))
		return false, nil
	case err != nil:
		p.problem(path, err.Error())
		return false, nil
	case h.kind == '5' && h.odd == "":
		return false, nil // Velero writes no folders, tools that pack a backup again do
	case h.odd != "":
		p.problem(path, "its tar header is none that Velero writes: "+h.odd)
	case h.kind != '0':
		p.problem(path, "not a regular file")
	}
	if h.kind != '0' {
		return false, nil
	}
	p.note(h.written)
	if string(path) == versionPath {
		if h.size > maxName {
			p.problem(path, "the format version is longer than a line")
			return false, nil
		}
		return true, nil
	}
	if !bytes.HasPrefix(path, []byte(resourcesPrefix)) {
		return false, nil // Velero's own reader ignores these, too
	}
	return p.item(h, path)
}

// maxWritten is the end of the year 9999, beyond which no format of time goes.
const maxWritten = 253402300799

// note widens the time in which the backup was written.
func (p *pass) note(written int64) {
	if written <= 0 || written > maxWritten {
		return
	}
	t := time.Unix(written, 0).UTC()
	if p.info.WrittenFrom.IsZero() || t.Before(p.info.WrittenFrom) {
		p.info.WrittenFrom = t
	}
	if t.After(p.info.WrittenTo) {
		p.info.WrittenTo = t
	}
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

// date compares the times of the entries with those of the objects. Entries tell
// when the backup was written only as long as nobody packs them again under
// another time; an object in it was there before it was written, by the clock of
// the API server, unless that is ahead of everybody's. To take the backup for
// older than it is would make Ghosts of what it leaves out.
func (p *pass) date() {
	const skew = 5 * time.Minute // between the clocks of Velero and the API server
	i := &p.info
	i.Undated = p.youngest.After(i.WrittenTo.Add(skew))
	if !p.youngestTrue.After(i.WrittenTo) {
		return
	}
	i.WrittenTo = p.youngestTrue.UTC()
	if i.Undated {
		i.WrittenFrom = i.WrittenTo
	}
}

// item decides about an entry below resources/.
func (p *pass) item(h *tarHeader, path []byte) (bool, error) {
	name, err := parseItem(path)
	if err != nil {
		p.problem(path, err.Error())
		return false, nil
	}
	r, err := p.resource(name.resource)
	if err != nil {
		return false, err
	}
	form, err := p.count(r, name)
	if err != nil {
		if errors.As(err, new(breach)) {
			return false, err
		}
		p.problem(path, err.Error())
		return false, nil
	}
	if len(r.readers) == 0 {
		return false, nil
	}
	p.entry = entry{
		backup: p.backup, resource: r.name, form: form, written: h.written,
		namespace: name.namespace, name: name.name,
	}
	for _, rd := range r.readers {
		if rd.wants(&p.entry) {
			p.reading = append(p.reading, rd)
		}
	}
	if len(p.reading) == 0 {
		return false, nil
	}
	if h.size > p.load.limits.item {
		p.problem(path, fmt.Sprintf("the item is larger than %d bytes", p.load.limits.item))
		return false, nil
	}
	return true, nil
}

// resource finds what is known of a resource directory, or starts it.
func (p *pass) resource(name []byte) (*resource, error) {
	if p.current != nil && p.current.name == string(name) {
		return p.current, nil
	}
	r := p.resources[string(name)]
	if r == nil {
		if most := p.load.limits.resources; len(p.resources) == most {
			return nil, breach{fmt.Sprintf("holds more than %d kinds of objects", most), nextOrigin}
		}
		r = &resource{name: string(name)}
		var err error
		if r.readers, err = p.load.readersOf(r.name); err != nil {
			return nil, err
		}
		p.load.memory.spend(smallObject + len(r.name))
		p.resources[r.name] = r
	}
	p.current = r
	return r, nil
}

// affordable says whether what is kept so far is within bounds.
func (p *pass) affordable() error {
	l := p.load
	most := min(l.limits.memory, l.limits.spare+l.limits.expansion*l.input)
	if l.memory.kept <= most {
		return nil
	}
	return breach{fmt.Sprintf("what it says about clusters and machines needs more than %d MiB of memory, more than a file of its size should", most>>20), nextMemory}
}

// count notes one more copy. Each object is to be counted once without
// remembering its name: the fullest form of a resource holds all of its
// objects, because every object has a classic copy where any has.
func (p *pass) count(r *resource, name itemName) (copyForm, error) {
	for i := range r.forms {
		f := &r.forms[i]
		if f.form.version == string(name.version) && f.form.preferred == name.preferred {
			f.items++
			if f.items > r.items {
				r.items++
				p.info.Items++
			}
			if p.info.Items > p.load.limits.items {
				return f.form, breach{fmt.Sprintf("holds more than %d objects", p.load.limits.items), nextSmaller}
			}
			return f.form, nil
		}
	}
	if len(r.forms) > p.load.limits.versions {
		return copyForm{}, fmt.Errorf("the resource has more than %d version directories", p.load.limits.versions)
	}
	r.forms = append(r.forms, formCount{form: copyForm{string(name.version), name.preferred}})
	p.load.memory.spend(entrySize + len(name.version))
	if err := p.affordable(); err != nil {
		return copyForm{}, err
	}
	return p.count(r, name)
}

// body reads a body that enter has asked for.
func (p *pass) body(b []byte) error {
	if len(p.reading) == 0 {
		p.version(b)
		return nil
	}
	e := &p.entry
	if e.form.preferred && p.lastResource == p.current && p.isLast(e) && bytes.Equal(b, p.lastBody) {
		return nil
	}
	if e.form.version == "" {
		p.lastResource = p.current
		p.lastName = append(append(append(p.lastName[:0], e.namespace...), '/'), e.name...)
		p.lastBody = append(p.lastBody[:0], b...)
	}
	for _, rd := range p.reading {
		err := rd.read(e, &p.load.scanner, b)
		p.born(e.created)
		if err != nil {
			p.problem([]byte(e.path()), err.Error())
			break
		}
	}
	return p.affordable()
}

// isLast says whether the entry has the name of the classic item just read.
func (p *pass) isLast(e *entry) bool {
	n := len(e.namespace)
	return len(p.lastName) == n+1+len(e.name) &&
		string(p.lastName[:n]) == string(e.namespace) &&
		string(p.lastName[n+1:]) == string(e.name)
}

// version takes the body of metadata/version. Velero writes "1" before v1.4.0
// and "1.1.0" since (pkg/backup/backup.go v1.3.0, v1.4.0, v1.18.1).
func (p *pass) version(b []byte) {
	v := strings.TrimSpace(string(b))
	p.info.FormatVersion = v
	if v != "1" && v != "1.1.0" {
		p.problem([]byte(versionPath), "an unknown format version; the backup is read as one of 1.1.0")
	}
}

func (p *pass) problem(path []byte, reason string) {
	p.load.problem(p.backup, string(path[:min(len(path), maxShown)]), reason)
}

// maxShown is how much of a path a Problem quotes.
const maxShown = 512
