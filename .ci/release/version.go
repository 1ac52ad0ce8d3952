package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// semver is a version as krew and Homebrew take it. Git describes a commit without a tag by
// its id alone.
func semver(version string) string {
	if strings.HasPrefix(version, "v") {
		return version
	}
	return "v0.0.0-g" + version
}

// uncommitted is what differs from the commit, as git status lists it.
func uncommitted() (string, error) {
	out, err := exec.Command("git", "status", "--porcelain").Output()
	if err != nil {
		return "", fmt.Errorf("git status: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
