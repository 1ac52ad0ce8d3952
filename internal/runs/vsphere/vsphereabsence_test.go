package vsphere_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// These scenes are about machines whose recorded id is not found: what contradicts that
// they are gone, and where absence proves nothing.

// A VM that was restored by a backup product, or whose BIOS UUID was made again, has
// the machine's folder and name, and often its managed object id.
func TestALivingNamesakeIsAWitness(t *testing.T) {
	t.Parallel()
	const worker, plane = "alpha-prod-md-0-cjzhw-dm6x8", "gamma-edge-xk72k"
	w := runs.Fleet(t)
	w.Ensure(w.VCenter.SetUUIDs(worker, "42000000-0000-4000-8000-000000000001", ""))
	w.Ensure(w.VCenter.SetUUIDs(plane, "42000000-0000-4000-8000-000000000002", ""))
	w.Ensure(w.VCenter.Remove("alpha-prod-md-0-cjzhw-zk8zm"))
	w.Clone(worker, lab.CloneSpec{Name: "alpha-prod-md-0-cjzhw-zk8zm"})
	for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
		o := w.Detect(args...)
		o.Says(t, map[string]string{
			worker: "Unknown IdentityChanged", plane: "Unknown IdentityChanged", "alpha-prod-md-0-cjzhw-zk8zm": "Unknown IdentityChanged",
			// A namesake in another folder is no witness.
			"beta-prod-md-0-vtdj6-2bngd": "Stale InstanceNotFound",
		})
		if !strings.Contains(o.Message(worker), "managed object id too") || strings.Contains(o.Message("alpha-prod-md-0-cjzhw-zk8zm"), "managed object id") {
			t.Errorf("the recorded vmRef: %q, %q", o.Message(worker), o.Message("alpha-prod-md-0-cjzhw-zk8zm"))
		}
		for _, c := range o.Report.Clusters {
			if c.Name == "gamma-edge" && c.ControlPlane.Reason == "ControlPlaneLost" {
				t.Error("the control plane of a running VM is lost")
			}
		}
	}
	w.Ensure(w.VCenter.Move(worker, "/DC0/vm/restored"))
	o := w.Detect("--skip-access-apiserver")
	o.Says(t, map[string]string{worker: "Stale InstanceNotFound"})
	if got := o.Warned(worker); !slices.Equal(got, []string{"SameNameElsewhere"}) {
		t.Errorf("warnings %v", got)
	}
}

// A stand-by site, or a wrong --endpoint, has VMs of the same names. Neither those nor
// one id that was kept there show it to be the vCenter that the backup means.
func TestNamesNeverProveAVCenter(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string][]string{
		"all ids are others": nil, "one id was kept": {"alpha-prod-md-0-cjzhw-mtswx"},
	} {
		t.Run(name, func(t *testing.T) {
			w := runs.Fleet(t)
			w.StandBy(kept...)
			for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
				o := w.Detect(args...)
				o.Demand(t, cli.ExitIncomplete)
				for _, status := range []string{"Stale", "Ghost", "Healthy"} {
					if all := vsphereOnly(runs.ByStatus(o.Report, status)); len(all) > 0 {
						t.Errorf("%d are %s at a stand-by site: %v", len(all), status, all)
					}
				}
				for _, s := range o.Report.Scopes {
					if s.Provider == "vsphere" && (s.State != "partial" || s.Error == nil || s.Error.Reason != "VisibilityUnproven") {
						t.Errorf("the scope is %+v", s)
					}
				}
			}
		})
	}
}

// A machine without an id is not said to have no VM beside one whose metadata says that
// it is the machine.
func TestNotProvisionedBesideAVMThatSaysItIsIt(t *testing.T) {
	t.Parallel()
	const machine = "gamma-edge-md-broken-7hlgf-9hlj8"
	w := runs.Fleet(t)
	w.Clone("gamma-edge-xk72k", lab.CloneSpec{Name: "spare-vm"})
	w.Bootstrapped("spare-vm", map[string]string{"metadata": metadata(machine)})
	o := w.Detect()
	o.Says(t, map[string]string{machine: "Unknown AmbiguousMatch", "spare-vm": "AmbiguousMatch"})
}

// A datacenter that has another name now: every id is seen, where no controller looks.
func TestARenamedDatacenter(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.Ensure(w.VCenter.RenameDatacenter("/DC0", "DC-North"))
	o := w.Detect()
	for _, c := range o.Report.Clusters {
		for _, m := range runs.MachinesOf(c) {
			if c.Name == "alpha-prod" && len(m.Others) > 0 && m.Reason != "FoundElsewhere" {
				t.Errorf("%s is %s %s", m.Name, m.Status, m.Reason)
			}
		}
	}
	o.Says(t, map[string]string{"alpha-prod-nnxbq": "Unknown FoundElsewhere", "gamma-edge-xk72k": "Unknown FoundElsewhere"})
	if o.Contains("its machines are gone") {
		t.Error("it still says when machines are gone")
	}
}

// ownFolder gives cluster alpha-dev, which was deleted, a folder of its own.
func ownFolder(t *testing.T, folder string) *runs.World {
	w := runs.Fleet(t)
	w.Edited("own-folder", func(item string, body []byte) ([]byte, bool) {
		if resource, name := runs.ItemOf(item); strings.HasPrefix(resource, "vsphere") && strings.HasPrefix(name, "alpha-dev") {
			body = []byte(strings.ReplaceAll(string(body), "/DC0/vm/capi/tenant-alpha", folder))
		}
		return body, true
	})
	return w
}

// A deleted cluster whose own folder is gone with it, or is empty, stays no riddle.
func TestAnEmptyFolder(t *testing.T) {
	t.Parallel()
	const folder, machine = "/DC0/vm/capi/tenant-dev", "alpha-dev-nzj74"
	gone := ownFolder(t, folder)
	o := gone.Detect()
	o.Demand(t, cli.ExitIncomplete)
	o.Says(t, map[string]string{machine: "Unknown ScopeIncomplete"})
	if !strings.Contains(o.Stderr, "--empty-folder "+folder) {
		t.Errorf("nothing says how to go on: %s", o.Stderr)
	}
	for _, word := range []string{folder, gone.VCenter.Named + folder} {
		o = gone.Detect("--empty-folder", word)
		o.Demand(t, cli.ExitOK)
		o.Says(t, map[string]string{machine: "Stale InstanceNotFound"})
		if !o.Contains("the operator says that the folder is empty") {
			t.Errorf("%s: the statement is no evidence", word)
		}
	}
	o = gone.Detect("--empty-folder", "/DC0/vm/capi/elsewhere")
	o.Demand(t, cli.ExitIncomplete)
	if !strings.Contains(o.Stderr, "is no folder that the backup's machines are in") {
		t.Errorf("no warning: %s", o.Stderr)
	}
	saved := filepath.Join(gone.Dir, "inventory.json")
	runs.Run(t, slices.Concat([]string{"inventory", "-o", saved}, gone.Sources(), gone.Reach())...)
	o = gone.Run("--backup", gone.Backups[0], "--inventory", saved, "--empty-folder", folder)
	o.Says(t, map[string]string{machine: "Stale InstanceNotFound"})

	// One that is there: its permissions say whether VMs in it would be seen.
	empty := ownFolder(t, folder)
	empty.Ensure(empty.VCenter.AddFolder(folder))
	o = empty.Detect()
	o.Demand(t, cli.ExitOK)
	o.Says(t, map[string]string{machine: "Stale InstanceNotFound"})
	empty.Ensure(empty.VCenter.HideVMs(folder))
	o = empty.Detect()
	o.Demand(t, cli.ExitIncomplete)
	o.Says(t, map[string]string{machine: "Unknown ScopeIncomplete"})
	o = empty.Detect("--empty-folder", folder)
	o.Demand(t, cli.ExitOK)
	o.Says(t, map[string]string{machine: "Stale InstanceNotFound"})
}

// A folder that was renamed is found by the machines that are in it.
func TestARenamedFolder(t *testing.T) {
	t.Parallel()
	const added = "alpha-prod-md-0-cjzhw-bcdfg"
	w := runs.Fleet(t)
	w.Clone("alpha-prod-md-0-cjzhw-dm6x8", lab.CloneSpec{Name: added, Created: after(time.Hour)})
	w.Ensure(w.VCenter.SetUUIDs("alpha-prod-md-0-cjzhw-zk8zm", "42000000-0000-4000-8000-000000000003", ""))
	w.Ensure(w.VCenter.RenameFolder("/DC0/vm/capi/tenant-alpha", "alpha-2026"))
	o := w.Detect("--skip-access-apiserver")
	o.Demand(t, cli.ExitOK)
	o.Says(t, map[string]string{
		"alpha-dev-nzj74": "Stale InstanceNotFound", "alpha-prod-md-1-jqqjv-dgmm9": "Stale InstanceNotFound", "alpha-prod-nnxbq": "Healthy",
		"alpha-prod-md-0-cjzhw-zk8zm": "Unknown IdentityChanged", added: "Ghost", "alpha-prod-md-0-cjzhw-68lpw": "Ghost",
	})
	for _, c := range o.Report.Clusters {
		for _, r := range c.Resources {
			if r.Kind == "folder" && strings.HasSuffix(r.Name, "tenant-alpha") && r.State != "absent" {
				t.Errorf("folder %s is %s: no controller finds it", r.Name, r.State)
			}
		}
	}
	// A hidden folder one of whose machines was moved looks alike.
	hidden := runs.Fleet(t)
	hidden.Ensure(hidden.VCenter.Hide("/DC0/vm/capi/tenant-beta"))
	o = hidden.Detect("--skip-access-apiserver")
	o.Demand(t, cli.ExitIncomplete)
	o.Says(t, map[string]string{"beta-prod-qpdfs": "Unknown ScopeIncomplete"})
}

// The witness is the VM's recorded name and its own host name, in any case and with any
// ending.
func TestTheWitnessIsTheRecordedNameOrTheHostName(t *testing.T) {
	t.Parallel()
	const machine = "alpha-prod-md-0-cjzhw-dm6x8"
	for name, to := range map[string]string{
		"restored": machine + "-restored", "another case": strings.ToUpper(machine), "with a domain": machine + ".corp.example", "any name": "vm-4711",
	} {
		t.Run(name, func(t *testing.T) {
			w := runs.Fleet(t)
			w.Ensure(w.VCenter.SetUUIDs(machine, "42000000-0000-4000-8000-000000000001", ""))
			w.Ensure(w.VCenter.Rename(machine, to))
			w.Bootstrapped(to, map[string]string{"metadata": metadata(machine)})
			for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
				o := w.Detect(args...)
				o.Says(t, map[string]string{machine: "Unknown IdentityChanged"})
			}
		})
	}
	// Not the Machine's name, where the VM has another (Windows, naming templates).
	w := runs.Restored(t)
	const windows, vm = "delta-mixed-md-win-zwckz-df678", "delta-mix-df678"
	w.Ensure(w.VCenter.Remove(vm))
	w.Clone("delta-mixed-fm8zc", lab.CloneSpec{Name: "delta-mix-spare", KeepHostName: true})
	w.Bootstrapped("delta-mix-spare", map[string]string{"metadata": metadata(vm)})
	o := w.Detect("--skip-access-apiserver")
	o.Says(t, map[string]string{windows: "Unknown IdentityChanged"})
	w.Bootstrapped("delta-mix-spare", map[string]string{"metadata": metadata(windows)})
	o = w.Detect("--skip-access-apiserver")
	o.Says(t, map[string]string{windows: "Stale InstanceNotFound"})
}

// A Node list that was asked for and not read leaves what it may contradict Unknown:
// one error line for each cluster, or one that names three and counts the rest.
func TestANodeListThatWasNotRead(t *testing.T) {
	t.Parallel()
	w := runs.Restored(t)
	before := w.Detect("--skip-access-apiserver")
	dir := w.T.TempDir()
	w.Ensure(os.WriteFile(filepath.Join(dir, "none.json"), []byte("{}"), 0o600))
	n, err := lab.StartAPIServers(w.Backups[0], dir)
	w.Ensure(err)
	t.Cleanup(n.Close)
	w.Nodes = n
	o := w.Detect()
	o.Demand(t, cli.ExitIncomplete)
	runs.NoWorse(t, before.Report, o.Report)
	o.Says(t, map[string]string{
		"alpha-prod-md-0-cjzhw-68lpw": "Unknown NodeListUnread", "gamma-edge-md-1-rrrv7-v5mgp": "Unknown NodeListUnread",
		// An instance that is off may be another's place by now.
		"alpha-prod-md-0-cjzhw-7z9bm": "Unknown NodeListUnread",
		// A name alone makes no Ghost while a Node list that may contradict it is unread.
		"alpha-prod-md-0-cjzhw-7tsxv": "Unknown NodeListUnread",
		// The whole control plane is gone: nobody expects an answer.
		"alpha-tmp-md-0-sqml5-l2kgp": "Stale InstanceNotFound", "alpha-tmp-h4vwm": "Stale InstanceNotFound",
	})
	line := runs.ErrorLines(o.Stderr)[0]
	if !strings.Contains(line, " and 2 more") || strings.Count(line, "/") != 3 || strings.Contains(line, "alpha-tmp") {
		t.Errorf("the line does not name three clusters and count the rest: %s", line)
	}
	if !strings.Contains(o.Stderr, "hint: ") || !strings.Contains(o.Stderr, "--skip-access-apiserver") {
		t.Errorf("no hint: %s", o.Stderr)
	}
	if !slices.ContainsFunc(o.Report.Errors, func(e report.Error) bool { return strings.Contains(e.Object, "tenant-alpha/alpha-prod") }) {
		t.Errorf("the errors do not name the clusters: %+v", o.Report.Errors)
	}
	one := w.Detect("--cluster", "tenant-delta/delta-mixed")
	one.Demand(t, cli.ExitOK) // nothing of it is absent
}
