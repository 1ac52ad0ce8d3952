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

// A long word in which white space behind a comma means nothing breaks there, and not within
// a text of JSON; a shell has the same word but for that white space.
func TestRowsOfLooseWords(t *testing.T) {
	const modifiers = `{"version":"v1","a":["x, y","it's \"z\", too","0123456789"],"b":{"c":"d"}}`
	list := "name notin (" + strings.Repeat("one,", 30) + "two)"
	for _, words := range [][]any{
		{Loose("--patch=" + modifiers)},
		{"first", Loose(list)},
		{Pieces{"--patch=", Loose(`[{"op":"test","path":"/a, b/`), Variable("INDEX"), Loose(`/name","value":"md, 0"},{"op":"replace"}]`)}},
	} {
		c := Line(append([]any{Raw("printf %s")}, words...)...)
		rows := c.Rows(60)
		if len(rows) < 3 {
			t.Errorf("%q", rows)
		}
		for _, row := range rows {
			if len(row) > 66 && !strings.Contains(row, "INDEX") {
				t.Errorf("%d characters: %s", len(row), row)
			}
		}
		run := func(script string) string {
			out, err := exec.Command("sh", "-c", "INDEX=7; "+script).Output()
			if err != nil {
				t.Fatalf("%s: %v", script, err)
			}
			return string(out)
		}
		one, many := run(c.Text()), run(strings.Join(rows, "\n"))
		if strings.Contains(many, "x,\n") || strings.Contains(many, "a,\n b") || strings.ReplaceAll(strings.ReplaceAll(many, "\n    ", ""), "\n", "") != one {
			t.Errorf("%q, and in rows %q", one, many)
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
