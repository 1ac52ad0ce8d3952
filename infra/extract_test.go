package infra

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"drift-detector/backup"
)

// A shell that reads the lines has the values as they are, and runs none of them.
func TestExportsAreRead(t *testing.T) {
	for _, value := range []string{"plain", "a'b", "$(touch ran)`touch ran`", `"; touch ran; "`, "-n", " a  b ", "ü", `a\nb`} {
		text, err := Exports("NAME", value, "EMPTY", "")
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		file := filepath.Join(folder, "env")
		if err := os.WriteFile(file, []byte(text.Reveal()), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", `. ./env && printf %s "$NAME" && test -z "${EMPTY+set}"`)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != value {
			t.Errorf("%q: %q, %v", value, out, err)
		}
		if _, err := os.Stat(filepath.Join(folder, "ran")); err == nil {
			t.Errorf("%q ran", value)
		}
	}
	for _, value := range []string{"a\nb", "\x1b[31m", "\xff", "\u202eabc"} {
		if text, err := Exports("NAME", value); err == nil {
			t.Errorf("%q: %q", value, text.Reveal())
		}
	}
}

// A target that was refused, and a provider that has no tool, have no file.
func TestExtractRefuses(t *testing.T) {
	r := NewRegistry()
	for _, target := range []Target{{Refused: &Fault{Message: "no credential"}}, {Provider: "none", Credential: backup.NewSensitive("x")}, {}} {
		if e, err := r.Extract(target, func(name string) string { return name }); err == nil || len(e.Files) > 0 {
			t.Errorf("%+v: %v", e, err)
		}
	}
}
