package backup

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// listing notes what a walk tells.
type listing struct {
	entries []string
	odd     []string
	half    bool // want every other body only
}

func (l *listing) enter(h *tarHeader) (bool, error) {
	l.entries = append(l.entries, fmt.Sprintf("%s %c %d %d", h.name, h.kind, h.size, h.written))
	if h.odd != "" {
		l.odd = append(l.odd, h.odd)
	}
	return !l.half || len(l.entries)%2 == 1, nil
}

func (l *listing) body(b []byte) error {
	l.entries[len(l.entries)-1] += " " + string(b)
	return nil
}

// walk pushes an archive through a walker in pieces.
func walk(data []byte, piece int, l *listing) error {
	w := &tarWalker{visitor: l}
	for rest := data; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
		if _, err := w.Write(rest[:min(piece, len(rest))]); err != nil {
			return err
		}
	}
	return w.end()
}

// archiveTar is what archive/tar tells of an archive, in the words of listing.
func archiveTar(data []byte) (entries []string, err error) {
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return entries, err
		}
		size := h.Size
		switch h.Typeflag {
		case tar.TypeLink, tar.TypeSymlink, tar.TypeChar, tar.TypeBlock, tar.TypeDir, tar.TypeFifo:
			size = 0
		}
		var body bytes.Buffer
		if _, err := io.CopyN(&body, r, min(size, int64(len(data))+1)); err != nil {
			return entries, err
		}
		name := h.Name[:min(len(h.Name), maxName)]
		entries = append(entries, fmt.Sprintf("%s %c %d %d %s", name, h.Typeflag, size, h.ModTime.Unix(), body.Bytes()))
	}
}

// disagreement says how the walk reads an archive otherwise than archive/tar. It
// may refuse more: sparse files, headers without end, and what is cut short or goes
// on behind the end, of which archive/tar knows nothing.
func disagreement(data []byte, piece int) string {
	var l listing
	err := walk(data, piece, &l)
	if err == nil {
		want, theirs := archiveTar(data)
		switch {
		case theirs != nil:
			return fmt.Sprintf("archive/tar refuses it: %v", theirs)
		case !slices.Equal(l.entries, want):
			return fmt.Sprintf("entries %.400q, archive/tar has %.400q", l.entries, want)
		}
		return ""
	}
	for _, stricter := range []error{errTarSparse, errTarHeaders, errTarTruncated, errTarTrailing} {
		if errors.Is(err, stricter) {
			return ""
		}
	}
	if _, theirs := archiveTar(data); theirs == nil {
		return fmt.Sprintf("refused: %v; archive/tar reads it", err)
	}
	return ""
}

// writtenByGo is an archive of files of many sizes and lengths of names, in the
// forms that archive/tar writes.
func writtenByGo(t testing.TB, sizes, lengths []int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, format := range []tar.Format{tar.FormatUSTAR, tar.FormatPAX, tar.FormatGNU, tar.FormatUnknown} {
		for _, size := range sizes {
			for _, length := range lengths {
				name := strings.Repeat("d", length/2) + "/" + strings.Repeat("f", length-length/2-1)
				h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(size), Mode: 0o644, Format: format}
				if format == tar.FormatUSTAR && length > 155 {
					continue
				}
				if err := w.WriteHeader(h); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Write(bytes.Repeat([]byte{'a' + byte(i)}, size)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The walk tells what archive/tar tells, in pieces of every size.
func TestTarWalkAgreesWithArchiveTar(t *testing.T) {
	data := writtenByGo(t, []int{0, 1, 511, 512, 513, 3000}, []int{5, 99, 100, 101, 155, 300})
	want, err := archiveTar(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range []bool{false, true} {
		for _, piece := range []int{1, 7, 511, 512, 513, 4096, len(data)} {
			l := &listing{half: half}
			if err := walk(data, piece, l); err != nil || len(l.entries) != len(want) || len(l.odd) > 0 {
				t.Fatalf("pieces of %d: %d entries, want %d, odd %q, error %v", piece, len(l.entries), len(want), l.odd, err)
			}
			for i, got := range l.entries {
				expect := want[i]
				if half && i%2 == 1 {
					expect = expect[:strings.LastIndex(expect, " ")]
				}
				if got != expect {
					t.Fatalf("pieces of %d, entry %d: %.300q, want %.300q", piece, i, got, expect)
				}
			}
		}
	}
}

// Numbers that are read eight digits at once are those that are read one by one.
func TestTarNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		field := fmt.Appendf(nil, "%011o\x00", r.Int64N(1<<33))
		if r.IntN(3) == 0 {
			field[r.IntN(12)] = "8 /\x00\x80:x7"[r.IntN(8)]
		}
		if n, ok := longOctal(field); ok {
			if want, valid := tarNumber(field); !valid || n != want {
				t.Fatalf("%q is %o, want %o, %v", field, n, want, valid)
			}
		} else if !bytes.ContainsAny(field[:11], "8 /\x00:x\x80") && field[11] == 0 {
			t.Fatalf("%q was not read", field)
		}
	}
}

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

// tarParts is an archive of blocks that no writer of archives would write.
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

// record is one record of a PAX header.
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
func TestFaultD4HeaderForms(t *testing.T) {
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
// is a Problem on which verdicts rest; what it reads otherwise than a stream can be
// read is refused.
func TestFaultD4WhatARestoreReads(t *testing.T) {
	hidden, body := machineFile("hidden")
	other, otherBody := machineFile("other")
	file := func(name, body string) tarPart { return tarPart{kind: '0', name: name, body: body} }
	for name, c := range map[string]struct {
		parts   []tarPart
		problem string // empty: the archive is refused
		reads   bool   // the machine is read: a restore brings it back
	}{
		"a GNU name beside a PAX path":              {[]tarPart{{kind: 'L', name: "l", body: hidden + "\x00"}, {kind: 'x', name: "p", body: record("path", "metadata/nothing")}, file("short", body)}, "both PAX and GNU", true},
		"a PAX path without a value":                {[]tarPart{{kind: 'x', name: "p", body: record("path", "")}, file(hidden, body)}, "empty value", true},
		"a sparse file's name":                      {[]tarPart{{kind: 'x', name: "p", body: record("GNU.sparse.major", "0") + record("GNU.sparse.minor", "0") + record("GNU.sparse.name", hidden)}, file("short", body)}, "", false},
		"a PAX path twice":                          {[]tarPart{{kind: 'x', name: "p", body: record("path", "metadata/nothing") + record("path", hidden)}, file("short", body)}, "twice", true},
		"a GNU name with a NUL":                     {[]tarPart{{kind: 'L', name: "l", body: hidden + "\x00.bak\x00"}, file("short", body)}, "behind its end", true},
		"GNU's magic with a prefix":                 {[]tarPart{{kind: '0', name: hidden[10:], body: body, magic: magicGNU, edit: func(b []byte) { copy(b[345:], "resources") }}}, "prefix", true},
		"a contiguous file":                         {[]tarPart{{kind: '7', name: hidden, body: body}}, "not a regular file", false},
		"a file that ends in a slash":               {[]tarPart{file(hidden+"/", body)}, "shortest form", false},
		"a path with a detour":                      {[]tarPart{file("resources/./"+hidden[10:], body)}, "shortest form", false},
		"a file twice, the first of another object": {[]tarPart{file(hidden, otherBody), file(hidden, body)}, "disagree about the object's name", true},
	} {
		t.Run(name, func(t *testing.T) {
			data := tarParts(slices.Concat([]tarPart{file(versionPath, "1.1.0\n"), file(other, otherBody)}, c.parts)...)
			s, err := loadBytes(data, defaultLimits)
			if c.problem == "" {
				if !errors.Is(err, errTarSparse) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if read := s.Machines[0].Name == "hidden"; read != c.reads || len(s.Machines) != 2 && read {
				t.Errorf("machines %v", s.Machines)
			}
			if len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Reason, c.problem) || !s.Problems[0].Decisive {
				t.Errorf("problems %+v", s.Problems)
			}
		})
	}
}

// mutateTar changes an archive in ways that leave it an archive more often than not:
// types, magics and numbers of headers, single bytes, whole blocks left out, repeated
// or copied, records of PAX headers. Checksums of headers are made right again, mostly.
func mutateTar(r *rand.Rand, data []byte) []byte {
	out := slices.Clone(bytes.TrimSuffix(data, make([]byte, 2*tarBlock)))
	for range 1 + r.IntN(3) {
		if len(out) < tarBlock {
			break
		}
		at := tarBlock * r.IntN(len(out)/tarBlock)
		out = mutateBlock(r, out, at)
	}
	if r.IntN(20) == 0 {
		return out[:r.IntN(len(out)+1)]
	}
	return append(out, make([]byte, 2*tarBlock)...)
}

// mutateBlock changes the block at an offset of an archive.
func mutateBlock(r *rand.Rand, out []byte, at int) []byte {
	block := out[at : at+tarBlock]
	switch r.IntN(12) {
	case 0, 1:
		block[156] = "0157xgLKS2\x00"[r.IntN(11)]
	case 2:
		copy(block[257:], []string{magicPOSIX, magicGNU, magicV7, "ustar\x00  "}[r.IntN(4)])
	case 3:
		copy(block[124:136], fmt.Sprintf("%011o ", tarBlock*r.IntN(3)))
	case 4:
		block[r.IntN(tarBlock)] = byte(r.IntN(256))
	case 5:
		block[r.IntN(tarBlock)] = "\x00 /.07=\n"[r.IntN(8)]
	case 6:
		at := []int{100, 108, 116, 124, 136, 329, 337, 345, 500}[r.IntN(9)]
		block[at+r.IntN(12)] = "\x00 07\x80\xff8"[r.IntN(7)]
	case 7:
		return slices.Insert(out, at, slices.Clone(block)...)
	case 8:
		return slices.Delete(out, at, at+tarBlock)
	case 9:
		from := tarBlock * r.IntN(len(out)/tarBlock)
		copy(block, slices.Clone(out[from:from+tarBlock]))
	default:
		keys := []string{"path", "size", "mtime", "linkpath", "uid", "comment", "GNU.sparse.name"}
		values := []string{"", "a/b", "1", "-1", "512", "x\x00y", "1.5"}
		text := record(keys[r.IntN(len(keys))], values[r.IntN(len(values))])
		if block[156] != 'x' && block[156] != 'g' || at+2*tarBlock > len(out) {
			return slices.Insert(out, at, bytes.TrimSuffix(tarParts(tarPart{kind: 'x', name: "p", body: text}), make([]byte, 2*tarBlock))...)
		}
		copy(block[124:], fmt.Sprintf("%011o\x00", len(text)))
		clear(out[at+tarBlock : at+2*tarBlock])
		copy(out[at+tarBlock:], text)
	}
	if r.IntN(8) > 0 {
		sealTar(block)
	}
	return out
}

// tarSeeds are archives to begin with.
func tarSeeds(t testing.TB) [][]byte {
	seeds := [][]byte{
		tarOf(t, versionPath, "1\n", strings.Repeat("long/", 40)+"x", "body"),
		writtenByGo(t, []int{0, 3, 600}, []int{5, 120}),
	}
	var all []tarPart
	for _, f := range tarForms {
		seeds = append(seeds, tarParts(f.parts...))
		if f.err == nil {
			all = append(all, f.parts...)
		}
	}
	return append(seeds, tarParts(all...))
}

var mutants = flag.Int("mutants", 60_000, "archives that TestFaultD4Mutants makes")

// Damaged and forged archives mean what they mean to archive/tar, or are refused.
// The mutants are the same in every run.
func TestFaultD4Mutants(t *testing.T) {
	seeds := tarSeeds(t)
	r := rand.New(rand.NewPCG(4, 0xd4))
	read := 0
	for range *mutants {
		data := mutateTar(r, seeds[r.IntN(len(seeds))])
		if s := disagreement(data, 1+r.IntN(2*tarBlock)); s != "" {
			t.Fatalf("%s\n%q", s, data)
		}
		if walk(data, len(data), &listing{}) == nil {
			read++
		}
	}
	if read < *mutants/4 {
		t.Errorf("only %d of %d mutants could be read: they test little", read, *mutants)
	}
}

// FuzzTarWalk looks for archives that crash the walk, make it hoard, or mean to it
// something else than to archive/tar.
func FuzzTarWalk(f *testing.F) {
	for _, seed := range tarSeeds(f) {
		f.Add(seed)
	}
	f.Add([]byte("short"))
	f.Add(make([]byte, 1024))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := &tarWalker{visitor: &listing{}}
		_, _ = w.Write(data)
		if held := cap(w.got) + cap(w.before.chain); held > 8*len(data)+64<<10 {
			t.Errorf("%d bytes held of %d", held, len(data))
		}
		if s := disagreement(data, 512); s != "" {
			t.Error(s)
		}
	})
}
