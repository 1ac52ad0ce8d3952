package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// savedReport returns the report of a well cluster, and an inventory to make it again from.
func savedReport(t *testing.T) (w *runs.World, saved, inventory string) {
	t.Helper()
	w = runs.Well(t)
	saved, inventory = filepath.Join(w.Dir, "saved.json"), filepath.Join(w.Dir, "inventory.json")
	runs.Run(t, append(append([]string{"inventory", "-o", inventory}, w.Sources()...), w.Reach()...)...).Demand(t, cli.ExitOK)
	runs.Run(t, append([]string{"detect", "--inventory", inventory, "-o", saved}, w.Sources()...)...).Demand(t, cli.ExitOK)
	return w, saved, inventory
}

func TestOutputsTakeTheirFormatsFromTheirExtensions(t *testing.T) {
	t.Parallel()
	w, saved, inventory := savedReport(t)
	file := func(name string) string { return filepath.Join(w.Dir, name) }
	beginnings := map[string]string{
		"r.json": "{", "r.html": "<!DOCTYPE html>", "r.md": "## ", "r.txt": "Safe to restore?", "r.xml": "<?xml", "r.prom": "# ",
		"p.md": "# ", "p.sh": "#!", "d.json": "{", "c.json": "{", "c.txt": "",
		"both.html": "<!DOCTYPE html>", "both.MD": "## ", "there.html": "<!DOCTYPE html>", ".hidden": "Safe to restore?", "i.json": "{", "i.saved": "{",
	}
	run := func(args ...string) {
		t.Helper()
		if o := runs.Run(t, args...); o.Code != cli.ExitOK || o.Stdout != "" || strings.Contains(o.Stderr, "by its extension") {
			t.Fatalf("%v: exit status %d\n%s\n%s", args, o.Code, o.Stderr, o.Stdout)
		}
	}
	run(append([]string{"detect", "--quiet", "--inventory", inventory, "-o", file("r.json"), "-o", file("r.html"), "-o", file("r.prom")}, w.Sources()...)...)
	run("render", saved, "-o", file("r.md"), "-o", file("r.txt"), "-o", file("r.xml"))
	run("plan", saved, "-o", file("p.md"), "-o", file("p.sh"))
	run("diff", saved, saved, "-o", file("d.json"))
	run(append([]string{"check", "-o", file("c.json"), "-o", file("c.txt")}, w.Sources()...)...)
	run("render", saved, "-o", file("both.html"), "--output", file("both.MD"))
	run("render", saved, "-o", file(".hidden"))
	run(append([]string{"inventory", "--quiet", "-o", file("i.json"), "-o", file("i.saved")}, append(w.Sources(), w.Reach()...)...)...)
	if err := os.Symlink("there.html", file("link.html")); err != nil {
		t.Fatal(err)
	}
	run("render", saved, "-o", file("link.html"))
	for name, begins := range beginnings {
		data, err := os.ReadFile(file(name))
		if err != nil || len(data) == 0 || !strings.HasPrefix(string(data), begins) {
			t.Errorf("%s: %v, begins %.20q", name, err, data)
			continue
		}
		mode := os.FileMode(0o600)
		if name == "r.prom" {
			mode = 0o644 &^ umask(t)
		}
		if info, err := os.Stat(file(name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: mode %v, want %v: %v", name, info.Mode(), mode, err)
		}
	}
	run("render", saved, "-o", file("named.txt"), "--format", "screen")
	o := runs.Run(t, "render", saved, "-o", file("named.json"), "--format", "text")
	o.Demand(t, cli.ExitOK)
	if want := "warning: " + file("named.json") + " is written as text, as --format says: by its extension it would be json\n"; !strings.Contains(o.Stderr, want) {
		t.Errorf("no %q in\n%s", want, o.Stderr)
	}
	if data, err := os.ReadFile(file("named.json")); err != nil || !strings.HasPrefix(string(data), "Safe to restore?") {
		t.Errorf("--format does not win for a single output: %v, %.20q", err, data)
	}
	if left, _ := filepath.Glob(file(".*.tmp*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// umask returns what the process takes from the modes of new files.
func umask(t *testing.T) os.FileMode {
	t.Helper()
	path := filepath.Join(t.TempDir(), "probe")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return 0o666 &^ info.Mode()
}

func TestBadOutputsWriteNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Symlink("b.json", file("link.json")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"detect", "-o", file("x.pdf")}, "detect does not write .pdf; the extension is .htm, .html, .json, .md, .prom, .txt or .xml, or give --format"},
		{[]string{"detect", "-o", file("a.json"), "-o", file("x.pdf")}, "does not write .pdf"},
		{[]string{"detect", "-o", file("x.sh")}, "does not write .sh"},
		{[]string{"detect", "-o", file("a.json"), "-o", dir + "/./a.json"}, "are the same file"},
		{[]string{"detect", "-o", file("b.json"), "-o", file("link.json")}, "are the same file"}, // that does not exist yet
		{[]string{"detect", "-o", "-", "-o", "-"}, "--output - is given twice"},
		{[]string{"detect", "-o", "-", "-o", "/dev/stdout"}, "--output - is given twice"},
		{[]string{"detect", "-o", "/dev/stdout", "--summary"}, "--summary would be mixed"},
		{[]string{"detect", "-o", file("a.json"), "--output", file("a.json")}, "a.json is given twice"},
		{[]string{"detect", "-o"}, "--output needs a value behind it"},
		{[]string{"render", "no.json", "-o"}, "--output needs a value behind it"},
		{[]string{"diff", "old.json", "new.json", "--format"}, "--format needs a value behind it"},
		{[]string{"detect", "-o", file("a.json"), "-o", file("b.md"), "--format", "text"}, "--format text is for one --output"},
		{[]string{"detect", "-o", file("a.json"), "-o", "-", "--format", "pdf"}, "--format pdf is not known; it is html, json"},
		{[]string{"detect", "-o", ""}, "--output is empty"},
		{[]string{"detect", "-o", "-", "--summary"}, "--summary would be mixed"},
		{[]string{"detect", "--summary", "--quiet"}, "--summary and --quiet exclude each other"},
		{[]string{"plan", "no.json", "-o", file("x.html")}, "plan does not write .html; the extension is .env, .md or .sh, or give --format"},
		{[]string{"render", "no.json", "-o", file("x.sh")}, "render does not write .sh"},
		{[]string{"check", "-o", file("x.prom")}, "check does not write .prom"},
		{[]string{"diff", "no.json", "no.json", "-o", file("x.prom")}, "diff does not write .prom"},
		{[]string{"detect", "-o", file("a.json"), "-o", file("no/folder.html")}, "there is no folder"},
		{[]string{"inventory", "-o", file("x.html")}, "inventory does not write .html; the extension is .json\n"},
		{[]string{"inventory", "-o", file("a.json"), "-o", file("a.json")}, "is given twice"},
		{[]string{"inventory", "-o", ""}, "--output is empty"},
		{[]string{"inventory"}, "--output is required: name the file"},
		{[]string{"ignore", "no.json", "-o", file("x.md")}, "ignore does not write .md; the extension is .yaml or .yml\n"},
	} {
		args := c.args
		if slices.Contains([]string{"detect", "check", "inventory"}, args[0]) {
			args = slices.Insert(slices.Clone(args), 1, "--backup", file("none.tar.gz"))
		}
		o := runs.Run(t, args...)
		if o.Code != cli.ExitUsage || o.Stdout != "" || !strings.Contains(o.Stderr, c.says) {
			t.Errorf("%v: exit status %d, want %q in\n%s%s", args, o.Code, c.says, o.Stderr, o.Stdout)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%v: %v are left", args, left)
		}
	}
}

// What the library prints and what a dry run does fail like every other output: with a line, and status 2.
func TestHelpVersionAndDryRunThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"--version"}, {}, {"help"}, {"help", "detect"}, {"detect", "--help"}, {"version"}, {"version", "--format", "json"}, {"explain"}, {"schema"}, {"detect", "--backup", runs.Testdata + "fleet-data.tar.gz", "--dry-run"}} {
		var stderr strings.Builder
		s := cli.Process()
		s.Stdout, s.Stderr = full{}, &stderr
		if code := runs.Program(t.Context(), append([]string{"drift-detector"}, args...), s); code != cli.ExitUsage || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%v: exit status %d\n%s", args, code, stderr.String())
		}
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
