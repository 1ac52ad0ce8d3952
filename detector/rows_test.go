package detector

import (
	"reflect"
	"slices"
	"testing"

	"drift-detector/detector/match"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// outcomeOf returns the status and reason of the subject.
func outcomeOf(r Result) (code.Status, code.Reason) {
	for _, c := range r.Clusters {
		for _, v := range verdictsOf(c) {
			if v.Name == subject {
				return v.Status, v.Reason
			}
		}
	}
	for _, u := range r.Unattributed {
		if u.Instance.Name == subject {
			return "", u.Reason
		}
	}
	if len(r.Excluded) > 0 {
		return "", "excluded"
	}
	return "", "out of scope"
}

func verdictsOf(c Cluster) (all []Verdict) {
	for _, s := range append([]Set{c.ControlPlane}, c.WorkerGroups...) {
		for _, v := range s.Machines {
			all = append(all, *v)
		}
	}
	return all
}

func arranged(rs rowScene) *scene {
	s := newScene()
	rs.arrange(s)
	return s
}

// deciding runs a scene and returns the row that decided on the subject.
func deciding(s *scene, ofMachines bool) string {
	t := tables{slices.Clone(machineRows), slices.Clone(instanceRows)}
	row := ""
	for i := range t.machines {
		one := machineRows[i]
		t.machines[i].Decide = func(f *machineFacts) Verdict {
			if ofMachines && f.Machine.Of.Name == subject {
				row = one.Name
			}
			return one.Decide(f)
		}
	}
	for i := range t.instances {
		one := instanceRows[i]
		t.instances[i].Decide = func(f *instanceFacts) placement {
			if !ofMachines && f.VM.Name == subject {
				row = one.Name
			}
			return one.Decide(f)
		}
	}
	s.with(t)
	return row
}

func TestRowsDecideTheirScenes(t *testing.T) {
	for _, table := range []struct {
		scenes   []rowScene
		machines bool
	}{{machineScenes, true}, {instanceScenes, false}} {
		for i, rs := range table.scenes {
			t.Run(rs.row, func(t *testing.T) {
				s := arranged(rs)
				if row := deciding(s, table.machines); row != rs.row {
					t.Errorf("scene %d was decided by row %q", i, row)
				}
				if status, reason := outcomeOf(s.detect()); status != rs.status || reason != rs.reason {
					t.Errorf("scene %d: got %s %s, want %s %s", i, status, reason, rs.status, rs.reason)
				}
			})
		}
	}
}

// walkTable deletes each row, and swaps it with the one after it. Both must
// change the outcome of a scene: the row's own when deleted, any when swapped.
func walkTable[R any](t *testing.T, rows []R, name func(R) string, scenes []rowScene, with func([]R) tables, disjoint map[string]string) {
	t.Helper()
	full := make([]Result, len(scenes))
	for i := range scenes {
		full[i] = arranged(scenes[i]).with(with(rows))
	}
	differs := func(rows []R, only string) bool {
		for i := range scenes {
			if scenes[i].row == only || only == "" {
				if !reflect.DeepEqual(arranged(scenes[i]).with(with(rows)), full[i]) {
					return true
				}
			}
		}
		return false
	}
	for i := range rows {
		if !differs(slices.Delete(slices.Clone(rows), i, i+1), name(rows[i])) {
			t.Errorf("row %q can be deleted and its scenes do not notice", name(rows[i]))
		}
		if i+1 == len(rows) {
			continue
		}
		swapped := slices.Clone(rows)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		why := disjoint[name(rows[i])]
		if got := differs(swapped, ""); got == (why != "") {
			t.Errorf("rows %q and %q swapped: noticed %v, said to be disjoint: %q", name(rows[i]), name(rows[i+1]), got, why)
		}
	}
}

func TestEveryMachineRowCounts(t *testing.T) {
	walkTable(t, machineRows, func(r machineRow) string { return r.Name }, machineScenes,
		func(rows []machineRow) tables { return tables{rows, instanceRows} }, disjointMachineRows)
}

func TestEveryInstanceRowCounts(t *testing.T) {
	walkTable(t, instanceRows, func(r instanceRow) string { return r.Name }, instanceScenes,
		func(rows []instanceRow) tables { return tables{machineRows, rows} }, disjointInstanceRows)
}

// Rows said to be disjoint must be so in every combination of facts that a
// scene can have; the facts that part them are checked where they are made.
func TestBlindFactNeedsAnUnfoundKey(t *testing.T) {
	s := newScene()
	s.worker(subject)
	s.vm("dark", ref("r-m")).Unreadable = true
	s.vm("a", bios("b-m"))
	s.vm("b", bios("b-m"))
	ix := match.New(&s.snap, s.expected, s.inventory(), noon)
	if f := ix.MachineFacts(ix.Machines[0]); len(f.Blind) != 0 || len(f.AtHome) != 2 {
		t.Errorf("%d blind and %d at home, want 0 and 2", len(f.Blind), len(f.AtHome))
	}
}

// The tables must decide on every machine and every instance.
func TestLastRowsAlwaysApply(t *testing.T) {
	if !machineRows[len(machineRows)-1].Applies(&machineFacts{MachineFacts: match.MachineFacts{Machine: &match.Machine{ExpectedMachine: &infra.ExpectedMachine{}}}}) {
		t.Error("the last row for machines has a condition")
	}
	if !instanceRows[len(instanceRows)-1].Applies(&instanceFacts{InstanceFacts: match.InstanceFacts{VM: &match.VM{}}}) {
		t.Error("the last row for instances has a condition")
	}
}
