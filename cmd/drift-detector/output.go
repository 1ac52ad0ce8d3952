package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/term"

	"drift-detector/report/screen"
	"drift-detector/report/text"
)

// output is a file that appears whole or not at all, readable by its owner
// only, except [output.share]. It is created before anything is contacted, so that a path that can't
// be written costs nothing.
type output struct {
	*bufio.Writer
	path   string   // where it belongs; empty: stdout
	format string   // of those of the command
	file   *os.File // the temporary file beside it, or what is written in place
	temp   bool
	made   *temporaries
}

// createOutput prepares path for writing; "-" is stdout. It refuses to replace
// one of the inputs. Something that exists and is no regular file, such as
// /dev/null or a pipe, is written in place.
func createOutput(path string, s *streams, inputs ...string) (*output, error) {
	if path == "-" {
		return &output{Writer: bufio.NewWriter(inPlace{s.stdout, "stdout", &s.made}), made: &s.made}, nil
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
		return &output{Writer: bufio.NewWriter(inPlace{f, path, &s.made}), path: path, file: f, made: &s.made}, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("writing the output: %w", err)
	}
	f, err := s.made.create(target)
	if err != nil {
		return nil, unwritable(path, filepath.Dir(target), err)
	}
	return &output{Writer: bufio.NewWriter(f), path: target, file: f, temp: true, made: &s.made}, nil
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
func (o *output) finish() error {
	if o.file == nil {
		return nil
	}
	if err := o.Flush(); err != nil {
		return o.failed(err)
	}
	if o.temp {
		if err := o.file.Sync(); err != nil {
			return o.failed(err)
		}
	}
	if err := o.file.Close(); err != nil {
		return o.failed(err)
	}
	return nil
}

// place gives a finished file its name.
func (o *output) place() error {
	if o.temp {
		if err := o.made.place(o.file.Name(), o.path); err != nil {
			if runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission) {
				err = fmt.Errorf("%w (another program may have it open)", err)
			}
			return o.failed(err)
		}
	} else {
		o.made.whole(cmp.Or(o.path, "stdout"))
	}
	o.file = nil
	return nil
}

func (o *output) failed(err error) error {
	if o.path == "" {
		return fmt.Errorf("writing to stdout: %w", err)
	}
	if !o.temp { // it is written in place
		return fmt.Errorf("writing the output %s: %w", o.path, err)
	}
	return fmt.Errorf("writing the output %s: %w; what was there is untouched", o.path, err)
}

// discard removes what commit has not put in its place.
func (o *output) discard() {
	if o.file == nil {
		return
	}
	o.file.Close()
	if o.temp {
		o.made.remove(o.file.Name())
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// textOptions says how text is printed on stdout: in colour and as wide as it is on a
// terminal. NO_COLOR turns colour off, FORCE_COLOR and CLICOLOR_FORCE turn it on where
// there is no terminal; 0 is no force.
func textOptions(s *streams) text.Options {
	set := func(name string) bool { return s.getenv(name) != "" }
	forced := func(name string) bool { return set(name) && s.getenv(name) != "0" }
	o := text.Options{Width: 80, All: s.debug, Color: (forced("FORCE_COLOR") || forced("CLICOLOR_FORCE")) && !set("NO_COLOR")}
	if !isTerminal(s.stdout) {
		return o
	}
	o.Color = (o.Color || !set("NO_COLOR") && s.getenv("TERM") != "dumb" && s.getenv("FORCE_COLOR") != "0") && showsColor(s.stdout.(*os.File))
	if width, _, err := term.GetSize(int(s.stdout.(*os.File).Fd())); err == nil && width > 0 {
		o.Width = width
	}
	return o
}

// taller reports whether a text has more rows than the terminal of stdout, where only its end
// is seen then.
func taller(s *streams, write func(io.Writer) error) bool {
	_, height, err := term.GetSize(int(s.stdout.(*os.File).Fd()))
	var b bytes.Buffer
	return err == nil && write(&b) == nil && bytes.Count(b.Bytes(), []byte("\n")) >= height
}

// screenOptions returns those of the screen of a run that wrote these files.
func screenOptions(s *streams, written []target) screen.Options {
	t := textOptions(s)
	o := screen.Options{Color: t.Color, Width: t.Width}
	if isTerminal(s.stdout) {
		_, o.Height, _ = term.GetSize(int(s.stdout.(*os.File).Fd()))
	}
	o.Program, _ = pasteable(s.program)
	for _, w := range written {
		if w.format == "json" && w.path != "-" {
			o.Report, _ = pasteable(w.path)
			break
		}
	}
	return o
}
