package program

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/mutate"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// The lab's backup with some items damaged, against what is really there: a report, or
// one line that says why there is none. No item ends the program.
func FuzzDetect(f *testing.F) {
	dir := f.TempDir()
	inventory, damaged, output := filepath.Join(dir, "inventory.json"), filepath.Join(dir, "damaged.tar"), filepath.Join(dir, "report.json")
	saveInventory(f, dir, inventory)
	type item struct {
		path string
		body []byte
	}
	var items []item // of two tenants, and those of no namespace, in their classic copies
	ofOthers := regexp.MustCompile(`/namespaces/([^t]|tenant-[^ag]|tenant-alpha)|-preferredversion/`)
	backuptest.Rewrite(f, runs.Testdata+"fleet-data.tar.gz", func(path string, body []byte) ([]byte, bool) {
		if strings.HasSuffix(path, ".json") && !ofOthers.MatchString(path) {
			items = append(items, item{path, body})
		}
		return body, true
	})
	f.Add([]byte{})
	for seed := range uint64(8) {
		f.Add(randomBytes(seed, 7*int(1+seed)))
	}
	f.Fuzz(func(t *testing.T, edits []byte) { // of each seven bytes the first two choose the item
		byItem := map[int][]byte{}
		for ; len(edits) >= 7; edits = edits[7:] {
			i := (int(edits[0])<<8 | int(edits[1])) % len(items)
			byItem[i] = append(byItem[i], edits[2:7]...)
		}
		b := backuptest.New()
		for i, item := range items {
			b.Raw(item.path, mutate.JSON(item.body, byItem[i]))
		}
		if err := os.WriteFile(damaged, b.Tar(), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Remove(output)
		code, said := runQuietly(t, "detect", "--backup", damaged, "--inventory", inventory, "-o", output)
		unarmed(t, "stderr", said)
		if code == cli.ExitUsage {
			return
		}
		doc, err := os.ReadFile(output)
		if err != nil {
			t.Fatalf("status %d without a report: %v\n%s", code, err, said)
		}
		if _, err := report.Read(bytes.NewReader(doc)); err != nil {
			t.Fatal(err)
		}
	})
}

// saveInventory lists the lab once; the backup is decided against it many times.
func saveInventory(f *testing.F, dir, file string) {
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: runs.Testdata + "vcenter-after.tar.gz"})
	if err != nil {
		f.Fatal(err)
	}
	defer v.Close()
	if _, err := runs.LabEC2(); err != nil {
		f.Fatal(err)
	}
	credentials, err := v.WriteCredentials(dir)
	if err != nil {
		f.Fatal(err)
	}
	code, said := runQuietly(f, "inventory", "--backup", runs.Testdata+"fleet-data.tar.gz", "--skip-access-apiserver", "--aws-ambient",
		"--endpoint", v.Reroute(), "--credentials", credentials, "-o", file)
	if code != cli.ExitOK {
		f.Fatalf("status %d\n%s", code, said)
	}
}

// runQuietly runs the program, which has to end soon, and returns what it says to stderr.
func runQuietly(t testing.TB, args ...string) (cli.ExitCode, string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	s := &cli.Streams{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: runs.Clock}
	code := runs.Program(ctx, append([]string{"drift-detector"}, args...), s)
	if ctx.Err() != nil {
		t.Fatalf("%q takes more than a minute", args)
	}
	return code, stderr.String()
}
