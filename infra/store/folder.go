package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"drift-detector/backup"
)

// Folder returns a copy of a bucket, or of a part of it, in a folder of this machine. The
// error is a [*backup.InputError].
func Folder(dir string) (*Place, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return nil, &backup.InputError{Name: dir, Problem: "a file, and no place of backups", Next: "give the folder above backups/"}
	}
	if err != nil {
		return nil, unreadable(dir, err)
	}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	// The folder itself may be backups/, or that of one backup.
	if filepath.Base(whole) == folder {
		return &Place{objects: files{whole: filepath.Dir(whole), shown: filepath.Join(dir, "..")}, path: folder}, nil
	}
	if above := filepath.Dir(whole); filepath.Base(above) == folder {
		return &Place{objects: files{whole: filepath.Dir(above), shown: filepath.Join(dir, "..", "..")}, path: folder + "/" + filepath.Base(whole)}, nil
	}
	return &Place{objects: files{whole: whole, shown: dir}}, nil
}

// files are objects in a folder. Links out of it are not followed.
type files struct{ whole, shown string }

func (f files) name(key string) string { return filepath.Join(f.shown, filepath.FromSlash(key)) }

func (f files) file(key string) string { return filepath.Join(f.whole, filepath.FromSlash(key)) }

func unreadable(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &backup.InputError{Name: name, Problem: "no such file or folder", Next: "check the path", Err: err}
	case errors.Is(err, fs.ErrPermission):
		return &backup.InputError{Name: name, Problem: "no permission to read it", Next: "run as a user who may read it", Err: err}
	}
	return &backup.InputError{Name: name, Problem: "can't be read", Next: "check the path", Err: err}
}

func (f files) each(ctx context.Context, prefix string, found func(object) error) error {
	at := strings.TrimSuffix(prefix, "/")
	err := fs.WalkDir(os.DirFS(f.whole), at, func(key string, e fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(f.name(key), err)
		}
		if !e.Type().IsRegular() || ctx.Err() != nil {
			return ctx.Err()
		}
		info, err := e.Info()
		if err != nil {
			return unreadable(f.name(key), err)
		}
		return found(object{key: key, size: info.Size(), modified: info.ModTime().UTC()})
	})
	return err
}

func (f files) folders(_ context.Context, prefix string) ([]string, error) {
	entries, err := os.ReadDir(f.file(prefix))
	if err != nil {
		return nil, unreadable(f.name(prefix), err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (f files) source(_ context.Context, key, _ string) backup.Source {
	return backup.Source{Name: f.name(key), Open: func() (io.ReadCloser, error) {
		r, err := os.Open(f.file(key))
		if err != nil {
			return nil, unreadable(f.name(key), err)
		}
		return r, nil
	}}
}

func (f files) small(_ context.Context, key string, limit int64) ([]byte, error) {
	if info, err := os.Stat(f.file(key)); err == nil && !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist // nobody waits for a pipe
	}
	r, err := os.Open(f.file(key))
	if err != nil {
		return nil, unreadable(f.name(key), err)
	}
	defer r.Close()
	return limited(r, f.name(key), limit)
}
