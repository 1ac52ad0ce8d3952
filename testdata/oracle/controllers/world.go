package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// World is one cluster: its objects in the backup, its VMs, and itself.
type World struct {
	Seed    int64
	Cluster client.ObjectKey
	Objects map[string]*unstructured.Unstructured // by their path in the backup
	VMs     []*VM
	What    []string // what was done to it

	rest        map[string][]byte // other entries of the backup
	nodesLeft   map[string]bool   // Nodes that stay when their VM is gone
	membersLeft map[string]bool   // and members of etcd
	faults      int               // writes that the API server of the management cluster refuses

	workload       *workload
	removedMembers []string
	poweredOn      []string
	phase          int
	next           int // number of the next VM
}

// newWorld cuts one cluster out of a backup. Its VMs are those that the backup records.
func newWorld(b *backup, at client.ObjectKey, seed int64) *World {
	w := &World{
		Seed: seed, Cluster: at, rest: b.rest,
		Objects: map[string]*unstructured.Unstructured{}, nodesLeft: map[string]bool{}, membersLeft: map[string]bool{},
	}
	for p, o := range b.objects {
		if b.concerns(at, p, o) {
			w.Objects[p] = o.DeepCopy()
		}
	}
	for _, vm := range w.of("VSphereVM") {
		if id := text(vm, "spec", "biosUUID"); id != "" {
			_, cp := vm.GetLabels()[clusterv1.MachineControlPlaneLabel]
			w.VMs = append(w.VMs, &VM{
				UUID: id, Name: vm.GetName(), Folder: text(vm, "spec", "folder"), Ref: strings.TrimPrefix(text(vm, "status", "vmRef"), "VirtualMachine:"),
				ControlPlane: cp, On: true,
			})
		}
	}
	return w
}

// shrink leaves one MachineDeployment of a cluster with many, to be fast.
func (w *World) shrink() {
	mds := w.of("MachineDeployment")
	if len(w.of("Machine")) < 6 {
		return
	}
	for _, md := range mds[1:] {
		for p, o := range w.Objects {
			own := o.GetName() == md.GetName() || strings.HasPrefix(o.GetName(), md.GetName()+"-")
			if o.GetNamespace() == w.Cluster.Namespace && own && !strings.Contains(o.GetKind(), "Template") {
				delete(w.Objects, p)
			}
		}
		w.VMs = slices.DeleteFunc(w.VMs, func(v *VM) bool { return strings.HasPrefix(v.Name, md.GetName()+"-") })
	}
}

// of returns the objects of a kind, by name.
func (w *World) of(kind string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, o := range w.Objects {
		if o.GetKind() == kind {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

func (w *World) get(kind, name string) *unstructured.Unstructured {
	for _, o := range w.Objects {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	return nil
}

func (w *World) drop(o *unstructured.Unstructured) {
	for p, have := range w.Objects {
		if have == o {
			delete(w.Objects, p)
		}
	}
}

// addBeside adds an object of the kind of another.
func (w *World) addBeside(o, other *unstructured.Unstructured) {
	for p, have := range w.Objects {
		if have == other {
			w.Objects[path.Dir(p)+"/"+o.GetName()+".json"] = o
			return
		}
	}
}

// clone shares nothing with the world, and has not begun.
func (w *World) clone(seed int64) *World {
	c := &World{Seed: seed, Cluster: w.Cluster, rest: w.rest, nodesLeft: map[string]bool{}, membersLeft: map[string]bool{}, Objects: copies(w.Objects)}
	for _, v := range w.VMs {
		x := *v
		c.VMs = append(c.VMs, &x)
	}
	return c
}

// edited has objects of its own, and the same vCenter and workload cluster: what the
// controllers do with it happens to the same VMs.
func (w *World) edited() *World {
	c := *w
	c.Objects = copies(w.Objects)
	return &c
}

func copies(objects map[string]*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	c := map[string]*unstructured.Unstructured{}
	for p, o := range objects {
		c[p] = o.DeepCopy()
	}
	return c
}

// bump raises the generation of objects whose spec was edited, as an API server does.
func (w *World) bump(before map[string]*unstructured.Unstructured) {
	for p, o := range w.Objects {
		old := before[p]
		if old == nil || o.Object["spec"] == nil {
			continue
		}
		if !bytes.Equal(asJSON(old.Object["spec"]), asJSON(o.Object["spec"])) {
			o.SetGeneration(old.GetGeneration() + 1)
		}
	}
}

func asJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// outside returns all that the controllers read elsewhere than in their management cluster.
func (w *World) outside() string { return fmt.Sprint(w.workload.writes, w.fingerprint()) }

func (w *World) fingerprint() string {
	var all []string
	for _, v := range w.VMs {
		all = append(all, fmt.Sprint(v.Name, v.Gone, v.On))
	}
	return strings.Join(append(all, fmt.Sprint(w.workload.members)), ",")
}
