package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// temporaries are the files of a run that have no name of their own yet. A command removes
// its own; a run that is interrupted while its command computes removes them for it.
type temporaries struct {
	mu     sync.Mutex
	files  map[string]*os.File
	placed []string // names that were given, in order, and what is whole without one
	begun  []string // what has no temporary file and was written in part: stdout, a pipe
	over   bool
}

// create makes a temporary file beside the file that it will become, mode 0600.
func (t *temporaries) create(target string) (*os.File, error) {
	folder, name := filepath.Split(target)
	sweep(filepath.Clean(folder), name, time.Now())
	f, err := os.CreateTemp(filepath.Clean(folder), "."+name+".drift-detector-*.tmp")
	if err != nil {
		return nil, err
	}
	hold(f)
	t.note(f)
	return f, nil
}

func (t *temporaries) note(f *os.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.files == nil {
		t.files = map[string]*os.File{}
	}
	t.files[f.Name()] = f
	if t.over { // the command is left behind, and nobody removes it later
		removeOpen(f)
	}
}

// removeOpen removes a file that is open, which Windows refuses.
func removeOpen(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// place gives one of the files its name, unless the run is over.
func (t *temporaries) place(path, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return fmt.Errorf("the run is over")
	}
	delete(t.files, path)
	if err := os.Rename(path, name); err != nil {
		return err
	}
	t.placed = append(t.placed, name)
	return nil
}

// inPlace is what is written without a temporary file: from the first byte on it is no
// more what it was.
type inPlace struct {
	io.Writer
	name string
	made *temporaries
}

// Write implements io.Writer.
func (w inPlace) Write(b []byte) (int, error) {
	w.made.begin(w.name)
	return w.Writer.Write(b)
}

func (t *temporaries) begin(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.begun, name) {
		t.begun = append(t.begun, name)
	}
}

// whole notes that what is written in place is complete.
func (t *temporaries) whole(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.begun, name); i >= 0 {
		t.begun, t.placed = slices.Delete(t.begun, i, i+1), append(t.placed, name)
	}
}

// fate says what an interrupted run has written.
func (t *temporaries) fate() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var parts []string
	if len(t.placed) > 0 {
		parts = append(parts, "written, and whole: "+strings.Join(t.placed, ", "))
	}
	if len(t.begun) > 0 {
		parts = append(parts, "cut off: "+strings.Join(t.begun, ", "))
	}
	if parts == nil {
		return "nothing was written"
	}
	return strings.Join(append(parts, "nothing else"), "; ")
}

// written returns the files that have their names, and what is whole without one.
func (t *temporaries) written() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.placed[:len(t.placed):len(t.placed)]
}

func (t *temporaries) remove(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.files, path)
	os.Remove(path)
}

// end removes all of them.
func (t *temporaries) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, f := range t.files {
		removeOpen(f)
	}
}

// leftAfter is how old a temporary file has to be to be taken for one that was left: much
// longer than a process needs between making and locking it.
const leftAfter = 10 * time.Minute

// sweep removes the temporary files that runs left beside a file when they were killed:
// those of this program and user for the same file that are old and that no process holds.
func sweep(folder, name string, now time.Time) {
	ours := regexp.MustCompile(`^\.` + regexp.QuoteMeta(name) + `\.drift-detector-[0-9]+\.tmp(\.shared)?$`)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !ours.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > leftAfter && isOwn(info) {
			removeUnheld(filepath.Join(folder, e.Name()))
		}
	}
}
