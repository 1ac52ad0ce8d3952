package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

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
	Refused:   "the release of CAPO, which the backup does not show, where v0.14 makes other ports than v0.13",
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
// v0.11.0 to v0.15.0-beta.0).
type bastionCheck struct {
	*location
	server         *osServer
	network, group bool // made by CAPO, and their ids are in the server's ports
	named          bool // the network of a port is the cluster's, which was given by a filter
	doubt          bool // not all of it can be compared
	older          bool // only older releases that may have run make its ports so
}

// differs returns the member of spec that differs, or "".
func (c *bastionCheck) differs() string {
	var want, have map[string]any
	_ = json.Unmarshal([]byte(c.record.Data.BastionSpec), &want)
	_ = json.Unmarshal([]byte(c.server.Rest), &have)
	if want == nil {
		want = map[string]any{}
	}
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
			return member
		}
	}
	if c.server.UserData {
		return "userDataRef"
	}
	for i, form := range c.forms() {
		if c.samePorts(form) {
			c.older = i > 0
			return ""
		}
	}
	return "ports"
}

// portForm is how CAPO makes the ports of a bastion, by releases that make them alike.
type portForm int

const (
	// withoutGroups is v0.11.0, which leaves spec.securityGroups of a bastion out.
	withoutGroups portForm = iota
	// withGroups are releases from v0.11.1 on, which add them to those of each port.
	withGroups
	// withSubnets are those from v0.14 on, where a port in the cluster's network has the fixed IPs of
	// the cluster's spec.subnets in the place of its own, and one without port security is not put
	// into the group of bastions.
	withSubnets
)

// forms returns the forms of the releases that may have run, the newest first: what that makes in
// another way than older ones only it can have made. That v0.11.0 alone ran has to be shown: more likely
// groups that a server lacks were asked for since.
func (c *bastionCheck) forms() []portForm {
	form := func(v *version.Version) portForm {
		switch {
		case v.LessThan(version.MustParseSemantic("0.11.1")):
			return withoutGroups
		case v.LessThan(version.MustParseSemantic("0.14.0-alpha.0")):
			return withGroups
		}
		return withSubnets
	}
	switch {
	case c.dated:
		return slices.DeleteFunc([]portForm{withSubnets, withGroups, withoutGroups}, func(f portForm) bool {
			return !slices.ContainsFunc(c.versions, func(v *version.Version) bool { return form(v) == f })
		})
	case c.release >= recording:
		return []portForm{withSubnets}
	}
	return []portForm{withSubnets, withGroups}
}

// samePorts compares the ports.
func (c *bastionCheck) samePorts(form portForm) bool {
	var want struct{ Ports, SecurityGroups []any }
	var have []map[string]any
	_ = json.Unmarshal([]byte(c.record.Data.BastionSpec), &want)
	_ = json.Unmarshal([]byte(c.server.Wish.Ports), &have)
	if len(want.Ports) == 0 {
		want.Ports = []any{map[string]any{}}
	}
	if len(want.Ports) != len(have) {
		return false
	}
	for i := range have {
		port, _ := want.Ports[i].(map[string]any)
		if port == nil {
			port = map[string]any{}
		}
		if off, said := port["disablePortSecurity"].(bool); said && c.release >= recording { // as v1beta2 has it
			delete(port, "disablePortSecurity")
			port["enablePortSecurity"] = !off
		}
		c.aim(port, have[i], form)
		c.guard(port, have[i], form)
		if form >= withGroups {
			port["securityGroups"] = slices.Concat(listOf(port["securityGroups"]), want.SecurityGroups)
		}
		if !reflect.DeepEqual(withoutNothing(port), withoutNothing(have[i])) {
			return false
		}
	}
	return true
}

// aim puts a port without a network into the cluster's.
func (c *bastionCheck) aim(port, have map[string]any, form portForm) {
	d := &c.record.Data
	if port["network"] != nil {
		return
	}
	if form >= withSubnets {
		var subnets []any
		text := d.SpecSubnets
		if given(d.PrimarySubnet) {
			text = "[" + d.PrimarySubnet + "]"
		}
		_ = json.Unmarshal([]byte(text), &subnets)
		for i := range subnets {
			subnets[i] = map[string]any{"subnet": subnets[i]}
		}
		port["fixedIPs"] = subnets
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
func (c *bastionCheck) guard(port, have map[string]any, form portForm) {
	d := &c.record.Data
	off := port["disablePortSecurity"] == true || port["enablePortSecurity"] == false
	if !d.makesGroups() || off && form >= withSubnets || len(listOf(port["securityGroups"])) > 0 {
		return
	}
	c.group = true
	group := d.Groups[len(groupRoles)-1].ID
	if has := listOf(have["securityGroups"]); group == "" && len(has) > 0 {
		port["securityGroups"], c.doubt = has[:1], true
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
	case c.older:
		return walk.Answer{Found: walk.Unread, Why: object + " has the ports that CAPO up to v0.13 makes, v0.14 makes others of the same objects, and the backup does not show which release ran", Objects: []string{object}}
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
