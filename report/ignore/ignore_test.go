package ignore

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

var today = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

// fleet has a finding of every kind; the name of each says what it is.
func fleet() *report.Report {
	vm := func(id, ref, name, path string) *report.Instance {
		return &report.Instance{Provider: "vsphere", ID: id, Ref: ref, Name: name, Path: path}
	}
	prod := report.Cluster{Namespace: "tenant-alpha", Name: "alpha-prod", Provider: "vsphere"}
	prod.ControlPlane.Machines = []report.Machine{
		{Namespace: "tenant-alpha", Name: "cp-off", Role: "control-plane", Status: code.Healthy, Instance: vm("4201", "vm-1", "cp-off", "/DC0/vm/capi/alpha/cp-off"), Warnings: []report.Warning{{Reason: "PoweredOff"}}},
		{Namespace: "tenant-alpha", Name: "cp-twice", Role: "control-plane", Status: code.Healthy, Instance: vm("4202", "vm-2", "cp-twice", "/DC0/vm/capi/alpha/cp-twice"), Warnings: []report.Warning{{Reason: "DuplicateID"}, {Reason: "PoweredOff"}}},
	}
	prod.Workers.Groups = []report.Group{{Name: "md-0", Machines: []report.Machine{
		{Namespace: "tenant-alpha", Name: "md-0-fine", Role: "worker", Status: code.Healthy, Instance: vm("4203", "vm-3", "md-0-fine", "/DC0/vm/capi/alpha/md-0-fine")},
		{Namespace: "tenant-alpha", Name: "md-0-ghost", Role: "worker", Status: code.Ghost, Instance: vm("4204", "vm-4", "md-0-ghost", "/DC0/vm/capi/alpha/md-0-ghost")},
		{Namespace: "tenant-alpha", Name: "md-0-stale", Role: "worker", Status: code.Stale, Reason: "InstanceNotFound", Warnings: []report.Warning{{Reason: "SameNameElsewhere"}}},
		{Namespace: "tenant-alpha", Name: "md-0-unknown", Role: "worker", Status: code.Unknown, Reason: "ScopeIncomplete"},
	}}}
	dev := report.Cluster{Namespace: "tenant-beta", Name: "dev", Provider: "aws"}
	dev.Workers.Groups = []report.Group{
		{Name: "pool", Machines: []report.Machine{
			{Namespace: "tenant-beta", Name: "dev-stale", Role: "worker", Status: code.Stale, Reason: "InstanceTerminated"},
			{Namespace: "tenant-beta", Name: "dev/ghost", Status: code.Ghost, Instance: &report.Instance{Provider: "aws", ID: "i-0abc", Name: "dev/ghost", Path: "vpc-1/subnet-1", Tags: map[string]string{"team": "infra/build", "empty": "", "k8s.io/owner": "x"}}},
		}},
		{Name: "short", Reason: "MachinesNotInBackup", Machines: []report.Machine{{Namespace: "tenant-beta", Name: "dev-lone", Role: "worker", Status: code.Stale, Reason: "NotProvisioned"}}},
	}
	self := report.Cluster{Namespace: "mgmt", Name: "self", Provider: "vsphere", Self: true, Status: code.ManualRemediationNotRequired}
	self.Workers.Groups = []report.Group{{Machines: []report.Machine{{Namespace: "mgmt", Name: "self-stale", Status: code.Stale, Reason: "InstanceNotFound"}}}}
	r := &report.Report{
		SchemaVersion: report.SchemaVersion,
		Clusters:      []report.Cluster{prod, dev, self},
		Scopes:        []report.Scope{},
		InfraMachines: []report.InfraMachine{
			{Instance: *vm("4205", "vm-5", "jump[1]", "/DC0/vm/capi/alpha/tools/jump[1]"), Cluster: "tenant-alpha/alpha-prod", Reason: "InClusterFolder"},
			{Instance: *vm("4206", "vm-6", "stray", "/DC0/vm/stray"), Reason: "ForeignNode"},
		},
	}
	r.Summary.Complete = true
	slowly(r)
	return r
}

func ignored(r *report.Report) []string {
	var out []string
	for i := range r.Clusters {
		for _, s := range r.Clusters[i].Sets() {
			for _, m := range s.Machines {
				if m.Ignored != nil {
					out = append(out, m.Name)
				}
			}
		}
	}
	for _, m := range r.InfraMachines {
		if m.Ignored != nil {
			out = append(out, m.Instance.Name)
		}
	}
	return out
}

func TestRules(t *testing.T) {
	const because = ", reason: r}\n"
	one := func(selector string) string { return "rules:\n- {match: {" + selector + "}" + because }
	everything := []string{"cp-off", "cp-twice", "md-0-ghost", "md-0-stale", "md-0-unknown", "dev-stale", "dev/ghost", "dev-lone", "jump[1]", "stray"}
	for _, c := range []struct {
		name, rules string
		want        []string
	}{
		{"cluster, machines and VMs to confirm", one(`cluster: alpha-prod`), []string{"cp-off", "cp-twice", "md-0-ghost", "md-0-stale", "md-0-unknown", "jump[1]"}},
		{"cluster is a whole name", one(`cluster: alpha`), nil},
		{"no cluster at all", one(`cluster: ""`), []string{"stray"}},
		{"a star does not fit what is lacking", one(`cluster: "*"`), everything[:9]},
		{"namespace", one(`namespace: tenant-b*`), []string{"dev-stale", "dev/ghost", "dev-lone"}},
		{"namespace of a VM to confirm", one(`namespace: tenant-alpha, status: Unattributed`), []string{"jump[1]"}},
		{"name", one(`name: md-0-stale`), []string{"md-0-stale"}},
		{"name by glob, healthy ones are no findings", one(`name: "md-0-*"`), []string{"md-0-ghost", "md-0-stale", "md-0-unknown"}},
		{"a glob must fit the whole name", one(`name: "md-0"`), nil},
		{"one character", one(`name: "md-0-?????"`), []string{"md-0-ghost", "md-0-stale"}},
		{"class", one(`name: "md-0-[gu]*"`), []string{"md-0-ghost", "md-0-unknown"}},
		{"negated class", one(`name: "md-0-[!gu]*"`), []string{"md-0-stale"}},
		{"either", one(`name: "md-0-{ghost,stale}"`), []string{"md-0-ghost", "md-0-stale"}},
		{"case matters", one(`name: "MD-0-*"`), nil},
		{"an escaped character is itself", one(`name: 'jump\[1\]'`), []string{"jump[1]"}},
		{"the same without an escape is a class", one(`name: "jump[1]"`), nil},
		{"a star crosses slashes in names", one(`name: "dev*ghost"`), []string{"dev/ghost"}},
		{"a list: any fits", one(`name: [stray, "cp-*"]`), []string{"cp-off", "cp-twice", "stray"}},
		{"provider", one(`provider: aws`), []string{"dev-stale", "dev/ghost", "dev-lone"}},
		{"instance", one(`instance: "4204"`), []string{"md-0-ghost"}},
		{"instance as YAML reads no text", one(`instance: 4204`), []string{"md-0-ghost"}},
		{"instance by glob, not machines without", one(`instance: "*"`), []string{"cp-off", "cp-twice", "md-0-ghost", "dev/ghost", "jump[1]", "stray"}},
		{"without an instance", one(`instance: ""`), []string{"md-0-stale", "md-0-unknown", "dev-stale", "dev-lone"}},
		{"ref", one(`ref: "vm-[16]"`), []string{"cp-off", "stray"}},
		{"folder itself", one(`folder: /DC0/vm/capi/alpha`), []string{"cp-off", "cp-twice", "md-0-ghost"}},
		{"a star stays within one folder", one(`folder: "/DC0/vm/*/alpha"`), []string{"cp-off", "cp-twice", "md-0-ghost"}},
		{"two stars cross folders and fit none", one(`folder: "/DC0/vm/capi/**"`), []string{"cp-off", "cp-twice", "md-0-ghost", "jump[1]"}},
		{"one star is one folder", one(`folder: "/DC0/*"`), []string{"stray"}},
		{"two stars fit the folder itself", one(`folder: "/DC0/vm/capi/alpha/**"`), []string{"cp-off", "cp-twice", "md-0-ghost", "jump[1]"}},
		{"two stars in between", one(`folder: "/DC0/**/tools"`), []string{"jump[1]"}},
		{"tag", one(`tag: {team: "infra/*"}`), []string{"dev/ghost"}},
		{"another value of the tag", one(`tag: {team: web}`), nil},
		{"tag without a value, and no tag", one(`tag: {empty: "", none: ""}, name: "*ghost"`), []string{"md-0-ghost", "dev/ghost"}},
		{"two tags: both fit", one(`tag: {team: "*", k8s.io/owner: y}`), nil},
		{"reason of the verdict", one(`reason: InstanceNotFound`), []string{"md-0-stale"}},
		{"reason of any warning", one(`reason: PoweredOff`), []string{"cp-off", "cp-twice"}},
		{"reason of a warning beside that of the verdict", one(`reason: SameName*`), []string{"md-0-stale"}},
		{"only these reasons", one(`onlyReasons: PoweredOff`), []string{"cp-off"}},
		{"only reasons of a list", one(`onlyReasons: [InstanceNotFound, SameNameElsewhere, DuplicateID]`), []string{"md-0-stale"}},
		{"without any reason", one(`onlyReasons: ""`), []string{"md-0-ghost", "dev/ghost"}},
		{"status", one(`status: [Ghost, Unknown]`), []string{"md-0-ghost", "md-0-unknown", "dev/ghost"}},
		{"status Healthy is one with a warning", one(`status: Healthy`), []string{"cp-off", "cp-twice"}},
		{"role", one(`role: control-plane`), []string{"cp-off", "cp-twice"}},
		{"role unknown", one(`role: "", status: Ghost`), []string{"dev/ghost"}},
		{"all keys fit together", one(`cluster: alpha-prod, status: Stale, reason: InstanceNotFound, role: worker`), []string{"md-0-stale"}},
		{"one key that does not fit", one(`cluster: alpha-prod, status: Stale, role: control-plane`), nil},
		{"all, and not the management cluster's own", one(`name: "*"`), everything},
		{"nor by name", one(`name: self-stale`), nil},

		{"the last match wins: taken back", one(`name: "*"`) + `- {"!match": {status: [Ghost, Stale, Unattributed]}}`, []string{"cp-off", "cp-twice", "md-0-unknown"}},
		{"the last match wins: set aside after all", one(`name: "*"`) + "- {\"!match\": {status: Ghost}}\n- {match: {name: md-0-ghost}, reason: r}\n", slices.DeleteFunc(slices.Clone(everything), func(s string) bool { return s == "dev/ghost" })},
		{"taking back before is too early", "rules:\n- {\"!match\": {status: Ghost}}\n- {match: {name: md-0-*}, reason: r}\n", []string{"md-0-ghost", "md-0-stale", "md-0-unknown"}},
		{"the day before the last", one(`name: stray`)[:len(one(`name: stray`))-2] + ", expires: 2026-11-21}", []string{"stray"}},
		{"the last day", one(`name: stray`)[:len(one(`name: stray`))-2] + ", expires: 2026-11-20}", []string{"stray"}},
		{"the day after", one(`name: stray`)[:len(one(`name: stray`))-2] + ", expires: 2026-11-19}", nil},
		{"an expired rule takes nothing back", one(`name: stray`) + `- {"!match": {name: stray}, expires: "2026-11-19"}`, []string{"stray"}},
		{"an expired rule leaves the one before", one(`name: stray`) + `- {match: {name: stray}, reason: other, expires: "2026-11-19"}`, []string{"stray"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fleet()
			if _, err := Apply(r, read(t, "ignore.yaml", c.rules), today); err != nil {
				t.Fatal(err)
			}
			if got := ignored(r); !slices.Equal(got, c.want) {
				t.Errorf("sets aside %q, want %q", got, c.want)
			}
		})
	}
}

func read(t *testing.T, name, text string) []Rule {
	t.Helper()
	rules, err := Read(name, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// The day ends in UTC, wherever the operator is.
func TestExpiryIsInUTC(t *testing.T) {
	rules := read(t, "i", "rules:\n- {match: {name: stray}, reason: r, expires: 2026-11-20}\n")
	for at, want := range map[string]int{
		"2026-11-20T23:59:59Z": 1, "2026-11-21T00:00:00Z": 0,
		"2026-11-21T05:00:00+06:00": 1, "2026-11-20T20:00:00-06:00": 0,
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		r := fleet()
		if _, err := Apply(r, rules, now); err != nil {
			t.Fatal(err)
		}
		if r.Summary.Ignored != want {
			t.Errorf("at %s it sets %d aside, want %d", at, r.Summary.Ignored, want)
		}
	}
}

func TestWhatTheReportSays(t *testing.T) {
	r := fleet()
	rules := append(
		read(t, "a.yaml", "rules:\n- match: {status: [Ghost, Unknown]}\n  reason: because\n  expires: 2026-12-01\n- {match: {name: nobody}, reason: r}\n"),
		read(t, "b\x1b.yaml", "# more\nrules:\n- {match: {name: md-0-*}, reason: late, expires: 2026-11-01}\n- \"!match\": {name: dev/*}\n  expires: 2026-11-02\n")...)
	warnings, err := Apply(r, rules, today)
	if err != nil {
		t.Fatal(err)
	}
	want := []report.IgnoreRule{
		{File: "a.yaml", Line: 2, Reason: "because", Expires: "2026-12-01", State: "active", Matched: 3},
		{File: "a.yaml", Line: 5, Reason: "r", State: "active"},
		{File: "b\x1b.yaml", Line: 3, Reason: "late", Expires: "2026-11-01", State: "expired", Matched: 3},
		{File: "b\x1b.yaml", Line: 4, Expires: "2026-11-02", Include: true, State: "expired", Matched: 1},
	}
	if !reflect.DeepEqual(r.IgnoreRules, want) {
		t.Errorf("rules %+v", r.IgnoreRules)
	}
	wantWarnings := []string{
		"ignore rule a.yaml:5 matches no finding: is it still needed?",
		`ignore rule b\x1b.yaml:3 expired on 2026-11-01 and sets nothing aside`,
		`ignore rule b\x1b.yaml:4 expired on 2026-11-02 and takes nothing back`,
	}
	if !slices.Equal(warnings, wantWarnings) {
		t.Errorf("warnings %q", warnings)
	}
	ghost := r.Clusters[0].Workers.Groups[0].Machines[1]
	if ghost.Ignored == nil || *ghost.Ignored != (report.Ignored{Rule: 0, Reason: "because"}) {
		t.Errorf("%s is ignored by %+v", ghost.Name, ghost.Ignored)
	}
	s := r.Summary
	if s.Ignored != 3 || s.IgnoredInfraMachines != 0 || *s.IgnoredMachines != (report.MachineCounts{Total: 3, Ghost: 2, Unknown: 1}) {
		t.Errorf("summary %+v of machines %+v", s, s.IgnoredMachines)
	}
	if s.StatusWithoutRules != code.ManualRemediationRequired || s.Status != code.NeedFurtherConfirmation {
		t.Errorf("status %s, without rules %s", s.Status, s.StatusWithoutRules)
	}
}

// A rule that fits nothing in a report that does not show everything may well be needed.
func TestWarningsOfPartialReports(t *testing.T) {
	rules := read(t, "i", "rules:\n- {match: {name: nobody}, reason: r}\n")
	incomplete, filtered := fleet(), fleet()
	incomplete.Summary.Complete = false
	filtered.Options.Filter = &report.Filter{Clusters: []string{"alpha-prod"}}
	for want, r := range map[string]*report.Report{"the report is incomplete": incomplete, "that were asked for": filtered} {
		warnings, err := Apply(r, rules, today)
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], want) || strings.Contains(warnings[0], "needed") {
			t.Errorf("%q, %v", warnings, err)
		}
	}
}

func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		name, rules string

		cp, md0, short, prod, dev, summary code.Status
	}{
		{
			"nothing", "name: nobody",
			code.NeedFurtherConfirmation, code.ManualRemediationRequired, code.NeedFurtherConfirmation,
			code.ManualRemediationRequired, code.ManualRemediationRequired, code.ManualRemediationRequired,
		},
		{
			"ghosts", "status: Ghost",
			code.NeedFurtherConfirmation, code.NeedFurtherConfirmation, code.NeedFurtherConfirmation,
			code.NeedFurtherConfirmation, code.NeedFurtherConfirmation, code.NeedFurtherConfirmation,
		},
		{
			"a set with a reason stays to be confirmed", "name: dev*",
			code.NeedFurtherConfirmation, code.ManualRemediationRequired, code.NeedFurtherConfirmation,
			code.ManualRemediationRequired, code.NeedFurtherConfirmation, code.ManualRemediationRequired,
		},
		{
			"one cluster whole", "cluster: alpha-prod",
			code.Healthy, code.Healthy, code.NeedFurtherConfirmation,
			code.Healthy, code.ManualRemediationRequired, code.ManualRemediationRequired,
		},
		{
			"everything", "name: '*'",
			code.Healthy, code.Healthy, code.NeedFurtherConfirmation,
			code.Healthy, code.NeedFurtherConfirmation, code.NeedFurtherConfirmation,
		},
	} {
		r := fleet()
		if _, err := Apply(r, read(t, "i", "rules:\n- {match: {"+c.rules+"}, reason: r}\n"), today); err != nil {
			t.Fatal(err)
		}
		prod, dev := &r.Clusters[0], &r.Clusters[1]
		got := []code.Status{prod.ControlPlane.Status, prod.Workers.Groups[0].Status, dev.Workers.Groups[1].Status, prod.Status, dev.Status, r.Summary.Status}
		if want := []code.Status{c.cp, c.md0, c.short, c.prod, c.dev, c.summary}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
		if r.Clusters[2].Status != code.ManualRemediationNotRequired {
			t.Errorf("%s: the management cluster itself became %s", c.name, r.Clusters[2].Status)
		}
	}
}

// VMs to confirm, errors and scopes each hold the summary up.
func TestSummaryWithoutMachines(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.Report)
		rules  string
		want   code.Status
	}{
		"VMs to confirm are left": {func(*report.Report) {}, "cluster: '*'", code.NeedFurtherConfirmationInfraMachines},
		"none is left":            {func(*report.Report) {}, "name: '*'", code.Healthy},
		"an error is left":        {func(r *report.Report) { r.Errors = []report.Error{{Message: "e"}} }, "name: '*'", code.NeedFurtherConfirmation},
		"a scope is left":         {func(r *report.Report) { r.Summary.Complete = false }, "name: '*'", code.NeedFurtherConfirmation},
	} {
		r := fleet()
		r.Clusters[1].Workers.Groups[1].Reason = ""
		c.change(r)
		slowly(r)
		if _, err := Apply(r, read(t, "i", "rules:\n- {match: {"+c.rules+"}, reason: r}\n"), today); err != nil {
			t.Fatal(err)
		}
		if r.Summary.Status != c.want {
			t.Errorf("%s: %s, want %s", name, r.Summary.Status, c.want)
		}
	}
}

func TestNoRulesChangeNothing(t *testing.T) {
	r := fleet()
	before := document(t, r)
	warnings, err := Apply(r, read(t, "i", "rules: []"), today)
	if err != nil || warnings != nil || !bytes.Equal(document(t, r), before) || bytes.Contains(before, []byte("ignoreRules")) {
		t.Errorf("warnings %q, error %v\n%s", warnings, err, document(t, r))
	}
}

func TestRulesAreAppliedOnce(t *testing.T) {
	r := fleet()
	rules := read(t, "i", "rules:\n- {match: {status: Ghost}, reason: r}\n")
	if _, err := Apply(r, rules, today); err != nil {
		t.Fatal(err)
	}
	once := document(t, r)
	if _, err := Apply(r, rules, today); err == nil || !strings.Contains(err.Error(), "applied to this report already") {
		t.Errorf("applied twice: %v", err)
	}
	if !bytes.Equal(document(t, r), once) {
		t.Error("refused, and changed the report all the same")
	}
}

func document(t *testing.T, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
