package detector

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/report/code"
)

// worlds is how many random worlds each law is held on:
//
//	go test ./detector -run Laws -worlds 20000
var worlds = flag.Int("worlds", 1000, "random worlds to hold each law on")

// said is what became of one world, by name of machine and by VM.
type said struct {
	*truth
	Result
	machines map[string]Verdict // of the backup, by name
	others   map[string]Verdict // of VMs without one, by identity
	loose    map[string]Unattributed
}

func (w *truth) decide() said {
	s := said{w, w.asScene().detect(), map[string]Verdict{}, map[string]Verdict{}, map[string]Unattributed{}}
	matched := map[string]bool{}
	for _, m := range w.machines {
		matched[m.name] = m.inBackup()
	}
	for _, c := range s.Clusters {
		for _, v := range verdictsOf(c) {
			// A VM without a machine may have the name of one.
			if ours := v.UID != ""; ours && matched[v.Name] {
				s.machines[v.Name] = v
			} else if v.Instance != nil {
				s.others[v.Instance.Identity] = v
			}
		}
	}
	for _, u := range s.Unattributed {
		s.loose[u.Instance.Identity] = u
	}
	return s
}

// TestLaws holds each law of the design on random worlds. A law is what must be true
// of a world and what was said of it; none knows the decision tables.
func TestLaws(t *testing.T) {
	for _, law := range []struct {
		name  string
		holds func(said) string // what breaks it
		least string            // a verdict or reason that the worlds must lead to, or the law is held on nothing
	}{
		{"1 absence and places", lawOfAbsence, string(code.InstanceNotFound)},
		{"2 a living name is a witness", lawOfWitnesses, string(code.IdentityChanged)},
		{"3 counts are sets", lawOfCounts, string(code.MachineNotInBackup)},
		{"4 a name alone makes no Ghost", lawOfNames, string(code.NameOnly)},
		{"5 nothing of ours is dropped", lawOfMarks, string(code.InClusterFolder)},
		{"6 the one that runs", lawOfHealth, string(code.NodeAlive)},
		{"7 a way out", lawOfWays, string(code.ScopeIncomplete)},
		{"8 no fault becomes a verdict", lawOfFaults, string(code.NodeListUnread)},
	} {
		t.Run(strings.ReplaceAll(law.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			met := 0
			for seed := range uint64(*worlds) {
				s := newTruth(seed).decide()
				if broken := law.holds(s); broken != "" {
					t.Fatalf("world %d: %s", seed, broken)
				}
				met += s.count(law.least)
			}
			if met == 0 {
				t.Errorf("no world led to %s", law.least)
			}
		})
	}
}

// count counts what has a status or a reason.
func (s said) count(word string) (n int) {
	for _, all := range []map[string]Verdict{s.machines, s.others} {
		for _, v := range all {
			if string(v.Status) == word || string(v.Reason) == word {
				n++
			}
		}
	}
	for _, u := range s.loose {
		if string(u.Reason) == word {
			n++
		}
	}
	return n
}

// seen returns the VMs that the account sees at a site.
func (w *truth) seen(at *site) (all []*trueVM) {
	for _, v := range w.vms {
		if at.sees(v) {
			all = append(all, v)
		}
	}
	return all
}

// isIt reports whether ids that the backup recorded show a site to be the one that it
// means, and no more names than that have other ids.
func (w *truth) isIt(at *site) bool {
	ids, names := 0, 0
	nodes := false
	for _, v := range w.seen(at) {
		nodes = nodes || !v.unreadable && v.node != nil && v.node.nodes == "read" && !v.nodeUnmarked && v.nodeID == v.bios
	}
	for _, m := range w.machines {
		if m.site != at || !m.inBackup() || !m.recorded {
			continue
		}
		byID, byName := false, false
		for _, v := range w.seen(at) {
			byID = byID || v.bios == m.bios && !v.unreadable
			byName = byName || strings.EqualFold(v.name, m.name)
		}
		switch {
		case byID:
			ids++
		case byName:
			names++
		}
	}
	return names <= ids && (ids > 0 || nodes)
}

// lawOfAbsence: absence is concluded only from complete lists, on both sides, and a
// place is proven by ids, never by names.
func lawOfAbsence(s said) string {
	for _, m := range s.truth.machines {
		v, decided := s.machines[m.name]
		if v.Status != code.Stale || !decided {
			continue
		}
		switch {
		case m.site.state != code.ScopeComplete:
			return m.name + " is Stale and its vCenter was not listed to the end"
		case m.site.standBy || !s.isIt(m.site):
			return m.name + " is Stale at a vCenter that no id shows to be the right one"
		case m.site.hidden[m.folder] && !m.site.stated, m.site.dark[m.folder]:
			return m.name + " is Stale and its folder was not seen"
		case slices.ContainsFunc(s.seen(m.site), func(v *trueVM) bool { return m.recorded && v.bios == m.bios }):
			return m.name + " is Stale and its id is seen"
		}
	}
	for _, v := range s.vms {
		ghost := s.others[v.identity].Status == code.Ghost
		switch {
		case ghost && (v.site.standBy || !s.isIt(v.site)):
			return v.name + " is a Ghost at a vCenter that no id shows to be the right one"
		case ghost && v.of != nil:
			return v.name + " is a Ghost and the VM of machine " + v.of.name
		}
	}
	return ""
}

// lawOfWitnesses: a machine is not Stale while what has its place and name lives and is
// nobody else's, or its Node does.
func lawOfWitnesses(s said) string {
	for _, m := range s.truth.machines {
		if v := s.machines[m.name]; v.Status != code.Stale {
			continue
		}
		for _, v := range s.seen(m.site) {
			name := strings.EqualFold(v.name, m.name) || m.site.reads(v) && s.looksInto(v) && strings.EqualFold(v.host, m.name)
			if name && v.folder == m.folder && v.dc == "DC0" && (v.of == nil || v.of == m) && v.bios != m.bios {
				return m.name + " is Stale, and " + v.name + " lives in its place"
			}
		}
		if n := s.livingNode(m); n != nil {
			return m.name + " is Stale, and its Node is alive"
		}
	}
	return ""
}

// livingNode returns the VM that a living Node of a machine runs on, if the list was read.
func (w *truth) livingNode(m *trueMachine) *trueVM {
	for _, v := range slices.Concat(w.vms, w.away) {
		if v.node == m.trueCluster && m.nodes == "read" && !v.nodeNotReady && v.nodeMachine == m.name {
			return v
		}
	}
	return nil
}

// lawOfCounts: an owner is complete when machines <= replicas <= machines + orphans
// whose own instance was found. Evidence as strong as a Node makes a Ghost then, and
// otherwise only of what is younger than the backup.
func lawOfCounts(s said) string {
	for _, v := range s.vms {
		if v.node == nil || v.of != nil && v.of.inBackup() || !v.site.sees(v) || v.unreadable || v.site != v.node.site || v.node.nodes != "read" || v.nodeUnmarked || v.nodeID != v.bios {
			continue
		}
		machines, orphans, replicas := 0, 0, 0
		for _, m := range s.truth.machines {
			if m.trueCluster != v.node || m.plane != v.nodePlane {
				continue
			}
			if m.kind != "leak" {
				replicas++
			}
			found := slices.ContainsFunc(s.seen(m.site), func(x *trueVM) bool { return x.bios == m.bios && x.dc == "DC0" && !x.unreadable })
			switch {
			case m.kind == "machine":
				machines++
			case m.orphan() && m.recorded && found:
				orphans++
			}
		}
		complete := machines <= replicas && replicas <= machines+orphans
		got := s.others[v.identity].Status
		young := v.created.After(written.Add(clockSkew))
		if !complete && !young && got == code.Ghost {
			return fmt.Sprintf("%s is a Ghost, and its owner had %d machines of which %d, with %d orphans, are known", v.name, replicas, machines, orphans)
		}
		duplicate := slices.ContainsFunc(s.vms, func(x *trueVM) bool { return x != v && x.bios == v.bios })
		if complete && v.ghost != nil && got != code.Ghost && s.isIt(v.site) && !duplicate {
			return fmt.Sprintf("%s is %q, and all machines of its owner are in the backup: %s", v.name, got, s.others[v.identity].Message)
		}
	}
	return ""
}

// lawOfNames: what only a name ties to a cluster is no Ghost when it is older than the
// backup, or has no Node although the Node list was read.
func lawOfNames(s said) string {
	for _, v := range s.vms {
		got := s.others[v.identity]
		node := v.node != nil && v.node.nodes == "read" && !v.nodeUnmarked
		if got.Status != code.Ghost || node {
			continue
		}
		switch c := s.clusterOf(got); {
		case !v.created.After(written):
			return v.name + " is a Ghost by its name, and older than the backup"
		case c.nodes == "read":
			return v.name + " is a Ghost by its name, and has no Node although the list was read"
		case v.joins != "" && v.joins != c.id.Name:
			return v.name + " is a Ghost by its name, and joins another cluster"
		}
	}
	return ""
}

func (s said) clusterOf(v Verdict) *trueCluster {
	for i := range s.Clusters {
		if slices.ContainsFunc(verdictsOf(s.Clusters[i]), func(x Verdict) bool { return x.Instance == v.Instance }) {
			for _, c := range s.clusters {
				if c.id == s.Clusters[i].ID {
					return c
				}
			}
		}
	}
	return nil
}

// lawOfMarks: what is where machines are, or has a name of theirs, is not dropped,
// unless its own data says that it joins another cluster and it is elsewhere.
func lawOfMarks(s said) string {
	for _, v := range s.vms {
		if !v.site.sees(v) || v.template {
			continue
		}
		_, verdict := s.others[v.identity]
		_, loose := s.loose[v.identity]
		if verdict || loose || s.isMachines(v) {
			continue
		}
		host := v.host
		if !v.site.reads(v) || !s.looksInto(v) {
			host = ""
		}
		foreign := host != "" && v.joins != ""
		for _, c := range s.clusters {
			if inside := v.site == c.site && strings.HasPrefix(v.folder+"/", c.folder+"/"); inside && v.dc == "DC0" {
				return v.name + " is in folder " + c.folder + " of a cluster and was dropped"
			}
			for _, owner := range []string{c.owner(true), c.owner(false), c.id.Name + "-md-zzzzz"} {
				ours := ownerOf(strings.ToLower(v.name)) == owner || ownerOf(strings.ToLower(host)) == owner
				if ours && !(c.hosted && owner == c.owner(true)) && !(foreign && v.joins != c.id.Name) {
					return v.name + " has a name of cluster " + c.id.Name + " and was dropped"
				}
			}
		}
	}
	return ""
}

// isMachines reports whether a VM was found to be that of a machine.
func (s said) isMachines(v *trueVM) bool {
	return slices.ContainsFunc(s.verdictList(), func(x Verdict) bool { return x.Instance != nil && x.Instance.Identity == v.identity })
}

func (s said) verdictList() (all []Verdict) {
	for _, c := range s.Clusters {
		all = append(all, verdictsOf(c)...)
	}
	return all
}

// lawOfHealth: a match that does not run is not Healthy while its Node is alive, or
// what has its id or its name runs.
func lawOfHealth(s said) string {
	for _, m := range s.truth.machines {
		got := s.machines[m.name]
		if got.Status != code.Healthy {
			continue
		}
		i := slices.IndexFunc(s.vms, func(v *trueVM) bool { return v.identity == got.Instance.Identity })
		if s.vms[i].runs() {
			continue
		}
		if s.livingNode(m) != nil {
			return m.name + " is Healthy and off, and its Node is alive"
		}
		for _, v := range s.vms {
			like := m.recorded && v.bios == m.bios || strings.EqualFold(v.name, m.name) || v.site.reads(v) && s.looksInto(v) && strings.EqualFold(v.host, m.name)
			if v != s.vms[i] && v.runs() && v.site.sees(v) && like && (v.of == nil || v.of == m) {
				return m.name + " is Healthy and off, and " + v.name + " runs"
			}
		}
	}
	return ""
}
