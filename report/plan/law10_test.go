package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// many makes reports that differ by chance, and one that has all kinds of lines.
func many(t *testing.T) []*report.Report {
	t.Helper()
	r := sample("alpha")
	m := plantest.Find(t, r, code.Healthy, "control-plane")
	m.Warnings, m.Others = []report.Warning{{Reason: "DuplicateID"}}, []report.Instance{*plantest.VSphereVM("copy", plantest.LivingID, 9)}
	r.Clusters[0].Workers.Groups[0].Counts = report.MachineCounts{Total: 6, Healthy: 4, Ghost: 2}
	changed := sample("alpha")
	one := plantest.Find(t, changed, code.Unknown, "worker")
	one.Reason, one.ProviderID, one.Others, one.Instance = "IdentityChanged", "vsphere://"+ghostNone, []report.Instance{*one.Instance}, nil
	all := []*report.Report{r, changed}
	for seed := range uint64(200) {
		all = append(all, plantest.AtRandom(sample("alpha"), seed))
	}
	for _, r := range all {
		n := 0
		for i := range r.Clusters {
			for _, s := range sets(&r.Clusters[i]) {
				for k := range s.machines {
					n++
					rename(&s.machines[k], fmt.Sprint("m-", n))
				}
			}
		}
		Fill(r, providerTools)
	}
	return all
}

// rename gives a machine of the sample, where all have one name, a name of its own.
func rename(m *report.Machine, name string) {
	m.Name = name
	if m.Node != "" {
		m.Node = name
	}
	if m.Instance != nil {
		one := *m.Instance
		one.Name = name
		m.Instance = &one
	}
}

// ghostNone is an id that nothing has.
const ghostNone = "77777777-7777-4777-8777-777777777777"

// foreign returns another of ids.
func foreign(id string) string {
	id = "0000" + id
	if strings.HasPrefix(id, "0000i-") {
		return "i-0999999999999" + id[len(id)-4:]
	}
	return "0a0a0a0a-0000-4000-8000-00000000" + id[len(id)-4:]
}

// worlds returns those in which lines may change something, and those in which they may not.
func worlds() (right []things, wrong map[string]things) {
	off, on := func(string) bool { return true }, func(string) bool { return false }
	for _, which := range []func(string) bool{off, on, func(name string) bool { return name == "copy" }} {
		for _, evicted := range []bool{false, true} {
			x := asReported(power(which))
			x.evicted = evicted
			right = append(right, x)
		}
	}
	renamed := asReported(power(off))
	renamed.instance = func(i infra.Instance) infra.Instance {
		if i.Ref == "vm-4" {
			i.ID = ghostNone
		}
		return i
	}
	right = append(right, renamed)
	wrong = map[string]things{}
	vary := func(name string, change func(*things)) {
		for i, x := range right {
			change(&x)
			wrong[fmt.Sprint(name, ": ", i)] = x
		}
	}
	otherIDs := func(x *things) {
		was := x.instance
		x.instance = func(i infra.Instance) infra.Instance {
			i = was(i)
			i.ID = foreign(i.ID)
			return i
		}
		x.node = func(n *nodeThing) { n.id = "x://" + foreign("x"+n.id) }
		x.recorded = func(id string) string { return id[:len(id)-4] + "ffff" }
	}
	vary("another place", func(x *things) {
		otherIDs(x)
		x.identity, x.restore = foreign, "another"
	})
	vary("a replica of the place", func(x *things) {
		x.identity, x.restore, x.node = foreign, "another", func(n *nodeThing) { n.id = "x://other" }
	})
	vary("the ids differ", otherIDs)
	vary("the names are of other VMs", func(x *things) {
		was := x.instance
		x.instance = func(i infra.Instance) infra.Instance {
			i = was(i)
			i.ID = foreign(i.ID)
			if i.Ref != "" {
				i.Ref += "99"
			}
			return i
		}
		x.node = func(n *nodeThing) { n.id = "x://" + foreign("x"+n.id) }
	})
	vary("no network", func(x *things) { x.gone = true })
	vary("a Ghost has a Machine by now", func(x *things) { x.owned = true })
	vary("a Node is Ready again", func(x *things) { x.ready = true })
	vary("the contexts are exchanged", func(x *things) { x.switched = true })
	vary("a workload cluster", func(x *things) { x.workload = true })
	vary("Clusters of others", func(x *things) { x.others = true })
	vary("another phase of the restore", func(x *things) { x.other = true })
	vary("another Backup of Velero", func(x *things) { x.later = 24 * time.Hour })
	vary("a Backup of others at that time", func(x *things) { x.more = 12 })
	vary("another ConfigMap", func(x *things) { x.modifier = "version: v1" })
	vary("no quorum", func(x *things) { x.majority = false })
	return right, wrong
}

// guardsOf says which worlds must stop a line.
func guardsOf(line string) func(world string) bool {
	aboutVMs := regexp.MustCompile(`recheck "\$\{REPORT:\?\}" (vm|gone|runs-on|free) `).MatchString(line)
	return func(world string) bool {
		switch kind, _, _ := strings.Cut(world, ":"); kind {
		case "no network":
			return true
		case "another place", "a replica of the place":
			return !strings.Contains(line, " management ")
		case "the contexts are exchanged":
			return strings.Contains(line, " management ")
		case "a workload cluster", "Clusters of others", "another phase of the restore":
			return strings.Contains(line, " management new") || strings.Contains(line, " management filled")
		case "another Backup of Velero", "a Backup of others at that time", "another ConfigMap":
			return strings.Contains(line, "restore create")
		case "the ids differ", "the names are of other VMs":
			return aboutVMs
		case "a Ghost has a Machine by now":
			return regexp.MustCompile(` drain | delete "?node/|member remove|vm\.power -off|vm\.destroy|stop-instances|terminate-instances`).MatchString(line)
		case "a Node is Ready again":
			return deletesMachine(line) && strings.Contains(line, " gone ")
		case "no quorum":
			return strings.Contains(line, "etcdctl") && !strings.Contains(line, "snapshot save")
		}
		return false
	}
}

// In 202 reports each line that changes something does so in the world of the report, and
// in none that differs from it in what matters to the line: at another place, where ids are
// others', where names are, where a Node is Ready again, where etcd would lose its majority, where
// nothing answers.
func TestLaw10EachLineStopsWhereTheWorldIsAnother(t *testing.T) {
	right, wrong := worlds()
	lines, stopped := map[string]bool{}, map[string]int{}
	for _, r := range many(t) {
		in := map[string]*world{}
		for name, x := range wrong {
			in[name] = x.world(r)
		}
		var good []*world
		for _, x := range right {
			good = append(good, x.world(r))
		}
		for _, line := range planLines(r) {
			if !strings.Contains(line, "drift-detector recheck ") || !slices.ContainsFunc(plantest.Changing, func(w string) bool { return strings.Contains(line, w) }) {
				continue
			}
			lines[line] = true
			var why []error
			changes := slices.ContainsFunc(good, func(w *world) bool {
				done, err := w.run(t, line)
				why = append(why, err)
				return err == nil && len(done) > 0
			})
			if !changes {
				t.Fatalf("it changes nothing where it should: %v\n%s", why, line)
			}
			stops := guardsOf(line)
			for name, w := range in {
				if !stops(name) {
					continue
				}
				if done, err := w.run(t, line); err == nil || len(done) > 0 {
					t.Fatalf("%s: it changes %q (%v)\n%s", name, done, err, line)
				}
				kind, _, _ := strings.Cut(name, ":")
				stopped[kind]++
			}
		}
	}
	if len(lines) < 30 || len(stopped) != 15 {
		t.Errorf("%d lines, stopped %v", len(lines), stopped)
	}
}

// At the wrong place no line of any plan changes anything, whichever it is.
func TestLaw10NothingIsChangedAtTheWrongPlace(t *testing.T) {
	var every []string
	for _, r := range many(t) {
		every = append(every, planLines(r)...)
	}
	slices.Sort(every)
	every = slices.Compact(every)
	changed := 0
	for _, line := range every {
		if plantest.Try(t, line).Changed() {
			changed++
		}
		if o := plantest.Try(t, line, plantest.WrongPlace...); o.Changed() {
			t.Errorf("%q of %s", o.Calls, line)
		}
		if o := plantest.Try(t, line, "*) exit 1 ;;"); o.Changed() && len(o.Calls) > 1 {
			t.Errorf("it goes on behind a failure: %q of %s", o.Calls, line)
		}
		if strings.Count(line, " | ") != strings.Count(line, ` | drift-detector recheck "${REPORT:?}" `)+strings.Count(line, ` | drift-detector ready "${REPORT:?}"`) {
			t.Errorf("a pipe hides a failure: %s", line)
		}
	}
	if changed < 30 {
		t.Errorf("%d of %d lines change something", changed, len(every))
	}
}
