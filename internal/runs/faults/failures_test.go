package faults_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Without Cluster objects (k0rdent leaves them out) clusters are derived, and
// every verdict stays what it was.
func TestDerivedClustersHaveTheSameVerdicts(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.Edited("no-clusters", func(item string, body []byte) ([]byte, bool) {
		resource, _ := runs.ItemOf(item)
		return body, resource != "clusters.cluster.x-k8s.io"
	})
	o := w.Detect()
	o.Demand(t, cli.ExitOK)
	o.AgreesWith(t, runs.ReadOracle(t, runs.Testdata+"verdicts.json"))
	for _, c := range o.Report.Clusters {
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
	w := runs.Fleet(t)
	full := w.Detect()
	removed := map[string]bool{}
	for _, c := range full.Report.Clusters {
		for i, m := range runs.MachinesOf(c) {
			if m.Status == "Healthy" && i%2 == 0 {
				removed[m.Name] = true
			}
		}
	}
	w.Edited("half", func(item string, body []byte) ([]byte, bool) {
		resource, name := runs.ItemOf(item)
		machine := resource == "machines.cluster.x-k8s.io" || resource == "vspheremachines.infrastructure.cluster.x-k8s.io" || resource == "vspherevms.infrastructure.cluster.x-k8s.io" ||
			resource == "awsmachines.infrastructure.cluster.x-k8s.io"
		return body, !machine || !removed[name]
	})
	for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
		o := w.Detect(args...)
		o.Demand(t, cli.ExitOK)
		seen := 0
		for _, c := range o.Report.Clusters {
			for _, m := range runs.MachinesOf(c) {
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
		for _, u := range o.Report.InfraMachines {
			if n := u.Instance.Name; u.Reason == "DuplicateID" && (n == "alpha-prod-jzxnt" || n == "alpha-prod-jzxnt-dup-uuid") {
				shared++
			}
		}
		if shared != 2 {
			t.Errorf("%d of the two VMs of one BIOS UUID are unattributed for it, want both", shared)
		}
		before := runs.PlacementsOf(full.Report).Ghosts()
		for _, path := range runs.PlacementsOf(o.Report).Ghosts() {
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
	w := runs.Fleet(t)
	names := []string{"alpha-prod-md-0-xbz42-tgmq7", "alpha-prod-md-0-6f9c8d47b5-xl2wk", "alpha-prod-md-0-6f9c8d47b5xzzzzz-xl2wk"}
	for _, name := range names {
		if _, err := w.VCenter.Clone("alpha-prod-md-0-cjzhw-dm6x8", lab.CloneSpec{Name: name, Created: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
		o := w.Detect(args...)
		o.Demand(t, cli.ExitOK)
		ghosts := runs.PlacementsOf(o.Report).Ghosts()
		for _, name := range names {
			_, reason, _ := runs.VerdictOf(o.Report, name)
			if ghost := slices.Contains(ghosts, "/DC0/vm/capi/tenant-alpha/"+name); ghost != (len(args) > 0) || !ghost && reason != "NameOnly" {
				t.Errorf("%v: VM %s is a Ghost: %v (%s)", args, name, ghost, reason)
			}
		}
		o.AgreesWith(t, runs.ReadOracle(t, runs.Testdata+"verdicts.json"))
	}
}

func TestVCenterDown(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	before := w.Detect()
	w.VCenter.Close()
	o := w.Detect()
	o.Demand(t, cli.ExitIncomplete)
	runs.NoWorse(t, before.Report, o.Report)
	for _, status := range []string{"Healthy", "Stale", "Ghost"} {
		for name := range runs.ByStatus(o.Report, status) {
			if !strings.HasPrefix(name, "aws-prod/") {
				t.Errorf("%s is %s, from a vCenter that is down", name, status)
			}
		}
	}
	first := runs.ErrorLines(o.Stderr)[0]
	if !strings.Contains(first, "127.0.0.1:36459") {
		t.Errorf("the first error line does not name the host: %s", first)
	}
}

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: runs.Testdata + "vcenter-after.tar.gz", Accounts: map[string]string{"user": "rotated"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	w := runs.Fleet(t)
	before := w.Detect()
	w.VCenter = v
	if w.Creds, err = v.WriteCredentials(w.Dir); err != nil {
		t.Fatal(err)
	}
	o := w.Detect()
	o.Demand(t, cli.ExitIncomplete)
	runs.NoWorse(t, before.Report, o.Report)
	if n := v.Logins().Failed; n < 1 || n > 2 {
		t.Errorf("%d failed logins, want one or two", n)
	}
	if !strings.Contains(o.Stderr, "AuthenticationFailed") || !strings.Contains(o.Stderr, "hint: ") {
		t.Errorf("stderr does not say what failed and what to do:\n%s", o.Stderr)
	}
}

// One of two vCenters is down: the other's verdicts hold.
func TestOneOfTwoVCentersDown(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	before := w.Detect()
	second := "127.0.0.1:1" // nothing listens there
	w.Edited("two-vcenters", func(item string, body []byte) ([]byte, bool) {
		if strings.Contains(item, "/tenant-gamma/") && strings.HasPrefix(item, "resources/vsphere") {
			body = []byte(strings.ReplaceAll(string(body), "127.0.0.1:36459", second))
		}
		return body, true
	})
	o := w.Detect()
	o.Demand(t, cli.ExitIncomplete)
	runs.NoWorse(t, before.Report, o.Report)
	for _, c := range o.Report.Clusters {
		for _, m := range runs.MachinesOf(c) {
			if gamma := c.Name == "gamma-edge"; m.Status != "Ghost" && gamma != (m.Status == "Unknown") && c.Name != "aws-prod" {
				t.Errorf("machine %s of %s is %s (%s)", m.Name, c.Name, m.Status, m.Reason)
			}
		}
	}
	if first := runs.ErrorLines(o.Stderr)[0]; !strings.Contains(first, second) {
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
			w := runs.Fleet(t)
			before := w.Detect()
			if err := spoil(w.VCenter); err != nil {
				t.Fatal(err)
			}
			o := w.Detect()
			o.Demand(t, cli.ExitIncomplete)
			if first := runs.ErrorLines(o.Stderr)[0]; !strings.Contains(first, "cannot be read") {
				t.Errorf("the first error line does not say so: %s", first)
			}
			after := runs.PlacementsOf(o.Report)
			for key, was := range runs.PlacementsOf(before.Report).Machines {
				now := after.Machines[key].Machine
				switch {
				case was.Machine.Name == name:
					if now.Status != "Unknown" || now.Reason != "InstanceUnreadable" {
						t.Errorf("the machine of the unreadable VM is %s (%s)", now.Status, now.Reason)
					}
				case now.Status != was.Machine.Status:
					t.Errorf("%s was %s and is %s (%s)", key, was.Machine.Status, now.Status, now.Reason)
				}
			}
			if a, b := runs.PlacementsOf(before.Report).Ghosts(), after.Ghosts(); !slices.Equal(a, b) {
				t.Errorf("Ghosts were %v and are %v", a, b)
			}
		})
	}
}

// An account that may not see one folder must not turn its machines Stale.
func TestHiddenFolder(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	before := w.Detect()
	if err := w.VCenter.Hide("/DC0/vm/capi/tenant-beta"); err != nil {
		t.Fatal(err)
	}
	o := w.Detect()
	o.Demand(t, cli.ExitIncomplete)
	runs.NoWorse(t, before.Report, o.Report)
	if n := len(runs.ByStatus(o.Report, "Stale")); n == 0 {
		t.Error("the clusters of other folders lost their Stale verdicts")
	}
	for name, m := range runs.ByStatus(o.Report, "Stale") {
		if strings.HasPrefix(name, "beta-prod/") {
			t.Errorf("%s is Stale (%s)", name, m.Reason)
		}
	}
}

// Another vCenter answers at the address, and it is empty.
func TestAnotherEmptyVCenter(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	before := w.Detect()
	empty, err := lab.StartVCenter(lab.VCenterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(empty.Close)
	empty.Named = w.VCenter.Named
	w.VCenter = empty
	if w.Creds, err = empty.WriteCredentials(w.Dir); err != nil {
		t.Fatal(err)
	}
	o := w.Detect()
	o.Demand(t, cli.ExitIncomplete)
	runs.NoWorse(t, before.Report, o.Report)
	for name := range runs.ByStatus(o.Report, "Stale") {
		if !strings.HasPrefix(name, "aws-prod/") {
			t.Errorf("%s is Stale", name)
		}
	}
	if !strings.Contains(o.Stderr, "hint: ") {
		t.Errorf("no hint:\n%s", o.Stderr)
	}
}

// The certificate is not the one that the backup pins: nothing is sent, and the
// error says what to compare and what to add.
func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.Backups = []string{runs.Testdata + "fleet-data.tar.gz"} // as it was, with the pin of the real vCenter
	before := w.Detect()
	args := slices.Concat(w.Sources(), []string{"--endpoint", w.VCenter.Reroute(), "--aws-ambient"})
	logins := w.VCenter.Logins().OK
	o := w.Run(args...)
	o.Demand(t, cli.ExitIncomplete)
	runs.NoWorse(t, before.Report, o.Report)
	if !strings.Contains(o.Stderr, w.VCenter.Thumbprint) {
		t.Errorf("stderr does not show the SHA-256 of the certificate:\n%s", o.Stderr)
	}
	if got := w.VCenter.Logins(); got.OK != logins || got.Failed != 0 {
		t.Errorf("a credential was sent to a server that is not trusted: %+v", got)
	}
	insecure := w.Run(append(args, "--insecure-skip-verify", "--skip-access-apiserver")...)
	insecure.Demand(t, cli.ExitOK)
}

// Sessions are closed whatever happens.
func TestSessionsAreClosed(t *testing.T) {
	w := runs.Fleet(t)
	w.Detect().Demand(t, cli.ExitOK)
	l := w.VCenter.Logins()
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
	want := runs.ReadOracle(t, runs.Testdata+"verdicts.json")
	for name, fault := range map[string]lab.Fault{"down": lab.Down, "expired certificate": lab.ExpiredCertificate, "refusing": lab.Forbidden, "hanging": lab.Hang} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := runs.Fleet(t)
			before := w.Detect()
			asked := []string{"alpha-prod", "beta-prod", "gamma-edge"}
			var faults []lab.FaultOf
			for _, c := range asked {
				faults = append(faults, lab.FaultOf{Cluster: c, Fault: fault})
			}
			n, err := lab.StartAPIServers(w.Backups[0], runs.Testdata+"nodes", faults...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(n.Close)
			w.Nodes = n
			var args []string
			if fault == lab.Hang {
				args = []string{"--timeout", "3s"} // what a server that hangs costs
			}
			o := w.Detect(args...)
			o.Demand(t, cli.ExitIncomplete)
			runs.NoWorse(t, before.Report, o.Report)
			lines := strings.Join(runs.ErrorLines(o.Stderr), "\n")
			for _, c := range asked {
				if !strings.Contains(lines, c) {
					t.Errorf("no error line names %s: %s", c, lines)
				}
			}
			if !strings.Contains(o.Stderr, "--skip-access-apiserver") {
				t.Errorf("no hint says what decides: %s", o.Stderr)
			}
			for name, was := range runs.ByStatus(before.Report, string(code.Stale)) {
				cluster, _, _ := strings.Cut(name, "/")
				if now := runs.ByStatus(o.Report, string(code.Unknown))[name]; slices.Contains(asked, cluster) && now.Reason != "NodeListUnread" {
					t.Errorf("%s was %s and is Unknown %q", name, was.Reason, now.Reason)
				}
			}
			if len(runs.ByStatus(o.Report, string(code.Stale))) == 0 {
				t.Error("the machines of the deleted cluster are not Stale any more")
			}
			for _, c := range o.Report.Clusters {
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
			skipped := w.Detect("--skip-access-apiserver")
			skipped.Demand(t, cli.ExitOK)
			skipped.AgreesWith(t, want)
			for name, m := range runs.ByStatus(skipped.Report, string(code.Stale)) {
				said := slices.ContainsFunc(m.Evidence, func(e report.Evidence) bool { return e.Kind == "nodeList" })
				if vsphere := !strings.HasPrefix(name, "aws-prod/"); vsphere && !said {
					t.Errorf("%s does not say that no Node list was read: %+v", name, m.Evidence)
				}
			}
		})
	}
}
