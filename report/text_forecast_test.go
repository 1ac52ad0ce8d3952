package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"drift-detector/detector"
	"drift-detector/detector/forecast"
)

// words is the text without its layout.
func words(t *testing.T, r *Report, o TextOptions) string {
	t.Helper()
	return strings.Join(strings.Fields(text(t, r, o)), " ")
}

// What is to be known before the restore is told once, with the clusters that it
// concerns, and not what stands elsewhere in the text.
func TestTextTellsTheNotes(t *testing.T) {
	r := New(foretold())
	paused := Note{"ClusterPaused", "Paused in the backup"}
	r.Summary.Forecast.Notes = []Note{{"OldManagementCluster", "Make sure that it is gone."}, {"NotHealing", "4 will not heal"}}
	for i := range r.Clusters {
		r.Clusters[i].Forecast.Notes = []Note{paused, {"RolledOut", "Rolled out after the backup"}}
	}
	r.Clusters[5].Forecast.Notes = append(r.Clusters[5].Forecast.Notes, Note{"DuplicateID", "More than one VM bears its id"})
	got := words(t, r, TextOptions{})
	for _, want := range []string{
		"AFTER THE RESTORE Outcomes 23 Adopted, 4 Stuck ? OldManagementCluster Make sure that it is gone. ? ",
		// The management cluster itself and the cluster of no supported provider have none.
		"? ClusterPaused tenant-alpha/alpha-prod, tenant-alpha/alpha-dev, tenant-beta/beta-prod, tenant-zeta/zeta Paused in the backup. ?",
		"? DuplicateID tenant-zeta/zeta More than one VM bears its id. FINDINGS",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, text(t, r, TextOptions{}))
		}
	}
	if strings.Contains(got, "NotHealing") || strings.Count(got, "Paused in the backup") != 1 {
		t.Errorf("told twice:\n%s", got)
	}
}

func TestTextCountsTheClustersOfANote(t *testing.T) {
	p := foretold()
	r := New(p)
	one := r.Clusters[5]
	r.Clusters = nil
	for i := range 8 {
		c := one
		c.Name = fmt.Sprint("c", i)
		r.Clusters = append(r.Clusters, c)
	}
	if got := words(t, r, TextOptions{}); !strings.Contains(got, "tenant-zeta/c3, tenant-zeta/c4 and 3 more gone.") || strings.Contains(got, "zeta/c5, tenant") {
		t.Errorf("the clusters are not counted:\n%s", got)
	}
	if got := words(t, r, TextOptions{All: true}); !strings.Contains(got, "tenant-zeta/c6, tenant-zeta/c7 ") {
		t.Errorf("with All not every cluster is named:\n%s", got)
	}
}

// Each machine's line says what becomes of it where the verdict does not, and the
// same reason once in a cluster.
func TestTextForecastsMachines(t *testing.T) {
	const shown = "after the restore:"
	for name, c := range map[string]struct {
		status    string
		forecast  MachineForecast
		says, two string // of one machine, and of a second one in the cluster
	}{
		"Stale":                     {Stale, MachineForecast{Outcome: "Stuck", Message: "nobody"}, "Stuck: nobody", "Stuck, as above"},
		"Stale, on a condition":     {Stale, MachineForecast{Outcome: "Stuck", Message: "nobody", Condition: "if so"}, "Stuck: nobody; if so", "Stuck, as above"},
		"Ghost":                     {Ghost, MachineForecast{Outcome: "GhostKeepsRunning", Message: "unnoticed"}, "", ""},
		"Ghost, on a condition":     {Ghost, MachineForecast{Outcome: "GhostKeepsRunning", Message: "unnoticed", Condition: "if a worker"}, "GhostKeepsRunning, if a worker", "GhostKeepsRunning, as above"},
		"Ghost, member of etcd":     {Ghost, MachineForecast{Outcome: "GhostEtcdMemberRemoved", Message: "removed"}, "GhostEtcdMemberRemoved: removed", "GhostEtcdMemberRemoved, as above"},
		"Ghost that is not known":   {Ghost, MachineForecast{Outcome: "CannotKnow", Message: "it depends"}, "CannotKnow: it depends", "CannotKnow, as above"},
		"Unknown":                   {Unknown, MachineForecast{Outcome: "CannotKnow", Message: "unknown", Condition: "only once"}, "", ""},
		"Unknown that is stuck":     {Unknown, MachineForecast{Outcome: "Stuck", Message: "not found"}, "Stuck: not found", "Stuck, as above"},
		"Healthy":                   {Healthy, MachineForecast{Outcome: "Adopted", Message: "as it is"}, "", ""},
		"Healthy, on a condition":   {Healthy, MachineForecast{Outcome: "Adopted", Message: "as it is", Condition: "only if"}, "Adopted, only if", "Adopted, as above"},
		"Healthy, and nobody's job": {Healthy, MachineForecast{Outcome: "Stuck", Message: "stopped"}, "Stuck: stopped", "Stuck, as above"},
	} {
		t.Run(name, func(t *testing.T) {
			p := foretold()
			p.Result.Clusters = []detector.Cluster{sampleBig(2)}
			r := New(p)
			r.Clusters[0].Forecast.Text, r.Clusters[0].Workers.Groups[0].Forecast.Rollout = "", nil
			tell := func(ms ...*Machine) string {
				for _, m := range ms {
					m.Status, m.Forecast, m.Warnings = c.status, &c.forecast, []Warning{{"Moved", "elsewhere"}}
				}
				_, got, _ := strings.Cut(words(t, r, TextOptions{}), "FINDINGS")
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
			got := tell(&ms[0], &ms[1])
			if strings.Count(got, shown) != want || c.forecast.Message != "" && strings.Count(got, c.forecast.Message) > 1 || c.two != "" && !strings.Contains(got, shown+" "+c.two) {
				t.Errorf("two: %s", got)
			}
			if all := words(t, r, TextOptions{All: true}); c.two != "" && strings.Count(all, shown+" "+c.says) != 2 {
				t.Errorf("with All: %s", all)
			}
		})
	}
}

// rolledOut is a report on a group of which n machines were replaced.
func rolledOut(n int) *Report {
	p := foretold()
	c := sampleBig(1)
	g := &c.WorkerGroups[0]
	for i := range n {
		ghost := sampleDrifted().WorkerGroups[0].Machines[0]
		ghost.Name = fmt.Sprintf("zeta-md-new-%04d", i)
		ghost.Instance = sampleVM(1000+i, "/DC0/vm/zeta", ghost.Name)
		g.Machines = append(g.Machines, ghost, sampleStale(2000+i, fmt.Sprintf("zeta-md-old-%04d", i), false))
	}
	p.Result.Clusters = []detector.Cluster{c}
	f := &p.Forecast.Clusters[0]
	f.Groups = []forecast.Group{{Machines: fates(g.Machines), Rollout: &forecast.Rollout{Stale: n, Ghosts: n, Message: "MachineDeployment zeta-md was rolled out"}}}
	for i := range f.Groups[0].Machines {
		m := &f.Groups[0].Machines[i]
		m.RolledOut = g.Machines[i].Status != detector.Healthy
		m.Message = "nobody makes another"
		if g.Machines[i].Status == detector.Ghost {
			m.Outcome = forecast.GhostKeepsRunning
		}
	}
	f.ControlPlane.Machines, f.ControlPlane.Rollout = fates(c.ControlPlane.Machines), nil
	f.Notes = []forecast.Note{{Code: forecast.RolledOut, Message: "MachineDeployment zeta-md was rolled out"}}
	return New(p)
}

func findingsOf(text string) string {
	_, out, _ := strings.Cut(text, "\nFINDINGS\n")
	out, _, _ = strings.Cut(out, "\n\nVMS TO CONFIRM")
	return out
}

// A rollout is one event: its machines have no lines of their own, and each can
// be found by its name all the same.
func TestTextTellsARolloutOnce(t *testing.T) {
	const n = 20
	r := rolledOut(n)
	out := findingsOf(text(t, r, TextOptions{}))
	plain := strings.Join(strings.Fields(out), " ")
	if strings.Count(words(t, r, TextOptions{}), "MachineDeployment zeta-md was rolled out.") != 1 {
		t.Errorf("the event is not told once:\n%s", out)
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
	all := findingsOf(text(t, r, TextOptions{All: true}))
	if strings.Count(all, "! Ghost ") != n || strings.Count(all, "- Stale ") != n || strings.Count(all, "was rolled out") != 1 {
		t.Errorf("with All every machine has its line:\n%s", all)
	}
}

// Few machines, and those of which there is more to say, keep their lines.
func TestTextFoldsOnlyWhatIsAlike(t *testing.T) {
	if out := findingsOf(text(t, rolledOut(1), TextOptions{})); !strings.Contains(out, "was rolled out") || !strings.Contains(out, "/DC0/vm/zeta/zeta-md-new-0000") {
		t.Errorf("two machines are folded:\n%s", out)
	}
	r := rolledOut(5)
	ms := r.Clusters[0].Workers.Groups[0].Machines
	odd := slices.IndexFunc(ms, func(m Machine) bool { return m.Name == "zeta-md-old-0002" })
	ms[odd].Warnings = []Warning{{"SameNameElsewhere", "another VM has its name"}}
	other := slices.IndexFunc(ms, func(m Machine) bool { return m.Name == "zeta-md-new-0003" })
	ms[other].Forecast.RolledOut = false
	left := slices.IndexFunc(ms, func(m Machine) bool { return m.Name == "zeta-md-old-0004" })
	ms[left].Forecast.Outcome, ms[left].Forecast.Message = "StuckNodeLeft", "its Node is there"
	changed := slices.IndexFunc(ms, func(m Machine) bool { return m.Name == "zeta-md-old-0001" })
	ms[changed].Forecast.Message = "nobody, for a reason of its own"
	out := strings.Join(strings.Fields(findingsOf(text(t, r, TextOptions{}))), " ")
	for _, want := range []string{
		"SameNameElsewhere: another VM has its name",
		"/DC0/vm/zeta/zeta-md-new-0003",
		"zeta-md-old-0004 after the restore: StuckNodeLeft: its Node is there",
		"zeta-md-old-0003 after the restore: Stuck -", // their reasons differ
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, findingsOf(text(t, r, TextOptions{})))
		}
	}
}

// The whole of a forecast fits the terminal, like everything else.
func TestTextOfAForecastFitsTheTerminal(t *testing.T) {
	_, part, _ := strings.Cut(text(t, rolledOut(6), TextOptions{}), "\nCLUSTERS\n")
	part, _, _ = strings.Cut(part, "\nVMS TO CONFIRM")
	golden(t, "foretold", part)
	for _, width := range []int{40, 80, 132} {
		for row := range strings.Lines(text(t, New(foretold()), TextOptions{Width: width})) {
			if row = strings.TrimRight(row, "\n"); utf8.RuneCountInString(row) > width && strings.Contains(strings.TrimSpace(row), " ") {
				t.Errorf("width %d: %q", width, row)
			}
		}
	}
}
