package backup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"drift-detector/backup/scan"
)

// metaUsage is how well the metadata of one kind's objects repeats.
type metaUsage struct {
	namespace, name, uid, cluster, ownerKind, ownerName, ownerUID usage
}

// fieldError says which member of an object is wrong. It never quotes a value.
type fieldError struct {
	path string
	err  error
}

func (e fieldError) Error() string { return fmt.Sprintf("%s is %v", e.path, e.err) }

var (
	errMissing       = errors.New("missing")
	errPathName      = errors.New("path and content disagree about the object's name")
	errPathNamespace = errors.New("path and content disagree about the object's namespace")
	errPathGroup     = errors.New("path and content disagree about the object's API group")
)

// readMeta fills the metadata of a record and checks that the object is the one
// that its path promises.
func readMeta(to *Meta, e *entry, c *scan.Capture, m *memory, use *metaUsage) error {
	if e.meta != nil {
		*to = *e.meta
		return nil
	}
	text := func(slot int, use *usage) (string, error) {
		f, ok := c.At(slot)
		if !ok {
			return "", nil
		}
		if !f.Values[0].IsString() {
			return "", fieldError{metaPaths[slot], errNotString}
		}
		s, err := m.text(f.Values[0], use)
		if err != nil {
			return "", fieldError{metaPaths[slot], err}
		}
		return s, nil
	}
	if err := checkIdentity(e, c, m); err != nil {
		return err
	}
	to.Backup = e.backup
	to.Namespace, to.Name = m.keep(e.Namespace, &use.namespace), m.keep(e.Name, &use.name)
	m.object = to.Name
	var err error
	if to.UID, err = text(slotUID, &use.uid); err != nil {
		return err
	}
	if to.UID == "" {
		return fieldError{metaPaths[slotUID], errMissing}
	}
	if to.ClusterName, err = text(slotClusterName, &use.cluster); err != nil {
		return err
	}
	if f, ok := c.At(slotCreated); ok {
		if err := m.moment(f.Values[0], &e.created); err != nil {
			return fieldError{metaPaths[slotCreated], err}
		}
	}
	_, to.Paused = c.At(slotPaused)
	if f, ok := c.At(slotDeleting); ok {
		if err := m.moment(f.Values[0], &e.deleting); err != nil {
			return fieldError{metaPaths[slotDeleting], err}
		}
	}
	if f, ok := c.At(slotRestored); ok {
		if !f.Values[0].IsString() {
			return fieldError{metaPaths[slotRestored], errNotString}
		}
		text, err := m.content(f.Values[0])
		if err != nil {
			return fieldError{metaPaths[slotRestored], err}
		}
		e.restored = strings.EqualFold(string(bytes.TrimSpace(text)), "true")
	}
	if err := readOwners(to, e.ownerless, c, m, use); err != nil {
		return err
	}
	e.meta = to
	return nil
}

// checkIdentity compares group, namespace and name with the path.
func checkIdentity(e *entry, c *scan.Capture, m *memory) error {
	content := func(slot int) ([]byte, error) {
		f, ok := c.At(slot)
		if !ok {
			return nil, nil
		}
		v := f.Values[0]
		if !v.IsString() {
			return nil, fieldError{metaPaths[slot], errNotString}
		}
		if v.Form == scan.Escaped {
			m.scratch = scan.Unquote(m.scratch[:0], v.Raw)
			return m.scratch, nil
		}
		return v.Raw, nil
	}
	for _, slot := range []int{slotAPIVersion, slotKind, slotName} {
		text, err := content(slot)
		if err != nil {
			return err
		}
		if len(text) == 0 {
			return fieldError{metaPaths[slot], errMissing}
		}
		if slot == slotAPIVersion && !sameGroup(text, e.Resource) {
			return errPathGroup
		}
		if slot == slotName && string(text) != string(e.Name) {
			return errPathName
		}
	}
	text, err := content(slotNamespace)
	if err != nil {
		return err
	}
	if string(text) != string(e.Namespace) {
		return errPathNamespace
	}
	return nil
}

// sameGroup reports whether an apiVersion is of the group that a resource
// directory names behind its first dot.
func sameGroup(apiVersion []byte, resource string) bool {
	group, _, ok := bytes.Cut(apiVersion, []byte("/"))
	if !ok {
		group = nil
	}
	return string(group) == groupOfResource(resource)
}

// groupOf returns the group of an apiVersion; it is empty for the core group.
func groupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// groupOfResource returns the group of a resource directory: everything behind the
// first dot (Velero pkg/archive/parser.go v1.18.1).
func groupOfResource(resource string) string {
	_, group, _ := strings.Cut(resource, ".")
	return group
}

// readOwners gathers the ownerReferences, whose members lie in four slots. Where nobody
// asks for them they are checked and not kept.
func readOwners(to *Meta, ownerless bool, c *scan.Capture, m *memory, use *metaUsage) error {
	kinds, _ := c.At(slotOwnerKind)
	if kinds.Elems == 0 {
		return nil
	}
	m.owning = append(m.owning[:0], make([]Owner, kinds.Elems)...)
	for _, part := range []struct {
		slot int
		use  *usage
		into func(*Owner) *string
	}{
		{slotOwnerKind, &use.ownerKind, func(o *Owner) *string { return &o.Kind }},
		{slotOwnerName, &use.ownerName, func(o *Owner) *string { return &o.Name }},
		{slotOwnerUID, &use.ownerUID, func(o *Owner) *string { return &o.UID }},
	} {
		found, _ := c.At(part.slot)
		for _, v := range found.Values {
			if !v.IsString() {
				return fieldError{metaPaths[part.slot], errNotString}
			}
			text, err := m.content(v)
			if err != nil {
				return fieldError{metaPaths[part.slot], err}
			}
			if !ownerless {
				*part.into(&m.owning[v.Elem]) = m.keep(text, part.use)
			}
		}
	}
	controllers, _ := c.At(slotOwnerController)
	for _, v := range controllers.Values {
		if v.Form != scan.True && v.Form != scan.False {
			return fieldError{metaPaths[slotOwnerController], errNotBoolean}
		}
		m.owning[v.Elem].Controller = v.Form == scan.True
	}
	if !ownerless {
		to.Owners = m.keepOwners(m.owning)
	}
	return nil
}

// compareNames returns the order of all lists: backup, namespace, name.
func compareNames(a, b *Meta) int {
	if c := cmp.Compare(a.Backup, b.Backup); c != 0 {
		return c
	}
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}
