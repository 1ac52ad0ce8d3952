package rehearsal_test

import (
	"testing"

	"drift-detector/infra/all"
	"drift-detector/internal/scene"
	"drift-detector/report/code"
)

// Where nothing has happened that a restore harms, the answer is yes: as Velero restores by
// default, or by the plan. An answer that is never yes is worth nothing.
func TestControls(t *testing.T) {
	const least = 60
	var yes, by, not []string
	err := scene.Play("testdata/controls", all.Registry(), func(s scene.Scene, end func() (*scene.Played, error)) {
		t.Run(s.File+"/"+s.Name, func(t *testing.T) {
			p, err := end()
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range p.Unmet() {
				t.Error(problem)
			}
			switch summary := p.Report.Summary; {
			case summary.Answer.Safe == code.Yes:
				yes = append(yes, s.Name)
			case summary.AnswerByPlan.Safe == code.Yes:
				by = append(by, s.Name)
			default:
				not = append(not, s.File+": "+s.Name+": "+p.Describe())
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	n := len(yes) + len(by) + len(not)
	t.Logf("of %d, %d are yes, %d by the plan (%q)", n, len(yes), len(by), by)
	for _, one := range not {
		t.Logf("not yes: %s", one)
	}
	if n < least || len(not)*20 > n {
		t.Errorf("%d of %d are not yes; of %d or more, at most one in twenty may", len(not), n, least)
	}
}
