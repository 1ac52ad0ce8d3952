package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// The row of the bastion.
var rowC29 = &walk.Row{
	ID: "openstack.C29", Of: clusterKind,
	Asks:      "the OpenStackServer of the bastion, which has to be in all as spec.bastion specifies it, and name the cluster's network and security group by the ids that they have now, and whose server is found by its name as those of machines are; in release 0.10 a hash of the bastion, with the ids that its image and server group have now",
	Several:   walk.Does{Effect: walk.Writes, Code: code.MachinesHalted, What: "CAPO takes none of several servers that a search for the bastion's name finds (DuplicateServerNames): the bastion is never ready, and gets neither its floating IP nor its place among the allowed CIDRs back"},
	Differs:   walk.Does{Effect: walk.Replaces, Code: code.MachinesDeleted, What: "CAPO deletes the bastion with its server and creates another"},
	Versions:  "v0.10 and later",
	Condition: code.InfrastructureUnasked,
	Source:    "reconcileBastionServer: controllers/openstackcluster_controller.go v0.11.0 to v0.15.0-beta.0; reconcileBastion, bastionHashHasChanged v0.10.0; GetInstanceStatusByName: pkg/cloud/services/compute/instance.go v0.11.0 to v0.15.0-beta.0",
}

// askBastion asks C29 of what the objects say in the same words.
func (q *questions) askBastion(id backup.ClusterID, l *location) {
	d := &l.record.Data
	name := id.Name + "-" + roleBastion
	server := q.objs.servers[capi.Object{Backup: id.Backup, Namespace: id.Namespace, Name: name}]
	if d.bastioned() && l.release == withoutServers {
		q.Note(rowC29, id, d.hashed(infra.ClusterTitle(id)))
	}
	if server == nil || !d.bastioned() || l.release < withServers {
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

// hashed asks C29 of release 0.10: a restore takes away the ids in status.bastion.resolved, and a name
// may be another image's by now.
func (c *clusterRecord) hashed(of string) walk.Answer {
	var spec struct{ Image, ServerGroup json.RawMessage }
	_ = json.Unmarshal([]byte(c.BastionSpec), &spec)
	if group := paramOf(string(spec.ServerGroup)); paramOf(string(spec.Image)).id != "" && (!group.given || group.id != "") {
		return pass
	}
	return walk.Answer{Found: walk.Unseen, Objects: []string{roleBastion + " of " + of}}
}

// bastionCheck compares what CAPO makes of spec.bastion with the OpenStackServer
// (openStackMachineSpecToOpenStackServerSpec in controllers/openstackmachine_controller.go
// v0.11.0 to v0.14.7).
type bastionCheck struct {
	*location
	server         *osServer
	network, group bool // made by CAPO, and their ids are in the server's ports
	named          bool // the network of a port is the cluster's, which was given by a filter
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
		c.named = true
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
	if c.named {
		switch network, known := c.meantNetwork(p); {
		case !known:
			doubt = true
		case network != c.location.network():
			return answer(walk.Differs, object, fmt.Sprintf("%s names network %s, and the object of the cluster leads to network %s now", object, c.location.network(), network), "names the one that the object of the cluster leads to")
		}
	}
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
	switch name := id.Name + "-" + roleBastion; {
	case p.twins(name):
		return answer(walk.Several, object, fmt.Sprintf("%s has several servers that a search for %s finds", p.title(), name), "is found alone: the owner of another one renames that")
	case doubt:
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	}
	return pass
}

// twins reports whether Nova finds several servers by a name that is no machine's. Servers are looked
// through once for each way in which names have dots.
func (p *place) twins(name string) bool {
	at := dotsOf(name)
	way := fmt.Sprint(at)
	if p.sought[way] == nil {
		found := map[string]int{}
		note := func(i *infra.Instance) {
			if !i.Gone {
				found[dotted(sought(i.Name), at)]++
			}
		}
		for i := range p.Instances {
			note(&p.Instances[i])
		}
		for i := range p.Unrelated.All() {
			note(&i)
		}
		p.sought[way] = found
	}
	return p.sought[way][name] > 1
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
