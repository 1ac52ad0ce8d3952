package program

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestStart holds what each package takes before main runs, which every command pays: of nearly all
// it is less than 1 MB.
func TestStart(t *testing.T) {
	const most = 2 << 20
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		// init NAME @1.2 ms, 0.3 ms clock, 400 bytes, 5 allocs
		f := strings.Fields(line)
		if len(f) != 11 || f[0] != "init" {
			continue
		}
		seen++
		if n, err := strconv.Atoi(f[7]); err != nil || n > most {
			t.Errorf("%s takes %s bytes as the program begins, more than %d", f[1], f[7], most)
		}
	}
	if seen == 0 {
		t.Errorf("no package is listed:\n%s", out)
	}
}
