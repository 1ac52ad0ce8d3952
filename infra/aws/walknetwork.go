package aws

import (
	"encoding/json"
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
	rowA2 = &walk.Row{
		ID: "aws.A2", Of: clusterKind,
		Asks:   "the id of its VPC in spec.network.vpc, once it has written one",
		None:   walk.Does{Effect: walk.Writes, Code: code.OutcomeUnknown, What: "CAPA takes the VPC whose tag Name is CLUSTER-vpc and that has its own tag, and does nothing where it lacks that one; where there is none, and up to v2.3, it creates another network beside the one that the cluster is in"},
		Source: "reconcileVPC, describeVPCByName: pkg/cloud/services/network/vpc.go v2.0.0 to v2.13.0",
	}
	rowA3 = &walk.Row{
		ID: "aws.A3", Of: clusterKind,
		Asks:      "its own tag on the VPC, which says that it created it",
		Differs:   walk.Does{Effect: walk.Writes, What: "CAPA takes the VPC for one that others created, or the other way round: it creates, tags and removes other things in it", Code: code.ResourceMade},
		Refused:   "VPCs",
		Condition: conditionAsked,
		Source:    "reconcileVPC: pkg/cloud/services/network/vpc.go v2.2.0 to v2.13.0",
	}
	rowA13 = &walk.Row{
		ID: "aws.A13", Of: clusterKind,
		Asks:      "the route table of each subnet, among those that have its own tag, in a VPC that it created",
		None:      walk.Does{Effect: walk.Writes, What: "CAPA creates a route table for the subnet", Code: code.ResourceMade},
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
	rowA31 = &walk.Row{
		ID: "aws.A31", Of: clusterKind,
		Asks:      "what it sets back, and no call shows: security groups, subnets, attributes and health checks of its load balancers, where its routes lead, rules for groups and for its own addresses that were taken away, those of the VPC's default group where spec empties it, secondary CIDR blocks of the VPC, elastic addresses of a pool, the bucket of spec.s3Bucket and its policy; of EKS the policies of its roles, logging, upgrade policy, tags of node groups and their autoscaling groups, entries of aws-auth that were taken out (which fails where the profile of a worker has the name of no IAM role), and kube-proxy and the VPC CNI where spec disables them",
		Condition: conditionAsked,
		Source:    "pkg/cloud/services/elb/loadbalancer.go, network/routetables.go, network/secondarycidr.go, securitygroup/securitygroups.go, ec2/eip.go, s3/s3.go, eks/iam/iam.go, eks/cluster.go, eks/tags.go, iamauth/reconcile.go, kubeproxy/reconcile.go, awsnode/cni.go v2.0.0 to v2.13.0",
	}
	networkRows = []*walk.Row{rowA2, rowA3, rowA6, rowA9, rowA10, rowA11, rowA12, rowA13, rowA16, rowA31}
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
		Asks:      "the ingress rules of these groups that the cluster's object asks for, by their descriptions too, and no others",
		None:      walk.Does{Effect: walk.Writes, What: "CAPA adds the rules that the group lacks", Code: code.ChangesUndone},
		Differs:   walk.Does{Effect: walk.Writes, What: "CAPA revokes every other rule, one that was opened since the backup too", Code: code.ChangesUndone},
		Condition: conditionAsked,
		Source:    "ReconcileSecurityGroups: pkg/cloud/services/securitygroup/securitygroups.go; Equals: api/v1beta2/network_types.go v2.0.0 to v2.13.0",
	}
	groupRows = []*walk.Row{rowA17, rowA18}
)

// askNetwork asks what is decided by the VPC.
func (q *questions) askNetwork(id backup.ClusterID, s *clusterLocation) {
	if s.vpc == "" && !s.built {
		q.Note(rowA31, id, pass)
		return // CAPA makes it
	}
	q.Note(rowA31, id, walk.Answer{Found: walk.Unseen, Objects: []string{s.title()}})
	if s.vpc == "" {
		q.Note(rowA2, id, answer(walk.None, s.title(), s.title()+" names no VPC, and machines or the endpoint of its API server are in the backup", "names the VPC that these are in"))
		return
	}
	q.Note(rowA2, id, pass)
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
		case made && s.record.Data.VPCTags == "": // CAPA records all tags of the VPC, so that it had none, or has not been looked at
			return walk.Answer{Found: walk.Unseen, Objects: []string{s.title()}}
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
	for _, ask := range []struct {
		row *walk.Row
		of  func(*place, backup.ClusterID, *clusterLocation) walk.Answer
	}{{rowA6, (*place).subnetted}, {rowA9, (*place).opened}, {rowA10, (*place).gated}, {rowA12, (*place).led}, {rowA13, (*place).routed}} {
		q.look(ask.row, id, infra.ClusterTitle(id), func(p *place) walk.Answer { return ask.of(p, id, s) })
	}
	q.look(rowA11, id, infra.ClusterTitle(id), func(p *place) walk.Answer { return p.natted(id, s, q.releases[id.Backup]) })
}

func orPass(open walk.Answer) walk.Answer {
	if open.Found != "" {
		return open
	}
	return pass
}

// undecided reports whether probes of a kind could not be looked up, which is said of the
// resources.
func (p *place) undecided(kind infra.KeyKind) bool { return slices.Contains(p.Unread, kind) }

// sees reports whether a probe was found.
func (p *place) sees(kind infra.KeyKind, value string) bool {
	return p.Finds(infra.Key{Kind: kind, Value: value})
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
	real, _, _ := read[[]SubnetFact](p, FactSubnets, s.vpc, s.vpc)
	lacking := ""
	for _, n := range s.specSubnets() {
		subnet := n.idIn(real)
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

// ownRule is a rule that CAPA makes by itself: its description, what it is for, where that is
// fixed, and whether it is for addresses, and not for groups of the cluster.
type ownRule struct {
	description, of string
	addresses       bool
}

// ownRules are those of each role (getSecurityGroupIngressRules in
// pkg/cloud/services/securitygroup/securitygroups.go and the default of spec.network.cni in api/v1beta2
// v2.0.0 to v2.13.0).
var ownRules = map[string][]ownRule{
	"controlplane": {
		{description: "Kubernetes API"},
		{description: "etcd", of: "tcp 2379-2379"},
		{description: "etcd peer", of: "tcp 2380-2380"},
		{description: "SSH", of: "tcp 22-22"},
		{description: "bgp (calico)"},
		{description: "IP-in-IP (calico)"},
	},
	"node": {
		{description: "Node Port Services", of: "tcp 30000-32767", addresses: true},
		{description: "Kubelet API", of: "tcp 10250-10250"},
		{description: "SSH", of: "tcp 22-22"},
		{description: "bgp (calico)"},
		{description: "IP-in-IP (calico)"},
	},
	"node-eks-additional": {{description: "SSH", of: "tcp 22-22"}},
	"apiserver-lb":        {{description: "Kubernetes API", addresses: true}, {description: "Kubernetes API IPv6", addresses: true}},
	"bastion":             {{description: "SSH", of: "tcp 22-22", addresses: true}},
	"lb":                  {{description: "Allow NLB traffic to the control plane instances.", addresses: true}},
}

// ruled asks A18, which A17 leaves open where groups were not read.
func (p *place) ruled(id backup.ClusterID, s *clusterLocation) walk.Answer {
	var revoked, objects []string
	var lacks walk.Answer
	unseen := false
	for _, g := range s.groupNames(id) {
		group, there, open := read[GroupFact](p, FactGroup, infra.Join(s.vpc, g.name), g.name)
		if open.Found != "" {
			return walk.Answer{}
		}
		if !there || !slices.Contains(group.Owners, id.Name) {
			continue
		}
		for _, r := range group.Rules {
			switch asked, known := p.asksFor(id, s, g.role, r); {
			case !known:
				unseen = true
			case !asked:
				revoked = append(revoked, fmt.Sprintf("%s of %s", r.Rule, g.name))
				objects = append(objects, "security group "+g.name)
			}
		}
		rule, uncertain := s.lacking(g.role, group.Rules)
		unseen = unseen || uncertain
		if rule != "" {
			lacks = answer(walk.None, "security group "+g.name, fmt.Sprintf("security group %s lacks a rule that %s asks for: %s", g.name, s.title(), rule), "has it")
		}
	}
	switch {
	case revoked != nil:
		return walk.Answer{
			Found: walk.Differs, Why: s.title() + " does not ask for " + strings.Join(revoked[:min(3, len(revoked))], ", ") + more(len(revoked)-3),
			Until: "the rules are in " + s.title(), Objects: slices.Compact(objects),
		}
	case lacks.Found != "":
		return lacks
	case unseen:
		return walk.Answer{Found: walk.Unseen, Objects: []string{s.title()}}
	}
	return pass
}

// lacking returns a rule that the cluster's object asks for and that a group of a role lacks, and whether that is
// open: CAPA leaves a group without rules to others, if its tags say so, and older inventories have none that are
// described as CAPA's.
func (s *clusterLocation) lacking(role int, rules []RuleFact) (rule string, open bool) {
	name := securityGroupRoles[role]
	own := func(description string) bool {
		return slices.ContainsFunc(ownRules[name], func(r ownRule) bool { return r.description == description })
	}
	all := slices.ContainsFunc(rules, func(f RuleFact) bool { return own(f.Description) })
	for _, i := range rulesFor[name] {
		for _, r := range rulesIn(s.record.Data.Rules[i], i == 0) {
			switch from, there := r.in(rules); {
			case there:
			case len(rules) == 0, slices.Contains(rules, RuleFact{}), own(r.Description) && !all:
				open = true
			default:
				rule = strings.TrimSpace(fmt.Sprintf("%s %d-%d %q %s", r.Protocol, r.From, r.To, r.Description, from))
			}
		}
	}
	return rule, open
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// ingressRule is one that the cluster's object asks for (api/v1beta2/network_types.go v2.13.0).
type ingressRule struct {
	Description string   `json:"description"`
	Protocol    string   `json:"protocol"`
	From        int64    `json:"fromPort"`
	To          int64    `json:"toPort"`
	CIDRs       []string `json:"cidrBlocks"`
	CIDRs6      []string `json:"ipv6CidrBlocks"`
	Gateways    bool     `json:"natGatewaysIPsSource"`
}

// allows reports whether it is a rule that a group has. Which groups are its sources is decided at
// run time.
func (r *ingressRule) allows(f RuleFact) bool {
	what, source, _ := strings.Cut(f.Rule, " from ")
	protocol, ports, _ := strings.Cut(strings.Replace(what, "icmpv6 ", "58 ", 1), " ")
	if r.Description != f.Description || protocol != r.Protocol || ports != fmt.Sprintf("%d-%d", r.From, r.To) && slices.Contains([]string{"tcp", "udp", "icmp", "58"}, protocol) {
		return false
	}
	return strings.HasPrefix(source, "sg-") || r.Gateways || slices.Contains(r.CIDRs, source) || slices.Contains(r.CIDRs6, source)
}

// in reports whether a group has the rule from each of its addresses, or from one of its groups or gateways; if
// not, it says from which addresses the group has none.
func (r *ingressRule) in(rules []RuleFact) (from string, there bool) {
	addresses := slices.Concat(r.CIDRs, r.CIDRs6)
	if r.Gateways || len(addresses) == 0 {
		return "", slices.ContainsFunc(rules, r.allows)
	}
	for _, from := range addresses {
		if !slices.ContainsFunc(rules, func(f RuleFact) bool { return r.allows(f) && strings.HasSuffix(f.Rule, " from "+from) }) {
			return "from " + from, false
		}
	}
	return "", true
}

// rulesFor are the members of awsCluster.Rules that are rules of a group, by its role.
var rulesFor = map[string][]int{"controlplane": {0, 1}, "node": {0, 2}, "node-eks-additional": {1}, "apiserver-lb": {3}}

// asksFor reports whether CAPA makes a rule that a group of a role has: because the cluster's object
// asks for it, or by itself. It is not known of its own rules for some addresses: those of NAT
// gateways, bastions, node ports and VPCs are not read.
func (p *place) asksFor(id backup.ClusterID, s *clusterLocation, role int, f RuleFact) (asked, known bool) {
	name := securityGroupRoles[role]
	if f == (RuleFact{}) {
		return false, false
	}
	for _, i := range rulesFor[name] {
		if slices.ContainsFunc(rulesIn(s.record.Data.Rules[i], i == 0), func(r ingressRule) bool { return r.allows(f) }) {
			return true, true
		}
	}
	what, source, _ := strings.Cut(f.Rule, " from ")
	own := slices.IndexFunc(ownRules[name], func(r ownRule) bool { return r.description == f.Description && (r.of == "" || r.of == what) })
	switch {
	case own < 0:
		return false, true
	case !ownRules[name][own].addresses:
		return p.fromOwn(id, s, source), true
	case strings.HasPrefix(source, "sg-"):
		return false, true
	case source == "0.0.0.0/0", source == "::/0":
		return true, true
	case name == "apiserver-lb" && !given(s.record.Data.Rules[3]) && s.record.Data.Scheme != "internal" && !strings.HasSuffix(source, "/32"):
		return false, true // on the internet it is open to all, and to each NAT gateway
	}
	return false, false
}

// rulesIn reads rules of the cluster's object, and of its CNI.
func rulesIn(text string, ofCNI bool) (rules []ingressRule) {
	if !ofCNI {
		_ = json.Unmarshal([]byte(text), &rules)
		return rules
	}
	var cni struct {
		Rules []ingressRule `json:"cniIngressRules"`
	}
	_ = json.Unmarshal([]byte(text), &cni)
	return cni.Rules
}

// fromOwn reports whether the source of a rule is a group of the cluster. Which groups EKS has is not known.
func (p *place) fromOwn(id backup.ClusterID, s *clusterLocation, source string) bool {
	return strings.HasPrefix(source, "sg-") && (s.kind == planeKind || slices.ContainsFunc(securityGroupRoles[:], func(role string) bool { return s.groupID(p, id, role) == source }))
}
