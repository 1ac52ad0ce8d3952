package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/outline"
)

// fate is what a restore makes of machines, in the words of the screen.
type fate struct {
	face
	Word string
}

// fates are the marks of what outcomes are in the words of the screen: those of the cells, which
// a word beside the bar explains.
var fates = map[string]string{
	adopted: "=", conditional: ":", warned: "*", "found by name": "~", "started": "^", "re-created": "+", "gone": "_",
	"broken": "x", "not reconciled": "|", "unmanaged": "!", "leave etcd": "e", "duplicated": "2",
	"replaced": "%", "deleted": "#", "take another VM": "@", notKnown: "?",
}

// Words for what the screen has none, because it says only what is not as it should be.
const (
	adopted     = "adopted"
	conditional = "adopted on a condition"
	warned      = "adopted, with a warning"
	notKnown    = "not known"
	toConfirm   = "to confirm"
	ended       = "terminated in pools"
)

// fateOf returns what becomes of machines with an outcome, and of one that is adopted in a word. Its
// colour is that of the answer that the outcome leaves, which depends on whether an instance runs.
func fateOf(outcome code.Outcome, runs bool, ofAdopted string) fate {
	row := code.Of(outcome)
	if row.Code == "" {
		return fate{face{tone(code.Unknown), fates[notKnown]}, notKnown}
	}
	word := cmp.Or(row.Screen, ofAdopted)
	effect := row.Effects[1]
	if runs {
		effect = row.Effects[0]
	}
	colour := cmp.Or(tones[word], "healthy")
	if safe := code.Of(effect).Safe; safe != "" {
		colour = tones[string(safe)]
	}
	return fate{face{colour, fates[word]}, word}
}

// tones are the colours of answers, and of what is adopted.
var tones = map[string]string{
	string(code.No): "ghost", string(code.Unclear): "unknown", string(code.WithWork): "stale", string(code.Yes): "healthy",
	conditional: "stale", warned: "warned",
}

// fateIn returns what becomes of a machine of a cluster.
func (v *view) fateIn(c *report.Cluster, m *report.Machine) fate {
	if m.Forecast == nil {
		return fateOf("", false, "")
	}
	word := adopted
	switch {
	case v.after.Halted(c):
		word = conditional
	case m.Status == code.Healthy && m.Finding():
		word = warned
	case m.Forecast.Condition != "":
		word = conditional
	}
	return fateOf(m.Forecast.Outcome, m.Status != code.Stale, word)
}

// part is a part of the bar: so many machines or VMs of one fate.
type part struct {
	fate
	N int
}

// parts returns those of the bar, from what stays as it is to what is not known.
func (v *view) parts() []part {
	n := map[fate]int{}
	members := 0
	for i := range v.Report.Clusters {
		c := &v.Report.Clusters[i]
		if c.Self {
			continue
		}
		members += outline.Terminated(c)
		v.count(c, n)
	}
	var out []part
	add := func(f fate, count int) {
		if count > 0 {
			out = append(out, part{f, count})
		}
	}
	words := []string{adopted, warned, conditional}
	for _, r := range slices.Backward(code.Table) {
		if r.Is(code.Forecast) && r.Screen != "" && r.Screen != notKnown && !slices.Contains(words, r.Screen) {
			words = append(words, r.Screen)
		}
	}
	for _, word := range append(words, notKnown) {
		for _, tone := range []string{"healthy", "warned", "stale", "unknown", "ghost"} {
			f := fate{face{tone, fates[word]}, word}
			if word == notKnown {
				add(fate{face{"ghost", "-"}, ended}, members)
				members = 0
			}
			add(f, n[f])
		}
	}
	add(fate{face{"unknown", "?"}, toConfirm}, v.ToConfirm())
	return out
}

// count counts the machines of a cluster by what becomes of them. Those that the report
// leaves out of its lists are in the counts of the forecast alone.
func (v *view) count(c *report.Cluster, n map[fate]int) {
	listed, total := map[code.Outcome]int{}, 0
	for _, s := range c.Sets() {
		for j := range s.Machines {
			n[v.fateIn(c, &s.Machines[j])]++
			total++
			if f := s.Machines[j].Forecast; f != nil {
				listed[f.Outcome]++
			}
		}
	}
	if c.Forecast != nil {
		for outcome, all := range c.Forecast.Outcomes {
			if more := all - listed[outcome]; more > 0 {
				word := adopted
				if v.after.Halted(c) {
					word = conditional
				}
				n[fateOf(outcome, true, word)] += more
				total += more
			}
		}
	}
	n[fateOf("", false, "")] += max(0, c.Counts.Total-total)
}

// moment is a point of the line of time, whose names are beside it.
type moment struct {
	Kind, Text string
	Class      string // of its place
}

// mostMoments is how many moments of drift the line has.
const mostMoments = 12

// moments returns the line of time: the oldest backup, what was created since, and when it was listed.
// A minute after the backup counts as much as a day later: the line is logarithmic.
func (v *view) moments() []moment {
	var from time.Time
	for i := range v.Backups {
		if at := v.Backups[i].WrittenFrom; from.IsZero() || !at.IsZero() && at.Before(from) {
			from = at
		}
	}
	now := v.GeneratedAt
	if from.IsZero() || !now.After(from) {
		return nil
	}
	out := []moment{{"backup", v.Subject() + " " + day(from), v.place(0)}}
	drift := v.drift(from, now)
	last := ""
	for i, d := range drift {
		m := moment{"drift", "", v.place(math.Log1p(d.Minutes()) / math.Log1p(now.Sub(from).Minutes()))}
		if i == 0 {
			m.Text = "first VM created since, " + ago(d) + " later"
		}
		if m.Class != last && len(out) <= mostMoments {
			out = append(out, m)
		}
		last = m.Class
	}
	return append(out, moment{"now", "listed " + day(now) + ", " + ago(now.Sub(from)) + " later", v.place(1)})
}

// drift returns how long after the backup VMs were created that it lacks, the first of them first.
func (v *view) drift(from, to time.Time) []time.Duration {
	var out []time.Duration
	add := func(i *report.Instance) {
		if i != nil && i.Created != nil && i.Created.After(from) && i.Created.Before(to) {
			out = append(out, i.Created.Sub(from))
		}
	}
	for i := range v.Report.Clusters {
		for _, s := range v.Report.Clusters[i].Sets() {
			for j := range s.Machines {
				if s.Machines[j].Status == code.Ghost {
					add(s.Machines[j].Instance)
				}
			}
		}
	}
	for i := range v.InfraMachines {
		add(&v.InfraMachines[i].Instance)
	}
	slices.Sort(out)
	return out
}

// steps is how many places the line of time has.
const steps = 100

// place returns the class of a place on the line, from 0 to 1.
func (v *view) place(at float64) string { return fmt.Sprint("t", math.Round(at*steps)) }

// sizes returns the rules of the style that numbers of the report make: a policy that allows no
// style of an element allows none there.
func (v *view) sizes() string {
	var b strings.Builder
	for i, p := range v.Parts {
		fmt.Fprintf(&b, ".bar-parts :nth-child(%d) { flex-grow: %d }\n", i+1, p.N)
	}
	seen := map[string]bool{}
	for _, m := range v.Moments {
		if !seen[m.Class] {
			seen[m.Class] = true
			fmt.Fprintf(&b, ".%s { inset-inline-start: %s%% }\n", m.Class, strings.TrimPrefix(m.Class, "t"))
		}
	}
	return b.String()
}

func day(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04Z") }

// ago returns how long something is, in the unit that says enough.
func ago(d time.Duration) string {
	switch {
	case d < time.Hour:
		return english.Count(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return english.Count(int(d.Hours()), "hour")
	}
	return english.Count(int(d.Hours()/24), "day")
}
