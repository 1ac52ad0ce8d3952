package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"sort"
	"strings"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"sigs.k8s.io/cluster-api/feature"
)

// Engine is a management cluster: its API server and its controllers. They run one after
// the other, in an order that the seed decides, until nothing changes any more.
type Engine struct {
	ctx         context.Context
	rand        *rand.Rand
	client      client.WithWatch
	world       *World
	log         []string
	errs        map[string]string // the last error of each controller and object
	controllers []controller
	memory      *memory
	answers     answers
	infra       *infraStandIn
	cache       *clusterCache
	faults      int // writes that the API server still refuses
}

type controller struct {
	name string
	kind client.ObjectList
	r    reconcile.Reconciler
}

func newEngine(w *World, r *rand.Rand) *Engine {
	e := &Engine{ctx: ctrl.LoggerInto(context.Background(), logr.Discard()), rand: r, world: w, errs: map[string]string{}}
	e.infra, e.cache = &infraStandIn{e}, &clusterCache{e}
	return e
}

func init() {
	ctrl.SetLogger(logr.Discard())
	gates := map[string]bool{"ReconcilerRateLimiting": false, "ClusterTopology": true, "PriorityQueue": false}
	for gate := range gates {
		if !hasGate(gate) { // of a later minor
			delete(gates, gate)
		}
	}
	if err := feature.MutableGates.SetFromMap(gates); err != nil {
		panic(err)
	}
}

func hasGate(name string) bool {
	for known := range feature.MutableGates.GetAll() {
		if string(known) == name {
			return true
		}
	}
	return false
}

func (e *Engine) trace(format string, a ...any) { e.log = append(e.log, fmt.Sprintf(format, a...)) }

// refused returns the error of an API server that has lost its leader, for the first writes
// of a world in which that happens. Controllers have to try again.
func (e *Engine) refused(verb string, o client.Object) error {
	if e.faults == 0 || e.rand.Intn(3) != 0 {
		return nil
	}
	e.faults--
	e.trace("the API server refused to %s %s", verb, named(o))
	return apierrors.NewServerTimeout(clusterResource, verb, 1)
}

// run lets all controllers see all their objects, until a round changes nothing. quiet
// reports whether that was before the last of the rounds.
func (e *Engine) run(most int) (rounds int, quiet bool) {
	last := ""
	for rounds = range most {
		for _, i := range e.rand.Perm(len(e.controllers) + 1) {
			if i == len(e.controllers) {
				e.infra.round()
			} else {
				e.reconcile(e.controllers[i])
			}
		}
		e.collectGarbage()
		now := e.fingerprint()
		if now == last && e.faults == 0 && e.world.find(func(v *VM) bool { return v.boots > 0 }) == nil {
			return rounds + 1, true
		}
		last = now
	}
	return most, false
}

func (e *Engine) reconcile(c controller) {
	list := c.kind.DeepCopyObject().(client.ObjectList)
	if err := e.client.List(e.ctx, list); err != nil {
		panic(err)
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		panic(err)
	}
	e.rand.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	for _, it := range items {
		o := it.(client.Object)
		key := c.name + " " + o.GetName()
		e.memory.run(key, e.world.outside, e.lasting, func() {
			delete(e.errs, key)
			if _, err := c.r.Reconcile(e.ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}); err != nil {
				e.errs[key] = err.Error()
			}
		})
	}
}

// lasting reports whether the API servers answer the same each time.
func (e *Engine) lasting() bool { return e.faults == 0 && !e.world.workload.failing }

// fingerprint returns all that decides what the controllers do next. Times are not in it:
// some controllers write them each time.
func (e *Engine) fingerprint() string {
	var b strings.Builder
	for _, o := range e.all() {
		u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			panic(err)
		}
		md, _ := u["metadata"].(map[string]any)
		status, _ := u["status"].(map[string]any)
		has, err := json.Marshal([]any{u["spec"], md["labels"], md["annotations"]})
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%T %s %v %v %s %v\n", o, o.GetName(), o.GetDeletionTimestamp() != nil, len(o.GetOwnerReferences()), has,
			[]any{conditions(status), status["phase"], status["replicas"], status["readyReplicas"], status["upToDateReplicas"], status["nodeRef"]})
	}
	b.WriteString(e.world.fingerprint())
	return b.String()
}

func conditions(status map[string]any) []string {
	var all []string
	list, _ := status["conditions"].([]any)
	for _, c := range list {
		c, _ := c.(map[string]any)
		all = append(all, fmt.Sprint(c["type"], c["status"], c["reason"]))
	}
	sort.Strings(all)
	return all
}
