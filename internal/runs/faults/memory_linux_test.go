//go:build !race

package faults_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// peakCommand is drift-detector as a process that ends with a line on its own
// peak of resident memory.
const peakCommand = "drift-detector-peak"

func init() {
	runs.Commands[peakCommand] = func() {
		os.Args[0] = "drift-detector"
		// As if nobody had set when garbage is collected, which .ci/run does.
		os.Unsetenv("GOGC")
		debug.SetGCPercent(100)
		code := runs.Program(context.Background(), os.Args, cli.Process())
		status, err := os.ReadFile("/proc/self/status") // proc(5): VmHWM is that of this program alone
		if err != nil {
			panic(err)
		}
		_, peak, _ := strings.Cut(string(status), "VmHWM:")
		peak, _, _ = strings.Cut(peak, "\n")
		fmt.Println(strings.TrimSpace(peak))
		os.Exit(int(code))
	}
}

// peak returns the peak of resident memory, in kB, of a detect in an account with that
// many instances that are nobody's.
func peak(t *testing.T, unrelated int) (kB int) {
	t.Helper()
	o := runs.FleetEC2()
	o.Synthetic = unrelated
	runs.ServeEC2(t, o)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "detect", "--backup", runs.Testdata+"fleet-data.tar.gz", "--cluster", "aws-prod", "--aws-ambient",
		"--skip-access-apiserver", "--quiet", "-o", filepath.Join(t.TempDir(), "report.json"))
	c.Args[0] = peakCommand
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := fmt.Sscanf(string(out), "%d kB", &kB); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return kB
}

// The memory of a run is a matter of the backup, and not of how many instances of
// others the account holds.
func TestMemoryStaysFlat(t *testing.T) {
	few, many := 1_000, 31_000
	least, most := peak(t, few), peak(t, many)
	t.Logf("%d kB with %d instances, %d kB with %d", least, few, most, many)
	// It is about 400 bytes, half of them garbage yet to be collected; one that is
	// not packed takes 2,400.
	if each := (most - least) * 1024 / (many - few); each > 1000 {
		t.Errorf("%d instances take %d kB, %d take %d kB: %d bytes for each", few, least, many, most, each)
	}
}
