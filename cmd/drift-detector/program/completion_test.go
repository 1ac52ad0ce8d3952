package program

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// Tab offers the values of flags.
func TestCompletionOfValues(t *testing.T) {
	for line, want := range map[string]string{
		"detect --format":                           "html json junit markdown prometheus slack teams text webhook",
		"detect --backup x --format":                "html json junit markdown prometheus slack teams text webhook",
		"check --format":                            "json junit markdown text",
		"plan --format":                             "env markdown shell",
		"detect --fail-on":                          "no not-yes by-plan ghost stale unknown unattributed error leaked lost stuck stale-backup check",
		"confirm --as":                              "notAMachine leave givenUp staysOff",
		"check --fail-on":                           "error warning stale-backup",
		"ignore --status":                           "Ghost Stale Unknown Healthy Unattributed",
		"detect --cluster":                          "",
		"detect --output":                           "",
		"render --status nothing --backup --format": "html json junit markdown prometheus slack teams text webhook screen",
	} {
		o := runs.Run(t, append(strings.Fields(line), cli.CompletionFlag)...)
		if got := strings.Join(strings.Fields(o.Stdout), " "); got != want || o.Stderr != "" {
			t.Errorf("%s: %q, want %q; %s", line, got, want, o.Stderr)
		}
	}
	for _, c := range newProgram(&cli.Streams{}).App.Commands {
		if cli.TakesValue(c, "format") && runs.Run(t, c.Name, "--format", cli.CompletionFlag).Stdout == "" {
			t.Errorf("the formats of %s are not known", c.Name)
		}
	}
	codes := strings.Fields(runs.Run(t, "explain", cli.CompletionFlag).Stdout)
	if !slices.Contains(codes, "IdentityAbsent") || !slices.Contains(codes, "Ghost") || !slices.IsSorted(codes) {
		t.Errorf("%d codes", len(codes))
	}
	fish := runs.Run(t, "completion", "fish").Stdout
	for _, want := range []string{"'__fish_seen_subcommand_from detect' -f -l format -r -a '(__drift_detector_values)'", "explain' -f -a"} {
		if !strings.Contains(fish, want) {
			t.Errorf("fish does not ask: %s", want)
		}
	}
}
