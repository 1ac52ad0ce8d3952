//go:build openstack

package runs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	aServerID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	aVariable = regexp.MustCompile(`_\d+\b`)
)

// OpenStackSteps returns the lines of the plan of the last run that ask or change the cloud.
// The order of ids in a line, and the numbers of variables, follow the ids: they are no
// part of it.
func (w *World) OpenStackSteps(ids func([]byte) []byte) []string {
	w.T.Helper()
	var steps []string
	for line := range strings.Lines(Run(w.T, "plan", filepath.Join(w.Dir, "report.json"), "--format", "shell").Stdout) {
		if !strings.Contains(line, "openstack ") {
			continue
		}
		line = aVariable.ReplaceAllString(string(ids([]byte(line))), "")
		all := aServerID.FindAllString(line, -1)
		slices.Sort(all)
		steps = append(steps, strings.TrimSpace(aServerID.ReplaceAllString(line, "ID"))+" "+strings.Join(all, " "))
	}
	slices.Sort(steps)
	return steps
}
