package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The output that the README shows is what the tool prints of the lab.
func TestReadmeShowsRealOutput(t *testing.T) {
	_, rest, ok := strings.Cut(readme(t), "is what the demo prints (cut):\n\n```\n")
	if !ok {
		t.Fatal("the README does not show the demo's output")
	}
	shown, _, _ := strings.Cut(rest, "```")
	o := fleet(t).detect()
	o.demand(t, exitOK)
	real := strings.Split(o.stdout, "\n")
	lines := 0
	for line := range strings.Lines(shown) {
		if line = strings.TrimSuffix(line, "\n"); line == "…" || line == "" {
			continue
		}
		lines++
		if !slices.Contains(real, line) {
			t.Errorf("the README shows a line that is not printed: %q", line)
		}
	}
	if lines < 20 {
		t.Errorf("the README shows %d lines", lines)
	}
}

// Every flag, command and exit status that the README names exists.
func TestReadmeNamesWhatExists(t *testing.T) {
	text := readme(t)
	flags := map[string]bool{"recursive": true} // of `aws s3 cp`
	commands := map[string]bool{}
	for _, c := range newApp(&streams{}).Commands {
		commands[c.Name] = true
		for _, f := range c.Flags {
			flags[f.Names()[0]] = true
		}
	}
	for _, m := range regexp.MustCompile(`--([a-z][a-z-]+)`).FindAllStringSubmatch(text, -1) {
		if !flags[m[1]] {
			t.Errorf("the README names flag --%s, which no command has", m[1])
		}
	}
	for _, m := range regexp.MustCompile("drift-detector ([a-z]+)").FindAllStringSubmatch(text, -1) {
		if !commands[m[1]] {
			t.Errorf("the README names command %s, which does not exist", m[1])
		}
	}
	for _, code := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(newApp(&streams{}).Commands, func(c *cli.Command) bool {
			return regexp.MustCompile(`(?m)^   ` + code[1] + ` `).MatchString(c.Description)
		}) {
			t.Errorf("no command's help names exit status %s", code[1])
		}
	}
}
