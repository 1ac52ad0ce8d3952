package html

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

// Each outcome has a mark of its own words, and the colour of the answer that it leaves.
func TestEveryOutcomeHasAMark(t *testing.T) {
	by := map[string]string{}
	for word, mark := range fates {
		if by[mark] != "" {
			t.Errorf("%q and %q are both marked %s", word, by[mark], mark)
		}
		by[mark] = word
	}
	worst := map[code.Safe]string{code.No: "ghost", code.Unclear: "unknown", code.WithWork: "stale", "": "healthy"}
	for _, r := range code.Table {
		if !r.Is(code.Forecast) {
			continue
		}
		for i, runs := range []bool{true, false} {
			f := fateOf(code.Outcome(r.Code), runs, adopted)
			if f.Mark == "" || f.Word == "" {
				t.Errorf("%s has no mark: %+v", r.Code, f)
			}
			if want := worst[code.Of(r.Effects[i]).Safe]; f.Tone != want {
				t.Errorf("%s, running %t: %s, want %s", r.Code, runs, f.Tone, want)
			}
		}
	}
	if f := fateOf("OfALaterRelease", true, adopted); f.Word != notKnown || f.Tone != "unknown" {
		t.Errorf("an outcome that is not known: %+v", f)
	}
}

// The bar has each machine of each cluster that counts once, listed or not.
func TestBarHasEveryMachineOnce(t *testing.T) {
	for seed := range uint64(200) {
		r := reporttest.Random(seed)
		want := r.ToConfirm()
		for i := range r.Clusters {
			if !r.Clusters[i].Self {
				want += r.Clusters[i].Counts.Total
			}
		}
		v := newView(r, nil)
		got := 0
		for _, p := range v.Parts {
			if p.Word != ended {
				got += p.N
			}
		}
		if got != want {
			t.Errorf("seed %d: the bar has %d, the report %d: %v", seed, got, want, v.Parts)
		}
	}
}

// A machine of a cluster that no controller acts on is not called adopted, nor is one that is
// adopted on a condition; members that a pool has too many of are terminated.
func TestAdoptedIsSaidOfWhatIsAdopted(t *testing.T) {
	r := &report.Report{Summary: report.Summary{Answer: &report.SafeAnswer{Safe: code.No, Reasons: []report.AnswerReason{{Code: code.ClusterHalted, Objects: []string{"Cluster n/halted"}}}}}}
	taken := &report.MachineForecast{Outcome: code.Adopted}
	for _, name := range []string{"halted", "well"} {
		c := report.Cluster{Namespace: "n", Name: name, Forecast: &report.ClusterForecast{Outcomes: map[code.Outcome]int{code.Adopted: 3}}, Counts: report.MachineCounts{Total: 3, Healthy: 3}}
		c.Workers.Groups = []report.Group{
			{Machines: []report.Machine{
				{Name: "a", Status: code.Healthy, Forecast: taken},
				{Name: "b", Status: code.Healthy, Forecast: &report.MachineForecast{Outcome: code.Adopted, Condition: "if"}},
			}},
			{Pool: &report.Pool{}, Forecast: &report.GroupForecast{Replicas: report.Replicas{Deleted: 2}}},
		}
		r.Clusters = append(r.Clusters, c)
	}
	v := newView(r, nil)
	var got []string
	for _, p := range v.Parts {
		got = append(got, strings.Repeat(p.Mark, p.N))
	}
	if want := []string{"==", "::::", "----"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if after := v.Clusters[0].After + "|" + v.Clusters[1].After; after != "halted, 2 terminated|2 terminated" {
		t.Error(after)
	}
}

// The line of time has what was created between backup and listing, in order and inside of it.
func TestLineOfTime(t *testing.T) {
	from := time.Date(2026, 11, 21, 4, 6, 0, 0, time.UTC)
	at := func(d time.Duration) *report.Instance {
		created := from.Add(d)
		return &report.Instance{Created: &created}
	}
	r := &report.Report{GeneratedAt: from.Add(100 * time.Hour), Backups: []report.Backup{{WrittenFrom: from.Add(time.Hour)}, {WrittenFrom: from}}}
	c := report.Cluster{}
	for _, d := range []time.Duration{-time.Hour, 90 * time.Minute, 3 * time.Minute, 200 * time.Hour} {
		c.ControlPlane.Machines = append(c.ControlPlane.Machines, report.Machine{Status: code.Ghost, Instance: at(d)}, report.Machine{Status: code.Healthy, Instance: at(time.Second)})
	}
	r.Clusters = []report.Cluster{c}
	v := newView(r, nil)
	var got []string
	for _, m := range v.Moments {
		got = append(got, m.Class+" "+m.Text)
	}
	want := []string{"t0 backup 21 Nov 2026 04:06Z", "t16 first VM created since, 3 minutes later", "t52 ", "t100 listed 25 Nov 2026 08:06Z, 4 days later"}
	if !slices.Equal(got, want) || v.Age != "4 days old" {
		t.Errorf("%q, want %q; %s", got, want, v.Age)
	}
	r.GeneratedAt = from // a clock that is wrong
	if v := newView(r, nil); v.Moments != nil || v.Age != "" {
		t.Errorf("%v %s", v.Moments, v.Age)
	}
}

// Rules that numbers of the report make are part of the style that the policy allows, and hold
// nothing but numbers.
func TestSizesAreNumbers(t *testing.T) {
	for seed := range uint64(50) {
		v := newView(reporttest.Filled(rand.New(rand.NewPCG(seed, 2))), nil)
		for line := range strings.Lines(v.sizes()) {
			if rest := strings.Trim(line, "\n"); strings.Trim(rest, "0123456789.-abcdefghijklmnopqrstuvwxyz :(){}%") != "" {
				t.Errorf("seed %d: %q", seed, line)
			}
		}
	}
}

// A cell says in words what its mark says.
func TestCellsSayWhatBecomesOfTheMachine(t *testing.T) {
	for seed := range uint64(30) {
		r := reporttest.Random(seed)
		_, root := written(t, r)
		marks := map[string]string{}
		for _, n := range find(root, func(n *html.Node) bool { return n.Data == "a" && has(n, "aria-label") }) {
			for word, mark := range fates {
				if strings.Contains(attr(n, "aria-label"), ", "+word) {
					marks[mark] = word
				}
			}
			if marks[content(n)] == "" {
				t.Errorf("seed %d: %s is marked %s", seed, attr(n, "aria-label"), content(n))
			}
		}
	}
}
