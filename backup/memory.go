package backup

import (
	"errors"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"time"

	"drift-detector/backup/scan"
)

// Sizes of what memory hands out piece by piece: strings, owner references.
const (
	arenaSize  = 64 << 10
	ownerBatch = 1024
)

// remembered is of how many values memory may know that they were met before.
const remembered = 16 << 10

// maxText bounds a value that is kept. It leaves room for ten times the longest
// that anybody asks for, the configuration that kubeadm leaves in a ConfigMap;
// a record is no place for blobs.
const maxText = 64 << 10

var errTooLong = fmt.Errorf("longer than %d bytes", maxText)

// What things take beside their own bytes, for counting.
const (
	stringSize  = 16 // its header
	smallObject = 512
)

var ownerSize = int(reflect.TypeFor[Owner]().Size())

// memory keeps what outlives the body that it was read from. Values that repeat
// (namespaces, clusters, servers) are kept once, or few times, and all lie in arenas:
// one allocation for thousands of strings.
type memory struct {
	kept int64 // bytes so far, of everything that a Load keeps
	// Values that repeat lie apart from those of one object, which are let go of with the
	// objects of its kind.
	shared, own arena
	// met has the last value of each hash. A map of all of them would take more time and
	// memory than it saves.
	met  []string
	seed maphash.Seed
	// object is the name of the object being read: other objects, its Node and
	// its VM are named like it more often than not.
	object  string
	owners  []Owner
	last    []Owner // that were kept
	owning  []Owner // of the object being read
	raw     string  // that was kept last, see labelsOf
	scratch []byte
	joined  []byte         // of Members
	texts   []string       // of Texts
	found   [][]scan.Value // room for what a scan finds
}

func newMemory() *memory {
	return &memory{met: make([]string, remembered), seed: maphash.MakeSeed()}
}

// usage is how well the values of one column repeat, beyond the value that was met last.
type usage struct {
	hits, misses int
	last         string   // objects come by namespace
	list         []string // of Texts, likewise
}

// unique reports whether a column seldom repeats itself, so that remembering its
// values costs more than it saves.
func (u *usage) unique() bool { return u.misses > 256 && u.misses > u.hits }

// spend counts bytes that are kept elsewhere.
func (m *memory) spend(bytes int) { m.kept += int64(bytes) }

// capture returns room for what a scan finds by a plan. All of them lie in one
// place, because one object is scanned and read before the next: else each kind
// would hold on to room for the longest list that it ever met.
func (m *memory) capture(p *scan.Plan) *scan.Capture {
	if len(m.found) < p.Len() {
		m.found = make([][]scan.Value, max(p.Len(), 64))
	}
	return p.Capture(m.found)
}

// text returns a string value as a Go string that shares nothing with the body.
func (m *memory) text(v scan.Value, use *usage) (string, error) {
	raw, err := m.content(v)
	if err != nil {
		return "", err
	}
	return m.keep(raw, use), nil
}

// content returns what a string value means, until the next call.
func (m *memory) content(v scan.Value) ([]byte, error) {
	raw := v.Raw
	if v.Form == scan.Escaped {
		m.scratch = scan.Unquote(m.scratch[:0], raw)
		raw = m.scratch
	}
	if len(raw) > maxText {
		return nil, errTooLong
	}
	return raw, nil
}

func (m *memory) keep(raw []byte, use *usage) string {
	if len(raw) == 0 {
		return ""
	}
	if string(raw) == m.object {
		return m.object
	}
	if string(raw) == use.last {
		return use.last
	}
	if use.unique() {
		use.last = m.store(&m.own, raw)
		return use.last
	}
	met := &m.met[maphash.Bytes(m.seed, raw)%uint64(len(m.met))]
	if *met == string(raw) {
		use.hits++
	} else {
		use.misses++
		*met = m.store(&m.shared, raw)
	}
	use.last = *met
	return use.last
}

// arena is where strings lie one behind the other.
type arena struct{ *strings.Builder }

// store copies into an arena. A Builder whose capacity suffices never moves
// what it holds, so that parts of its String stay valid while it grows.
func (m *memory) store(in *arena, raw []byte) string {
	m.spend(len(raw))
	if len(raw) > arenaSize/8 {
		return string(raw)
	}
	if in.Builder == nil || in.Cap()-in.Len() < len(raw) {
		in.Builder = new(strings.Builder)
		in.Grow(arenaSize)
	}
	start := in.Len()
	in.Write(raw)
	return in.String()[start:]
}

// list returns room for n strings.
func (m *memory) list(n int) []string {
	m.spend(n * stringSize)
	return make([]string, n)
}

// keepOwners returns a copy of owners. Objects of one owner come one after the other, and share it.
func (m *memory) keepOwners(owners []Owner) []Owner {
	if slices.Equal(owners, m.last) {
		return m.last
	}
	n := len(owners)
	m.spend(n * ownerSize)
	if len(m.owners) < n {
		m.owners = make([]Owner, max(ownerBatch, n))
	}
	m.last, m.owners = m.owners[:n:n], m.owners[n:]
	copy(m.last, owners)
	return m.last
}

var errNotTime = errors.New("not a time in RFC 3339 form")

// moment parses a time.
func (m *memory) moment(v scan.Value, into *time.Time) error {
	raw := v.Raw
	if v.Form == scan.Escaped {
		m.scratch = scan.Unquote(m.scratch[:0], raw)
		raw = m.scratch
	} else if v.Form != scan.String {
		return errNotTime
	}
	var t time.Time
	if t.UnmarshalText(raw) != nil {
		return errNotTime
	}
	*into = t
	return nil
}
