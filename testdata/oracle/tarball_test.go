package oracle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"drift-detector/backup"
)

// tarballs are the lab's backups.
var tarballs = []string{
	"../fleet-data.tar.gz",
	"../fleet-cluster-scoped-data.tar.gz",
	"../restore/restored-data.tar.gz",
}

// load reads one tarball with the product's loader and demands that nothing is
// wrong with it.
func load(t *testing.T, source backup.Source, want backup.Want) *backup.Snapshot {
	t.Helper()
	s, _, err := backup.Load(context.Background(), []backup.Source{source}, want)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Problems {
		t.Errorf("%s: %s: %s", source.Name, p.Item, p.Reason)
	}
	return s
}

// rewrite copies a tarball; edit gives each entry its new path and content.
func rewrite(t *testing.T, file string, edit func(path string, body []byte) (string, []byte)) backup.Source {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	tw := tar.NewWriter(zw)
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		h.Name, body = edit(h.Name, body)
		h.Size = int64(len(body))
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	return backup.Source{Name: file, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(out.Bytes())), nil
	}}
}
