package list

import (
	"cmp"
	"encoding/json"
	"slices"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// noteManaged notes of a thing that exists whether it has its name, and whether another one
// has it. An administrator sees those that the backup's user may not.
func (l *listing) noteManaged(kind, id string, t *thingAnswer) {
	if k, asked := l.managed[kind+"/"+id]; asked && k.Value != kind+"/"+id+"/"+t.Name {
		l.ProbesFound = append(l.ProbesFound, k)
	}
	k := infra.Key{Kind: openstack.KeyNamesakes, Value: kind + "/" + t.Name}
	l.noteUsed(kind, id, t.Name)
	if !l.marks[k] || !l.cloud.own && t.Project != l.Identity {
		return
	}
	if first, seen := l.named[k]; !seen {
		l.named[k] = id
		l.found(openstack.KeyManaged, k.Value)
	} else if first != id {
		l.ProbesFound = append(l.ProbesFound, k)
	}
}

// noteUsed notes a security group of a name that is asked for whether anything is in it, and
// several of the name. An administrator sees those of other projects, too.
func (l *listing) noteUsed(kind, id, name string) {
	k := infra.Key{Kind: openstack.KeyUsed, Value: name}
	if kind != openstack.KeySecurity.String() || !l.marks[k] {
		return
	}
	if first := l.named[k]; first != "" && first != id {
		l.several(k)
	}
	l.named[k] = id
	if l.ports.used[id] {
		l.found(openstack.KeyUsed, name)
	}
}

// noteExternal notes an external network, and that it is not the only one. An
// administrator sees those that the backup's user may not.
func (l *listing) noteExternal(t *thingAnswer) {
	if !t.External || !l.cloud.own {
		return
	}
	l.found(openstack.KeyExternal, openstack.OneExternal)
	if l.external = cmp.Or(l.external, t.ID); l.external != t.ID {
		l.found(openstack.KeyExternal, openstack.SeveralExternal)
	}
}

// noteLost notes the floating IPs that a server is to have and has not.
func (l *listing) noteLost(server string, has []string) {
	for _, ip := range l.kept[server] {
		if !slices.Contains(has, ip) {
			l.found(openstack.KeyLost, infra.Join(server, ip))
		}
	}
}

// ownRules are the descriptions of rules that CAPO makes by itself
// (pkg/cloud/services/networking/securitygroups_rules.go v0.14.7, v0.15.0-beta.0).
var ownRules = []string{"Full open", "Node Port Services", "Etcd", "In-cluster Ingress", "Kubelet API", "Kubernetes API", "Additional port", "SSH", "Allow SSH", "Allow SSH legacy"}

// noteRules notes the rules of a security group that CAPO made, in the answer that names it.
func (l *listing) noteRules(t *thingAnswer) {
	if t.Rules == nil || !l.marks[infra.Key{Kind: openstack.KeyNamesakes, Value: openstack.KeySecurity.String() + "/" + t.Name}] {
		return
	}
	foreign := []string{}
	for _, r := range t.Rules {
		// Neutron gives every group rules for all that goes out, which CAPO takes for its own.
		out := r.Direction == "egress" && r.Protocol+r.IP+r.Group == ""
		if !out && !slices.Contains(ownRules, r.Description) {
			foreign = append(foreign, infra.Brief(r.Description))
		}
	}
	slices.Sort(foreign)
	text, _ := json.Marshal(slices.Compact(foreign))
	l.Facts = append(l.Facts, infra.Fact{Name: openstack.FactRules + "/" + t.Name, Value: string(text)})
}
