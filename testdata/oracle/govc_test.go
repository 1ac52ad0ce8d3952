package oracle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vmware/govmomi/cli"
	"github.com/vmware/govmomi/cli/flags"
	// The commands that plans print register themselves.
	_ "github.com/vmware/govmomi/cli/device"
	_ "github.com/vmware/govmomi/cli/object"
	_ "github.com/vmware/govmomi/cli/version"
	_ "github.com/vmware/govmomi/cli/vm"

	"drift-detector/infra/vsphere/govc"
	"drift-detector/internal/lab"
	"drift-detector/report"
	"drift-detector/report/plan"
)

// tools are those that plans of these reports use.
var tools = plan.Tools{"vsphere": govc.Tool{}}

// TestMain runs govc itself where the test binary is called by that name, and the stand-in of
// another program by its.
func TestMain(m *testing.M) {
	standIns := map[string]func([]string){"kubectl": kubectl, "velero": veleroCommand, "clusterctl": clusterctl}
	switch name := filepath.Base(os.Args[0]); {
	case name == "govc":
		flags.BuildVersion = os.Getenv("GOVC_TEST_VERSION")
		os.Exit(cli.Run(os.Args[1:]))
	case standIns[name] != nil:
		standIns[name](os.Args[1:])
		os.Exit(0)
	}
	code := m.Run()
	if program != "" {
		_ = os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

var program string // that built made

// built makes the program, once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "drift-detector-oracle-")
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "drift-detector")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./cmd/drift-detector")
	cmd.Dir = filepath.Join(testdata, "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
})

const testdata = ".."

// fleet returns the lab's vCenter after the drift. Another id makes it another vCenter
// that holds the same VMs under the same ids, as a stand-by site does.
func fleet(t *testing.T, id string) *lab.VCenter {
	t.Helper()
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: filepath.Join(testdata, "vcenter-after.tar.gz"), InstanceUUID: id})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// detected returns the report of the real program on the lab, except for its AWS cluster, and the
// folder with both.
func detected(t *testing.T, v *lab.VCenter) (*report.Report, string) {
	t.Helper()
	backup := filepath.Join(testdata, "fleet-data.tar.gz")
	n, err := lab.StartAPIServers(backup, filepath.Join(testdata, "nodes"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	dir := t.TempDir()
	creds, err := v.WriteCredentials(dir)
	if err != nil {
		t.Fatal(err)
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "drift-detector")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "report.json")
	args := []string{"detect", "--backup", backup, "-o", file, "--quiet", "--credentials", creds, "--endpoint", v.Reroute()}
	for _, r := range n.Reroutes() {
		args = append(args, "--endpoint", r)
	}
	for _, c := range []string{"alpha-prod", "beta-prod", "gamma-edge"} {
		args = append(args, "--cluster", c)
	}
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return r, dir
}

// shell runs lines of a plan with the real govc, the real recheck and stand-ins of the other
// programs, which record what they are called with.
type shell struct {
	t        *testing.T
	bin, log string
	env      []string
}

const standIn = `#!/bin/sh
echo "${0##*/} $*" >>"$LOG"
for word; do case "$word" in --namespace=*) space=${word#*=} ;; *.cluster.x-k8s.io/*) kind=${word%%s.*} name=${word#*/} ;; esac; done
case "$*" in
*" get nodes --output=json") cat "$NODES" ;;
*" get machines.cluster.x-k8s.io --all-namespaces --output=json") echo '{"kind":"List","items":[{"kind":"Machine","metadata":{"name":"one","creationTimestamp":"2099-01-01T00:00:00Z","labels":{"velero.io/restore-name":"restore-1"}}}]}' ;;
*" member list --write-out=json") echo '{"header":{},"members":[{"ID":26,"name":"another"}]}' ;;
*" --output=json") printf '{"kind":"%s","metadata":{"namespace":"%s","name":"%s","creationTimestamp":"2099-01-01T00:00:00Z","labels":{"velero.io/restore-name":"restore-1"}},"spec":{"providerID":"%s","infrastructureRef":{"name":"%s"}}}' "$kind" "$space" "$name" "$PROVIDER_ID" "$name" ;;
esac
`

func newShell(t *testing.T, v *lab.VCenter, version, dir string, r *report.Report) *shell {
	t.Helper()
	s := &shell{t: t, bin: t.TempDir()}
	s.log = filepath.Join(s.bin, "log")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, program := range map[string]string{"govc": self, "drift-detector": filepath.Join(dir, "drift-detector")} {
		if err := os.Symlink(program, filepath.Join(s.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	nodes := filepath.Join(s.bin, "nodes.json")
	for file, text := range map[string]string{filepath.Join(s.bin, "kubectl"): standIn, nodes: nodesOf(t, r)} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(os.Environ(), "PATH="+s.bin+":"+os.Getenv("PATH"), "LOG="+s.log, "GOVC_TEST_VERSION="+version, "HOME="+s.bin, "NODES="+nodes,
		"GOVC_INSECURE=true", "MGMT=mgmt", "RESTORE=restore-1", "REPORT="+filepath.Join(dir, "report.json"))
	for _, v := range r.Variables {
		if strings.HasPrefix(v.Name, "CTX_") {
			s.env = append(s.env, v.Name+"=workload")
		}
	}
	s.env = append(s.env, "VCENTER_1=https://user:secret@"+v.Addr)
	return s
}

// nodesOf returns what kubectl prints of the Nodes of the machines that run, and of the Ghosts.
func nodesOf(t *testing.T, r *report.Report) string {
	t.Helper()
	var items []any
	for i := range r.Clusters {
		for _, set := range r.Clusters[i].Sets() {
			for _, m := range set.Machines {
				if m.Instance != nil {
					items = append(items, map[string]any{"kind": "Node", "metadata": map[string]string{"name": cmp.Or(m.Node, m.Name)}, "spec": map[string]string{"providerID": "vsphere://" + m.Instance.ID}})
				}
			}
		}
	}
	text, err := json.Marshal(map[string]any{"kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run says whether a line succeeded, what it printed, and how kubectl was called.
func (s *shell) run(line, providerID string) (ok bool, printed, calls string) {
	s.t.Helper()
	os.Remove(s.log)
	cmd := exec.Command("sh", "-c", line)
	cmd.Env, cmd.Dir = append(s.env, "PROVIDER_ID="+providerID), s.t.TempDir()
	out, err := cmd.CombinedOutput()
	called, _ := os.ReadFile(s.log) // absent when nothing was called
	return err == nil, string(out), string(called)
}

// lines returns those of the plan that hold a piece of text, with the id that the
// machine records.
func lines(r *report.Report, piece string) (out [][2]string) {
	for i := range r.Clusters {
		for _, set := range r.Clusters[i].Sets() {
			for _, m := range set.Machines {
				for _, s := range m.Remediation {
					for _, c := range s.Commands {
						if strings.Contains(c, piece) {
							out = append(out, [2]string{c, m.ProviderID})
						}
					}
				}
			}
		}
	}
	return out
}

// TestDeleteLinesNeedTheRightVCenterAndAnAccountThatSees runs the lines that
// delete Machines and VMs with the real govc.
func TestDeleteLinesNeedTheRightVCenterAndAnAccountThatSees(t *testing.T) {
	right := fleet(t, "")
	r, dir := detected(t, right)
	deletes, ends := lines(r, " delete machines."), slices.Concat(lines(r, "vm.power -off"), lines(r, "vm.destroy"))
	if len(deletes) < 5 || len(ends) < 10 {
		t.Fatalf("the plan has %d lines that delete Machines and %d that end VMs", len(deletes), len(ends))
	}

	empty, err := lab.StartVCenter(lab.VCenterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(empty.Close)
	blind := fleet(t, "")
	for _, folder := range []string{"/DC0/vm/capi/tenant-alpha", "/DC0/vm/capi/tenant-beta", "/DC0/vm/capi/tenant-gamma", "/DC0/vm/capi/decommissioned"} {
		if err := blind.HideVMs(folder); err != nil {
			t.Fatal(err)
		}
	}
	for name, at := range map[string]struct {
		vcenter *lab.VCenter
		says    string
	}{
		"a replica of the site": {fleet(t, "0a0a0a0a-0000-4000-8000-000000000001"), "stop: vsphere 127.0.0.1"},
		"an empty vCenter":      {empty, "stop: vsphere 127.0.0.1"},
		"a blind account":       {blind, "stop: th"},
	} {
		before := len(at.vcenter.VMs())
		s := newShell(t, at.vcenter, "v0.56.0", dir, r)
		for _, l := range slices.Concat(deletes, ends) {
			ok, printed, calls := s.run(l[0], l[1])
			if ok || strings.Contains(calls, " delete ") || !strings.Contains(strings.ToLower(printed), at.says) {
				t.Errorf("%s: ended well %v, said %q, called %q: %s", name, ok, printed, calls, l[0])
			}
		}
		if n := len(at.vcenter.VMs()); n != before {
			t.Errorf("%s: %d VMs are left of %d", name, n, before)
		}
	}

	s := newShell(t, right, "v0.56.0", dir, r)
	for _, l := range deletes {
		if ok, printed, calls := s.run(l[0], l[1]); !ok || !strings.Contains(calls, " delete machines.") {
			t.Errorf("in the right place: %s, called %q: %s", printed, calls, l[0])
		}
		if ok, _, calls := s.run(l[0], "vsphere://another"); ok || strings.Contains(calls, " delete ") {
			t.Errorf("another Machine of the name is deleted: %s", l[0])
		}
	}
	if ok, printed, calls := s.run(deletes[0][0], ""); ok || strings.Contains(calls, " delete ") {
		t.Errorf("a Machine without an id is deleted: %s", printed)
	}
	before := len(right.VMs())
	for _, l := range ends {
		if ok, printed, _ := s.run(l[0], l[1]); !ok {
			t.Errorf("in the right place: %s: %s", printed, l[0])
		}
	}
	if got, want := before-len(right.VMs()), len(ends)/2; got != want {
		t.Errorf("%d VMs are gone, want %d", got, want)
	}
}

// TestGovcHasToBeNewEnough holds the first line of a plan against govc's own
// comparison of versions, and all that plans do with managed object ids against what
// that release brought.
func TestGovcHasToBeNewEnough(t *testing.T) {
	v := fleet(t, "")
	var check string
	r, dir := detected(t, v)
	for _, step := range plan.New(r, tools).Sections[0].Chapters[0].Steps {
		for _, c := range step.Commands {
			if strings.HasPrefix(c, "govc version ") {
				check = c
			}
		}
	}
	if check == "" {
		t.Fatal("the plan does not look at govc's version")
	}
	for version, want := range map[string]bool{"0.18.0": false, "v0.45.1": false, "v0.0.0": false, "v0.46.0": true, "v0.56.0": true} {
		if ok, printed, _ := newShell(t, v, version, dir, r).run(check, ""); ok != want {
			t.Errorf("%s: %v (%s)", version, ok, printed)
		}
	}
}
