package archive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"time"
)

// Header says which object an item is, by its path in the archive. Namespace
// and Name are valid until Want or Visit returns.
type Header struct {
	Resource        string // the directory's name: "machines.cluster.x-k8s.io"
	Form                   // which copy of the object it is
	Namespace, Name []byte // Namespace is empty for cluster-scoped objects
	Written         time.Time
	Size            int64 // of the body, in bytes
}

// Path returns the item's path in the archive, in its shortest form.
func (h *Header) Path() string {
	return Path(h.Resource, h.Form, string(h.Namespace), string(h.Name))
}

// Item is one copy of an object.
type Item struct {
	Header
	Body []byte // JSON, not checked; valid until Visit returns
}

// Visitor is what a walk calls, in the order of the archive.
type Visitor struct {
	// Want reports whether the body of an item is to be read. Nil wants all.
	Want func(*Header) (bool, error)
	// Visit gets the items that are wanted. A preferred-version copy that
	// follows its classic copy and equals it is left out: Velero writes both.
	Visit func(*Item) error
	// Problem is called with the path of an entry that is left out, or that is
	// read although no Velero writes it so, and what is wrong with it. It may be
	// nil.
	Problem func(path, reason string)
}

// And returns a visitor that calls both, each for what it wants. One without Visit wants nothing.
func (v Visitor) And(w Visitor) Visitor {
	switch {
	case v.Visit == nil:
		return w
	case w.Visit == nil:
		return v
	}
	var first, second bool
	return Visitor{
		Want: func(h *Header) (_ bool, err error) {
			if first, err = v.Want(h); err == nil {
				second, err = w.Want(h)
			}
			return first || second, err
		},
		Visit: func(i *Item) (err error) {
			if first {
				err = v.Visit(i)
			}
			if second && err == nil {
				err = w.Visit(i)
			}
			return err
		},
	}
}

// Bounds limit what an archive may cost. Item and Versions cost the item that
// breaks them; the others end the walk, because what is beyond them might be
// what matters.
type Bounds struct {
	Item     int64 // bytes of one item
	Versions int   // directories of API versions of one resource

	Items     int // distinct objects
	Resources int // distinct resources
	Names     int // bytes that the names of resources and versions take in memory
}

// DefaultBounds leave room for ten times what the largest management clusters
// hold.
var DefaultBounds = Bounds{Item: 16 << 20, Versions: 32, Items: 5_000_000, Resources: 10_000, Names: 16 << 20}

// Info describes an archive that was read to its end.
type Info struct {
	SHA256        string // of the file as it is, compressed or not, hex
	FormatVersion string // of Velero, "1" or "1.1.0"; empty when it is missing
	// WrittenFrom and WrittenTo are the first and last modification time of an
	// entry: the archive holds no other time (Velero pkg/backup/item_backupper.go
	// v1.18.1). They are zero when no entry has a time.
	WrittenFrom, WrittenTo time.Time
	Items                  int            // distinct objects, each counted once
	Resources              map[string]int // distinct objects by resource
}

// Walk reads the source from its beginning to its end, where the checksums are.
//
// The error is an [*InputError] when the source cannot be used, the context's
// when that ended, and an error of Want or Visit as it is. Items have been
// visited by then: nothing may be concluded from them.
func Walk(ctx context.Context, source Source, bounds Bounds, v Visitor) (Info, error) {
	file, err := source.Open()
	if err != nil {
		return Info{}, openError(source.Name, err)
	}
	defer file.Close()

	p := &pass{bounds: bounds, visitor: v, resources: map[string]*resource{}}
	hash := sha256.New()
	input := bufio.NewReaderSize(io.TeeReader(file, hash), 256<<10)
	p.walker.visitor = p
	if err := stream(ctx, input, &p.walker); err != nil {
		return Info{}, refuse(ctx, source.Name, &p.walker, err)
	}
	if p.rancher && len(p.resources) == 0 {
		return Info{}, &InputError{source.Name, ofRancher, nextRancher, nil}
	}
	if len(p.resources) == 0 && p.info.FormatVersion == "" {
		return Info{}, &InputError{source.Name, "a tar archive, but not a Velero backup: it holds no " + resourcesPrefix, nextTarball, nil}
	}
	if p.info.FormatVersion == "" {
		p.problem([]byte(versionPath), "missing; the backup is read as one of format 1.1.0")
	}
	p.info.SHA256 = hex.EncodeToString(hash.Sum(nil))
	p.info.Resources = make(map[string]int, len(p.resources))
	for name, r := range p.resources {
		p.info.Resources[name] = r.items
	}
	return p.info, nil
}
