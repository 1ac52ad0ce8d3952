package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// semver returns a version as krew and Homebrew take it. Git describes a commit without a tag by
// its id alone.
func semver(version string) string {
	if strings.HasPrefix(version, "v") {
		return version
	}
	return "v0.0.0-g" + version
}

// uncommitted returns what differs from the commit, as git status lists it.
func uncommitted() (string, error) {
	out, err := exec.Command("git", "status", "--porcelain").Output()
	if err != nil {
		return "", fmt.Errorf("git status: %w", err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}

var released = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$`)

// releasable refuses to give a version (v1.2.3) to what is not committed, one of which the
// changelog says nothing, and one that is not the chart's. What git describe says of other
// commits is not held to that.
func releasable(version string) error {
	if !released.MatchString(version) || strings.HasSuffix(version, "-dirty") {
		return nil
	}
	changed, err := uncommitted()
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("%s is not made of what is not committed:\n%s", version, changed)
	}
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	if !regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(version) + ` \(20\d\d-[01]\d-[0-3]\d\)$`).Match(changes) {
		return fmt.Errorf("CHANGELOG.md has no heading \"## %s (YYYY-MM-DD)\"", version)
	}
	return chartHas(version)
}

// chartHas demands that the chart has the version, as Helm writes it, and takes the image of it.
func chartHas(version string) error {
	const file = "deploy/chart/Chart.yaml"
	chart, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, line := range []string{"version: " + version[1:], "appVersion: " + version} {
		if !strings.Contains("\n"+string(chart), "\n"+line+"\n") {
			return fmt.Errorf("%s has no line %q", file, line)
		}
	}
	return nil
}
