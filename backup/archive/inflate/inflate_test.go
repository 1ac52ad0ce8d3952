package inflate

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"testing"
	"testing/iotest"

	"github.com/mholt/archiver/v3"
)

// standard returns what compress/gzip makes of a file.
func standard(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// klauspost returns what archiver makes of all of it.
func klauspost(data []byte) ([]byte, error) {
	var out bytes.Buffer
	err := (&archiver.Gz{SingleThreaded: true}).Decompress(bytes.NewReader(data), &out)
	return out.Bytes(), err
}

// class returns the kind of an error, which decides what the message says.
func class(err error) string {
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &corrupt):
		return "corrupt"
	case errors.Is(err, io.EOF): // compress/gzip has it for an empty file
		return io.ErrUnexpectedEOF.Error()
	case err != nil:
		return err.Error()
	}
	return "none"
}

// compare holds Gunzip against the oracles, of which klauspost alone refuses flags that are
// reserved, and compress/gzip alone a later header that is cut short. Of a file that is
// broken, which has no right content, only the kind of the error has to be the same.
func compare(t *testing.T, data []byte) {
	t.Helper()
	var out bytes.Buffer
	err := Gunzip(&out, bytes.NewReader(data))
	other, otherErr := klauspost(data)
	want, wantErr := standard(data)
	if class(err) != class(wantErr) && class(err) != class(otherErr) {
		t.Fatalf("error %v, compress/gzip %v, klauspost %v, for %d bytes", err, wantErr, otherErr, len(data))
	}
	if err != nil {
		return
	}
	if wantErr != nil || otherErr != nil {
		t.Fatalf("no error, compress/gzip %v, klauspost %v", wantErr, otherErr)
	}
	if !bytes.Equal(out.Bytes(), want) || !bytes.Equal(out.Bytes(), other) {
		t.Fatalf("%d bytes differ from the %d of compress/gzip and the %d of klauspost", out.Len(), len(want), len(other))
	}
}

// contents returns inputs of all that deflate does: runs, far matches, literals, noise, much and nothing.
func contents() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300<<10)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var words, skewed bytes.Buffer
	for words.Len() < 700<<10 {
		fmt.Fprintf(&words, `{"kind":"Machine","name":"m-%d","uid":"%x"},`, r.IntN(1000), r.Uint64())
	}
	for range 400 << 10 { // codes of 15 bits
		skewed.WriteByte(byte(r.ExpFloat64() * 9))
	}
	far := append(append(bytes.Clone(noise[:32<<10]), noise[:300]...), noise[:32<<10]...)
	return map[string][]byte{
		"nothing": nil, "one byte": {7}, "run": bytes.Repeat([]byte{'a'}, 600<<10), "period": bytes.Repeat([]byte("abc"), 100<<10),
		"noise": noise, "words": words.Bytes(), "skewed": skewed.Bytes(), "far": far,
	}
}

func packed(t testing.TB, level int, header gzip.Header, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	z.Header = header
	for part := range len(content)/(200<<10) + 1 { // flushed blocks in between
		if part > 0 {
			if err := z.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := z.Write(content[part*200<<10 : min(len(content), (part+1)*200<<10)]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestEveryLevelOfCompression(t *testing.T) {
	for name, content := range contents() {
		for level := gzip.HuffmanOnly; level <= gzip.BestCompression; level++ {
			data := packed(t, level, gzip.Header{}, content)
			compare(t, data)
			for _, from := range []io.Reader{iotest.OneByteReader(bytes.NewReader(data)), iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(data)))} {
				var out bytes.Buffer
				if err := Gunzip(&out, from); err != nil || !bytes.Equal(out.Bytes(), content) {
					t.Errorf("%s, level %d: error %v, %d bytes instead of %d", name, level, err, out.Len(), len(content))
				}
			}
		}
	}
}

// The most that one turn of the fast loop writes, two literals and the longest match, ends
// at every byte up to the end of the buffer.
func TestTheLongestTurnFits(t *testing.T) {
	for before := range 2 + 258 {
		var b bytes.Buffer
		var held uint64
		var n uint
		put := func(v uint64, bits uint) {
			held, n = held|v<<n, n+bits
			for ; n >= 8; held, n = held>>8, n-8 {
				b.WriteByte(byte(held))
			}
		}
		code := func(v uint8) { put(uint64(bits.Reverse8(v)), 8) } // Huffman codes have their highest bit first
		b.WriteString("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")
		put(1|1<<1, 3) // the last block, of the fixed codes
		content := bytes.Repeat([]byte{0}, before)
		for range before {
			code(0x30)
		}
		for len(content) < outSize+window {
			code(0x30 + 'a')
			code(0x30 + 'b')
			code(0xc5) // 258 bytes,
			put(0, 5)  // one byte back
			content = append(append(content, 'a'), bytes.Repeat([]byte{'b'}, 1+258)...)
		}
		put(0, 7+7) // the end of the block, and what is left of a byte
		tail := binary.LittleEndian.AppendUint32(b.Bytes(), crc32.ChecksumIEEE(content))
		compare(t, binary.LittleEndian.AppendUint32(tail, uint32(len(content))))
	}
}

func TestMembersAndHeaders(t *testing.T) {
	all := contents()
	plain := packed(t, 6, gzip.Header{}, all["words"])
	named := packed(t, 1, gzip.Header{Name: "näme", Comment: "comment", Extra: bytes.Repeat([]byte{1}, 60000)}, all["far"])
	short := packed(t, 9, gzip.Header{}, []byte("short"))
	compare(t, bytes.Join([][]byte{short, plain, named, short, packed(t, 6, gzip.Header{}, nil), plain}, nil))
	// A distance may not lead into the member before.
	alone := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 0x03, 0x02, 0x00, 0, 0, 0, 0, 0, 0, 0, 0}
	compare(t, append(bytes.Clone(plain), alone...))
	for _, tail := range []string{"x", "\x1f\x8b", "garbage behind the end", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
		compare(t, append(bytes.Clone(short), tail...))
	}
	checked := bytes.Clone(short)
	checked[3] = 1 << 1 // a checksum of the header; the deflated text is no checksum
	compare(t, checked)
	reserved := bytes.Clone(short)
	reserved[3] = 0x20
	compare(t, reserved)
	compare(t, append([]byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x00"), bytes.Repeat([]byte{'n'}, 600)...))
}

// Of a file that is cut short nothing but that is said, wherever it is cut.
func TestCutShort(t *testing.T) {
	for name, content := range contents() {
		for _, level := range []int{0, 6, gzip.HuffmanOnly} {
			data := packed(t, level, gzip.Header{}, content[:min(len(content), 20<<10)])
			for n := 1; n < len(data); n += 1 + len(data)/500 {
				if err := Gunzip(io.Discard, bytes.NewReader(data[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s, level %d, %d bytes of %d: error %v", name, level, n, len(data), err)
				}
			}
		}
	}
}

func TestFlippedBits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, content := range contents() {
		for _, level := range []int{0, 1, 9, gzip.HuffmanOnly} {
			data := packed(t, level, gzip.Header{}, content[:min(len(content), 8<<10)])
			for range 300 {
				flipped := bytes.Clone(data)
				flipped[r.IntN(len(data))] ^= 1 << r.IntN(8)
				compare(t, flipped)
			}
		}
	}
}

// Errors of either side come back as they are, and nothing is written after one.
func TestForeignErrors(t *testing.T) {
	content := contents()["words"]
	data := packed(t, 6, gzip.Header{}, content)
	mine := errors.New("mine")
	if err := Gunzip(io.Discard, io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(mine))); !errors.Is(err, mine) {
		t.Errorf("error %v of the reader is lost", err)
	}
	w := &failing{err: mine}
	if err := Gunzip(w, bytes.NewReader(data)); !errors.Is(err, mine) || w.calls != 1 {
		t.Errorf("error %v, %d writes", err, w.calls)
	}
}

type failing struct {
	err   error
	calls int
}

func (f *failing) Write([]byte) (int, error) {
	f.calls++
	return 0, f.err
}

func FuzzGunzip(f *testing.F) {
	lab, err := os.ReadFile("../../../testdata/fleet-data.tar.gz")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(lab[:40<<10])
	for _, content := range contents() {
		for _, level := range []int{0, 1, 6, gzip.HuffmanOnly} {
			f.Add(packed(f, level, gzip.Header{Name: "n"}, content[:min(len(content), 3000)]))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { compare(t, data) })
}

// What is compressed and what is not decode to the same, whatever it is.
func FuzzRoundTrip(f *testing.F) {
	for _, content := range contents() {
		f.Add(content[:min(len(content), 3000)], 6)
	}
	f.Fuzz(func(t *testing.T, content []byte, level int) {
		data := packed(t, gzip.HuffmanOnly+((level%12)+12)%12, gzip.Header{}, content)
		compare(t, append(bytes.Clone(data), data...))
	})
}
