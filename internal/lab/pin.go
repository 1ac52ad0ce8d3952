package lab

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// fingerprint is a SHA-256 as objects of the lab pin it.
var fingerprint = regexp.MustCompile(`(?:[0-9A-F]{2}:){31}[0-9A-F]{2}`)

// WritePinned writes a copy of a backup of the lab into dir, under its name, in which the
// objects pin the simulator's certificate: they pin that of the vCenter that was saved,
// whose key nobody has.
func (v *VCenter) WritePinned(backup, dir string) (string, error) {
	plain, err := plainOf(backup)
	if err != nil {
		return "", fmt.Errorf("pinning the lab's certificate: %w", err)
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	_, _ = z.Write(fingerprint.ReplaceAllLiteral(plain, []byte(v.Thumbprint)))
	_ = z.Close() // memory takes all
	file := filepath.Join(dir, filepath.Base(backup))
	if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
		return "", fmt.Errorf("pinning the lab's certificate: %w", err)
	}
	return file, nil
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
