package program

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
	"drift-detector/report/diff"
)

// savedVM is one VM of a saved vcenter-inventory-*.json.
type savedVM struct {
	Path, Name, Moref, BIOSUUID, InstanceUUID, PowerState string
	Template                                              bool
}

func (s savedVM) vm() lab.VM {
	return lab.VM{Path: s.Path, Name: s.Name, Ref: s.Moref, BIOSUUID: s.BIOSUUID, InstanceUUID: s.InstanceUUID, Template: s.Template, PowerState: s.PowerState}
}

// undrift takes the lab's vCenter back to what it was before the drift, VM by VM,
// and demands that it is.
func undrift(t *testing.T, v *lab.VCenter) {
	t.Helper()
	var saved []savedVM
	readJSON(t, testdata+"vcenter-inventory-before.json", &saved)
	before := map[string]lab.VM{}
	for _, s := range saved {
		before[s.Moref] = s.vm()
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, now := range v.VMs() {
		then, there := before[now.Ref]
		switch {
		case !there:
			must(v.Remove(now.Path))
			continue
		case now.Name != then.Name:
			must(v.Rename(now.Path, then.Name))
		case path.Dir(now.Path) != path.Dir(then.Path):
			must(v.Move(now.Path, path.Dir(then.Path)))
		case now.PowerState != then.PowerState:
			must(v.SetPower(now.Path, then.PowerState == "poweredOn"))
		}
		delete(before, now.Ref)
	}
	for _, ref := range slices.Sorted(maps.Keys(before)) {
		revive(t, v, before[ref])
	}
	var want []lab.VM
	for _, s := range saved {
		want = append(want, s.vm())
	}
	byRef := func(a, b lab.VM) int { return strings.Compare(a.Ref, b.Ref) }
	got := v.VMs()
	slices.SortFunc(got, byRef)
	slices.SortFunc(want, byRef)
	if !slices.Equal(got, want) {
		t.Fatalf("the vCenter before the drift is\n%v, want\n%v", got, want)
	}
}

// revive puts a VM that is gone back in its folder, under the managed object id
// that it had. All else of its record is that of a VM beside it.
func revive(t *testing.T, v *lab.VCenter, then lab.VM) {
	t.Helper()
	registry := v.Service.Context.Map
	var duplicate *simulator.VirtualMachine
	for _, vm := range v.VMs() {
		if path.Dir(vm.Path) == path.Dir(then.Path) && !vm.Template {
			duplicate = registry.Get(types.ManagedObjectReference{Type: "VirtualMachine", Value: vm.Ref}).(*simulator.VirtualMachine)
		}
	}
	if duplicate == nil {
		t.Fatalf("no VM is left in %s to make %s like", path.Dir(then.Path), then.Name)
	}
	vm := &simulator.VirtualMachine{VirtualMachine: duplicate.VirtualMachine}
	config := *duplicate.Config
	config.Name, config.Uuid, config.InstanceUuid = then.Name, then.BIOSUUID, then.InstanceUUID
	config.Files.VmPathName = fmt.Sprintf("[LocalDS_0] %s/%s.vmx", then.Name, then.Name)
	config.ExtraConfig = nil // host names in it are of the duplicate
	vm.Config, vm.Name = &config, then.Name
	vm.Self.Value = then.Ref
	vm.Summary.Vm = &vm.Self
	vm.Summary.Config.Name, vm.Summary.Config.Uuid, vm.Summary.Config.InstanceUuid = then.Name, then.BIOSUUID, then.InstanceUUID
	vm.Runtime.PowerState = types.VirtualMachinePowerState(then.PowerState)
	folder := registry.Get(*duplicate.Parent).(*simulator.Folder)
	registry.PutEntity(mo.Entity(folder), vm)
	registry.AddReference(v.Service.Context, folder, &folder.ChildEntity, vm.Self)
}

// labTruth is testdata/truth.json: what really happened.
type labTruth struct {
	Machines []struct{ Namespace, Cluster, Machine, Expected, Edge string }
	VMs      []struct {
		Name, Path, BIOSUUID, Namespace, Cluster, Expected string
		ClusterInBackup, Template                          bool
	}
}

// warningOf is what drift-detector calls what happened to a VM that exists.
var warningOf = map[string]string{
	"powered-off": "PoweredOff", "renamed": "Renamed", "moved": "Moved", "duplicate-bios-uuid": "DuplicateID",
	"name-reuse": "SameNameElsewhere",
}

// TestDiffOfTheLab compares the backup against the vCenter before the drift and
// after it, and demands exactly what really happened to machines and VMs.
func TestDiffOfTheLab(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	after := w.detect("--skip-access-apiserver")
	after.demand(t, cli.ExitOK)
	undrift(t, w.vcenter)
	before := w.detect("--skip-access-apiserver")
	before.demand(t, cli.ExitOK)
	d, err := diff.New(before.report, after.report)
	if err != nil {
		t.Fatal(err)
	}
	var truth labTruth
	readJSON(t, testdata+"truth.json", &truth)
	wantMachines, wantVMs, wantClusters := truth.differences(t, readOracle(t, testdata+"verdicts.json"))

	equal(t, "machines", linesOf(d.Machines), wantMachines)
	equal(t, "VMs", linesOf(d.InfraMachines), wantVMs)
	var clusters []string
	for _, c := range d.Clusters.Changed {
		clusters = append(clusters, c.New.Namespace+"/"+c.New.Name)
	}
	equal(t, "clusters", clusters, wantClusters)
	// aws-prod has Ghosts in both, so that the whole cannot get worse.
	if len(d.Clusters.New)+len(d.Clusters.Gone)+len(d.Scopes.New)+len(d.Scopes.Gone)+len(d.Scopes.Changed) > 0 || !d.Complete || d.Worse {
		t.Errorf("clusters %+v, scopes %+v, complete %t, worse %t", d.Clusters, d.Scopes, d.Complete, d.Worse)
	}
	matched, err := d.Fails(diff.Kinds())
	if want := []string{"new-ghost", "new-stale", "new-unattributed", "new-leaked", "new-lost", "changed"}; err != nil || !slices.Equal(matched, want) {
		t.Errorf("--fail-on finds %q, %v; want %q", matched, err, want)
	}
}

// differences returns the lines that the truth makes of machines, of VMs to confirm,
// and of clusters.
func (truth labTruth) differences(t *testing.T, o oracle) (machines, vms, clusters []string) {
	t.Helper()
	touched := map[string]bool{}
	for _, m := range truth.Machines {
		line := "changed " + m.Namespace + "/" + m.Cluster + " " + m.Machine + ":"
		if m.Expected == "Stale" {
			line += " status Healthy Stale"
		}
		if m.Edge != "" {
			line += " warning " + warningOf[m.Edge]
		}
		if strings.HasSuffix(line, ":") {
			continue // as it was
		}
		machines = append(machines, line)
		if m.Expected == "Stale" || m.Edge == "duplicate-bios-uuid" {
			touched[m.Namespace+"/"+m.Cluster] = true
		}
	}
	then := map[string]bool{}
	var saved []savedVM
	readJSON(t, testdata+"vcenter-inventory-before.json", &saved)
	for _, s := range saved {
		then[s.Path+s.BIOSUUID] = true
	}
	placement := map[string][]string{}
	for _, v := range o.VMs {
		placement[v.Path] = v.Placement
	}
	for _, v := range truth.VMs {
		at := v.Namespace + "/" + v.Cluster
		switch {
		case v.Expected == "Healthy" || then[v.Path+v.BIOSUUID]:
		case v.Expected == "Ghost" && v.ClusterInBackup:
			machines = append(machines, "new "+at+" "+v.Name+" Ghost")
			touched[at] = true
		case slices.Equal(placement[v.Path], []string{"infraMachines"}):
			vms = append(vms, "new "+v.Name+" "+v.BIOSUUID)
		case !v.Template && !slices.Contains(placement[v.Path], "outOfScope"):
			t.Fatalf("where is %s? %q", v.Path, placement[v.Path])
		}
	}
	return machines, vms, slices.Sorted(maps.Keys(touched))
}

// linesOf says of each difference what the truth can say of it.
func linesOf(l diff.Lists[diff.Item]) []string {
	var out []string
	for _, i := range l.New {
		if i.Status == code.Unattributed {
			out = append(out, "new "+i.Name+" "+i.Instance.ID)
		} else {
			out = append(out, "new "+i.Cluster+" "+i.Name+" "+string(i.Status))
		}
	}
	for _, i := range l.Gone {
		out = append(out, "gone "+i.Name)
	}
	for _, c := range l.Changed {
		line := "changed " + c.New.Cluster + " " + c.New.Name + ":"
		for _, f := range c.Fields {
			switch f.Name {
			case "status":
				line += " status " + f.Old + " " + f.New
			case "warning":
				line += " warning " + f.Old + f.New
			}
		}
		out = append(out, line)
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if len(want) == 0 {
		t.Errorf("the truth names no difference of %s", what)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
