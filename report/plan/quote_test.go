package plan

import (
	"os/exec"
	"strings"
	"testing"
)

// hostile are names that a backup may hold and that no command may obey.
var hostile = []string{
	"$(touch x)", "`touch x`", "a;b", "a;touch x", "-rf", "--all", "'", "'; touch x; '", `"`, `"; touch x; "`, "a b", " ", "*", "?", "~", "!!",
	`\`, `a\`, `\'`, "# shellcheck disable=all", "$HOME", "${IFS}", "$'\\n'touch x", "a|touch x", "a&touch x", "a>x", "<x", "{a,b}", "[a]", "=ls", "x=y", "%1",
	"```", "<script>", "[a](http://b)", "| a |", "ünïcödé", "",
}

// unprintable are names that no command is made for.
var unprintable = []string{"a\nb", "a\n# touch x", "a\ntouch x\n", "a\rb", "a\x00b", "\x1b[31mred", "a\tb", "\u202eabc", "a\u2028b", "\xff\xfe"}

func TestQuoteGivesAShellBackExactlyTheName(t *testing.T) {
	for _, shell := range []string{"sh", "bash"} {
		var words []string
		for _, name := range hostile {
			q, ok := Quote(name)
			if !ok {
				t.Errorf("%q is refused", name)
			}
			words = append(words, q)
		}
		cmd := exec.Command(shell, "-c", "printf '%s\\0' "+strings.Join(words, " "))
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", shell, err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if len(got) != len(hostile) {
			t.Fatalf("%s read %d words, want %d: %q", shell, len(got), len(hostile), got)
		}
		for i, name := range hostile {
			if got[i] != name {
				t.Errorf("%s read %q, want %q", shell, got[i], name)
			}
		}
	}
}

func TestQuoteRefusesWhatATerminalWouldNotShow(t *testing.T) {
	for _, name := range unprintable {
		if q, ok := Quote(name); ok || q != "" {
			t.Errorf("Quote(%q) = %q, %v", name, q, ok)
		}
	}
}

func TestQuoteLeavesPlainNamesReadable(t *testing.T) {
	for _, name := range []string{"alpha-prod", "machines.cluster.x-k8s.io/alpha-prod-jzxnt", "--namespace=tenant-alpha", "VirtualMachine:vm-442"} {
		if q, ok := Quote(name); !ok || q != name {
			t.Errorf("Quote(%q) = %q, %v", name, q, ok)
		}
	}
}
