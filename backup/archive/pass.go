package archive

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
)

// breach says which bound on an archive as a whole is broken, and what to do.
type breach struct{ problem, next string }

func (b breach) Error() string { return b.problem }

const (
	nextSmaller = "back up the namespaces of the clusters only"
	nextOrigin  = "check where the file comes from: no management cluster has that many"
)

// visitError is an error of the Visitor.
type visitError struct{ err error }

func (e visitError) Error() string { return e.err.Error() }

// resource is what a pass knows of one resource directory.
type resource struct {
	name  string
	forms []formCount
	items int // objects of the fullest form
}

type formCount struct {
	form  Form
	items int
}

// What a resource and a version take in memory beside their names, for Bounds.Names.
const (
	resourceSize = 512
	versionSize  = 64
)

// pass is one walk over one archive.
type pass struct {
	walker    tarWalker
	bounds    Bounds
	visitor   Visitor
	info      Info
	resources map[string]*resource
	current   *resource
	folders   [2]folder // of the last items: a classic copy and its preferred-version copy come in turns
	oldest    int       // of these
	names     int       // see Bounds.Names
	item      Item      // the one whose body comes
	isVersion bool      // the body that comes is that of metadata/version
	rancher   bool      // an entry is one of Rancher's
	// The last classic item whose body was read. Velero writes its
	// preferred-version copy, byte for byte the same, right behind it.
	lastName, lastBody []byte
	lastResource       *resource
	bodyCopy           []byte // where lastBody lies once it is the walker's no more
	borrowed           bool   // it does not yet
}

// enter decides about one entry by its header.
func (p *pass) enter(h *tarHeader) (bool, error) {
	path := bytes.TrimPrefix(h.name, []byte("./"))
	if h.kind == '5' {
		path = bytes.TrimSuffix(path, []byte("/"))
	}
	name, known := p.inFolder(path)
	var err error
	if !known {
		err = checkPath(path)
	}
	switch {
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
	written := time.Unix(h.written, 0).UTC()
	p.note(written)
	if p.isVersion = string(path) == versionPath; p.isVersion {
		if h.size > maxName {
			p.problem(path, "the format version is longer than a line")
			return false, nil
		}
		return true, nil
	}
	if !bytes.HasPrefix(path, []byte(resourcesPrefix)) {
		p.rancher = p.rancher || rancher.Match(path)
		return false, nil // Velero's own reader ignores these, too
	}
	if !known {
		if name, err = parseItem(path); err != nil {
			p.problem(path, err.Error())
			return false, nil
		}
		p.folders[p.oldest].learn(path)
		p.oldest = 1 - p.oldest
	}
	return p.enterItem(path, name, h.size, written)
}

// folder is one that items lie in, so that only the names of the next ones need be read.
type folder struct {
	path []byte // of its first item
	item itemName
	size int // of its own path, with the slash behind it
}

func (f *folder) learn(path []byte) {
	f.path = append(f.path[:0], path...)
	f.item, _ = parseItem(f.path)
	f.size = len(path) - len(f.item.name) - len(itemSuffix)
}

// inFolder parses the path of an item that lies in a folder of the last ones.
func (p *pass) inFolder(path []byte) (itemName, bool) {
	for i := range p.folders {
		f := &p.folders[i]
		name, ok := bytes.CutPrefix(path, f.path[:f.size])
		if !ok || f.size == 0 || bytes.IndexByte(name, '/') >= 0 || bytes.IndexByte(name, 0) >= 0 {
			continue
		}
		n := f.item
		if n.name, ok = bytes.CutSuffix(name, []byte(itemSuffix)); ok && len(n.name) > 0 {
			return n, true
		}
	}
	return itemName{}, false
}

// maxWritten is the end of the year 9999, beyond which no format of time goes.
const maxWritten = 253402300799

// note widens the time in which the archive was written.
func (p *pass) note(written time.Time) {
	if s := written.Unix(); s <= 0 || s > maxWritten {
		return
	}
	if p.info.WrittenFrom.IsZero() || written.Before(p.info.WrittenFrom) {
		p.info.WrittenFrom = written
	}
	if written.After(p.info.WrittenTo) {
		p.info.WrittenTo = written
	}
}

// enterItem decides about an entry below resources/.
func (p *pass) enterItem(path []byte, name itemName, size int64, written time.Time) (bool, error) {
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
	p.item.Header = Header{
		Resource: r.name, Form: form, Namespace: name.namespace, Name: name.name, Written: written, Size: size,
	}
	if p.visitor.Want != nil {
		switch want, err := p.visitor.Want(&p.item.Header); {
		case err != nil:
			return false, visitError{err}
		case !want:
			return false, nil
		}
	}
	if size > p.bounds.Item {
		p.problem(path, fmt.Sprintf("the item is larger than %d bytes", p.bounds.Item))
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
		if most := p.bounds.Resources; len(p.resources) == most {
			return nil, breach{fmt.Sprintf("holds more than %d kinds of objects", most), nextOrigin}
		}
		if err := p.keep(resourceSize + len(name)); err != nil {
			return nil, err
		}
		r = &resource{name: string(name)}
		p.resources[r.name] = r
	}
	p.current = r
	return r, nil
}

// keep counts bytes of names that are kept.
func (p *pass) keep(size int) error {
	if p.names += size; p.names > p.bounds.Names {
		return breach{fmt.Sprintf("the names of its kinds and versions need more than %d bytes", p.bounds.Names), nextOrigin}
	}
	return nil
}

// count notes one more copy. Each object is to be counted once without
// remembering its name: the fullest form of a resource holds all of its
// objects, because every object has a classic copy where any has.
func (p *pass) count(r *resource, name itemName) (Form, error) {
	for i := range r.forms {
		f := &r.forms[i]
		if f.form.Version == string(name.version) && f.form.Preferred == name.preferred {
			f.items++
			if f.items > r.items {
				r.items++
				p.info.Items++
			}
			if p.info.Items > p.bounds.Items {
				return f.form, breach{fmt.Sprintf("holds more than %d objects", p.bounds.Items), nextSmaller}
			}
			return f.form, nil
		}
	}
	if len(r.forms) > p.bounds.Versions {
		return Form{}, fmt.Errorf("the resource has more than %d version directories", p.bounds.Versions)
	}
	if err := p.keep(versionSize + len(name.version)); err != nil {
		return Form{}, err
	}
	r.forms = append(r.forms, formCount{form: Form{string(name.version), name.preferred}})
	return p.count(r, name)
}

// body gets the body of the entry that enter wanted.
func (p *pass) body(b []byte) error {
	if p.isVersion {
		p.version(b)
		return nil
	}
	i := &p.item
	if i.Preferred && p.lastResource == p.current && p.isLast() && bytes.Equal(b, p.lastBody) {
		return nil
	}
	if i.Version == "" {
		p.lastResource = p.current
		p.lastName = append(append(append(p.lastName[:0], i.Namespace...), '/'), i.Name...)
		p.lastBody, p.borrowed = b, true
	}
	i.Body = b
	if err := p.visitor.Visit(i); err != nil {
		return visitError{err}
	}
	return nil
}

// release copies the last body where it is no longer the walker's: of the many that lie in one
// piece of the archive it is the only one that a copy can still follow.
func (p *pass) release() {
	if p.borrowed {
		p.bodyCopy = append(p.bodyCopy[:0], p.lastBody...)
		p.lastBody, p.borrowed = p.bodyCopy, false
	}
}

// isLast reports whether the item has the name of the classic one that was read last.
func (p *pass) isLast() bool {
	i, n := &p.item, len(p.item.Namespace)
	return len(p.lastName) == n+1+len(i.Name) &&
		string(p.lastName[:n]) == string(i.Namespace) &&
		string(p.lastName[n+1:]) == string(i.Name)
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
	if p.visitor.Problem != nil {
		p.visitor.Problem(string(path), reason)
	}
}
