package oracle

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Fate is what became of a Machine of the backup.
type Fate struct {
	Machine      string `json:"machine"`
	ControlPlane bool   `json:"controlPlane,omitempty"`
	Before       string `json:"before"` // its VM at the restore: on, off, gone, none
	After        string `json:"after"`  // its VM in the end: kept, destroyed, gone, none, made; second: made beside the first
	Object       string `json:"object"` // the Machine in the end: kept, deleting, deleted
	Owner        string `json:"owner,omitempty"`
	Phase        int    `json:"phase"` // in which that last changed
	Provisioned  bool   `json:"infrastructureProvisioned,omitempty"`
	Bootstrapped bool   `json:"bootstrapDataSecretCreated,omitempty"`
	Node         bool   `json:"node,omitempty"`

	vm *VM // that it had
}

// Made is a Machine that the controllers made.
type Made struct {
	Machine string `json:"machine"`
	Owner   string `json:"owner,omitempty"`
	VM      bool   `json:"vm"`
}

// Result is what became of a world after the restore.
type Result struct {
	World          string            `json:"world"`
	Cluster        string            `json:"cluster"`
	What           []string          `json:"what"`
	Quiet          bool              `json:"quiet"` // the controllers came to rest
	Rounds         int               `json:"rounds"`
	Fates          []*Fate           `json:"fates"`
	Made           []Made            `json:"made,omitempty"`
	Ghosts         map[string]string `json:"ghosts,omitempty"` // VMs of no Machine of the backup: kept, destroyed
	RemovedMembers []string          `json:"removedMembers,omitempty"`
	RemovedRunning []string          `json:"removedRunningMembers,omitempty"`
	PoweredOn      []string          `json:"poweredOn,omitempty"`
	Begun          []string          `json:"begun,omitempty"`       // Secrets with bootstrap data of a first machine that were created beside a control plane
	Reached        bool              `json:"reached,omitempty"`     // the workload's API server answers, if it is asked with a kubeconfig of its own
	ActedPaused    []string          `json:"actedPaused,omitempty"` // what was done while the Cluster was paused
	Errors         map[string]string `json:"errors,omitempty"`
	Log            []string          `json:"log,omitempty"`
	Forecast       *Forecast         `json:"forecast,omitempty"`
	Disagreements  []Disagreement    `json:"disagreements,omitempty"`

	ghosts []*VM
}

// waits are how long after one another the controllers are started again, each time
// until they come to rest: an hour is longer than all their time-outs. A rollout with
// minReadySeconds goes on by one machine each time.
var waits = []time.Duration{time.Hour, 3 * time.Hour, time.Hour, time.Hour, time.Hour}

// restore restores the backup of a world, and lets the controllers act on it.
func (w *World) restore() (*Result, error) {
	res := w.before()
	e := newEngine(w, rand.New(rand.NewSource(w.Seed)))
	e.faults = w.faults
	objs := w.restored()
	res.What = w.What // and what the webhooks refused
	paused := w.paused()
	for i := 0; i <= len(waits); i++ {
		w.phase = i
		if i > 0 {
			objs = e.later(waits[i-1])
			e.trace("--- %s later", waits[i-1])
		}
		if paused && i == 1 {
			res.ActedPaused = slices.Clone(e.log[:len(e.log)-1])
			unpause(objs)
			e.trace("--- unpaused")
		}
		if err := e.start(objs); err != nil {
			return nil, err
		}
		did := len(e.log)
		rounds, quiet := e.run(70)
		res.Rounds += rounds
		res.Quiet = quiet
		if err := res.look(e, i); err != nil {
			return nil, err
		}
		if i > 0 && len(e.log) == did && (!paused || i > 1) {
			break // nothing happens any more
		}
	}
	res.after(e)
	return res, nil
}

func (w *World) paused() bool {
	for _, c := range w.of("Cluster") {
		if p, _, _ := unstructured.NestedBool(c.Object, "spec", "paused"); p {
			return true
		}
	}
	return false
}

// before says which VM each Machine of the backup has, and which have none.
func (w *World) before() *Result {
	res := &Result{World: fmt.Sprintf("w%05d", w.Seed), Cluster: w.Cluster.String(), What: w.What, Ghosts: map[string]string{}}
	claimed := map[*VM]bool{}
	for _, m := range w.of("Machine") {
		f := &Fate{Machine: m.GetName(), ControlPlane: isControlPlane(m), Before: "none"}
		id := w.recordedID(m)
		for _, v := range w.VMs {
			if v.UUID != id {
				continue
			}
			claimed[v], f.vm = true, v
			f.Before = map[bool]string{true: "on", false: "off"}[v.On]
			if v.Gone {
				f.Before = "gone"
			}
		}
		res.Fates = append(res.Fates, f)
	}
	for _, v := range w.VMs {
		if !claimed[v] && !v.Gone {
			res.ghosts = append(res.ghosts, v)
		}
	}
	return res
}

// recordedID returns the id of a Machine's VM, as far as any object of it has it.
func (w *World) recordedID(m *obj) string {
	id := text(m, "spec", "providerID")
	if o := w.get("VSphereMachine", m.GetName()); o != nil && id == "" {
		id = text(o, "spec", "providerID")
	}
	if o := w.get("VSphereVM", m.GetName()); o != nil && id == "" {
		id = text(o, "spec", "biosUUID")
	}
	return strings.TrimPrefix(id, "vsphere://")
}

// look writes down what became of the machines up to a phase.
func (res *Result) look(e *Engine, phase int) error {
	l := &clusterv1.MachineList{}
	if err := e.client.List(e.ctx, l); err != nil {
		return err
	}
	alive := map[string]*clusterv1.Machine{}
	for i := range l.Items {
		alive[l.Items[i].Name] = &l.Items[i]
	}
	for _, f := range res.Fates {
		was := f.After + f.Object
		f.After = f.afterVM(e.world)
		f.object(alive[f.Machine])
		delete(alive, f.Machine)
		if f.After+f.Object != was {
			f.Phase = phase
		}
	}
	res.Made = nil
	for _, name := range slices.Sorted(maps.Keys(alive)) {
		v := e.world.vm(name)
		res.Made = append(res.Made, Made{name, controllerOf(alive[name]), v != nil && v.Made})
	}
	return nil
}

func (f *Fate) afterVM(w *World) string {
	after := "none"
	switch {
	case f.vm != nil && f.Before == "gone":
		after = "gone"
	case f.vm != nil && f.vm.Gone:
		after = "destroyed"
	case f.vm != nil:
		after = "kept"
	}
	if w.find(func(v *VM) bool { return v.Made && v.Name == f.Machine }) == nil {
		return after
	}
	if after == "kept" {
		return "second"
	}
	return "made"
}

func (f *Fate) object(m *clusterv1.Machine) {
	f.Object = "deleted"
	if m == nil {
		return
	}
	f.Object = "kept"
	if !m.DeletionTimestamp.IsZero() {
		f.Object = "deleting"
	}
	f.Owner = controllerOf(m)
	f.Provisioned = yes(m.Status.Initialization.InfrastructureProvisioned)
	f.Bootstrapped = yes(m.Status.Initialization.BootstrapDataSecretCreated)
	f.Node = m.Status.NodeRef.IsDefined()
}

func controllerOf(m *clusterv1.Machine) string {
	if r := metav1.GetControllerOf(m); r != nil {
		return r.Kind + " " + r.Name
	}
	return ""
}

// begun returns the Secrets whose bootstrap data, which the backup does not have, begins a new cluster beside the
// control plane that runs.
func (res *Result) begun(e *Engine) (names []string) {
	if res.count(func(f *Fate) bool { return f.ControlPlane && f.Before == "on" }) == 0 {
		return nil
	}
	var all corev1.SecretList
	if err := e.client.List(e.ctx, &all); err != nil {
		panic(err) // of a client in memory
	}
	for _, s := range all.Items {
		if bytes.Contains(s.Data["value"], []byte("kubeadm init --config")) && e.world.get("Secret", s.Name) == nil {
			names = append(names, s.Name)
		}
	}
	return names
}

// after writes down what became of all else.
func (res *Result) after(e *Engine) {
	w := e.world
	res.Begun = res.begun(e)
	running := map[string]bool{}
	for _, g := range res.ghosts {
		running[g.Name] = !g.Gone
		res.Ghosts[g.Name] = map[bool]string{true: "destroyed", false: "kept"}[g.Gone]
	}
	for _, f := range res.Fates {
		running[f.Machine] = f.After == "kept"
	}
	res.Reached = w.quorum() && !w.workload.cut
	res.RemovedMembers, res.PoweredOn, res.Errors, res.Log = w.removedMembers, w.poweredOn, e.errs, e.log
	for _, m := range w.removedMembers {
		if running[m] {
			res.RemovedRunning = append(res.RemovedRunning, m)
		}
	}
}
