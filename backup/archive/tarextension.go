package archive

import (
	"archive/tar"
	"bytes"
	"strconv"
	"strings"
)

// tarExtension gathers the headers of one entry that are not as Velero writes
// most of them: extended ones of PAX and GNU, and whatever the walker does not
// read itself. archive/tar then says what they mean.
type tarExtension struct {
	chain []byte // blocks, byte for byte as the archive has them
	odd   string // what Velero never writes
	seen  string // type flags of the extended headers
}

func (e *tarExtension) empty() bool { return len(e.chain) == 0 }

// add notes the first thing that is odd.
func (e *tarExtension) add(odd string) {
	if e.odd == "" {
		e.odd = odd
	}
}

// header takes the block that begins an extended header.
func (e *tarExtension) header(block []byte, kind byte) error {
	if len(e.chain) > maxHeaders {
		return errTarHeaders
	}
	switch {
	case kind == 'g':
		e.add("a global PAX header")
	case strings.IndexByte(e.seen, kind) >= 0:
		e.add("two extended headers of one type")
	case kind == 'x' && e.seen != "", strings.IndexByte(e.seen, 'x') >= 0:
		e.add("extended headers of both PAX and GNU")
	}
	e.seen += string(kind)
	e.chain = append(e.chain, block...)
	return nil
}

// content takes the body of an extended header.
func (e *tarExtension) content(body []byte, kind byte) error {
	e.chain = append(e.chain, body...)
	e.chain = append(e.chain, make([]byte, padding(int64(len(body))))...)
	if kind == 'x' || kind == 'g' {
		return e.records(body)
	}
	if name := untilNUL(body); len(bytes.TrimRight(body, "\x00")) > len(name) || len(name) == 0 {
		e.add("a GNU name that is empty or goes on behind its end")
	}
	return nil
}

// records looks through the records of a PAX header: "<length> <key>=<value>\n".
// Whether they are valid is for archive/tar to say.
func (e *tarExtension) records(body []byte) error {
	if len(body) == 0 {
		e.add("a PAX header without records")
	}
	seen := map[string]bool{}
	for len(body) > 0 {
		digits, _, _ := bytes.Cut(body, []byte(" "))
		length, err := strconv.Atoi(string(digits))
		if err != nil || length <= len(digits) || length > len(body) {
			return errTarField
		}
		key, value, _ := bytes.Cut(bytes.TrimSuffix(body[len(digits)+1:length], []byte("\n")), []byte("="))
		body = body[length:]
		switch {
		case bytes.HasPrefix(key, []byte("GNU.sparse.")):
			return errTarSparse
		case seen[string(key)]:
			e.add("a PAX header that says one thing twice")
		case len(value) == 0:
			e.add("a PAX header with an empty value")
		}
		seen[string(key)] = true
	}
	return nil
}

// entry ends the headers of an entry with its own block, nil after a global
// header, and reads them.
func (e *tarExtension) entry(block []byte, h *tarHeader) error {
	if block != nil && block[156] == tar.TypeGNUSparse {
		return errTarSparse
	}
	chain := bytes.NewReader(append(e.chain, block...))
	odd := e.odd
	long := strings.ContainsAny(e.seen, "xL")
	*e = tarExtension{chain: e.chain[:0]}
	read, err := tar.NewReader(chain).Next()
	if err != nil || chain.Len() >= tarBlock { // less is padding behind a global header
		return errTarField
	}
	if odd == "" && block != nil && !long && string(block[257:263]) == "ustar " && read.Name != string(untilNUL(block[:100])) {
		odd = "a prefix of the name where GNU's format has none"
	}
	*h = tarHeader{name: []byte(read.Name), kind: read.Typeflag, size: read.Size, written: read.ModTime.Unix(), odd: odd}
	switch h.kind {
	case tar.TypeLink, tar.TypeSymlink, tar.TypeChar, tar.TypeBlock, tar.TypeDir, tar.TypeFifo:
		h.size = 0 // no body follows, whatever the header says
	}
	return nil
}
