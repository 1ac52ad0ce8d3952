package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tarPart is one header block by hand, with the body behind it.
type tarPart struct {
	kind       byte
	name, body string
	magic      string // empty: POSIX ustar
	edit       func(block []byte)
}

const (
	magicPOSIX = "ustar\x0000"
	magicGNU   = "ustar  \x00"
	magicV7    = "\x00\x00\x00\x00\x00\x00\x00\x00"
)

// tarParts returns an archive of blocks that no writer of archives would write.
func tarParts(parts ...tarPart) []byte {
	var out []byte
	for _, p := range parts {
		block := make([]byte, tarBlock)
		copy(block, p.name)
		for _, at := range []int{100, 108, 116, 329, 337} {
			copy(block[at:], "0000644\x00")
		}
		copy(block[124:], fmt.Sprintf("%011o\x00", len(p.body)))
		copy(block[136:], "14775360000\x00")
		block[156] = p.kind
		magic := p.magic
		if magic == "" {
			magic = magicPOSIX
		}
		copy(block[257:], magic)
		if p.edit != nil {
			p.edit(block)
		}
		sealTar(block)
		out = append(append(out, block...), p.body...)
		out = append(out, make([]byte, padding(int64(len(p.body))))...)
	}
	return append(out, make([]byte, 2*tarBlock)...)
}

// sealTar makes the checksum of a header right.
func sealTar(block []byte) {
	copy(block[148:], "        ")
	copy(block[148:], fmt.Sprintf("%06o\x00 ", blockSum(block)))
}

// record returns one record of a PAX header.
func record(key, value string) string {
	text := " " + key + "=" + value + "\n"
	n := len(text) + 1
	for len(fmt.Sprint(n))+len(text) != n {
		n++
	}
	return fmt.Sprint(n) + text
}

// tarForms are entries with header forms that Velero never writes, and what the
// walk says of each: a part of what is odd, or the error.
var tarForms = []struct {
	name  string
	parts []tarPart
	odd   string
	err   error
}{
	{"plain", []tarPart{{kind: '0', name: "a", body: "x"}}, "", nil},
	{"GNU name", []tarPart{{kind: 'L', name: "././@LongLink", body: "long\x00", magic: magicGNU}, {kind: '0', name: "short", body: "x", magic: magicGNU}}, "", nil},
	{"PAX name", []tarPart{{kind: 'x', name: "p", body: record("path", "long")}, {kind: '0', name: "short", body: "x"}}, "", nil},
	{"PAX times of a repacked archive", []tarPart{{kind: 'x', name: "p", body: record("mtime", "1795000000.25") + record("atime", "1")}, {kind: '0', name: "a", body: "x"}}, "", nil},
	{"GNU name and PAX path", []tarPart{{kind: 'L', name: "l", body: "gnu\x00"}, {kind: 'x', name: "p", body: record("path", "pax")}, {kind: '0', name: "short", body: "x"}}, "both PAX and GNU", nil},
	{"PAX path and GNU name", []tarPart{{kind: 'x', name: "p", body: record("path", "pax")}, {kind: 'L', name: "l", body: "gnu\x00"}, {kind: '0', name: "short", body: "x"}}, "both PAX and GNU", nil},
	{"PAX path and GNU link name", []tarPart{{kind: 'x', name: "p", body: record("path", "pax")}, {kind: 'K', name: "l", body: "gnu\x00"}, {kind: '0', name: "short", body: "x"}}, "both PAX and GNU", nil},
	{"PAX path without a value", []tarPart{{kind: 'x', name: "p", body: record("path", "")}, {kind: '0', name: "own", body: "x"}}, "empty value", nil},
	{"PAX size, which is the one that counts", []tarPart{
		{kind: 'x', name: "p", body: record("size", "3")},
		{kind: '0', name: "own", body: "xyz", edit: func(b []byte) { copy(b[124:], "00000000000") }},
		{kind: '0', name: "next", body: "x"},
	}, "", nil},
	{"PAX size without a value", []tarPart{{kind: 'x', name: "p", body: record("size", "")}, {kind: '0', name: "own", body: "x"}}, "empty value", nil},
	{"PAX path twice", []tarPart{{kind: 'x', name: "p", body: record("path", "one") + record("path", "two")}, {kind: '0', name: "own", body: "x"}}, "twice", nil},
	{"PAX header twice", []tarPart{{kind: 'x', name: "p", body: record("path", "one")}, {kind: 'x', name: "p", body: record("comment", "c")}, {kind: '0', name: "own", body: "x"}}, "two extended headers", nil},
	{"PAX header without records", []tarPart{{kind: 'x', name: "p"}, {kind: '0', name: "own", body: "x"}}, "without records", nil},
	{"global PAX header", []tarPart{{kind: 'g', name: "g", body: record("path", "global")}, {kind: '0', name: "own", body: "x"}}, "global PAX header", nil},
	{"global PAX header behind another", []tarPart{{kind: 'x', name: "p", body: record("path", "pax")}, {kind: 'g', name: "g", body: record("comment", "c")}, {kind: '0', name: "own", body: "x"}}, "global PAX header", nil},
	{"GNU name with more behind its end", []tarPart{{kind: 'L', name: "l", body: "name\x00.json"}, {kind: '0', name: "short", body: "x"}}, "behind its end", nil},
	{"empty GNU name", []tarPart{{kind: 'L', name: "l", body: "\x00"}, {kind: '0', name: "short", body: "x"}}, "is empty", nil},
	{"GNU magic with a prefix", []tarPart{{kind: '0', name: "a", body: "x", magic: magicGNU, edit: func(b []byte) { copy(b[345:], "prefix") }}}, "prefix", nil},
	{"contiguous file", []tarPart{{kind: '7', name: "a", body: "x"}}, "", nil},
	{"old file", []tarPart{{kind: 0, name: "a", body: "x", magic: magicV7}}, "", nil},
	{"old folder", []tarPart{{kind: 0, name: "a/", magic: magicV7}}, "", nil},
	{"file that ends in a slash", []tarPart{{kind: '0', name: "a/", body: "x"}}, "", nil},
	{"links with a size", []tarPart{{kind: '1', name: "a", edit: func(b []byte) { copy(b[124:], "00000000777") }}, {kind: '0', name: "b", body: "x"}}, "", nil},
	{"sizes in base 256", []tarPart{{kind: '0', name: "a", body: "xyz", edit: func(b []byte) {
		clear(b[124:136])
		b[124] = 0x80
		binary.BigEndian.PutUint32(b[132:], 3)
	}}}, "", nil},
	{"numbers with spaces", []tarPart{{kind: '0', name: "a", body: "xyz", edit: func(b []byte) { copy(b[124:], "         3 \x00"); copy(b[100:], "  644 \x00\x00") }}}, "", nil},
	{"a mode that is no number", []tarPart{{kind: '0', name: "a", body: "x", edit: func(b []byte) { copy(b[100:], "rwxr-xr-") }}}, "", errTarField},
	{"STAR's trailer", []tarPart{{kind: '0', name: "a", body: "x", edit: func(b []byte) { copy(b[345:], "prefix"); copy(b[508:], "tar\x00") }}}, "", nil},
	{"GNU.sparse 0.1", []tarPart{{kind: 'x', name: "p", body: record("GNU.sparse.major", "0") + record("GNU.sparse.minor", "1") + record("GNU.sparse.name", "sparse") + record("GNU.sparse.map", "0,1") + record("GNU.sparse.size", "1")}, {kind: '0', name: "own", body: "x"}}, "", errTarSparse},
	{"GNU.sparse of an unknown version", []tarPart{{kind: 'x', name: "p", body: record("GNU.sparse.major", "9") + record("GNU.sparse.name", "sparse")}, {kind: '0', name: "own", body: "x"}}, "", errTarSparse},
	{"old GNU sparse", []tarPart{{kind: 'S', name: "own", body: "x", magic: magicGNU}}, "", errTarSparse},
	{"a record that is none", []tarPart{{kind: 'x', name: "p", body: "hello"}, {kind: '0', name: "own", body: "x"}}, "", errTarField},
	{"a size below zero", []tarPart{{kind: 'x', name: "p", body: record("size", "-1")}, {kind: '0', name: "own", body: "x"}}, "", errTarField},
	{"an extended header without an entry", []tarPart{{kind: 'x', name: "p", body: record("path", "a")}}, "", errTarTruncated},
}

// A header means what it means to archive/tar; what Velero never writes is said.
func TestHeadersMeanWhatTheyMeanToArchiveTar(t *testing.T) {
	for _, f := range tarForms {
		t.Run(f.name, func(t *testing.T) {
			data := tarParts(f.parts...)
			var l listing
			err := walk(data, len(data), &l)
			if !errors.Is(err, f.err) {
				t.Fatalf("error %v, want %v", err, f.err)
			}
			for _, piece := range []int{1, 500, 512, len(data)} {
				if s := disagreement(data, piece); s != "" {
					t.Errorf("in pieces of %d: %s", piece, s)
				}
			}
			said := strings.Join(l.odd, "; ")
			if (f.odd == "") != (said == "") || !strings.Contains(said, f.odd) {
				t.Errorf("it says %q, want %q", said, f.odd)
			}
		})
	}
}

// Whatever Velero reads of an archive is read here, and a header that it never writes
// is a problem of the resource that it names; what it reads otherwise than a stream
// can be read is refused.
func TestWhatARestoreReads(t *testing.T) {
	const (
		machines = "machines.cluster.x-k8s.io"
		hidden   = "resources/" + machines + "/namespaces/ns/hidden.json"
	)
	file := func(name, body string) tarPart { return tarPart{kind: '0', name: name, body: body} }
	for name, c := range map[string]struct {
		parts   []tarPart
		problem string // empty: the archive is refused
		reads   bool   // the item is read: a restore brings it back
	}{
		"a GNU name beside a PAX path": {[]tarPart{{kind: 'L', name: "l", body: hidden + "\x00"}, {kind: 'x', name: "p", body: record("path", "metadata/nothing")}, file("short", "{}")}, "both PAX and GNU", true},
		"a PAX path without a value":   {[]tarPart{{kind: 'x', name: "p", body: record("path", "")}, file(hidden, "{}")}, "empty value", true},
		"a sparse file's name":         {[]tarPart{{kind: 'x', name: "p", body: record("GNU.sparse.major", "0") + record("GNU.sparse.minor", "0") + record("GNU.sparse.name", hidden)}, file("short", "{}")}, "", false},
		"a PAX path twice":             {[]tarPart{{kind: 'x', name: "p", body: record("path", "metadata/nothing") + record("path", hidden)}, file("short", "{}")}, "twice", true},
		"a GNU name with a NUL":        {[]tarPart{{kind: 'L', name: "l", body: hidden + "\x00.bak\x00"}, file("short", "{}")}, "behind its end", true},
		"GNU's magic with a prefix":    {[]tarPart{{kind: '0', name: hidden[10:], body: "{}", magic: magicGNU, edit: func(b []byte) { copy(b[345:], "resources") }}}, "prefix", true},
		"a contiguous file":            {[]tarPart{{kind: '7', name: hidden, body: "{}"}}, "not a regular file", false},
		"a file that ends in a slash":  {[]tarPart{file(hidden+"/", "{}")}, "shortest form", false},
		"a path with a detour":         {[]tarPart{file("resources/./"+hidden[10:], "{}")}, "shortest form", false},
	} {
		t.Run(name, func(t *testing.T) {
			data := tarParts(slices.Concat([]tarPart{file(versionPath, "1.1.0\n"), file("resources/pods/namespaces/ns/other.json", "{}")}, c.parts)...)
			var read, problems []string
			_, err := Walk(t.Context(), inMemory(data), DefaultBounds, Visitor{
				Visit: func(i *Item) error {
					read = append(read, i.Path()+" "+string(i.Body))
					return nil
				},
				Problem: func(path, reason string) { problems = append(problems, ResourceIn(path)+": "+reason) },
			})
			if c.problem == "" {
				if !errors.Is(err, errTarSparse) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || slices.Contains(read, hidden+" {}") != c.reads {
				t.Errorf("error %v, read %q", err, read)
			}
			if len(problems) != 1 || !strings.HasPrefix(problems[0], machines+": ") || !strings.Contains(problems[0], c.problem) {
				t.Errorf("problems %q", problems)
			}
		})
	}
}
