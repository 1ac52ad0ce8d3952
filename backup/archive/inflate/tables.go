package inflate

import (
	"errors"
	"math/bits"
)

// entry is what a table says about the next bits. Its lowest six bits say how many there
// are with the extra bits of the symbol, the next five from bit 8 on how many without. From bit
// 16 on it has the literal, what the extra bits are added to, or where a second table
// begins whose index has as many bits as the code.
type entry uint32

const (
	literal    entry = 1 << 31
	special    entry = 1 << 15 // no code, or one of the next two
	link       entry = 1 << 14 // a second table
	endOfBlock entry = 1 << 13
)

// Bits of a code that the first table is indexed by.
const (
	literalBits  = 11
	distanceBits = 9
	maxCode      = 15
)

// errInvalid marks what no compressor writes.
var errInvalid = errors.New("invalid")

// What symbols mean, without the length of their codes (RFC 1951, section 3.2.5).
var (
	literalSymbols  = literalMeanings()
	distanceSymbols = distanceMeanings()
)

func literalMeanings() (out [288]entry) {
	for i := range 256 {
		out[i] = literal | entry(i)<<16
	}
	out[256] = special | endOfBlock
	base := entry(3)
	for i := range entry(29) {
		extra := entry(0)
		if i >= 8 && i < 28 {
			extra = i/4 - 1
		}
		if i == 28 {
			base = 258
		}
		out[257+i] = base<<16 | extra
		base += 1 << extra
	}
	out[286], out[287] = special, special
	return out
}

func distanceMeanings() (out [32]entry) {
	base := entry(1)
	for i := range entry(30) {
		extra := entry(0)
		if i >= 4 {
			extra = i/2 - 1
		}
		out[i] = base<<16 | extra
		base += 1 << extra
	}
	out[30], out[31] = special, special
	return out
}

// build fills a table from the lengths of the codes, and the meanings of their symbols.
// It reports false for lengths that make no whole code. None at all are allowed, and one of
// one bit, as zlib allows them.
func build(t []entry, first uint, lengths []uint8, meanings []entry) bool {
	var count, next [maxCode + 1]int
	for _, n := range lengths {
		count[n]++
	}
	code, longest := 0, uint(0)
	for n := uint(1); n <= maxCode; n++ {
		code <<= 1
		next[n] = code
		if code += count[n]; count[n] > 0 {
			longest = n
		}
		if code > 1<<n {
			return false
		}
	}
	code >>= maxCode - longest
	switch {
	case longest <= 1 && code <= 1: // the rest of the table stays without a code
		for i := range t[:1<<first] {
			t[i] = special
		}
	case code != 1<<longest:
		return false
	case longest > first:
		clear(t[:1<<first])
	}
	end := 1 << first // of the tables so far
	for symbol, length := range lengths {
		if length == 0 {
			continue
		}
		n := uint(length)
		place := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		table := t[:1<<first]
		if n > first {
			size := longest - first
			from := &table[place&(1<<first-1)]
			if *from == 0 {
				*from = special | link | entry(end)<<16 | entry(size)<<8
				end += 1 << size
			}
			table = t[*from>>16:][:1<<size]
			place, n = place>>first, n-first
		}
		e := meanings[symbol] + entry(n)*(1<<8|1)
		for ; place < len(table); place += 1 << n {
			table[place] = e
		}
	}
	return true
}

// lengthOrder is the order in which a block has the lengths of the codes for lengths.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// lengthSymbols are their own meanings.
var lengthSymbols = func() (out [19]entry) {
	for i := range out {
		out[i] = entry(i) << 16
	}
	return out
}()

const lengthBits = 7

// dynamic reads the codes of a block (RFC 1951, section 3.2.7).
func (d *decoder) dynamic() error {
	d.usesFixed = false
	d.refill()
	literals, distances, n := int(d.take(5))+257, int(d.take(5))+1, int(d.take(4))+4
	if literals > 286 || distances > 30 {
		return d.corrupt()
	}
	var lengths [286 + 30]uint8
	for _, symbol := range lengthOrder[:n] {
		d.refill()
		lengths[symbol] = uint8(d.take(3))
	}
	table := d.distances[:]
	if !build(table, lengthBits, lengths[:len(lengthOrder)], lengthSymbols[:]) {
		return d.corrupt()
	}
	clear(lengths[:len(lengthOrder)])
	all := lengths[:literals+distances]
	for i := 0; i < len(all); {
		d.refill()
		e := d.symbol(table, lengthBits)
		if e&special != 0 {
			return d.corrupt()
		}
		length, repeats := uint8(e>>16), 1
		switch {
		case length == 16 && i == 0:
			return d.corrupt()
		case length == 16:
			length, repeats = all[i-1], 3+int(d.take(2))
		case length == 17:
			length, repeats = 0, 3+int(d.take(3))
		case length == 18:
			length, repeats = 0, 11+int(d.take(7))
		}
		if i+repeats > len(all) {
			return d.corrupt()
		}
		for range repeats {
			all[i] = length
			i++
		}
	}
	if d.overrun() || !build(d.literals[:], literalBits, all[:literals], literalSymbols[:]) ||
		!build(d.distances[:], distanceBits, all[literals:], distanceSymbols[:]) {
		return d.corrupt()
	}
	return nil
}

// fixed takes the codes that a block need not have (RFC 1951, section 3.2.6).
func (d *decoder) fixed() {
	if d.usesFixed {
		return
	}
	d.usesFixed = true
	var lengths [288 + 32]uint8
	for i := range lengths {
		switch {
		case i < 144, 280 <= i && i < 288:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 5
		}
	}
	build(d.literals[:], literalBits, lengths[:288], literalSymbols[:])
	build(d.distances[:], distanceBits, lengths[288:], distanceSymbols[:])
}
