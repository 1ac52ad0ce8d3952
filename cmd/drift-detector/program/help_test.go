package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// Help is one screen: 40 lines of 80 columns, without variables of the environment.
func TestHelpFitsOneScreen(t *testing.T) {
	pages := map[string]string{"": runs.Run(t, "help").Stdout, "--help": runs.Run(t, "--help").Stdout}
	for _, c := range newProgram(&cli.Streams{}).App.Commands {
		pages[c.Name] = runs.Run(t, "help", c.Name).Stdout
		for _, line := range [][]string{{"--help"}, {"report.json", "-h"}, {"--help", "report.json"}} {
			if flag := runs.Run(t, append([]string{c.Name}, line...)...).Stdout; c.Name != "help" && flag != pages[c.Name] {
				t.Errorf("%s %v is not help %s:\n%s", c.Name, line, c.Name, flag)
			}
		}
		if !strings.Contains(pages[c.Name], "\nEXAMPLES:\n   ") || !strings.Contains(pages[c.Name], "\nEXIT STATUS: 0 ") {
			t.Errorf("help %s has no examples, or no exit status:\n%s", c.Name, pages[c.Name])
		}
	}
	if pages[""] != pages["--help"] {
		t.Error("help is not --help")
	}
	for name, page := range pages {
		if n := strings.Count(page, "\n"); n > 40 || n < 5 {
			t.Errorf("help %s has %d lines:\n%s", name, n, page)
		}
		for line := range strings.Lines(page) {
			if len([]rune(line)) > 81 || strings.Contains(line, "DRIFT_DETECTOR_") {
				t.Errorf("help %s: %q", name, line)
			}
		}
	}
	detect := pages["detect"]
	at := -1
	for _, group := range []string{"NEEDED:", "WHERE AND AS WHOM:", "WHICH CLUSTERS:", "OUTPUT:", "CI:"} {
		if next := strings.Index(detect, "\n"+group+"\n"); next <= at {
			t.Errorf("group %s is not where it should be in\n%s", group, detect)
		} else {
			at = next
		}
	}
	if strings.Contains(detect, "\nOPTIONS:\n") {
		t.Error("a flag of detect has no group")
	}
}

// --deadline is wherever something is read from elsewhere, in help and for completion.
func TestDeadlineIsForAllThatIsRead(t *testing.T) {
	for _, c := range newProgram(&cli.Streams{}).App.Commands {
		reads := slices.Contains([]string{"detect", "check", "releases", "backups", "inventory", "extract", "verify"}, c.Name)
		if has := strings.Contains(runs.Run(t, "help", c.Name).Stdout, "\n   --deadline TIME "); has != reads {
			t.Errorf("help %s has --deadline: %t", c.Name, has)
		}
		if has := slices.ContainsFunc(c.Flags, func(f urfave.Flag) bool { return slices.Contains(f.Names(), "deadline") }); has != reads {
			t.Errorf("%s has --deadline: %t", c.Name, has)
		}
		reaches := slices.ContainsFunc(c.Flags, func(f urfave.Flag) bool { return slices.Contains(f.Names(), "s3-profile") })
		if reaches && !reads {
			t.Errorf("%s reads buckets, and has no --deadline", c.Name)
		}
	}
}

// A word that is nearly known gets a suggestion, and one that is not gets none.
func TestDidYouMean(t *testing.T) {
	for line, want := range map[string]string{
		"detct":                 `unknown command "detct"; did you mean detect?`,
		"help plam":             `unknown command "plam"; did you mean plan?`,
		"zzz":                   `unknown command "zzz"` + "\n",
		"detect --backp x":      "there is no flag --backp; did you mean --backup?",
		"detect -backp x":       "there is no flag --backp; did you mean --backup?",
		"detect --backp=secret": "there is no flag --backp; did you mean --backup?",
		"detect --zzz":          "there is no flag --zzz\n",
		"detect --backup":       "--backup needs a value behind it",
		"detect --quiet=maybe":  `--quiet "maybe": it takes no value, or true or false`,
		"--debg":                "there is no flag --debg; did you mean --debug?",
		"detect a.tar.gz":       `unexpected argument "a.tar.gz": put --backup before it`,
		"detect s3://b/x":       `unexpected argument "s3://b/x": put --backup before it`,
		"detect stray":          `unexpected argument "stray"` + "\n",
	} {
		o := runs.Run(t, strings.Fields(line)...)
		if o.Code != cli.ExitUsage || o.Stdout != "" || !strings.Contains(o.Stderr, want) || strings.Contains(o.Stderr, "secret") {
			t.Errorf("%s: status %d, %q, want %q", line, o.Code, o.Stderr, want)
		}
	}
}

func TestVersion(t *testing.T) {
	text, flag := runs.Run(t, "version"), runs.Run(t, "--version")
	if text.Code != cli.ExitOK || text.Stdout != flag.Stdout || !strings.HasPrefix(text.Stdout, "drift-detector ") {
		t.Errorf("version %q, --version %q", text.Stdout, flag.Stdout)
	}
	var doc map[string]string
	if err := json.Unmarshal([]byte(runs.Run(t, "version", "--format", "json").Stdout), &doc); err != nil || doc["version"] != version || doc["commit"] != commit {
		t.Errorf("%v: %v", doc, err)
	}
	runs.Run(t, "version", "--format", "yaml").Demand(t, cli.ExitUsage)
}

// What the docs say of commands that end 3, or never.
func TestStatusesAreThoseOfTheDocs(t *testing.T) {
	ends := map[string][]cli.ExitCode{}
	for _, c := range newProgram(&cli.Streams{}).App.Commands {
		for _, s := range statusesOf(c.Name) {
			ends[c.Name] = append(ends[c.Name], s.Code)
		}
	}
	for _, name := range []string{"render", "ignore", "permissions", "schema", "completion", "man", "help", "version"} {
		if !slices.Equal(ends[name], []cli.ExitCode{cli.ExitOK, cli.ExitUsage}) {
			t.Errorf("%s: %v", name, ends[name])
		}
	}
	for name := range statuses {
		if ends[name] == nil {
			t.Errorf("statuses of %s, which is no command", name)
		}
	}
}

// Of an incomplete report: what is made of it is written all the same, and only what would
// mislead when taken for the whole ends with 3.
func TestStatusesOfAnIncompleteReport(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(runs.Fleet(t).Detect().JSON, &doc); err != nil {
		t.Fatal(err)
	}
	doc["summary"].(map[string]any)["complete"] = false
	for _, scope := range doc["scopes"].([]any) {
		scope.(map[string]any)["state"] = "failed"
	}
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]cli.ExitCode{
		"render REPORT": cli.ExitOK, "render REPORT --format junit": cli.ExitOK, "ignore REPORT --status ghost --reason r -o REPORT.yaml --output REPORT.rules": cli.ExitOK,
		"plan REPORT": cli.ExitIncomplete, "diff REPORT REPORT": cli.ExitIncomplete,
	} {
		if o := runs.Run(t, strings.Fields(strings.ReplaceAll(line, "REPORT", path))...); o.Code != want {
			t.Errorf("%s: status %d, want %d: %s", line, o.Code, want, o.Stderr)
		}
	}
	one, _ := os.ReadFile(path + ".yaml")
	if other, _ := os.ReadFile(path + ".rules"); len(one) == 0 || string(one) != string(other) {
		t.Errorf("ignore wrote %d and %d bytes", len(one), len(other))
	}
}
