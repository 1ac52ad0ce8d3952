package faults_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// However many vCenters and API servers do not answer, stderr and the screen say so in a
// few lines, and the report has each.
func TestHundredsOfPlacesFail(t *testing.T) {
	t.Parallel()
	const clusters = 300
	file, closed := filepath.Join(t.TempDir(), "many.tar.gz"), closedPort(t)
	if err := os.WriteFile(file, manyClusters(t, clusters), 0o600); err != nil {
		t.Fatal(err)
	}
	reach := []string{"--endpoint", "127.0.0.1:20001=" + closed}
	for i := range clusters {
		reach = append(reach, "--endpoint", fmt.Sprintf("%s=%s", vcenterOf(i), closed))
	}
	saved, inventory := file+".json", file+".inventory.json"
	for _, args := range [][]string{
		append([]string{"inventory", "-o", inventory}, reach...), // the one that contacts them
		{"detect", "-o", saved, "--summary", "--inventory", inventory},
		{"detect", "--fail-on", "unknown", "--inventory", inventory},
	} {
		o := runs.Run(t, append(args, "--backup", file)...)
		want := cli.ExitIncomplete
		if slices.Contains(args, "--fail-on") {
			want = cli.ExitFailOn
		}
		o.Demand(t, want)
		if n := len(o.Stderr); n > 2048 || !strings.Contains(o.Stderr, "and 297 more places") {
			t.Errorf("%v: %d bytes:\n%s", args, n, o.Stderr)
		}
		if n := strings.Count(o.Stdout, "\n"); n > 30 || args[0] == "detect" && !strings.Contains(o.Stdout, "300 of 300 places not listed; 300 machines Unknown") {
			t.Errorf("%v: %d lines:\n%s", args, n, o.Stdout)
		}
	}
	if rep, err := runs.ReadBack(saved); err != nil || len(rep.Incomplete()) != clusters || rep.Summary.Machines.Unknown != clusters {
		t.Errorf("the report is not of %d places: %v", clusters, err)
	}
	for _, args := range [][]string{{"plan", saved}, {"diff", saved, saved}, {"render", saved, "--cluster", "nobody"}} {
		if o := runs.Run(t, args...); len(o.Stderr) > 2048 || o.Stderr == "" {
			t.Errorf("%v: %d bytes of errors", args, len(o.Stderr))
		}
	}
}

func vcenterOf(i int) string { return fmt.Sprintf("vcenter-%03d.example:443", i) }

// closedPort returns an address at which nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return l.Addr().String()
}

// manyClusters returns a backup of as many copies of cluster alpha-dev of the lab, with one
// machine, each in a namespace and a vCenter of its own.
func manyClusters(t *testing.T, n int) []byte {
	t.Helper()
	names := []string{"alpha-dev", "alpha-dev-nzj74", "alpha-dev-kubeconfig"}
	kinds := []string{"clusters", "machines", "kubeadmcontrolplanes", "vsphereclusters", "vspheremachines", "vspherevms", "secrets"}
	one := map[string][]byte{}
	nothing := backuptest.Rewrite(t, runs.Testdata+"fleet-data.tar.gz", func(item string, body []byte) ([]byte, bool) {
		resource, name := runs.ItemOf(item)
		kind, _, _ := strings.Cut(resource, ".")
		if slices.Contains(names, name) && slices.Contains(kinds, kind) && strings.Contains(item, "/tenant-alpha/") && !strings.Contains(item, "-preferredversion/") {
			one[item] = body
		}
		return body, item == "metadata/version"
	})
	empty := filepath.Join(t.TempDir(), "empty.tar.gz")
	if err := os.WriteFile(empty, nothing, 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for i := range n {
		namespace := fmt.Sprintf("tenant-%03d", i)
		for item, body := range one {
			body = bytes.ReplaceAll(body, []byte("tenant-alpha"), []byte(namespace))
			body = bytes.ReplaceAll(body, []byte("127.0.0.1:36459"), []byte(vcenterOf(i)))
			all[strings.ReplaceAll(item, "tenant-alpha", namespace)] = body
		}
	}
	return backuptest.Append(t, empty, all)
}
