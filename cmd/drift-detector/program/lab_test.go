package program

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report"
)

const testdata = "../../../testdata/"

// world is a backup with the infrastructure that it drifted from, served on loopback.
type world struct {
	nodesFrom string // the folder of the Node lists
	t         *testing.T
	backups   []string
	vcenter   *lab.VCenter
	nodes     *lab.APIServers
	cloud     *openstacklab.Server
	azure     *azurelab.Server
	dir       string
	creds     string
}

// fleet returns the backup of the lab before its drift, against the vCenter after it.
func fleet(t *testing.T) *world {
	return newWorld(t, testdata+"fleet-data.tar.gz", testdata+"vcenter-after.tar.gz", testdata+"nodes")
}

// restored returns the backup that was really restored, against the vCenter right before.
func restored(t *testing.T) *world {
	return newWorld(t, testdata+"restore/restored-data.tar.gz", testdata+"restore/vcenter-before-restore.tar.gz", testdata+"restore/nodes")
}

func newWorld(t *testing.T, backup, vcenter, nodes string) *world {
	t.Helper()
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: vcenter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	n, err := lab.StartAPIServers(backup, nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	w := &world{t: t, vcenter: v, nodes: n, nodesFrom: nodes, dir: t.TempDir()}
	pinned, err := v.WritePinned(backup, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.backups = []string{pinned}
	if _, err := labEC2(); err != nil {
		t.Fatal(err)
	}
	if w.creds, err = v.WriteCredentials(w.dir); err != nil {
		t.Fatal(err)
	}
	return w
}

// labEC2 serves AWS to all tests of the process: its SDK takes the endpoint and
// the operator's credential from the environment, which tests that run in
// parallel share.
var labEC2 = sync.OnceValues(func() (*lab.EC2, error) {
	e, err := lab.StartEC2(fleetEC2())
	if err != nil {
		return nil, err
	}
	for _, setting := range e.Environment() {
		name, value, _ := strings.Cut(setting, "=")
		os.Setenv(name, value)
	}
	return e, nil
})

// fleetEC2 returns the account of cluster aws-prod. The backup holds no credential
// for it: CAPA's controller has its own.
func fleetEC2() lab.EC2Options {
	return lab.EC2Options{Instances: testdata + "aws/describe-instances.json", Backup: testdata + "fleet-data.tar.gz"}
}

// serveEC2 serves AWS as o says, until the test ends.
func serveEC2(t *testing.T, o lab.EC2Options) *lab.EC2 {
	t.Helper()
	if _, err := labEC2(); err != nil { // before: what it sets would be taken back with the test
		t.Fatal(err)
	}
	e, err := lab.StartEC2(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for _, setting := range e.Environment() {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	return e
}

// outcome is one run of the program.
type outcome struct {
	code           cli.ExitCode
	stdout, stderr string
	json           []byte
	report         *report.Report
}

func (w *world) reach() []string {
	var args []string
	if w.vcenter != nil {
		args = []string{"--endpoint", w.vcenter.Reroute(), "--credentials", w.creds, "--aws-ambient"}
	}
	if w.azure != nil {
		args = append(args, w.reachAzure()...)
	}
	if w.nodes != nil {
		for _, r := range w.nodes.Reroutes() {
			args = append(args, "--endpoint", r)
		}
	}
	return args
}

func (w *world) sources() []string {
	var args []string
	for _, b := range w.backups {
		args = append(args, "--backup", b)
	}
	return args
}

// detect runs `drift-detector detect` over the network of the lab.
func (w *world) detect(extra ...string) outcome {
	w.t.Helper()
	return w.run(slices.Concat(w.sources(), w.reach(), extra)...)
}

// run runs `drift-detector detect` with a report file and reads it.
func (w *world) run(args ...string) outcome {
	w.t.Helper()
	file := filepath.Join(w.dir, "report.json")
	os.Remove(file)
	o := runProgram(w.t, slices.Concat([]string{"detect", "-o", file}, args)...)
	var err error
	if o.json, err = os.ReadFile(file); err == nil {
		if o.report, err = report.Read(bytes.NewReader(o.json)); err != nil {
			w.t.Fatalf("reading the report back: %v", err)
		}
	}
	return o
}

// readBack returns the report of a file.
func readBack(file string) (*report.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.Read(f)
}

func runProgram(t *testing.T, args ...string) outcome {
	t.Helper()
	return runAt(t, clock, args...)
}

// clock does not move, so that two runs differ in nothing that only time makes.
var clock = sync.OnceValue(time.Now)

// runAt runs the program with a clock of its own.
func runAt(t *testing.T, now func() time.Time, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s := &cli.Streams{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: now}
	code := Program(context.Background(), append([]string{"drift-detector"}, args...), s)
	Ended(t, args, code)
	return outcome{code: code, stdout: stdout.String(), stderr: stderr.String()}
}

func (o outcome) demand(t *testing.T, code cli.ExitCode) {
	t.Helper()
	if o.code != code {
		t.Fatalf("exit status %d, want %d\n%s\n%s", o.code, code, o.stderr, o.stdout)
	}
}

func (o outcome) agreesWith(t *testing.T, want interface{ misses(*report.Report) []string }) {
	t.Helper()
	for _, miss := range want.misses(o.report) {
		t.Error(miss)
	}
}

var listingTimes = regexp.MustCompile(`"listedAt": "[^"]*"`)

// withoutTime returns the report's JSON except for the moments at which it was made, and places were listed.
func (o outcome) withoutTime(t *testing.T) string {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(o.json, &doc); err != nil {
		t.Fatal(err)
	}
	stamp, ok := doc["generatedAt"].(string)
	if !ok {
		t.Fatal("the report has no generatedAt")
	}
	text, _, _ := strings.Cut(strings.Replace(string(o.json), stamp, "T", 1), ",\n  \"digests\": {")
	return listingTimes.ReplaceAllString(text, `"listedAt": "T"`)
}

// Every entry of the lab's oracle holds, with Node lists and without them, live
// and through a saved inventory, for every form in which the backup comes.
func TestLabVerdicts(t *testing.T) {
	t.Parallel()
	want, wantAWS := readOracle(t, testdata+"verdicts.json"), readAWSOracle(t)
	w := fleet(t)
	for name, backup := range map[string]string{
		"fleet":          testdata + "fleet-data.tar.gz",
		"cluster-scoped": testdata + "fleet-cluster-scoped-data.tar.gz",
		"bucket folder":  testdata + "bucket/mgmt-cluster-1/backups/mgmt-full",
	} {
		t.Run(name, func(t *testing.T) {
			w.backups = []string{backup}
			live := w.detect()
			live.demand(t, cli.ExitOK)
			live.agreesWith(t, want)
			live.agreesWith(t, wantAWS)

			skipped := w.detect("--skip-access-apiserver")
			skipped.demand(t, cli.ExitOK)
			skipped.agreesWith(t, want)
			skipped.agreesWith(t, wantAWS)
			for _, c := range skipped.report.Clusters {
				if c.Nodes.State == "read" {
					t.Errorf("the Nodes of %s were read all the same", c.Name)
				}
			}

			saved := filepath.Join(w.dir, "inventory.json")
			runProgram(t, slices.Concat([]string{"inventory", "-o", saved}, w.sources(), w.reach())...).demand(t, cli.ExitOK)
			offline := w.run("--backup", backup, "--inventory", saved)
			offline.demand(t, cli.ExitOK)
			offline.agreesWith(t, want)
			offline.agreesWith(t, wantAWS)
			if a, b := live.withoutTime(t), offline.withoutTime(t); a != b {
				t.Errorf("the report from a saved inventory differs from the live one: %s", firstDifference(a, b))
			}
		})
	}
}

func TestTwoRunsWriteTheSameBytes(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	a, b := w.detect(), w.detect()
	if x, y := a.withoutTime(t), b.withoutTime(t); x != y {
		t.Errorf("two runs differ: %s", firstDifference(x, y))
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + " / " + y[i]
		}
	}
	return "one is longer"
}

// The verdicts before the restore that real controllers then carried out.
func TestRestoredFleetVerdicts(t *testing.T) {
	t.Parallel()
	want := readOracle(t, testdata+"restore/outcomes.json")
	w := restored(t)
	for name, extra := range map[string][]string{"with Nodes": nil, "without Nodes": {"--skip-access-apiserver"}} {
		t.Run(name, func(t *testing.T) {
			o := w.detect(extra...)
			o.demand(t, cli.ExitOK)
			o.agreesWith(t, want)
			if got := placementsOf(o.report).ghosts(); len(got) != len(want.Ghosts) {
				t.Errorf("%d Ghosts, want %d: %v", len(got), len(want.Ghosts), got)
			}
		})
	}
}
