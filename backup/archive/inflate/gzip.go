package inflate

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Flags of a member's header (RFC 1952, section 2.3.1).
const (
	flagChecksum = 1 << 1
	flagExtra    = 1 << 2
	flagName     = 1 << 3
	flagComment  = 1 << 4
	flagReserved = 7 << 5
)

// maxText bounds the name and the comment in a header, as compress/gzip does.
const maxText = 512

// Gunzip inflates a gzip file, of one member or more, into to. It reads from to its end,
// and writes pieces of up to 224 KiB, which are valid until Write returns.
//
// The errors are those of compress/gzip: [gzip.ErrHeader] for what is no gzip file, or
// data behind the last member; [gzip.ErrChecksum]; [io.ErrUnexpectedEOF] for a file that is
// cut short; a [flate.CorruptInputError] for what can't be inflated; else what from and to
// returned. What could be inflated has been written by then.
func Gunzip(to io.Writer, from io.Reader) error {
	d := &decoder{from: from, to: to, in: make([]byte, 0, inSize), out: make([]byte, outSize)}
	for first := true; ; first = false {
		if d.more(1); !first && d.pos == len(d.in) && d.err == io.EOF {
			return nil
		}
		if err := d.header(); err != nil {
			return err
		}
		if err := d.member(); err != nil {
			return err
		}
		trailer, err := d.bytes(8)
		if err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(trailer) != d.crc || binary.LittleEndian.Uint32(trailer[4:]) != d.size {
			return gzip.ErrChecksum
		}
	}
}

// bytes takes n bytes, fewer than inSize. They are valid until the next call.
func (d *decoder) bytes(n int) ([]byte, error) {
	if d.more(n); len(d.in)-d.pos < n {
		return nil, d.ended()
	}
	d.pos += n
	return d.in[d.pos-n : d.pos], nil
}

// header reads the header of a member.
func (d *decoder) header() error {
	sum := uint32(0)
	take := func(n int) ([]byte, error) {
		b, err := d.bytes(n)
		sum = crc32.Update(sum, crc32.IEEETable, b)
		return b, err
	}
	b, err := take(10)
	if err != nil {
		return err
	}
	flags := b[3]
	if b[0] != 0x1f || b[1] != 0x8b || b[2] != 8 {
		return gzip.ErrHeader
	}
	if flags&flagExtra != 0 {
		if b, err = take(2); err != nil {
			return err
		}
		for left := int(binary.LittleEndian.Uint16(b)); left > 0; left -= len(b) {
			if b, err = take(min(left, 4<<10)); err != nil {
				return err
			}
		}
	}
	for _, text := range []byte{flagName, flagComment} {
		if flags&text == 0 {
			continue
		}
		d.more(maxText)
		rest := d.in[d.pos:min(d.pos+maxText, len(d.in))]
		n := bytes.IndexByte(rest, 0)
		if n < 0 && len(rest) == maxText {
			return gzip.ErrHeader
		}
		if n < 0 {
			return d.ended()
		}
		_, _ = take(n + 1)
	}
	if flags&flagChecksum != 0 {
		want := uint16(sum)
		if b, err = take(2); err != nil {
			return err
		}
		if binary.LittleEndian.Uint16(b) != want {
			return gzip.ErrHeader
		}
	}
	if flags&flagReserved != 0 {
		return gzip.ErrHeader
	}
	return nil
}
