package plan

import (
	"fmt"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// A paused owner makes no other machine, and a paused Machine is not its cluster.
func TestWhatIsPausedIsNamed(t *testing.T) {
	says := func(change func(*report.Report, *report.Machine)) string {
		r := sample("alpha")
		change(r, plantest.Find(t, r, code.Stale, "worker"))
		return fmt.Sprint(stepsOf(t, r, code.Stale, "worker"))
	}
	const owner, machine, cluster = "unpause that first", "Its Machine is paused", "Its cluster is paused"
	for name, c := range map[string]struct {
		change func(*report.Report, *report.Machine)
		want   string // of the three
	}{
		"nothing": {func(*report.Report, *report.Machine) {}, ""},
		"an owner": {func(r *report.Report, _ *report.Machine) {
			r.Summary.Answer = &report.SafeAnswer{Conditions: []report.Note{{Code: code.OwnersPaused}}}
		}, owner},
		"the Machine": {func(_ *report.Report, m *report.Machine) { m.Forecast.Outcome = code.UntouchedPaused }, machine},
		"the Cluster": {func(r *report.Report, m *report.Machine) {
			r.Clusters[0].Paused, m.Forecast.Outcome = true, code.UntouchedPaused
		}, cluster},
	} {
		text := says(c.change)
		for _, one := range []string{owner, machine, cluster} {
			if strings.Contains(text, one) != (one == c.want) {
				t.Errorf("%s: %q: %s", name, one, text)
			}
		}
	}
}
