package detector

import (
	"fmt"
	"slices"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// alike returns a scene of n clusters with a machine of one name each, and n VMs of that name
// in one folder. The second id of the first machine, and Nodes of the next two, say which
// VM is theirs; of the third and fourth an id is recorded that no VM has.
func alike(n int) *scene {
	s := emptyScene()
	s.snap.Backups = []backup.Info{{WrittenTo: written}}
	s.list(vc).Clusters = nil
	same := []infra.Key{named("m"), weakly("m|f"), key("witness", "m|f")}
	for i := range n {
		id := backup.ClusterID{Namespace: fmt.Sprintf("ns%03d", i), Name: "prod"}
		s.cluster(id)
		c := s.machine(id, "m", false)
		c.Strong, c.Identity, c.Ref, c.Hosts, c.Blind = infra.Key{}, uuid(fmt.Sprint("own", i)), infra.Key{}, nil, nil
		c.Weak, c.Witness, c.Searches, c.Reads = same[1:2], same[2:], same[1:2], "VSphereVM.spec.biosUUID"
		own := bios(fmt.Sprint("b", i))
		if i == 1 || i == 2 {
			s.node(id, own, "m")
		}
		if i == 2 || i == 3 {
			c.Strong, c.ReadsID = bios(fmt.Sprint("gone", i)), true
		}
		second := uuid(fmt.Sprint("foreign", i))
		if i == 0 {
			second = c.Identity
		}
		s.vmIn(0, fmt.Sprintf("vm%03d", i), append([]infra.Key{own, second}, same...)...)
	}
	return s
}

// Many machines that find many instances get the verdicts that few get, and the first
// instances are named, with a count of the others.
func TestManyOfOneName(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"all":          func(*scene) {},
		"partial":      func(s *scene) { s.listings[0].State = code.ScopePartial },
		"unreadable":   func(s *scene) { s.unreadable() },
		"ended":        func(s *scene) { s.each(func(v *infra.Instance) { v.Gone = v.Name == "vm004" }) },
		"powered off":  func(s *scene) { s.each(func(v *infra.Instance) { v.State = "poweredOff" }) },
		"template":     func(s *scene) { s.each(func(v *infra.Instance) { v.Exclude = infra.Template }) },
		"another home": func(s *scene) { s.apart() },
		"one id":       func(s *scene) { s.oneID() },
		"copies run":   func(s *scene) { s.copied() },
	} {
		t.Run(name, func(t *testing.T) {
			verdicts := func(n int) (all []*Verdict) {
				s := alike(n)
				change(s)
				for _, c := range s.detect().Clusters {
					for _, g := range c.WorkerGroups {
						all = append(all, g.Machines...)
					}
				}
				return all
			}
			const few, lots = 8, 60
			small, large := verdicts(few), verdicts(lots)
			if len(small) != few || len(large) != lots {
				t.Fatalf("%d and %d verdicts", len(small), len(large))
			}
			for i, v := range large {
				w := small[min(i, few-1)]
				if v.Status != w.Status || v.Reason != w.Reason || v.Finds != w.Finds || (v.Instance == nil) != (w.Instance == nil) {
					t.Errorf("machine %d of %d: %s %s (%s), of %d: %s %s (%s)", i, lots, v.Status, v.Reason, v.Message, few, w.Status, w.Reason, w.Message)
				}
				less := len(w.Others)
				if more := len(v.Others) + v.MoreOthers; less > few/2 && more-lots != less-few || less <= 1 && more != less {
					t.Errorf("machine %d: %d instances of %d VMs, %d of %d", i, more, lots, less, few)
				}
				named := map[string]bool{}
				for _, o := range v.Others {
					if named[o.Name] {
						t.Errorf("machine %d: %s is named twice", i, o.Name)
					}
					named[o.Name] = true
				}
				if len(v.Others) > shownMost || len(v.Evidence) > 2*shownMost {
					t.Errorf("machine %d: %d others, %d pieces of evidence", i, len(v.Others), len(v.Evidence))
				}
			}
		})
	}
}

func (s *scene) each(change func(*infra.Instance)) {
	for i := range s.listings[0].Instances {
		change(&s.listings[0].Instances[i])
	}
}

func (s *scene) unreadable() {
	for i := range s.expected.Machines {
		s.expected.Machines[i].Blind = []infra.Key{named("m")}
	}
	s.each(func(v *infra.Instance) { v.Unreadable = true })
}

// apart makes the last machines look in another place, which has VMs of its own.
func (s *scene) apart() {
	within := key("datacenter", "B")
	for i := range s.expected.Machines[1:] {
		s.expected.Machines[i+1].Home.Within = within
	}
	s.each(func(v *infra.Instance) {
		if v.Name != "vm000" {
			v.Keys = append(slices.Clip(v.Keys), within)
		}
	})
}

// oneID makes the machines record one id, which all VMs have.
func (s *scene) oneID() {
	for i := range s.expected.Machines {
		s.expected.Machines[i].Strong = bios("one")
	}
	s.each(func(v *infra.Instance) { v.Keys[0] = bios("one") })
}

// copied makes all VMs copies of the first machine's, which is off.
func (s *scene) copied() {
	s.expected.Machines[0].Strong = bios("one")
	s.each(func(v *infra.Instance) {
		v.Keys[0] = bios("one")
		if v.Name == "vm000" {
			v.State = "poweredOff"
		}
	})
}
