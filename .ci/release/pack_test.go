package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"testing"
	"time"
)

var (
	when  = time.Unix(1795000000, 0).UTC()
	files = []file{
		{"x/LICENSE", []byte("free"), 0o644},
		{"x/drift-detector", bytes.Repeat([]byte("program "), 1000), 0o755},
	}
)

func TestTarred(t *testing.T) {
	content, err := tarred(files, when)
	if err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if zr.Name != "" || !zr.ModTime.IsZero() {
		t.Errorf("gzip header holds %q and %v", zr.Name, zr.ModTime)
	}
	var got []file
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(when) || h.Uid != 0 || h.Gid != 0 || h.Uname != "" {
			t.Errorf("%s: time %v, owner %d:%d %q", h.Name, h.ModTime, h.Uid, h.Gid, h.Uname)
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, file{h.Name, body, h.FileInfo().Mode()})
	}
	compare(t, got)
}

func TestZipped(t *testing.T) {
	content, err := zipped(files, when)
	if err != nil {
		t.Fatal(err)
	}
	zr, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var got []file
	for _, f := range zr.File {
		if !f.Modified.Equal(when) {
			t.Errorf("%s: time %v", f.Name, f.Modified)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, file{f.Name, body, f.Mode()})
	}
	compare(t, got)
}

func compare(t *testing.T, got []file) {
	t.Helper()
	same := slices.EqualFunc(got, files, func(a, b file) bool {
		return a.name == b.name && a.mode == b.mode && bytes.Equal(a.content, b.content)
	})
	if !same {
		t.Errorf("the archive holds %d files that differ from the %d packed", len(got), len(files))
	}
}
