package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// dependency is one thing beside instances that CAPA needs or makes for a cluster.
type dependency struct {
	kind, name  string    // as people call it
	key         infra.Key // zero if it cannot be looked up
	also        infra.Key // of another that does as well
	whenGone    code.WhenGone
	consequence string // see infra.Resource
}

// vpcResource is what a VPC is called, which all that CAPA asks for is in.
const vpcResource = "VPC"

// resources returns the parts of the clusters, in order.
func (objs *objects) resources() []infra.Resource {
	var list []infra.Resource
	for _, id := range objs.order() {
		s := objs.locations[id]
		for _, p := range s.parts(id) {
			r := infra.Resource{
				Cluster: id, Target: s.target, Kind: p.kind, Name: p.name,
				UsedBy:   fmt.Sprintf("%s %s/%s", s.kind, s.record.Namespace, s.record.Name),
				WhenGone: p.whenGone, Consequence: p.consequence, Holds: p.kind == vpcResource,
			}
			r.Keys = slices.DeleteFunc([]infra.Key{p.key, p.also}, infra.Key.IsZero)
			list = append(list, r)
		}
	}
	return list
}

// What CAPA does without a part (v2.11.1: pkg/cloud/services/network/vpc.go,
// subnets.go, routetables.go, natgateways.go; securitygroup/securitygroups.go;
// elb/loadbalancer.go; eks/cluster.go; ec2/bastion.go). A restore takes the status of
// AWSCluster away, so that machines wait until CAPA has gone through all of them.
const (
	withoutVPC    = "CAPA never creates a VPC that the cluster names: it does nothing for the cluster until it names another"
	withoutSubnet = "CAPA never creates a subnet that the cluster names: it does nothing for the cluster until the subnet is taken out of the list"
	withoutGroup  = "CAPA never creates a security group of securityGroupOverrides: it does nothing for the cluster until it names another"
	withoutLB     = "CAPA calls a cluster without the load balancer of its API server unrecoverable: it does nothing for it"
	withoutNAT    = "new machines in its zone have no way out, and CAPA creates gateways only in VPCs that it created"
	withoutWish   = "CAPA terminates a bastion that spec.bastion does not ask for"
	withoutEKS    = "CAPA creates a new control plane of that name, and an empty one: the Nodes and workloads of the old one are not in it"
)

// parts returns what a cluster's object names, each once, in the order of their kinds and names.
func (s *clusterLocation) parts(id backup.ClusterID) []dependency {
	if s.record == nil {
		return nil
	}
	d := &s.record.Data
	all := []dependency{{kind: vpcResource, name: d.VPC, key: keyWith(KeyVPC, "vpc-", d.VPC), whenGone: code.HaltsCluster, consequence: withoutVPC}}
	for i := range d.Subnets {
		subnet := s.subnet(i)
		p := dependency{kind: "subnet", name: subnet, key: keyWith(KeySubnet, "subnet-", subnet), whenGone: code.HaltsCluster, consequence: withoutSubnet}
		if i < len(d.CIDRs) && d.CIDRs[i] != "" && d.VPC != "" { // FindEqual in api/v1beta2/network_types.go v2.13.0
			p.also = infra.Key{Kind: KeySubnetCIDR, Value: infra.Join(d.VPC, d.CIDRs[i])}
		}
		all = append(all, p)
	}
	for i, nat := range d.NATs {
		p := dependency{kind: "NAT gateway", name: nat, key: keyWith(KeyNAT, "nat-", nat), whenGone: code.MadeAgain}
		if subnet := s.subnet(i); subnet != "" { // CAPA takes any that is in its place: getNatGatewayForSubnet v2.13.0
			p.also = infra.Key{Kind: KeySubnetNAT, Value: subnet}
		}
		if !s.madeVPC(id) {
			p.whenGone, p.consequence = code.FailsReplacement, withoutNAT
		}
		all = append(all, p)
	}
	for i, group := range d.SecurityGroups {
		if group != d.Overrides[i] {
			all = append(all, dependency{kind: "security group", name: group, key: keyWith(KeySecurityGroup, "sg-", group), whenGone: code.MadeAgain})
		}
		all = append(all, dependency{kind: "security group", name: d.Overrides[i], key: keyWith(KeySecurityGroup, "sg-", d.Overrides[i]), whenGone: code.HaltsCluster, consequence: withoutGroup})
	}
	all = slices.DeleteFunc(all, func(p dependency) bool { return p.key.IsZero() })
	all = append(all, s.balancers(id)...)
	if s.kind == planeKind {
		all = append(all, dependency{kind: "EKS control plane", name: s.tag, key: infra.Key{Kind: KeyEKS, Value: s.tag}, whenGone: code.MadeAgain, consequence: withoutEKS})
	}
	all = append(all, s.bastion(id))
	sorting.StableBy(all, func(a, b dependency) int {
		return cmp.Or(capi.CompareKeys(a.key, b.key), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	return slices.CompactFunc(all, func(a, b dependency) bool { return a.key == b.key && a.name == b.name })
}

// subnet returns the id of one of the subnets, or what stands for it. Of a subnet that CAPA made
// spec.id is a placeholder (api/v1beta2/network_types.go v2.11.1).
func (s *clusterLocation) subnet(i int) string {
	d := &s.record.Data
	if i < len(d.SubnetResources) && d.SubnetResources[i] != "" {
		return d.SubnetResources[i]
	}
	if i < len(d.Subnets) {
		return d.Subnets[i]
	}
	return ""
}

// bastion returns the cluster's bastion, which CAPA makes where one is wanted and terminates
// where none is, whoever turned it on since (ReconcileBastion in
// pkg/cloud/services/ec2/bastion.go v2.11.1).
func (s *clusterLocation) bastion(id backup.ClusterID) dependency {
	p := dependency{kind: Bastion, name: cmp.Or(s.record.Data.Bastion, id.Name+"-bastion"), key: infra.Key{Kind: KeyBastion, Value: id.Name}, whenGone: code.MadeAgain}
	if !s.record.Data.BastionEnabled {
		p.whenGone, p.consequence = code.Unwanted, withoutWish
	}
	return p
}

// natsIn returns the probes of NAT gateways in the public subnets of a VPC that CAPA made.
func (s *clusterLocation) natsIn(id backup.ClusterID) (keys []infra.Key) {
	if s.record == nil || !s.madeVPC(id) {
		return nil
	}
	for _, n := range s.specSubnets() {
		if n.public() {
			keys = append(keys, keyWith(KeySubnetNAT, "subnet-", n.idIn(nil)))
		}
	}
	return keys
}

// keyWith returns the key of something whose ids begin in one way; it is zero for what does not.
func keyWith(kind infra.KeyKind, prefix, id string) infra.Key {
	if !strings.HasPrefix(id, prefix) {
		return infra.Key{}
	}
	return infra.Key{Kind: kind, Value: id}
}

// madeVPC reports whether CAPA made the cluster's VPC for it, and so what is in it.
func (s *clusterLocation) madeVPC(id backup.ClusterID) bool {
	var tags map[string]string
	return json.Unmarshal([]byte(s.record.Data.VPCTags), &tags) == nil && tags[TagOwner+id.Name] == Owned
}

// Kinds of load balancers (CAPA api/v1beta2/awscluster_types.go v2.11.1).
const (
	classicType  = "classic"
	disabledType = "disabled"
)

// balancers returns the load balancers of the API server. A cluster whose endpoint is not
// known yet has none, and CAPA makes them.
func (s *clusterLocation) balancers(id backup.ClusterID) []dependency {
	d := &s.record.Data
	first, second := d.LB, d.Secondary
	switch {
	case s.kind == planeKind || first.Type == disabledType:
		return nil
	case first.Name == "" && d.Endpoint == "":
		first.Type = disabledType
	case first.Type == "" && first.ARN == "":
		first.Type = classicType
	}
	var all []dependency
	add := func(lb loadBalancer) {
		p := dependency{kind: "load balancer", name: lb.Name, whenGone: code.HaltsCluster, consequence: withoutLB}
		if d.Endpoint == "" {
			p.whenGone, p.consequence = code.MadeAgain, ""
		}
		kind := KeyLB
		if lb.Type == classicType {
			kind = KeyClassicLB
		}
		if p.name == "" {
			p.name = nameOfLB(id, kind)
		}
		if p.name == "" {
			p.name = "of cluster " + id.Namespace + "/" + id.Name
		} else {
			p.key = lbKey(kind, s.vpc, p.name)
		}
		all = append(all, p)
	}
	if first.Type != disabledType {
		add(first)
	}
	if second.Name != "" || second.Type != "" {
		add(second)
	}
	return all
}

// lbKey returns the probe of a load balancer in a VPC, or, where that is not known, in
// any. CAPA takes none of the name that is in another.
func lbKey(kind infra.KeyKind, vpc, name string) infra.Key {
	return infra.Key{Kind: kind, Value: infra.Join(vpc, name)}
}

// longestLB is how long the name of a load balancer may be.
const longestLB = 32

// nameOfLB returns what CAPA calls a load balancer without a name of its own, or "": a
// name that is too long is hashed, which is not followed here (GenerateELBName in
// pkg/cloud/services/elb/loadbalancer.go v2.11.1).
func nameOfLB(id backup.ClusterID, kind infra.KeyKind) string {
	name := id.Name
	if kind == KeyLB {
		name = id.Namespace + "-" + id.Name
	}
	name = strings.ReplaceAll(name, ".", "-") + "-apiserver"
	if len(name) > longestLB {
		return ""
	}
	return name
}

// NameIn returns what AWS calls a probe.
func NameIn(k infra.Key) string {
	if k.Kind != KeyLB && k.Kind != KeyClassicLB {
		return k.Value
	}
	_, name, _ := strings.Cut(k.Value, "/")
	return unjoin(name)
}
