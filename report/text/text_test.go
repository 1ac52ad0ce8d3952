package text

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/code"
	"drift-detector/report/plan"
	"drift-detector/report/reporttest"
)

var update = flag.Bool("update", false, "write the golden files again")

func printed(t *testing.T, r *report.Report, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, o); err != nil {
		t.Fatalf("writing text: %v", err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	have, wanted := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(have), len(wanted)) {
		if i >= len(have) || i >= len(wanted) || have[i] != wanted[i] {
			t.Fatalf("%s differs (run the test with -update to accept) from line %d on:\n got %q\nwant %q",
				path, i+1, have[min(i, len(have)):min(i+1, len(have))], wanted[min(i, len(wanted)):min(i+1, len(wanted))])
		}
	}
}

func TestTextGolden(t *testing.T) {
	few := buildtest.Sample()
	few.Result.Clusters[5] = buildtest.Big(3)
	for _, tt := range []struct {
		name string
		p    build.Parts
		o    Options
	}{
		{"fleet", buildtest.Sample(), Options{}},
		{"fleet-color", buildtest.Sample(), Options{Color: true}},
		{"fleet-wide", buildtest.Sample(), Options{Width: 160}},
		{"fleet-all", few, Options{All: true}},
		{"healthy", buildtest.Healthy(), Options{}},
		{"infra-machines", buildtest.ToConfirm(), Options{}},
		{"stale", buildtest.Stale(), Options{}},
		{"pools", buildtest.Pools(), Options{}},
		{"pools-all", buildtest.Pools(), Options{All: true}},
		{"hostile", buildtest.Hostile(), Options{}},
		{"nothing", build.Parts{Result: detector.Result{Status: code.Healthy, Complete: true}}, Options{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			golden(t, tt.name, printed(t, filled(tt.p), tt.o))
		})
	}
}

// filled returns a report with the steps of its plan, as detect writes it.
func filled(p build.Parts) *report.Report {
	r := build.New(p)
	plan.Fill(r, all.Registry().Tools())
	return r
}

// What rules set aside is counted, has no line among the findings, and is listed
// with the reason that somebody gave.
func TestTextOfIgnored(t *testing.T) {
	r := filled(buildtest.Sample())
	because := &report.Ignored{Reason: "kept for forensics, OPS-1234"}
	r.IgnoreRules = []report.IgnoreRule{{File: "ignore.yaml", Line: 2, Reason: because.Reason, State: report.RuleActive, Matched: 3}}
	s := &r.Summary
	s.IgnoredMachines, s.IgnoredInfraMachines, s.StatusWithoutRules = &report.MachineCounts{}, 1, s.Status
	r.InfraMachines[0].Ignored = because
	for _, set := range r.Clusters[1].Sets() {
		for j := range set.Machines {
			if m := &set.Machines[j]; m.Status == code.Ghost || m.Status == code.Stale {
				m.Ignored = because
				s.IgnoredMachines.Count(m.Status)
			}
		}
	}
	s.Ignored = s.IgnoredMachines.Total + 1
	if s.IgnoredMachines.Ghost == 0 || s.IgnoredMachines.Stale == 0 {
		t.Fatalf("the sample has too little to ignore: %+v", s.IgnoredMachines)
	}
	s.Status = code.NeedFurtherConfirmation
	r.Options.Filter = &report.Filter{Namespaces: []string{"tenant-alpha"}, Selector: "env=prod"}
	golden(t, "ignored", printed(t, r, Options{}))
}

// TestTextFitsTheTerminal: a row is wider than asked only when a single piece
// that must stay whole, an id or a path, does not fit.
func TestTextFitsTheTerminal(t *testing.T) {
	r := build.New(buildtest.Sample())
	r.Clusters[1].Workers.Groups[0].Machines[0].Instance.Path = "/DC0/vm/" + strings.Repeat("deep/", 30) + "vm"
	for _, width := range []int{0, 40, 80, 81, 100, 132} {
		limit := width
		if width == 0 {
			limit = 80
		}
		wide := 0
		for row := range strings.Lines(printed(t, r, Options{Width: width, All: true})) {
			row = strings.TrimRight(row, "\n")
			if strings.TrimRight(row, " ") != row {
				t.Errorf("width %d: spaces at the end of %q", width, row)
			}
			if terminal.Width(row) <= limit {
				continue
			}
			wide++
			if strings.Contains(strings.TrimLeft(row, " │├└─"), " ") {
				t.Errorf("width %d: a row of %d that could be broken: %q", width, terminal.Width(row), row)
			}
		}
		if wide == 0 {
			t.Errorf("width %d: the long path was cut", width)
		}
	}
}

func TestIdsStayWhole(t *testing.T) {
	r := build.New(buildtest.Sample())
	out := printed(t, r, Options{Width: 40})
	for i := range r.Clusters {
		for _, s := range r.Clusters[i].Sets() {
			for _, m := range s.Machines {
				if m.Status == code.Ghost && (!strings.Contains(out, m.Instance.ID) || !strings.Contains(out, m.Instance.Path)) {
					t.Errorf("id or path of ghost %s is not in the text in one piece", m.Name)
				}
			}
		}
	}
	for _, m := range r.InfraMachines {
		if !strings.Contains(out, m.Instance.ID) || !strings.Contains(out, m.Instance.Path) {
			t.Errorf("id or path of %s is not in the text in one piece", m.Instance.Name)
		}
	}
}

func TestManyHealthyTakeOneLine(t *testing.T) {
	rows := func(workers int) []string {
		p := buildtest.Sample()
		p.Result.Clusters[5] = buildtest.Big(workers)
		return strings.Split(printed(t, build.New(p), Options{}), "\n")
	}
	few, many := rows(27), rows(2000)
	if len(few) != len(many) {
		t.Errorf("%d rows for 27 workers, %d for 2000", len(few), len(many))
	}
	if !slices.ContainsFunc(many, func(s string) bool { return strings.Contains(s, "tenant-zeta/zeta  Healthy  2001 Healthy") }) {
		t.Error("2000 workers are not mentioned")
	}
}

// TestColorSaysNothingOfItsOwn: without the colours the text is the same.
func TestColorSaysNothingOfItsOwn(t *testing.T) {
	r := build.New(buildtest.Sample())
	colored := printed(t, r, Options{Color: true})
	if !strings.Contains(colored, "\x1b[31m") {
		t.Fatal("no colour")
	}
	for row := range strings.Lines(colored) {
		if at := strings.LastIndex(row, "\x1b["); at >= 0 && !strings.HasPrefix(row[at:], "\x1b[0m") {
			t.Errorf("the colour of %q runs on", row)
		}
	}
	if got, want := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(colored, ""), printed(t, r, Options{}); got != want {
		t.Errorf("without colours:\n%s\nwant:\n%s", got, want)
	}
}

func TestTextShowsNothingRaw(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 4))
	reports := []*report.Report{build.New(buildtest.Hostile())}
	for range 100 {
		r := reporttest.Filled(g)
		if g.IntN(2) == 0 { // statuses and codes of a report that was read may be anything too
			reporttest.Fill(g, reflect.ValueOf(&r.Summary.Status).Elem())
			for i := range r.Clusters {
				for j := range r.Clusters[i].ControlPlane.Machines {
					reporttest.Fill(g, reflect.ValueOf(&r.Clusters[i].ControlPlane.Machines[j].Status).Elem())
				}
			}
		}
		reports = append(reports, r)
	}
	for _, r := range reports {
		out := printed(t, r, Options{All: g.IntN(2) == 0})
		if terminal.Escape(out) != strings.ReplaceAll(out, "\n", `\x0a`) {
			t.Fatalf("raw characters in:\n%q", out)
		}
	}
}

// TestTextCountsAreThoseOfTheJSON reads the numbers of the text, which must be
// where they belong: no foreign string can begin a row that looks like them.
func TestTextCountsAreThoseOfTheJSON(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		want := reporttest.Filled(g)
		r, err := report.Read(bytes.NewReader(reporttest.JSON(t, want)))
		if err != nil {
			t.Fatal(err)
		}
		m, c := want.Summary.Machines, want.Summary.Clusters
		rows := strings.Split(printed(t, r, Options{Width: 300}), "\n")
		for _, row := range []string{
			fmt.Sprintf("Machines    %d in %s: %d Ghost, %d Unknown, %d Stale, %d Healthy",
				m.Total, english.Count(c.Total, "cluster"), m.Ghost, m.Unknown, m.Stale, m.Healthy),
			fmt.Sprintf("Clusters    %d: %d ManualRemediationRequired, %d NeedFurtherConfirmation, %d ManualRemediationNotRequired, %d Healthy",
				c.Total, c.ManualRemediationRequired, c.NeedFurtherConfirmation, c.ManualRemediationNotRequired, c.Healthy),
		} {
			label, _, _ := strings.Cut(row, "  ")
			var got []string
			for _, have := range rows {
				if strings.HasPrefix(have, label+"  ") {
					got = append(got, have)
				}
			}
			if !slices.Equal(got, []string{row}) {
				t.Fatalf("rows %q, want one, %q", got, row)
			}
		}
	}
}

// TestFindingsComeByUrgency: clusters and machines, Ghost before Unknown before Stale.
func TestFindingsComeByUrgency(t *testing.T) {
	g := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		c := buildtest.Drifted()
		ms := c.WorkerGroups[0].Machines
		g.Shuffle(len(ms), func(i, j int) { ms[i], ms[j] = ms[j], ms[i] })
		p := buildtest.Sample()
		p.Result.Clusters = []detector.Cluster{buildtest.Blind(), c, buildtest.Self()}
		g.Shuffle(3, func(i, j int) { cs := p.Result.Clusters; cs[i], cs[j] = cs[j], cs[i] })
		_, findings, _ := strings.Cut(printed(t, build.New(p), Options{}), "\nCLUSTERS\n")
		last := -1
		for _, want := range []string{"alpha-prod  Manual", "! Ghost", "? Unknown alpha-prod-md-0", "- Stale   alpha-prod-md-1", "beta-prod  ", "mgmt  "} {
			at := strings.Index(findings, want)
			if at <= last {
				t.Fatalf("%q is at %d, not after %d, in:\n%s", want, at, last, findings)
			}
			last = at
		}
	}
}

func TestPlacesThatWereNotListedFold(t *testing.T) {
	p := buildtest.Sample()
	p.Result.Clusters = []detector.Cluster{buildtest.Blind()}
	if out := printed(t, build.New(p), Options{}); strings.Contains(out, "beta-prod-md-0-11") || !strings.Contains(out, "? Unknown 12 machines  ScopeIncomplete") || !strings.Contains(out, "and 2 more") {
		t.Errorf("twelve machines of one vCenter that is down are not one line:\n%s", out)
	}
	ms := p.Result.Clusters[0].WorkerGroups[0].Machines
	for _, odd := range []int{0, 7, 11} {
		was := ms[odd].Message
		ms[odd].Message = "another reason"
		if out := printed(t, build.New(p), Options{}); !strings.Contains(out, fmt.Sprintf("? Unknown beta-prod-md-0-%02d  ScopeIncomplete", odd)) || !strings.Contains(out, "11 machines") {
			t.Errorf("the reason of some is shown as that of all:\n%s", out)
		}
		ms[odd].Message = was
	}
	if out := printed(t, build.New(p), Options{All: true}); !strings.Contains(out, "beta-prod-md-0-07") {
		t.Errorf("with All every machine has its line:\n%s", out)
	}
	ms[7].Others = []infra.Instance{*buildtest.VM(1, "/f", "elsewhere")}
	if out := printed(t, build.New(p), Options{}); !strings.Contains(out, "/f/elsewhere") || !strings.Contains(out, "? Unknown 11 machines  ScopeIncomplete") {
		t.Errorf("what was found of a machine must not be folded away:\n%s", out)
	}
	p.Result.Clusters[0].WorkerGroups[0].Machines = ms[:3]
	if out := printed(t, build.New(p), Options{}); !strings.Contains(out, "beta-prod-md-0-02") {
		t.Errorf("few machines must be named:\n%s", out)
	}
}

// TestSomeMachinesOfNoSupportedProvider: a cluster is more than its machines
// that are not supported.
func TestSomeMachinesOfNoSupportedProvider(t *testing.T) {
	p := buildtest.Sample()
	c := buildtest.Big(3)
	c.WorkerGroups = append(c.WorkerGroups, buildtest.Unsupported().WorkerGroups...)
	p.Result.Clusters = []detector.Cluster{c}
	out := printed(t, build.New(p), Options{})
	for _, want := range []string{"2 Unknown, 4 Healthy", "provider not supported: 2 Unknown"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "aws-prod-md-0-1") {
		t.Errorf("machines that nothing is known of are listed:\n%s", out)
	}
}

// TestAnErrorIsToldOnce: what a scope says of itself is no second error, any
// other error of that scope is.
func TestAnErrorIsToldOnce(t *testing.T) {
	p := buildtest.Sample()
	again, other := p.Result.Errors[0], p.Result.Errors[0]
	other.Message = "the session was lost"
	p.Result.Errors = []detector.Error{again, other, {Message: again.Message}}
	out := printed(t, build.New(p), Options{})
	if !strings.Contains(out, "ERRORS (2)") || !strings.Contains(out, other.Message) {
		t.Errorf("want two errors, one of scope and one of none:\n%s", out)
	}
}

func TestSeveralBackupsAreToldApart(t *testing.T) {
	p := buildtest.Sample()
	p.Snapshot.Backups = append(p.Snapshot.Backups, backup.Info{Path: "region-data.tar.gz", WrittenFrom: buildtest.Moment, WrittenTo: buildtest.Moment})
	p.Snapshot.Absent[0].Backup = 1
	c := buildtest.Big(3)
	c.ID.Backup = 1
	p.Result.Clusters = []detector.Cluster{buildtest.Big(2), c}
	out := printed(t, build.New(p), Options{Width: 200})
	for _, want := range []string{"3 Healthy  backup 1", "4 Healthy  backup 2", "Backup      region-data.tar.gz", "tenant-beta/beta-prod\n    in region-data.tar.gz"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// A backup that cannot be restored is not safe to restore, however well
// its machines are.
func TestAnswerOfAnUnfitBackup(t *testing.T) {
	p := buildtest.Healthy()
	if a := build.New(p).Answer(); a.Safe != "YES" {
		t.Fatalf("without checks it says %s", a.Safe)
	}
	p.Checks = buildtest.Checks()
	a := build.New(p).Answer()
	if a.Safe != "NO" || a.Status != code.Healthy || !strings.HasPrefix(a.Facts[0].Text, "Every machine of the backup has its VM.") {
		t.Errorf("it says %s, status %s, first %+v", a.Safe, a.Status, a.Facts[0])
	}
}

// Every finding is there by its name, and what is said of sets, resources, notes,
// places, missing objects and rules.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(100) {
		r := reporttest.Random(seed)
		out := printed(t, r, Options{Width: 10000})
		var want []string
		say := func(texts ...string) { want = append(want, texts...) }
		for i := range r.Clusters {
			c := &r.Clusters[i]
			say(terminal.Quoted(c.Title()))
			for _, s := range c.Sets() {
				say(string(s.Reason))
				if s.Pool != nil {
					say(s.Pool.Message)
				}
				for j := range s.Machines {
					if m := &s.Machines[j]; m.Ignored != nil {
						say(terminal.Quoted(m.Name), m.Ignored.Reason)
					} else if m.Finding() && m.Reason != code.UnsupportedProvider && m.Reason != code.ScopeIncomplete {
						say(terminal.Quoted(m.Name), string(m.Reason))
						for _, w := range m.Warnings {
							say(string(w.Reason), w.Message)
						}
						if m.Instance != nil && m.Status != code.Healthy {
							say(m.Instance.ID, m.Instance.Ref)
						}
					}
				}
			}
			for _, x := range c.Resources {
				if x.State != code.Present {
					say(terminal.Quoted(x.Name))
				}
			}
		}
		for i := range r.InfraMachines {
			if m := &r.InfraMachines[i]; m.Ignored != nil {
				say(terminal.Quoted(m.Instance.Name), m.Ignored.Reason)
			} else {
				say(terminal.Quoted(m.Instance.Name), m.Instance.ID)
			}
		}
		for _, s := range r.Incomplete() {
			say(string(s.State), s.Endpoint)
		}
		for _, e := range r.OtherErrors() {
			say(e.Message, e.Hint)
		}
		for _, n := range r.ClusterNotes() {
			say(string(n.Code))
		}
		for _, b := range r.Backups {
			for _, m := range b.Missing {
				say(m.Kind, m.ReferredBy, m.Why)
			}
		}
		plain := strings.Join(strings.Fields(out), " ")
		for _, w := range want {
			if w = strings.Join(strings.Fields(terminal.Escape(w)), " "); !strings.Contains(plain, w) {
				t.Fatalf("report %d: no %q in:\n%s", seed, w, out)
			}
		}
	}
}
