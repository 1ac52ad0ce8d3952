package openstack

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/backup/naming"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// Names that CAPO gives to what it makes (pkg/utils/names/names.go,
// pkg/cloud/services/networking v0.14.7). A machine's port names the cluster in its
// description, a security group and a network name namespace and cluster.
const (
	portDescription = "Created by cluster-api-provider-openstack cluster "
	groupPrefix     = "k8s-cluster-"
	groupMiddle     = "-secgroup-"
	networkPrefix   = "k8s-clusterapi-cluster-"
	firstPort       = "-0"
)

// resourceName returns what CAPO calls a cluster in names: "team-a-prod".
func resourceName(id backup.ClusterID) string { return id.Namespace + "-" + id.Name }

// clusterNames returns what CAPO calls a cluster in the description of a machine's port: its
// name, and in old releases with the namespace.
func clusterNames(id backup.ClusterID) []string { return []string{id.Name, resourceName(id)} }

// group returns the id of the security group that CAPO made for a role, or "".
func (l *location) group(role string) string {
	if l.record == nil {
		return ""
	}
	for i, r := range groupRoles {
		if r.role == role {
			return UUIDOf(l.record.Data.Groups[i].ID)
		}
	}
	return ""
}

// madeNetwork returns the id of the cluster's network if CAPO made it. One that was there
// before is no mark: others may use it.
func (l *location) madeNetwork(id backup.ClusterID) string {
	if l.record == nil || l.record.Data.Network.Name != networkPrefix+resourceName(id) || given(l.record.Data.SpecNetwork) && !l.record.Data.manages() {
		return ""
	}
	return UUIDOf(l.record.Data.Network.ID)
}

// ownershipHints returns what connects servers that no machine explains with the clusters
// of the backup. CAPO puts no mark on a server, but makes its port: the port's name and
// description together with a security group that the backup records by id are what only
// CAPO writes for the cluster. On a network that was there before there is no such group:
// there the name of a MachineSet, which is random in part, stands for it, and no other
// name does. A name without CAPO's port is only a name.
func (objs *objects) ownershipHints() []infra.OwnershipHint {
	owners := capi.OwnersOf(objs.snapshot, objs.locations)
	var hints []infra.OwnershipHint
	for _, id := range objs.order() {
		l, whole := objs.locations[id], &infra.OwnerID{Cluster: id}
		for _, o := range owners[id] {
			hints = append(hints, objs.hintsOf(id, l, o)...)
		}
		for _, role := range []string{roleControlPlane, roleWorker} {
			g := l.group(role)
			if g == "" {
				continue
			}
			owner := whole
			if role == roleControlPlane {
				plane := capi.ControlPlane(objs.controlPlanes, id, "")
				owner = &plane
			}
			for _, c := range clusterNames(id) {
				hints = append(hints, infra.OwnershipHint{
					Grade: infra.Strong, Owner: owner, ControlPlane: role == roleControlPlane,
					Key:    infra.Key{Kind: keyGroup, Value: infra.Join(c, g)},
					Detail: fmt.Sprintf("it has a port that CAPO created for cluster %s, in the cluster's security group %s", c, g),
				})
			}
		}
		if n := l.madeNetwork(id); n != "" {
			hints = append(hints, infra.OwnershipHint{
				Grade: infra.LocationOnly, Key: infra.Key{Kind: KeyNetwork, Value: n}, Owner: whole,
				Detail: fmt.Sprintf("it is in network %s, which CAPO created for cluster %s/%s", n, id.Namespace, id.Name),
			})
		}
		// Up to Cluster API 1.6 servers are named after templates, which tell no owner. Another
		// cluster of the name may be on the network, too.
		if n := l.network(); n != "" {
			for _, c := range clusterNames(id) {
				hints = append(hints, infra.OwnershipHint{
					Grade: infra.NameOnly, Key: infra.Key{Kind: keyNetMade, Value: infra.Join(c, n)}, Owner: whole, ByName: true,
					Detail: fmt.Sprintf("it has a port that CAPO created for a cluster %s, in network %s", c, n),
				})
			}
		}
		for _, c := range clusterNames(id) {
			hints = append(hints, infra.OwnershipHint{
				Grade: infra.NameOnly, Key: infra.Key{Kind: keyLent, Value: c}, Owner: whole, ByName: true,
				Detail: fmt.Sprintf("it has a port that CAPO created for another server, of a machine of cluster %s that %s has", c, objs.snapshot.Subject().The()),
			})
		}
		hints = append(hints, infra.OwnershipHint{
			Grade: infra.NameOnly, Key: infra.Key{Kind: keyMark, Value: resourceName(id)}, Owner: whole, ByName: true,
			Detail: "it is in a security group or network with the name of cluster " + resourceName(id),
		})
	}
	return hints
}

// hintsOf returns those for one control plane, MachineSet or MachineDeployment.
func (objs *objects) hintsOf(id backup.ClusterID, l *location, o *infra.OwnerID) []infra.OwnershipHint {
	plane := o.Kind != "MachineSet" && o.Kind != "MachineDeployment"
	stem, two := naming.Stem(o.Name), o.Kind == "MachineDeployment"
	if two {
		stem = o.Name
	}
	pick := func(one, other infra.KeyKind) infra.KeyKind {
		if two {
			return other
		}
		return one
	}
	base := infra.OwnershipHint{Owner: o, ControlPlane: plane, Specificity: min(len(o.Name), len(stem))}
	is := fmt.Sprintf("its name is one that %s %s gives", o.Kind, o.Name)
	made := fmt.Sprintf("the name of the port is one that %s %s gives", o.Kind, o.Name)
	var hints []infra.OwnershipHint
	add := func(grade infra.Grade, byName bool, kind infra.KeyKind, detail string, parts ...string) {
		h := base
		h.Grade, h.ByName, h.Detail = grade, byName, detail
		h.Key = infra.Key{Kind: kind, Value: infra.Join(parts...)}
		hints = append(hints, h)
	}
	role := roleWorker
	if plane {
		role = roleControlPlane
	}
	if g := l.group(role); g != "" {
		for _, c := range clusterNames(id) {
			add(infra.Strong, false, pick(keyGroupStem, keyGroupTwo),
				fmt.Sprintf("it has a port that CAPO created for cluster %s, in the cluster's security group %s; %s", c, g, made), c, g, stem)
		}
		// CAPO makes the port of every machine: without one it may be anybody's.
		add(infra.NameOnly, true, pick(keyNamed, keyNamedTwo), fmt.Sprintf("it is in the cluster's security group %s, and %s; CAPO made no port for it", g, is), g, stem)
	} else if n := l.network(); n != "" {
		// Another cluster of that name may be on the network, of another namespace or
		// management cluster: its control plane and MachineDeployments are named alike,
		// its MachineSets are not.
		grade, byName := infra.NameOnly, true
		if o.Kind == "MachineSet" {
			grade, byName = infra.Strong, false
		}
		for _, c := range clusterNames(id) {
			add(grade, byName, pick(keyNetStem, keyNetTwo), fmt.Sprintf("it has a port that CAPO created for a cluster %s, in network %s; %s", c, n, made), c, n, stem)
		}
	}
	add(infra.NameOnly, true, pick(keyStem1, keyStem2), is, stem)
	return hints
}

// network returns the id of the cluster's network, whoever made it.
func (l *location) network() string {
	if l.record == nil {
		return ""
	}
	return UUIDOf(l.record.Data.Network.ID)
}

// Made is a port that CAPO made for a server.
type Made struct {
	Cluster string // as its description names it
	Name    string // of the server, when the port was made
	Port    string // its own name
	Network string
	Groups  []string // of those that the backup records
}

// of returns the name that CAPO gave the port's server. A port may have a suffix of its own, with
// dashes in it ("-storage-net"): the server's name says where it begins, if it is one that
// Cluster API gives and what is before the last dash is none.
func (p *Made) of(server string) string {
	if likely, _ := naming.Stems(p.Name); likely != "" {
		return p.Name
	}
	if own, _ := naming.Stems(server); own != "" && strings.HasPrefix(p.Port, server+"-") {
		return server
	}
	return p.Name
}

// ownerKeys returns those that a server has for what CAPO made for it and for its own name:
// the other side of ownershipHints. groups are security groups of the backup that it is
// in by any port, networks its networks by id.
func ownerKeys(name string, ports []Made, groups, networks []string) (keys []infra.Key) {
	add := func(kind infra.KeyKind, parts ...string) {
		keys = append(keys, infra.Key{Kind: kind, Value: infra.Join(parts...)})
	}
	for i := range ports {
		p := &ports[i]
		of := p.of(name)
		one, two := naming.Stems(of)
		for _, g := range p.Groups {
			add(keyGroup, p.Cluster, g)
			if one != "" {
				add(keyGroupStem, p.Cluster, g, one)
			}
			if two != "" {
				add(keyGroupTwo, p.Cluster, g, two)
			}
		}
		add(keyNetMade, p.Cluster, p.Network)
		if one != "" {
			add(keyNetStem, p.Cluster, p.Network, one)
		}
		if two != "" {
			add(keyNetTwo, p.Cluster, p.Network, two)
		}
		if of == name {
			add(keyMade, p.Cluster, name)
		}
	}
	one, two := naming.Stems(name)
	for _, g := range groups {
		if one != "" {
			add(keyNamed, g, one)
		}
		if two != "" {
			add(keyNamedTwo, g, two)
		}
	}
	for _, n := range networks {
		keys = append(keys, infra.Key{Kind: KeyNetwork, Value: n})
	}
	if one != "" {
		add(keyStem1, one)
	}
	if two != "" {
		add(keyStem2, two)
	}
	return keys
}

// Port is what a port of Neutron says of who made it and of who has it.
type Port struct {
	Name, Description string
	Device            string `json:"device_id"`
	Owner             string `json:"device_owner"` // read with a few ports alone
}

// MaxName bounds names; OpenStack's own limit is 255 characters.
const MaxName = 1024

// MadeFor reads from a port that CAPO made the cluster, as its description has it, and the
// name of the server that it was made for; both are empty for any other port. Ports of
// one server are numbered, or have a suffix of their own
// (getPortName in pkg/cloud/services/networking/port.go v0.14.7).
func (p *Port) MadeFor() (cluster, name string) {
	cluster, ok := strings.CutPrefix(p.Description, portDescription)
	i := strings.LastIndexByte(p.Name, '-')
	if !ok || cluster == "" || i <= 0 || len(p.Name) > MaxName || len(cluster) > MaxName {
		return "", ""
	}
	return strings.Clone(cluster), strings.Clone(p.Name[:i])
}

// Attached is what the ports of one server say.
type Attached struct {
	Made             []Made
	Groups, Networks []string // that the backup records, and that CAPO made
}

// Server is what the keys of a server are made of.
type Server struct {
	ID, Name string
	StandsIn bool // it may have the place of the machine of its name
	Ports    Attached
	Networks []string // names, sorted
	Groups   []string // names of its security groups
}

// KeysOf returns the keys of a server beside its id.
func (r *Recorded) KeysOf(s *Server) []infra.Key {
	keys := []infra.Key{{Kind: keyName, Value: s.Name}}
	if s.StandsIn {
		keys = append(keys, infra.Key{Kind: keyStandIn, Value: s.Name})
	}
	for _, name := range r.soughtBy(s.ID, s.Name) {
		keys = append(keys, infra.Key{Kind: KeySought, Value: name})
	}
	at := s.Ports
	if lent := func(p Made) bool { return r.lent(&p, s.ID, s.Name) }; slices.ContainsFunc(at.Made, lent) {
		for _, p := range at.Made {
			if lent(p) {
				keys = append(keys, infra.Key{Kind: keyLent, Value: p.Cluster})
			}
		}
		at.Made = slices.DeleteFunc(slices.Clone(at.Made), lent)
	}
	keys = append(keys, ownerKeys(s.Name, at.Made, at.Groups, at.Networks)...)
	marks := map[string]bool{}
	for _, n := range s.Networks {
		marks[markIn(n)] = true
	}
	for _, g := range s.Groups {
		mark := markIn(g)
		if mark != "" && !marks["\x00"+mark] {
			marks["\x00"+mark] = true
			keys = append(keys, infra.Key{Kind: infra.OwnerTag, Value: mark})
		}
		marks[mark] = true
	}
	for _, m := range sortedNames(marks) {
		if m != "" && m[0] != 0 {
			keys = append(keys, infra.Key{Kind: keyMark, Value: m})
		}
	}
	return keys
}

// markIn returns the cluster that the name of a security group or of a network names, as
// resourceName has it, or "".
func markIn(name string) string {
	if rest, ok := strings.CutPrefix(name, networkPrefix); ok {
		return rest
	}
	rest, ok := strings.CutPrefix(name, groupPrefix)
	if !ok {
		return ""
	}
	i := strings.LastIndex(rest, groupMiddle)
	if i < 0 {
		return ""
	}
	switch rest[i+len(groupMiddle):] {
	case roleControlPlane, roleWorker, roleBastion:
		return rest[:i]
	}
	return ""
}
