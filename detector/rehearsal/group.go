package rehearsal

import (
	"fmt"
	"strings"

	"drift-detector/report"
	"drift-detector/report/code"
)

// working are the outcomes after which a Machine has an instance that works.
var working = map[code.Outcome]bool{
	code.Adopted: true, code.AdoptedPoweredOn: true, code.AdoptedByName: true, code.ReplacedByMachineHealthCheck: true, code.NewInstanceCreated: true,
	code.RolledByOwner: true,
}

// running are the outcomes after which an instance runs for the Machine that does not
// work as its Node.
var running = map[code.Outcome]bool{code.NewInstanceNeverJoins: true, code.OtherInstanceTaken: true}

// replicas compares what an owner wants with what it will have.
func (s *set) replicas(machines []Machine) report.Replicas {
	r := report.Replicas{Recorded: s.recorded, Created: s.madeNow(), Deleted: s.deletedNow()}
	for i, m := range machines {
		f := s.members[i]
		if f.Machine != nil && (working[m.Outcome] || m.Outcome == code.UntouchedPaused && f.healthy()) {
			r.Working++
		}
		if f.Machine != nil && f.verdict.Status == code.Unknown && !stuck[m.Outcome] {
			r.Unknown++
		}
		if working[m.Outcome] || running[m.Outcome] || f.verdict.Instance != nil && f.verdict.Status != code.Stale {
			r.Running++
		}
	}
	if s.Pool != nil { // its members mostly have no Machines
		r.Running = max(r.Running, int(s.Pool.DesiredNow.N))
	}
	r.Running += r.Created - min(r.Deleted, r.Running)
	if s.removed == "" { // else each machine's outcome says it already
		r.Working -= min(r.Deleted, r.Working)
	}
	// The members of a pool are its own business, and mostly have no Machines.
	if s.Desired.Known && s.Kind != "MachinePool" {
		r.Surplus = max(0, r.Running-int(s.Desired.N))
		r.Missing = max(0, int(s.Desired.N)-r.Working-r.Created-r.Unknown)
	}
	return r
}

// rollout recognises that a generation was replaced by another: all Machines of
// a MachineSet are Stale, and there are about as many ghosts that belong to no
// MachineSet of the backup. Of a control plane, whose Machines
// have no generation in their names, all Machines are Stale.
func (s *set) rollout(machines []Machine) *report.Rollout {
	ghosts, stale, whole := 0, 0, 0
	bySet, gone := map[string]int{}, map[string]int{}
	for i := range s.members {
		f := s.members[i]
		switch {
		case s.newGeneration(f):
			ghosts++
		case f.Machine != nil:
			bySet[f.Machine.Set]++
			if f.stale() {
				stale++
				gone[f.Machine.Set]++
			}
		}
	}
	for name, n := range gone {
		if n == bySet[name] {
			whole += n
		}
	}
	if ghosts == 0 || whole == 0 || 4*abs(whole-ghosts) > max(4, whole) {
		return nil
	}
	if s.Kind != "MachineDeployment" && (stale != s.recorded || s.recorded < 2) {
		return nil
	}
	for i := range s.members {
		f := s.members[i]
		machines[i].RolledOut = s.newGeneration(f) || f.Machine != nil && gone[f.Machine.Set] == bySet[f.Machine.Set]
	}
	return &report.Rollout{Stale: whole, Ghosts: ghosts, Message: fmt.Sprintf(
		"%s %s was rolled out after the backup: one event behind %s and %s of a new generation. The restore brings the old generation's template back; a newer backup would spare all of it",
		s.Kind, s.Name, plural(whole, "Stale machine", "Stale machines"), plural(ghosts, "ghost", "ghosts"))}
}

// newGeneration reports whether it is a ghost that belongs to no MachineSet of the backup.
func (s *set) newGeneration(f *machine) bool { return f.ghost() && !s.oldGeneration(f.verdict.Name) }

// oldGeneration reports whether a name is that of a MachineSet of the backup and a suffix.
func (s *set) oldGeneration(name string) bool {
	for _, known := range s.sets {
		if strings.HasPrefix(name, known+"-") {
			return true
		}
	}
	return false
}

func abs(n int) int { return max(n, -n) }
