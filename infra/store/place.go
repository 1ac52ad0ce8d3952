package store

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
)

// object is one object of a store, as its listing has it.
type object struct {
	key      string
	size     int64
	etag     string // as the store writes it; empty for files
	modified time.Time
}

// objects is a store of objects, whose keys have slashes in them.
type objects interface {
	// name is what messages call a key.
	name(key string) string
	// each lists all objects whose keys begin with prefix.
	each(ctx context.Context, prefix string, found func(object) error) error
	// folders lists what is before the next slash in keys that begin with prefix, which
	// is empty or ends with a slash.
	folders(ctx context.Context, prefix string) ([]string, error)
	// source returns the object as a backup to read. etag pins it from the start; it may
	// be empty.
	source(ctx context.Context, key, etag string) backup.Source
	// small reads an object of at most limit bytes.
	small(ctx context.Context, key string, limit int64) ([]byte, error)
}

// Place is a store, and where in it backups are looked for.
type Place struct {
	objects
	path   string // without slashes at its ends
	Flags  string // with a space before, what a command needs that lists the place
	isFile bool   // the path is known to be that of a tarball
	bounds []string
}

// Bounds returns those that were reached while backups were looked for, each with its number and
// what leaves more room. They left out places, and no backup of those that were listed.
func (p *Place) Bounds() []string { return p.bounds }

// Name returns what messages call the place.
func (p *Place) Name() string { return p.name(p.path) }

const (
	tarball   = ".tar.gz"
	folder    = "backups" // of all backups of a store
	maxRoots  = 100       // folders in which backups/ is looked for
	maxStored = 20_000    // backups of a place
	// maxObjects is how many objects a place has, in all folders in which backups/ is.
	maxObjects = 5_000_000
)

// Stored is what a store holds of one backup.
type Stored struct {
	Name        string    // of the Backup object, and of its folder
	Root        string    // the prefix before backups/, without a slash at its end
	Place       string    // address of the folder
	Tarball     string    // address of the tarball; empty when it is missing
	Size        int64     // of the tarball, in bytes
	Written     time.Time // when the tarball was stored; zero when it is missing
	Description *check.Outline
	Problem     error // why the description could not be read; nil when it is read or missing

	described bool
	isFile    bool // whose time means nothing
	key, etag string
}

// Source returns the tarball as a backup to read.
func (p *Place) Source(ctx context.Context, s *Stored) backup.Source {
	return p.source(ctx, s.key, s.etag)
}

// Only returns the one backup at the place, which is its tarball, its folder or a place
// with no other backup below it. Nothing is listed where that is not needed: a credential
// may be allowed to read objects, and not to list them.
func (p *Place) Only(ctx context.Context) (*Stored, error) {
	if p.isFile || strings.HasSuffix(p.path, tarball) {
		return p.described(ctx, p.path)
	}
	if dir, name := path.Split(p.path); path.Base(dir) == folder {
		s, err := p.described(ctx, p.path+"/"+name+tarball)
		if err == nil || !isMissing(err) {
			return s, err
		}
	}
	all, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s *Stored) bool { return s.key == "" })
	switch len(all) {
	case 0:
		return nil, &backup.InputError{Name: p.Name(), Problem: "no backup of Velero is here", Next: "give the place as far as backups/NAME, which 'drift-detector backups' lists for a bucket or a prefix"}
	case 1:
		p.describe(ctx, all)
		return all[0], nil
	}
	return nil, &backup.InputError{Name: p.Name(), Problem: fmt.Sprintf("holds %d backups", len(all)), Next: "give one of them; 'drift-detector backups " + p.Name() + p.Flags + "' lists them"}
}

// described returns the backup of a tarball, after a look whether it is there.
func (p *Place) described(ctx context.Context, key string) (*Stored, error) {
	s := &Stored{Name: strings.TrimSuffix(path.Base(key), tarball), Place: p.name(path.Dir(key)), Tarball: p.name(key), key: key, described: true, isFile: p.isLocal()}
	source := p.Source(ctx, s)
	r, err := source.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if t, ok := r.(*transfer); ok {
		s.etag, s.Size, s.Written = t.etag, t.size, t.modified
	}
	p.describe(ctx, []*Stored{s})
	return s, nil
}

// Backups lists the backups below the place, the newest first, with what Velero says of
// each. No tarball is read.
func (p *Place) Backups(ctx context.Context) ([]*Stored, error) {
	all, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, p.holdsNone()
	}
	p.describe(ctx, all)
	sortByAge(all)
	return all, ctx.Err()
}

func (p *Place) holdsNone() error {
	return &backup.InputError{Name: p.Name(), Problem: "no backup of Velero is here", Next: "backups/ is looked for here and one folder deeper: give the bucket, or the prefix that spec.objectStorage.prefix of the BackupStorageLocation names"}
}

// Younger lists the backups of the same store that were begun after one of it, the
// newest first, with what Velero says of them; where undated says that the time of that one is
// wrong, all of it. None is known where it is not known when that one was begun. It takes youngerTime at most, and leaves most of what a context has:
// nothing that is decided waits for it.
func (p *Place) Younger(ctx context.Context, than *Stored, undated bool) (all []*Stored, err error) {
	dir := path.Dir(than.key)
	began := than.Started()
	if undated {
		began = firstVelero
	}
	if path.Base(path.Dir(dir)) != folder || began.IsZero() {
		return nil, nil
	}
	above := &Place{objects: p.objects, path: path.Dir(dir)}
	limit := youngerTime
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/4)
	}
	err = atMost(ctx, limit, above.Name(), func(ctx context.Context) error {
		all, err = above.younger(ctx, than, began)
		return err
	})
	return all, err
}

func (p *Place) younger(ctx context.Context, than *Stored, began time.Time) ([]*Stored, error) {
	root := rootOf(path.Dir(than.key))
	all, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s *Stored) bool {
		return s.key == than.key || s.Root != root || p.isStoredBefore(s, began)
	})
	p.describe(ctx, all)
	all = slices.DeleteFunc(all, func(s *Stored) bool { return !s.Started().After(began) })
	sortByAge(all)
	return all, ctx.Err()
}

// maxSkew is how far the clocks of Velero and of the store may be apart.
const maxSkew = time.Hour

// isStoredBefore reports whether a backup was stored before a time, so that it can't have
// been begun later. Nothing follows from two times of storing: a tarball is stored again
// when its volumes are done (backup_finalizer_controller.go), and when a bucket is copied.
// The time of a file means nothing at all.
func (p *Place) isStoredBefore(s *Stored, began time.Time) bool {
	return !p.isLocal() && s.Written.Before(began.Add(-maxSkew))
}

func (p *Place) isLocal() bool {
	_, local := p.objects.(files)
	return local
}

// rootOf returns the prefix before backups/, of the folder of a backup.
func rootOf(dir string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path.Dir(dir), folder), "/")
}

// sortByAge puts the newest first.
func sortByAge(all []*Stored) {
	slices.SortStableFunc(all, func(a, b *Stored) int {
		return cmp.Or(b.Started().Compare(a.Started()), strings.Compare(a.Place, b.Place))
	})
}

// list groups the objects of the place by backup, in the time that a listing has.
func (p *Place) list(ctx context.Context) (all []*Stored, err error) {
	err = within(ctx, p.Name(), func(ctx context.Context) error {
		all, err = p.grouped(ctx)
		return err
	})
	return all, err
}

func (p *Place) grouped(ctx context.Context) ([]*Stored, error) {
	roots, err := p.roots(ctx)
	if err != nil {
		return nil, err
	}
	var all []*Stored
	objects := 0
	for _, root := range roots {
		byFolder := map[string]*Stored{}
		err := p.each(ctx, root, func(o object) error {
			if objects++; objects > maxObjects {
				return beyond(p.Name(), maxObjects, "objects", "give the place as far as backups/NAME")
			}
			dir, file := path.Split(o.key)
			dir = strings.TrimSuffix(dir, "/")
			name := path.Base(dir)
			// A store may itself be in a folder that is called backups: the last one counts.
			if !strings.HasPrefix(o.key, root) || strings.HasSuffix(dir, "/") || path.Base(strings.TrimSuffix(dir, name)) != folder {
				return nil
			}
			s := byFolder[dir]
			if s == nil {
				if len(all) == maxStored {
					return beyond(p.Name(), maxStored, "backups", "give a prefix with fewer")
				}
				s = &Stored{Name: name, Root: rootOf(dir), Place: p.name(dir), isFile: p.isLocal()}
				byFolder[dir] = s
				all = append(all, s)
			}
			switch file {
			case name + tarball:
				s.key, s.etag, s.Tarball, s.Size, s.Written = o.key, o.etag, p.name(o.key), o.size, o.modified
			case check.VeleroFile:
				s.described = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// roots finds what is to be listed for the place, with a slash at its end: the backups of
// the bucket, prefix or folder that it is, the backup in one, or those of several such
// below it.
func (p *Place) roots(ctx context.Context) ([]string, error) {
	at := p.path
	if at != "" {
		at += "/"
	}
	if path.Base(p.path) == folder {
		return []string{at}, nil
	}
	below, err := p.folders(ctx, at)
	switch inOne := path.Base(path.Dir(p.path)) == folder; {
	case err != nil:
		return nil, err
	case slices.Contains(below, folder):
		return append([]string{at + folder + "/"}, p.strays(ctx, at, below)...), nil
	case inOne:
		return []string{at}, nil
	}
	if len(below) > maxRoots {
		return nil, &backup.InputError{Name: p.Name(), Problem: fmt.Sprintf("has no folder backups/, and %d others", len(below)), Next: "give the prefix that spec.objectStorage.prefix of the BackupStorageLocation names"}
	}
	var found []string
	for _, f := range below {
		deeper, err := p.folders(ctx, at+f+"/")
		if err != nil {
			return nil, err
		}
		if slices.Contains(deeper, folder) {
			found = append(found, at+f+"/"+folder+"/")
		}
	}
	return found, nil
}

// small reads an object of a store that may be slow.
func small(ctx context.Context, o objects, key string, limit int64) (text []byte, err error) {
	err = inTime(ctx, func(ctx context.Context) error {
		r, err := o.source(ctx, key, "").Open()
		if err != nil {
			return err
		}
		defer r.Close()
		text, err = limited(r, o.name(key), limit)
		return err
	})
	if _, slow := err.(slowError); slow {
		err = explain(ctx, o.name(key), reading, err)
	}
	return text, err
}

// limited reads at most limit bytes.
func limited(r io.Reader, name string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, &backup.InputError{Name: name, Problem: fmt.Sprintf("larger than %d bytes", limit), Next: "no Velero writes it so large"}
	}
	return text, err
}
