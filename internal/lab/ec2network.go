package lab

import (
	"archive/tar"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// networkObject is one thing beside instances that AWS holds: a VPC, a subnet, a
// security group, a NAT gateway, a load balancer or the control plane of EKS.
type networkObject struct {
	kind   string // the action that describes it: "ec2:DescribeVpcs"
	region string
	id     string         // of load balancers and control planes the name
	vpc    string         // that it is in
	dns    string         // of a load balancer its name, of a control plane its endpoint
	state  string         // empty: "available", of control planes "ACTIVE"
	owners []string       // the clusters that CAPA's tag names
	name   string         // of a security group
	cidr   string         // of a subnet
	subnet string         // of a NAT gateway and of a route table
	scheme string         // of a load balancer
	public bool           // of a subnet and of a route table
	eks    map[string]any // what EKS says beside; of a launch template what it is made of
}

// Kinds of load balancers, which share one action.
const (
	classicLB = "elasticloadbalancing:DescribeLoadBalancers 2012-06-01"
	newLB     = "elasticloadbalancing:DescribeLoadBalancers 2015-12-01"
)

// Actions that are named in several places: those of a control plane of EKS, of its node
// groups, of route tables and of launch templates.
const (
	eksAction       = "eks:DescribeCluster"
	nodegroupAction = "eks:DescribeNodegroup"
	profileAction   = "eks:DescribeFargateProfile"
	routesAction    = "ec2:DescribeRouteTables"
	templatesAction = "ec2:DescribeLaunchTemplateVersions"
	roleAction      = "iam:GetRole"
)

// placement is what AWSClusters and AWSManagedControlPlanes say of their
// network (CAPA api/v1beta2 v2.11.1).
type placement struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Namespace string            `json:"namespace"`
		Name      string            `json:"name"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Region  string           `json:"region"`
		EKS     string           `json:"eksClusterName"`
		Version string           `json:"version"`
		Addons  []map[string]any `json:"addons"`
		OIDC    map[string]any   `json:"oidcIdentityProviderConfig"`
		Role    string           `json:"roleName"`
		Entries []map[string]any `json:"accessEntries"`
		Access  struct {
			Public  *bool    `json:"public"`
			Private bool     `json:"private"`
			CIDRs   []string `json:"publicCIDRs"`
		} `json:"endpointAccess"`
		Balancer struct {
			Scheme string `json:"scheme"`
		} `json:"controlPlaneLoadBalancer"`
		Endpoint struct {
			Host string `json:"host"`
		} `json:"controlPlaneEndpoint"`
		Network struct {
			VPC struct {
				ID string `json:"id"`
			} `json:"vpc"`
			Subnets   []placedSubnet    `json:"subnets"`
			Overrides map[string]string `json:"securityGroupOverrides"`
		} `json:"network"`
	} `json:"spec"`
	Status struct {
		Network struct {
			SecurityGroups map[string]placedGroup `json:"securityGroups"`
			LB             loadBalancer           `json:"apiServerElb"`
			Secondary      loadBalancer           `json:"secondaryAPIServerELB"`
		} `json:"networkStatus"`
	} `json:"status"`
}

type placedSubnet struct {
	ID       string `json:"id"`
	Resource string `json:"resourceID"`
	NAT      string `json:"natGatewayId"`
	CIDR     string `json:"cidrBlock"`
	Routes   string `json:"routeTableId"`
	Public   bool   `json:"isPublic"`
}

type placedGroup struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type loadBalancer struct {
	Name string `json:"name"`
	ARN  string `json:"arn"`
	DNS  string `json:"dnsName"`
}

// readNetwork collects what the AWS clusters of a backup name. It goes over the
// tarball plainly, apart from package backup, which it is to test.
func readNetwork(backup string) ([]networkObject, error) {
	if backup == "" {
		return nil, nil
	}
	var all []networkObject
	var pools pools
	err := eachEntry(backup, func(h *tar.Header, body io.Reader) error {
		parts := strings.Split(h.Name, "/")
		if len(parts) != 5 || path.Ext(h.Name) != ".json" ||
			(!strings.HasPrefix(parts[1], "awsclusters.") && !strings.HasPrefix(parts[1], "awsmanagedcontrolplanes.")) {
			return pools.read(parts, body)
		}
		var p placement
		if err := json.NewDecoder(body).Decode(&p); err != nil {
			return fmt.Errorf("reading %s: %w", h.Name, err)
		}
		all = append(all, p.parts()...)
		pools.clusters = append(pools.clusters, p)
		return nil
	})
	return append(all, pools.parts()...), err
}

func (p *placement) parts() []networkObject {
	n := &p.Spec.Network
	var all []networkObject
	add := func(kind, id string) *networkObject {
		all = append(all, networkObject{kind: kind, region: p.Spec.Region, id: id, vpc: n.VPC.ID})
		return &all[len(all)-1]
	}
	cluster := cmp.Or(p.Metadata.Labels["cluster.x-k8s.io/cluster-name"], p.Metadata.Name)
	owners := []string{cluster}
	add("ec2:DescribeVpcs", n.VPC.ID).owners = owners
	for _, s := range n.Subnets {
		subnet := cmp.Or(s.Resource, s.ID)
		made := add("ec2:DescribeSubnets", subnet)
		made.cidr, made.public = s.CIDR, s.Public
		add("ec2:DescribeNatGateways", s.NAT).subnet = subnet
		table := add(routesAction, s.Routes)
		table.subnet, table.owners, table.public = subnet, owners, s.Public
	}
	for _, id := range n.Overrides {
		add("ec2:DescribeSecurityGroups", id)
	}
	for role, g := range p.Status.Network.SecurityGroups {
		group := add("ec2:DescribeSecurityGroups", g.ID)
		group.name, group.owners = cmp.Or(g.Name, cluster+"-"+role), owners
	}
	for _, lb := range []loadBalancer{p.Status.Network.LB, p.Status.Network.Secondary} {
		kind := classicLB
		if lb.ARN != "" {
			kind = newLB
		}
		made := add(kind, lb.Name)
		made.dns, made.scheme, made.owners = lb.DNS, p.Spec.Balancer.Scheme, owners
	}
	if p.Kind == "AWSManagedControlPlane" {
		plane := add(eksAction, cmp.Or(p.Spec.EKS, p.Metadata.Namespace+"_"+p.Metadata.Name))
		plane.dns = p.Spec.Endpoint.Host
		plane.eks = map[string]any{"version": strings.TrimPrefix(p.Spec.Version, "v"), "addons": p.Spec.Addons, "entries": p.Spec.Entries, "owner": cluster, "oidc": p.Spec.OIDC}
		add(roleAction, p.Spec.Role)
		plane.eks["access"] = map[string]any{
			"vpcId": n.VPC.ID, "endpointPublicAccess": p.Spec.Access.Public == nil || *p.Spec.Access.Public, "endpointPrivateAccess": p.Spec.Access.Private, "publicAccessCidrs": p.Spec.Access.CIDRs,
		}
	}
	return all
}

// networkKind is how EC2 spells one kind in requests and answers.
type networkKind struct {
	set, id, param, filter, missing string
}

var networkKinds = map[string]networkKind{
	"ec2:DescribeVpcs":           {"vpcSet", "vpcId", "VpcId", "vpc-id", "InvalidVpcID.NotFound"},
	"ec2:DescribeSubnets":        {"subnetSet", "subnetId", "SubnetId", "subnet-id", "InvalidSubnetID.NotFound"},
	"ec2:DescribeSecurityGroups": {"securityGroupInfo", "groupId", "GroupId", "group-id", "InvalidGroup.NotFound"},
	routesAction:                 {"routeTableSet", "routeTableId", "RouteTableId", "route-table-id", "InvalidRouteTableID.NotFound"},
	"ec2:DescribeNatGateways":    {"natGatewaySet", "natGatewayId", "NatGatewayId", "nat-gateway-id", "NatGatewayNotFound"},
}

// describeNetwork answers by ids, which must all exist, and by a filter, which
// need not. All that fits comes in one answer.
func (e *EC2) describeNetwork(c *apiCall, kind networkKind) (element, *refusal) {
	filters, bad := c.filters()
	if bad != nil {
		return element{}, bad
	}
	for _, f := range filters {
		if f.name != kind.filter && f.name != "vpc-id" && f.name != "group-name" {
			return element{}, refuse(http.StatusBadRequest, "InvalidParameterValue", "The filter '%s' is invalid", f.name)
		}
	}
	ids := c.list(kind.param)
	set := branch(kind.set)
	var found []string
	for _, p := range e.visible(c, c.iam()) {
		if len(ids) > 0 && !slices.Contains(ids, p.id) || slices.ContainsFunc(filters, func(f filter) bool { return !f.fits(p.field(f.name)) }) || p.id == "" {
			continue
		}
		found = append(found, p.id)
		item := branch("item", leaf(kind.id, p.id))
		switch kind.set {
		case "vpcSet":
			item.Children = append(item.Children, leaf("state", "available"), leaf("ownerId", cmp.Or(e.shared[p.id], EC2Account)))
			if e.shared[p.id] == "" {
				item.Children = append(item.Children, p.ownerTags())
			}
		case "natGatewaySet":
			item.Children = append(item.Children, leaf("state", cmp.Or(p.state, "available")), leaf("vpcId", p.vpc), leaf("subnetId", p.subnet))
		case "subnetSet":
			item.Children = append(item.Children, leaf("state", "available"), leaf("vpcId", p.vpc), leaf("cidrBlock", p.cidr))
			// What was saved without tags shows by its gateway that it is public.
			if p.public || slices.ContainsFunc(e.network, func(n networkObject) bool {
				return n.kind == "ec2:DescribeNatGateways" && n.subnet == p.id && n.id != ""
			}) {
				item.Children = append(item.Children, branch("tagSet", branch("item", leaf("key", "sigs.k8s.io/cluster-api-provider-aws/role"), leaf("value", "public"))))
			}
		case "securityGroupInfo":
			item.Children = append(item.Children, leaf("ownerId", EC2Account), leaf("vpcId", p.vpc), leaf("groupName", p.name), p.ownerTags())
		case "routeTableSet":
			item.Children = append(item.Children, leaf("vpcId", p.vpc), p.ownerTags(), branch("associationSet", branch("item", leaf("subnetId", p.subnet))))
			gateway := map[bool]string{true: "igw-1", false: "local"}[p.public]
			item.Children = append(item.Children, branch("routeSet", branch("item", leaf("gatewayId", gateway), leaf("state", "active"))))
		}
		set.Children = append(set.Children, item)
	}
	for _, id := range ids {
		if !slices.Contains(found, id) {
			return element{}, refuse(http.StatusBadRequest, kind.missing, "The ID '%s' does not exist", id)
		}
	}
	return branch(c.action+"Response", leaf("requestId", "lab"), set), nil
}

// field returns what a filter looks at.
func (p *networkObject) field(filter string) string {
	switch {
	case filter == "group-name":
		return p.name
	case filter == "vpc-id" && p.kind != "ec2:DescribeVpcs":
		return p.vpc
	}
	return p.id
}

// ownerTags returns CAPA's tags.
func (p *networkObject) ownerTags() element {
	tags := branch("tagSet")
	for _, owner := range p.owners {
		tags.Children = append(tags.Children, branch("item", leaf("key", "sigs.k8s.io/cluster-api-provider-aws/cluster/"+owner), leaf("value", "owned")))
	}
	return tags
}

// visible returns the parts of a kind that the caller sees in the call's region.
func (e *EC2) visible(c *apiCall, kind string) []networkObject {
	var all []networkObject
	for _, p := range e.network {
		_, shared := e.shared[p.id]
		if p.kind == kind && p.region == c.region && (shared || c.caller.Account == EC2Account) {
			all = append(all, p)
		}
	}
	return all
}

// describeLoadBalancers answers for both generations, distinguished by the API's version.
func (e *EC2) describeLoadBalancers(c *apiCall) (element, *refusal) {
	kind, names := c.iam()+" "+c.version, c.list("Names.member")
	set := branch("LoadBalancers")
	if kind == classicLB {
		names, set = c.list("LoadBalancerNames.member"), branch("LoadBalancerDescriptions")
	}
	known := e.visible(c, kind)
	for _, name := range names {
		if !slices.ContainsFunc(known, func(p networkObject) bool { return p.id == name }) {
			return element{}, refuse(http.StatusBadRequest, "LoadBalancerNotFound", "There is no ACTIVE Load Balancer named '%s'", name)
		}
	}
	for _, p := range known {
		if len(names) == 0 || slices.Contains(names, p.id) {
			vpc := "VpcId"
			if kind == classicLB {
				vpc = "VPCId"
			}
			set.Children = append(set.Children, branch("member", leaf("LoadBalancerName", p.id), leaf("DNSName", p.dns), leaf(vpc, p.vpc), leaf("Scheme", cmp.Or(p.scheme, "internet-facing")),
				leaf("LoadBalancerArn", "arn:lb/"+p.id), e.targets(&p, "Instances", func(id string) element { return leaf("InstanceId", id) })))
		}
	}
	return result(c.action, set), nil
}

// mostGroups is the most that DescribeAutoScalingGroups gives in one answer.
const mostGroups = 100

// boundsOfGroup is the kind of what an AWSMachinePool says of its autoscaling group.
const boundsOfGroup = "bounds of a group"

// describeGroups answers with the groups of the options, and with those that
// instances say they are members of beside.
func (e *EC2) describeGroups(c *apiCall) (element, *refusal) {
	names := c.list("AutoScalingGroupNames.member")
	asked := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	members := map[string][]EC2Instance{}
	groups := map[string]EC2Group{}
	var order []string
	for _, g := range e.groups {
		if c.region == cmp.Or(g.Region, "us-east-1") && c.caller.Account == cmp.Or(g.Account, EC2Account) && asked(g.Name) {
			groups[g.Name] = g
			order = append(order, g.Name)
		}
	}
	for _, i := range e.instances {
		name, ok := i.Tag("aws:autoscaling:groupName")
		gone := i.State.Name == "terminated" || i.State.Name == "shutting-down"
		if !ok || gone || i.region() != c.region || c.caller.Account != EC2Account || !asked(name) {
			continue
		}
		if members[name] == nil && groups[name].Name == "" {
			order = append(order, name)
		}
		members[name] = append(members[name], i)
	}
	from := 0
	if token := c.form.Get("NextToken"); token != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(token, "from-"))
		if err != nil || n < 0 || n > len(order) {
			return element{}, refuse(http.StatusBadRequest, "InvalidNextToken", "The token '%s' is invalid", token)
		}
		from = n
	}
	size := mostGroups
	if n, err := strconv.Atoi(c.form.Get("MaxRecords")); err == nil && n > 0 {
		size = min(n, mostGroups)
	}
	to := min(from+size, len(order))
	set := branch("AutoScalingGroups")
	for _, name := range order[from:to] {
		g, ok := groups[name]
		if !ok {
			g = groupOf(name, members[name])
		}
		set.Children = append(set.Children, e.group(g, members[name]))
	}
	if to < len(order) {
		return result(c.action, set, leaf("NextToken", fmt.Sprintf("from-%d", to))), nil
	}
	return result(c.action, set), nil
}

// groupOf returns the group that instances are members of. EKS names its node group on
// the group as on the members.
func groupOf(name string, members []EC2Instance) EC2Group {
	g := EC2Group{Name: name}
	for _, t := range members[0].Tags {
		if strings.HasPrefix(t.Key, "eks:") {
			g.Tags = append(g.Tags, t)
		}
	}
	return g
}

func (e *EC2) group(g EC2Group, members []EC2Instance) element {
	list, tags := branch("Instances"), branch("Tags")
	for _, i := range members {
		list.Children = append(list.Children, branch("member",
			leaf("InstanceId", i.InstanceID), leaf("AvailabilityZone", i.Placement.AvailabilityZone),
			leaf("LifecycleState", "InService"), leaf("HealthStatus", "Healthy"), leaf("ProtectedFromScaleIn", "false")))
	}
	for _, t := range g.Tags {
		tags.Children = append(tags.Children, branch("member", leaf("Key", t.Key), leaf("Value", t.Value), leaf("ResourceId", g.Name)))
	}
	count := strconv.Itoa(len(members))
	if g.Desired != nil {
		count = strconv.Itoa(*g.Desired)
	}
	bounds := map[string]any{"MinSize": 0, "MaxSize": count, "CapacityRebalance": false}
	if i := slices.IndexFunc(e.network, func(n networkObject) bool { return n.kind == boundsOfGroup && n.id == g.Name }); i >= 0 {
		bounds = e.network[i].eks
	}
	all := branch("member", leaf("AutoScalingGroupName", g.Name), leaf("DesiredCapacity", count), list, tags)
	for _, member := range []string{"MinSize", "MaxSize", "CapacityRebalance"} {
		all.Children = append(all.Children, leaf(member, fmt.Sprint(bounds[member])))
	}
	if g.ARN != "" {
		all.Children = append(all.Children, leaf("AutoScalingGroupARN", g.ARN))
	}
	if len(g.Subnets) > 0 {
		all.Children = append(all.Children, leaf("VPCZoneIdentifier", strings.Join(g.Subnets, ",")))
	}
	return all
}
