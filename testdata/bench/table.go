package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// table is what one fleet or vCenter cost. The first contestant is the measure of the others.
type table struct {
	title string
	all   []*contestant
	notes []string
}

func (t table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| | CPU, ratio | CPU | peak memory | wall |", t.title)
	first := t.all[0]
	asked := median(first, callsOf) > 0
	if asked {
		b.WriteString(" calls |")
	}
	b.WriteString("\n|---|---|---|---|---|")
	if asked {
		b.WriteString("---|")
	}
	b.WriteString("\n")
	for _, c := range t.all {
		fmt.Fprintf(&b, "| %s | %.2f | %.2f s | %d MB | %.2f s |", c.name, median(c, cpuOf).Seconds()/median(first, cpuOf).Seconds(),
			median(c, cpuOf).Seconds(), median(c, memoryOf)/1e6, median(c, wallOf).Seconds())
		if asked {
			fmt.Fprintf(&b, " %d |", median(c, callsOf))
		}
		b.WriteString("\n")
	}
	for _, n := range t.notes {
		fmt.Fprintf(&b, "\n%s\n", n)
	}
	return b.String()
}

const introduction = `# Benchmarks

What whole runs cost, measured by ` + "`make bench`" + `, which writes this page. Each figure is
the median of %d runs of a process of its own; all contestants ran in turns. CPU is
user and system time. Only the ratios carry over to other machines.

This run: %s, %d cores, %s, drift-detector %s.

* **gunzip** inflates the backup and does nothing else, with the library that
  drift-detector has: the floor.
* **version** starts the program and ends: its memory, mostly pages of the binary, is part of
  that of each of its commands.
* **backup.Load** reads the backup as detect does, and decides nothing.
* **check** and **detect --inventory** are the program; detect writes the JSON report.
* **detect, GOGC=10** collects garbage as soon as it is a tenth of what is held: nearly all of
  its memory is in use, and the CPU is what that costs.
* **releases** compares Helm's releases with the objects of a backup, which is nothing but the
  lab's release over and over: nearly all of it drifted, or all in sync.
* **Velero** is its own extractor and parser, and decodes the objects of Cluster API.
* **tar + jq** unpacks all, and prints the ids of machines and VMs.
* **govc object.collect** asks a vCenter, the simulator in a process of its own, for the
  properties that drift-detector reads, and prints them as JSON, which is its fastest form.

Velero and tar unpack into memory (tmpfs) where the machine has such a folder; on a disk they
cost more. The fleets are the lab's tenant over and over, 2 clusters and 17 machines in a
namespace, under new ids, with 16 VMs for each and the Node lists: with names of their own,
or with the same names in each namespace. Every second machine is Stale or a Ghost, and no
cluster is halted: its objects pin the certificate that the vCenter of the lab shows.

`

// writePage writes docs/benchmarks.md.
func writePage(s settings, tables []table) error {
	var b bytes.Buffer
	version, err := exec.Command(s.program, "version").Output()
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, introduction, s.rounds, processor(), runtime.NumCPU(), runtime.Version(), strings.TrimPrefix(strings.SplitN(string(version), "\n", 2)[0], "drift-detector "))
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(t.String())
	}
	return os.WriteFile(filepath.Join(s.root, s.page), b.Bytes(), 0o644)
}

// processor returns the name of the machine's, where Linux says it.
func processor() string {
	data, _ := os.ReadFile("/proc/cpuinfo") // elsewhere there is none
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
