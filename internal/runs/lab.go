package runs

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// Testdata is the folder of the lab, as seen from each package of tests.
const Testdata = "../../../testdata/"

// World is a backup with the infrastructure that it drifted from, served on loopback.
type World struct {
	NodesFrom string // the folder of the Node lists
	T         *testing.T
	Backups   []string
	VCenter   *lab.VCenter
	Nodes     *lab.APIServers
	Cloud     *openstacklab.Server
	Azure     *azurelab.Server
	Dir       string
	Creds     string
}

// Fleet returns the backup of the lab before its drift, against the vCenter after it.
func Fleet(t *testing.T) *World {
	return newWorld(t, Testdata+"fleet-data.tar.gz", Testdata+"vcenter-after.tar.gz", Testdata+"nodes")
}

// Restored returns the backup that was really restored, against the vCenter right before.
func Restored(t *testing.T) *World {
	return newWorld(t, Testdata+"restore/restored-data.tar.gz", Testdata+"restore/vcenter-before-restore.tar.gz", Testdata+"restore/nodes")
}

func newWorld(t *testing.T, backup, vcenter, nodes string) *World {
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
	w := &World{T: t, VCenter: v, Nodes: n, NodesFrom: nodes, Dir: t.TempDir()}
	pinned, err := v.WritePinned(backup, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.Backups = []string{pinned}
	if _, err := LabEC2(); err != nil {
		t.Fatal(err)
	}
	if w.Creds, err = v.WriteCredentials(w.Dir); err != nil {
		t.Fatal(err)
	}
	return w
}

// LabEC2 serves AWS to all tests of the process: its SDK takes the endpoint and
// the operator's credential from the environment, which tests that run in
// parallel share.
var LabEC2 = sync.OnceValues(func() (*lab.EC2, error) {
	e, err := lab.StartEC2(FleetEC2())
	if err != nil {
		return nil, err
	}
	for _, setting := range e.Environment() {
		name, value, _ := strings.Cut(setting, "=")
		os.Setenv(name, value)
	}
	return e, nil
})

// FleetEC2 returns the account of cluster aws-prod. The backup holds no credential
// for it: CAPA's controller has its own.
func FleetEC2() lab.EC2Options {
	return lab.EC2Options{Instances: Testdata + "aws/describe-instances.json", Backup: Testdata + "fleet-data.tar.gz"}
}

// ServeEC2 serves AWS as o says, until the test ends.
func ServeEC2(t *testing.T, o lab.EC2Options) *lab.EC2 {
	t.Helper()
	if _, err := LabEC2(); err != nil { // before: what it sets would be taken back with the test
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

// Ensure fails the test on an error.
func (w *World) Ensure(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Reach returns the flags with which the servers of the lab are reached.
func (w *World) Reach() []string {
	var args []string
	if w.VCenter != nil {
		args = []string{"--endpoint", w.VCenter.Reroute(), "--credentials", w.Creds, "--aws-ambient"}
	}
	if w.Azure != nil {
		args = append(args, w.reachAzure()...)
	}
	if w.Nodes != nil {
		for _, r := range w.Nodes.Reroutes() {
			args = append(args, "--endpoint", r)
		}
	}
	return args
}

// Sources returns the flags that name the backups.
func (w *World) Sources() []string {
	var args []string
	for _, b := range w.Backups {
		args = append(args, "--backup", b)
	}
	return args
}

// Outcome is one run of the program.
type Outcome struct {
	Code           cli.ExitCode
	Stdout, Stderr string
	JSON           []byte
	Report         *report.Report
}

// Detect runs `drift-detector detect` over the network of the lab.
func (w *World) Detect(extra ...string) Outcome {
	w.T.Helper()
	return w.Run(slices.Concat(w.Sources(), w.Reach(), extra)...)
}

// Run runs `drift-detector detect` with a report file and reads it.
func (w *World) Run(args ...string) Outcome {
	w.T.Helper()
	file := filepath.Join(w.Dir, "report.json")
	os.Remove(file)
	o := Run(w.T, slices.Concat([]string{"detect", "-o", file}, args)...)
	var err error
	if o.JSON, err = os.ReadFile(file); err == nil {
		if o.Report, err = report.Read(bytes.NewReader(o.JSON)); err != nil {
			w.T.Fatalf("reading the report back: %v", err)
		}
	}
	return o
}

func (w *World) reachAzure() []string {
	args := []string{"--azure-ambient"}
	if w.VCenter == nil {
		args = append(args, "--credentials", w.Creds)
	}
	for _, r := range w.Azure.Reroutes() {
		args = append(args, "--endpoint", r)
	}
	return args
}

// statuses are what the help of each command says of them.
var statuses sync.Map

// hasStatus complains when the command of a line ended with a status that its help does not have.
func hasStatus(t *testing.T, args []string, code cli.ExitCode) {
	t.Helper()
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		said, ok := statuses.Load(a)
		if !ok {
			var stdout bytes.Buffer
			s := &cli.Streams{Stdout: &stdout, Stderr: io.Discard, Getenv: func(string) string { return "" }, Now: Clock}
			Program(context.Background(), []string{"drift-detector", "help", a}, s)
			_, said, _ = strings.Cut(stdout.String(), "EXIT STATUS:")
			statuses.Store(a, said)
		}
		if said == "" {
			continue // no command
		}
		if !regexp.MustCompile(fmt.Sprintf(`\b%d\s`, code)).MatchString(said.(string)) {
			t.Errorf("%s ends with status %d, which its help does not have", a, code)
		}
		return
	}
}

// ReadBack returns the report of a file.
func ReadBack(file string) (*report.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.Read(f)
}

// Run runs the program, at the time of Clock.
func Run(t *testing.T, args ...string) Outcome {
	t.Helper()
	return RunAt(t, Clock, args...)
}

// Clock does not move, so that two runs differ in nothing that only time makes.
var Clock = sync.OnceValue(time.Now)

// RunAt runs the program with a clock of its own.
func RunAt(t *testing.T, now func() time.Time, args ...string) Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s := &cli.Streams{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: now}
	code := Program(context.Background(), append([]string{"drift-detector"}, args...), s)
	hasStatus(t, args, code)
	return Outcome{Code: code, Stdout: stdout.String(), Stderr: stderr.String()}
}

// Readme returns the text of README.md.
func Readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// ShopBackup is a backup with Helm releases, nearly all of which drifted.
const ShopBackup = "../../../detector/releases/testdata/shop-drifted-data.tar.gz"
