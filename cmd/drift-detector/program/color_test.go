package program

import (
	"bytes"
	"context"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// Colour can be forced where stdout is no terminal, and NO_COLOR wins.
func TestColourIsForced(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"FORCE_COLOR": "1"}, true},
		{map[string]string{"FORCE_COLOR": "true"}, true},
		{map[string]string{"CLICOLOR_FORCE": "1"}, true},
		{map[string]string{"FORCE_COLOR": "0"}, false},
		{map[string]string{"CLICOLOR_FORCE": "0"}, false},
		{map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, false},
	} {
		var stdout, stderr bytes.Buffer
		s := &cli.Streams{Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return c.env[name] }, Now: runs.Clock}
		if code := runs.Program(context.Background(), []string{"drift-detector", "check", "--backup", runs.Testdata + "fleet-data.tar.gz"}, s); code != cli.ExitOK {
			t.Fatal(stderr.String())
		}
		if got := bytes.Contains(stdout.Bytes(), []byte("\x1b[")); got != c.want {
			t.Errorf("%v: colour %v", c.env, got)
		}
	}
}

func TestQuotesNoSecret(t *testing.T) {
	for value, want := range map[string]string{
		"foo": ` "foo"`, "vc.corp:443": ` "vc.corp:443"`, "https://vc=10.0.0.5:99999": ` "https://vc=10.0.0.5:99999"`,
		"user:pass": "", "https://u:p@vc=x": "", "vc=https://u:p@x": "", "vc=x?token=1": "", "user:123456@vc": "",
	} {
		if got := quotable(value); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}
