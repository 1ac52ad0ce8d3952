package scene

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/check"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/plan"
)

// Played is how a scene ended.
type Played struct {
	Scene  Scene
	Trace  rehearsal.Trace
	Report *report.Report
}

// Play plays the scenes of a folder, and gives each to a function, with what failed.
func Play(folder string, r *infra.Registry, each func(Scene, func() (*Played, error))) error {
	return without("", folder, r, each)
}

// without plays the scenes without the steps of a provider's row.
func without(row, folder string, r *infra.Registry, each func(Scene, func() (*Played, error))) error {
	scenes, err := Read(folder)
	bases := map[string]*base{}
	for i := 0; err == nil && i < len(scenes); i++ {
		s := scenes[i]
		if bases[s.Base] == nil {
			if bases[s.Base], err = readBase(filepath.Join(folder, s.Base)); err != nil {
				break
			}
		}
		each(s, func() (*Played, error) { return play(r, bases[s.Base], s, row) })
	}
	return err
}

// Run plays the scenes of a folder, each as a test of its own, and fails for a row that has no
// scene in which it passes, or for one of its answers.
func Run(t *testing.T, folder string, r *infra.Registry, rows []walk.Row) {
	has := map[string]bool{}
	err := Play(folder, r, func(s Scene, end func() (*Played, error)) {
		t.Run(strings.TrimSuffix(s.File, ".scene")+"/"+s.Name, func(t *testing.T) {
			p, err := end()
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range p.Unmet() {
				t.Error(problem)
			}
			for _, line := range s.Expect {
				words := strings.Fields(line)
				if len(words) > 1 {
					has[words[0]+" "+words[1]] = true
				}
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		t.Run(rows[i].ID+"/each answer", func(t *testing.T) {
			for _, answer := range demanded(&rows[i]) {
				if !has[rows[i].ID+" "+string(answer)] {
					t.Errorf("the row has no scene with the answer %q", answer)
				}
			}
		})
	}
}

// demanded returns the answers of a row of which there must be a scene.
func demanded(r *walk.Row) []walk.Found {
	all := []walk.Found{walk.Passed}
	for _, a := range []struct {
		can   bool
		found walk.Found
	}{
		{r.None != walk.Does{}, walk.None},
		{r.Several != walk.Does{}, walk.Several},
		{r.Differs != walk.Does{}, walk.Differs},
		{r.Refused != "", walk.Unread},
		{r.Condition != "", walk.Unseen},
	} {
		if a.can {
			all = append(all, a.found)
		}
	}
	return all
}

// base is a world to which nothing has happened.
type base struct {
	objects objects
	exists  []string
}

func readBase(folder string) (*base, error) {
	all, err := readObjects(filepath.Join(folder, "base.yaml"))
	if err != nil {
		return nil, err
	}
	well, err := readExists(filepath.Join(folder, "base.exists"))
	return &base{all, well}, err
}

func play(r *infra.Registry, in *base, s Scene, without string) (*Played, error) {
	all := clone(in.objects)
	mode := archive.ByVelero
	changed := func(lines []string) (rest []string, err error) {
		for _, line := range lines {
			if line == "by clusterctl" {
				mode = archive.ByClusterctl
				continue
			}
			ours, err := all.change(line)
			if err != nil {
				return nil, err
			}
			if !ours {
				rest = append(rest, line)
			}
		}
		return rest, nil
	}
	if rest, err := changed(s.Before); err != nil || rest != nil {
		return nil, fmt.Errorf("before then: %v %w", rest, err)
	}
	lived, err := load(r, all.tarball())
	if err != nil {
		return nil, err
	}
	inv := exists(r, lived)
	rest, err := changed(s.Then)
	if err != nil {
		return nil, err
	}
	restored := all.tarball()
	restored.Mode = mode
	l, err := load(r, restored)
	if err != nil {
		return nil, err
	}
	if err := change(&inv, slices.Concat(in.exists, rest)); err != nil {
		return nil, err
	}
	l.drop(without)
	p := decide(r, l, inv, now)
	p.Scene = s
	return p, nil
}

// Detect returns what detect does with a backup and a saved inventory, when that was saved.
func Detect(r *infra.Registry, b backup.Source, inv infra.Inventory) (*Played, error) {
	l, err := load(r, b)
	if err != nil {
		return nil, err
	}
	return decide(r, l, inv, inv.Listings[0].ListedAt), nil
}

func decide(r *infra.Registry, l *loaded, inv infra.Inventory, now time.Time) *Played {
	held := rehearsal.ReadSecrets(l.snapshot, l.secrets)
	checks := check.Check(l.snapshot, l.secrets, check.Options{
		Now: now, Velero: make([]*check.VeleroBackup, 1), Newer: make([]*check.NewerBackup, 1), Absent: l.expected.Absent,
		Findings: r.Check(l.snapshot, l.secrets, l.expected, now), Controllers: r.Makers(l.expected),
	})
	// What detect lets go of on its way is not there, either.
	l.snapshot.Keep(append(rehearsal.Needs(l.snapshot), check.InstalledKinds()...)...)
	result := detector.Detect(l.snapshot, l.expected, inv, detector.Options{Now: now})
	l.expected.Decided()
	l.expected.Look(&inv)
	inv.Listings = slices.Clone(inv.Listings)
	for i := range inv.Listings {
		inv.Listings[i].Instances, inv.Listings[i].Unrelated = nil, infra.Unrelated{}
	}
	future := rehearsal.Rehearse(rehearsal.Inputs{
		Snapshot: l.snapshot, Expected: l.expected, Inventory: inv, Result: result, Controllers: r.Controllers(), Secrets: held, Now: now,
	})
	p := &Played{Trace: future.Trace}
	p.Report = build.New(build.Parts{
		Result: result, Forecast: future.Forecast, ByPlan: future.ByPlan, Snapshot: l.snapshot, Inventory: inv, Absent: l.expected.Absent, LoadBalancers: l.expected.LoadBalancers,
		Checks: checks, Providers: r.Specs(), GeneratedAt: now,
	})
	plan.Fill(p.Report, r.Tools())
	return p
}

// Unmet returns the expectations of the scene that do not hold, each with how it ended.
func (p *Played) Unmet() []string {
	var all []string
	for _, line := range p.Scene.Expect {
		if problem := p.lacks(line); problem != "" {
			all = append(all, "=> "+line+": "+problem)
		}
	}
	return all
}

// lacks says why an expectation does not hold, or is empty.
func (p *Played) lacks(line string) string {
	words := strings.Fields(line)
	answer := p.Report.Summary.Answer
	coded := func(code string) bool {
		return slices.ContainsFunc(answer.Reasons, func(r report.AnswerReason) bool { return string(r.Code) == code })
	}
	conditioned := func(code string) bool {
		return slices.ContainsFunc(answer.Conditions, func(n report.Note) bool { return string(n.Code) == code })
	}
	is := func(ok bool) string {
		if ok {
			return ""
		}
		return p.Describe()
	}
	if len(words) < 2 {
		return "too few words"
	}
	switch last := words[len(words)-1]; {
	case words[0] == "answer":
		return is(string(answer.Safe) == words[1])
	case words[0] == "byPlan":
		return is(p.Report.Summary.AnswerByPlan != nil && string(p.Report.Summary.AnswerByPlan.Safe) == words[1])
	case words[0] == "resolved":
		by := p.Report.Summary.AnswerByPlan
		return is(by != nil && slices.ContainsFunc(by.Resolved, func(r report.AnswerReason) bool { return string(r.Code) == last }))
	case words[0] == "reason":
		return is(coded(last))
	case words[0] == "no" && words[1] == "reason":
		return is(!coded(last))
	case words[0] == "condition":
		return is(conditioned(last))
	case words[0] == "no" && words[1] == "condition":
		return is(!conditioned(last))
	case words[0] == "says":
		text := strings.TrimPrefix(line, "says ")
		return is(slices.ContainsFunc(answer.Reasons, func(r report.AnswerReason) bool { return strings.Contains(r.Message, text) }))
	case words[0] == "outcome" && len(words) > 2:
		f := p.forecast(words[1])
		return is(f != nil && string(f.Outcome) == words[2] && strings.Contains(f.Message, strings.Join(words[3:], " ")))
	}
	return is(p.found(words[0], words[1], strings.Join(words[2:], " ")))
}

// found reports whether a row found what is expected.
func (p *Played) found(row, found, subject string) bool {
	var steps []walk.Step
	for _, s := range p.Trace.Steps {
		if s.Row.ID == row {
			steps = append(steps, s)
		}
	}
	switch found {
	case "passes":
		return len(steps) == 0 && p.Trace.Passed[row] > 0
	case "not":
		return len(steps) == 0 && p.Trace.Passed[row] == 0
	}
	return slices.ContainsFunc(steps, func(s walk.Step) bool {
		return string(s.Found) == found && (subject == "" || s.Subject == subject)
	})
}

func (p *Played) forecast(machine string) *report.MachineForecast {
	for i := range p.Report.Clusters {
		for _, set := range p.Report.Clusters[i].Sets() {
			for _, m := range set.Machines {
				if m.Name == machine {
					return m.Forecast
				}
			}
		}
	}
	return nil
}

// Describe says how the scene ended.
func (p *Played) Describe() string {
	var b strings.Builder
	answer := p.Report.Summary.Answer
	fmt.Fprintf(&b, "answer %s", answer.Safe)
	for _, r := range answer.Reasons {
		fmt.Fprintf(&b, "\n  reason %s: %s %v", r.Code, r.Message, r.Objects)
	}
	for _, n := range answer.Conditions {
		fmt.Fprintf(&b, "\n  condition %s", n.Code)
	}
	if by := p.Report.Summary.AnswerByPlan; by != nil {
		fmt.Fprintf(&b, "\n  by the plan %s", by.Safe)
		for _, r := range by.Reasons {
			fmt.Fprintf(&b, "\n    reason %s: %s %v", r.Code, r.Message, r.Objects)
		}
	}
	for _, s := range p.Trace.Steps {
		fmt.Fprintf(&b, "\n  %s %s %s: %s", s.Row.ID, s.Found, s.Subject, s.Why)
	}
	fmt.Fprintf(&b, "\n  passed: %v", p.Trace.Passed)
	return b.String()
}

// Matter fails for a row without which its own scenes end as with it, but for what they say of the
// row itself: nothing reads what it finds. Rows that are told otherwise are named; the function
// takes a row of Cluster API itself out until what it returns is called.
func Matter(t *testing.T, folder string, r *infra.Registry, rows []walk.Row, told []string, out func(id string) (restore func())) {
	for i := range rows {
		id := rows[i].ID
		t.Run(id, func(t *testing.T) {
			if out != nil {
				defer out(id)()
			}
			matters := false
			err := without(id, folder, r, func(s Scene, end func() (*Played, error)) {
				if of, _, _ := strings.Cut(strings.TrimSuffix(s.File, ".scene"), "-"); of != id || matters {
					return
				}
				p, err := end()
				if err != nil {
					t.Fatal(err)
				}
				matters = slices.ContainsFunc(p.Unmet(), func(problem string) bool { return !strings.HasPrefix(problem, "=> "+id+" ") })
			})
			if err != nil {
				t.Fatal(err)
			}
			if matters == slices.Contains(told, id) {
				t.Errorf("what its scenes say beside that it is asked changes when the row is taken out: %v", matters)
			}
		})
	}
}

// drop takes the steps of a row away.
func (l *loaded) drop(row string) {
	is := func(s *walk.Step) bool { return s.Row != nil && s.Row.ID == row }
	l.expected.Steps = slices.DeleteFunc(l.expected.Steps, func(s infra.Step) bool { return is(&s.Step) })
	for i := range l.expected.Steps {
		if s := &l.expected.Steps[i]; s.Each != nil {
			each := s.Each
			s.Each = func(inv *infra.Inventory) iter.Seq[walk.Step] {
				return slices.Values(slices.DeleteFunc(slices.Collect(each(inv)), func(s walk.Step) bool { return is(&s) }))
			}
		}
	}
	for name, inspect := range l.expected.OnInstance {
		l.expected.OnInstance[name] = func(i int, at infra.Sight) []walk.Step {
			return slices.DeleteFunc(slices.Clone(inspect(i, at)), func(s walk.Step) bool { return is(&s) })
		}
	}
}
