package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of what CAPO sets back: rules of the security groups that it made, and the bastion.
var (
	rowC18c = &walk.Row{
		ID: "openstack.C18c", Of: clusterKind,
		Asks:      "no rule in the security groups that it created that the cluster's object does not ask for; here their descriptions say whose they are",
		Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO deletes every other rule, one that was opened since the backup too"},
		Condition: code.InfrastructureUnasked,
		Source:    "reconcileGroupRules, Matches: pkg/cloud/services/networking/securitygroups.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC29 = &walk.Row{
		ID: "openstack.C29", Of: clusterKind,
		Asks:     "the OpenStackServer of the bastion, which has to be as spec.bastion specifies it",
		Differs:  walk.Does{Effect: walk.Replaces, Code: code.MachinesDeleted, What: "CAPO deletes the bastion with its server and creates another"},
		Versions: "v0.11 and later",
		Source:   "reconcileBastionServer: controllers/openstackcluster_controller.go v0.11.0 to v0.15.0-beta.0",
	}
	ruleRows = []*walk.Row{rowC18c, rowC29}
)

// FactRules names, with the name of a security group behind it, the descriptions of its rules
// that are none of CAPO's, in JSON.
const FactRules = "rules"

// askRules asks for what CAPO sets back.
func (q *questions) askRules(id backup.ClusterID, l *location) {
	var asked bool
	for _, m := range l.managed(id) {
		if m.kind == KeySecurity.String() {
			asked = true
			q.look(rowC18c, id, func(p *place) walk.Answer { return l.ruled(p, &m) })
		}
	}
	if !asked {
		q.Note(rowC18c, id, pass)
	}
	q.askBastion(id, l)
}

// ruled asks C18c of one group.
func (l *location) ruled(p *place, m *managed) walk.Answer {
	object := m.thing + " " + m.name
	text, known := p.Facts.Get(FactRules + "/" + m.name)
	var foreign []string
	switch {
	case !p.found[m.namedKey()]:
		return walk.Answer{} // C18 says it
	case !known || json.Unmarshal([]byte(text), &foreign) != nil:
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	}
	wanted := l.record.Data.ManagedGroups
	for _, description := range foreign {
		quoted, _ := json.Marshal(description)
		switch {
		case strings.Contains(wanted, string(quoted)):
		case description == "" && strings.Contains(wanted, `SecurityGroupRules"`):
			return walk.Answer{Found: walk.Unseen, Objects: []string{object}} // it may be one of these
		default:
			return answer(walk.Differs, object, fmt.Sprintf("%s has a rule that is not CAPO's (description %q)", object, description), "has the rule in spec.managedSecurityGroups")
		}
	}
	return pass
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
	w, object := &server.Data.Wish, serverKind+" "+server.Namespace+"/"+name
	for _, m := range [...]struct{ name, want, have string }{
		{"flavor", string(want.Flavor), w.Flavor},
		{"flavorID", quotedText(want.FlavorID), quotedText(w.FlavorID)},
		{"image", string(want.Image), w.Image},
		{"serverGroup", string(want.ServerGroup), w.ServerGroup},
		{"sshKeyName", quotedText(want.SSHKeyName), quotedText(w.KeyPair)},
	} {
		if !sameJSON(m.want, m.have) {
			q.Note(rowC29, id, answer(walk.Differs, object, fmt.Sprintf("%s has another %s than spec.bastion of %s %s/%s", object, m.name, clusterKind, l.record.Namespace, l.record.Name), "is as spec.bastion has it"))
			return
		}
	}
	mine, its := d.Identity, server.Data.Identity
	mine.Type, its.Type = cmp.Or(mine.Type, secretKind), cmp.Or(its.Type, secretKind)
	if mine != its {
		q.Note(rowC29, id, answer(walk.Differs, object, object+" has another identityRef than its cluster", "has that of its cluster"))
		return
	}
	q.Note(rowC29, id, pass)
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
