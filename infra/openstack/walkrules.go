package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of what CAPO sets back: rules of the security groups that it made, and the bastion.
var (
	rowC18c = &walk.Row{
		ID: "openstack.C18c", Of: clusterKind,
		Asks:      "the rules of the security groups that it created, which are to be those that the cluster's object asks for and its own; their descriptions do not count",
		None:      walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO creates a rule again that was taken away since the backup"},
		Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO deletes every other rule, one that was opened since the backup too"},
		Condition: code.InfrastructureUnasked,
		Source:    "reconcileGroupRules, Matches: pkg/cloud/services/networking/securitygroups.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC29 = &walk.Row{
		ID: "openstack.C29", Of: clusterKind,
		Asks:      "the OpenStackServer of the bastion, which has to be in all as spec.bastion specifies it, and name the cluster's network and security group by the ids that they have now",
		Differs:   walk.Does{Effect: walk.Replaces, Code: code.MachinesDeleted, What: "CAPO deletes the bastion with its server and creates another"},
		Versions:  "v0.11 and later",
		Condition: code.InfrastructureUnasked,
		Source:    "reconcileBastionServer: controllers/openstackcluster_controller.go v0.11.0 to v0.15.0-beta.0",
	}
	ruleRows = []*walk.Row{rowC18c, rowC29}
)

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
	q.askBastion(id, l)
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
		case !p.found[m.namedKey()]:
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
	if d.BastionEnabled {
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

// resolve adds the rules that one of spec stands for. One that names no EtherType CAPO deletes and
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

// askBastion asks C29 of what the objects say in the same words.
func (q *questions) askBastion(id backup.ClusterID, l *location) {
	d := &l.record.Data
	name := id.Name + "-" + roleBastion
	server := q.objs.servers[capi.Object{Backup: id.Backup, Namespace: id.Namespace, Name: name}]
	if server == nil || !d.BastionEnabled || l.release < withServers {
		return
	}
	var want struct {
		Flavor, Image, ServerGroup json.RawMessage
		FlavorID, SSHKeyName       string
	}
	_ = json.Unmarshal([]byte(d.BastionSpec), &want)
	if l.release >= recording { // a flavor is named as other things are, and the server's by its text
		if flavor := paramOf(string(want.Flavor)); strings.HasPrefix(string(want.Flavor), "{") {
			want.FlavorID, want.Flavor = flavor.id, nil
			if flavor.name != "" {
				want.Flavor = json.RawMessage(quotedText(flavor.name))
			}
		}
	}
	w, object := &server.Data.Wish, serverKind+" "+server.Namespace+"/"+name
	differs := func(member string) walk.Answer {
		return answer(walk.Differs, object, fmt.Sprintf("%s has another %s than spec.bastion of %s %s/%s", object, member, clusterKind, l.record.Namespace, l.record.Name), "is as spec.bastion has it")
	}
	for _, m := range [...]struct{ name, want, have string }{
		{"flavor", string(want.Flavor), w.Flavor},
		{"flavorID", quotedText(want.FlavorID), quotedText(w.FlavorID)},
		{"image", string(want.Image), w.Image},
		{"serverGroup", string(want.ServerGroup), w.ServerGroup},
		{"sshKeyName", quotedText(want.SSHKeyName), quotedText(w.KeyPair)},
	} {
		if !sameJSON(m.want, m.have) {
			q.Note(rowC29, id, differs(m.name))
			return
		}
	}
	mine, its := d.Identity, server.Data.Identity
	mine.Type, its.Type = cmp.Or(mine.Type, secretKind), cmp.Or(its.Type, secretKind)
	if mine != its {
		q.Note(rowC29, id, answer(walk.Differs, object, object+" has another identityRef than its cluster", "has that of its cluster"))
		return
	}
	c := bastionCheck{location: l, server: &server.Data}
	if name := c.differs(); name != "" {
		q.Note(rowC29, id, differs(name))
		return
	}
	q.look(rowC29, id, func(p *place) walk.Answer { return c.found(p, id, object) })
}

// rest are the members of spec of an OpenStackServer that are compared as they are, beside those
// that other rows ask for.
var rest = []string{"additionalBlockDevices", "availabilityZone", "configDrive", "floatingIPPoolRef", "rootVolume", "schedulerHintAdditionalProperties", "securityGroups", "serverMetadata", "tags", "trunk"}

func restOf(prefix string) []string {
	all := make([]string, len(rest))
	for i, member := range rest {
		all[i] = prefix + member
	}
	return all
}

// bastionCheck compares what CAPO makes of spec.bastion with the OpenStackServer
// (openStackMachineSpecToOpenStackServerSpec in controllers/openstackmachine_controller.go
// v0.11.0 to v0.14.7).
type bastionCheck struct {
	*location
	server         *osServer
	network, group bool // made by CAPO, and their ids are in the server's ports
	doubt          bool // not all of it can be compared
}

// differs returns the member of spec that differs, or "".
func (c *bastionCheck) differs() string {
	var want, have map[string]any
	_ = json.Unmarshal([]byte(c.record.Data.BastionSpec), &want)
	_ = json.Unmarshal([]byte(c.server.Rest), &have)
	if want == nil {
		want = map[string]any{}
	}
	groups := listOf(want["securityGroups"])
	delete(want, "securityGroups") // they are in the ports
	want["availabilityZone"] = nil
	if zone := c.record.Data.BastionZone; zone != "" {
		want["availabilityZone"] = zone
	}
	if want["trunk"] == false {
		delete(want, "trunk")
	}
	want["tags"] = c.tags(listOf(want["tags"]))
	for _, member := range rest {
		if !reflect.DeepEqual(withoutNothing(want[member]), withoutNothing(have[member])) {
			return c.unlessNewer(member)
		}
	}
	if c.server.UserData {
		return "userDataRef"
	}
	if !c.samePorts(listOf(want["ports"]), groups) {
		return c.unlessNewer("ports")
	}
	return ""
}

// unlessNewer returns the member, unless the release has other forms of it, which are not compared.
func (c *bastionCheck) unlessNewer(member string) string {
	if c.release >= recording {
		c.doubt = true
		return ""
	}
	return member
}

// samePorts compares the ports. groups are those of spec.securityGroups, which some releases add
// to each port, and some of them to spec itself.
func (c *bastionCheck) samePorts(want, groups []any) bool {
	var have []map[string]any
	_ = json.Unmarshal([]byte(c.server.Wish.Ports), &have)
	if len(want) == 0 {
		want = []any{map[string]any{}}
	}
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		port, _ := want[i].(map[string]any)
		if port == nil {
			port = map[string]any{}
		}
		c.aim(port, have[i])
		c.guard(port, have[i])
		if groups != nil {
			port["securityGroups"], c.doubt = have[i]["securityGroups"], true
		}
		if !reflect.DeepEqual(withoutNothing(port), withoutNothing(have[i])) {
			return false
		}
	}
	return true
}

// aim puts a port without a network into the cluster's.
func (c *bastionCheck) aim(port, have map[string]any) {
	d := &c.record.Data
	if port["network"] != nil {
		return
	}
	var subnets []any
	_ = json.Unmarshal([]byte(d.SpecSubnets), &subnets)
	for i := range subnets {
		subnets[i] = map[string]any{"subnet": subnets[i]}
	}
	if port["fixedIPs"] = subnets; subnets != nil && have["fixedIPs"] == nil {
		delete(port, "fixedIPs") // as releases up to 0.13 leave it
		c.doubt = true
	}
	switch {
	case d.Network.ID == "":
		port["network"], c.doubt = have["network"], true
		return
	case d.manages():
		c.network = true
	case paramOf(d.SpecNetwork).id == "":
		c.doubt = true // found by its name, maybe another one by now
	}
	port["network"] = map[string]any{"id": d.Network.ID}
}

// guard puts a port without security groups into that of bastions.
func (c *bastionCheck) guard(port, have map[string]any) {
	d := &c.record.Data
	if !d.makesGroups() || port["disablePortSecurity"] == true || len(listOf(port["securityGroups"])) > 0 {
		return
	}
	c.group = true
	group := d.Groups[len(groupRoles)-1].ID
	if group == "" && have["securityGroups"] != nil {
		port["securityGroups"], c.doubt = have["securityGroups"], true
		return
	}
	port["securityGroups"] = []any{map[string]any{"id": group}}
}

// found asks whether the ids in the server's ports are still those that CAPO finds by name.
func (c *bastionCheck) found(p *place, id backup.ClusterID, object string) walk.Answer {
	doubt := c.doubt
	for _, m := range c.managed(id) {
		if m.kind == KeyNetwork.String() && c.network || m.kind == KeySecurity.String() && c.group && strings.HasSuffix(m.name, groupMiddle+roleBastion) {
			switch same, known := m.same(p); {
			case !known:
				doubt = true
			case !same:
				return answer(walk.Differs, object, fmt.Sprintf("%s names %s %s, which is not called %s any more", object, m.thing, m.id, m.name), "names the one that is called so")
			}
		}
	}
	if doubt {
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	}
	return pass
}

// same reports whether the thing that CAPO finds by its name has the id that the backup records.
func (m *managed) same(p *place) (same, known bool) {
	here, named := idKey(infra.KeyKindOf(m.kind), m.id), m.namedKey()
	switch {
	case here.IsZero(), p.silent(named), p.silent(here):
		return false, false
	case p.found[m.renamedKey()], !p.found[named], !p.found[here]:
		return false, true
	}
	return true, true
}

func listOf(of any) []any {
	list, _ := of.([]any)
	return list
}

// tags returns those of the bastion and of the cluster, each once.
func (c *bastionCheck) tags(own []any) (tags []any) {
	seen := map[string]bool{}
	for _, tag := range c.record.Data.Tags {
		own = append(own, tag)
	}
	for _, tag := range own {
		if text, _ := tag.(string); !seen[text] {
			seen[text] = true
			tags = append(tags, text)
		}
	}
	return tags
}

// withoutNothing returns JSON without null and without empty lists, which say the same as what is absent.
func withoutNothing(of any) any {
	switch v := of.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if member = withoutNothing(member); member != nil {
				out[name] = member
			}
		}
		return out
	case []any:
		var out []any
		for _, one := range v {
			out = append(out, withoutNothing(one))
		}
		if out == nil {
			return nil
		}
		return out
	}
	return of
}

func quotedText(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// sameJSON reports whether two texts of JSON say the same; an empty one says null.
func sameJSON(a, b string) bool {
	var x, y any
	if a != "" && json.Unmarshal([]byte(a), &x) != nil || b != "" && json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}
