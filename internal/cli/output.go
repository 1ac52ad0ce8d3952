package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Output is a file that appears whole or not at all, readable by its owner
// only, except [Output.share]. It is created before anything is contacted, so that a path that can't
// be written costs nothing.
type Output struct {
	*bufio.Writer
	Path   string   // where it belongs; empty: stdout
	Format string   // of those of the command
	file   *os.File // the temporary file beside it, or what is written in place
	temp   bool
	made   *temporaries
}

// createOutput prepares path for writing; "-" is stdout. It refuses to replace
// one of the inputs. Something that exists and is no regular file, such as
// /dev/null or a pipe, is written in place.
func createOutput(path string, s *Streams, inputs ...string) (*Output, error) {
	if path == "-" {
		return &Output{Writer: bufio.NewWriter(inPlace{s.Stdout, "stdout", &s.made}), made: &s.made}, nil
	}
	if err := notAnInput(path, inputs); err != nil {
		return nil, err
	}
	// Through a symbolic link the file is replaced or made, not the link.
	target := path
	if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		target = resolved(path)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("--output %s is a folder; name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("writing the output: %w", err)
		}
		return &Output{Writer: bufio.NewWriter(inPlace{f, path, &s.made}), Path: path, file: f, made: &s.made}, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("writing the output: %w", err)
	}
	f, err := s.made.create(target)
	if err != nil {
		return nil, unwritable(path, filepath.Dir(target), err)
	}
	return &Output{Writer: bufio.NewWriter(f), Path: target, file: f, temp: true, made: &s.made}, nil
}

// unwritable says why nothing can be written into a folder, and what to do. The
// name of the temporary file in it does not matter to anybody.
func unwritable(path, folder string, err error) error {
	_, gone := os.Stat(folder)
	switch {
	case errors.Is(gone, fs.ErrNotExist):
		return fmt.Errorf("writing the output %s: there is no folder %s; create it, or choose another --output", path, folder)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("writing the output %s: no permission to write into folder %s; choose another --output", path, folder)
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("writing the output %s: folder %s cannot be written into: %w; choose another --output", path, folder, err)
}

func notAnInput(path string, inputs []string) error {
	have, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, in := range inputs {
		if other, err := os.Stat(in); in != "" && err == nil && os.SameFile(have, other) {
			return fmt.Errorf("--output %s is an input of this run; choose another file", path)
		}
	}
	return nil
}

// finish completes a file, so that nothing but its name is missing.
func (o *Output) finish() error {
	if o.file == nil {
		return nil
	}
	if err := o.Flush(); err != nil {
		return o.Failed(err)
	}
	if o.temp {
		if err := o.file.Sync(); err != nil {
			return o.Failed(err)
		}
	}
	if err := o.file.Close(); err != nil {
		return o.Failed(err)
	}
	return nil
}

// place gives a finished file its name.
func (o *Output) place() error {
	if o.temp {
		if err := o.made.place(o.file.Name(), o.Path); err != nil {
			if runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission) {
				err = fmt.Errorf("%w (another program may have it open)", err)
			}
			return o.Failed(err)
		}
	} else {
		o.made.whole(cmp.Or(o.Path, "stdout"))
	}
	o.file = nil
	return nil
}

// Failed returns the error about a file that could not be written, and says what is there now.
func (o *Output) Failed(err error) error {
	if o.Path == "" {
		return fmt.Errorf("writing to stdout: %w", err)
	}
	if !o.temp { // it is written in place
		return fmt.Errorf("writing the output %s: %w", o.Path, err)
	}
	return fmt.Errorf("writing the output %s: %w; what was there is untouched", o.Path, err)
}

// discard removes what commit has not put in its place.
func (o *Output) discard() {
	if o.file == nil {
		return
	}
	o.file.Close()
	if o.temp {
		o.made.remove(o.file.Name())
	}
}
