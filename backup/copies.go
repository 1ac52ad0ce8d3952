package backup

import (
	"cmp"
	"reflect"
	"slices"
	"sort"

	"drift-detector/backup/archive"
)

// rows are the records of a table, whatever their type: what follows is in the program
// once, not once a kind.
type rows interface {
	meta(position uint32) *Meta
	copyData(to, from uint32)
	ordered() *index
}

// copies is what a builder knows of the objects that it has read more than once.
type copies struct {
	resource string
	alone    string // of the kind
	forms    []archive.Form
	origins  []origin // in the order of first
	next     int      // see has
}

// origin is where records were read, for choosing among copies of one object: most come with many of
// the same form and second.
type origin struct {
	written int64  // modification time of the entries, Unix seconds
	first   uint32 // position of the first record
	copy    uint32 // index into forms
}

var originSize = int(reflect.TypeFor[origin]().Size())

// met notes where a record was read. It returns how many bytes it keeps of that.
func (c *copies) met(position uint32, e *entry) int {
	i := slices.Index(c.forms, e.Form)
	if i < 0 {
		i = len(c.forms)
		c.forms = append(c.forms, e.Form)
	}
	o := origin{e.Written.Unix(), position, uint32(i)}
	if n := len(c.origins); n > 0 && c.origins[n-1].written == o.written && c.origins[n-1].copy == o.copy {
		return 0
	}
	c.origins = append(c.origins, o)
	return originSize
}

// written returns when the entry of a record was written.
func (c *copies) written(position uint32) int64 { return c.originOf(position).written }

// form returns the form of the path of a record.
func (c *copies) form(position uint32) archive.Form { return c.forms[c.originOf(position).copy] }

func (c *copies) originOf(position uint32) origin {
	return c.origins[sort.Search(len(c.origins), func(i int) bool { return c.origins[i].first > position })-1]
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
	var last *Meta
	for i := range t.ordered().count {
		m := t.meta(uint32(i))
		if last != nil && compareNames(last, m) >= 0 {
			return false
		}
		last = m
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
		if by := compareNames(t.meta(i), t.meta(j)); by != 0 {
			return by
		}
		if by := c.form(i).Compare(c.form(j)); by != 0 {
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
	var best *Meta
	var bestForm archive.Form
	kept := x.order[:0]
	for _, i := range x.order {
		m, form := t.meta(i), c.form(i)
		path := func() string { return archive.Path(c.resource, form, m.Namespace, m.Name) }
		switch {
		case best == nil || compareNames(best, m) != 0:
			if best, bestForm = m, form; form.Version == "" {
				kept = append(kept, i)
			} else {
				l.problem(m.Backup, path(), noClassic)
			}
		case bestForm == form:
			l.problem(m.Backup, path(), pathTwice)
		case best.UID != m.UID:
			l.problem(m.Backup, path(), otherUID)
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
	of := func(m *Meta) identity { return identity{m.UID, m.Namespace, m.Name} }
	x := t.ordered()
	places := x.count
	if x.order != nil {
		places = len(x.order)
	}
	newest := make(map[identity]uint32, places)
	for i := range places {
		at := x.position(i)
		m := t.meta(at)
		have, met := newest[of(m)]
		if met {
			l.met(t.meta(have), m, c.alone)
		}
		if !met || c.written(at) >= c.written(have) {
			newest[of(m)] = at
		}
	}
	for i := range places {
		at := x.position(i)
		m := t.meta(at)
		from := newest[of(m)]
		backup := m.Backup
		*m = *t.meta(from)
		m.Backup = backup
		t.copyData(at, from)
	}
}

// has reports whether the settled table holds an object. Those that refer to objects come in
// the same order more often than not, so that the next one is looked at first.
func (c *copies) has(t rows, m *Meta) bool {
	x := t.ordered()
	if c.next < x.count && compareNames(m, t.meta(x.position(c.next))) == 0 {
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
	return sort.Find(x.count, func(i int) int { return compareNames(m, t.meta(x.position(i))) })
}
