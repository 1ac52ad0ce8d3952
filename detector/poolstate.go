package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/detector/match"
	"drift-detector/report/code"
)

// This file is what is said of pools, whose members are compared as a set.

// memberOfPool is the cause under which living members of known pools are
// counted as excluded: they are compared with the backup as a set.
const memberOfPool = "poolMember"

// poolStateOf says what became of a pool.
func poolStateOf(p *match.Pool, of code.Subject) *PoolState {
	s := &PoolState{
		State: p.State, Then: p.Then, Now: p.Now, Desired: p.Desired, DesiredNow: p.Size, Living: p.Living,
		ManagedBy: p.ManagedBy, Min: p.Min, Max: p.Max,
	}
	switch {
	case s.State == code.Absent:
		s.Message = "it was not found: the restored controllers will re-create it, with new machines"
	case p.Denied:
		s.Message = fmt.Sprintf("it was not found, but %s", quantity(len(s.Now), "instance says that it is its member", "instances say that they are its members"))
	case s.State == code.Undecided:
		s.Message = "whether it exists is not known: " + p.Why
	default:
		s.Message = s.changes(of)
	}
	return s
}

// changes puts into words how the set differs from what was read.
func (s *PoolState) changes(of code.Subject) string {
	gone, added := minus(s.Then, s.Now), minus(s.Now, s.Then)
	var parts []string
	if len(gone)+len(added) > 0 {
		parts = append(parts, fmt.Sprintf("its members changed %s, as those of a pool do: %d gone, %d new", of.Since(), len(gone), len(added)))
	}
	by := ""
	if s.ManagedBy != "" {
		by = ", which " + s.ManagedBy + " sets now"
	}
	switch {
	case !s.Desired.Known:
	case s.DesiredNow.Known && s.DesiredNow.N != s.Desired.N:
		parts = append(parts, fmt.Sprintf("it is set to %d and has %s, %s desires %d%s", s.DesiredNow.N, quantity(len(s.Now), "member", "members"), of.The(), s.Desired.N, by))
	case s.Desired.N != int64(len(s.Now)):
		parts = append(parts, fmt.Sprintf("%s, %s desires %d%s", quantity(len(s.Now), "member now", "members now"), of.The(), s.Desired.N, by))
	}
	return strings.Join(parts, "; ")
}

// minus lists what is in a and not in b, both sorted.
func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool {
		_, found := slices.BinarySearch(b, s)
		return found
	})
}

// reason returns why the set of the pool needs confirmation.
func (s *PoolState) reason() code.Reason {
	switch s.State {
	case code.Absent:
		return code.PoolMissing
	case code.Undecided:
		return code.PoolUndecided
	}
	return ""
}

// leftPool returns the verdict on a member of a pool that is gone. Of a pool that was read
// it is part of what changed in the set: Cluster API deletes such a Machine by itself
// within a minute of the restore (testdata/restore; CAPA
// exp/controllers/awsmachinepool_machines.go v2.11.1).
func (f *machineFacts) leftPool(how string) Verdict {
	deletes, todo := "its pool replaces members itself, and Cluster API deletes this Machine when it is restored", "; there is nothing to do"
	if f.Machine.LeavesPool != "" {
		deletes, todo = "its pool replaces members itself; "+f.Machine.LeavesPool, ""
	}
	if f.Place.Complete && (f.Pool == code.Present || f.Pool == code.Absent) {
		return stale(code.PoolMember, how+": "+deletes+todo)
	}
	return unknown(code.PoolMember, how+"; "+deletes+", if its pool is there, which is not known")
}

// droppedRow is the sixth law for members of pools: an instance that runs and is no
// longer a member is not taken over. Its controller deletes the Machine, and the
// instance with it (deleteOrphanedAWSMachines in CAPA
// exp/controllers/awsmachinepool_machines.go v2.11.1).
var droppedRow = machineRow{
	"member-left-pool",
	"The instance with the recorded id is no longer a member of the machine's pool.",
	[]outcome{{code.Unknown, code.LeftPool}},
	func(f *machineFacts) bool { return f.Dropped },
	func(f *machineFacts) Verdict {
		says := cmp.Or(f.Machine.LeavesPool, "the controller deletes this Machine when it is restored, and terminates the instance with it; to keep the instance, leave Machine and infrastructure machine out of the restore")
		return f.with(unknown(code.LeftPool, nameOf(f.AtHome[0])+" is its instance, but its pool lists it no more: "+says), f.AtHome[0], code.Strong)
	},
}
