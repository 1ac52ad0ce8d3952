package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
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
	ID, ResourceID, CIDRBlock, IPv6CIDRBlock, ZoneType, AvailabilityZone string
	IsPublic                                                             *bool
	IsIPv6                                                               bool
	Tags                                                                 map[string]string
}

// edge reports whether it is in a local or Wavelength zone (IsEdge in api/v1beta2/network_types.go v2.13.0).
func (n *specSubnet) edge() bool { return n.ZoneType == "local-zone" || n.ZoneType == wavelengthZone }

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
