package windows

import (
	"bytes"
	"encoding/binary"
)

// forwarding returns a DLL for amd64 that holds no code: its one function is that of another DLL,
// named as DLL.FUNCTION. The 64-bit wine of Debian 12 lacks bcryptprimitives.dll, without which no
// program of Go starts (runtime/os_windows.go: loadOptionalSyscalls).
//
// The layout is that of Microsoft's "PE Format": headers, and one section with the export table.
func forwarding(dll, function, to string) []byte {
	const headers, at, align = 0x200, 0x1000, 0x1000 // the section in the file; in memory
	le := binary.LittleEndian
	put := func(b *bytes.Buffer, v ...any) {
		for _, one := range v {
			_ = binary.Write(b, le, one) // of numbers and bytes, into memory
		}
	}
	// The export directory has 40 bytes; an address, a name and an ordinal follow, then texts.
	const functions, names, ordinals, texts = at + 40, at + 44, at + 48, at + 50
	var section bytes.Buffer
	nameOf := uint32(texts)
	nameOfFunction := nameOf + uint32(len(dll)) + 1
	forwarder := nameOfFunction + uint32(len(function)) + 1
	put(&section, uint32(0), uint32(0), uint32(0), nameOf, uint32(1), uint32(1), uint32(1), uint32(functions), uint32(names), uint32(ordinals))
	put(&section, forwarder, nameOfFunction, uint16(0))
	section.WriteString(dll + "\x00" + function + "\x00" + to + "\x00")
	size := uint32(section.Len()) // an address within it is that of a forwarder

	var b bytes.Buffer
	put(&b, []byte("MZ"), make([]byte, 58), uint32(64), []byte("PE\x00\x00"))
	// COFF: amd64, one section, 240 bytes of optional header; an executable DLL.
	put(&b, uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(240), uint16(0x2022))
	// PE32+, version of the linker, sizes of code and data, no entry point.
	put(&b, uint16(0x20b), uint16(0), uint32(0), uint32(headers), uint32(0), uint32(0), uint32(at))
	put(&b, uint64(0x180000000), uint32(align), uint32(0x200), uint16(6), uint16(0), uint32(0), uint16(6), uint16(0), uint32(0))
	// Size in memory, of the headers, no sum; console, may be moved, no code that writes itself.
	put(&b, uint32(2*align), uint32(headers), uint32(0), uint16(3), uint16(0x140))
	put(&b, uint64(1<<20), uint64(1<<12), uint64(1<<20), uint64(1<<12), uint32(0), uint32(16))
	put(&b, uint32(at), size, make([]byte, 15*8)) // directories: the exports, and no other
	put(&b, []byte(".rdata\x00\x00"), size, uint32(at), uint32(headers), uint32(headers), uint32(0), uint32(0), uint32(0), uint32(0x40000040))
	put(&b, make([]byte, headers-b.Len()))
	b.Write(section.Bytes())
	put(&b, make([]byte, 2*headers-b.Len()))
	return b.Bytes()
}
