package openstack

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of the login, which is the first thing that every controller does.
var (
	rowL2 = &walk.Row{
		ID: "openstack.L2", Of: clusterKind, OnDelete: keepsServer,
		Asks:    "the identity that identityRef names: a Secret of its namespace, or an OpenStackClusterIdentity, and an entry of its clouds.yaml",
		None:    walk.Halts.Says("CAPO has no credential and does nothing for the cluster"),
		Differs: walk.Halts.Says("CAPO has no credential and does nothing for the cluster"),
		Source:  "NewClientScopeFromObject: pkg/scope/provider.go v0.10.0 to v0.15.0-beta.0",
	}
	rowL3 = &walk.Row{
		ID: "openstack.L3", Of: clusterKind, OnDelete: keepsServer,
		Asks:    "the labels of the Namespace, which the namespaceSelector of an OpenStackClusterIdentity has to select",
		Differs: walk.Halts.Says("CAPO lets nobody of the Namespace use the identity and does nothing for the cluster"),
		Refused: "the Namespace, which the backup lacks", Versions: "v0.14 and later",
		Source: "NewClientScopeFromObject: pkg/scope/provider.go v0.14.7, v0.15.0-beta.0",
	}
	rowL4 = &walk.Row{
		ID: "openstack.L4", Of: clusterKind, OnDelete: keepsServer,
		Asks:   "a login in the Secret",
		None:   walk.Halts.Says("CAPO has no credential and does nothing for the cluster"),
		Source: "getCloudFromSecret: pkg/scope/provider.go v0.10.0 to v0.15.0-beta.0",
	}
	rowL5 = &walk.Row{
		ID: "openstack.L5", Of: clusterKind, OnDelete: keepsServer,
		Asks:      "the certificate of Keystone, by the CA in the Secret, else by public authorities, which its image has, or by those that its own flags name",
		Differs:   walk.Halts.Says("CAPO refuses the certificate and does nothing for the cluster"),
		Condition: code.CertificateUnchecked,
		Source:    "NewProviderClient: pkg/scope/provider.go v0.10.0 to v0.15.0-beta.0",
	}
	rowL6 = &walk.Row{
		ID: "openstack.L6", Of: clusterKind, OnDelete: keepsServer,
		Asks:      "Keystone for a token, with the login in the backup",
		Differs:   walk.Halts.Says("CAPO cannot log in and does nothing for the cluster"),
		Condition: code.CredentialUntried,
		Source:    "NewProviderClient: pkg/scope/provider.go v0.10.0 to v0.15.0-beta.0",
	}
	rowL7 = &walk.Row{
		ID: "openstack.L7", Of: clusterKind, OnDelete: strandsServer,
		Asks:    "the services of the catalogue for what the cluster has: networks, subnets, routers, security groups, floating IPs, load balancers",
		None:    walk.Halts.Says("CAPO is refused as well, and never calls the cluster ready"),
		Refused: "a list, to an account that is not the backup's, or because nobody answered",
		Source:  "NewNetworkClient, NewLbClient: pkg/clients; reconcileNormal: controllers/openstackcluster_controller.go v0.10.0 to v0.15.0-beta.0",
	}
	rowL8 = &walk.Row{
		ID: "openstack.L8", Of: clusterKind, OnDelete: keepsServer,
		Asks:    "Nova for a microversion: 2.38 or later, up to release 0.11 2.60 or later",
		Differs: walk.Halts.Says("CAPO creates no client of Nova, and never calls the cluster ready"),
		Source:  "NewComputeClient: pkg/clients/compute.go v0.10.0 to v0.15.0-beta.0",
	}
	rowM3 = &walk.Row{
		ID: "openstack.M3", Of: machineKind, OnDelete: keepsServer,
		Asks:      "Keystone for a token, with the login of its own that a machine names",
		None:      walk.Waits.Says("CAPO has no credential and does nothing for the machine"),
		Differs:   walk.Waits.Says("CAPO cannot log in and does nothing for the machine"),
		Condition: code.CredentialUntried,
		Source:    "Reconcile: controllers/openstackmachine_controller.go, openstackserver_controller.go; NewClientScopeFromMachine: pkg/scope/provider.go v0.10.0 to v0.15.0-beta.0",
	}
	loginRows = []*walk.Row{rowL2, rowL3, rowL4, rowL5, rowL6, rowL7, rowL8}
)

// askLogin asks for the login of a cluster.
func (q *questions) askLogin(id backup.ClusterID, l *location) {
	objs := q.objs
	h := objs.homeOf(id, nil, l)
	if h.kind == unknownIdentity {
		return // the backup lacks the cluster's own object
	}
	switch {
	case h.mistake() != "":
		q.Note(rowL2, id, answer(walk.Differs, "identity "+h.name, h.mistake(), "may be used"))
		return
	case objs.lacks(h):
		q.Note(rowL2, id, answer(walk.None, h.what(), h.what()+" is not in the backup", "exists"))
		return
	}
	q.Note(rowL2, id, pass)
	if h.kind == identityKind {
		switch why, undecided := objs.forbidden(id.Backup, h.name, id.Namespace); {
		case why == "":
			q.Note(rowL3, id, pass)
		case undecided:
			q.Note(rowL3, id, walk.Answer{Found: walk.Unread, Why: why, Objects: []string{identityKind + " " + h.name}})
		default:
			q.Note(rowL3, id, answer(walk.Differs, identityKind+" "+h.name, why, "may be used"))
			return
		}
	}
	at := infra.AccessAt{Cluster: id, Subject: infra.ClusterTitle(id), ID: l.home, With: credentialTitle(h)}
	q.Steps = append(q.Steps, q.holdsLogin(at), at.CertificateStep(rowL5), at.CredentialStep(rowL6))
}

// holdsLogin asks L4.
func (q *questions) holdsLogin(at infra.AccessAt) infra.Step {
	return infra.Step{
		Step: walk.Step{Row: rowL4, Cluster: at.Cluster, Subject: at.Subject, Machine: -1},
		Look: func(inv *infra.Inventory) walk.Answer {
			l := inv.Named(at.ID)
			switch {
			case l == nil:
				return walk.Answer{}
			case inv.AccessFact(l, infra.FactOwn, at.ID) == infra.OwnAbsent:
				return answer(walk.None, at.With, at.With+" is not in the backup, or holds no login that CAPO could use", "holds a login")
			}
			return pass
		},
	}
}

// credentialTitle names the object that holds the login.
func credentialTitle(h home) string {
	if h.kind == noIdentity {
		return "clouds.yaml of CAPO's own"
	}
	return h.what()
}

// login is one that a machine needs, with the row that asks for it.
type login struct {
	row *walk.Row
	home
}

// logins returns those of a machine beside its cluster's: that of its OpenStackServer, its own, with
// which its controller comes first, that of the pool of its floating IP, and that of its Image object.
func (objs *objects) logins(m *member) (list []login) {
	if m.index < 0 {
		return nil
	}
	l := objs.locations[m.cluster]
	add := func(r *walk.Row, h home) {
		if h.kind != unknownIdentity && h.id() != l.home {
			list = append(list, login{r, h})
		}
	}
	h := objs.homeOf(m.cluster, m, l)
	add(rowM3, h)
	if m.machine != nil && m.machine.Data.Identity.Name != "" {
		if own := objs.homeBy(m.cluster, &m.machine.Data.Identity); own != h {
			add(rowM3, own)
		}
	}
	if pool := objs.poolOf(m); pool != nil && pool.Data.Identity.Name != "" {
		add(rowA1, objs.homeBy(m.cluster, &pool.Data.Identity))
	}
	if image := objs.orcImage(m); image.kind != "" {
		add(rowO5, image.home)
	}
	return list
}

// askOwnLogins asks for the logins of a machine beside its cluster's.
func (q *questions) askOwnLogins(m *member) {
	for _, u := range q.objs.logins(m) {
		if u.mistake() != "" || u.forbidden || q.objs.lacks(u.home) {
			continue // what is said of its restore says so
		}
		at := infra.AccessAt{Cluster: m.cluster, Subject: q.objs.titleOf(m), ID: u.id(), With: credentialTitle(u.home)}
		s := at.CredentialStep(u.row)
		s.Machine = m.index
		tried, kind := s.Look, u.kind
		s.Look = func(inv *infra.Inventory) walk.Answer {
			// Where the backup has none, and the operator gave none, nobody listed anything.
			if l := inv.Named(at.ID); l != nil && kind != noIdentity && l.Fault != nil && l.Fault.Reason == code.NoCredential {
				return answer(walk.None, at.With, at.With+" is not in the backup, or holds no login", "exists")
			}
			return tried(inv)
		}
		q.Steps = append(q.Steps, s)
	}
}

// FactCompute names the microversion in which Nova answered.
const FactCompute = "computeMicroversion"

// askCompute asks L8. What served OpenStackServers may be of release 0.11 or a later one.
func (q *questions) askCompute(id backup.ClusterID, l *location) {
	least := "2.38"
	if l.release <= withoutServers {
		least = "2.60"
	}
	q.look(rowL8, id, func(p *place) walk.Answer {
		switch have, known := p.Fact(FactCompute); {
		case !known:
			return walk.Answer{}
		case !AtLeast(have, least):
			return answer(walk.Differs, "Nova", "Nova answers in microversion "+infra.Brief(have), "knows "+least)
		}
		return pass
	})
}

// kindsOf returns the kinds of things that CAPO has to read for a cluster, as the calls name them.
func (l *location) kindsOf() []infra.KeyKind {
	d := &l.record.Data
	kinds := []infra.KeyKind{KeyNetwork, KeySubnet}
	if !d.noExternal() && !given(d.SpecExternal) {
		kinds = append(kinds, KeyExternal)
	}
	if given(d.SpecRouter) || d.manages() && !d.noExternal() {
		kinds = append(kinds, KeyRouter)
	}
	if d.makesGroups() {
		kinds = append(kinds, KeySecurity)
	}
	if d.balanced() {
		kinds = append(kinds, KeyBalancer, KeyListener, KeyPool)
	}
	if l.address() != "" {
		kinds = append(kinds, KeyFloating)
	}
	return kinds
}

// askServices asks L7: what the account that lists may not read, CAPO may not read either
// where the account is its own.
func (q *questions) askServices(id backup.ClusterID, l *location) {
	kinds, keys := l.kindsOf(), l.probes(id)
	if l.record.Data.balanced() {
		keys = append(keys, infra.Key{Kind: KeyBalancer, Value: ByName + balancerName(id)})
	}
	q.look(rowL7, id, func(p *place) walk.Answer {
		var open walk.Answer
		for _, k := range kinds {
			object := "the list of " + PeopleCall(k)
			if why, refused := p.Fact(FactRefused + "/" + k.String()); refused {
				return answer(walk.None, object, why, "may be read by CAPO")
			}
			if why, unread := p.FactsUnread.Get(k.String()); open.Found == "" && (unread || slices.Contains(p.Unread, k)) {
				open = walk.Answer{Found: walk.Unread, Why: cmp.Or(why, object+" could not be read"), Objects: []string{object}}
			}
		}
		for _, k := range keys {
			if open.Found == "" && !k.IsZero() && !p.Asks(k) {
				open = walk.Answer{Found: walk.Unread, Why: p.unasked()}
			}
		}
		if open.Found != "" {
			return open
		}
		return pass
	})
}

// AtLeast compares microversions.
func AtLeast(have, want string) bool {
	number := func(v string) (major, minor int) {
		a, b, _ := strings.Cut(v, ".")
		major, _ = strconv.Atoi(a)
		minor, _ = strconv.Atoi(b)
		return major, minor
	}
	a, b := number(have)
	x, y := number(want)
	return a > x || a == x && b >= y
}
