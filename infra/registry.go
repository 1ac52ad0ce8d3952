package infra

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"drift-detector/backup"
	"drift-detector/infra/shell"
	"drift-detector/infra/walk"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// Registry is the providers of a run, as one.
type Registry struct {
	providers []Provider
	// Timeout is how long Collect lists one Target; [DefaultTimeout] when it is zero.
	Timeout time.Duration
}

// NewRegistry returns a Registry of the providers. It panics when two have one
// name: that is a mistake in the program.
func NewRegistry(providers ...Provider) *Registry {
	r := &Registry{}
	for _, p := range providers {
		r.Add(p)
	}
	return r
}

// Add adds a provider. It panics when the name is taken.
func (r *Registry) Add(p Provider) {
	if name := p.Spec().Name; r.named(name) != nil {
		panic("infra: provider " + name + " is registered twice")
	}
	r.providers = append(r.providers, p)
}

func (r *Registry) named(name string) Provider {
	for _, p := range r.providers {
		if p.Spec().Name == name {
			return p
		}
	}
	return nil
}

// Providers returns the providers, in the order in which they were added.
func (r *Registry) Providers() []Provider { return slices.Clone(r.providers) }

// Specs returns the descriptions of the providers, in the order in which they were
// added.
func (r *Registry) Specs() []Spec {
	all := make([]Spec, len(r.providers))
	for i, p := range r.providers {
		all[i] = p.Spec()
	}
	return all
}

// Tools returns the tools of the providers that have one, by the providers' names.
func (r *Registry) Tools() map[string]shell.Tool {
	all := map[string]shell.Tool{}
	for _, s := range r.Specs() {
		if s.Tool != nil {
			all[s.Name] = s.Tool
		}
	}
	return all
}

// Want returns what all providers ask of a backup.
func (r *Registry) Want() backup.Want {
	var w backup.Want
	for _, p := range r.providers {
		spec := p.Spec()
		w.Kinds = append(w.Kinds, spec.Want.Kinds...)
		w.Secrets = append(w.Secrets, spec.Want.Secrets...)
	}
	return w
}

// Keys returns the keys that the provider of a provider id gives its instances;
// nil when no provider knows the id.
func (r *Registry) Keys(providerID string) []Key {
	for _, p := range r.providers {
		if spec := p.Spec(); spec.Keys != nil {
			if keys := spec.Keys(providerID); keys != nil {
				return keys
			}
		}
	}
	return nil
}

// Controllers returns the controllers of the providers, by the providers' names.
func (r *Registry) Controllers() map[string]Controller {
	all := make(map[string]Controller, len(r.providers))
	for _, p := range r.providers {
		spec := p.Spec()
		all[spec.Name] = spec.Controller
	}
	return all
}

// Expected joins what all providers expect. A machine that none of them knows gets an
// ExpectedMachine without a Provider, so that it has a verdict too.
func (r *Registry) Expected(s *backup.Snapshot) Expected {
	all := Expected{
		Providers: make(map[backup.ClusterID]string, len(s.Clusters)), LoadBalancers: map[backup.ClusterID][]LoadBalancer{},
		Controllers: map[backup.ClusterID]Controller{}, OnInstance: map[string]func(int, Sight) []walk.Step{}, ManagedPlanes: map[string]bool{}, Words: map[string]map[string]string{},
	}
	expecting := make([]bool, len(s.Machines))
	for _, p := range r.providers {
		c := p.Expected(s)
		for _, m := range c.Machines {
			if m.Machine >= 0 {
				expecting[m.Machine] = true
			}
		}
		gather(&all.Machines, c.Machines)
		gather(&all.OwnershipHints, c.OwnershipHints)
		gather(&all.Proofs, c.Proofs)
		gather(&all.Absent, c.Absent)
		gather(&all.Exclude, c.Exclude)
		gather(&all.Pools, c.Pools)
		gather(&all.Resources, c.Resources)
		gather(&all.Recipes, c.Recipes)
		gather(&all.OwnerTags, c.OwnerTags)
		gather(&all.Halts, c.Halts)
		gather(&all.Alone, c.Alone)
		gather(&all.Steps, c.Steps)
		if len(c.Providers) > 0 { // it holds on to what it read
			maps.Copy(all.OnInstance, c.OnInstance)
		}
		for id, name := range c.Providers {
			all.Providers[id] = name
		}
		maps.Copy(all.Controllers, c.Controllers)
		maps.Copy(all.LoadBalancers, c.LoadBalancers)
		spec := p.Spec()
		for _, k := range spec.ManagedPlanes {
			all.ManagedPlanes[k.Kind] = true
		}
		all.Words[spec.Name] = spec.Words
	}
	for i, done := range expecting {
		if !done {
			all.Machines = append(all.Machines, ExpectedMachine{Machine: i, Source: s.Machines[i].Infrastructure.Kind})
		}
	}
	all.UnreadPools = r.unreadPools(s.Groups, all.Pools)
	r.sight(s, &all)
	return all
}

// unreadPools returns the MachinePools that list members and are none of those that are read.
func (r *Registry) unreadPools(groups []backup.Group, read []Pool) (all []UnreadPool) {
	is := make(map[OwnerID]bool, len(read))
	for i := range read {
		is[OwnerID{Cluster: read[i].Cluster, Kind: read[i].Kind, Name: read[i].Name}] = true
	}
	for i := range groups {
		g := &groups[i]
		if len(g.Members) == 0 || is[OwnerID{Cluster: g.Cluster, Kind: g.Kind, Name: g.Name}] {
			continue
		}
		p := UnreadPool{Cluster: g.Cluster, Name: g.Name}
		for _, id := range g.Members {
			p.Members = append(p.Members, r.Keys(id)...)
		}
		all = append(all, p)
	}
	return all
}

// gather adds what one provider has to a list. Most backups are of one provider: nothing
// is copied then.
func gather[T any](into *[]T, more []T) {
	if len(*into) == 0 {
		*into = more
	} else {
		*into = append(slices.Clip(*into), more...)
	}
}

// Targets joins the targets of all providers, in the order of provider,
// endpoint and id.
func (r *Registry) Targets(s *backup.Snapshot, secrets *backup.Secrets, a Access) []Target {
	var all []Target
	a = a.indexed()
	for _, p := range r.providers {
		all = append(all, p.Targets(s, secrets, a)...)
	}
	for i := range all {
		all[i].Subject = s.Subject()
	}
	sorting.StableBy(all, func(x, y Target) int {
		return cmp.Or(cmp.Compare(x.Provider, y.Provider), cmp.Compare(x.Endpoint, y.Endpoint), slices.Compare(x.IDs, y.IDs))
	})
	return all
}

// For keeps the targets that one of the shown clusters needs. Each is listed as a
// whole: what is beside is needed to tell whose it is.
func For(shows func(backup.ClusterID) bool, targets []Target) []Target {
	var out []Target
	for _, t := range targets {
		t.Clusters = slices.DeleteFunc(slices.Clone(t.Clusters), func(id backup.ClusterID) bool { return !shows(id) })
		if len(t.Clusters) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// Watch hears how a run goes, by the index of a target: how many instances or
// Nodes it has found so far, from several goroutines at once, and that it is
// listed, one call at a time.
type Watch struct {
	Found func(target, found int)
	Done  func(target int, l Listing)
}

// atOnce bounds how many targets are listed at a time, below the number of open
// files that a system allows a process by default (256 on macOS, 1,024 on Linux,
// of which the Go runtime takes the harder limit where there is one).
const atOnce = 200

// Collect lists all targets at once, up to 200 of them, and returns when the last
// is done, each within Registry.Timeout. A refused target is a failed listing. watch may
// be nil.
func (r *Registry) Collect(ctx context.Context, targets []Target, watch *Watch) Inventory {
	inv := Inventory{Version: InventoryVersion, Listings: make([]Listing, len(targets))}
	var wg sync.WaitGroup
	var mu sync.Mutex
	free := make(chan struct{}, atOnce)
	for i, t := range targets {
		if watch != nil {
			t.Progress = func(found int) { watch.Found(i, found) }
		}
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			l := r.list(ctx, t)
			mu.Lock()
			defer mu.Unlock()
			inv.Listings[i] = l
			if watch != nil {
				watch.Done(i, l)
			}
		})
	}
	wg.Wait()
	return inv
}

// list asks the target's provider and fills in what every listing repeats of
// its target.
func (r *Registry) list(ctx context.Context, t Target) (l Listing) {
	defer func() {
		if v := recover(); v != nil {
			// A fault of the program must not look like absence, nor take the
			// other listings along. Its value stays out: it may hold a secret.
			l = Listing{State: code.ScopeFailed, NodeState: t.NodeState, Fault: &Fault{
				Reason:  code.InternalError,
				Message: fmt.Sprintf("listing %s %s ended in a fault of drift-detector (%T)", t.Provider, t.Endpoint, v),
				Hint:    "report it to the authors of drift-detector",
			}}
		}
		l.IDs, l.Provider, l.Endpoint, l.Location, l.Clusters = t.IDs, t.Provider, t.Endpoint, t.Location, t.Clusters
		l.Asked = t.Probes
		l.Account = cmp.Or(l.Account, t.Account)
		l.Warnings = slices.Concat(t.Warnings, l.Warnings)
	}()
	p := r.named(t.Provider)
	if p == nil {
		return Listing{State: code.ScopeFailed, Fault: &Fault{Reason: code.UnsupportedProvider, Message: "no provider is called " + t.Provider}}
	}
	if t.Refused != nil {
		return Listing{State: code.ScopeFailed, Fault: t.Refused, NodeState: t.NodeState}
	}
	limit := cmp.Or(r.Timeout, DefaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &TimeOver{TimeoutFlag, limit})
	defer cancel()
	return p.List(newListing(ctx), t)
}
