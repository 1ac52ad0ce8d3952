package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// The bounds of the command releases, for 20,000 objects in 1,000 releases: CPU beyond that
// of inflating the backup twice, and peak memory.
const (
	releasesBound = 1000
	cpuBound      = 10 * time.Second
	memoryBound   = 256_000_000
)

// releases measures what compares Helm's releases, and says whether its bounds are held.
func (s settings) releases(n int, how string) (table, error) {
	dir := filepath.Join(s.files, fmt.Sprintf("%d-releases-%s", n, how))
	if err := s.make(dir, fmt.Sprintf("%d releases, %s", n, how), "releases", s.root, dir+".part", strconv.Itoa(n), how); err != nil {
		return table{}, err
	}
	backup := filepath.Join(dir, "data.tar.gz")
	self, err := os.Executable()
	if err != nil {
		return table{}, err
	}
	floor := &contestant{name: "gunzip", args: []string{self, "gunzip", backup}}
	program := &contestant{name: "releases", args: []string{s.program, "releases", "--backup", backup, "-o", folder + "/releases.json"}}
	t := table{title: fmt.Sprintf("%d Helm releases of 20 objects, %s", n, how), all: []*contestant{floor, program}}
	if err := rounds(s.rounds, t.all); err != nil {
		return t, err
	}
	beyond, memory := median(program, cpuOf)-2*median(floor, cpuOf), median(program, memoryOf)
	if n == releasesBound {
		word := "held"
		if beyond > cpuBound || memory > memoryBound {
			word = "broken"
		}
		t.notes = append(t.notes, fmt.Sprintf("Bounds %s: %.1f s of CPU beyond inflating twice, of %.0f s; %d MB, of %d MB.", word, beyond.Seconds(), cpuBound.Seconds(), memory/1e6, memoryBound/1_000_000))
	}
	return t, nil
}
