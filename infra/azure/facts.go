package azure

import (
	"encoding/json"
	"slices"

	"drift-detector/infra"
)

// Facts of a VM that the backup records, which steps of the walk ask for: ids in a JSON list, those
// of interfaces in lower case, and those of identities as Azure writes them.
const (
	factInterfaces = "networkInterfaces"
	factIdentities = "userAssignedIdentities"
)

// FactsOf returns the Facts of a VM with these network interfaces and identities, each in its order.
func FactsOf(interfaces, identities []string) infra.Facts {
	return infra.Facts{{Name: factInterfaces, Value: listText(interfaces)}, {Name: factIdentities, Value: listText(identities)}}
}

// Kinds of Facts of a listing. Each is called as the kind, a colon and the ARM id of what it is
// about, and is JSON.
const (
	FactSecurity = "securityRules" // of a network security group: of SecurityRule
	FactBalancer = "loadBalancer"  // a Balancer
	FactNetwork  = "network"       // a Network
	FactSet      = "scaleSet"      // a ScaleSet
)

// Named is a part of something, which CAPZ looks for by its name.
type Named struct{ Name string }

// SecurityRule is a rule of a network security group, in what CAPZ compares of it.
type SecurityRule struct {
	Name       string
	Properties struct {
		Protocol, Access, Direction                                                          string
		SourcePortRange, SourceAddressPrefix, DestinationAddressPrefix, DestinationPortRange string
	}
}

// Balancer is what a load balancer is made of. What is nil is not known.
type Balancer struct {
	FrontendIPConfigurations []Named `json:"frontendIPConfigurations,omitzero"`
	BackendAddressPools      []Named `json:"backendAddressPools,omitzero"`
	LoadBalancingRules       []Named `json:"loadBalancingRules,omitzero"`
	OutboundRules            []Named `json:"outboundRules,omitzero"`
	Probes                   []Named `json:"probes,omitzero"`
	InboundNATRules          []Named `json:"inboundNatRules,omitzero"`
}

// Network is a virtual network. What is nil is not known.
type Network struct {
	Peerings []Named             `json:",omitzero"`
	Words    []string            // see NetworkPart.Words
	Subnets  map[string][]string // Words by their names, in lower case
}

// NetworkPart is a virtual network or a subnet, as Azure or an object of ASO has it: what ASO sets back.
type NetworkPart struct {
	AddressSpace                     *struct{ AddressPrefixes []string }
	DHCPOptions                      *struct{ DNSServers []string } `json:"dhcpOptions"`
	AddressPrefix                    string
	AddressPrefixes                  []string
	NetworkSecurityGroup, RouteTable *link
	NATGateway                       *link `json:"natGateway"`
	ServiceEndpoints                 []struct{ Service string }
	Delegations                      []struct {
		ServiceName string
		Properties  struct{ ServiceName string }
	}
}

type link struct {
	ID        string
	Reference struct{ ARMID string }
}

// Words says what a network or a subnet has, in an order of its own; nil where it names something
// otherwise than by its id.
func (p *NetworkPart) Words(tags map[string]string) []string {
	all := []string{}
	add := func(kind string, values ...string) {
		for _, v := range values {
			if v != "" {
				all = append(all, kind+" "+lower(v))
			}
		}
	}
	add("address prefix", append(p.AddressPrefixes, p.AddressPrefix)...)
	if p.AddressSpace != nil {
		add("address prefix", p.AddressSpace.AddressPrefixes...)
	}
	if p.DHCPOptions != nil {
		add("DNS server", p.DHCPOptions.DNSServers...)
	}
	for kind, l := range map[string]*link{thingSecurity: p.NetworkSecurityGroup, thingRoutes: p.RouteTable, thingGateway: p.NATGateway} {
		if l != nil && l.ID == "" && l.Reference.ARMID == "" {
			return nil
		} else if l != nil {
			add(kind, l.ID, l.Reference.ARMID)
		}
	}
	for _, e := range p.ServiceEndpoints {
		add("service endpoint", e.Service)
	}
	for _, d := range p.Delegations {
		add("delegation to", d.ServiceName, d.Properties.ServiceName)
	}
	for k, v := range tags {
		add("tag", k+"="+v)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ScaleSet is what CAPZ compares of a scale set.
type ScaleSet struct {
	SKU    string
	Zones  []string `json:",omitempty"`
	Image  Image
	Tags   map[string]string `json:",omitempty"`
	Others int               `json:",omitempty"` // members that run another image
}

// Image is a reference to one, of a scale set or its member.
type Image struct {
	ID                             string `json:",omitempty"`
	CommunityGalleryImageID        string `json:",omitempty"`
	SharedGalleryImageID           string `json:",omitempty"`
	Publisher, Offer, SKU, Version string `json:",omitempty"`
	Plan                           bool   `json:",omitempty"` // it goes with one; asked of images of the marketplace alone
}

// FactOf returns a Fact about a thing.
func FactOf(kind, arm string, v any) infra.Fact {
	text, _ := json.Marshal(v) // of texts
	return infra.Fact{Name: kind + ":" + arm, Value: string(text)}
}

// readFact returns a Fact about a thing; seen is false where the listing does not say.
func readFact[T any](l *infra.Lookup, kind, arm string) (v T, seen bool) {
	text, ok := l.Fact(kind + ":" + arm)
	return v, ok && json.Unmarshal([]byte(text), &v) == nil
}

func listText(all []string) string {
	text, _ := json.Marshal(all) // of strings
	return string(text)
}

// listOf reads a Fact that is a list.
func listOf(text string) []string {
	var all []string
	_ = json.Unmarshal([]byte(text), &all)
	return all
}
