package openstack

import (
	"fmt"
	"net/netip"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// floatingPool is an OpenStackFloatingIPPool, of which only matters whether it is there, can log
// in and finds its network, floatingAddress the IPAddress that keeps which floating IP of it is a server's, and
// floatingClaim the IPAddressClaim that asks for it.
type (
	floatingPool struct {
		Identity identityRef
		Network  string // spec.floatingIPNetwork, in JSON
	}
	floatingAddress struct{ Address string }
	floatingClaim   struct{ PoolKind, Pool string }
)

var (
	floatingPools = backup.NewKind("openstackfloatingippools."+group, append(identityFields(func(p *floatingPool) *identityRef { return &p.Identity }),
		backup.Raw(func(p *floatingPool) *string { return &p.Network }, "spec.floatingIPNetwork"))...).Ownerless()
	floatingAddresses = backup.NewKind("ipaddresses.ipam.cluster.x-k8s.io",
		backup.Text(func(a *floatingAddress) *string { return &a.Address }, "spec.address")).Ownerless()
	floatingClaims = backup.NewKind("ipaddressclaims.ipam.cluster.x-k8s.io",
		backup.Text(func(c *floatingClaim) *string { return &c.PoolKind }, "spec.poolRef.kind"),
		backup.Text(func(c *floatingClaim) *string { return &c.Pool }, "spec.poolRef.name")).Ownerless()
)

const claimKind = "IPAddressClaim"

// Rows of the controller of OpenStackFloatingIPPools.
var (
	rowA1 = &walk.Row{
		ID: "openstack.A1", Of: poolKind,
		Asks:      "Keystone for a token, with the login that spec.identityRef of the pool names",
		None:      walk.Waits.Says("CAPO answers no claim of the pool without a credential, and waits for the floating IP before it looks for the server"),
		Differs:   walk.Waits.Says("CAPO cannot log in and answers no claim of the pool, and waits for the floating IP before it looks for the server"),
		Condition: code.CredentialUntried,
		Source:    "Reconcile: controllers/openstackfloatingippool_controller.go v0.10.0 to v0.15.0-beta.0",
	}
	rowA3 = &walk.Row{
		ID: "openstack.A3", Of: poolKind,
		Asks:    "the external network that spec.floatingIPNetwork of the pool names, else the only one that the project sees",
		None:    walk.Waits.Says("CAPO answers no claim of the pool without its network, and waits for the floating IP before it looks for the server"),
		Several: walk.Waits.Says("CAPO takes none of several and answers no claim of the pool, and waits for the floating IP before it looks for the server"),
		Refused: "networks, to an account that is not the backup's, or because nobody answered",
		Source:  "reconcileFloatingIPNetwork: controllers/openstackfloatingippool_controller.go v0.10.0 to v0.15.0-beta.0",
	}
	rowA4 = &walk.Row{
		ID: "openstack.A4", Of: poolKind,
		Asks:   "the IPAddress of each claim of the pool, by the claim's name",
		None:   walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "CAPO gives the claim another floating IP: one of the pool that no IPAddress has, else a new one"},
		Source: "Reconcile, getIP: controllers/openstackfloatingippool_controller.go v0.10.0 to v0.15.0-beta.0",
	}
	poolRows = []*walk.Row{rowA1, rowA3, rowA4}
)

// claimSuffix ends the name of a server's IPAddressClaim, and of its IPAddress
// (pkg/utils/names/names.go v0.10.0 to v0.14.7).
const claimSuffix = "-floating-ip-address"

var ruleAddress = check.Rule{
	Code: "AddressAbsent", Severity: code.CheckWarning,
	Happens: "The backup lacks the address that a machine has from a pool.",
	Why:     "CAPO gives the machine another floating IP of its pool, which may be one that another server has: it takes that one from there, or Neutron refuses a second one, and the machine is never ready.",
	Do:      "take a newer backup without that filter, or an older one that holds it; else create it by hand, with the floating IP that the server has, before the cluster is unpaused",
	LiveDo:  "find out why it is gone, or create it again, from your sources or an older backup; else create it by hand, with the floating IP that the server has, before the cluster is unpaused",
}

// claimOf names the IPAddressClaim of a server whose floating IP comes from a pool:
// it is empty where none does. CAPO waits for it before it looks for ports and server,
// because a restore drops the status in which it says that it has one
// (reconcileFloatingAddressFromPool in controllers/openstackmachine_controller.go v0.10.0,
// openstackserver_controller.go v0.11.0 to v0.15.0-beta.0).
func (objs *objects) claimOf(m *member) (claim capi.Object, w *wish) {
	if w = m.resolved(); w == nil || w.FloatingPool == "" {
		return capi.Object{}, nil
	}
	return capi.Object{Backup: m.cluster.Backup, Namespace: m.meta().Namespace, Name: m.meta().Name + claimSuffix}, w
}

// poolOf returns the pool of a machine's floating IP; nil where the backup lacks it, or there is none.
func (objs *objects) poolOf(m *member) *backup.Record[floatingPool] {
	claim, w := objs.claimOf(m)
	if w == nil || w.FloatingPoolKind != poolKind {
		return nil
	}
	return objs.pools[capi.Object{Backup: claim.Backup, Namespace: claim.Namespace, Name: w.FloatingPool}]
}

// poolNetwork returns where the pool of a machine looks for its network, and the probe of that: the only
// external one where the pool names none. It is zero where filters cannot be
// followed, or no login is named.
func (objs *objects) poolNetwork(m *member) (h home, k infra.Key, object string) {
	pool := objs.poolOf(m)
	if pool == nil || pool.Data.Identity.Name == "" {
		return home{}, infra.Key{}, ""
	}
	h = objs.homeBy(m.cluster, &pool.Data.Identity)
	p := paramOf(pool.Data.Network)
	if !p.given {
		return h, infra.Key{Kind: KeyExternal, Value: OneExternal}, "external network"
	}
	return h, p.with("router:external", "true").key(KeyNetwork), "network " + p.people()
}

// poolLacks says that the backup lacks the pool, whose controller alone answers the claim
// (controllers/openstackfloatingippool_controller.go v0.10.0 to v0.14.7).
func (objs *objects) poolLacks(m *member) string {
	claim, w := objs.claimOf(m)
	if w == nil || w.FloatingPoolKind != poolKind {
		return ""
	}
	if objs.poolOf(m) != nil {
		return ""
	}
	return fmt.Sprintf("%s %s/%s, which its spec.floatingIPPoolRef names, %s, and CAPO waits for its floating IP before it looks for the server", poolKind, claim.Namespace, w.FloatingPool, objs.snapshot.Lacks(claim.Backup, poolKind))
}

// unclaimed returns the IPAddress that the backup lacks, or "". Of a claim that is made again
// the pool finds it by its name; without it the claim is given any that is free, and
// which are taken only the IPAddresses say (getIP in
// controllers/openstackfloatingippool_controller.go v0.10.0 to v0.14.7).
func (objs *objects) unclaimed(m *member) string {
	claim, w := objs.claimOf(m)
	if w == nil || objs.addresses[claim] != nil {
		return ""
	}
	return "IPAddress " + claim.Name
}

// poolClaim is a claim of a pool of CAPO's.
type poolClaim struct {
	at, pool capi.Object
	cluster  backup.ClusterID // zero without a cluster that is in the backup
}

// otherClaims returns the claims that no Machine needs: those of the backup, and those that
// the controller of OpenStackServers creates, which asks for no Machine.
func (objs *objects) otherClaims() []poolClaim {
	seen := map[capi.Object]bool{}
	for i := range objs.members {
		if m := &objs.members[i]; m.index >= 0 {
			at, _ := objs.claimOf(m)
			seen[at] = true
		}
	}
	var all []poolClaim
	add := func(m *backup.Meta, name, kind, pool string) {
		c := poolClaim{at: capi.Object{Backup: m.Backup, Namespace: m.Namespace, Name: name}, cluster: capi.ClusterOf(m)}
		if kind != poolKind || seen[c.at] {
			return
		}
		seen[c.at] = true
		if c.pool = c.at; objs.known[c.cluster] == nil {
			c.cluster = backup.ClusterID{}
		}
		c.pool.Name = pool
		all = append(all, c)
	}
	for r := range floatingClaims.In(objs.snapshot).All() {
		add(&r.Meta, r.Name, r.Data.PoolKind, r.Data.Pool)
	}
	for r := range servers.In(objs.snapshot).All() {
		if w := &r.Data.Wish; !r.Paused {
			add(&r.Meta, r.Name+claimSuffix, w.FloatingPoolKind, w.FloatingPool)
		}
	}
	return all
}

// floatingLost returns what keeps CAPO from a machine whose server has lost the floating IP that
// its IPAddress keeps (associateIPAddressFromIPAddressClaim in
// controllers/openstackserver_controller.go v0.11.0 to v0.15.0-beta.0, and v0.10.0
// openstackmachine_controller.go; AssociateFloatingIP in
// pkg/cloud/services/networking/floatingip.go asks nobody who has it).
func (objs *objects) floatingLost(m *member) []infra.Blocker {
	claim, _ := objs.claimOf(m)
	kept := objs.addresses[claim]
	if kept == nil {
		return nil
	}
	server, _, _, _ := objs.strong(m)
	ip, err := netip.ParseAddr(kept.Data.Address)
	if err != nil || server.IsZero() {
		return nil
	}
	return []infra.Blocker{{
		Key: infra.Key{Kind: KeyLost, Value: infra.Join(server.Value, ip.String())},
		Why: fmt.Sprintf("its server does not have floating IP %s, which IPAddress %s keeps for it: where that is another server's CAPO takes it away from there, and where it is gone the machine is never ready (floating IP does not exist); attach it to the server again", ip, claim.Name),
	}}
}

// addressesAbsent returns the IPAddresses that machines lack, one for each cluster: mostly the
// backup holds none at all.
func (objs *objects) addressesAbsent() []check.Finding {
	var found check.Shared
	for i := range objs.members {
		m := &objs.members[i]
		lost := objs.unclaimed(m)
		if lost == "" {
			continue
		}
		found.Add(ruleAddress.On(m.cluster.Backup, fmt.Sprintf("IPAddresses of %s/%s", m.cluster.Namespace, m.cluster.Name),
			"%s is not in %s, and keeps which floating IP server %s has", lost, objs.snapshot.Subject().The(), objs.serverName(m)).
			At(floatingAddresses.Resource(), m.meta().Namespace), m.cluster)
	}
	return found.Findings()
}

// askPoolNetwork asks A3.
func (q *questions) askPoolNetwork(m *member) {
	h, k, object := q.objs.poolNetwork(m)
	if m.index < 0 || k.IsZero() {
		return
	}
	q.Steps = append(q.Steps, infra.Step{
		Step: walk.Step{Row: rowA3, Cluster: m.cluster, Subject: q.objs.titleOf(m), Machine: m.index},
		Look: func(inv *infra.Inventory) walk.Answer {
			p := q.place(inv, h.id())
			if p == nil {
				return walk.Answer{}
			}
			if k.Kind == KeyExternal && p.Finds(infra.Key{Kind: KeyExternal, Value: SeveralExternal}) {
				return answer(walk.Several, object, p.title()+" sees several external networks, and the pool names none", "is one alone, or is named by the pool")
			}
			return p.thingRead(k, object)
		},
	})
}

// askClaims asks A4 of the claims that no Machine needs: those of Machines are asked for with these. The
// controller asks neither for owners nor for a pause.
func (q *questions) askClaims() {
	objs := q.objs
	for _, c := range objs.otherClaims() {
		title := claimKind + " " + c.at.Namespace + "/" + c.at.Name
		switch {
		case objs.pools[c.pool] == nil:
			continue // nobody answers the claim
		case objs.addresses[c.at] != nil:
			q.Note(rowA4, c.cluster, pass)
		default:
			q.Keep(walk.Step{Row: rowA4, Cluster: c.cluster, Subject: title, Machine: -1, Answer: answer(walk.None, title, "the backup lacks the IPAddress of "+title, "has its IPAddress")})
		}
	}
}
