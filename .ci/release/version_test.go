package main

import (
	"os"
	"os/exec"
	"testing"
)

// A version is given only to what is committed, has its heading in the changelog, and is the chart's.
func TestReleasable(t *testing.T) {
	t.Chdir(t.TempDir())
	git := func(args ...string) {
		t.Helper()
		if said, err := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, said)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	demand := func(when string, want map[string]bool) {
		t.Helper()
		for version, want := range want {
			if err := releasable(version); (err == nil) != want {
				t.Errorf("%s, %s: %v", when, version, err)
			}
		}
	}
	chart := func(lines string) {
		t.Helper()
		write("deploy/chart/Chart.yaml", "apiVersion: v2\n"+lines+"kubeVersion: \">=1.29.0-0\"\n")
	}
	git("init", "-q")
	if err := os.MkdirAll("deploy/chart", 0o755); err != nil {
		t.Fatal(err)
	}
	chart("version: 1.0.0\nappVersion: v1.0.0\n")
	write("CHANGELOG.md", "# Changelog\n\n## v1.1.0 (soon)\n\n## v1.0.0 (2026-11-29)\n\n### v0.9.0 (2026-01-01)\n")
	git("add", ".")
	git("commit", "-q", "-m", "x")
	demand("committed", map[string]bool{
		"v1.0.0": true, "v1.1.0": false, "v0.9.0": false, "v1x0.0": true, "v1.0.0-rc.1": false, "v2.0.0": false, "v1.0.0-4-gd56cc2ad": true, "d56cc2ad": true, "dev": true,
	})
	for lines, want := range map[string]bool{
		"version: 1.1.0\nappVersion: v1.1.0\n": false, "version: 1.1.0\nappVersion: v1.0.0\n": false, "version: 1.0.0\nappVersion: v1.0.0-rc.1\n": false,
		"version: 1.0.0\nappVersion: v1.0.0\n": true, "version: 1.0.0\n": false, "xversion: 1.0.0\nappVersion: v1.0.0\n": false,
	} {
		chart(lines)
		git("commit", "-q", "-a", "--allow-empty", "-m", "x")
		demand("with the chart "+lines, map[string]bool{"v1.0.0": want, "d56cc2ad": true})
	}
	write("main.go", "package main\n")
	demand("with a new file", map[string]bool{"v1.0.0": false, "v1.0.0-dirty": true, "d56cc2ad-dirty": true})
}
