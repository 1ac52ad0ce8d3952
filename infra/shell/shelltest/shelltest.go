// Package shelltest holds names that attack a program that puts them into a shell, and what
// every provider's tool is held to.
package shelltest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/shell"
)

// Hostile are names that a backup may hold and that no command may obey.
var Hostile = []string{
	"$(touch x)", "`touch x`", "a;b", "a;touch x", "-rf", "--all", "'", "'; touch x; '", `"`, `"; touch x; "`, "a b", " ", "*", "?", "~", "!!",
	`\`, `a\`, `\'`, "# shellcheck disable=all", "$HOME", "${IFS}", "$'\\n'touch x", "a|touch x", "a&touch x", "a>x", "<x", "{a,b}", "[a]", "=ls", "x=y", "%1",
	"```", "<script>", "[a](http://b)", "| a |", "ünïcödé", "",
}

// Unprintable are names that no command is made for.
var Unprintable = []string{"a\nb", "a\n# touch x", "a\ntouch x\n", "a\rb", "a\x00b", "\x1b[31mred", "a\tb", "\u202eabc", "a\u2028b", "\xff\xfe"}

// Tool holds a tool to what shell.Tool says of every tool. good is an instance that it
// addresses, at a scope whose identity is known and whose variable is SCOPE_1.
func Tool(t *testing.T, tool shell.Tool, good shell.Instance) {
	t.Helper()
	s := good.Scope
	if prefix, meaning, ok := tool.Variable(s); !ok || meaning == "" || !regexp.MustCompile(`^[A-Z][A-Z0-9]*$`).MatchString(prefix) {
		t.Errorf("its variable is %q, %q, %v", prefix, meaning, ok)
	}
	if !tool.Identifies(good.ID) || !tool.Addresses(good) {
		t.Errorf("it does not address %+v", good)
	}
	for _, id := range slices.Concat(Hostile, Unprintable) {
		bad, where := good, s
		bad.ID, where.Identity = id, id
		if tool.Identifies(id) || tool.Addresses(bad) || tool.IsPlace(where.Identity) || tool.Landmark("VPC", id) || tool.Landmark("subnet", id) {
			t.Errorf("it takes %q for an id", id)
		}
	}
	if !tool.IsPlace(s.Identity) {
		t.Errorf("%q is no identity of a place", s.Identity)
	}
	lines := map[string]shell.Command{"Show": tool.Show(good), "Start": tool.Start(good), "Stop": tool.Stop(good), "Destroy": tool.Destroy(good)}
	for name, c := range lines {
		reads := false
		c.Variables(func(name string) { reads = reads || name == s.Variable })
		if !reads {
			t.Errorf("%s does not read the variable of the scope: %v", name, c)
		}
	}
	end := tool.Remove(good)
	if end.Stop == "" || end.Destroy == "" {
		t.Errorf("nothing is said of the end: %+v", end)
	}
	for _, step := range slices.Concat(tool.LeaveBalancer(good, nil), tool.Detach(good), end.Before) {
		if step.Text == "" || step.Change.Refused() != "" || strings.Contains(step.Change.Text(), "''") {
			t.Errorf("step %+v", step)
		}
	}
}
