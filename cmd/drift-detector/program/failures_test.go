package program

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/report"
	"drift-detector/report/code"
)

// edited replaces the world's backup by a changed copy of it.
func (w *world) edited(name string, edit func(item string, body []byte) ([]byte, bool)) {
	w.t.Helper()
	file := filepath.Join(w.dir, name+".tar.gz")
	if err := os.WriteFile(file, backuptest.Rewrite(w.t, w.backups[0], edit), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.backups = []string{file}
}

// itemOf returns the resource and the object that a path of a tarball names.
func itemOf(item string) (resource, name string) {
	parts := strings.Split(item, "/")
	if len(parts) < 3 {
		return "", ""
	}
	return parts[1], strings.TrimSuffix(path.Base(item), ".json")
}

// Without Cluster objects (k0rdent leaves them out) clusters are derived, and
// every verdict stays what it was.
func TestDerivedClustersHaveTheSameVerdicts(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	w.edited("no-clusters", func(item string, body []byte) ([]byte, bool) {
		resource, _ := itemOf(item)
		return body, resource != "clusters.cluster.x-k8s.io"
	})
	o := w.detect()
	o.demand(t, cli.ExitOK)
	o.agreesWith(t, readOracle(t, testdata+"verdicts.json"))
	for _, c := range o.report.Clusters {
		if !c.Derived {
			t.Errorf("cluster %s is not marked as derived", c.Name)
		}
	}
}

// VMs whose machines the backup lacks are Unknown, not Ghosts: the backup is
// known to be short of machines, so absence from it proves nothing. Only VMs
// created after the backup can still be Ghosts.
func TestHalfOfTheMachinesMissing(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	full := w.detect()
	removed := map[string]bool{}
	for _, c := range full.report.Clusters {
		for i, m := range machinesOf(c) {
			if m.Status == "Healthy" && i%2 == 0 {
				removed[m.Name] = true
			}
		}
	}
	w.edited("half", func(item string, body []byte) ([]byte, bool) {
		resource, name := itemOf(item)
		machine := resource == "machines.cluster.x-k8s.io" || resource == "vspheremachines.infrastructure.cluster.x-k8s.io" || resource == "vspherevms.infrastructure.cluster.x-k8s.io" ||
			resource == "awsmachines.infrastructure.cluster.x-k8s.io"
		return body, !machine || !removed[name]
	})
	for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
		o := w.detect(args...)
		o.demand(t, cli.ExitOK)
		seen := 0
		for _, c := range o.report.Clusters {
			for _, m := range machinesOf(c) {
				if m.Instance == nil || !removed[m.Instance.Name] {
					continue
				}
				if seen++; m.Status != "Unknown" || m.Reason != "MachineNotInBackup" {
					t.Errorf("VM %s is %s (%s), want Unknown MachineNotInBackup", m.Instance.Path, m.Status, m.Reason)
				}
			}
		}
		if seen == 0 {
			t.Error("not one VM of a removed machine is listed under its cluster")
		}
		// One of the removed has a copy with its BIOS UUID: its Node runs on one
		// of the two, and nothing tells on which.
		shared := 0
		for _, u := range o.report.InfraMachines {
			if n := u.Instance.Name; u.Reason == "DuplicateID" && (n == "alpha-prod-jzxnt" || n == "alpha-prod-jzxnt-dup-uuid") {
				shared++
			}
		}
		if shared != 2 {
			t.Errorf("%d of the two VMs of one BIOS UUID are unattributed for it, want both", shared)
		}
		before := placementsOf(full.report).ghosts()
		for _, path := range placementsOf(o.report).ghosts() {
			if !slices.Contains(before, path) {
				t.Errorf("VM %s became a Ghost", path)
			}
		}
	}
}

// A rollout after the backup makes a MachineSet that the backup does not know.
// Its VMs are Ghosts by name alone where no Node list was read, in all ages of
// MachineSet names (domain: 5 random characters since Cluster API 1.6, up to 16
// before). A Node list without them says that they may not be the cluster's.
func TestRolloutAfterTheBackup(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	names := []string{"alpha-prod-md-0-xbz42-tgmq7", "alpha-prod-md-0-6f9c8d47b5-xl2wk", "alpha-prod-md-0-6f9c8d47b5xzzzzz-xl2wk"}
	for _, name := range names {
		if _, err := w.vcenter.Clone("alpha-prod-md-0-cjzhw-dm6x8", lab.CloneSpec{Name: name, Created: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
		o := w.detect(args...)
		o.demand(t, cli.ExitOK)
		ghosts := placementsOf(o.report).ghosts()
		for _, name := range names {
			_, reason, _ := verdictOf(o.report, name)
			if ghost := slices.Contains(ghosts, "/DC0/vm/capi/tenant-alpha/"+name); ghost != (len(args) > 0) || !ghost && reason != "NameOnly" {
				t.Errorf("%v: VM %s is a Ghost: %v (%s)", args, name, ghost, reason)
			}
		}
		o.agreesWith(t, readOracle(t, testdata+"verdicts.json"))
	}
}

// byStatus returns the machines of a report with a status, by cluster and name.
func byStatus(r *report.Report, status string) map[string]report.Machine {
	all := map[string]report.Machine{}
	for _, c := range r.Clusters {
		for _, m := range machinesOf(c) {
			if string(m.Status) == status {
				all[c.Name+"/"+m.Name] = m
			}
		}
	}
	return all
}

// nothingNew holds the first law: what went wrong may turn verdicts into Unknown,
// and nothing else.
func nothingNew(t *testing.T, before, after *report.Report) {
	t.Helper()
	stale, ghosts := byStatus(before, "Stale"), byStatus(before, "Ghost")
	for name, m := range byStatus(after, "Stale") {
		if _, was := stale[name]; !was {
			t.Errorf("%s became Stale (%s: %s)", name, m.Reason, m.Message)
		}
	}
	for name, m := range byStatus(after, "Ghost") {
		if _, was := ghosts[name]; !was {
			t.Errorf("%s became a Ghost (%s: %s)", name, m.Reason, m.Message)
		}
	}
}

// noWorse demands what nothingNew does, of a run that must say that it could not see everything.
func noWorse(t *testing.T, before, after *report.Report) {
	t.Helper()
	nothingNew(t, before, after)
	if after.Summary.Complete {
		t.Error("the summary claims to be complete")
	}
	if after.Summary.Status == "Healthy" || after.Summary.Status == "ManualRemediationNotRequired" {
		t.Errorf("the summary is %s", after.Summary.Status)
	}
}

func TestVCenterDown(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	before := w.detect()
	w.vcenter.Close()
	o := w.detect()
	o.demand(t, cli.ExitIncomplete)
	noWorse(t, before.report, o.report)
	for _, status := range []string{"Healthy", "Stale", "Ghost"} {
		for name := range byStatus(o.report, status) {
			if !strings.HasPrefix(name, "aws-prod/") {
				t.Errorf("%s is %s, from a vCenter that is down", name, status)
			}
		}
	}
	first := errorLines(o.stderr)[0]
	if !strings.Contains(first, "127.0.0.1:36459") {
		t.Errorf("the first error line does not name the host: %s", first)
	}
}

func errorLines(stderr string) []string {
	var lines []string
	for _, l := range strings.Split(stderr, "\n") {
		if strings.Contains(l, "error: ") {
			lines = append(lines, l)
		}
	}
	return append(lines, "")
}

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: testdata + "vcenter-after.tar.gz", Accounts: map[string]string{"user": "rotated"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	w := fleet(t)
	before := w.detect()
	w.vcenter = v
	if w.creds, err = v.WriteCredentials(w.dir); err != nil {
		t.Fatal(err)
	}
	o := w.detect()
	o.demand(t, cli.ExitIncomplete)
	noWorse(t, before.report, o.report)
	if n := v.Logins().Failed; n < 1 || n > 2 {
		t.Errorf("%d failed logins, want one or two", n)
	}
	if !strings.Contains(o.stderr, "AuthenticationFailed") || !strings.Contains(o.stderr, "hint: ") {
		t.Errorf("stderr does not say what failed and what to do:\n%s", o.stderr)
	}
}

// One of two vCenters is down: the other's verdicts hold.
func TestOneOfTwoVCentersDown(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	before := w.detect()
	second := "127.0.0.1:1" // nothing listens there
	w.edited("two-vcenters", func(item string, body []byte) ([]byte, bool) {
		if strings.Contains(item, "/tenant-gamma/") && strings.HasPrefix(item, "resources/vsphere") {
			body = []byte(strings.ReplaceAll(string(body), "127.0.0.1:36459", second))
		}
		return body, true
	})
	o := w.detect()
	o.demand(t, cli.ExitIncomplete)
	noWorse(t, before.report, o.report)
	for _, c := range o.report.Clusters {
		for _, m := range machinesOf(c) {
			if gamma := c.Name == "gamma-edge"; m.Status != "Ghost" && gamma != (m.Status == "Unknown") && c.Name != "aws-prod" {
				t.Errorf("machine %s of %s is %s (%s)", m.Name, c.Name, m.Status, m.Reason)
			}
		}
	}
	if first := errorLines(o.stderr)[0]; !strings.Contains(first, second) {
		t.Errorf("the first error line does not name the host: %s", first)
	}
}

// One VM can't be read: it costs its own machine's verdict and nothing else.
func TestOneVMUnreadable(t *testing.T) {
	t.Parallel()
	const name = "alpha-prod-md-0-cjzhw-dm6x8"
	for how, spoil := range map[string]func(*lab.VCenter) error{
		"no permission": func(v *lab.VCenter) error { return v.Deny(name) },
		"inaccessible": func(v *lab.VCenter) error {
			return v.SetConnection(name, types.VirtualMachineConnectionStateInaccessible)
		},
	} {
		t.Run(how, func(t *testing.T) {
			w := fleet(t)
			before := w.detect()
			if err := spoil(w.vcenter); err != nil {
				t.Fatal(err)
			}
			o := w.detect()
			o.demand(t, cli.ExitIncomplete)
			if first := errorLines(o.stderr)[0]; !strings.Contains(first, "cannot be read") {
				t.Errorf("the first error line does not say so: %s", first)
			}
			after := placementsOf(o.report)
			for key, was := range placementsOf(before.report).machines {
				now := after.machines[key].machine
				switch {
				case was.machine.Name == name:
					if now.Status != "Unknown" || now.Reason != "InstanceUnreadable" {
						t.Errorf("the machine of the unreadable VM is %s (%s)", now.Status, now.Reason)
					}
				case now.Status != was.machine.Status:
					t.Errorf("%s was %s and is %s (%s)", key, was.machine.Status, now.Status, now.Reason)
				}
			}
			if a, b := placementsOf(before.report).ghosts(), after.ghosts(); !slices.Equal(a, b) {
				t.Errorf("Ghosts were %v and are %v", a, b)
			}
		})
	}
}

// An account that may not see one folder must not turn its machines Stale.
func TestHiddenFolder(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	before := w.detect()
	if err := w.vcenter.Hide("/DC0/vm/capi/tenant-beta"); err != nil {
		t.Fatal(err)
	}
	o := w.detect()
	o.demand(t, cli.ExitIncomplete)
	noWorse(t, before.report, o.report)
	if n := len(byStatus(o.report, "Stale")); n == 0 {
		t.Error("the clusters of other folders lost their Stale verdicts")
	}
	for name, m := range byStatus(o.report, "Stale") {
		if strings.HasPrefix(name, "beta-prod/") {
			t.Errorf("%s is Stale (%s)", name, m.Reason)
		}
	}
}

// Another vCenter answers at the address, and it is empty.
func TestAnotherEmptyVCenter(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	before := w.detect()
	empty, err := lab.StartVCenter(lab.VCenterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(empty.Close)
	empty.Named = w.vcenter.Named
	w.vcenter = empty
	if w.creds, err = empty.WriteCredentials(w.dir); err != nil {
		t.Fatal(err)
	}
	o := w.detect()
	o.demand(t, cli.ExitIncomplete)
	noWorse(t, before.report, o.report)
	for name := range byStatus(o.report, "Stale") {
		if !strings.HasPrefix(name, "aws-prod/") {
			t.Errorf("%s is Stale", name)
		}
	}
	if !strings.Contains(o.stderr, "hint: ") {
		t.Errorf("no hint:\n%s", o.stderr)
	}
}

// The certificate is not the one that the backup pins: nothing is sent, and the
// error says what to compare and what to add.
func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	w.backups = []string{testdata + "fleet-data.tar.gz"} // as it was, with the pin of the real vCenter
	before := w.detect()
	args := slices.Concat(w.sources(), []string{"--endpoint", w.vcenter.Reroute(), "--aws-ambient"})
	logins := w.vcenter.Logins().OK
	o := w.run(args...)
	o.demand(t, cli.ExitIncomplete)
	noWorse(t, before.report, o.report)
	if !strings.Contains(o.stderr, w.vcenter.Thumbprint) {
		t.Errorf("stderr does not show the SHA-256 of the certificate:\n%s", o.stderr)
	}
	if got := w.vcenter.Logins(); got.OK != logins || got.Failed != 0 {
		t.Errorf("a credential was sent to a server that is not trusted: %+v", got)
	}
	insecure := w.run(append(args, "--insecure-skip-verify", "--skip-access-apiserver")...)
	insecure.demand(t, cli.ExitOK)
}

// Sessions are closed whatever happens.
func TestSessionsAreClosed(t *testing.T) {
	w := fleet(t)
	w.detect().demand(t, cli.ExitOK)
	l := w.vcenter.Logins()
	if l.OK != 1 || l.Open() != 0 {
		t.Errorf("%d logins and %d open sessions, want one login for one user of one vCenter and none open", l.OK, l.Open())
	}
}

// A Node list could contradict that a machine is gone. Where one was asked for and
// not read although the control plane of its cluster runs, absent machines are Unknown
// and the run is incomplete, whatever the fault; where nobody asked, or where the whole
// control plane is gone, they are Stale. Each cluster says what happened to its list.
func TestAPIServersFail(t *testing.T) {
	t.Parallel()
	want := readOracle(t, testdata+"verdicts.json")
	for name, fault := range map[string]lab.Fault{"down": lab.Down, "expired certificate": lab.ExpiredCertificate, "refusing": lab.Forbidden, "hanging": lab.Hang} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fleet(t)
			before := w.detect()
			asked := []string{"alpha-prod", "beta-prod", "gamma-edge"}
			var faults []lab.FaultOf
			for _, c := range asked {
				faults = append(faults, lab.FaultOf{Cluster: c, Fault: fault})
			}
			n, err := lab.StartAPIServers(w.backups[0], testdata+"nodes", faults...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(n.Close)
			w.nodes = n
			var args []string
			if fault == lab.Hang {
				args = []string{"--timeout", "3s"} // what a server that hangs costs
			}
			o := w.detect(args...)
			o.demand(t, cli.ExitIncomplete)
			noWorse(t, before.report, o.report)
			lines := strings.Join(errorLines(o.stderr), "\n")
			for _, c := range asked {
				if !strings.Contains(lines, c) {
					t.Errorf("no error line names %s: %s", c, lines)
				}
			}
			if !strings.Contains(o.stderr, "--skip-access-apiserver") {
				t.Errorf("no hint says what decides: %s", o.stderr)
			}
			for name, was := range byStatus(before.report, string(code.Stale)) {
				cluster, _, _ := strings.Cut(name, "/")
				if now := byStatus(o.report, string(code.Unknown))[name]; slices.Contains(asked, cluster) && now.Reason != "NodeListUnread" {
					t.Errorf("%s was %s and is Unknown %q", name, was.Reason, now.Reason)
				}
			}
			if len(byStatus(o.report, string(code.Stale))) == 0 {
				t.Error("the machines of the deleted cluster are not Stale any more")
			}
			for _, c := range o.report.Clusters {
				state := "unreachable"
				if fault == lab.Forbidden {
					state = "denied"
				}
				if slices.Contains(asked, c.Name) && (c.Nodes.State != state || c.Nodes.Error == "") {
					t.Errorf("cluster %s says of its Nodes: %q %q", c.Name, c.Nodes.State, c.Nodes.Error)
				}
				if slices.Contains(asked, c.Name) && (fault == lab.Hang) != strings.Contains(c.Nodes.Error, "the 3s of --timeout are over") {
					t.Errorf("cluster %s says of its time: %q", c.Name, c.Nodes.Error)
				}
			}
			skipped := w.detect("--skip-access-apiserver")
			skipped.demand(t, cli.ExitOK)
			skipped.agreesWith(t, want)
			for name, m := range byStatus(skipped.report, string(code.Stale)) {
				said := slices.ContainsFunc(m.Evidence, func(e report.Evidence) bool { return e.Kind == "nodeList" })
				if vsphere := !strings.HasPrefix(name, "aws-prod/"); vsphere && !said {
					t.Errorf("%s does not say that no Node list was read: %+v", name, m.Evidence)
				}
			}
		})
	}
}
