package program

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// What is said of a management cluster that runs is what has drifted, and nothing of a restore.
func TestLiveDriftNow(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	m, from := runs.Management(t, w.Backups[0])
	for _, o := range m.Kind("machines.cluster.x-k8s.io").Objects {
		if meta := o["metadata"].(map[string]any); meta["name"] == "alpha-prod-nnxbq" {
			meta["deletionTimestamp"] = "2026-11-01T10:00:00Z"
		} else if meta["name"] == "alpha-prod-kcn2q" {
			o["status"].(map[string]any)["phase"] = "Provisioned"
		}
	}
	args := slices.Concat(from, w.Reach())
	o := w.Run(append(args, "--fail-on", "leaked,lost,stuck")...)
	o.Demand(t, cli.ExitFailOn)
	o.Keeps(t, m.Token)
	r := o.Report
	if r.Summary.Answer != nil || r.Summary.AnswerByPlan != nil || r.Summary.Forecast != nil || len(r.ToDo) > 0 || len(r.Checks) > 0 || !r.Backups[0].Live {
		t.Errorf("it speaks of a restore: %+v", r.Summary)
	}
	for _, c := range r.Clusters {
		for _, x := range runs.MachinesOf(c) {
			if x.Forecast != nil || len(x.Remediation) > 0 {
				t.Errorf("%s has a forecast or steps", x.Name)
			}
		}
	}
	counts := map[string]int{}
	for _, d := range r.Drift() {
		counts[d.Word]++
	}
	all := r.Summary.Machines
	if counts["LEAKED"] == 0 || counts["LOST"] == 0 || counts["STUCK"] != 2 || counts["LEAKED"] < all.Ghost || counts["LOST"] < all.Stale {
		t.Errorf("drift %v of %+v", counts, all)
	}
	saved := filepath.Join(w.Dir, "report.json")
	for _, format := range []string{"text", "markdown", "html", "junit"} {
		out := runs.Run(t, "render", saved, "--format", format)
		out.Demand(t, cli.ExitOK)
		if !strings.Contains(out.Stdout, "Drift now:") || !strings.Contains(out.Stdout, "LEAKED") || strings.Contains(out.Stdout, "Safe to restore") || !strings.Contains(out.Stdout, "its Machine is Provisioned") {
			t.Errorf("%s:\n%.600s", format, out.Stdout)
		}
	}
	screen := runs.Run(t, append([]string{"detect"}, args...)...)
	screen.Demand(t, cli.ExitOK)
	for _, want := range []string{"Drift now:", "LEAKED", "LOST", "STUCK", "alpha-prod-nnxbq"} {
		if !strings.Contains(screen.Stdout, want) {
			t.Errorf("the screen lacks %s:\n%s", want, screen.Stdout)
		}
	}
	if strings.Contains(screen.Stdout, "estore") || strings.Contains(screen.Stdout, "ackup") {
		t.Errorf("the screen speaks of a restore:\n%s", screen.Stdout)
	}
	for command, want := range map[string]string{"plan": "nothing is restored", "ready": "nothing is restored"} {
		out := runs.Run(t, command, saved)
		out.Demand(t, cli.ExitUsage)
		if !strings.Contains(out.Stderr, want) {
			t.Errorf("%s: %s", command, out.Stderr)
		}
	}
	for _, kind := range []string{"no", "not-yes", "by-plan", "check"} {
		runs.Run(t, slices.Concat([]string{"detect", "--fail-on", kind}, args)...).Demand(t, cli.ExitUsage)
	}
	for _, kind := range ofLive {
		if !strings.Contains(o.Stderr, kind) && !strings.Contains(o.Stderr, strings.ToUpper(kind)) {
			t.Errorf("--fail-on %s found nothing: %s", kind, o.Stderr)
		}
		runs.Run(t, "detect", "--fail-on", kind, "--backup", w.Backups[0]).Demand(t, cli.ExitUsage)
	}
}
