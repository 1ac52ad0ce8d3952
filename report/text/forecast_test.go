package text

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/code"
)

// words returns the text without its layout.
func words(t *testing.T, r *report.Report, o Options) string {
	t.Helper()
	return strings.Join(strings.Fields(printed(t, r, o)), " ")
}

// What is to be known before the restore is said once, with the clusters that it
// concerns, and not what is elsewhere in the text.
func TestTextTellsTheNotes(t *testing.T) {
	r := build.New(buildtest.Foretold())
	paused := report.Note{Code: "ClusterPaused", Message: "Paused in the backup"}
	r.Summary.Forecast.Notes = []report.Note{{Code: "OldManagementCluster", Message: "Make sure that it is gone."}, {Code: "NotHealing", Message: "4 will not heal"}}
	for i := range r.Clusters {
		r.Clusters[i].Forecast.Notes = []report.Note{paused, {Code: "RolledOut", Message: "Rolled out after the backup"}}
	}
	r.Clusters[5].Forecast.Notes = append(r.Clusters[5].Forecast.Notes, report.Note{Code: "DuplicateID", Message: "More than one VM has its id"})
	got := words(t, r, Options{})
	for _, want := range []string{
		"Outcomes 23 Adopted, 4 Stuck ", "BEFORE THE RESTORE (3) ? OldManagementCluster Make sure that it is gone. ? ",
		// The management cluster itself and the cluster of no supported provider have none.
		"? ClusterPaused tenant-alpha/alpha-prod, tenant-alpha/alpha-dev, tenant-beta/beta-prod, tenant-zeta/zeta Paused in the backup. ?",
		"? DuplicateID tenant-zeta/zeta More than one VM has its id. CLUSTERS",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, printed(t, r, Options{}))
		}
	}
	if strings.Contains(got, "NotHealing") || strings.Count(got, "Paused in the backup") != 1 {
		t.Errorf("said twice:\n%s", got)
	}
}

func TestTextCountsTheClustersOfANote(t *testing.T) {
	p := buildtest.Foretold()
	r := build.New(p)
	one := r.Clusters[5]
	r.Clusters = nil
	for i := range 8 {
		c := one
		c.Name = fmt.Sprint("c", i)
		r.Clusters = append(r.Clusters, c)
	}
	if got := words(t, r, Options{}); !strings.Contains(got, "tenant-zeta/c3, tenant-zeta/c4, and 3 more gone.") || strings.Contains(got, "zeta/c5, tenant") {
		t.Errorf("the clusters are not counted:\n%s", got)
	}
	if got := words(t, r, Options{All: true}); !strings.Contains(got, "tenant-zeta/c6, tenant-zeta/c7 ") {
		t.Errorf("with All not every cluster is named:\n%s", got)
	}
}

// Each machine's line says what becomes of it where the verdict does not, and the
// same reason once in a cluster.
func TestTextForecastsMachines(t *testing.T) {
	const shown = "after the restore:"
	for name, c := range map[string]struct {
		status    code.Status
		forecast  report.MachineForecast
		says, two string // of one machine, and of a second one in the cluster
	}{
		"Stale":                     {code.Stale, report.MachineForecast{Outcome: "Stuck", Message: "nobody"}, "Stuck: nobody", "Stuck, as above"},
		"Stale, on a condition":     {code.Stale, report.MachineForecast{Outcome: "Stuck", Message: "nobody", Condition: "if so"}, "Stuck: nobody; if so", "Stuck, as above"},
		"Ghost":                     {code.Ghost, report.MachineForecast{Outcome: "GhostKeepsRunning", Message: "unnoticed"}, "", ""},
		"Ghost, on a condition":     {code.Ghost, report.MachineForecast{Outcome: "GhostKeepsRunning", Message: "unnoticed", Condition: "if a worker"}, "GhostKeepsRunning: unnoticed; if a worker", "GhostKeepsRunning, as above"},
		"Ghost, member of etcd":     {code.Ghost, report.MachineForecast{Outcome: "GhostEtcdMemberRemoved", Message: "removed"}, "GhostEtcdMemberRemoved: removed", "GhostEtcdMemberRemoved, as above"},
		"Ghost that is not known":   {code.Ghost, report.MachineForecast{Outcome: "CannotKnow", Message: "it depends"}, "CannotKnow: it depends", "CannotKnow, as above"},
		"Unknown":                   {code.Unknown, report.MachineForecast{Outcome: "CannotKnow", Message: "unknown", Condition: "only once"}, "", ""},
		"Unknown that is stuck":     {code.Unknown, report.MachineForecast{Outcome: "Stuck", Message: "not found"}, "Stuck: not found", "Stuck, as above"},
		"Healthy":                   {code.Healthy, report.MachineForecast{Outcome: "Adopted", Message: "as it is"}, "", ""},
		"Healthy, on a condition":   {code.Healthy, report.MachineForecast{Outcome: "Adopted", Message: "as it is", Condition: "only if"}, "Adopted: as it is; only if", "Adopted, as above"},
		"Healthy, and nobody's job": {code.Healthy, report.MachineForecast{Outcome: "Stuck", Message: "stopped"}, "Stuck: stopped", "Stuck, as above"},
	} {
		t.Run(name, func(t *testing.T) {
			p := buildtest.Foretold()
			p.Result.Clusters = []detector.Cluster{buildtest.Big(2)}
			r := build.New(p)
			r.Clusters[0].Forecast.Text, r.Clusters[0].Workers.Groups[0].Forecast.Rollout = "", nil
			tell := func(ms ...*report.Machine) string {
				for _, m := range ms {
					m.Status, m.Forecast, m.Warnings = c.status, &c.forecast, []report.Warning{{Reason: "Moved", Message: "elsewhere"}}
				}
				_, got, _ := strings.Cut(words(t, r, Options{}), " CLUSTERS")
				got, _, _ = strings.Cut(got, " NOT COMPLETE")
				return got
			}
			ms := r.Clusters[0].Workers.Groups[0].Machines
			if got := tell(&ms[0]); c.says == "" && strings.Contains(got, shown) || c.says != "" && !strings.Contains(got, shown+" "+c.says) {
				t.Errorf("one: %s", got)
			}
			want := 0
			for _, s := range []string{c.says, c.two} {
				if s != "" {
					want++
				}
			}
			got := tell(&ms[0], &r.Clusters[0].ControlPlane.Machines[0]) // of one group they would share a line
			if strings.Count(got, shown) != want || c.forecast.Message != "" && strings.Count(got, c.forecast.Message) > 1 || c.two != "" && !strings.Contains(got, shown+" "+c.two) {
				t.Errorf("two: %s", got)
			}
			if all := words(t, r, Options{All: true}); c.two != "" && strings.Count(all, shown+" "+c.says) != 2 {
				t.Errorf("with All: %s", all)
			}
		})
	}
}

// rolledOut returns a report on a group of which n machines were replaced.
func rolledOut(n int) *report.Report {
	p := buildtest.Foretold()
	c := buildtest.Big(1)
	g := &c.WorkerGroups[0]
	for i := range n {
		ghost := buildtest.Drifted().WorkerGroups[0].Machines[0]
		ghost.Name = fmt.Sprintf("zeta-md-new-%04d", i)
		ghost.Instance = buildtest.VM(1000+i, "/DC0/vm/zeta", ghost.Name)
		g.Machines = append(g.Machines, ghost, buildtest.StaleMachine(2000+i, fmt.Sprintf("zeta-md-old-%04d", i), false))
	}
	p.Result.Clusters = []detector.Cluster{c}
	f := &p.Forecast.Clusters[0]
	f.Groups = []rehearsal.Group{{Machines: buildtest.Forecasts(g.Machines), GroupForecast: report.GroupForecast{Rollout: &report.Rollout{Stale: n, Ghosts: n, Message: "MachineDeployment zeta-md was rolled out"}}}}
	for i := range f.Groups[0].Machines {
		m := &f.Groups[0].Machines[i]
		m.RolledOut = g.Machines[i].Status != code.Healthy
		m.Message = "nobody makes another"
		if g.Machines[i].Status == code.Ghost {
			m.Outcome = code.GhostKeepsRunning
		}
	}
	f.ControlPlane.Machines, f.ControlPlane.Rollout = buildtest.Forecasts(c.ControlPlane.Machines), nil
	f.Notes = []report.Note{{Code: code.RolledOut, Message: "MachineDeployment zeta-md was rolled out"}}
	return build.New(p)
}

func findingsOf(text string) string {
	_, out, _ := strings.Cut(text, "\nCLUSTERS\n")
	out, _, _ = strings.Cut(out, "\n\nVMS TO CONFIRM")
	return out
}

// A rollout is one event: its machines have no lines of their own, and each can
// be found by its name all the same.
func TestTextTellsARolloutOnce(t *testing.T) {
	const n = 20
	r := rolledOut(n)
	out := findingsOf(printed(t, r, Options{}))
	plain := strings.Join(strings.Fields(out), " ")
	if strings.Count(words(t, r, Options{}), "MachineDeployment zeta-md was rolled out.") != 1 {
		t.Errorf("the event is not said once:\n%s", out)
	}
	if strings.Count(plain, "! Ghost ") != 1 || strings.Count(plain, "- Stale ") != 1 || strings.Count(plain, "after the restore: Stuck: nobody makes another") != 1 {
		t.Errorf("more lines than one for each verdict:\n%s", out)
	}
	for i := range n {
		for _, name := range []string{fmt.Sprintf("zeta-md-old-%04d", i), fmt.Sprintf("zeta-md-new-%04d", i)} {
			if strings.Count(out, name) != 1 {
				t.Errorf("%s is not found", name)
			}
		}
	}
	if !strings.Contains(plain, fmt.Sprintf("%d Ghost, %d Stale, 1 Healthy", n, n)) {
		t.Errorf("the counts are not there:\n%s", out)
	}
	for row := range strings.Lines(out) {
		if utf8.RuneCountInString(row) > 81 {
			t.Errorf("a row of %d: %q", utf8.RuneCountInString(row), row)
		}
	}
	all := findingsOf(printed(t, r, Options{All: true}))
	if strings.Count(all, "! Ghost ") != n || strings.Count(all, "- Stale ") != n || strings.Count(all, "was rolled out") != 1 {
		t.Errorf("with All every machine has its line:\n%s", all)
	}
}

// Few machines, and those of which there is more to say, keep their lines.
func TestTextFoldsOnlyWhatIsAlike(t *testing.T) {
	if out := findingsOf(printed(t, rolledOut(1), Options{})); !strings.Contains(out, "was rolled out") || !strings.Contains(out, "/DC0/vm/zeta/zeta-md-new-0000") {
		t.Errorf("two machines are folded:\n%s", out)
	}
	r := rolledOut(5)
	ms := r.Clusters[0].Workers.Groups[0].Machines
	odd := slices.IndexFunc(ms, func(m report.Machine) bool { return m.Name == "zeta-md-old-0002" })
	ms[odd].Warnings = []report.Warning{{Reason: "SameNameElsewhere", Message: "another VM has its name"}}
	other := slices.IndexFunc(ms, func(m report.Machine) bool { return m.Name == "zeta-md-new-0003" })
	ms[other].Forecast.RolledOut = false
	left := slices.IndexFunc(ms, func(m report.Machine) bool { return m.Name == "zeta-md-old-0004" })
	ms[left].Forecast.Outcome, ms[left].Forecast.Message = "StuckNodeLeft", "its Node is there"
	changed := slices.IndexFunc(ms, func(m report.Machine) bool { return m.Name == "zeta-md-old-0001" })
	ms[changed].Forecast.Message = "nobody, for a reason of its own"
	out := strings.NewReplacer("│ ", "", "├─", "", "└─", "").Replace(findingsOf(printed(t, r, Options{})))
	out = strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"SameNameElsewhere: another VM has its name",
		"/DC0/vm/zeta/zeta-md-new-0003",
		"after the restore: StuckNodeLeft: its Node is there",
		"after the restore: Stuck: nobody, for a reason of its own",
		"- Stale 2 machines InstanceNotFound",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, findingsOf(printed(t, r, Options{})))
		}
	}
}

// The whole of a forecast fits the terminal, like everything else.
func TestTextOfAForecastFitsTheTerminal(t *testing.T) {
	_, part, _ := strings.Cut(printed(t, rolledOut(6), Options{}), "\nCLUSTERS\n")
	part, _, _ = strings.Cut(part, "\nVMS TO CONFIRM")
	golden(t, "foretold", part)
	for _, width := range []int{40, 80, 132} {
		for row := range strings.Lines(printed(t, build.New(buildtest.Foretold()), Options{Width: width})) {
			if row = strings.TrimRight(row, "\n"); utf8.RuneCountInString(row) > width && strings.Contains(strings.TrimLeft(row, " │├└─"), " ") {
				t.Errorf("width %d: %q", width, row)
			}
		}
	}
}

func TestTextForecastsInALinePerCluster(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, filled(buildtest.Foretold()), Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	// Of the six clusters one is of a provider that is not supported.
	if n := strings.Count(text, "after the restore: 1 adopted"); n != 5 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}
