package backup

import (
	"cmp"
	"slices"
	"sort"

	"drift-detector/backup/archive"
)

// finish puts the records in order, keeps one copy of each object, and merges
// objects that several backups hold.
func (b *builder[T]) finish(l *loading) {
	t := &b.table
	if !b.sorted() || slices.ContainsFunc(b.forms, func(f archive.Form) bool { return f.Version != "" }) {
		b.sort()
		b.dropCopies(l)
	}
	if l.sources > 1 {
		b.mergeBackups(l)
	}
	if t.order != nil {
		t.count = len(t.order)
	}
	handed := *t // alone, without what reading needed
	l.tables[b.kind] = &handed
}

// sorted reports whether the records came in order and without further copies, as
// they do from a default backup.
func (b *builder[T]) sorted() bool {
	var last *Record[T]
	for r := range b.table.All() {
		if last != nil && compareNames(&last.Meta, &r.Meta) >= 0 {
			return false
		}
		last = r
	}
	return true
}

// sort fills the order: by name, the best copy of each object first.
func (b *builder[T]) sort() {
	t := &b.table
	t.order = make([]uint32, t.count)
	for i := range t.order {
		t.order[i] = uint32(i)
	}
	slices.SortFunc(t.order, func(i, j uint32) int {
		x, y := t.at(i), t.at(j)
		if c := compareNames(&x.Meta, &y.Meta); c != 0 {
			return c
		}
		if c := b.forms[x.origin.copy].Compare(b.forms[y.origin.copy]); c != 0 {
			return c
		}
		return cmp.Compare(j, i) // what comes last replaces what came before, when it is extracted
	})
}

// What is wrong with a copy that is left out. Velero restores the objects that have a
// classic copy, whichever copy of them it then reads (pkg/archive/parser.go Parse,
// pkg/restore/restore.go getSelectedRestoreableItems v1.18.1).
const (
	pathTwice = "the path occurs twice; the last one is used, as Velero does"
	otherUID  = "another copy of the object has another uid; this one is left out"
	noClassic = "no copy that Velero restores can be used: it reads the folders of API versions only for objects that have another; it is left out"
)

// dropCopies keeps the first of each run of copies, if it is the classic one. Copies are
// of one object, so their uids must agree; and a path occurs once in a tarball.
func (b *builder[T]) dropCopies(l *loading) {
	t := &b.table
	var best *Record[T]
	kept := t.order[:0]
	for _, i := range t.order {
		r := t.at(i)
		switch {
		case best == nil || compareNames(&best.Meta, &r.Meta) != 0:
			if best = r; b.forms[r.origin.copy].Version == "" {
				kept = append(kept, i)
			} else {
				l.problem(r.Backup, b.pathOf(r), noClassic)
			}
		case best.origin.copy == r.origin.copy:
			l.problem(r.Backup, b.pathOf(r), pathTwice)
		case best.UID != r.UID:
			l.problem(r.Backup, b.pathOf(r), otherUID)
		}
	}
	t.order = kept
}

func (b *builder[T]) pathOf(r *Record[T]) string {
	return archive.Path(b.kind.resource, b.forms[r.origin.copy], r.Namespace, r.Name)
}

// mergeBackups gives all copies of an object that several backups hold, with one
// uid, what was written last. Each backup keeps its copy, because its clusters
// look for objects in their own backup alone. Objects of one name and different
// uids are different objects.
func (b *builder[T]) mergeBackups(l *loading) {
	type identity struct{ uid, namespace, name string }
	of := func(r *Record[T]) identity { return identity{r.UID, r.Namespace, r.Name} }
	t := &b.table
	newest := make(map[identity]*Record[T], t.count)
	for r := range t.All() {
		have := newest[of(r)]
		if have != nil {
			l.met(&have.Meta, &r.Meta, b.kind.alone)
		}
		if have == nil || r.origin.written >= have.origin.written {
			newest[of(r)] = r
		}
	}
	for r := range t.All() {
		backup := r.Backup
		*r = *newest[of(r)]
		r.Backup = backup
	}
}

// has reports whether the settled table holds an object. Those that refer to objects come in
// the same order more often than not, so that the next one is looked at first.
func (b *builder[T]) has(m *Meta) bool {
	t := &b.table
	compare := func(i int) int { return compareNames(m, &t.inOrder(i).Meta) }
	if b.next < t.count && compare(b.next) == 0 {
		b.next++
		return true
	}
	i, found := sort.Find(t.count, compare)
	b.next = i + 1
	return found
}
