package backup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strconv"
)

// Sizes of the tar format (POSIX pax, IEEE Std 1003.1), and bounds of ours.
const (
	tarBlock    = 512
	maxName     = 4 << 10
	maxExtended = 64 << 10 // a PAX header holds a name and little else
)

// Errors that end a walk.
var (
	errNotTar       = errors.New("not a tar archive")
	errTarChecksum  = errors.New("a tar header's checksum is wrong")
	errTarField     = errors.New("a tar header holds no valid number")
	errTarTruncated = errors.New("the archive is cut short")
	errTarTrailing  = errors.New("there is data behind the end of the archive")
)

// tarHeader is what a walk tells of one entry. Name lies in the walk's memory
// and is valid until the next entry.
type tarHeader struct {
	name    []byte
	tooLong bool // the name is longer than maxName, and cut
	kind    byte // type flag; '0' for regular files of all ages
	size    int64
	written int64 // modification time, Unix seconds
}

// tarVisitor is told what a walk meets.
type tarVisitor interface {
	// enter is called for each entry and says whether its body is wanted.
	enter(*tarHeader) (wanted bool, err error)
	// body gets the wanted body of the entry that was entered last. It is
	// valid until body returns.
	body([]byte) error
}

// tarWalker is a push reader of tar: what is written to it is the archive. A
// body that is not wanted costs one subtraction; one that is wanted is gathered
// in memory.
type tarWalker struct {
	visitor tarVisitor
	block   []byte // header that came in pieces
	skip    int64  // bytes of body and padding to pass over
	need    int64  // bytes of a wanted body that are still to come
	pad     int64  // padding behind it
	got     []byte // wanted body so far
	special byte   // type of the extended header that got is filled with, or 0
	header  tarHeader
	short   []byte   // name from the header itself
	next    extended // what extended headers say of the next entry
	head    []byte   // first block, when it is no header
	zeros   int      // zero blocks at the end
	headers int
}

// extended is what PAX and GNU headers say of the entry behind them.
type extended struct {
	name    []byte
	size    int64
	hasName bool
	hasSize bool
	tooLong bool
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
			w.got = append(w.got, p[:k]...)
			p = p[k:]
			if w.need -= k; w.need == 0 {
				if err := w.complete(); err != nil {
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
	return n, nil
}

// end says whether the archive ended where it may.
func (w *tarWalker) end() error {
	if w.zeros >= 2 && len(w.block) > 0 {
		return errTarTrailing
	}
	if w.zeros < 2 || w.skip > 0 || w.need > 0 || len(w.block) > 0 {
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
	if err := checkTarHeader(b); err != nil {
		if w.headers == 0 {
			w.head = bytes.Clone(b)
			return errNotTar
		}
		return err
	}
	w.headers++
	size, ok := tarNumber(b[124:136])
	if !ok {
		return errTarField
	}
	written, _ := tarNumber(b[136:148]) // a time before 1970 counts as none
	kind := b[156]
	switch kind {
	case 'x', 'g', 'L', 'K':
		return w.extend(kind, size)
	case 0, '7':
		kind = '0'
	}
	if w.next.hasSize {
		size = w.next.size
	}
	switch kind {
	case '1', '2', '3', '4', '5', '6': // links, devices, directories, pipes: no body
		size = 0
	}
	w.header = tarHeader{name: w.name(b), tooLong: w.next.tooLong, kind: kind, size: size, written: written}
	w.next = extended{name: w.next.name[:0]}
	wanted, err := w.visitor.enter(&w.header)
	if err != nil {
		return err
	}
	pad := -size & (tarBlock - 1)
	if !wanted {
		w.skip = size + pad
		return nil
	}
	w.got, w.need, w.pad, w.special = w.got[:0], size, pad, 0
	if size == 0 {
		return w.complete()
	}
	return nil
}

// extend begins the body of an extended header.
func (w *tarWalker) extend(kind byte, size int64) error {
	pad := -size & (tarBlock - 1)
	if size > maxExtended {
		w.next.tooLong = w.next.tooLong || kind != 'K'
		w.skip = size + pad
		return nil
	}
	w.got, w.need, w.pad, w.special = w.got[:0], size, pad, kind
	if size == 0 {
		return w.complete()
	}
	return nil
}

// complete hands on a body that has been gathered.
func (w *tarWalker) complete() error {
	w.skip = w.pad
	special := w.special
	w.special = 0
	switch special {
	case 0:
		return w.visitor.body(w.got)
	case 'L':
		w.setName(bytes.TrimRight(w.got, "\x00"))
	case 'x':
		return w.pax()
	}
	return nil // 'K' names a link's target, 'g' sets defaults that no name or size may come from
}

func (w *tarWalker) setName(name []byte) {
	w.next.tooLong = len(name) > maxName
	w.next.name = append(w.next.name[:0], name[:min(len(name), maxName)]...)
	w.next.hasName = true
}

// pax reads the records of a PAX header: "<length> <key>=<value>\n".
func (w *tarWalker) pax() error {
	for rest := w.got; len(rest) > 0; {
		digits, _, ok := bytes.Cut(rest, []byte(" "))
		length, err := strconv.Atoi(string(digits))
		if !ok || err != nil || length <= len(digits)+1 || length > len(rest) || rest[length-1] != '\n' {
			return errTarField
		}
		record := rest[len(digits)+1 : length-1]
		rest = rest[length:]
		key, value, ok := bytes.Cut(record, []byte("="))
		if !ok {
			return errTarField
		}
		switch string(key) {
		case "path":
			w.setName(value)
		case "size":
			size, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil || size < 0 || size > maxTarSize {
				return errTarField
			}
			w.next.size, w.next.hasSize = size, true
		}
	}
	return nil
}

// maxTarSize keeps sums of size and padding from overflowing.
const maxTarSize = 1 << 62

// name is the entry's name: what an extended header says, else prefix and name.
func (w *tarWalker) name(b []byte) []byte {
	if w.next.hasName {
		return w.next.name
	}
	name := untilNUL(b[0:100])
	if string(b[257:263]) != "ustar\x00" || b[345] == 0 {
		w.short = append(w.short[:0], name...)
		return w.short
	}
	w.short = append(append(w.short[:0], untilNUL(b[345:500])...), '/')
	w.short = append(w.short, name...)
	return w.short
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
	want, ok := tarNumber(b[148:156])
	if !ok {
		return errTarChecksum
	}
	sum := blockSum(b)
	for _, c := range b[148:156] {
		sum += ' ' - int64(c)
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
// hold the sums of 128 bytes each without overflow.
func blockSum(b []byte) int64 {
	const even = 0x00ff00ff00ff00ff
	var lanes uint64
	for i := 0; i < tarBlock; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		lanes += w&even + w>>8&even
	}
	return int64(lanes&0xffff + lanes>>16&0xffff + lanes>>32&0xffff + lanes>>48)
}

// tarNumber reads a numeric field: octal text, or GNU's base 256.
func tarNumber(b []byte) (int64, bool) {
	if b[0]&0x80 != 0 {
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
	return octal(b)
}

// octal reads digits that spaces or NULs may surround.
func octal(b []byte) (n int64, ok bool) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == 0) {
		i++
	}
	for ; i < len(b) && '0' <= b[i] && b[i] <= '7'; i++ {
		n = n<<3 | int64(b[i]-'0')
	}
	for i < len(b) && (b[i] == ' ' || b[i] == 0) {
		i++
	}
	return n, i == len(b)
}

// first is the beginning of an archive of which no header could be read.
func (w *tarWalker) first() []byte {
	if len(w.head) > 0 {
		return w.head
	}
	return w.block
}
