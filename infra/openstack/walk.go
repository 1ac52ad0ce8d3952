package openstack

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// walked are what CAPO's controllers ask after a restore, in the order in which they do.
var walked = slices.Concat(loginRows, poolRows, strands(slices.Concat(clusterRows, managedRows, []*walk.Row{rowC18c, rowC18d, rowC29}, balancerRows)), machineRows, serverRows)

// What becomes of a Machine that is deleted meanwhile. The controller of OpenStackMachines takes its finalizer off
// as long as the OpenStackCluster is not ready (reconcileDelete in controllers/openstackmachine_controller.go v0.10.0 to
// v0.15.0-beta.0); that of OpenStackServers looks up again what the server is made of, and whatever fails there ends
// it (Reconcile in controllers/openstackserver_controller.go v0.11.0 to v0.15.0-beta.0).
const (
	strandsServer = "as long as the cluster is not ready CAPO lets a Machine go without its server: server and OpenStackServer stay, and only deleting the OpenStackServer ends them"
	keepsServer   = "CAPO deletes the server no more than it takes it over: that runs on, and the Machine stays until this is mended, or up to release 0.10 goes"
)

func strands(rows []*walk.Row) []*walk.Row {
	for _, r := range rows {
		r.OnDelete = strandsServer
	}
	return rows
}

func walkRows() []walk.Row {
	all := make([]walk.Row, len(walked))
	for i, r := range walked {
		all[i] = *r
	}
	return all
}

// questions are those of a backup.
type questions struct {
	infra.Questions
	objs   *objects
	things map[backup.ClusterID][]*dependency // that have a row, and can be looked up
	places map[*infra.Listing]*place          // that were looked through
}

// steps returns those that the backup alone answers, and those of clusters that a listing
// answers.
func (objs *objects) steps() []infra.Step {
	q := &questions{objs: objs, things: map[backup.ClusterID][]*dependency{}, places: map[*infra.Listing]*place{}}
	for _, d := range objs.dependencies() {
		if d.row != nil && len(d.keys) == 1 {
			q.things[d.cluster] = append(q.things[d.cluster], d)
		}
	}
	for _, id := range objs.order() {
		q.askLogin(id, objs.locations[id])
		if l := objs.locations[id]; l.record != nil && !l.record.Paused {
			q.askNetworks(id, l)
			q.askManaged(id, l)
			q.askRules(id, l)
			q.askTags(id, l)
			q.askBastion(id, l)
			q.askBalancer(id, l)
			q.askZones(id)
		}
	}
	q.askMade()
	q.askClaims()
	for i := range objs.members {
		q.askMember(&objs.members[i])
	}
	return q.Steps
}

// look keeps a step of a cluster that the place answers in which its things are. Where that
// was not listed, others say so.
func (q *questions) look(r *walk.Row, id backup.ClusterID, of func(*place) walk.Answer) {
	q.Look(r, id, infra.ClusterTitle(id), func(inv *infra.Inventory) walk.Answer {
		if p := q.place(inv, q.objs.locations[id].home); p != nil {
			return of(p)
		}
		return walk.Answer{}
	})
}

// place is a listing that was looked through once.
type place struct {
	*infra.Lookup
	kinds, kindsAsked map[infra.KeyKind]bool // of what was found, and of what was asked for
	lacking           map[infra.KeyKind]bool // of what was asked for and not found
	answered          map[infra.Key][]answered
	servers           map[infra.Key]int         // that exist and were read, by their keys; nil until one is asked for
	several           map[string]bool           // names of machines by which Nova finds several servers
	sought            map[string]map[string]int // see twins
}

// server returns the server with the key that exists and was read, or nil.
func (p *place) server(k infra.Key) *infra.Instance {
	if p.servers == nil {
		p.servers = make(map[infra.Key]int, len(p.Instances))
		for i := len(p.Instances) - 1; i >= 0; i-- {
			if at := &p.Instances[i]; !at.Gone && !at.Unreadable {
				for _, k := range at.Keys {
					p.servers[k] = i
				}
			}
		}
	}
	i, ok := p.servers[k]
	if !ok || k.IsZero() {
		return nil
	}
	return &p.Instances[i]
}

// severalSought returns the names by which Nova finds several servers.
func severalSought(l *infra.Listing) map[string]bool {
	several, by := map[string]bool{}, map[string]*infra.Instance{}
	for i := range l.Instances {
		at := &l.Instances[i]
		for _, k := range at.Keys {
			if !at.Gone && (k.Kind == keyName || k.Kind == KeySought) {
				several[k.Value] = several[k.Value] || by[k.Value] != nil && by[k.Value] != at
				by[k.Value] = at
			}
		}
	}
	return several
}

// place returns the listing of a home, nil where it says nothing of what is beside servers.
func (q *questions) place(inv *infra.Inventory, home string) *place {
	return q.placeOf(inv.Named(home))
}

func (q *questions) placeOf(l *infra.Listing) *place {
	if l == nil || l.State == code.ScopeFailed {
		return nil
	}
	p := q.places[l]
	if p == nil {
		kinds := func(keys []infra.Key) map[infra.KeyKind]bool {
			all := map[infra.KeyKind]bool{}
			for _, k := range keys {
				all[k.Kind] = true
			}
			return all
		}
		p = &place{&infra.Lookup{Listing: l}, kinds(l.ProbesFound), kinds(l.Asked), map[infra.KeyKind]bool{}, map[infra.Key][]answered{}, nil, severalSought(l), map[string]map[string]int{}}
		p.readAnswers()
		for _, k := range l.Asked {
			p.lacking[k.Kind] = p.lacking[k.Kind] || !p.Finds(k)
		}
		q.places[l] = p
	}
	return p
}

// FactFound names, with the kind and the value of a probe behind it, what answers it where that is more than
// an id: its id, and of a subnet, also of one that is asked for by its id, the network's.
const FactFound = "found"

// answered is what answers a probe.
type answered struct{ id, network string }

func (p *place) readAnswers() {
	for _, f := range p.Facts {
		for _, kind := range []infra.KeyKind{KeyNetwork, KeySubnet, KeyRouter} {
			if value, ok := strings.CutPrefix(f.Name, FactFound+"/"+kind.String()+"/"); ok {
				id, network, _ := strings.Cut(f.Value, " ")
				k := infra.Key{Kind: kind, Value: value}
				p.answered[k] = append(p.answered[k], answered{id, network})
			}
		}
	}
}

// meant returns what an object means that is to be one alone. What it names by its id is
// known without a listing.
func (p *place) meant(of param, kind infra.KeyKind) (a answered, known bool) {
	k := of.key(kind)
	if all := p.answered[k]; len(all) == 1 && p.Finds(k) && !p.FindsSeveral(k) {
		return all[0], true
	}
	id := UUIDOf(of.id)
	return answered{id: id}, id != ""
}

// thing asks for something that has to be there, once. object is what the resources of the
// cluster call it.
func (p *place) thing(k infra.Key, object string) walk.Answer {
	switch {
	case p.FindsSeveral(k):
		return walk.Answer{Found: walk.Several, Why: fmt.Sprintf("%s has several of %s", p.title(), object), Until: object + " is one alone", Objects: []string{object}}
	case p.Finds(k):
		return pass
	case p.IsSilent(k):
		return walk.Answer{}
	}
	return walk.Answer{Found: walk.None, Why: object + " is gone", Until: object + " exists", Objects: []string{object}}
}

// thingRead asks for something that has to be there, once, where it could be read.
func (p *place) thingRead(k infra.Key, object string) walk.Answer {
	switch {
	case p.Finds(k):
	case !p.Asks(k):
		return walk.Answer{Found: walk.Unread, Why: p.unasked()}
	case slices.Contains(p.Unread, k.Kind):
		why, _ := p.FactsUnread.Get(k.Kind.String())
		return walk.Answer{Found: walk.Unread, Why: why, Objects: []string{object}}
	}
	return p.thing(k, object)
}

// unasked says that nobody asked the place for a thing.
func (p *place) unasked() string {
	return p.title() + " was listed for another backup, or by an older version, which did not ask for it"
}

func (p *place) title() string {
	title := "OpenStack " + p.Endpoint
	if p.Account != "" {
		title = "project " + p.Account + " of " + title
	}
	return title
}

// pass is the answer to a question that passes.
var pass = walk.Answer{Found: walk.Passed}

func answer(found walk.Found, object, why, until string) walk.Answer {
	return walk.Answer{Found: found, Why: why, Until: object + " " + until, Objects: []string{object}}
}

// FactRefused names, with a kind behind it, what the backup's own account may not read, so
// that CAPO may not either; its value says why. What another account may not read, or nobody
// could, is in FactsUnread under the kind.
const FactRefused = "refused"
