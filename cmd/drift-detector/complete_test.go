package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tab offers the values of flags, those of --cluster from what the line names.
func TestCompletionOfValues(t *testing.T) {
	backup := testdata + "fleet-data.tar.gz"
	saved := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(saved, fleet(t).detect().json, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"detect --format":                           "html json junit markdown prometheus text",
		"detect --backup x --format":                "html json junit markdown prometheus text",
		"check --format":                            "json junit markdown text",
		"plan --format":                             "markdown shell",
		"detect --fail-on":                          "ghost stale unknown unattributed error check",
		"check --fail-on":                           "error warning",
		"ignore --status":                           "Ghost Stale Unknown Healthy Unattributed",
		"detect --backup " + backup + " --cluster":  "alpha-dev alpha-prod aws-prod beta-prod gamma-edge",
		"check --backup=" + backup + " --namespace": "tenant-alpha tenant-aws tenant-beta tenant-gamma",
		"ignore " + saved + " --cluster":            "alpha-dev alpha-prod aws-prod beta-prod gamma-edge",
		"detect --backup nowhere.tar.gz --cluster":  "",
		"detect --cluster":                          "",
		"detect --output":                           "",
		"render --status nothing --backup --format": "html json junit markdown prometheus text screen",
	} {
		o := runProgram(t, append(strings.Fields(line), completionFlag)...)
		if got := strings.Join(strings.Fields(o.stdout), " "); got != want || o.stderr != "" {
			t.Errorf("%s: %q, want %q; %s", line, got, want, o.stderr)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("Tab contacts a store") }))
	defer server.Close()
	runProgram(t, "detect", "--backup", server.URL+"/b.tar.gz", "--cluster", completionFlag)
	for _, c := range newApp(&streams{}).Commands {
		if takesValue(c, "format") && runProgram(t, c.Name, "--format", completionFlag).stdout == "" {
			t.Errorf("the formats of %s are not known", c.Name)
		}
	}
	codes := strings.Fields(runProgram(t, "explain", completionFlag).stdout)
	if !slices.Contains(codes, "IdentityAbsent") || !slices.Contains(codes, "Ghost") || !slices.IsSorted(codes) {
		t.Errorf("%d codes", len(codes))
	}
	fish := runProgram(t, "completion", "fish").stdout
	for _, want := range []string{"'__fish_seen_subcommand_from detect' -f -l cluster -r -a '(__drift_detector_values)'", "explain' -f -a"} {
		if !strings.Contains(fish, want) {
			t.Errorf("fish does not ask: %s", want)
		}
	}
}
