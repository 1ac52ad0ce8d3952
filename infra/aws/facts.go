package aws

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"drift-detector/infra"
)

// Kinds of Facts of a listing. A Fact of one thing is called as its kind, a colon and what it
// is called, and is JSON; one of the kind alone says that all of them were read.
const (
	FactVPC       = "vpc"       // by id
	FactSubnets   = "subnets"   // of a VPC, by the id of that
	FactNAT       = "nat"       // of the kind alone
	FactRoutes    = "routes"    // route tables of a VPC, by the id of that
	FactGroup     = "group"     // security groups, by VPC and name
	FactBalancer  = "balancer"  // load balancers, by generation and name
	FactASG       = "asg"       // autoscaling groups, by name
	FactTemplate  = "template"  // launch templates, by name
	FactPlane     = "eks"       // control planes, by name
	FactNodegroup = "nodegroup" // by control plane and name
	FactAddons    = "addons"    // by control plane
	FactAccess    = "access"    // access entries, likewise
	FactProfile   = "fargate"   // Fargate profiles, by control plane and name
	FactOIDC      = "oidc"      // identity providers, by control plane
	FactHooks     = "hooks"     // lifecycle hooks, by autoscaling group
	FactTargets   = "targets"   // of a load balancer that is not classic, by its name
	FactRole      = "role"      // IAM roles, by name
)

// Facts of the instance of a machine.
const (
	factGroups   = "securityGroups"  // ids, of all network interfaces, joined by commas
	factMetadata = "metadataOptions" // endpoint, tokens, hop limit and tags, joined by commas
)

// FactsOf returns the Facts of an instance: its security groups, and its metadata options unless
// they are "".
func FactsOf(groups, options string) infra.Facts {
	if options == "" {
		return infra.Facts{{Name: factGroups, Value: groups}}
	}
	return infra.Facts{{Name: factGroups, Value: groups}, {Name: factMetadata, Value: options}}
}

// VPCFact is what CAPA asks of a VPC.
type VPCFact struct{ Owners []string } // the clusters that CAPA's tag says made it

// BalancerFact is what CAPA asks of a load balancer.
type BalancerFact struct {
	VPC, Scheme, DNS string
	State            string `json:",omitempty"` // of those that have one
}

// SubnetFact is one subnet that is there or is being made.
type SubnetFact struct {
	ID, CIDR string
	Public   bool `json:",omitempty"` // by CAPA's tag
}

// GroupFact is a security group that has the name of one of CAPA's.
type GroupFact struct {
	ID     string
	Owners []string   // the clusters that CAPA's tag names, whatever it says of them
	Rules  []RuleFact `json:"Foreign,omitempty"` // for ingress; an empty one where there are more. In older inventories those alone that are not described as CAPA's
}

// RuleFact is one ingress rule.
type RuleFact struct{ Rule, Description string }

// RoutesFact is a route table that is associated with subnets.
type RoutesFact struct {
	ID      string
	Subnets []string
	Owners  []string // as of a GroupFact
	// Internet says whether one of its routes leads there; empty where it shows no routes.
	Internet string `json:",omitempty"`
	// Gateways are those to the internet to which its routes lead, by id, and whether they
	// lead anywhere: a gateway that was detached or deleted leaves a blackhole.
	Gateways map[string]bool `json:",omitempty"`
}

// Values of RoutesFact.Internet.
const (
	Routed   = "yes"
	Unrouted = "no"
)

// How the ids of gateways begin: to the internet, of Wavelength zones, and for IPv6 of private subnets.
const (
	Gateway        = "igw-"
	CarrierGateway = "cagw-"
	EgressGateway  = "eigw-"
)

// TemplateFact is the newest version of a launch template, in the members that CAPA compares.
type TemplateFact struct {
	Version                          int64
	Image, Type, Profile, Key        string   `json:",omitempty"`
	Metadata, Spot, Reservation, DNS string   `json:",omitempty"`
	Enclave                          string   `json:",omitempty"` // Nitro Enclaves: enabled, or nothing
	Groups                           []string `json:",omitempty"`
	Secret                           string   `json:",omitempty"` // namespace/name of the bootstrap data
}

// DNSText writes which names of its own an instance gets: of which form, and with which records.
func DNSText(hostname string, a, aaaa bool) string {
	return hostname + " " + strconv.FormatBool(a) + " " + strconv.FormatBool(aaaa)
}

// NodegroupFact is what CAPA asks of an EKS node group.
type NodegroupFact struct {
	Status, Version, Release string
	Owners                   []string // the clusters that the cloud provider's tag names
	Template                 string   `json:",omitempty"` // version of its launch template
	HasTemplate              bool     `json:",omitempty"`
	Desired                  int32
	Min, Max                 int32             `json:",omitempty"` // Max is 0 where the inventory does not say
	Repair                   bool              `json:",omitempty"` // EKS replaces unhealthy nodes
	Update                   UpdateConfig      `json:",omitzero"`
	Labels                   map[string]string `json:",omitempty"`
	Taints                   []string          `json:",omitempty"` // as taint.String writes them, sorted
}

// UpdateConfig is how many nodes of a node group, or which part of them, an update may take away at once.
type UpdateConfig struct {
	MaxUnavailable           int32 `json:"maxUnavailable,omitempty"`
	MaxUnavailablePercentage int32 `json:"maxUnavailablePercentage,omitempty"`
}

// Taint is one of a node group, as an AWSManagedMachinePool has it: its effect is no-execute
// where EKS says NO_EXECUTE (TaintEffectFromSDK in pkg/cloud/converters/eks.go v2.13.0).
type Taint struct{ Key, Value, Effect string }

func (t Taint) String() string {
	return t.Key + "=" + t.Value + ":" + strings.ReplaceAll(strings.ToLower(t.Effect), "_", "-")
}

// TaintTexts returns taints in an order that does not depend on theirs.
func TaintTexts(all []Taint) []string {
	var out []string
	for _, t := range all {
		out = append(out, t.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ASGFact is what CAPA asks of an autoscaling group.
type ASGFact struct {
	Living    int
	Suspended []string     `json:",omitempty"` // processes
	Status    string       `json:",omitempty"`
	Mixed     bool         `json:",omitempty"` // it has a policy of mixed instances
	Policy    *MixedPolicy `json:",omitempty"` // what that says; nil where the inventory does not say
	Subnets   []string     `json:",omitempty"`
	Min, Max  *int32       `json:",omitempty"` // nil where the inventory does not say
	Rebalance bool         `json:",omitempty"` // it replaces spot instances that are at risk
}

// MixedPolicy is a policy of mixed instances, of an AWSMachinePool and of an autoscaling group.
type MixedPolicy struct {
	Distribution Distribution   `json:"instancesDistribution"`
	Overrides    []InstanceType `json:"overrides"`
}

// Distribution says which instances of a group are on demand; nil is not said.
type Distribution struct {
	OnDemand   string `json:"onDemandAllocationStrategy"`
	Spot       string `json:"spotAllocationStrategy"`
	Base       *int32 `json:"onDemandBaseCapacity"`
	Percentage *int32 `json:"onDemandPercentageAboveBaseCapacity"`
}

// InstanceType is one of those that a MixedPolicy allows.
type InstanceType struct {
	Type string `json:"instanceType"`
}

// PlaneFact is what CAPA asks of an EKS control plane.
type PlaneFact struct {
	Status, Version, Endpoint string
	Mode                      string   `json:",omitempty"` // authentication mode
	Group                     string   `json:",omitempty"` // the security group that EKS made for it
	Key                       string   `json:",omitempty"` // of the encryption of Secrets
	Public, Private           bool     // whether the endpoint is reached from there
	CIDRs                     []string `json:",omitempty"` // from which it is reached in public
}

// AddonFact is one add-on.
type AddonFact struct {
	Name, Version string
	Role          string `json:",omitempty"` // of its service account
	Config        string `json:",omitempty"` // see ConfigHash
	Status        string `json:",omitempty"` // unless it is ACTIVE
}

// AccessFact is one access entry.
type AccessFact struct {
	ARN, Type, User string
	Groups          []string `json:",omitempty"`
	Policies        []string `json:",omitempty"`
	Owners          []string // the clusters that the cloud provider's tag names
}

// ProfileFact is a Fargate profile.
type ProfileFact struct {
	Status string
	Owners []string // likewise
}

// ConfigHash stands for the configuration of an add-on, which may hold anything.
func ConfigHash(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// ScopedPolicy returns a policy and where it holds.
func ScopedPolicy(arn, scope string, namespaces []string) string {
	if scope != "namespace" {
		namespaces = nil
	}
	return strings.TrimSpace(arn + " " + scope + " " + strings.Join(slices.Sorted(slices.Values(namespaces)), ","))
}

// HookFact is a lifecycle hook of an autoscaling group.
type HookFact struct {
	Name, Transition, Result string
	Seconds                  int64
	Target, Role             string `json:",omitempty"`
	Metadata                 string `json:",omitempty"` // see ConfigHash
}

// TargetsFact is what is behind a load balancer. A classic one has Members alone.
type TargetsFact struct {
	Owners    []string       `json:",omitempty"` // the clusters that CAPA's tag names
	Groups    []TargetGroup  `json:",omitempty"`
	Listeners []ListenerFact `json:",omitempty"`
	Members   []string       `json:",omitempty"` // instances, in any of the groups
}

// TargetGroup is a group of targets of a load balancer.
type TargetGroup struct {
	Name, Protocol string
	Port           int64
}

// ListenerFact is a listener, and the target group that its first action names.
type ListenerFact struct {
	Port  int64
	Group string
}

// OIDCFact is the identity provider of a control plane.
type OIDCFact struct {
	Name, Issuer, Client                                     string
	GroupsClaim, GroupsPrefix, UsernameClaim, UsernamePrefix string            `json:",omitempty"`
	Claims                                                   map[string]string `json:",omitempty"`
}

// is reports whether it is another one.
func (f OIDCFact) is(want OIDCFact) bool {
	same := maps.Equal(f.Claims, want.Claims)
	f.Claims, want.Claims = nil, nil
	return same && reflect.DeepEqual(f, want)
}

// RoleFact is that an IAM role exists.
type RoleFact struct{}
