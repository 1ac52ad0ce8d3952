package azure

import (
	"encoding/json"

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
	FactPeerings = "peerings"      // of a virtual network: of Named
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
func readFact[T any](l *infra.Listing, kind, arm string) (v T, seen bool) {
	text, ok := l.Facts.Get(kind + ":" + arm)
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
