package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Sizes of the tar format (POSIX pax, IEEE Std 1003.1), and bounds of ours.
const (
	tarBlock    = 512
	maxName     = 4 << 10
	maxExtended = 1 << 20 // bytes of one extended header, as archive/tar has it (Go 1.26)
	maxHeaders  = 4 << 20 // bytes of all headers of one entry
)

// Errors that end a walk.
var (
	errNotTar       = errors.New("not a tar archive")
	errTarChecksum  = errors.New("a tar header's checksum is wrong")
	errTarField     = errors.New("a tar header holds no valid number, or records that contradict each other")
	errTarHeaders   = errors.New("an entry has more tar headers than any file needs")
	errTarSparse    = errors.New("it holds sparse files, which Velero never writes")
	errTarTruncated = errors.New("the archive is cut short")
	errTarTrailing  = errors.New("there is data behind the end of the archive")
)

// tarHeader describes one entry. The name is valid until the next entry.
type tarHeader struct {
	name    []byte
	tooLong bool // the name is longer than maxName, and cut
	kind    byte // type flag, as archive/tar gives it
	size    int64
	written int64  // modification time, Unix seconds
	odd     string // how its headers differ from all that Velero writes; empty: not at all
}

// tarVisitor gets the entries of an archive.
type tarVisitor interface {
	// enter is called for each entry and reports whether its body is wanted.
	enter(*tarHeader) (wanted bool, err error)
	// body gets the body of the entry that enter wanted last. It is valid
	// until release is called.
	body([]byte) error
	// release is called before what lies in the bodies so far changes.
	release()
}

// tarWalker is a push reader of tar: what is written to it is the archive. A
// body that is not wanted costs one subtraction; one that is wanted is gathered
// in memory, unless it comes in one piece.
//
// An archive means to it what it means to archive/tar, with which Velero reads
// it (pkg/archive/extractor.go v1.18.1). It reads the headers that Velero writes
// itself; all others are handed to archive/tar, see tarextension.go. Beyond that it
// refuses sparse files and what is cut short or goes on behind its end.
type tarWalker struct {
	visitor tarVisitor
	block   []byte // header that came in pieces
	skip    int64  // bytes of body and padding to pass over
	need    int64  // bytes of a wanted body that are still to come
	pad     int64  // padding behind it
	got     []byte // wanted body so far
	special byte   // type of the extended header that got is filled with, or 0
	header  tarHeader
	name    []byte       // of the entry
	before  tarExtension // extended headers of the next entry
	head    []byte       // first block, when it is no header
	zeros   int          // zero blocks at the end
	headers int
}

// Write takes the next piece of the archive.
func (w *tarWalker) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if w.skip > 0 {
			k := min(w.skip, int64(len(p)))
			w.skip -= k
			p = p[k:]
			continue
		}
		if w.need > 0 {
			k := min(w.need, int64(len(p)))
			body := p[:k] // most lie in one piece
			if k < w.need || len(w.got) > 0 {
				if len(w.got) == 0 {
					w.visitor.release() // the last one may lie there
				}
				w.got = append(w.got, body...)
				body = w.got
			}
			p = p[k:]
			if w.need -= k; w.need == 0 {
				if err := w.complete(body); err != nil {
					return n - len(p), err
				}
			}
			continue
		}
		block := p
		if len(w.block) > 0 || len(p) < tarBlock {
			k := min(tarBlock-len(w.block), len(p))
			w.block = append(w.block, p[:k]...)
			p = p[k:]
			if len(w.block) < tarBlock {
				break
			}
			block = w.block
			w.block = w.block[:0]
		} else {
			p = p[tarBlock:]
		}
		if err := w.read(block[:tarBlock]); err != nil {
			return n - len(p), err
		}
	}
	w.visitor.release()
	return n, nil
}

// end returns an error unless the archive ended where it may.
func (w *tarWalker) end() error {
	if w.zeros >= 2 && len(w.block) > 0 {
		return errTarTrailing
	}
	if w.zeros < 2 || w.skip > 0 || w.need > 0 || len(w.block) > 0 || !w.before.empty() {
		return errTarTruncated
	}
	return nil
}

// read takes one header block.
func (w *tarWalker) read(b []byte) error {
	if isZero(b) {
		w.zeros++
		return nil
	}
	if w.zeros > 0 {
		return errTarTrailing
	}
	h := &w.header
	if !w.before.empty() || !w.plain(b) {
		if err := checkTarHeader(b); err != nil {
			if w.headers == 0 {
				w.head = bytes.Clone(b)
				return errNotTar
			}
			return err
		}
		switch kind := b[156]; kind {
		case 'x', 'g', 'L', 'K':
			return w.extend(b, kind)
		}
		if err := w.before.entry(b, h); err != nil {
			return err
		}
	}
	return w.enter()
}

// enter calls the visitor with the entry whose header was read.
func (w *tarWalker) enter() error {
	w.headers++
	h := &w.header
	if h.size > maxTarSize {
		return errTarField
	}
	if h.tooLong = len(h.name) > maxName; h.tooLong {
		h.name = h.name[:maxName]
	}
	wanted, err := w.visitor.enter(h)
	if err != nil {
		return err
	}
	pad := padding(h.size)
	if !wanted {
		w.skip = h.size + pad
		return nil
	}
	return w.gather(h.size, pad, 0)
}

// gather begins a body that is wanted.
func (w *tarWalker) gather(size, pad int64, special byte) error {
	w.got, w.need, w.pad, w.special = w.got[:0], size, pad, special
	if size == 0 {
		return w.complete(nil)
	}
	return nil
}

// extend begins the body of an extended header.
func (w *tarWalker) extend(b []byte, kind byte) error {
	w.headers++
	size, ok := tarNumber(b[124:136])
	if !ok {
		return errTarField
	}
	if size > maxExtended {
		return errTarHeaders
	}
	if err := w.before.header(b, kind); err != nil {
		return err
	}
	return w.gather(size, padding(size), kind)
}

// complete hands on a body that has been gathered.
func (w *tarWalker) complete(body []byte) error {
	w.skip = w.pad
	special := w.special
	w.special = 0
	if special == 0 {
		return w.visitor.body(body)
	}
	if err := w.before.content(body, special); err != nil {
		return err
	}
	if special != 'g' {
		return nil
	}
	// To archive/tar a global header is an entry by itself.
	if err := w.before.entry(nil, &w.header); err != nil {
		return err
	}
	rest := w.skip
	w.header.size = 0
	if err := w.enter(); err != nil {
		return err
	}
	w.skip = rest
	return nil
}

// maxTarSize keeps sums of size and padding from overflowing.
const maxTarSize = 1 << 62

func padding(size int64) int64 { return -size & (tarBlock - 1) }

// plain reads a header as Velero writes it for all but the longest names: POSIX
// ustar of a file or a folder, with numbers in octal; and one as GNU tar writes it
// when a backup is packed again. It reports false for any other.
func (w *tarWalker) plain(b []byte) bool {
	block := (*[tarBlock]byte)(b)
	kind := block[156]
	gnu := string(block[257:265]) == "ustar  \x00" && isZero(block[345:])
	posix := string(block[257:265]) == "ustar\x0000" && string(block[508:512]) != "tar\x00"
	if !posix && !gnu || kind != '0' && kind != '5' {
		return false
	}
	digits := isOctal(block[100:108]) && isOctal(block[108:116]) && isOctal(block[116:124]) && // mode, uid, gid
		isOctal(block[329:337]) && isOctal(block[337:345]) // device
	size, sizeOK := longOctal(block[124:136])
	written, writtenOK := longOctal(block[136:148])
	if !digits || !sizeOK || !writtenOK || checkTarHeader(b) != nil {
		return false
	}
	if kind == '5' {
		size = 0
	}
	w.name = w.name[:0]
	if b[345] != 0 {
		w.name = append(append(w.name, untilNUL(b[345:500])...), '/')
	}
	w.name = append(w.name, untilNUL(b[0:100])...)
	w.header = tarHeader{name: w.name, kind: kind, size: size, written: written}
	return true
}

// isOctal reports whether a field of eight bytes is seven octal digits and a NUL, or
// empty.
func isOctal(b []byte) bool {
	field := binary.LittleEndian.Uint64(b)
	return field == 0 || field&0xfff8f8f8f8f8f8f8 == 0x0030303030303030
}

// longOctal reads a field of twelve bytes that is eleven octal digits and a NUL.
// Eight digits are added at once: neighbours to pairs, pairs to fours, fours to eight.
func longOctal(b []byte) (int64, bool) {
	high, low := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])
	if high&0xf8f8f8f8f8f8f8f8 != 0x3030303030303030 || low&0xfff8f8f8 != 0x00303030 {
		return 0, false
	}
	high &= 0x0707070707070707
	high = (high<<3 | high>>8) & 0x003f003f003f003f
	high = (high<<6 | high>>16) & 0x00000fff00000fff
	high = (high<<12 | high>>32) & 0xffffff
	return int64(high<<9 | uint64(low&7)<<6 | uint64(low>>8&7)<<3 | uint64(low>>16&7)), true
}

func untilNUL(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// checkTarHeader compares the checksum: the sum of the block's bytes with the
// field itself taken as spaces. Old writers summed signed bytes.
func checkTarHeader(b []byte) error {
	want, ok := tarOctal(b[148:156])
	if !ok {
		return errTarChecksum
	}
	sum := blockSum(b) + 8*' '
	for _, c := range b[148:156] {
		sum -= int64(c)
	}
	if want == sum {
		return nil
	}
	for i, c := range b[:tarBlock] {
		if c >= 0x80 && (i < 148 || i >= 156) {
			sum -= 0x100
		}
	}
	if want != sum {
		return errTarChecksum
	}
	return nil
}

// blockSum adds the bytes of a block, eight at a time: four lanes of 16 bits
// hold the sums of 128 bytes each without overflow. Of most headers half is zeros,
// and the rest ASCII, of which two bytes have room in one.
func blockSum(b []byte) int64 {
	const even, ascii = 0x00ff00ff00ff00ff, 0x7f7f7f7f7f7f7f7f
	var lanes uint64
	for block := (*[tarBlock]byte)(b)[:]; len(block) >= 32; block = block[32:] {
		v, w := binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])
		x, y := binary.LittleEndian.Uint64(block[16:]), binary.LittleEndian.Uint64(block[24:])
		switch all := v | w | x | y; {
		case all == 0:
			continue
		case all&^ascii == 0:
			v, x = v+w, x+y
		default:
			lanes += w&even + w>>8&even + y&even + y>>8&even
		}
		lanes += v&even + v>>8&even + x&even + x>>8&even
	}
	return int64(lanes&0xffff + lanes>>16&0xffff + lanes>>32&0xffff + lanes>>48)
}

// tarNumber reads a numeric field that is not negative: octal text, or GNU's
// base 256.
func tarNumber(b []byte) (int64, bool) {
	if b[0]&0x80 == 0 {
		return tarOctal(b)
	}
	if b[0]&0x40 != 0 {
		return 0, false // negative
	}
	n := int64(b[0] & 0x3f)
	for _, c := range b[1:] {
		if n > maxTarSize>>8 {
			return 0, false
		}
		n = n<<8 | int64(c)
	}
	return n, true
}

// tarOctal reads digits that spaces or NULs may surround. Of several texts with
// NULs between them the first counts.
func tarOctal(b []byte) (n int64, ok bool) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == 0) {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == 0) {
		b = b[:len(b)-1]
	}
	for _, c := range b {
		switch {
		case c == 0:
			return n, true
		case c < '0' || c > '7':
			return 0, false
		}
		n = n<<3 | int64(c-'0')
	}
	return n, true
}

// first returns the beginning of an archive of which no header could be read.
func (w *tarWalker) first() []byte {
	if len(w.head) > 0 {
		return w.head
	}
	return w.block
}
