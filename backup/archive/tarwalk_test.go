package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// listing notes what a walk meets.
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

func (l *listing) release() {}

// inMemory returns an archive that is not on disk.
func inMemory(data []byte) Source {
	return Source{Name: "b", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
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

// archiveTar returns how archive/tar reads an archive, in the words of listing.
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

// disagreement returns how the walk reads an archive otherwise than archive/tar. It
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

// writtenByGo returns an archive of files of many sizes and lengths of names, in the
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

// The walk reads what archive/tar reads, in pieces of every size.
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

// tarSeeds returns archives to begin with.
func tarSeeds(t testing.TB) [][]byte {
	seeds := [][]byte{
		writtenByGo(t, []int{0, 3, 600}, []int{5, 120, 201}),
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

var mutants = flag.Int("mutants", 60_000, "archives that TestDamagedArchivesMeanWhatTheyMeanToArchiveTar makes")

// Damaged and forged archives mean what they mean to archive/tar, or are refused.
// The mutants are the same in every run.
func TestDamagedArchivesMeanWhatTheyMeanToArchiveTar(t *testing.T) {
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
// something else than to archive/tar. Checksums are made right, unless it says otherwise:
// nearly all that is left of damaged archives would be refused for those.
func FuzzTarWalk(f *testing.F) {
	for _, form := range tarForms {
		f.Add(tarParts(form.parts...), true)
	}
	f.Add(writtenByGo(f, []int{3}, []int{5, 120}), false)
	f.Add([]byte("short"), true)
	f.Add(make([]byte, 1024), true)
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = slices.Clone(data)
			sealAll(data)
		}
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

// sealAll makes the checksums of an archive right, header by header.
func sealAll(data []byte) {
	for len(data) >= tarBlock {
		block := data[:tarBlock]
		if data = data[tarBlock:]; isZero(block) {
			continue
		}
		sealTar(block)
		size, _ := tarNumber(block[124:136])
		data = data[min(max(size+padding(size), 0), int64(len(data))):]
	}
}

// TestCopiesInPieces pushes copies that equal their classic ones, and others, through a pass in
// pieces whose memory is used again.
func TestCopiesInPieces(t *testing.T) {
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	add := func(version, name, body string) {
		path := "resources/pods/" + version + "namespaces/a/" + name + ".json"
		if err := w.WriteHeader(&tar.Header{Name: path, Size: int64(len(body)), Mode: 0o644, ModTime: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	for i := range 40 {
		name, body := fmt.Sprint(i), strings.Repeat(fmt.Sprint(i), 70*i+1)
		add("", name, body)
		want = append(want, name+body)
		if add("v1-preferredversion/", name, body); i%3 == 0 {
			name, body = fmt.Sprint(i, "b"), strings.Repeat("x", len(body))
			add("", name, body)
			add("v1-preferredversion/", name, body[1:]+"y")
			want = append(want, name+body, name+body[1:]+"y")
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 511, 512, 1000, 4096, 10_000, data.Len()} {
		var got []string
		p := &pass{bounds: DefaultBounds, resources: map[string]*resource{}, visitor: Visitor{Visit: func(i *Item) error {
			got = append(got, string(i.Name)+string(i.Body))
			return nil
		}}}
		p.walker.visitor = p
		buffer := make([]byte, size)
		for rest := data.Bytes(); len(rest) > 0; {
			n := copy(buffer, rest)
			if _, err := p.walker.Write(buffer[:n]); err != nil {
				t.Fatal(err)
			}
			clear(buffer)
			rest = rest[n:]
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pieces of %d bytes: %d items, want %d", size, len(got), len(want))
		}
	}
}
