package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A long command is several rows that do what the one line does, and of which none alone
// does anything that the rows before it were to allow.
func TestRows(t *testing.T) {
	long := strings.Repeat("x", 40)
	look := Line("look", long).Pipe(Line("recheck", Variable("ID"), long))
	c := All(look, Line("look", long), Line("change", Pieces{long, Variable("ID")}, "--a", long, "--b", long, "--c", long, "it's; & `here`"))
	rows := c.Rows(100)
	if len(rows) < 4 || rows[0][:2] != "{ " || !strings.HasSuffix(rows[len(rows)-1], "; }") {
		t.Fatalf("%q", rows)
	}
	bin, record := t.TempDir(), filepath.Join(t.TempDir(), "record")
	for _, name := range []string{"look", "recheck", "change"} {
		text := "#!/bin/sh\nfor w; do printf '%s\\n' \"${0##*/} $w\" >>" + record + "; done\n"
		if name == "recheck" {
			text += "cat >/dev/null; test \"$STOP\" != yes\n"
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := func(script, stop string) string {
		os.Remove(record)
		cmd := exec.Command("sh", "-c", script)
		cmd.Env, cmd.Stdin = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "STOP="+stop, "ID=id"), strings.NewReader("")
		_ = cmd.Run() // that it fails is what is asked for
		out, _ := os.ReadFile(record)
		return string(out)
	}
	changes := func(calls string) string {
		_, after, _ := strings.Cut(calls, "change ")
		return after
	}
	one := run(c.Text(), "no")
	if got := run(strings.Join(rows, "\n"), "no"); changes(got) != changes(one) || changes(one) == "" {
		t.Errorf("in rows it does %q, in one %q", got, one)
	}
	for _, script := range []string{c.Text(), strings.Join(rows, "\n")} {
		if got := run(script, "yes"); strings.Contains(got, "change") {
			t.Errorf("it goes on behind a refusal: %q", got)
		}
	}
	for i, row := range rows {
		if len(row) > 100 {
			t.Errorf("%d characters: %s", len(row), row)
		}
		if got := run(row+"\n\n", "no"); strings.Contains(got, "change") {
			t.Errorf("row %d alone does %q: %s", i, got, row)
		}
		if got := run(strings.Join(rows[i:], "\n"), "no"); i > 0 && strings.Contains(got, "change") {
			t.Errorf("without what is before, row %d does %q", i, got)
		}
	}
}

// What is short is one line, and so is what a person fills in.
func TestShortRows(t *testing.T) {
	for _, c := range []Command{Line("echo", "a"), Ask("X", strings.Repeat("long ", 50))} {
		if rows := c.Rows(100); len(rows) != 1 || rows[0] != c.Text() {
			t.Errorf("%q", rows)
		}
	}
	if got := Line(Raw("a\nb")).Text(); got != "a b" {
		t.Errorf("%q", got)
	}
}
