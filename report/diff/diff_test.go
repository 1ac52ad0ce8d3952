package diff

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
	"drift-detector/report/text"
)

var at = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

func vm(id, ref, name string) *report.Instance {
	return &report.Instance{Provider: "vsphere", Scope: "vsphere vc:443", ID: id, Ref: ref, Name: name, Path: "/DC0/vm/" + name}
}

// fleet returns one cluster with machines of the given verdicts, complete.
func fleet(machines ...report.Machine) *report.Report {
	r := &report.Report{
		SchemaVersion: "1", GeneratedAt: at,
		Clusters: []report.Cluster{{Namespace: "tenant", Name: "prod", Status: code.Healthy}},
		Scopes:   []report.Scope{{Provider: "vsphere", Endpoint: "vc:443", State: "complete"}},
	}
	r.Summary = report.Summary{Status: code.Healthy, Complete: true}
	r.Clusters[0].Workers.Groups = []report.Group{{Kind: "MachineDeployment", Name: "md-0", Status: code.Healthy, Machines: machines}}
	for _, m := range machines {
		r.Summary.Machines.Count(m.Status)
	}
	return r
}

func machine(name, uid string, status code.Status, i *report.Instance, warnings ...string) report.Machine {
	m := report.Machine{Namespace: "tenant", Name: name, UID: uid, Role: "worker", Status: status, Instance: i}
	for _, w := range warnings {
		m.Warnings = append(m.Warnings, report.Warning{Reason: code.Reason(w), Message: "of " + w})
	}
	return m
}

func (r reportWith) confirm(i *report.Instance, reason string) reportWith {
	r.InfraMachines = append(r.InfraMachines, report.InfraMachine{Instance: *i, Cluster: "tenant/prod", Reason: code.Reason(reason)})
	r.Summary.InfraMachines++
	return r
}

type reportWith struct{ *report.Report }

func compareOK(t *testing.T, old, new *report.Report) *Diff {
	t.Helper()
	d, err := New(old, new)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// brief returns the lists in one line each: "+" new, "-" gone, "~" changed with its fields.
func brief(l Lists[Item]) []string {
	var out []string
	for _, i := range l.New {
		out = append(out, "+"+i.Name+" "+string(i.Status))
	}
	for _, i := range l.Gone {
		out = append(out, "-"+i.Name+" "+string(i.Status))
	}
	for _, i := range l.NotSeen {
		out = append(out, "?"+i.Name+" "+string(i.Status))
	}
	for _, c := range l.Changed {
		s := "~" + c.New.Name
		for _, f := range c.Fields {
			s += " [" + f.Name + " " + f.Old + ">" + f.New + "]"
		}
		out = append(out, s)
	}
	return out
}

func TestItems(t *testing.T) {
	ignored := machine("a", "", code.Ghost, vm("1", "vm-1", "a"))
	ignored.Ignored = &report.Ignored{Reason: "kept"}
	ghost := machine("a", "", code.Ghost, vm("1", "vm-1", "a"))
	reasoned := machine("a", "u1", code.Unknown, nil)
	reasoned.Reason = "ScopeIncomplete"
	elsewhere := func(i *report.Instance) *report.Instance { i.Scope = "vsphere other:443"; return i }
	moved := vm("1", "vm-1", "a")
	moved.Path = "/DC0/vm/old/a"
	for name, c := range map[string]struct {
		old, new      *report.Report
		machines, vms []string
	}{
		"nothing":                                           {fleet(ghost), fleet(ghost), nil, nil},
		"a new Ghost":                                       {fleet(), fleet(ghost), []string{"+a Ghost"}, nil},
		"a Ghost that is gone":                              {fleet(ghost), fleet(), []string{"-a Ghost"}, nil},
		"a healthy machine is listed too":                   {fleet(), fleet(machine("a", "u1", code.Healthy, vm("1", "vm-1", "a"))), []string{"+a Healthy"}, nil},
		"another verdict":                                   {fleet(machine("a", "u1", code.Healthy, vm("1", "vm-1", "a"))), fleet(machine("a", "u1", code.Stale, nil)), []string{"~a [status Healthy>Stale] [VM path /DC0/vm/a>] [VM id 1>]"}, nil},
		"another reason":                                    {fleet(machine("a", "u1", code.Unknown, nil)), fleet(reasoned), []string{"~a [reason >ScopeIncomplete]"}, nil},
		"warnings gained and lost":                          {fleet(machine("a", "u1", code.Healthy, nil, "Moved", "PoweredOff")), fleet(machine("a", "u1", code.Healthy, nil, "DuplicateID", "PoweredOff")), []string{"~a [warning >DuplicateID] [warning Moved>]"}, nil},
		"a second warning of one kind":                      {fleet(machine("a", "u1", code.Healthy, nil, "Moved")), fleet(machine("a", "u1", code.Healthy, nil, "Moved", "Moved")), []string{"~a [warning >Moved]"}, nil},
		"ignored now":                                       {fleet(ghost), fleet(ignored), []string{"~a [ignored >kept]"}, nil},
		"no longer ignored":                                 {fleet(ignored), fleet(ghost), []string{"~a [ignored kept>]"}, nil},
		"another machine of that name":                      {fleet(machine("a", "u1", code.Healthy, vm("1", "vm-1", "a"))), fleet(machine("a", "u2", code.Healthy, vm("1", "vm-1", "a"))), []string{"+a Healthy", "-a Healthy"}, nil},
		"a Ghost that the newer backup knows":               {fleet(ghost), fleet(machine("a", "u1", code.Healthy, vm("1", "vm-1", "a"))), []string{"~a [status Ghost>Healthy]"}, nil},
		"a machine whose object is gone":                    {fleet(machine("a", "u1", code.Healthy, vm("1", "vm-1", "a"))), fleet(ghost), []string{"~a [status Healthy>Ghost]"}, nil},
		"a machine whose VM was renamed":                    {fleet(machine("a", "u1", code.Healthy, vm("1", "vm-1", "a"))), fleet(machine("a", "u1", code.Healthy, vm("1", "vm-1", "b"), "Renamed")), []string{"~a [VM path /DC0/vm/a>/DC0/vm/b] [VM name a>b] [warning >Renamed]"}, nil},
		"a Ghost that was renamed":                          {fleet(machine("b", "", code.Ghost, vm("1", "vm-1", "b"))), fleet(ghost), []string{"~a [name b>a] [VM path /DC0/vm/b>/DC0/vm/a]"}, nil},
		"a Ghost that was moved":                            {fleet(machine("a", "", code.Ghost, moved)), fleet(ghost), []string{"~a [VM path /DC0/vm/old/a>/DC0/vm/a]"}, nil},
		"a Ghost that was registered again":                 {fleet(machine("a", "", code.Ghost, vm("1", "vm-9", "a"))), fleet(ghost), []string{"~a [VM ref vm-9>vm-1]"}, nil},
		"a Ghost under another address of its vCenter":      {fleet(machine("a", "", code.Ghost, elsewhere(vm("1", "vm-1", "a")))), fleet(ghost), []string{"~a [VM place vsphere other:443>vsphere vc:443]"}, nil},
		"another Ghost of that name":                        {fleet(machine("a", "", code.Ghost, vm("2", "vm-2", "a"))), fleet(ghost), []string{"+a Ghost", "-a Ghost"}, nil},
		"another id under one reference is an unrelated VM": {fleet(machine("a", "", code.Ghost, vm("2", "vm-1", "a"))), fleet(ghost), []string{"+a Ghost", "-a Ghost"}, nil},
		"an id that could not be read":                      {fleet(machine("a", "", code.Unknown, vm("", "vm-1", "a"))), fleet(ghost), []string{"~a [status Unknown>Ghost] [VM id >1]"}, nil},
		"copies with one id are distinguished by reference": {
			reportWith{fleet(ghost)}.confirm(vm("1", "vm-2", "copy"), "DuplicateID").Report,
			reportWith{fleet(ghost)}.confirm(vm("1", "vm-3", "copy2"), "DuplicateID").confirm(vm("1", "vm-2", "copy"), "DuplicateID").Report,
			nil,
			[]string{"+copy2 Unattributed"},
		},
		"another VM with that id, under another name": {
			reportWith{fleet()}.confirm(vm("1", "vm-2", "x"), "DuplicateID").Report, fleet(ghost),
			[]string{"+a Ghost"},
			[]string{"-x Unattributed"},
		},
		"of two copies that were registered again none is guessed": {
			reportWith{fleet()}.confirm(vm("1", "vm-2", "x"), "DuplicateID").Report,
			reportWith{fleet()}.confirm(vm("1", "vm-3", "x"), "DuplicateID").confirm(vm("1", "vm-4", "x"), "CloneOf").Report,
			nil,
			[]string{"+x Unattributed", "+x Unattributed", "-x Unattributed"},
		},
		"of two copies that had one id none is guessed either": {
			reportWith{fleet()}.confirm(vm("1", "vm-3", "x"), "DuplicateID").confirm(vm("1", "vm-4", "x"), "CloneOf").Report,
			reportWith{fleet()}.confirm(vm("1", "vm-2", "x"), "DuplicateID").Report,
			nil,
			[]string{"+x Unattributed", "-x Unattributed", "-x Unattributed"},
		},
		"to be confirmed, and a Ghost now":            {reportWith{fleet()}.confirm(vm("1", "vm-1", "a"), "CloneOf").Report, fleet(ghost), []string{"~a [status Unattributed>Ghost] [reason CloneOf>]"}, nil},
		"a Ghost, and to be confirmed now":            {fleet(ghost), reportWith{fleet()}.confirm(vm("1", "vm-1", "a"), "CloneOf").Report, []string{"~a [status Ghost>Unattributed] [reason >CloneOf]"}, nil},
		"a VM to confirm that was renamed":            {reportWith{fleet()}.confirm(vm("1", "vm-1", "b"), "CloneOf").Report, reportWith{fleet()}.confirm(vm("1", "vm-1", "a"), "InClusterFolder").Report, nil, []string{"~a [reason CloneOf>InClusterFolder] [name b>a] [VM path /DC0/vm/b>/DC0/vm/a]"}},
		"machines without UID and VM, by their names": {fleet(machine("a", "", code.Stale, nil)), fleet(machine("a", "", code.Unknown, nil)), []string{"~a [status Stale>Unknown]"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := compareOK(t, c.old, c.new)
			if got := brief(d.Machines); !slices.Equal(got, c.machines) {
				t.Errorf("machines\n%q, want\n%q", got, c.machines)
			}
			if got := brief(d.InfraMachines); !slices.Equal(got, c.vms) {
				t.Errorf("VMs\n%q, want\n%q", got, c.vms)
			}
			if want := len(c.machines)+len(c.vms) > 0; d.Different != want {
				t.Errorf("different is %t", d.Different)
			}
		})
	}
}

// The most urgent first; what is set aside, and what is the management cluster's, last.
func TestOrder(t *testing.T) {
	aside := machine("0-aside", "", code.Ghost, vm("9", "vm-9", "aside"))
	aside.Ignored = &report.Ignored{Reason: "r"}
	r := fleet(machine("1", "u1", code.Healthy, nil), aside, machine("w", "u9", code.Healthy, nil, "Moved"), machine("2", "u2", code.Stale, nil), machine("3", "u3", code.Unknown, nil), machine("4", "u4", code.Ghost, nil), machine("5", "u5", code.Ghost, nil))
	self := fleet(machine("0-self", "u0", code.Ghost, nil)).Clusters[0]
	self.Name, self.Self = "self", true
	r.Clusters = append(r.Clusters, self)
	want := []string{"+4 Ghost", "+5 Ghost", "+3 Unknown", "+2 Stale", "+w Healthy", "+1 Healthy", "+0-aside Ghost", "+0-self Ghost"}
	d := compareOK(t, fleet(), r)
	if got := brief(d.Machines); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if text := write(t, plain, d); !strings.Contains(text, "  * Healthy w  in tenant/prod  warnings: Moved\n") || !strings.Contains(text, "  = Healthy 1  in tenant/prod\n") {
		t.Errorf("a warning is not marked:\n%s", text)
	}
	if n := d.became(d.leaked); n != 2 {
		t.Errorf("%d became Ghosts, want 2: not the one that is set aside, nor that of the management cluster", n)
	}
}

func TestClustersScopesErrors(t *testing.T) {
	old, new := fleet(), fleet()
	old.Clusters = append(old.Clusters, report.Cluster{Namespace: "tenant", Name: "dev", Status: code.Healthy})
	new.Clusters = append(new.Clusters, report.Cluster{Namespace: "tenant", Name: "stage", Status: code.ManualRemediationRequired})
	c := &new.Clusters[0]
	c.Status = code.NeedFurtherConfirmation
	c.Workers.Groups[0].Status, c.Workers.Groups[0].Reason = code.NeedFurtherConfirmation, "MachinesNotInBackup"
	c.Workers.Groups = append(c.Workers.Groups, report.Group{Kind: "MachinePool", Name: "mp", Status: code.Healthy, Pool: &report.Pool{State: code.Present}})
	old.Clusters[0].Resources = []report.Resource{{Kind: "VPC", Name: "v", State: code.Present}}
	c.Resources = []report.Resource{{Kind: "VPC", Name: "v", State: code.Absent}}
	new.Scopes[0].State, new.Scopes[0].Error = "partial", &report.Fault{Reason: "VisibilityUnproven"}
	old.Errors = []report.Error{{Object: "a", Message: "m"}, {Object: "b", Message: "m"}, {Message: "x"}}
	new.Errors = []report.Error{{Object: "a", Message: "other"}, {Object: "b", Message: "m"}, {Message: "y"}}
	d := compareOK(t, old, new)
	if l := d.Clusters; len(l.New) != 1 || l.New[0].Name != "stage" || len(l.Gone) != 1 || l.Gone[0].Name != "dev" || len(l.Changed) != 1 {
		t.Fatalf("clusters %+v", l)
	}
	want := []Field{
		{"status", "Healthy", "NeedFurtherConfirmation"},
		{"MachineDeployment md-0", "Healthy", "NeedFurtherConfirmation MachinesNotInBackup"},
		{"MachinePool mp", "", "Healthy, pool present"},
		{"VPC v", "present", "absent"},
	}
	if got := d.Clusters.Changed[0].Fields; !slices.Equal(got, want) {
		t.Errorf("cluster fields %+v", got)
	}
	if l := d.Scopes; len(l.New)+len(l.Gone) != 0 || len(l.Changed) != 1 || !slices.Equal(l.Changed[0].Fields, []Field{{"state", "complete", "partial"}, {"reason", "", "VisibilityUnproven"}}) {
		t.Errorf("scopes %+v", l)
	}
	l := d.Errors
	if len(l.New) != 1 || l.New[0].Message != "y" || len(l.Gone) != 1 || l.Gone[0].Message != "x" || len(l.Changed) != 1 || l.Changed[0].New.Object != "a" {
		t.Errorf("errors %+v", l)
	}
}

// Of several errors of one object nobody can say which one became which.
func TestErrorsAreNotGuessed(t *testing.T) {
	old, new := fleet(), fleet()
	old.Errors = []report.Error{{Object: "a", Message: "1"}}
	new.Errors = []report.Error{{Object: "a", Message: "2"}, {Object: "a", Message: "3"}}
	if l := compareOK(t, old, new).Errors; len(l.New) != 2 || len(l.Gone) != 1 || len(l.Changed) != 0 {
		t.Errorf("%+v", l)
	}
}

// A machine is one thing in a backup and another one in a management cluster that runs, and a
// restore is one thing by Velero and another by clusterctl.
func TestRefusesOtherSubjects(t *testing.T) {
	of := func(live bool, mode string) *report.Report {
		r := fleet()
		r.Backups = []report.Backup{{Live: live, RestoreMode: mode}}
		return r
	}
	live, moved, tarball, old := of(true, ""), of(false, "clusterctl"), of(false, "velero"), of(false, "")
	for _, c := range []struct{ old, new *report.Report }{{live, tarball}, {tarball, live}, {moved, live}, {moved, tarball}, {old, moved}} {
		if d, err := New(c.old, c.new); err == nil || d != nil || !strings.Contains(err.Error(), "give two of the same") {
			t.Errorf("%+v and %+v: %v", c.old.Backups, c.new.Backups, err)
		}
	}
	for _, c := range []struct{ old, new *report.Report }{{live, live}, {moved, moved}, {old, tarball}} {
		if _, err := New(c.old, c.new); err != nil {
			t.Error(err)
		}
	}
}

// A VM that is left without its Machine has leaked since, of a management cluster that runs.
func TestLeakedSince(t *testing.T) {
	for live, want := range map[bool]int{true: 1, false: 0} {
		was, is := fleet(machine("1", "u1", code.Healthy, nil)), fleet(machine("1", "u1", code.Healthy, nil, string(code.MachineMissing)))
		for _, r := range []*report.Report{was, is} {
			r.Backups = []report.Backup{{Live: live}}
		}
		d := compareOK(t, was, is)
		if matched, err := d.Fails([]string{"new-leaked"}); err != nil || len(matched) != want {
			t.Errorf("live %t: %v %v", live, matched, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	short, filtered, other := fleet(), fleet(), fleet()
	short.Options.IgnoreHealthy = true
	filtered.Options.Filter = &report.Filter{Clusters: []string{"a", "b"}, Namespaces: []string{"n"}}
	other.Options.Filter = &report.Filter{Clusters: []string{"b", "a"}}
	for _, c := range []struct {
		old, new *report.Report
		says     string
	}{
		{short, fleet(), "the old report was made with --ignore-healthy-resources"},
		{fleet(), short, "the new report was made with --ignore-healthy-resources"},
		{filtered, fleet(), "of different clusters"},
		{filtered, other, "of different clusters"},
	} {
		if d, err := New(c.old, c.new); err == nil || d != nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "make ") {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	same := fleet()
	same.Options.Filter = &report.Filter{Clusters: []string{"b", "a", "b"}, Namespaces: []string{"n"}}
	if _, err := New(filtered, same); err != nil {
		t.Errorf("one filter in another order: %v", err)
	}
	for seed := range uint64(40) {
		if r := reporttest.Random(seed); r.Options.IgnoreHealthy {
			if _, err := New(r, r); err == nil {
				t.Errorf("seed %d: a shortened report was compared", seed)
			}
		}
	}
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(old, new *report.Report)
		says   string
	}{
		"old incomplete":    {func(old, _ *report.Report) { old.Summary.Complete = false }, "what is new here may have been there before"},
		"new incomplete":    {func(_, new *report.Report) { new.Summary.Complete = false }, "what is gone here may still exist"},
		"old after new":     {func(old, _ *report.Report) { old.GeneratedAt = at.Add(time.Second) }, "the other way round"},
		"nothing in common": {func(old, _ *report.Report) { old.Clusters[0].Name = "x" }, "no cluster in common"},
		"Node lists":        {func(old, _ *report.Report) { old.Options.SkipNodes = true }, "Node lists"},
		"rules":             {func(_, new *report.Report) { new.IgnoreRules = []report.IgnoreRule{{File: "f"}} }, "ignore rules differ"},
	} {
		old, new := fleet(), fleet()
		c.change(old, new)
		d := compareOK(t, old, new)
		if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], c.says) {
			t.Errorf("%s: %q", name, d.Warnings)
		}
		if want := !strings.Contains(name, "incomplete"); d.Complete != want {
			t.Errorf("%s: complete is %t", name, d.Complete)
		}
		var b bytes.Buffer
		if err := Text(&b, d, text.Options{}); err != nil || !strings.Contains(strings.Join(strings.Fields(b.String()), " "), "! "+d.Warnings[0]) {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
	matched := fleet()
	matched.IgnoreRules = []report.IgnoreRule{{File: "f", Matched: 1}}
	more := fleet()
	more.IgnoreRules = []report.IgnoreRule{{File: "f", Matched: 2}}
	if d := compareOK(t, matched, more); len(d.Warnings) > 0 {
		t.Errorf("one rule that fits more now is a warning: %q", d.Warnings)
	}
}

// whole returns a random report that is not shortened.
func whole(seed uint64) *report.Report {
	r := reporttest.Random(seed)
	r.Options.IgnoreHealthy = false
	return r
}

func reread(t *testing.T, r *report.Report) *report.Report {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	out, err := report.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAReportDiffersNotFromItself(t *testing.T) {
	reports := []*report.Report{reporttest.HostileReport(), reporttest.Sized(20, 50), {}}
	for seed := range uint64(200) {
		reports = append(reports, whole(seed))
	}
	for i, r := range reports {
		pairs := [][2]*report.Report{{r, r}}
		if r.SchemaVersion != "" {
			pairs = append(pairs, [2]*report.Report{r, reread(t, r)}, [2]*report.Report{reread(t, r), r})
		}
		for _, p := range pairs {
			d := compareOK(t, p[0], p[1])
			if d.Different || d.Worse || d.headline() != "No difference." || len(d.sections()) > 0 {
				var b bytes.Buffer
				_ = Text(&b, d, text.Options{})
				t.Fatalf("report %d differs from itself:\n%s", i, b.String())
			}
			if matched, err := d.Fails([]string{"changed", "worse", "new-ghost", "new-stale", "new-unknown", "new-unattributed", "new-error"}); err != nil || matched != nil {
				t.Fatalf("report %d: %q, %v", i, matched, err)
			}
		}
	}
}

// later returns a report some time on: verdicts, VMs and names have changed, things
// are gone and new.
func later(seed uint64) *report.Report {
	r, other := whole(seed), whole(seed+1000)
	r.GeneratedAt = r.GeneratedAt.Add(time.Hour)
	for i := range r.Clusters {
		c := &r.Clusters[i]
		ms := c.ControlPlane.Machines
		for j := range ms {
			switch (int(seed) + j) % 4 {
			case 0:
				ms[j].Status = code.Unknown
			case 1:
				if ms[j].Instance != nil {
					ms[j].Instance.Name += "-renamed"
				}
			}
		}
		if len(c.Workers.Groups) > 0 {
			g := &c.Workers.Groups[0]
			g.Machines = g.Machines[len(g.Machines)/2:]
		}
	}
	if len(r.InfraMachines) > 0 {
		r.InfraMachines = r.InfraMachines[1:]
	}
	r.InfraMachines = append(r.InfraMachines, other.InfraMachines...)
	r.Clusters = append(r.Clusters, other.Clusters...)
	r.Errors = append(r.Errors, other.Errors...)
	return r
}

func TestSwapMirrors(t *testing.T) {
	changed := 0
	for seed := range uint64(200) {
		a, b := whole(seed), later(seed)
		there, back := compareOK(t, a, b), compareOK(t, b, a)
		mirrors(t, seed, there.Machines, back.Machines)
		mirrors(t, seed, there.InfraMachines, back.InfraMachines)
		mirrors(t, seed, there.Clusters, back.Clusters)
		mirrors(t, seed, there.Scopes, back.Scopes)
		mirrors(t, seed, there.Errors, back.Errors)
		if there.Different != back.Different || there.Complete != back.Complete || there.Worse && back.Worse && there.Complete {
			t.Fatalf("seed %d: the wholes do not mirror", seed)
		}
		changed += len(there.Machines.Changed)
		adds(t, seed, there)
	}
	if changed < 300 {
		t.Errorf("only %d changes: too few to prove anything", changed)
	}
}

func mirrors[T any](t *testing.T, seed uint64, there, back Lists[T]) {
	t.Helper()
	same := func(a, b any) bool {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return string(x) == string(y)
	}
	less := func(l Lists[T]) int { return len(l.Gone) + len(l.NotSeen) }
	if len(there.New) != less(back) || less(there) != len(back.New) || len(back.NotSeen) == 0 && !same(there.New, back.Gone) || len(there.NotSeen) == 0 && !same(there.Gone, back.New) || len(there.Changed) != len(back.Changed) {
		t.Fatalf("seed %d: what is new one way is not what is gone the other way", seed)
	}
	for _, c := range there.Changed {
		if !slices.ContainsFunc(back.Changed, func(o Change[T]) bool {
			return same(c.Old, o.New) && same(c.New, o.Old) && len(c.Fields) == len(o.Fields)
		}) {
			t.Fatalf("seed %d: a change has no mirror: %+v", seed, c)
		}
	}
}

// adds demands that what is new, less what is gone, is the difference of the lists.
func adds(t *testing.T, seed uint64, d *Diff) {
	t.Helper()
	_, new := whole(seed), later(seed)
	have := len(itemsOf(whole(seed)))
	if want := len(itemsOf(new)); have+len(d.Machines.New)+len(d.InfraMachines.New)-len(d.Machines.Gone)-len(d.InfraMachines.Gone)-len(d.Machines.NotSeen)-len(d.InfraMachines.NotSeen) != want {
		t.Fatalf("seed %d: the lists do not add up", seed)
	}
}

func TestFails(t *testing.T) {
	base := func() *report.Report { return fleet(machine("a", "u1", code.Healthy, vm("1", "vm-1", "a"))) }
	for _, c := range []struct {
		name   string
		change func(old, new *report.Report)
		want   string
	}{
		{"nothing", func(_, _ *report.Report) {}, ""},
		{"a machine became Stale", func(_, new *report.Report) { status(new, code.Stale) }, "new-stale new-lost changed"},
		{"a machine became Unknown", func(_, new *report.Report) { status(new, code.Unknown) }, "new-unknown changed"},
		{"a machine became a Ghost", func(_, new *report.Report) { status(new, code.Ghost) }, "new-ghost new-leaked changed"},
		{"it was one before", func(old, new *report.Report) {
			status(old, code.Ghost)
			status(new, code.Ghost)
			new.Clusters[0].Workers.Groups[0].Machines[0].Reason = "r"
		}, "changed"},
		{"it is healthy again", func(old, _ *report.Report) { status(old, code.Ghost) }, "changed"},
		{"it is ignored", func(_, new *report.Report) {
			status(new, code.Ghost)
			new.Clusters[0].Workers.Groups[0].Machines[0].Ignored = &report.Ignored{Reason: "r"}
		}, "changed"},
		{"it is the management cluster's", func(old, new *report.Report) {
			status(new, code.Ghost)
			old.Clusters[0].Self, new.Clusters[0].Self = true, true
		}, "changed"},
		{"a new Ghost", func(_, new *report.Report) {
			g := &new.Clusters[0].Workers.Groups[0]
			g.Machines = append(g.Machines, machine("g", "", code.Ghost, vm("2", "vm-2", "g")))
		}, "new-ghost new-leaked changed"},
		{"a VM to confirm", func(_, new *report.Report) { reportWith{new}.confirm(vm("2", "vm-2", "g"), "CloneOf") }, "new-unattributed changed"},
		{"an error", func(_, new *report.Report) { new.Errors = []report.Error{{Message: "m"}} }, "new-error changed"},
		{"an error is gone", func(old, _ *report.Report) { old.Errors = []report.Error{{Message: "m"}} }, "changed"},
		{"worse", func(_, new *report.Report) { new.Summary.Status = code.NeedFurtherConfirmationInfraMachines }, "worse changed"},
		{"worse among those to confirm", func(old, new *report.Report) {
			old.Summary.Status, new.Summary.Status = code.NeedFurtherConfirmationInfraMachines, code.NeedFurtherConfirmation
		}, "worse changed"},
		{"better", func(old, _ *report.Report) { old.Summary.Status = code.ManualRemediationNotRequired }, "changed"},
		{"incomplete", func(old, _ *report.Report) { old.Summary.Complete = false }, "changed incomplete"},
		{"both incomplete", func(old, new *report.Report) { old.Summary.Complete, new.Summary.Complete = false, false }, "incomplete"},
	} {
		old, new := base(), base()
		c.change(old, new)
		got, err := compareOK(t, old, new).Fails(Kinds())
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v; want %s", c.name, got, err, c.want)
		}
	}
	d := compareOK(t, base(), base())
	if _, err := d.Fails([]string{"changed", "ghost"}); err == nil || !strings.Contains(err.Error(), `no "ghost"; it may have new-ghost, new-stale`) {
		t.Error(err)
	}
	d.Worse, d.Different = true, true
	if got, err := d.Fails([]string{"worse", "changed", "worse"}); err != nil || !reflect.DeepEqual(got, []string{"worse", "changed"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func status(r *report.Report, s code.Status) {
	r.Clusters[0].Workers.Groups[0].Machines[0].Status = s
}

// Findings on the backup itself: what they say of times is no difference, another
// severity is, and an error that was not there fails what asks for it.
func TestChecks(t *testing.T) {
	check := func(severity code.Severity, reason code.Reason, message string) report.Check {
		return report.Check{Severity: severity, Code: reason, Object: "backup b", Message: message}
	}
	with := func(all ...report.Check) *report.Report {
		r := fleet()
		r.Checks = all
		return r
	}
	old := with(check("info", "BackupOld", "1 day old"), check("warning", "ClusterNotPaused", "not paused"), check("error", "IdentityAbsent", "gone"))
	for _, tt := range []struct {
		name                  string
		new                   *report.Report
		fresh, gone, reported int
		fails                 bool
	}{
		{"only a time", with(check("info", "BackupOld", "2 days old"), old.Checks[1], old.Checks[2]), 0, 0, 0, false},
		{"settled", with(old.Checks[0], old.Checks[1]), 0, 1, 0, false},
		{"a new warning", with(append([]report.Check{check("warning", "X", "x")}, old.Checks...)...), 1, 0, 0, false},
		{"a new error", with(append([]report.Check{check("error", "BackupNotCompleted", "phase Failed")}, old.Checks...)...), 1, 0, 0, true},
		{"worse than it was", with(old.Checks[0], check("error", "ClusterNotPaused", "not paused"), old.Checks[2]), 0, 0, 1, true},
		{"better than it was", with(old.Checks[0], old.Checks[1], check("warning", "IdentityAbsent", "gone")), 0, 0, 1, false},
	} {
		d := compareOK(t, old, tt.new)
		if len(d.Checks.New) != tt.fresh || len(d.Checks.Gone) != tt.gone || len(d.Checks.Changed) != tt.reported || d.Different != (tt.fresh+tt.gone+tt.reported > 0) {
			t.Errorf("%s: different %v, %+v", tt.name, d.Different, d.Checks)
		}
		if got, err := d.Fails([]string{"new-check"}); err != nil || (len(got) > 0) != tt.fails {
			t.Errorf("%s: fails by %v, %v", tt.name, got, err)
		}
	}
}

// A finding on the backup itself has the mark of its severity.
func TestCheckMarks(t *testing.T) {
	old, new := fleet(), fleet()
	for _, severity := range code.Severities() {
		new.Checks = append(new.Checks, report.Check{Severity: severity, Code: "Code", Object: "Cluster a/b", Message: "m"})
	}
	text := write(t, plain, compareOK(t, old, new))
	for _, row := range []string{"  ! error   \"Cluster a/b\"  Code  m\n", "  ? warning \"Cluster a/b\"  Code  m\n", "  = info    \"Cluster a/b\"  Code  m\n", "Backup errors         0       1  +1\n"} {
		if !strings.Contains(text, row) {
			t.Errorf("no row %q in\n%s", row, text)
		}
	}
}

// No report of detect has many machines on one VM. One that somebody else wrote may.
func TestManyMachinesOnOneVM(t *testing.T) {
	const n = 1000
	var old, new []Item
	for i := range n {
		on := Item{UID: strconv.Itoa(i), Instance: vm("id", "vm-1", "m")}
		old = append(old, on)
		on.UID = "new" + on.UID
		new = append(new, on)
	}
	asked := 0
	way := itemIdentities[1]
	way.unless = func(a, b *Item) bool { asked++; return twoObjects(a, b) }
	left, _ := way.pair(old, new, func(_, _ *Item) { t.Error("two machines are one") })
	if len(left) != n || asked > 100*n {
		t.Errorf("%d are left, and %d pairs were looked at", len(left), asked)
	}
}
