package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// temporaries are the files of a run that have no name of their own yet. A command removes
// its own; a run that is interrupted while its command computes removes them for it.
type temporaries struct {
	mu     sync.Mutex
	paths  map[string]bool
	placed []string // names that were given, in order
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
	t.note(f.Name())
	return f, nil
}

func (t *temporaries) note(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.paths == nil {
		t.paths = map[string]bool{}
	}
	t.paths[path] = true
}

// place gives one of the files its name, unless the run is over.
func (t *temporaries) place(path, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return fmt.Errorf("the run is over")
	}
	delete(t.paths, path)
	if err := os.Rename(path, name); err != nil {
		return err
	}
	t.placed = append(t.placed, name)
	return nil
}

// written are the files that have their names.
func (t *temporaries) written() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.placed[:len(t.placed):len(t.placed)]
}

func (t *temporaries) remove(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.paths, path)
	os.Remove(path)
}

// end removes all of them.
func (t *temporaries) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for path := range t.paths {
		os.Remove(path)
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
