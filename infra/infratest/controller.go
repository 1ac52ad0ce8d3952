package infratest

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra"
)

// obstacles are those that forecasts know.
var obstacles = []infra.Obstacle{infra.Renamed, infra.SharedName, infra.OtherID, infra.ErrorState, infra.NotActive, infra.NoBootstrapData, infra.Unread}

// ControllerProblems returns what contradicts itself in what a provider says of its
// controller, and in what it says of the machines that the controller looks for. A
// provider without machines in its test world passes nil.
func ControllerProblems(c infra.Controller, machines []infra.ExpectedMachine) []string {
	var out []string
	problem := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	if c.Name == "" {
		problem(c.ID != "" || c.Makes != "" || len(c.Obstacles) > 0 || c.Late != "", "a controller without a Name is described, and nothing is foretold of it")
		return out
	}
	problem(c.Makes == "", "it does not say how it creates an instance")
	problem(!slices.Contains([]infra.IDPlace{infra.IDInSpec, infra.IDInStatus, infra.IDNowhere}, c.ID), "ID is %q: it does not say where the id is by which it looks", c.ID)
	problem(c.ID != infra.IDInSpec && c.RunningOnly && c.PowersOn, "it looks by name among instances that run, so that it starts none")
	for o, why := range c.Obstacles {
		problem(!slices.Contains(obstacles, o), "%q is no Obstacle", o)
		problem(!clause(why), "the reason of Obstacle %s is no clause: %q", o, why)
	}
	problem(c.Late != "" && !clause(c.Late), "Late is no clause: %q", c.Late)
	for i := range machines {
		m := &machines[i]
		problem(m.ReadsID && m.Reads == "", "machine %d: an id is recorded in no field", i)
		problem(c.ID != infra.IDInSpec && m.Reads != "", "machine %d: %s is read after a restore, and the id is in %s", i, m.Reads, c.ID)
		problem(c.ID == infra.IDInSpec && m.Reads == "" && len(m.Searches) > 0, "machine %d: it is looked for by name, and no field is named that holds its id", i)
	}
	looked := slices.ContainsFunc(machines, func(m infra.ExpectedMachine) bool { return m.ReadsID || len(m.Searches) > 0 })
	problem(len(machines) > 0 && !looked, "nothing is said of how it looks for any machine")
	slices.Sort(out)
	return out
}

// clause reports whether a text can be in the middle of a sentence.
func clause(text string) bool {
	return text != "" && text == strings.TrimSpace(text) && !strings.HasSuffix(text, ".") && !strings.Contains(text, "\n")
}
