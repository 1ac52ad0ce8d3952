package detector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// A poolTruth is a machine pool and what has become of its members, in a place that
// was listed to the end or not.
type poolTruth struct {
	*scene
	exists, proven, machines bool // machines: its members have Machines
	state                    infra.State
	members                  []poolMember
}

// poolMember is an instance that is, or was, a member: in the backup, and now.
type poolMember struct {
	name           string
	then, now      bool
	listed, ended  bool
	stopped, renew bool // renew: it runs, and the pool does not have it any more
}

func newPoolTruth(seed uint64) *poolTruth {
	d := dice{rand.New(rand.NewPCG(seed, 815))}
	w := &poolTruth{scene: newScene(), exists: !d.chance(20), proven: !d.chance(15), machines: d.chance(50), state: infra.Complete}
	if d.chance(25) {
		w.state = pick(d, infra.Partial, infra.Failed)
	}
	l := w.listings[0]
	if l.State = w.state; w.state != infra.Complete {
		l.Fault = &infra.Fault{Reason: "ListingBroken", Message: "it broke off"}
	}
	p := w.pool("p")
	p.Desired = known(int64(d.IntN(4)))
	// What an autoscaling group makes has the ownership tag of its cluster.
	w.hint(infra.Strong, key("owned", "prod"), ownedBy("", ""), 0)
	for n := range d.IntN(6) {
		m := poolMember{name: fmt.Sprintf("m%d", n), then: d.chance(60)}
		switch d.IntN(5) {
		case 0, 1:
			m.now, m.listed = w.exists, w.exists
			m.stopped = d.chance(20)
		case 2:
			m.renew, m.listed = true, true
		case 3:
			m.ended, m.listed = true, true
		}
		w.members = append(w.members, m)
		w.add(p, m)
	}
	if !w.exists || w.state == infra.Failed {
		l.ProbesFound = slices.DeleteFunc(l.ProbesFound, func(k infra.Key) bool { return k == p.Probe })
	}
	if !w.proven {
		l.ProbesFound = slices.DeleteFunc(l.ProbesFound, func(k infra.Key) bool { return k == key("folder", "f") })
	}
	if w.state == infra.Failed {
		l.Instances = nil
	}
	return w
}

// add puts a member into the backup and into the listing.
func (w *poolTruth) add(p *infra.Pool, m poolMember) {
	if m.then {
		p.Members = append(p.Members, bios("b-"+m.name))
		if w.machines {
			c := w.poolWorker(m.name)
			c.Reads, c.ReadsID = "AWSMachine.spec.providerID", true
		}
	}
	if !m.listed {
		return
	}
	keys := []infra.Key{bios("b-" + m.name), key("owned", "prod")}
	if m.now {
		keys = append(keys, asg("p"))
	}
	i := w.vm(m.name, keys...)
	i.Created, i.Gone = noon, m.ended
	if m.then {
		i.Created = written.Add(-1)
	}
	if m.stopped {
		i.Warnings = []code.Reason{code.PoweredOff}
	}
}

// broken says which promise about pools a result breaks.
func (w *poolTruth) broken(r Result) string {
	whole := w.state == infra.Complete && w.proven
	pool := PoolState{}
	verdicts := map[string]Verdict{}
	for _, s := range r.Clusters[0].WorkerGroups {
		if s.Kind == machinePool {
			pool = *s.Pool
		}
	}
	for _, v := range verdictsOf(r.Clusters[0]) {
		verdicts[v.Name] = v
	}
	loose := map[string]code.Reason{}
	for _, u := range r.Unattributed {
		loose[u.Instance.Name] = u.Reason
	}
	if !whole && r.Complete {
		return "the run is complete, and the pool's place was not listed whole or proven"
	}
	if someNow := slices.ContainsFunc(w.members, func(m poolMember) bool { return m.now }); pool.State == Absent && (!whole || w.exists || someNow) {
		return "the pool is absent, and nobody saw that"
	}
	for _, m := range w.members {
		v, decided := verdicts[m.name]
		seen := m.listed && w.state != infra.Failed
		switch {
		case v.Status == code.Ghost && (m.then || m.now):
			return m.name + " is a Ghost, and the pool has it or had it"
		case seen && m.now && loose[m.name] != "":
			return m.name + " is to be confirmed, and the pool has it"
		case seen && m.renew && m.then && !decided && loose[m.name] == "" && !slices.Contains(pool.Now, "b-"+m.name):
			return m.name + " left the pool, runs, and was dropped"
		case v.Status == code.Stale && v.Reason != code.PoolMember:
			return m.name + " is " + string(v.Reason) + ", and a pool replaces its members itself"
		case v.Status == code.Stale && (!whole || pool.State == Undecided || seen && !m.ended):
			return m.name + " is Stale, and nobody saw that it is gone"
		case decided && m.then && seen && !m.ended && v.Status != code.Healthy && whole && !(m.renew && v.Reason == code.LeftPool):
			return m.name + " lives, and is " + string(v.Status) + " " + string(v.Reason)
		}
	}
	return ""
}

// TestLawsOfPools holds on random worlds that a pool is compared as a set: nothing that
// it has or had is a Ghost, nothing of it is dropped, and absence needs a whole list.
func TestLawsOfPools(t *testing.T) {
	met := map[string]int{}
	for seed := range uint64(*worlds) {
		w := newPoolTruth(seed)
		r := w.detect()
		if broken := w.broken(r); broken != "" {
			t.Fatalf("world %d: %s", seed, broken)
		}
		for _, v := range verdictsOf(r.Clusters[0]) {
			met[string(v.Status)+string(v.Reason)]++
		}
		for _, s := range r.Clusters[0].WorkerGroups {
			if s.Pool != nil {
				met[string(s.Pool.State)]++
			}
		}
		for _, u := range r.Unattributed {
			met[string(u.Reason)]++
		}
	}
	for _, what := range []string{string(code.Healthy), string(code.Stale) + string(code.PoolMember), string(code.Unknown) + string(code.PoolMember), string(Absent), string(Undecided), string(code.LeftPool), string(code.Ghost)} {
		if met[what] == 0 {
			t.Errorf("no world led to %s: %v", what, met)
		}
	}
}
