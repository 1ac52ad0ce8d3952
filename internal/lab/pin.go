package lab

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/klauspost/compress/gzip"
)

// fingerprint is a SHA-256 as objects of the lab pin it.
var fingerprint = regexp.MustCompile(`^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$`)

// WritePinned writes a copy of a backup of the lab into dir, under its name, in which the
// objects pin the simulator's certificate: they pin that of the vCenter that was saved,
// whose key nobody has.
func (v *VCenter) WritePinned(backup, dir string) (string, error) {
	plain, err := plainOf(backup)
	if err != nil {
		return "", fmt.Errorf("pinning the lab's certificate: %w", err)
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.NoCompression) // the copy is read a few times
	pin(plain, v.Thumbprint)
	_, _ = z.Write(plain)
	_ = z.Close() // memory takes all
	file := filepath.Join(dir, filepath.Base(backup))
	if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
		return "", fmt.Errorf("pinning the lab's certificate: %w", err)
	}
	return file, nil
}

// pin has a text pin another certificate. The expression is asked only where colons are as far
// apart as in a fingerprint: nearly all tests pin a backup, and to ask it everywhere took a third of
// their time.
func pin(text []byte, thumbprint string) {
	for at := 2; at < len(text); at++ {
		next := bytes.IndexByte(text[at:], ':')
		if next < 0 {
			return
		}
		at += next
		end := at - 2 + len(thumbprint)
		if end <= len(text) && text[at+3] == ':' && text[at+6] == ':' && fingerprint.Match(text[at-2:end]) {
			copy(text[at-2:], thumbprint)
			at = end
		}
	}
}

func plainOf(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
