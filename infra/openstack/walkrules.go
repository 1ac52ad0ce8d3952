package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// The row of what CAPO sets back in the security groups that it made.
var rowC18c = &walk.Row{
	ID: "openstack.C18c", Of: clusterKind,
	Asks:      "the rules of the security groups that it created, which are to be those that the cluster's object asks for and its own; their descriptions do not count",
	None:      walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO creates a rule again that was taken away since the backup"},
	Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO deletes every other rule, one that was opened since the backup too"},
	Condition: code.InfrastructureUnasked,
	Source:    "reconcileGroupRules, Matches: pkg/cloud/services/networking/securitygroups.go v0.9.0 to v0.15.0-beta.0",
}

// FactRules names, with the name of a security group behind it, its id and its rules: a
// GroupFact in JSON.
const FactRules = "groupRules"

// GroupFact is what is read of a security group that CAPO made.
type GroupFact struct {
	ID    string
	Rules []string // the text of each, a space, and its description
}

// GroupRule is what is read of a rule of a security group.
type GroupRule struct {
	Description, Direction, Protocol, EtherType string
	Min                                         int    `json:"port_range_min"`
	Max                                         int    `json:"port_range_max"`
	IP                                          string `json:"remote_ip_prefix"`
	Group                                       string `json:"remote_group_id"`
}

// Text returns what CAPO compares of a rule (Matches in
// pkg/cloud/services/networking/securitygroups.go v0.14.7). Releases up to 0.14.6 compare the
// description as well, and make again what they delete for that.
func (r *GroupRule) Text() string {
	return fmt.Sprintf("%s %s %s %d %d %s %s", cmp.Or(r.Direction, "-"), cmp.Or(r.EtherType, "-"), cmp.Or(r.Protocol, "-"), r.Min, r.Max, cmp.Or(r.Group, "-"), cmp.Or(r.IP, "-"))
}

// askRules asks for what CAPO sets back.
func (q *questions) askRules(id backup.ClusterID, l *location) {
	var asked bool
	for _, m := range l.managed(id) {
		if m.kind == KeySecurity.String() {
			asked = true
			q.look(rowC18c, id, func(p *place) walk.Answer { return l.ruled(p, id, &m) })
		}
	}
	if !asked {
		q.Note(rowC18c, id, pass)
	}
}

// ruled asks C18c of one group.
func (l *location) ruled(p *place, id backup.ClusterID, of *managed) walk.Answer {
	object := of.thing + " " + of.name
	unseen := walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	groups := map[string]GroupFact{}
	for _, m := range l.managed(id) {
		if m.kind != KeySecurity.String() {
			continue
		}
		f, known := factOf[GroupFact](p, FactRules+"/"+m.name)
		switch {
		case !p.Finds(m.namedKey()):
			return walk.Answer{} // C18 says it
		case !known:
			return unseen
		}
		groups[m.role()] = f
	}
	want, known := l.wantedRules(of.role(), groups)
	if !known {
		return unseen
	}
	have := groups[of.role()].Rules
	is := func(rule, wanted string) bool { return strings.HasPrefix(rule, wanted+" ") }
	for _, rule := range have {
		if !slices.ContainsFunc(want, func(w string) bool { return is(rule, w) }) {
			return answer(walk.Differs, object, fmt.Sprintf("%s has a rule that is not CAPO's (%s)", object, strings.TrimSpace(rule)), "has the rule in spec.managedSecurityGroups")
		}
	}
	for _, w := range want {
		if !slices.ContainsFunc(have, func(rule string) bool { return is(rule, w) }) {
			return answer(walk.None, object, fmt.Sprintf("%s lacks a rule of CAPO's (%s)", object, w), "has the rule")
		}
	}
	return pass
}

// role returns that of the machines in a security group.
func (m *managed) role() string {
	return m.name[strings.LastIndexByte(m.name, '-')+1:]
}

// wantedRules returns the texts of the rules that CAPO gives to a group, unless they are not
// known (generateDesiredSecGroups in pkg/cloud/services/networking/securitygroups.go v0.11.0 to
// v0.15.0-beta.0).
func (l *location) wantedRules(role string, groups map[string]GroupFact) (texts []string, known bool) {
	d := &l.record.Data
	var spec struct {
		AllowAllInClusterTraffic                                                                                                       bool
		ControlPlaneNodesSecurityGroupRules, WorkerNodesSecurityGroupRules, AllNodesSecurityGroupRules, ClusterNodesSecurityGroupRules []specRule
	}
	if json.Unmarshal([]byte(d.ManagedGroups), &spec) != nil || l.release < withServers {
		return nil, false
	}
	add := func(r GroupRule) { texts = append(texts, r.Text()) }
	in := func(protocol string, from, to int, group string) {
		add(GroupRule{Direction: "ingress", EtherType: "IPv4", Protocol: protocol, Min: from, Max: to, Group: group})
	}
	add(GroupRule{Direction: "egress", EtherType: "IPv4"})
	add(GroupRule{Direction: "egress", EtherType: "IPv6"})
	self, bastion := groups[role].ID, groups[roleBastion].ID
	if role == roleBastion {
		in("tcp", 22, 22, "")
		return texts, true
	}
	other, more := groups[roleControlPlane].ID, spec.WorkerNodesSecurityGroupRules
	if role == roleControlPlane {
		other, more = groups[roleWorker].ID, spec.ControlPlaneNodesSecurityGroupRules
		in("tcp", 6443, 6443, "")
		for _, port := range d.balancerPorts() {
			in("tcp", port, port, "")
		}
	} else if known = l.nodePorts(in, add, self, other); !known {
		return nil, false
	}
	switch {
	case spec.AllowAllInClusterTraffic:
		in("", 0, 0, self)
		in("", 0, 0, other)
	case role == roleControlPlane:
		in("tcp", 2379, 2380, self)
		fallthrough
	default:
		in("tcp", 10250, 10250, self)
		in("tcp", 10250, 10250, other)
	}
	if d.bastioned() {
		in("tcp", 22, 22, bastion)
	}
	for _, r := range slices.Concat(more, spec.AllNodesSecurityGroupRules, spec.ClusterNodesSecurityGroupRules) {
		r.resolve(groups, add)
	}
	return texts, true
}

// nodePorts adds the rules of workers for the ports of services, unless the addresses of the
// cluster's subnets are not known.
func (l *location) nodePorts(in func(string, int, int, string), add func(GroupRule), groups ...string) bool {
	d := &l.record.Data
	subnets := d.CIDRs
	if cidr := d.nodeCIDR(); d.manages() && cidr != "" {
		subnets = []string{cidr}
	}
	for _, protocol := range []string{"tcp", "udp"} {
		for _, cidr := range subnets {
			if prefix, err := netip.ParsePrefix(cidr); err == nil && prefix.Addr().Is4() {
				add(GroupRule{Direction: "ingress", EtherType: "IPv4", Protocol: protocol, Min: 30000, Max: 32767, IP: cidr})
			}
		}
		for _, group := range groups {
			in(protocol, 30000, 32767, group)
		}
	}
	return len(subnets) > 0
}

// balancerPorts returns those of the load balancer beside the one of the API server.
func (c *clusterRecord) balancerPorts() (ports []int) {
	if c.balanced() {
		_ = json.Unmarshal([]byte(c.LBPorts), &ports) // absent in most
	}
	return ports
}

// specRule is a rule of spec.managedSecurityGroups.
type specRule struct {
	Direction, EtherType, Protocol, RemoteGroupID, RemoteIPPrefix string
	PortRangeMin, PortRangeMax                                    int
	RemoteManagedGroups                                           []string
}

// resolve adds the rules that one of spec means. One that names no EtherType CAPO deletes and
// makes again each time, and Neutron makes it for IPv4.
func (r *specRule) resolve(groups map[string]GroupFact, add func(GroupRule)) {
	of := GroupRule{Direction: r.Direction, EtherType: cmp.Or(r.EtherType, "IPv4"), Protocol: r.Protocol, Min: r.PortRangeMin, Max: r.PortRangeMax, Group: r.RemoteGroupID, IP: r.RemoteIPPrefix}
	if len(r.RemoteManagedGroups) == 0 {
		add(of)
	}
	for _, role := range r.RemoteManagedGroups {
		of.Group = groups[role].ID
		add(of)
	}
}
