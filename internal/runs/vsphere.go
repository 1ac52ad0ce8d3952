package runs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"drift-detector/report/code"
)

// Managed puts a VM under the care of an extension of vCenter, as products that
// replicate or restore VMs do.
func (w *World) Managed(name string) {
	w.T.Helper()
	for _, e := range w.VCenter.Service.Context.Map.All("VirtualMachine") {
		if vm := e.(*simulator.VirtualMachine); vm.Name == name {
			config := *vm.Config
			config.ManagedBy = &types.ManagedByInfo{ExtensionKey: "com.vmware.vcDr", Type: "vm"}
			vm.Config = &config
			return
		}
	}
	w.T.Fatalf("no VM %s", name)
}

// LongDeployment gives MachineDeployment alpha-prod-md-0 a name of n characters. Its
// MachineSet and machines keep theirs, as if it had been cut from an older one.
func (w *World) LongDeployment(n int) (name string) {
	w.T.Helper()
	const short = "alpha-prod-md-0"
	name = short + "-" + strings.Repeat("x", n-len(short)-1)
	out := backuptest.NewFormat("")
	backuptest.Rewrite(w.T, w.Backups[0], func(item string, body []byte) ([]byte, bool) {
		if strings.Contains(item, "tenant-alpha") {
			body = []byte(strings.ReplaceAll(string(body), `"`+short+`"`, `"`+name+`"`))
			item = strings.ReplaceAll(item, "/"+short+".json", "/"+name+".json")
		}
		out.Raw(item, body)
		return body, true
	})
	w.Backups = []string{filepath.Join(w.Dir, "long.tar.gz")}
	w.Ensure(os.WriteFile(w.Backups[0], out.Bytes(), 0o600))
	return name
}

// VerdictOf returns what a report says of a VM by its name: the status of a machine,
// or "" for one to confirm, and the reason.
func VerdictOf(r *report.Report, vm string) (status code.Status, reason string, found bool) {
	for _, c := range r.Clusters {
		for _, m := range MachinesOf(c) {
			if m.Name == vm || m.Instance != nil && m.Instance.Name == vm {
				return m.Status, string(m.Reason), true
			}
		}
	}
	for _, m := range r.InfraMachines {
		if m.Instance.Name == vm || m.Instance.Ref == vm {
			return "", string(m.Reason), true
		}
	}
	return "", "", false
}

// Bootstrapped replaces what a VM holds for its own first boot.
func (w *World) Bootstrapped(name string, data map[string]string) {
	w.T.Helper()
	for _, e := range w.VCenter.Service.Context.Map.All("VirtualMachine") {
		if vm := e.(*simulator.VirtualMachine); vm.Name == name {
			config := *vm.Config
			config.ExtraConfig = nil
			for key, text := range data {
				config.ExtraConfig = append(config.ExtraConfig, &types.OptionValue{Key: "guestinfo." + key, Value: base64.StdEncoding.EncodeToString([]byte(text))})
			}
			vm.Config = &config
			return
		}
	}
	w.T.Fatalf("no VM %s", name)
}

// SecondVCenter serves the lab's vCenter once more, with the same id of its own
// and the same managed object ids, but another certificate. The objects of one
// namespace name it, under a name of its own. It returns the flag to reach it.
func (w *World) SecondVCenter(namespace string) (*lab.VCenter, []string) {
	w.T.Helper()
	const name = "second.example"
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: Testdata + "vcenter-after.tar.gz"})
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(v.Close)
	w.Edited("second", func(item string, body []byte) ([]byte, bool) {
		if strings.Contains(item, "/"+namespace+"/") && strings.HasPrefix(item, "resources/vsphere") {
			body = bytes.ReplaceAll(body, []byte("https://"+v.Named), []byte("https://"+name))
			body = bytes.ReplaceAll(body, []byte(`"server":"`+v.Named), []byte(`"server":"`+name))
			body = bytes.ReplaceAll(body, []byte(w.VCenter.Thumbprint), []byte(v.Thumbprint))
		}
		return body, true
	})
	return v, []string{"--endpoint", name + "=" + v.Addr}
}

// UnpackedMove returns the folder that 'clusterctl move --to-directory' wrote of the lab's tenant-alpha,
// with the certificate of the world's vCenter.
func (w *World) UnpackedMove(t *testing.T) string {
	t.Helper()
	pinned, err := w.VCenter.WritePinned(Testdata+"clusterctl-move.tar.gz", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(pinned)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir, n := t.TempDir(), 0
	for r := tar.NewReader(z); ; n++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n < 131 {
		t.Fatalf("%d files", n)
	}
	return dir
}

// Clone makes a VM from another.
func (w *World) Clone(source string, spec lab.CloneSpec) lab.VM {
	w.T.Helper()
	vm, err := w.VCenter.Clone(source, spec)
	w.Ensure(err)
	return vm
}

// VM returns a VM of the lab by its name.
func (w *World) VM(name string) lab.VM {
	w.T.Helper()
	i := slices.IndexFunc(w.VCenter.VMs(), func(v lab.VM) bool { return v.Name == name })
	if i < 0 {
		w.T.Fatalf("no VM %s", name)
	}
	return w.VCenter.VMs()[i]
}

// ServeNodes serves the Node lists of the lab, changed. Their Nodes have no heartbeat.
func (w *World) ServeNodes(change func(cluster string, nodes []map[string]any) []map[string]any) {
	w.T.Helper()
	from := Testdata + "nodes"
	if w.NodesFrom != "" {
		from = w.NodesFrom
	}
	if strings.Contains(w.Backups[0], "restored") {
		from = Testdata + "restore/nodes"
	}
	dir := w.T.TempDir()
	files, err := filepath.Glob(from + "/*.json")
	w.Ensure(err)
	for _, file := range files {
		var list map[string]any
		ReadJSON(w.T, file, &list)
		var nodes []map[string]any
		for _, n := range list["items"].([]any) {
			nodes = append(nodes, n.(map[string]any))
		}
		list["items"] = change(strings.TrimSuffix(filepath.Base(file), ".json"), nodes)
		text, err := json.Marshal(list)
		w.Ensure(err)
		w.Ensure(os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o600))
	}
	n, err := lab.StartAPIServers(w.Backups[0], dir)
	w.Ensure(err)
	w.T.Cleanup(n.Close)
	w.Nodes = n
}

// Alive gives Nodes a heartbeat of just now.
func Alive(_ string, nodes []map[string]any) []map[string]any {
	for _, n := range nodes {
		for _, c := range n["status"].(map[string]any)["conditions"].([]any) {
			c.(map[string]any)["lastHeartbeatTime"] = time.Now().UTC().Format(time.RFC3339)
		}
	}
	return nodes
}

// NodeOf returns a Node of a list by its name.
func NodeOf(t *testing.T, nodes []map[string]any, name string) map[string]any {
	t.Helper()
	for _, n := range nodes {
		if n["metadata"].(map[string]any)["name"] == name {
			return n
		}
	}
	t.Fatalf("no Node %s", name)
	return nil
}

// copyOf returns a deep copy of an object.
func copyOf(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// WithNode adds a Node for a VM, made of another machine's of the cluster.
func (w *World) WithNode(cluster, like, name, id string) {
	w.ServeNodes(func(c string, nodes []map[string]any) []map[string]any {
		if c != cluster {
			return nodes
		}
		n := copyOf(w.T, NodeOf(w.T, nodes, like))
		meta := n["metadata"].(map[string]any)
		meta["name"] = name
		meta["annotations"].(map[string]any)["cluster.x-k8s.io/machine"] = name
		n["spec"].(map[string]any)["providerID"] = "vsphere://" + id
		return append(nodes, n)
	})
}

// Without leaves out all of a machine: its Machine, VSphereMachine and VSphereVM.
func (w *World) Without(name string) {
	w.Edited("without-"+name, func(item string, body []byte) ([]byte, bool) {
		resource, n := ItemOf(item)
		ours := strings.HasPrefix(resource, "machines.") || strings.HasPrefix(resource, "vspheremachines.") || strings.HasPrefix(resource, "vspherevms.")
		return body, !ours || n != name
	})
}

// object returns an object of the backup, by the beginning of its resource and its name.
func (w *World) object(resource, name string) (path string, object map[string]any) {
	w.T.Helper()
	backuptest.Rewrite(w.T, w.Backups[0], func(item string, body []byte) ([]byte, bool) {
		if r, n := ItemOf(item); strings.HasPrefix(r, resource) && n == name && !strings.Contains(item, "preferredversion") {
			path = item
			w.Ensure(json.Unmarshal(body, &object))
		}
		return body, true
	})
	if object == nil {
		w.T.Fatalf("no %s %s in the backup", resource, name)
	}
	return path, object
}

// Leaked adds a VSphereMachine without its Machine, and its VSphereVM where it has an
// id, of the owner of another one: it never was one of that owner's replicas.
func (w *World) Leaked(like, name, id string) {
	w.T.Helper()
	items := map[string][]byte{}
	for _, resource := range []string{"vspheremachines", "vspherevms"} {
		path, object := w.object(resource, like)
		meta, spec := object["metadata"].(map[string]any), object["spec"].(map[string]any)
		meta["name"], meta["uid"] = name, backuptest.UID(resource, name)
		for _, field := range []string{"providerID", "biosUUID"} {
			delete(spec, field)
		}
		delete(object, "status")
		if id == "" && resource == "vspherevms" {
			continue
		}
		if id != "" {
			spec["providerID"], spec["biosUUID"] = "vsphere://"+id, id
			delete(spec, map[string]string{"vspheremachines": "biosUUID", "vspherevms": "providerID"}[resource])
		}
		for _, o := range meta["ownerReferences"].([]any) {
			if o := o.(map[string]any); o["kind"] == "VSphereMachine" {
				o["name"] = name
			}
		}
		text, err := json.Marshal(object)
		w.Ensure(err)
		items[strings.Replace(path, like+".json", name+".json", 1)] = text
	}
	file := filepath.Join(w.Dir, "leaked.tar.gz")
	w.Ensure(os.WriteFile(file, backuptest.Append(w.T, w.Backups[0], items), 0o600))
	w.Backups = []string{file}
}

// Changed edits one object of the backup in place.
func (w *World) Changed(resource, name string, change func(object map[string]any)) {
	w.T.Helper()
	seen := 0
	w.Edited(fmt.Sprintf("changed-%d", len(w.Backups[0])), func(item string, body []byte) ([]byte, bool) {
		r, n := ItemOf(item)
		if !strings.HasPrefix(r, resource) || name != "" && n != name {
			return body, true
		}
		seen++
		var object map[string]any
		w.Ensure(json.Unmarshal(body, &object))
		change(object)
		text, err := json.Marshal(object)
		w.Ensure(err)
		return text, true
	})
	if seen == 0 {
		w.T.Fatalf("no %s %s in the backup", resource, name)
	}
}

// StandBy serves another vCenter in place of the lab's: a site with all of its VMs,
// replicated under new ids except for those that are kept.
func (w *World) StandBy(kept ...string) {
	w.T.Helper()
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: Testdata + "vcenter-after.tar.gz", InstanceUUID: "5a5a5a5a-0000-4000-8000-000000000001"})
	w.Ensure(err)
	w.T.Cleanup(v.Close)
	for n, vm := range v.VMs() {
		if !slices.Contains(kept, vm.Name) {
			w.Ensure(v.SetUUIDs(vm.Path, fmt.Sprintf("5a5a5a5a-0000-4000-8000-%012d", n+100), fmt.Sprintf("5b5b5b5b-0000-4000-8000-%012d", n+100)))
		}
	}
	v.Named = w.VCenter.Named
	w.VCenter = v
	w.Creds, err = v.WriteCredentials(w.Dir)
	w.Ensure(err)
}

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

// Made adds a VM like another one of alpha-prod, which was made after the backup, with its Node.
func (w *World) Made(like, name string) {
	w.T.Helper()
	vm, err := w.VCenter.Clone(like, lab.CloneSpec{Name: name, Created: time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)})
	w.Ensure(err)
	w.WithNode("alpha-prod", like, name, vm.BIOSUUID)
}

// Unprovision takes away every id of a machine that the backup records.
func (w *World) Unprovision(name string) {
	w.T.Helper()
	w.Change("unprovisioned", func(resource, n string, o Object) bool {
		if n == name && (resource == "machines" || resource == "vspheremachines") {
			delete(In(o, "spec"), "providerID")
		}
		if n == name && resource == "vspherevms" {
			delete(In(o, "spec"), "biosUUID")
			delete(In(o, "status"), "vmRef")
		}
		return true
	})
	w.Ensure(w.VCenter.Remove(name))
}

// Unregister takes Nodes of a cluster out of its list.
func (w *World) Unregister(cluster string, machines ...string) {
	w.T.Helper()
	w.ServeNodes(func(c string, nodes []map[string]any) []map[string]any {
		return slices.DeleteFunc(nodes, func(n Object) bool {
			return c == cluster && slices.Contains(machines, In(n, "metadata")["name"].(string))
		})
	})
}
