package inflate

import (
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Sizes of buffers. A distance reaches back over window bytes.
const (
	window  = 32 << 10
	outSize = window + 224<<10
	inSize  = 64 << 10
)

// Room that one turn of the fast loop needs: two refills of eight bytes, and two literals
// with the longest match behind them.
const (
	inMargin  = 2 * 8
	outMargin = 2 + 258
)

// decoder inflates one member of a gzip file.
type decoder struct {
	from io.Reader
	to   io.Writer

	in   []byte // what was read and is not consumed begins at pos
	pos  int
	read int64 // bytes that were read before in
	err  error // of from, met behind in

	bits  uint64 // read ahead of pos, the next bit lowest
	count uint   // how many of them there are

	out     []byte
	at      int // where the next byte goes
	written int // out before it was handed on
	crc     uint32
	size    uint32 // bytes before written, modulo 2^32

	// The longest tables that codes of 15 bits for 288 and 32 symbols can need have 4352
	// and 1536 entries.
	literals  [8192]entry
	distances [2048]entry
	usesFixed bool // they are those that blocks need not have
}

// corrupt returns the error for what no compressor writes, in the words of compress/flate.
func (d *decoder) corrupt() error {
	if d.overrun() {
		return d.ended()
	}
	return flate.CorruptInputError(d.read + int64(d.pos) - int64(d.count/8))
}

// more reads until n bytes are buffered behind pos, or the input ends.
func (d *decoder) more(n int) {
	if len(d.in)-d.pos >= n || d.err != nil {
		return
	}
	// Bits that were read ahead are given back as bytes, so the last eight stay.
	from := max(0, d.pos-8)
	d.read += int64(from)
	d.in = d.in[:copy(d.in[:cap(d.in)], d.in[from:])]
	d.pos -= from
	for empty := 0; len(d.in)-d.pos < n && d.err == nil; {
		k, err := d.from.Read(d.in[len(d.in):cap(d.in)])
		d.in, d.err = d.in[:len(d.in)+k], err
		if empty++; k > 0 {
			empty = 0
		} else if empty == 100 && err == nil {
			d.err = io.ErrNoProgress
		}
	}
}

// ended returns the error for an input that ends too early.
func (d *decoder) ended() error {
	if d.err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return d.err
}

// refill reads bits ahead, at least 48 of them. Behind the end of the input there are
// zeros, see overrun.
func (d *decoder) refill() {
	d.more(8)
	for d.count <= 48 {
		if d.pos < len(d.in) {
			d.bits |= uint64(d.in[d.pos]) << d.count
		}
		d.pos++
		d.count += 8
	}
}

// overrun reports whether bits behind the end of the input were taken.
func (d *decoder) overrun() bool { return d.pos-int(d.count/8) > len(d.in) }

// take takes n bits, at most 16 since the last refill has 48.
func (d *decoder) take(n uint) uint32 {
	v := uint32(d.bits & (1<<n - 1))
	d.bits >>= n
	d.count -= n
	return v
}

// align drops the bits up to the next byte, and gives back those read ahead.
func (d *decoder) align() error {
	if d.overrun() {
		return d.ended()
	}
	d.pos -= int(d.count / 8)
	d.bits, d.count = 0, 0
	return nil
}

// flush hands on what was inflated, and makes room for more when little is left.
func (d *decoder) flush() error {
	fresh := d.out[d.written:d.at]
	d.written = d.at // also where that fails: what is written twice would be garbage
	if len(fresh) > 0 {
		if n, err := d.to.Write(fresh); err != nil {
			return err
		} else if n != len(fresh) {
			return io.ErrShortWrite
		}
	}
	d.crc = crc32.Update(d.crc, crc32.IEEETable, fresh)
	d.size += uint32(len(fresh))
	if gone := d.at - window; gone > 0 {
		copy(d.out, d.out[gone:d.at])
		d.at = window
	}
	d.written = d.at
	return nil
}

// blocks inflates all of the member. What was inflated before an error is handed on.
func (d *decoder) blocks() error {
	for {
		d.refill()
		last, kind := d.take(1) == 1, d.take(2)
		var err error
		switch kind {
		case 0:
			err = d.stored()
		case 1:
			d.fixed()
			err = d.compressed()
		case 2:
			if err = d.dynamic(); err == nil {
				err = d.compressed()
			}
		default:
			err = d.corrupt()
		}
		if err != nil || last {
			if flushed := d.flush(); flushed != nil {
				return flushed
			}
			if err != nil {
				return err
			}
			return d.align()
		}
	}
}

// stored copies a block that is not compressed.
func (d *decoder) stored() error {
	if err := d.align(); err != nil {
		return err
	}
	d.more(4)
	if len(d.in)-d.pos < 4 {
		return d.ended()
	}
	n, check := binary.LittleEndian.Uint16(d.in[d.pos:]), binary.LittleEndian.Uint16(d.in[d.pos+2:])
	d.pos += 4
	if n != ^check {
		return d.corrupt()
	}
	for left := int(n); left > 0; {
		if len(d.out)-d.at <= outMargin {
			if err := d.flush(); err != nil {
				return err
			}
		}
		d.more(1)
		if d.pos == len(d.in) {
			return d.ended()
		}
		k := copy(d.out[d.at:min(d.at+left, len(d.out)-outMargin)], d.in[d.pos:])
		d.at, d.pos, left = d.at+k, d.pos+k, left-k
	}
	return nil
}

// compressed decodes the symbols of a block: as many as there is room for in the fast
// loop, and near the ends of the buffers one at a time.
func (d *decoder) compressed() error {
	for {
		if len(d.out)-d.at <= outMargin {
			if err := d.flush(); err != nil {
				return err
			}
		}
		d.more(2 * inMargin)
		end, err := d.fast()
		if !end && err == nil {
			end, err = d.slow()
		}
		if end || err != nil {
			return err
		}
	}
}

// slow decodes one symbol, and reports whether it ends the block. There is room for the
// longest match.
func (d *decoder) slow() (end bool, err error) {
	if len(d.out)-d.at <= outMargin {
		return false, nil
	}
	d.refill()
	e := d.symbol(d.literals[:], literalBits)
	switch {
	case e&literal != 0:
		if d.overrun() {
			return false, d.ended()
		}
		d.out[d.at] = byte(e >> 16)
		d.at++
		return false, nil
	case e&special != 0:
		if e&endOfBlock == 0 || d.overrun() {
			return false, d.corrupt()
		}
		return true, nil
	}
	length := int(e>>16) + int(d.take(uint(e&63)-uint(e>>8&31)))
	d.refill()
	e = d.symbol(d.distances[:], distanceBits)
	if e&special != 0 {
		return false, d.corrupt()
	}
	distance := int(e>>16) + int(d.take(uint(e&63)-uint(e>>8&31)))
	if d.overrun() || distance > d.at {
		return false, d.corrupt()
	}
	for range length {
		d.out[d.at] = d.out[d.at-distance]
		d.at++
	}
	return false, nil
}

// symbol takes the code of a symbol, without its extra bits.
func (d *decoder) symbol(t []entry, bits uint) entry {
	e := t[d.bits&(1<<bits-1)]
	if e&(special|link) == special|link {
		d.take(bits)
		e = t[uint64(e>>16)+d.bits&(1<<(e>>8&31)-1)]
	}
	d.take(uint(e >> 8 & 31))
	return e
}

// fast decodes symbols while there is room, and reports whether the block ended.
func (d *decoder) fast() (end bool, err error) {
	in, out, literals, distances := d.in, d.out, &d.literals, &d.distances
	bits, count, pos, at := d.bits, d.count, d.pos, d.at
	lastIn, lastOut := len(in)-inMargin, len(out)-outMargin
	for pos <= lastIn && at < lastOut {
		bits |= binary.LittleEndian.Uint64(in[pos:]) << (count & 63)
		pos += int((63 - count) >> 3)
		count |= 56
		e := literals[bits&(1<<literalBits-1)]
		if e&literal != 0 {
			out[at] = byte(e >> 16)
			at++
			bits >>= e & 63
			count -= uint(e & 63)
			if e = literals[bits&(1<<literalBits-1)]; e&literal != 0 {
				out[at] = byte(e >> 16)
				at++
				bits >>= e & 63
				count -= uint(e & 63)
				if e = literals[bits&(1<<literalBits-1)]; e&literal != 0 {
					out[at] = byte(e >> 16)
					at++
					bits >>= e & 63
					count -= uint(e & 63)
					continue
				}
			}
		}
		if e&special != 0 {
			if e&link != 0 {
				bits >>= literalBits
				count -= literalBits
				e = literals[(uint64(e>>16)+bits&(1<<(e>>8&31)-1))%uint64(len(literals))]
			}
			if e&(special|literal) != 0 {
				bits >>= e >> 8 & 31
				count -= uint(e >> 8 & 31)
				if e&literal != 0 {
					out[at] = byte(e >> 16)
					at++
					continue
				}
				if end = e&endOfBlock != 0; !end {
					err = errInvalid
				}
				break
			}
		}
		length := int(e>>16) + int(bits&(1<<(e&63)-1)>>(e>>8&31))
		bits >>= e & 63
		count -= uint(e & 63)

		bits |= binary.LittleEndian.Uint64(in[pos:]) << (count & 63)
		pos += int((63 - count) >> 3)
		count |= 56
		e = distances[bits&(1<<distanceBits-1)]
		if e&special != 0 {
			if e&link != 0 {
				bits >>= distanceBits
				count -= distanceBits
				e = distances[(uint64(e>>16)+bits&(1<<(e>>8&31)-1))%uint64(len(distances))]
			}
			if e&special != 0 {
				err = errInvalid
				break
			}
		}
		distance := int(e>>16) + int(bits&(1<<(e&63)-1)>>(e>>8&31))
		bits >>= e & 63
		count -= uint(e & 63)
		from := at - distance
		if from < 0 {
			err = errInvalid
			break
		}
		to := at + length
		if distance >= length {
			copy(out[at:to], out[from:from+length])
			at = to
			continue
		}
		for at < to { // it repeats itself, twice as much each time
			at += copy(out[at:to], out[from:at])
		}
	}
	d.bits, d.count, d.pos, d.at = bits, count, pos, at
	if err != nil {
		err = d.corrupt()
	}
	return end, err
}
