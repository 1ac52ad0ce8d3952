package azure

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"drift-detector/infra"
	"drift-detector/internal/lazyregexp"
)

const providerIDPrefix = "azure://"

// ID is the id of a resource in Azure Resource Manager, in lower case: ids mean the same
// in any case, and CAPZ and Azure write resource groups in different ones
// (ConvertResourceGroupNameToLower in CAPZ azure/services/virtualmachines/virtualmachines.go
// v1.26.0).
type ID struct {
	Text         string // all of it
	Subscription string // a UUID
	Group        string // name of the resource group
	Kind         string // "microsoft.compute/virtualmachines"
	Name         string // the last segment
}

var (
	uuidForm    = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	groupForm   = lazyregexp.New(`^[\p{L}\p{N}._()-]+$`)
	segmentForm = lazyregexp.New(`^[a-z0-9._()-]+$`)
)

// isGroup reports whether a resource group may have the name. That it has 260 characters at most is
// no part of the expression: all letters of Unicode so many times cost each run 10 MB as it begins.
func isGroup(name string) bool {
	return utf8.RuneCountInString(name) <= 260 && groupForm.MatchString(name)
}

// isSegment reports whether the name is as all those are that CAPZ makes in a resource group.
func isSegment(name string) bool { return len(name) <= 260 && segmentForm.MatchString(name) }

// Types of resources, in lower case.
const (
	KindVM     = "microsoft.compute/virtualmachines"
	KindSet    = "microsoft.compute/virtualmachinescalesets"
	KindMember = "microsoft.compute/virtualmachinescalesets/virtualmachines"
	KindGroup  = "microsoft.resources/resourcegroups"
	KindZone   = "microsoft.network/privatednszones"
)

// ParseID reads the id of a resource group or of something in one; ok is false for all else.
func ParseID(id string) (out ID, ok bool) {
	text := trimmed(id)
	parts := strings.Split(strings.TrimSuffix(text, "/"), "/")
	if len(parts) < 5 || parts[0] != "" || parts[1] != "subscriptions" || parts[3] != "resourcegroups" || !uuidForm.MatchString(parts[2]) {
		return ID{}, false
	}
	for i, p := range parts[4:] {
		if i > 0 && !isSegment(p) || !isGroup(p) || strings.Trim(p, ".") == "" {
			return ID{}, false
		}
	}
	out = ID{Text: strings.Join(parts, "/"), Subscription: parts[2], Group: parts[4], Kind: KindGroup, Name: parts[4]}
	if len(parts) == 5 {
		return out, true
	}
	if len(parts) < 9 || parts[5] != "providers" || len(parts)%2 == 0 {
		return ID{}, false
	}
	out.Kind, out.Name = parts[6], parts[len(parts)-1]
	for i := 7; i < len(parts); i += 2 {
		out.Kind += "/" + parts[i]
	}
	return out, true
}

// isVM reports whether it is a VM, of a scale set or not.
func (id ID) isVM() bool { return id.Kind == KindVM || id.Kind == KindMember }

// GroupID returns the id of the resource group that it is in.
func (id ID) GroupID() string { return groupID(id.Subscription, id.Group) }

func groupID(subscription, group string) string {
	return "/subscriptions/" + lower(subscription) + "/resourcegroups/" + lower(group)
}

func trimmed(s string) string { return lower(strings.TrimSpace(s)) }

// lower returns a text in lower case. A letter that is none of ASCII does not become one: the sign
// of the kelvin is no k to Azure, and an id with it is another one.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); r < utf8.RuneSelf || l >= utf8.RuneSelf {
			return l
		}
		return r
	}, s)
}

// vmOf reads a provider id or an ARM id of a VM, in lower case; "" for all else.
func vmOf(raw string) string {
	raw = strings.TrimSpace(raw)
	if len(raw) >= len(providerIDPrefix) && strings.EqualFold(raw[:len(providerIDPrefix)], providerIDPrefix) {
		raw = raw[len(providerIDPrefix):]
	}
	if id, ok := ParseID(raw); ok && id.isVM() {
		return id.Text
	}
	return ""
}

// providerIDKeys reads ids of the form azure:///subscriptions/…/virtualMachines/name, of a
// VM by itself or in a scale set.
func providerIDKeys(providerID string) []infra.Key {
	id := strings.TrimSpace(providerID)
	if len(id) < len(providerIDPrefix) || !strings.EqualFold(id[:len(providerIDPrefix)], providerIDPrefix) {
		return nil
	}
	if vm := vmOf(id); vm != "" {
		return []infra.Key{{Kind: keyVM, Value: vm}}
	}
	return nil
}

// SetOf returns the id of the scale set that a member of a uniform one is in, or "".
func SetOf(vm string) string {
	if id, ok := ParseID(vm); ok && id.Kind == KindMember {
		return vm[:strings.LastIndex(vm, "/virtualmachines/")]
	}
	return ""
}

// UUIDOf returns a UUID in lower case, or "" of a text that is none.
func UUIDOf(raw string) string {
	if u := strings.ToLower(strings.TrimSpace(raw)); uuidForm.MatchString(u) {
		return u
	}
	return ""
}

// swapped returns a UUID with the bytes of its first three fields in the other order. Firmware
// keeps them little-endian, and not all that reads it turns them round.
func swapped(uuid string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(uuid, "-", ""))
	if err != nil || len(b) != 16 {
		return ""
	}
	for _, f := range [][2]int{{0, 4}, {4, 6}, {6, 8}} {
		for i, j := f[0], f[1]-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	s := hex.EncodeToString(b)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// Kinds of things beside VMs, as people call them, with their types in Azure.
const (
	thingGroup    = "resource group"
	thingNetwork  = "virtual network"
	thingSubnet   = "subnet"
	thingSecurity = "network security group"
	thingRoutes   = "route table"
	thingGateway  = "NAT gateway"
	thingBalancer = "load balancer"
	thingAddress  = "public IP address"
	thingZone     = "private DNS zone"
	thingBastion  = "bastion host"
	thingEndpoint = "private endpoint"
	thingImage    = "image"
)

var typeOf = map[string]string{
	thingNetwork: "microsoft.network/virtualnetworks", thingSecurity: "microsoft.network/networksecuritygroups",
	thingRoutes: "microsoft.network/routetables", thingGateway: "microsoft.network/natgateways",
	thingBalancer: "microsoft.network/loadbalancers", thingAddress: "microsoft.network/publicipaddresses",
	thingZone: KindZone, thingBastion: "microsoft.network/bastionhosts",
	thingEndpoint: "microsoft.network/privateendpoints",
}

// thing returns the ARM id of something in a resource group, as keys have it.
func thing(group, kind, name string) string {
	return trimmed(group + "/providers/" + typeOf[kind] + "/" + name)
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
