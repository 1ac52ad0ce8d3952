package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"drift-detector/internal/lab"
	"drift-detector/report"
)

// faultFamily is one kind of server, and the run whose calls to it are spoilt.
type faultFamily struct {
	name    string
	args    []string
	seat    func(w *world, ec2 *lab.EC2, s *saboteur)
	workers int
}

// Of AWS there is one at a time: its SDK takes the endpoint from the environment.
var faultFamilies = []faultFamily{
	{"vSphere", []string{"--namespace", "tenant-alpha", "--namespace", "tenant-beta", "--namespace", "tenant-gamma"}, func(w *world, _ *lab.EC2, s *saboteur) { w.vcenter.Front(s.seat("")) }, 4},
	{"Nodes", []string{"--namespace", "tenant-alpha", "--namespace", "tenant-beta", "--namespace", "tenant-gamma"}, func(w *world, _ *lab.EC2, s *saboteur) {
		w.nodes.Front(s.seat(""))
	}, 2},
	{"AWS", []string{"--namespace", "tenant-aws", "--skip-access-apiserver"}, func(_ *world, e *lab.EC2, s *saboteur) { e.Front(s.seat("")) }, 1},
}

// faultCell is one run: which calls of a kind are spoilt, and how.
type faultCell struct {
	call     string
	from, to int
	fault    wireFault
}

func (c faultCell) String() string {
	if c.to == math.MaxInt {
		return fmt.Sprintf("%s from the %d. on/%s", c.call, c.from, c.fault.name)
	}
	return fmt.Sprintf("the %d. %s/%s", c.from, c.call, c.fault.name)
}

// Whatever goes wrong on the wire, verdicts are those of a run in which nothing does, or
// Unknown in a run that says that it is incomplete (law 8). The cells are each call, the
// first, the last or all of them, times each fault. `make faults` runs all of them, a run
// of all tests a sample.
func TestFaultMatrix(t *testing.T) {
	asked := os.Getenv("FAULTS") // all, or the name of a family
	cells, good, whole := 0, 0, 0
	for _, f := range faultFamilies {
		if asked != "" && asked != "all" && asked != f.name {
			continue
		}
		worlds := make(chan *world, f.workers)
		for range f.workers {
			worlds <- fleet(t)
		}
		o := fleetEC2()
		o.PageSize = 3
		ec2 := serveEC2(t, o)
		run := func(s *saboteur) outcome {
			w := <-worlds
			defer func() { worlds <- w }()
			f.seat(w, ec2, s)
			return w.detect(append([]string{"--timeout", "4s"}, f.args...)...)
		}
		var none saboteur
		before := run(&none)
		before.demand(t, exitOK)
		todo := faultCells(none.counts)
		if asked == "" {
			todo = sampled(todo, 7)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		free := make(chan struct{}, f.workers)
		for _, c := range todo {
			free <- struct{}{}
			wg.Go(func() {
				defer func() { <-free }()
				after := run(&saboteur{call: c.call, from: c.from, to: c.to, fault: c.fault})
				wrong := misjudged(before.report, after)
				mu.Lock()
				defer mu.Unlock()
				cells++
				if after.code == exitOK {
					whole++
				}
				if len(wrong) == 0 {
					good++
					return
				}
				t.Errorf("%s, %s: exit status %d\n  %s\n%s", f.name, c, after.code, strings.Join(wrong, "\n  "), after.stderr)
			})
		}
		wg.Wait()
	}
	fmt.Printf("%d cells, %d as required (%d of them complete all the same)\n", cells, good, whole)
}

// faultCells are the cells of calls, by how often each is made without faults.
func faultCells(calls map[string]int) []faultCell {
	var cells []faultCell
	for _, call := range slices.Sorted(maps.Keys(calls)) {
		n := calls[call]
		for _, f := range wireFaults {
			cells = append(cells, faultCell{call, 1, 1, f}, faultCell{call, 1, math.MaxInt, f})
			if n > 1 {
				cells = append(cells, faultCell{call, n, n, f}, faultCell{call, n, math.MaxInt, f})
			}
		}
	}
	return cells
}

// sampled are about n of the cells, from all over, and none that waits for a time-out.
func sampled(cells []faultCell, n int) []faultCell {
	cells = slices.DeleteFunc(cells, func(c faultCell) bool {
		return c.fault.name == "hang" || c.to == math.MaxInt && c.fault.name != "short"
	})
	var some []faultCell
	for i := range n {
		some = append(some, cells[(2*i+1)*len(cells)/(2*n)])
	}
	return some
}

// misjudged says what a run with a fault must not say.
func misjudged(before *report.Report, after outcome) []string {
	var wrong []string
	if after.code != exitOK && after.code != exitIncomplete || after.report == nil {
		return []string{"it ended otherwise than complete or incomplete"}
	}
	was, is := placementsOf(before), placementsOf(after.report)
	for key, w := range was.machines {
		switch i := is.machines[key]; {
		case i.machine.Status == w.machine.Status && (i.machine.Reason == w.machine.Reason || after.code == exitIncomplete):
		case i.machine.Status == report.Unknown && after.code == exitIncomplete:
		default:
			wrong = append(wrong, fmt.Sprintf("machine %s was %s %s, is %s %s", key, w.machine.Status, w.machine.Reason, i.machine.Status, i.machine.Reason))
		}
	}
	for key, i := range is.machines {
		// A VM that was a Ghost may be one of its cluster's Unknowns now.
		if _, known := was.machines[key]; !known && (i.machine.Status != report.Unknown || after.code == exitOK) {
			wrong = append(wrong, "machine "+key+" is new, and "+string(i.machine.Status))
		}
	}
	ghosts, now := ghostIDs(before), ghostIDs(after.report)
	for _, id := range now {
		if !slices.Contains(ghosts, id) {
			wrong = append(wrong, "VM "+id+" became a Ghost")
		}
	}
	if after.code == exitOK && len(now) != len(ghosts) {
		wrong = append(wrong, fmt.Sprintf("Ghosts were %v, are %v", ghosts, now))
	}
	if complete := after.report.Summary.Complete; complete != (after.code == exitOK) {
		wrong = append(wrong, fmt.Sprintf("the report says complete: %v", complete))
	}
	if len(after.stderr) > 2048 {
		wrong = append(wrong, fmt.Sprintf("%d bytes on stderr", len(after.stderr)))
	}
	for line := range strings.Lines(after.stderr) {
		if !strings.HasPrefix(line, "drift-detector: ") {
			wrong = append(wrong, "a line on stderr is not the program's: "+line)
		}
	}
	return wrong
}

// ghostIDs are the Ghosts of a report by what stays when folders are not read.
func ghostIDs(r *report.Report) []string {
	var all []string
	for _, c := range r.Clusters {
		for _, m := range machinesOf(c) {
			if m.Status == report.Ghost {
				all = append(all, m.Instance.Ref+" "+m.Instance.ID)
			}
		}
	}
	return all
}
