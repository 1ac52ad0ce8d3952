package aws

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

var rowA9 = &walk.Row{
	ID: "aws.A9", Of: clusterKind,
	Asks:      "whether each subnet is public: by its tag, or by a route to the internet in its own table; it writes that over spec",
	None:      walk.Halts.Says("CAPA needs a public subnet in a VPC that it created, and does nothing more for the cluster"),
	Differs:   walk.Does{Effect: walk.Writes, Code: code.OutcomeUnknown, What: "CAPA takes the subnet for what it is now: gateways, load balancers and the subnets of pools follow that"},
	Refused:   "route tables",
	Condition: conditionAsked,
	Source:    "describeVpcSubnets, reconcileSubnets: pkg/cloud/services/network/subnets.go v2.0.0 to v2.13.0",
}

var rowA10 = &walk.Row{
	ID: "aws.A10", Of: clusterKind,
	Asks:      "the internet gateway of a VPC that it created; for IPv6 an egress-only one, and for public subnets in Wavelength zones a carrier gateway",
	None:      walk.Does{Effect: walk.Writes, What: "CAPA creates a gateway unless the VPC has another, and has the routes of its tables lead there", Code: code.ResourceMade},
	Refused:   "route tables",
	Condition: conditionAsked,
	Source:    "reconcileInternetGateways: pkg/cloud/services/network/gateways.go; reconcileEgressOnlyInternetGateways: egress_only_gateways.go; reconcileCarrierGateway: carriergateways.go; fixMismatchedRouting: routetables.go v2.0.0 to v2.13.0",
}

// Rows of what subnets need.
var (
	rowA6 = &walk.Row{
		ID: "aws.A6", Of: clusterKind,
		Asks:      "each subnet of spec, by its id or its addresses, and of EKS those of spec.secondaryCidrBlock, one for each zone that its VPC may use",
		None:      walk.Does{Effect: walk.Writes, What: "CAPA creates the subnet, a route table for it and, where it is public, a NAT gateway", Code: code.ResourceMade},
		Differs:   walk.Halts.Says("CAPA creates no such subnet, and does nothing more for the cluster"),
		Refused:   "subnets",
		Condition: conditionAsked,
		Source:    "reconcileSubnets, createSubnet: pkg/cloud/services/network/subnets.go; SplitIntoSubnetsIPv4: pkg/internal/cidr/cidr.go v2.0.0 to v2.11.1",
	}
	rowA11 = &walk.Row{
		ID: "aws.A11", Of: clusterKind,
		Asks:      "a NAT gateway in the first public subnet of each zone that has private ones, up to v2.9 in every public subnet, in a VPC that it created",
		None:      walk.Does{Effect: walk.Writes, What: "CAPA creates a NAT gateway with an Elastic IP, and has the routes of private subnets lead there", Code: code.ResourceMade},
		Refused:   "NAT gateways",
		Condition: conditionAsked,
		Source:    "reconcileNatGateways, updateNatGatewayIPs: pkg/cloud/services/network/natgateways.go v2.0.0 to v2.11.1",
	}
	rowA12 = &walk.Row{
		ID: "aws.A12", Of: clusterKind,
		Asks:      "a NAT gateway for each private subnet, in a public subnet of its zone, or for an edge zone in any, in a VPC that it created",
		Differs:   walk.Halts.Says("CAPA finds no NAT gateway for the routes of the subnet, and does nothing more for the cluster"),
		Condition: conditionAsked,
		Source:    "getNatGatewayForSubnet, reconcileRouteTables: pkg/cloud/services/network/natgateways.go, routetables.go v2.0.0 to v2.11.1",
	}
)

// madeVPC reports whether CAPA takes the cluster's VPC for its own.
func (p *place) madeVPC(id backup.ClusterID, s *clusterLocation) (bool, walk.Answer) {
	vpc, _, open := read[VPCFact](p, FactVPC, s.vpc, "VPC "+s.vpc)
	return slices.Contains(vpc.Owners, id.Name), open
}

// gated asks A10: a route shows its gateway, or that it is gone. CAPA mends routes in its own tables of the
// subnets in spec alone (reconcileRouteTables, fixMismatchedRouting), and asks for the tag of an egress-only
// gateway, too.
func (p *place) gated(id backup.ClusterID, s *clusterLocation) walk.Answer {
	if made, open := p.madeVPC(id, s); open.Found != "" || !made {
		return walk.Answer{} // A3 says what is open
	}
	tables, _, open := read[[]RoutesFact](p, FactRoutes, s.vpc, s.vpc)
	if open.Found != "" {
		return open
	}
	real, _, _ := read[[]SubnetFact](p, FactSubnets, s.vpc, s.vpc)
	mended := func(t *RoutesFact) bool {
		return slices.Contains(t.Owners, id.Name) && slices.ContainsFunc(s.specSubnets(), func(n specSubnet) bool { return slices.Contains(t.Subnets, n.idIn(real)) })
	}
	seen := map[string]bool{}
	for _, t := range tables {
		for _, gateway := range slices.Sorted(maps.Keys(t.Gateways)) {
			if t.Gateways[gateway] {
				kind, _, _ := strings.Cut(gateway, "-")
				seen[kind+"-"] = true
			} else if mended(&t) {
				return answer(walk.None, "route table "+t.ID, fmt.Sprintf("a route of route table %s leads to %s, which is not attached to VPC %s", t.ID, gateway, s.vpc), "has no such route")
			}
		}
	}
	unseen := !seen[Gateway]
	for _, n := range s.specSubnets() {
		carrier := n.ZoneType == wavelengthZone && n.IsPublic != nil && *n.IsPublic
		unseen = unseen || n.IsIPv6 || carrier && !seen[CarrierGateway]
	}
	if unseen {
		return walk.Answer{Found: walk.Unseen, Objects: []string{s.title()}}
	}
	return pass
}

// specSubnet is one of spec.network.subnets.
type specSubnet struct {
	ID, ResourceID, CIDRBlock, IPv6CIDRBlock, ZoneType, AvailabilityZone, NATGatewayID string
	IsPublic                                                                           *bool
	IsIPv6                                                                             bool
	Tags                                                                               map[string]string
}

// edge reports whether it is in a local or Wavelength zone (IsEdge in api/v1beta2/network_types.go v2.13.0).
func (n *specSubnet) edge() bool { return n.ZoneType == "local-zone" || n.ZoneType == wavelengthZone }

// public and private report whether CAPA makes NAT gateways in it or for it, and places pools there by the type, as
// it does neither in edge zones nor for the addresses of Pods (FilterPublic, FilterPrivate, FilterNonCni in api/v1beta2/network_types.go v2.11.1).
func (n *specSubnet) public() bool  { return n.open() && !n.edge() && !n.ofPods() }
func (n *specSubnet) private() bool { return !n.open() && !n.edge() && !n.ofPods() }
func (n *specSubnet) open() bool    { return n.IsPublic != nil && *n.IsPublic }
func (n *specSubnet) ofPods() bool {
	return n.Tags["sigs.k8s.io/cluster-api-provider-aws/association"] == "secondary" // NameAWSSubnetAssociation in api/v1beta2/tags.go v2.13.0
}

const wavelengthZone = "wavelength-zone"

func (s *clusterLocation) specSubnets() (all []specSubnet) {
	_ = json.Unmarshal([]byte(s.record.Data.Network), &all)
	return all
}

// at returns which of the subnets of a VPC CAPA takes for it: that of its id, or of its addresses; -1 is
// none (FindEqual in api/v1beta2/network_types.go v2.13.0).
func (n *specSubnet) at(all []SubnetFact) int {
	return slices.IndexFunc(all, func(f SubnetFact) bool {
		return f.ID == cmp.Or(n.ResourceID, n.ID) || f.CIDR == n.CIDRBlock && f.CIDR != ""
	})
}

// idIn returns the id of that one, and where there is none its own.
func (n *specSubnet) idIn(all []SubnetFact) string {
	if i := n.at(all); i >= 0 {
		return all[i].ID
	}
	return cmp.Or(n.ResourceID, n.ID)
}

// opened asks A9. Subnets that were not read are others' to say.
func (p *place) opened(id backup.ClusterID, s *clusterLocation) walk.Answer {
	subnets, there, _ := read[[]SubnetFact](p, FactSubnets, s.vpc, s.vpc)
	tables, _, open := read[[]RoutesFact](p, FactRoutes, s.vpc, s.vpc)
	switch {
	case !there || p.undecided(KeySubnet):
		return walk.Answer{}
	case open.Found != "":
		return open
	}
	var public, asked, unseen bool
	for _, want := range s.specSubnets() {
		i := want.at(subnets)
		if i < 0 || want.IsPublic == nil {
			continue
		}
		asked = true
		is, object := subnets[i].Public, "subnet "+subnets[i].ID
		if t := slices.IndexFunc(tables, func(t RoutesFact) bool { return slices.Contains(t.Subnets, subnets[i].ID) }); !is && t >= 0 {
			if tables[t].Internet == "" {
				unseen = true
				continue
			}
			is = tables[t].Internet == Routed
		}
		public = public || is
		if is != *want.IsPublic {
			return answer(walk.Differs, object, fmt.Sprintf("%s is public: %t, and %s says %t", object, is, s.title(), *want.IsPublic), "is as the object says")
		}
	}
	made, _ := p.madeVPC(id, s)
	switch {
	case unseen:
		return walk.Answer{Found: walk.Unseen, Objects: []string{"VPC " + s.vpc}}
	case asked && !public && made:
		return answer(walk.None, "VPC "+s.vpc, "VPC "+s.vpc+" has no public subnet", "has one")
	case asked:
		return pass
	}
	return walk.Answer{}
}

// subnetted asks A6. That a subnet with an id of AWS's is gone is said of the resource; which addresses of IPv6
// subnets have is not read.
func (p *place) subnetted(id backup.ClusterID, s *clusterLocation) walk.Answer {
	if !p.sees(KeyVPC, s.vpc) {
		return walk.Answer{} // the resource says it
	}
	made, open := p.madeVPC(id, s)
	if open.Found != "" {
		return walk.Answer{} // A3 says it
	}
	real, _, open := read[[]SubnetFact](p, FactSubnets, s.vpc, "VPC "+s.vpc)
	if open.Found != "" {
		return open
	}
	wanted, found := slices.Concat(s.specSubnets(), s.secondary()), pass
	switch {
	case len(s.specSubnets()) > 0:
	case !made:
		return answer(walk.Differs, s.title(), s.title()+" names no subnets of VPC "+s.vpc, "names some")
	case len(real) == 0:
		return answer(walk.None, s.title(), "VPC "+s.vpc+" has no subnets", "names some that are there")
	default:
		found = walk.Answer{Found: walk.Unseen, Objects: []string{s.title()}} // which it makes depends on the zones of the region
	}
	for _, n := range wanted {
		object := fmt.Sprintf("subnet %s of %s", cmp.Or(n.idIn(nil), n.CIDRBlock), s.title())
		switch {
		case n.at(real) >= 0, strings.HasPrefix(n.idIn(nil), "subnet-"):
		case n.IsIPv6, n.IPv6CIDRBlock != "":
			found = walk.Answer{Found: walk.Unseen, Objects: []string{object}}
		case made && n.ResourceID == "" && n.CIDRBlock != "":
			return answer(walk.None, object, fmt.Sprintf("%s (%s) is not in VPC %s", object, n.CIDRBlock, s.vpc), "is there")
		default:
			return answer(walk.Differs, object, fmt.Sprintf("%s (%s) is not in VPC %s", object, n.CIDRBlock, s.vpc), "is there")
		}
	}
	return found
}

// secondary returns the subnets of spec.secondaryCidrBlock, the first ones where they are more than a region has
// zones.
func (s *clusterLocation) secondary() (all []specSubnet) {
	block, err := netip.ParsePrefix(s.record.Data.SecondaryCIDR)
	var vpc struct{ AvailabilityZoneUsageLimit int }
	_ = json.Unmarshal([]byte(s.record.Data.VPCSpec), &vpc)
	zones := cmp.Or(vpc.AvailabilityZoneUsageLimit, 3)
	length := block.Bits() + bits.Len(uint(zones-1))
	if err != nil || !block.Addr().Is4() || length > 32 {
		return nil
	}
	first := block.Masked().Addr().As4()
	for i := range uint32(min(zones, 16)) {
		var a [4]byte
		binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(first[:])+i<<(32-length))
		all = append(all, specSubnet{CIDRBlock: netip.PrefixFrom(netip.AddrFrom4(a), length).String()})
	}
	return all
}

// innerZones returns the zones with private subnets, unless spec does not say where each subnet is, and which
// of those that exist are public.
func (s *clusterLocation) innerZones(real []SubnetFact) (zones map[string]bool, known bool) {
	zones = map[string]bool{}
	for _, n := range s.specSubnets() {
		if n.IsPublic == nil && n.at(real) >= 0 || n.AvailabilityZone == "" {
			return nil, false
		}
		if n.private() {
			zones[n.AvailabilityZone] = true
		}
	}
	return zones, true
}

// natted asks A11 of a release of CAPA, nil for one that is not known. Subnets that are gone are A6's, recorded
// gateways that are gone are resources.
func (p *place) natted(id backup.ClusterID, s *clusterLocation, release *version.Version) walk.Answer {
	if made, open := p.madeVPC(id, s); open.Found != "" || !made {
		return walk.Answer{} // A3 says what is open
	}
	real, _, open := read[[]SubnetFact](p, FactSubnets, s.vpc, "VPC "+s.vpc)
	_, _, unread := read[struct{}](p, FactNAT, s.vpc, "VPC "+s.vpc)
	inner, known := s.innerZones(real)
	switch {
	case open.Found != "":
		return walk.Answer{} // A6 says it
	case !known:
		return walk.Answer{Found: walk.Unseen, Objects: []string{s.title()}}
	case len(inner) == 0:
		return pass
	}
	found := pass
	for _, n := range s.specSubnets() {
		if !n.public() {
			continue
		}
		first := inner[n.AvailabilityZone]
		delete(inner, n.AvailabilityZone)
		subnet := n.idIn(real)
		switch nat := (infra.Key{Kind: KeySubnetNAT, Value: subnet}); {
		case p.Finds(nat), n.at(real) < 0, !first && release != nil && !release.LessThan(version.MustParseGeneric("2.10")):
		case unread.Found != "":
			return unread
		case n.NATGatewayID != "" && !p.sees(KeyNAT, n.NATGatewayID):
		case p.IsSilent(nat), !first && release == nil:
			found = walk.Answer{Found: walk.Unseen, Objects: []string{"subnet " + subnet}}
		default:
			return answer(walk.None, "subnet "+subnet, "public subnet "+subnet+" has no NAT gateway", "has one")
		}
	}
	return found
}

// led asks A12. CAPA takes the zone of a subnet that exists from AWS, and writes it into spec.
func (p *place) led(id backup.ClusterID, s *clusterLocation) walk.Answer {
	if made, open := p.madeVPC(id, s); open.Found != "" || !made {
		return walk.Answer{} // A3 says what is open
	}
	real, _, _ := read[[]SubnetFact](p, FactSubnets, s.vpc, s.vpc)
	inner, known := s.innerZones(real)
	unseen := walk.Answer{Found: walk.Unseen, Objects: []string{s.title()}}
	if !known {
		return unseen
	}
	has := map[string]bool{} // zones with public subnets, and whether CAPA makes a gateway there
	for _, n := range s.specSubnets() {
		if n.open() && !n.edge() {
			has[n.AvailabilityZone] = has[n.AvailabilityZone] || n.public() && inner[n.AvailabilityZone]
		}
	}
	found := pass
	for _, n := range s.specSubnets() {
		made, public := has[n.AvailabilityZone]
		switch {
		case n.open(), made, n.edge() && slices.Contains(slices.Collect(maps.Values(has)), true):
		case public, n.edge() && len(has) > 0:
			found = unseen
		default:
			object := fmt.Sprintf("subnet %s of %s", n.idIn(nil), s.title())
			return answer(walk.Differs, object, fmt.Sprintf("private %s is in zone %s, which has no public subnet", object, n.AvailabilityZone), "has a public subnet in its zone")
		}
	}
	return found
}
