package shell_test

import (
	"os/exec"
	"strings"
	"testing"

	"drift-detector/infra/shell"
	"drift-detector/infra/shell/shelltest"
)

func TestQuoteGivesAShellBackExactlyTheName(t *testing.T) {
	for _, sh := range []string{"sh", "bash"} {
		var words []string
		for _, name := range shelltest.Hostile {
			q, ok := shell.Quote(name)
			if !ok {
				t.Errorf("%q is refused", name)
			}
			words = append(words, q)
		}
		cmd := exec.Command(sh, "-c", "printf '%s\\0' "+strings.Join(words, " "))
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", sh, err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if len(got) != len(shelltest.Hostile) {
			t.Fatalf("%s read %d words, want %d: %q", sh, len(got), len(shelltest.Hostile), got)
		}
		for i, name := range shelltest.Hostile {
			if got[i] != name {
				t.Errorf("%s read %q, want %q", sh, got[i], name)
			}
		}
	}
}

func TestQuoteRefusesWhatATerminalWouldNotShow(t *testing.T) {
	for _, name := range shelltest.Unprintable {
		if q, ok := shell.Quote(name); ok || q != "" {
			t.Errorf("Quote(%q) = %q, %v", name, q, ok)
		}
	}
}

func TestQuoteLeavesPlainNamesReadable(t *testing.T) {
	for _, name := range []string{"alpha-prod", "machines.cluster.x-k8s.io/alpha-prod-jzxnt", "--namespace=tenant-alpha", "VirtualMachine:vm-442"} {
		if q, ok := shell.Quote(name); !ok || q != name {
			t.Errorf("Quote(%q) = %q, %v", name, q, ok)
		}
	}
}
