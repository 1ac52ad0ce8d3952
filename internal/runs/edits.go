package runs

import (
	"archive/tar"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
	"drift-detector/report"
)

// SavedVM is one VM of a saved vcenter-inventory-*.json.
type SavedVM struct {
	Path, Name, Moref, BIOSUUID, InstanceUUID, PowerState string
	Template                                              bool
}

func (s SavedVM) vm() lab.VM {
	return lab.VM{Path: s.Path, Name: s.Name, Ref: s.Moref, BIOSUUID: s.BIOSUUID, InstanceUUID: s.InstanceUUID, Template: s.Template, PowerState: s.PowerState}
}

// Undrift takes the lab's vCenter back to what it was before the drift, VM by VM,
// and demands that it is.
func Undrift(t *testing.T, v *lab.VCenter) {
	t.Helper()
	var saved []SavedVM
	ReadJSON(t, Testdata+"vcenter-inventory-before.json", &saved)
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

// SecretEdited makes a world whose Secret of that name has other data.
func (w *World) SecretEdited(name string, edit func(data map[string]string)) {
	w.Edited("secret-"+name, func(item string, body []byte) ([]byte, bool) {
		if resource, of := ItemOf(item); resource != "secrets" || of != name {
			return body, true
		}
		var o map[string]any
		if err := json.Unmarshal(body, &o); err != nil {
			w.T.Fatal(err)
		}
		data := map[string]string{}
		for key, value := range o["data"].(map[string]any) {
			text, err := base64.StdEncoding.DecodeString(value.(string))
			if err != nil {
				w.T.Fatal(err)
			}
			data[key] = string(text)
		}
		edit(data)
		o["data"] = map[string]any{}
		for key, value := range data {
			o["data"].(map[string]any)[key] = base64.StdEncoding.EncodeToString([]byte(value))
		}
		body, err := json.Marshal(o)
		return body, err == nil
	})
}

// Edited replaces the world's backup by a changed copy of it.
func (w *World) Edited(name string, edit func(item string, body []byte) ([]byte, bool)) {
	w.T.Helper()
	file := filepath.Join(w.Dir, name+".tar.gz")
	if err := os.WriteFile(file, backuptest.Rewrite(w.T, w.Backups[0], edit), 0o600); err != nil {
		w.T.Fatal(err)
	}
	w.Backups = []string{file}
}

// ItemOf returns the resource and the object that a path of a tarball names.
func ItemOf(item string) (resource, name string) {
	parts := strings.Split(item, "/")
	if len(parts) < 3 {
		return "", ""
	}
	return parts[1], strings.TrimSuffix(path.Base(item), ".json")
}

// ByStatus returns the machines of a report with a status, by cluster and name.
func ByStatus(r *report.Report, status string) map[string]report.Machine {
	all := map[string]report.Machine{}
	for _, c := range r.Clusters {
		for _, m := range MachinesOf(c) {
			if string(m.Status) == status {
				all[c.Name+"/"+m.Name] = m
			}
		}
	}
	return all
}

// NothingNew holds the first law: what went wrong may turn verdicts into Unknown,
// and nothing else.
func NothingNew(t *testing.T, before, after *report.Report) {
	t.Helper()
	stale, ghosts := ByStatus(before, "Stale"), ByStatus(before, "Ghost")
	for name, m := range ByStatus(after, "Stale") {
		if _, was := stale[name]; !was {
			t.Errorf("%s became Stale (%s: %s)", name, m.Reason, m.Message)
		}
	}
	for name, m := range ByStatus(after, "Ghost") {
		if _, was := ghosts[name]; !was {
			t.Errorf("%s became a Ghost (%s: %s)", name, m.Reason, m.Message)
		}
	}
}

// NoWorse demands what nothingNew does, of a run that must say that it could not see everything.
func NoWorse(t *testing.T, before, after *report.Report) {
	t.Helper()
	NothingNew(t, before, after)
	if after.Summary.Complete {
		t.Error("the summary claims to be complete")
	}
	if after.Summary.Status == "Healthy" || after.Summary.Status == "ManualRemediationNotRequired" {
		t.Errorf("the summary is %s", after.Summary.Status)
	}
}

// ErrorLines returns the lines of stderr that are errors, and what belongs to them.
func ErrorLines(stderr string) []string {
	var lines []string
	for _, l := range strings.Split(stderr, "\n") {
		if strings.Contains(l, "error: ") {
			lines = append(lines, l)
		}
	}
	return append(lines, "")
}

// Packed writes a changed copy of the lab's backup, with one time for all
// entries; it is the world's backup beside others or alone.
func (w *World) Packed(name string, at time.Time, keep func(item string) bool) string {
	w.T.Helper()
	b := backuptest.NewFormat("").At(at)
	backuptest.Rewrite(w.T, w.Backups[0], func(item string, body []byte) ([]byte, bool) {
		if keep(item) {
			b.Entry(&tar.Header{Typeflag: tar.TypeReg, Name: item, Size: int64(len(body)), Format: tar.FormatGNU}, body)
		}
		return nil, false
	})
	file := filepath.Join(w.Dir, name+".tar.gz")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		w.T.Fatal(err)
	}
	return file
}
