package lab

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
)

// unread are the kinds of objects that take two thirds of the files of a saved
// vCenter and that nothing here asks for: the tasks that it once ran, and its
// performance counters. The simulator makes empty managers of its own for them.
var unread = regexp.MustCompile(`^[0-9]+-(Task|TaskManager|PerformanceManager)-`)

// unpack extracts a tar.gz of one folder into dir, except for what is unread, and
// returns that folder. It is for the lab's own archives, and still refuses names
// that leave dir.
func unpack(archive, dir string) (string, error) {
	folder := ""
	err := eachEntry(archive, func(h *tar.Header, body io.Reader) error {
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("entry %q leaves the folder", h.Name)
		}
		if unread.MatchString(path.Base(h.Name)) {
			return nil
		}
		target := filepath.Join(dir, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			return os.MkdirAll(target, 0o700)
		case tar.TypeReg:
		default:
			return fmt.Errorf("entry %q is neither file nor folder", h.Name)
		}
		if filepath.Ext(target) == ".xml" && folder == "" {
			folder = filepath.Dir(target)
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		content, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o600)
	})
	if err == nil && folder == "" {
		err = errors.New("it holds no objects of a vCenter")
	}
	// The first file may lie in a folder of one object's method results; the
	// objects themselves lie directly in the archive's only top folder.
	if rel, relErr := filepath.Rel(dir, folder); err == nil && relErr == nil {
		for filepath.Dir(rel) != "." {
			rel = filepath.Dir(rel)
		}
		folder = filepath.Join(dir, rel)
	}
	return folder, err
}

// eachEntry walks a tar.gz.
func eachEntry(archive string, visit func(*tar.Header, io.Reader) error) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(h, tr); err != nil {
			return err
		}
	}
}
