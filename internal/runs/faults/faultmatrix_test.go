package faults_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// faultFamily is one kind of server, and the run whose calls to it are spoilt. What the
// calls are, and what their answers consist of, the run without faults shows.
type faultFamily struct {
	name string
	args []string
	// seat puts the saboteur before the calls and the handshakes of the servers.
	seat func(w *runs.World, ec2 *lab.EC2, front lab.Front, greeting lab.Greeting)
	// fleet makes a world, nil is the lab's after its drift. EC2 is one for all worlds, nil
	// the lab's.
	fleet func(*testing.T) (*runs.World, *lab.EC2)
	// well says that it is safe to restore the fleet, which no fault may go on to say.
	well bool
	// byPlan means a restore by the plan: CAPZ's webhook refuses a part of every other.
	byPlan bool
	// prepare changes a world before it is served, nil nothing.
	prepare func(w *runs.World)
	workers int
	// byAuthority trusts the vCenter by who signed its certificate, not by its thumbprint,
	// and spoils handshakes alone.
	byAuthority bool
	// labels are kinds of parts that say in a part of their own what they are: its name.
	labels map[string]string
	// others are texts of answers that would be another one in another place: what it
	// is, the text, the other.
	others [][3]string
	// unseen are names of faults that leave an answer as a server may well give it: they
	// may cost evidence and what rests on it, but make nothing Healthy, Stale or Ghost.
	unseen *regexp.Regexp
	// undecided are names of faults that no client can see, and by which it could decide
	// nothing at all, with the reason. They are no cells.
	undecided map[string]string
}

// idle are the calls, and answers, without which no controller acts otherwise: nothing is asked
// after a logout, and neither a key pair nor an image that is given by its id is looked up for a
// server that runs (TestOpenStackServerGroupAndKeyPair). CAPZ reads no subscription, and who may
// not read that, or the list of power states, may read each group and each VM's state.
var idle = regexp.MustCompile("^(Logout|keystone DELETE|nova GET /v2.1/os-keypairs|glance GET /v2/images/{id} .*/404|Microsoft.Resources/subscriptions/read .*/403|states .*/403)")

// handshake is the call that a handshake counts as.
const handshake = "TLS"

// faultCell is one run: which calls of a kind are spoilt, and how.
type faultCell struct {
	call     string
	from, to int
	fault    runs.WireFault
	hand     runs.TLSFault
	brief    bool
	lacks    bool // the answer keeps its form
}

func (c faultCell) String() string {
	which := fmt.Sprintf("the %d. %s", c.from, c.call)
	if c.to == math.MaxInt {
		which = fmt.Sprintf("%s from the %d. on", c.call, c.from)
	}
	return which + "/" + c.fault.Name + c.hand.Name
}

// Whatever goes wrong on the wire or in an answer, verdicts are those of a run in which
// nothing does, or Unknown in a run that says that it is incomplete (law 8), and it is not
// safe to restore (law 9). The cells are each kind of call, all of them or the last, times
// each fault of the wire; handshakes times each of TLS; and each part of each answer, spoilt
// in each way that leaves the answer well-formed.
//
// What no client can see is no cell: a Ghost on a page of EC2 that is lost together with
// the way to it, where no instance of the backup is on it (EC2 counts nothing); a Node of
// a machine whose VM is gone, which the API server leaves out of one page. `make faults` runs all of them, a run of all tests a sample.
func TestFaultMatrix(t *testing.T) {
	asked, of, _ := strings.Cut(os.Getenv("FAULTS"), "/") // all, or the name of a family; then what cells' names hold
	cells, good, whole := 0, 0, 0
	spoilt := map[string]bool{}
	for _, f := range faultFamilies {
		if asked != "" && asked != "all" && asked != f.name {
			continue
		}
		run := f.runner(t)
		var none runs.Saboteur
		before := run(&none)
		before.Demand(t, cli.ExitOK)
		if is := f.answer(before.Report); f.well && is != code.Yes {
			t.Fatalf("%s: without faults the answer is %s: %+v", f.name, is, before.Report.Summary.Answer.Reasons)
		}
		todo := f.cells(&none)
		for _, c := range todo {
			_, call, service := strings.Cut(c.call, " ") // "nova GET /v2.1/os-keypairs"
			if spoilt[c.call] = true; service {
				spoilt[call] = true
			}
		}
		if of != "" {
			todo = slices.DeleteFunc(todo, func(c faultCell) bool { return !strings.Contains(c.String(), of) })
		}
		if asked == "" {
			todo = sampled(todo, 12)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		free := make(chan struct{}, f.workers)
		for _, c := range todo {
			free <- struct{}{}
			wg.Go(func() {
				defer func() { <-free }()
				s := &runs.Saboteur{Call: c.call, From: c.from, To: c.to, Fault: c.fault, Hand: c.hand, Brief: c.brief}
				began := time.Now()
				after := run(s)
				wrong := f.misjudged(before.Report, after, c)
				if took := time.Since(began); took > time.Minute {
					wrong = append(wrong, fmt.Sprintf("it took %s", took))
				}
				if calls := len(s.Counts) - 1; c.hand.Foreign && c.from == 1 && c.to == math.MaxInt && calls > 0 {
					wrong = append(wrong, fmt.Sprintf("it sent calls to a server that is not the one: %v", s.Counts))
				}
				mu.Lock()
				defer mu.Unlock()
				cells++
				if after.Code == cli.ExitOK {
					whole++
				}
				if len(wrong) == 0 {
					good++
					return
				}
				t.Errorf("%s, %s: exit status %d\n  %s\n%s", f.name, c, after.Code, strings.Join(wrong, "\n  "), after.Stderr)
			})
		}
		wg.Wait()
	}
	if asked == "" || asked == "all" {
		demandEach(t, spoilt)
	}
	fmt.Printf("%d cells, %d as required (%d of them complete all the same)\n", cells, good, whole)
}

// runner serves worlds for a family, and returns what runs detect in one of them.
func (f *faultFamily) runner(t *testing.T) func(*runs.Saboteur) runs.Outcome {
	worlds := make(chan *runs.World, f.workers)
	var ec2 *lab.EC2
	for range f.workers {
		w := (*runs.World)(nil)
		if f.fleet != nil {
			w, ec2 = f.fleet(t)
		} else {
			w = runs.Fleet(t)
		}
		if f.prepare != nil {
			f.prepare(w)
		}
		if f.byAuthority {
			w.TrustAuthority()
		}
		worlds <- w
	}
	if ec2 == nil {
		o := runs.FleetEC2()
		o.PageSize, o.Secure = 3, true
		ec2 = runs.ServeEC2(t, o)
	}
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, ec2.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CA_BUNDLE", bundle)
	return func(s *runs.Saboteur) runs.Outcome {
		w := <-worlds
		defer func() { worlds <- w }()
		f.seat(w, ec2, s.Seat(""), s.Greet(handshake))
		timeout := "4s"
		if s.Call == "" { // nothing fails, on a busy machine either
			timeout = "1m"
		} else if f.workers == 1 { // what is tried again until then is waited for, one run after the other
			timeout = "1500ms"
		}
		return w.Detect(append([]string{"--timeout", timeout}, f.args...)...)
	}
}

// answer returns what a report says of the restore that a family is about; "" where nothing.
func (f *faultFamily) answer(r *report.Report) code.Safe {
	switch s := r.Summary; {
	case f.byPlan && s.AnswerByPlan != nil:
		return s.AnswerByPlan.Safe
	case !f.byPlan && s.Answer != nil:
		return s.Answer.Safe
	}
	return ""
}

// cells returns the cells of calls, by what was seen of them without faults: each fault on all
// calls of a kind, and those of the wire on the last page alone, too. Other pages are
// like those.
func (f *faultFamily) cells(seen *runs.Saboteur) []faultCell {
	const all = math.MaxInt
	var cells []faultCell
	if !f.well {
		for _, h := range tlsFaults {
			cells = append(cells, faultCell{call: handshake, from: 1, to: 1, hand: h}, faultCell{call: handshake, from: 1, to: all, hand: h},
				faultCell{call: handshake, from: 2, to: all, hand: h, brief: true})
		}
	}
	if f.byAuthority {
		return cells
	}
	for _, call := range slices.Sorted(maps.Keys(seen.Answers)) {
		n := seen.Counts[call]
		for _, w := range runs.WireFaults {
			cells = append(cells, faultCell{call: call, from: 1, to: all, fault: w})
			if n > 1 && !f.well {
				cells = append(cells, faultCell{call: call, from: n, to: n, fault: w})
			}
		}
		for _, w := range lackingFaults(seen.Answers[call], f) {
			if f.undecided[w.Name] == "" && (!f.well || strings.HasSuffix(w.Name, " lacks")) {
				cells = append(cells, faultCell{call: call, from: 1, to: all, fault: w, lacks: true})
			}
		}
		if n > 1 {
			cells = append(cells, faultCell{call: call, from: 1, to: all, fault: again(), lacks: true})
		}
	}
	return cells
}

// sampled returns about n of the cells, from all over, and none that waits for a time-out.
func sampled(cells []faultCell, n int) []faultCell {
	cells = slices.DeleteFunc(cells, func(c faultCell) bool {
		return c.fault.Name == "hang" || c.fault.Name == "endless" || c.hand.Name == "silence" || !c.lacks && c.hand.Name == "" && c.to == math.MaxInt && c.fault.Name != "short"
	})
	var some []faultCell
	for i := range n {
		some = append(some, cells[(2*i+1)*len(cells)/(2*n)])
	}
	return some
}

// misjudged says what a run with a fault must not say.
func (f *faultFamily) misjudged(before *report.Report, after runs.Outcome, c faultCell) []string {
	var wrong []string
	exact := after.Code == cli.ExitOK // and so it must be as without faults
	exact = exact && (f.unseen == nil || !f.unseen.MatchString(c.fault.Name))
	if after.Code != cli.ExitOK && after.Code != cli.ExitIncomplete || after.Report == nil {
		return []string{"it ended otherwise than complete or incomplete"}
	}
	was, is := runs.PlacementsOf(before), runs.PlacementsOf(after.Report)
	for key, w := range was.Machines {
		switch i := is.Machines[key]; {
		case i.Machine.Status == w.Machine.Status && (i.Machine.Reason == w.Machine.Reason || !exact):
		case i.Machine.Status == code.Unknown && !exact:
		default:
			wrong = append(wrong, fmt.Sprintf("machine %s was %s %s, is %s %s", key, w.Machine.Status, w.Machine.Reason, i.Machine.Status, i.Machine.Reason))
		}
	}
	for key, i := range is.Machines {
		// A VM that was a Ghost may be one of its cluster's Unknowns now.
		if _, known := was.Machines[key]; !known && (i.Machine.Status != code.Unknown || exact) {
			wrong = append(wrong, "machine "+key+" is new, and "+string(i.Machine.Status))
		}
	}
	ghosts, now := ghostIDs(before), ghostIDs(after.Report)
	for _, id := range now {
		if !slices.Contains(ghosts, id) {
			wrong = append(wrong, "VM "+id+" became a Ghost")
		}
	}
	if exact && len(now) != len(ghosts) {
		wrong = append(wrong, fmt.Sprintf("Ghosts were %v, are %v", ghosts, now))
	}
	if complete := after.Report.Summary.Complete; complete != (after.Code == cli.ExitOK) {
		wrong = append(wrong, fmt.Sprintf("the report says complete: %v", complete))
	}
	changed := after.Code == cli.ExitIncomplete || before.Summary.Machines != after.Report.Summary.Machines
	safe := f.answer(after.Report) == code.Yes
	if changed && safe {
		wrong = append(wrong, "it is safe to restore")
	}
	if f.well && !c.lacks && c.from == 1 && c.to == math.MaxInt && c.call != handshake && !idle.MatchString(c.String()) && safe {
		wrong = append(wrong, "it is safe to restore without one answer to "+c.call)
	}
	if said := after.Stderr + string(after.JSON); strings.Contains(said, lab.EC2Secret) {
		wrong = append(wrong, "a secret shows")
	}
	if len(after.Stderr) > 2048 {
		wrong = append(wrong, fmt.Sprintf("%d bytes on stderr", len(after.Stderr)))
	}
	for line := range strings.Lines(after.Stderr) {
		if !strings.HasPrefix(line, "drift-detector: ") {
			wrong = append(wrong, "a line on stderr is not the program's: "+line)
		}
	}
	return wrong
}

// ghostIDs returns the Ghosts of a report by what stays when folders are not read.
func ghostIDs(r *report.Report) []string {
	var all []string
	for _, c := range r.Clusters {
		for _, m := range runs.MachinesOf(c) {
			if m.Status == code.Ghost {
				all = append(all, m.Instance.Ref+" "+m.Instance.ID)
			}
		}
	}
	return all
}
