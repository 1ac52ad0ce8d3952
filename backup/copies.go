package backup

import (
	"cmp"
	"slices"
	"sort"

	"drift-detector/backup/archive"
)

// rows are the records of a table, whatever their type: what follows is in the program
// once, not once a kind.
type rows interface {
	head(position uint32) *head
	copyData(to, from uint32)
	ordered() *index
}

// copies is what a builder knows of the objects that it has read more than once.
type copies struct {
	resource string
	alone    string // of the kind
	forms    []archive.Form
	next     int // see has
}

// form returns the number of a copy's form.
func (c *copies) form(f archive.Form) uint32 {
	i := slices.Index(c.forms, f)
	if i < 0 {
		i = len(c.forms)
		c.forms = append(c.forms, f)
	}
	return uint32(i)
}

// settle puts the records in order, keeps one copy of each object, and merges
// objects that several backups hold.
func (c *copies) settle(t rows, l *loading) {
	x := t.ordered()
	if !sorted(t) || slices.ContainsFunc(c.forms, func(f archive.Form) bool { return f.Version != "" }) {
		c.sort(t)
		c.drop(t, l)
	}
	if l.sources > 1 {
		c.merge(t, l)
	}
	if x.order != nil {
		x.count = len(x.order)
	}
}

// sorted reports whether the records came in order and without further copies, as
// they do from a default backup.
func sorted(t rows) bool {
	var last *head
	for i := range t.ordered().count {
		h := t.head(uint32(i))
		if last != nil && compareNames(&last.Meta, &h.Meta) >= 0 {
			return false
		}
		last = h
	}
	return true
}

// sort fills the order: by name, the best copy of each object first.
func (c *copies) sort(t rows) {
	x := t.ordered()
	x.order = make([]uint32, x.count)
	for i := range x.order {
		x.order[i] = uint32(i)
	}
	slices.SortFunc(x.order, func(i, j uint32) int {
		a, b := t.head(i), t.head(j)
		if by := compareNames(&a.Meta, &b.Meta); by != 0 {
			return by
		}
		if by := c.forms[a.origin.copy].Compare(c.forms[b.origin.copy]); by != 0 {
			return by
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

// drop keeps the first of each run of copies, if it is the classic one. Copies are
// of one object, so their uids must agree; and a path occurs once in a tarball.
func (c *copies) drop(t rows, l *loading) {
	x := t.ordered()
	var best *head
	kept := x.order[:0]
	for _, i := range x.order {
		h := t.head(i)
		path := func() string { return archive.Path(c.resource, c.forms[h.origin.copy], h.Namespace, h.Name) }
		switch {
		case best == nil || compareNames(&best.Meta, &h.Meta) != 0:
			if best = h; c.forms[h.origin.copy].Version == "" {
				kept = append(kept, i)
			} else {
				l.problem(h.Backup, path(), noClassic)
			}
		case best.origin.copy == h.origin.copy:
			l.problem(h.Backup, path(), pathTwice)
		case best.UID != h.UID:
			l.problem(h.Backup, path(), otherUID)
		}
	}
	x.order = kept
}

// merge gives all copies of an object that several backups hold, with one
// uid, what was written last. Each backup keeps its copy, because its clusters
// look for objects in their own backup alone. Objects of one name and different
// uids are different objects.
func (c *copies) merge(t rows, l *loading) {
	type identity struct{ uid, namespace, name string }
	of := func(h *head) identity { return identity{h.UID, h.Namespace, h.Name} }
	x := t.ordered()
	places := x.count
	if x.order != nil {
		places = len(x.order)
	}
	newest := make(map[identity]uint32, places)
	for i := range places {
		at := x.position(i)
		h := t.head(at)
		have, met := newest[of(h)]
		if met {
			l.met(&t.head(have).Meta, &h.Meta, c.alone)
		}
		if !met || h.origin.written >= t.head(have).origin.written {
			newest[of(h)] = at
		}
	}
	for i := range places {
		at := x.position(i)
		h := t.head(at)
		from := newest[of(h)]
		backup := h.Backup
		*h = *t.head(from)
		h.Backup = backup
		t.copyData(at, from)
	}
}

// has reports whether the settled table holds an object. Those that refer to objects come in
// the same order more often than not, so that the next one is looked at first.
func (c *copies) has(t rows, m *Meta) bool {
	x := t.ordered()
	if c.next < x.count && compareNames(m, &t.head(x.position(c.next)).Meta) == 0 {
		c.next++
		return true
	}
	i, found := find(t, m)
	c.next = i + 1
	return found
}

// find returns the place of an object in a settled table, or of what comes after it.
func find(t rows, m *Meta) (int, bool) {
	x := t.ordered()
	return sort.Find(x.count, func(i int) int { return compareNames(m, &t.head(x.position(i)).Meta) })
}
