package backup

import (
	"fmt"
	"iter"
	"reflect"

	"drift-detector/backup/archive"
	"drift-detector/backup/scan"
)

// Record is one object of a kind: its metadata and what the kind's fields read.
type Record[T any] struct {
	Meta
	Data T
}

// Table holds the records of one kind in blocks, in the order of backup,
// namespace and name.
type Table[T any] struct {
	blocks[Record[T]]
	index
}

// index puts the records of a table in order.
type index struct {
	count int
	// order holds positions in the blocks, when the records did not come in
	// order or when some of them are copies that lost.
	order []uint32
}

// position returns where the record is that has a place in the order of All.
func (x *index) position(place int) uint32 {
	if x.order != nil {
		return x.order[place]
	}
	return uint32(place)
}

// Len returns the number of records.
func (t *Table[T]) Len() int { return t.count }

// All walks the records in order. They must not be changed.
func (t *Table[T]) All() iter.Seq[*Record[T]] {
	return func(yield func(*Record[T]) bool) {
		if t.order != nil {
			for _, at := range t.order {
				if !yield(t.at(at)) {
					return
				}
			}
			return
		}
		for _, b := range t.blocks.all {
			for i := range b {
				if !yield(&b[i]) {
					return
				}
			}
		}
	}
}

// Named returns the record of an object, or nil.
func (t *Table[T]) Named(backup int, namespace, name string) *Record[T] {
	want := Meta{Backup: backup, Namespace: namespace, Name: name}
	i, found := find(t, &want)
	if !found {
		return nil
	}
	return t.at(t.position(i))
}

func (t *Table[T]) meta(i uint32) *Meta { return &t.at(i).Meta }

func (t *Table[T]) copyData(to, from uint32) { t.at(to).Data = t.at(from).Data }

func (t *Table[T]) ordered() *index { return &t.index }

// AnyKind is a Kind of whatever record type. Only this package implements it.
type AnyKind interface {
	Resource() string
	reader(*memory) reader
}

// Want says what a pass over a backup is to keep beside the core objects of
// Cluster API, which are always kept.
type Want struct {
	Kinds   []AnyKind
	Secrets []SecretRule
	// Offline says that nobody will log in anywhere, see SecretRule.
	Offline bool
	// Beside, where set, makes a visitor for each backup by its index, which gets what it
	// wants of it in the same pass: whole objects, that nothing is known of. One without
	// Visit gets nothing.
	Beside func(backup int) archive.Visitor
}

// Kind is one resource of which a pass keeps some fields in records of type T.
// It is immutable; its address is its identity.
type Kind[T any] struct {
	resource string
	plan     *scan.Plan
	columns  []column[T]
	// only says by their names which objects matter; nil means all of them.
	only      func(namespace, name []byte) bool
	ownerless bool // no ownerReferences are kept
	shares    []func(*memory) sharing[T]
	// alone says, in words, what it means that two backups hold one object of
	// the kind: they are of one management cluster. It is empty for kinds whose
	// objects may be in several backups, each of some clusters.
	alone string
}

// column is a field whose paths are slots of the kind's plan.
type column[T any] struct {
	field Field[T]
	slots []int
}

// NewKind declares a resource, written as its directory in a backup is:
// "vspherevms.infrastructure.cluster.x-k8s.io". It panics when a path is
// malformed, or when two paths of the kind contradict each other: paths are
// written by programmers, never read from outside.
func NewKind[T any](resource string, fields ...Field[T]) *Kind[T] {
	k := &Kind[T]{resource: resource, plan: newPlan(), columns: make([]column[T], len(fields))}
	for i, f := range fields {
		k.columns[i] = column[T]{f, slotsOf(k.plan, resource, f.paths)}
	}
	return k
}

// slotsOf adds the paths of a field of a kind.
func slotsOf(p *scan.Plan, resource string, paths []string) []int {
	if len(paths) == 0 {
		panic(fmt.Sprintf("kind %s: a field without path", resource))
	}
	var slots []int
	for _, path := range paths {
		slot, err := p.Add(splitPath(path)...)
		if err != nil {
			panic(fmt.Sprintf("kind %s: path %q: %v", resource, path, err))
		}
		slots = append(slots, slot)
	}
	return slots
}

// Named makes the kind keep only objects of that name, in whatever namespace. It is
// called while the kind is declared, before any pass.
func (k *Kind[T]) Named(object string) *Kind[T] {
	k.only = func(_, name []byte) bool { return string(name) == object }
	return k
}

// Ownerless makes the kind keep no ownerReferences, where no other kind of the resource needs
// them. It is called while the kind is declared, before any pass.
func (k *Kind[T]) Ownerless() *Kind[T] {
	k.ownerless = true
	return k
}

// sharing is called before and after a record is read.
type sharing[T any] struct{ begin, end func(*T) }

// Sharing makes records that are read one after the other have one value of what of points to,
// where theirs are equal: it is never nil. It is called while the kind is declared, before any pass.
//
//go:noinline
func Sharing[T, S any](k *Kind[T], of func(*T) **S, equal func(a, b *S) bool) *Kind[T] {
	k.shares = append(k.shares, func(m *memory) sharing[T] {
		last, next := (*S)(nil), new(S)
		return sharing[T]{func(t *T) {
			*next = *new(S)
			*of(t) = next
		}, func(t *T) {
			if last == nil || !equal(last, next) {
				m.spend(int(reflect.TypeFor[S]().Size()))
				last, next = next, new(S)
			}
			*of(t) = last
		}}
	})
	return k
}

// Resource returns the resource and group, as in the paths of a backup.
func (k *Kind[T]) Resource() string { return k.resource }

// In returns the table of the kind's objects in a Snapshot that was loaded with the
// kind among its Want. It is empty, never nil, when there are none.
func (k *Kind[T]) In(s *Snapshot) *Table[T] {
	if s != nil {
		if t, ok := s.tables[k].(*Table[T]); ok {
			return t
		}
	}
	return &Table[T]{}
}

func (k *Kind[T]) reader(m *memory) reader { return newBuilder(k, m) }
