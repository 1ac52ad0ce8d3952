package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A report is its owner's alone to read, and is written whole or not at all; what is
// no regular file is written in place.
func TestOutputIsPrivateAndWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "report.json")
	if err := os.WriteFile(file, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	writeOutput := func(path string, stdout io.Writer, inputs []string, write func(io.Writer) error) error {
		return WriteOutputs([]Target{{path, "json"}}, &Streams{Stdout: stdout}, inputs, func(w io.Writer, _ *Output) error { return write(w) })
	}
	err := writeOutput(file, io.Discard, nil, func(w io.Writer) error {
		_, _ = w.Write(make([]byte, 1<<20)) // more than any buffer holds
		return broken
	})
	if data, _ := os.ReadFile(file); !errors.Is(err, broken) || string(data) != "before" {
		t.Errorf("error %v, and the file holds %d bytes", err, len(data))
	}
	if err := writeOutput(file, io.Discard, nil, func(w io.Writer) error { _, err := io.WriteString(w, "after"); return err }); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || string(data) != "after" {
		t.Errorf("it holds %q: %v", data, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v: %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files are left", len(left))
	}
	if err := writeOutput(file, io.Discard, []string{file}, func(io.Writer) error { return nil }); err == nil {
		t.Error("an input was replaced")
	}
	if err := writeOutput(os.DevNull, io.Discard, nil, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Errorf("%s: %v", os.DevNull, err)
	}
	both := []Target{{Path: filepath.Join(dir, "other.json"), Format: "json"}, {"-", "json"}}
	if err := WriteOutputs(both, &Streams{Stdout: full{}}, nil, func(w io.Writer, _ *Output) error { _, err := io.WriteString(w, "x"); return err }); err == nil {
		t.Error("stdout is full, and nobody says so")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("stdout is full, and %d files are left", len(left))
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced", os.DevNull)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
