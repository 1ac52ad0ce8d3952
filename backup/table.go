package backup

import (
	"errors"
	"reflect"
	"time"

	"drift-detector/backup/archive"
	"drift-detector/backup/scan"
)

// entry is an item whose body is read.
type entry struct {
	*archive.Item
	backup    int
	found     *scan.Capture // of one scan for all readers; nil when each scans for itself
	ownerless bool          // nobody asks for its owners
	created   time.Time     // of the object, once it is read
	deleting  time.Time     // since when it is being deleted; zero when it is not
	restored  bool          // Velero brings its status back
	meta      *Meta         // once a reader has read it
}

// reader turns the bodies of one resource into what Load keeps of it.
type reader interface {
	// wants reports by the name alone whether an item may be kept.
	wants(h *archive.Header) bool
	// read keeps what is wanted of one item, whose body is gone afterwards. The item may
	// have been scanned for all readers of the resource.
	read(e *entry, s *scan.Scanner) error
	// ownerless reports whether it needs no ownerReferences.
	ownerless() bool
	// join adds what it wants to the plan of a scan for several readers.
	join(*scan.Plan) error
	// finish settles what was read once all sources have been, and hands it over.
	finish(*loading)
}

// builder fills the table of one kind.
type builder[T any] struct {
	kind   *Kind[T]
	memory *memory
	// What a scan for this kind alone fills, and the slots of the fields in it; those of a
	// scan for all readers of the resource, where there are several; those of the last scan.
	own    *scan.Capture
	alone  [][]int
	joint  [][]int
	found  *scan.Capture
	slots  [][]int
	usage  []usage
	meta   metaUsage
	table  Table[T]
	copies copies
	size   int // bytes of a record
	shares []sharing[T]
	// gathered is used again for each field that reads its paths together.
	gathered []scan.Found
}

func newBuilder[T any](k *Kind[T], m *memory) *builder[T] {
	b := &builder[T]{
		kind: k, memory: m, own: m.capture(k.plan), usage: make([]usage, len(k.columns)),
		size: int(reflect.TypeFor[Record[T]]().Size()), copies: copies{resource: k.resource, alone: k.alone},
	}
	for _, c := range k.columns {
		b.alone = append(b.alone, c.slots)
	}
	for _, s := range k.shares {
		b.shares = append(b.shares, s(m))
	}
	return b
}

func (b *builder[T]) wants(h *archive.Header) bool {
	return b.kind.only == nil || b.kind.only(h.Namespace, h.Name)
}

func (b *builder[T]) ownerless() bool { return b.kind.ownerless }

func (b *builder[T]) read(e *entry, s *scan.Scanner) error {
	if b.found, b.slots = e.found, b.joint; b.found == nil {
		b.found, b.slots = b.own, b.alone
		if err := s.Scan(b.own, e.Body); err != nil {
			return err
		}
	}
	b.table.count++
	err := b.fill(b.table.add(), e)
	if err != nil {
		b.table.count--
		b.table.drop()
	} else {
		b.memory.spend(b.size)
	}
	return err
}

// fill reads a record out of what a scan has found.
func (b *builder[T]) fill(r *Record[T], e *entry) error {
	if err := readMeta(&r.Meta, e, b.found, b.memory, &b.meta); err != nil {
		return err
	}
	for _, s := range b.shares {
		s.begin(&r.Data)
	}
	for i, c := range b.kind.columns {
		if c.field.together != nil {
			if err := b.readTogether(&r.Data, i); err != nil {
				return err
			}
			continue
		}
		for _, slot := range b.slots[i] {
			f, ok := b.found.At(slot)
			if !ok {
				continue
			}
			if err := c.field.read(&r.Data, f, b.memory, &b.usage[i]); err != nil {
				return fieldError{b.found.Path(slot), err}
			}
			break
		}
	}
	for _, s := range b.shares {
		s.end(&r.Data)
	}
	b.memory.spend(b.copies.met(uint32(b.table.count-1), e))
	return nil
}

// readTogether reads a field that wants all its paths at once.
func (b *builder[T]) readTogether(into *T, column int) error {
	b.gathered = b.gathered[:0]
	for _, slot := range b.slots[column] {
		f, _ := b.found.At(slot)
		b.gathered = append(b.gathered, f)
	}
	err := b.kind.columns[column].field.together(into, b.gathered, b.memory, &b.usage[column])
	if err == nil || errors.As(err, new(fieldError)) {
		return err
	}
	return fieldError{b.found.Path(b.slots[column][0]), err}
}

func (b *builder[T]) join(p *scan.Plan) error {
	for _, c := range b.kind.columns {
		var slots []int
		for _, path := range c.field.paths {
			slot, err := p.Add(splitPath(path)...)
			if err != nil {
				return err
			}
			slots = append(slots, slot)
		}
		b.joint = append(b.joint, slots)
	}
	return nil
}

// finish settles the table, and hands it over alone, without what reading needed.
func (b *builder[T]) finish(l *loading) {
	b.copies.settle(&b.table, l)
	handed := b.table
	l.tables[b.kind] = &handed
}

// has reports whether the settled table holds an object.
func (b *builder[T]) has(m *Meta) bool { return b.copies.has(&b.table, m) }
