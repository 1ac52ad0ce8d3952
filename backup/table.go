package backup

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/version"
)

// blockLen is how many records one allocation holds.
const blockLen = 4096

// origin is where a record was read, for choosing among copies of one object.
type origin struct {
	written int64  // modification time of the entry, Unix seconds
	copy    uint32 // index into the builder's list of copies
}

// copyForm is the directory under which a copy of an object lies: "" for the
// classic path, or an API version, which the server may have preferred.
type copyForm struct {
	version   string
	preferred bool
}

// dir is the directory as the path has it.
func (c copyForm) dir() string {
	if c.preferred {
		return c.version + preferredSuffix
	}
	return c.version
}

// compareCopies orders the copies of one object: the classic one is what
// Velero itself restores, then the server's preferred version, then newer
// versions before older ones.
func compareCopies(a, b copyForm) int {
	rank := func(c copyForm) int {
		switch {
		case c.version == "":
			return 0
		case c.preferred:
			return 1
		}
		return 2
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	return version.CompareKubeAwareVersionStrings(b.version, a.version)
}

// entry is one item of a tarball whose body is wanted.
type entry struct {
	backup          int
	resource        string
	namespace, name []byte
	form            copyForm
	written         int64
	created         time.Time // of the object, once it is read
}

// path is the item's path in the tarball in the form that Problems print.
func (e *entry) path() string {
	return itemPath(e.resource, e.form, string(e.namespace), string(e.name))
}

// reader turns the bodies of one resource into what Load keeps of it.
type reader interface {
	// wants says by its name alone whether an item may be kept.
	wants(e *entry) bool
	// read keeps what is wanted of one body, which is gone afterwards.
	read(e *entry, s *scanner, body []byte) error
	// finish settles what was read once all sources have been, and hands it over.
	finish(*loading)
}

// builder fills the table of one kind.
type builder[T any] struct {
	kind    *Kind[T]
	memory  *memory
	capture *capture
	usage   []usage
	meta    metaUsage
	table   Table[T]
	forms   []copyForm
	size    int // bytes of a record
	// gathered is used again for each field that reads its paths together.
	gathered []found
}

func newBuilder[T any](k *Kind[T], m *memory) *builder[T] {
	return &builder[T]{
		kind: k, memory: m, capture: m.capture(k.plan), usage: make([]usage, len(k.columns)),
		size: int(reflect.TypeFor[Record[T]]().Size()),
	}
}

func (b *builder[T]) wants(e *entry) bool {
	return b.kind.only == nil || b.kind.only(e.namespace, e.name)
}

func (b *builder[T]) read(e *entry, s *scanner, body []byte) error {
	if err := s.scan(b.kind.plan, b.capture, body); err != nil {
		return err
	}
	var r Record[T]
	if err := readMeta(&r.Meta, e, b.kind.plan, b.capture, b.memory, &b.meta); err != nil {
		return err
	}
	for i, c := range b.kind.columns {
		if c.field.together != nil {
			if err := b.readTogether(&r.Data, i); err != nil {
				return err
			}
			continue
		}
		for _, slot := range c.slots {
			f, ok := b.capture.at(b.kind.plan, slot)
			if !ok {
				continue
			}
			if err := c.field.read(&r.Data, f, b.memory, &b.usage[i]); err != nil {
				return fieldError{b.kind.plan.slots[slot].path, err}
			}
			break
		}
	}
	r.origin = origin{written: e.written, copy: b.form(e.form)}
	b.append(r)
	return nil
}

// readTogether reads a field that wants all its paths at once.
func (b *builder[T]) readTogether(into *T, column int) error {
	c := &b.kind.columns[column]
	b.gathered = b.gathered[:0]
	for _, slot := range c.slots {
		f, _ := b.capture.at(b.kind.plan, slot)
		b.gathered = append(b.gathered, f)
	}
	err := c.field.together(into, b.gathered, b.memory, &b.usage[column])
	if err == nil || errors.As(err, new(fieldError)) {
		return err
	}
	return fieldError{b.kind.plan.slots[c.slots[0]].path, err}
}

// form is the number of a copy's form.
func (b *builder[T]) form(f copyForm) uint32 {
	i := slices.Index(b.forms, f)
	if i < 0 {
		i = len(b.forms)
		b.forms = append(b.forms, copyForm{strings.Clone(f.version), f.preferred})
	}
	return uint32(i)
}

// append adds a record. The first block grows as needed, because most kinds
// have few objects; later ones are made whole.
func (b *builder[T]) append(r Record[T]) {
	b.memory.spend(b.size)
	t := &b.table
	if t.count%blockLen == 0 {
		size := 0
		if t.count > 0 {
			size = blockLen
		}
		t.blocks = append(t.blocks, make([]Record[T], 0, size))
	}
	last := &t.blocks[len(t.blocks)-1]
	*last = append(*last, r)
	t.count++
}
