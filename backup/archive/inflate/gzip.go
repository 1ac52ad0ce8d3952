package inflate

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"

	"github.com/mholt/archiver/v3"
)

// plain begins a member whose header has ten bytes and nothing that is optional (RFC 1952,
// section 2.3.1), as Go's compress/gzip writes it for Velero.
const (
	plain       = "\x1f\x8b\x08\x00"
	plainHeader = 10
)

// Gunzip inflates a gzip file into to. It reads from to its end, and writes pieces of up to
// 224 KiB, which are valid until Write returns.
//
// The errors are those of compress/gzip: [gzip.ErrHeader] for what is no gzip file, or
// data behind the last member; [gzip.ErrChecksum]; [io.ErrUnexpectedEOF] for a file that is
// cut short, and [io.EOF] for an empty one; a [flate.CorruptInputError] for what can't be
// inflated; else what from and to returned. What could be inflated has been written by then.
func Gunzip(to io.Writer, from io.Reader) error {
	d := &decoder{from: from, to: to, in: make([]byte, 0, inSize), out: make([]byte, outSize)}
	if d.more(plainHeader); len(d.in) >= plainHeader && string(d.in[:len(plain)]) == plain {
		d.pos = plainHeader
		if err := d.member(); err != nil {
			return err
		}
		if d.more(1); d.pos == len(d.in) && d.err == io.EOF {
			return nil
		}
	}
	if d.err != nil && d.err != io.EOF {
		return d.err
	}
	rest := io.MultiReader(bytes.NewReader(d.in[d.pos:]), from)
	return (&archiver.Gz{SingleThreaded: true}).Decompress(rest, to)
}

// member inflates the blocks behind a header, and checks them against the trailer.
func (d *decoder) member() error {
	if err := d.blocks(); err != nil {
		return err
	}
	d.more(8)
	trailer := d.in[d.pos:]
	if len(trailer) < 8 {
		return d.ended()
	}
	if binary.LittleEndian.Uint32(trailer) != d.crc || binary.LittleEndian.Uint32(trailer[4:]) != d.size {
		return gzip.ErrChecksum
	}
	d.pos += 8
	return nil
}
