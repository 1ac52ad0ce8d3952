package aws

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of the network. Whether the VPC, the subnets and the overrides exist is a resource of
// the report.
var (
	rowA3 = &walk.Row{
		ID: "aws.A3", Of: clusterKind,
		Asks:      "its own tag on the VPC, which says that it created it",
		Differs:   walk.Writes.Says("CAPA takes the VPC for one that others created, or the other way round: it creates, tags and removes other things in it"),
		Refused:   "VPCs",
		Condition: conditionAsked,
		Source:    "reconcileVPC: pkg/cloud/services/network/vpc.go v2.2.0 to v2.13.0",
	}
	rowA13 = &walk.Row{
		ID: "aws.A13", Of: clusterKind,
		Asks:      "the route table of each subnet, among those that have its own tag, in a VPC that it created",
		None:      walk.Writes.Says("CAPA creates a route table for the subnet"),
		Differs:   walk.Halts.Says("CAPA does not see the table, creates another and cannot associate it with the subnet; it does nothing more for the cluster"),
		Refused:   "route tables",
		Condition: conditionAsked,
		Source:    "reconcileRouteTables, describeVpcRouteTables: pkg/cloud/services/network/routetables.go v2.0.0 to v2.13.0",
	}
	rowA16 = &walk.Row{
		ID: "aws.A16", Of: clusterKind,
		Asks:      "no securityGroupOverrides in a VPC that it created",
		Differs:   walk.Halts.Says("CAPA takes none, and does nothing more for the cluster"),
		Refused:   "VPCs",
		Condition: conditionAsked,
		Source:    "ReconcileSecurityGroups: pkg/cloud/services/securitygroup/securitygroups.go v2.0.0 to v2.13.0",
	}
	networkRows = []*walk.Row{rowA3, rowA9, rowA13, rowA16}
)

// Rows of security groups.
var (
	rowA17 = &walk.Row{
		ID: "aws.A17", Of: clusterKind,
		Asks:      "a security group for each role, by its name among those that have its own tag",
		Differs:   walk.Halts.Says("CAPA does not see the group, and AWS refuses to create another of its name; it does nothing more for the cluster"),
		Refused:   "security groups",
		Condition: conditionAsked,
		Source:    "describeSecurityGroupsByName, createSecurityGroup: pkg/cloud/services/securitygroup/securitygroups.go v2.0.0 to v2.13.0",
	}
	rowA18 = &walk.Row{
		ID: "aws.A18", Of: clusterKind,
		Asks:    "no ingress rule of these groups that the cluster's object does not ask for, by its description too",
		Differs: walk.Does{Effect: walk.Writes, What: "CAPA revokes every other rule, one that was opened since the backup too", Code: code.ChangesUndone},
		Source:  "ReconcileSecurityGroups: pkg/cloud/services/securitygroup/securitygroups.go; Equals: api/v1beta2/network_types.go v2.0.0 to v2.13.0",
	}
	groupRows = []*walk.Row{rowA17, rowA18}
)

// askNetwork asks what is decided by the VPC.
func (q *questions) askNetwork(id backup.ClusterID, s *clusterLocation) {
	if s.vpc == "" {
		return // CAPA makes it
	}
	object := "VPC " + s.vpc
	q.look(rowA3, id, infra.ClusterTitle(id), func(p *place) walk.Answer {
		made, open := p.madeVPC(id, s)
		switch {
		case p.undecided(KeyVPC):
			return walk.Answer{}
		case open.Found != "":
			return open
		case !p.sees(KeyVPC, s.vpc), made == s.madeVPC(id):
			return pass // that it is gone is said of the resource
		case made:
			return answer(walk.Differs, object, object+" has the tag "+TagOwner+id.Name+" now, and had not", "has no such tag")
		}
		return answer(walk.Differs, object, object+" lacks the tag "+TagOwner+id.Name+", which it had", "has the tag")
	})
	if slices.ContainsFunc(s.record.Data.Overrides[:], func(o string) bool { return o != "" }) {
		q.look(rowA16, id, infra.ClusterTitle(id), func(p *place) walk.Answer {
			made, open := p.madeVPC(id, s)
			if open.Found != "" || !made {
				return orPass(open)
			}
			return answer(walk.Differs, s.title(), fmt.Sprintf("%s has securityGroupOverrides, and CAPA created %s", s.title(), object), "has none")
		})
	}
	q.look(rowA9, id, infra.ClusterTitle(id), func(p *place) walk.Answer { return p.opened(id, s) })
	q.look(rowA13, id, infra.ClusterTitle(id), func(p *place) walk.Answer { return p.routed(id, s) })
}

func orPass(open walk.Answer) walk.Answer {
	if open.Found != "" {
		return open
	}
	return pass
}

// undecided reports whether probes of a kind could not be looked up, which is said of the
// resources.
func (p *place) undecided(kind infra.KeyKind) bool { return slices.Contains(p.listing.Unread, kind) }

// sees reports whether a probe was found.
func (p *place) sees(kind infra.KeyKind, value string) bool {
	return slices.Contains(p.listing.ProbesFound, infra.Key{Kind: kind, Value: value})
}

// madeVPC reports whether CAPA takes the cluster's VPC for its own.
func (p *place) madeVPC(id backup.ClusterID, s *clusterLocation) (bool, walk.Answer) {
	vpc, _, open := read[VPCFact](p, FactVPC, s.vpc, "VPC "+s.vpc)
	return slices.Contains(vpc.Owners, id.Name), open
}

// routed asks A13.
func (p *place) routed(id backup.ClusterID, s *clusterLocation) walk.Answer {
	if made, open := p.madeVPC(id, s); open.Found != "" || !made {
		return walk.Answer{} // A3 says what is open
	}
	tables, _, open := read[[]RoutesFact](p, FactRoutes, s.vpc, "VPC "+s.vpc)
	if open.Found != "" {
		return open
	}
	lacking := ""
	for i := range s.record.Data.Subnets {
		subnet := s.subnet(i)
		if !strings.HasPrefix(subnet, "subnet-") {
			continue
		}
		at := slices.IndexFunc(tables, func(t RoutesFact) bool { return slices.Contains(t.Subnets, subnet) })
		switch {
		case at < 0:
			lacking = subnet
		case !slices.Contains(tables[at].Owners, id.Name):
			object := "route table " + tables[at].ID
			return answer(walk.Differs, object, fmt.Sprintf("%s of subnet %s lacks the tag %s%s", object, subnet, TagOwner, id.Name), "has the tag")
		}
	}
	if lacking != "" {
		return answer(walk.None, "subnet "+lacking, "subnet "+lacking+" is associated with no route table", "is")
	}
	return pass
}

// groupName is what CAPA calls a security group.
type groupName struct {
	role int // index into securityGroupRoles
	name string
}

// groupNames returns those of the groups that CAPA looks for or makes, overrides left out.
func (s *clusterLocation) groupNames(id backup.ClusterID) []groupName {
	roles := []string{"controlplane", "apiserver-lb", "lb", "node"}
	if s.kind == planeKind {
		roles = []string{"node-eks-additional"}
	}
	if s.record.Data.BastionEnabled {
		roles = append(roles, "bastion")
	}
	var out []groupName
	for _, role := range roles {
		i := slices.Index(securityGroupRoles[:], role)
		if s.record.Data.Overrides[i] != "" {
			continue
		}
		prefix := id.Name
		if strings.HasPrefix(prefix, "sg-") {
			prefix = "@" + prefix
		}
		out = append(out, groupName{i, prefix + "-" + role})
	}
	return out
}

// askGroups asks for the security groups.
func (q *questions) askGroups(id backup.ClusterID, s *clusterLocation) {
	if s.vpc == "" {
		return
	}
	q.look(rowA17, id, infra.ClusterTitle(id), func(p *place) walk.Answer {
		for _, g := range s.groupNames(id) {
			object := "security group " + g.name
			group, there, open := read[GroupFact](p, FactGroup, infra.Join(s.vpc, g.name), object)
			switch {
			case open.Found != "":
				return open
			case there && !slices.Contains(group.Owners, id.Name):
				return answer(walk.Differs, object, fmt.Sprintf("%s (%s) lacks the tag %s%s", object, group.ID, TagOwner, id.Name), "has the tag")
			}
		}
		return pass
	})
	q.look(rowA18, id, infra.ClusterTitle(id), func(p *place) walk.Answer { return p.ruled(id, s) })
}

// ruled asks A18, which A17 leaves open where groups were not read.
func (p *place) ruled(id backup.ClusterID, s *clusterLocation) walk.Answer {
	var revoked, objects []string
	for _, g := range s.groupNames(id) {
		group, there, open := read[GroupFact](p, FactGroup, infra.Join(s.vpc, g.name), g.name)
		if open.Found != "" {
			return walk.Answer{}
		}
		if !there || !slices.Contains(group.Owners, id.Name) {
			continue
		}
		for _, r := range group.Foreign {
			if !s.asksFor(r.Description) {
				revoked = append(revoked, fmt.Sprintf("%s of %s", r.Rule, g.name))
				objects = append(objects, "security group "+g.name)
			}
		}
	}
	if revoked == nil {
		return pass
	}
	return walk.Answer{
		Found: walk.Differs, Why: s.title() + " does not ask for " + strings.Join(revoked[:min(3, len(revoked))], ", ") + more(len(revoked)-3),
		Until: "the rules are in " + s.title(), Objects: slices.Compact(objects),
	}
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// asksFor reports whether the cluster's object has a rule with a description.
func (s *clusterLocation) asksFor(description string) bool {
	return slices.ContainsFunc(s.record.Data.Rules[:], func(text string) bool { return strings.Contains(text, quoted(description)) })
}
