package oracle

import (
	"fmt"
	"math/rand"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	names "k8s.io/apimachinery/pkg/util/rand" // of what Kubernetes names
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// History is the life of a world up to the restore: edits, some rounds of the controllers,
// the backup, what happened after it, and what is wrong with the backup.
type History struct {
	Edits  []string
	Rounds int // of the controllers between edits and backup: few leave a rollout half done
	After  []string
	Damage []string
}

const untilRest = 40

// someHistory returns a random one.
func someHistory(r *rand.Rand) History {
	h := History{Rounds: pick(r, []int{0, 1, 2, 4, 7, 12, untilRest, untilRest, untilRest})}
	for range r.Intn(3) {
		h.Edits = append(h.Edits, pick(r, edits))
	}
	for range r.Intn(3) {
		if r.Intn(3) == 0 {
			h.After = append(h.After, pick(r, edits))
		} else {
			h.After = append(h.After, pick(r, drifts))
		}
	}
	if r.Intn(3) == 0 {
		h.Damage = append(h.Damage, pick(r, damages))
	}
	return h
}

// liveThrough lets the world live through a history.
func (w *World) liveThrough(h History, r *rand.Rand) error {
	before := copies(w.Objects)
	did := false
	for _, m := range h.Edits {
		did = w.mutate(m, r, "before:") || did
	}
	if did {
		w.bump(before)
		w.sync()
		if err := w.settle(r, h.Rounds); err != nil {
			return err
		}
		w.What = append(w.What, fmt.Sprintf("backup after %d rounds", h.Rounds))
	}
	had := slices.Clone(w.VMs)
	for _, m := range h.After {
		if err := w.afterwards(m, r); err != nil {
			return err
		}
		for _, v := range w.VMs {
			v.After = v.After || !slices.Contains(had, v)
		}
	}
	w.leaveOutDeleting()
	for _, m := range h.Damage {
		w.mutate(m, r, "damage:")
	}
	w.removedMembers, w.poweredOn = nil, nil
	w.sync()
	for _, v := range w.VMs {
		v.Made = false
	}
	return nil
}

// settle lets the controllers act on the world as it is.
func (w *World) settle(r *rand.Rand, rounds int) error {
	if rounds == 0 {
		return nil
	}
	e := newEngine(w, r)
	if err := e.start(w.live()); err != nil {
		return err
	}
	e.run(rounds)
	w.takeOver(e)
	return nil
}

// afterwards does something after the backup. Edits are done to a copy of the objects:
// the controllers act on that, and the backup stays as it is.
func (w *World) afterwards(m string, r *rand.Rand) error {
	if slices.Contains(drifts, m) {
		w.mutate(m, r, "after:")
		w.sync()
		return nil
	}
	x := w.edited()
	if !x.mutate(m, r, "after:") {
		return nil
	}
	x.bump(w.Objects)
	x.sync()
	err := x.settle(r, untilRest)
	w.VMs, w.What, w.next = x.VMs, x.What, x.next
	return err
}

// base returns a world whose controllers have come to rest, a day ago. All others of its
// cluster begin as copies of it.
func base(b *backup, at client.ObjectKey) (*World, error) {
	names.Seed(1)
	w := newWorld(b, at, 1)
	w.shrink()
	w.startWorkload()
	e := newEngine(w, rand.New(rand.NewSource(1)))
	if err := e.start(w.restored()); err != nil {
		return nil, err
	}
	if _, quiet := e.run(70); !quiet {
		return nil, fmt.Errorf("%s does not come to rest", at)
	}
	if err := e.start(e.later(24 * time.Hour)); err != nil {
		return nil, err
	}
	e.run(20)
	w.takeOver(e)
	for _, o := range w.Objects {
		unlabel(o, "velero.io/backup-name")
		unlabel(o, "velero.io/restore-name")
	}
	return w, nil
}

// replaced are the kinds of which a world has exactly what its controllers left.
var replaced = map[string]bool{
	"Cluster": true, "Machine": true, "MachineSet": true, "MachineDeployment": true, "MachineHealthCheck": true,
	"KubeadmControlPlane": true, "KubeadmConfig": true, "VSphereCluster": true, "VSphereMachine": true, "VSphereVM": true,
}

// takeOver makes all objects of an engine those of the world, as a backup has them.
func (w *World) takeOver(e *Engine) {
	at := map[string]string{} // path by kind and name
	key := func(kind string, o client.Object) string { return kind + " " + o.GetNamespace() + "/" + o.GetName() }
	for p, o := range w.Objects {
		k := key(o.GetKind(), o)
		at[k] = p
		if replaced[o.GetKind()] {
			delete(w.Objects, p)
		}
	}
	for _, o := range e.all() {
		gvk, err := apiutil.GVKForObject(o, scheme)
		if err != nil {
			panic(err)
		}
		p, known := at[key(gvk.Kind, o)]
		if !known {
			plural, _ := meta.UnsafeGuessKindToResource(gvk)
			p = "resources/" + plural.GroupResource().String() + "/namespaces/" + o.GetNamespace() + "/" + o.GetName() + ".json"
		}
		u := &unstructured.Unstructured{}
		if err := unmarshal(asJSON(o), &u.Object); err != nil {
			panic(err)
		}
		u.SetGroupVersionKind(gvk)
		w.Objects[p] = u
	}
}
