package oracle

import (
	"fmt"
	"math/rand"
	"strings"

	"k8s.io/apimachinery/pkg/util/uuid"
)

// drifts are the names of what happens behind Cluster API's back after the backup.
var drifts = append([]string{
	"vmOff", "ghost", "controlPlaneGhost", "replaced", "nodeGone", "nodeNotReady", "nodePressed", "controlPlaneOff", "apiServerFails", "apiServerCut",
	"managementFails", "memberWithoutNode",
}, repeated(2, "vmGone", "ghost")...)

var drift = map[string]mutation{
	"vmGone": onVM(either, func(v *VM, w *World, r *rand.Rand) string {
		v.Gone = true
		if v.ControlPlane {
			w.membersLeft[v.Name] = r.Intn(2) == 0
		}
		if r.Intn(3) == 0 {
			w.nodesLeft[v.Name] = true
			return "it is gone, its Node is left"
		}
		return "it is gone with its Node"
	}),
	"vmOff": onVM(either, func(v *VM, _ *World, _ *rand.Rand) string {
		v.On = false
		return "it is off"
	}),
	"ghost": onVM(worker, func(v *VM, w *World, r *rand.Rand) string {
		return w.ghost(r, v).Name + " was made beside it"
	}),
	"controlPlaneGhost": onVM(controlPlane, func(v *VM, w *World, r *rand.Rand) string {
		return w.ghost(r, v).Name + " was made beside it and joined"
	}),
	// A member of etcd whose Machine the backup lacks and whose Node was deleted.
	"memberWithoutNode": onVM(controlPlane, func(v *VM, w *World, r *rand.Rand) string {
		g := w.ghost(r, v)
		w.workload.members[g.Name], g.NoNode = true, true
		return g.Name + " was made beside it and joined; its Node was deleted"
	}),
	"replaced": onVM(either, func(v *VM, w *World, r *rand.Rand) string {
		g := w.ghost(r, v)
		v.Gone = true
		return g.Name + " replaced it"
	}),
	"nodeGone": onVM(either, func(v *VM, _ *World, _ *rand.Rand) string {
		v.NoNode = true
		return "its Node was deleted, it runs"
	}),
	"nodeNotReady": onVM(either, func(v *VM, _ *World, _ *rand.Rand) string {
		v.NotReady = true
		return "its kubelet is dead, it runs"
	}),
	"nodePressed": onVM(either, func(v *VM, _ *World, _ *rand.Rand) string {
		v.Pressed = true
		return "its Node is Ready, and lacks memory"
	}),
	"controlPlaneOff": func(w *World, _ *rand.Rand) string {
		for _, v := range w.VMs {
			v.On = v.On && !v.ControlPlane
		}
		return "all VMs of the control plane are off"
	},
	"apiServerFails": func(w *World, _ *rand.Rand) string {
		w.workload.failing = true
		return "every third call of the workload cluster's API server fails"
	},
	"apiServerCut": func(w *World, _ *rand.Rand) string {
		w.workload.cut = true
		return "the workload cluster's API server runs, and is not reached"
	},
	"managementFails": func(w *World, r *rand.Rand) string {
		w.faults = 3 + r.Intn(20)
		return fmt.Sprintf("the management cluster's API server refuses %d writes", w.faults)
	},
}

// Whose VMs onVM takes.
const (
	worker = iota
	controlPlane
	either
)

func onVM(whose int, change func(v *VM, w *World, r *rand.Rand) string) mutation {
	return func(w *World, r *rand.Rand) string {
		var l []*VM
		for _, v := range w.VMs {
			if !v.Gone && (whose == either || v.ControlPlane == (whose == controlPlane)) {
				l = append(l, v)
			}
		}
		if len(l) == 0 {
			return ""
		}
		v := pick(r, l)
		return "VM " + v.Name + ": " + change(v, w, r)
	}
}

// ghost adds a VM that the backup does not know, named as a machine of the same owner.
func (w *World) ghost(r *rand.Rand, like *VM) *VM {
	base := like.Name
	if i := strings.LastIndex(base, "-"); i > 0 {
		base = base[:i]
	}
	w.next++
	v := &VM{
		UUID: string(uuid.NewUUID()), Name: base + "-" + suffix(r), Folder: like.Folder, Ref: fmt.Sprintf("vm-8%03d", w.next),
		ControlPlane: like.ControlPlane, On: true, After: true,
	}
	w.VMs = append(w.VMs, v)
	return v
}
