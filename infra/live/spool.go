package live

import (
	"archive/tar"
	"bytes"
	"cmp"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/flate"
)

// maxSpool is how many bytes the objects of one resource may take until all of them are read.
// They are compressed to a tenth: 100,000 Machines take 100 MB.
const maxSpool = 512 << 20

// spool keeps the objects of one resource until it is known that they are all: a list that
// breaks off, or is begun again, leaves nothing in the stream. Each part is entries of a tar
// archive, compressed.
type spool [][]byte

func (s spool) size() (n int) {
	for _, part := range s {
		n += len(part)
	}
	return n
}

// write writes the entries, and lets go of them.
func (s spool) write(to io.Writer) error {
	for i, part := range s {
		if s[i] = nil; len(part) == 0 {
			continue // of a page without objects
		}
		if _, err := io.Copy(to, flate.NewReader(bytes.NewReader(part))); err != nil {
			return err
		}
	}
	return nil
}

// packer makes the entries. The zero value is ready to use.
type packer struct {
	buf  bytes.Buffer
	comp *flate.Writer
	tar  *tar.Writer
}

// deflaters are used again: each has tables of more than a megabyte.
var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		panic(err) // of the level
	}
	return w
}}

// pack adds one entry as Velero writes it (pkg/backup/item_backupper.go v1.18.1).
func (p *packer) pack(path string, body []byte, at time.Time) error {
	if p.comp == nil {
		p.comp = deflaters.Get().(*flate.Writer)
		p.comp.Reset(&p.buf)
		p.tar = tar.NewWriter(p.comp)
	}
	if err := p.tar.WriteHeader(&tar.Header{Name: path, Mode: 0o755, Size: int64(len(body)), Typeflag: tar.TypeReg, ModTime: at}); err != nil {
		return err
	}
	_, err := p.tar.Write(body)
	return err
}

// flush returns what was packed.
func (p *packer) flush() []byte {
	if p.comp == nil {
		return nil
	}
	if err := cmp.Or(p.tar.Flush(), p.comp.Close()); err != nil {
		panic(err) // in memory, with all of each entry
	}
	return bytes.Clone(p.buf.Bytes())
}

// close gives the compressor back.
func (p *packer) close() {
	if p.comp != nil {
		deflaters.Put(p.comp)
		p.comp = nil
	}
}
