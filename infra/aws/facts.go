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
	factVPC       = "vpc"       // by id
	factSubnets   = "subnets"   // of a VPC, by the id of that
	factNAT       = "nat"       // of the kind alone
	factRoutes    = "routes"    // route tables of a VPC, by the id of that
	factGroup     = "group"     // security groups, by VPC and name
	factBalancer  = "balancer"  // load balancers, by generation and name
	factASG       = "asg"       // autoscaling groups, by name
	factTemplate  = "template"  // launch templates, by name
	factPlane     = "eks"       // control planes, by name
	factNodegroup = "nodegroup" // by control plane and name
	factAddons    = "addons"    // by control plane
	factAccess    = "access"    // access entries, likewise
	factProfile   = "fargate"   // Fargate profiles, by control plane and name
	factOIDC      = "oidc"      // identity providers, by control plane
	factHooks     = "hooks"     // lifecycle hooks, by autoscaling group
	factTargets   = "targets"   // of a load balancer that is not classic, by its name
	factRole      = "role"      // IAM roles, by name
)

// Facts of the instance of a machine.
const (
	factGroups   = "securityGroups"  // ids, of all network interfaces, joined by commas
	factMetadata = "metadataOptions" // endpoint, tokens, hop limit and tags, joined by commas
)

// factsOf returns the Facts of an instance: its security groups, and its metadata options unless
// they are "".
func factsOf(groups, options string) infra.Facts {
	if options == "" {
		return infra.Facts{{Name: factGroups, Value: groups}}
	}
	return infra.Facts{{Name: factGroups, Value: groups}, {Name: factMetadata, Value: options}}
}

// vpcFact is what CAPA asks of a VPC.
type vpcFact struct{ Owners []string } // the clusters that CAPA's tag says made it

// balancerFact is what CAPA asks of a load balancer.
type balancerFact struct {
	VPC, Scheme, DNS string
	State            string `json:",omitempty"` // of those that have one
}

// subnetFact is one subnet that is there or is being made.
type subnetFact struct {
	ID, CIDR string
	Public   bool `json:",omitempty"` // by CAPA's tag
}

// groupFact is a security group that has the name of one of CAPA's.
type groupFact struct {
	ID      string
	Owners  []string   // the clusters that CAPA's tag names, whatever it says of them
	Foreign []ruleFact `json:",omitempty"` // ingress rules that CAPA does not describe by itself
}

// ruleFact is one ingress rule.
type ruleFact struct{ Rule, Description string }

// routesFact is a route table that is associated with subnets.
type routesFact struct {
	ID      string
	Subnets []string
	Owners  []string // as of a groupFact
	// Internet says whether one of its routes leads there; empty where it shows no routes.
	Internet string `json:",omitempty"`
}

// Values of routesFact.Internet.
const (
	routed   = "yes"
	unrouted = "no"
)

// templateFact is the newest version of a launch template, in the members that CAPA compares.
type templateFact struct {
	Version                          int64
	Image, Type, Profile, Key        string   `json:",omitempty"`
	Metadata, Spot, Reservation, DNS string   `json:",omitempty"`
	Enclave                          string   `json:",omitempty"` // Nitro Enclaves: enabled, or nothing
	Groups                           []string `json:",omitempty"`
	Secret                           string   `json:",omitempty"` // namespace/name of the bootstrap data
}

// dnsText writes which names of its own an instance gets: of which form, and with which records.
func dnsText(hostname string, a, aaaa bool) string {
	return hostname + " " + strconv.FormatBool(a) + " " + strconv.FormatBool(aaaa)
}

// nodegroupFact is what CAPA asks of an EKS node group.
type nodegroupFact struct {
	Status, Version, Release string
	Owners                   []string // the clusters that the cloud provider's tag names
	Template                 string   `json:",omitempty"` // version of its launch template
	HasTemplate              bool     `json:",omitempty"`
	Desired                  int32
	Labels                   map[string]string `json:",omitempty"`
	Taints                   []string          `json:",omitempty"` // as taint.String writes them, sorted
}

// taint is one of a node group, as an AWSManagedMachinePool has it: its effect is no-execute
// where EKS says NO_EXECUTE (TaintEffectFromSDK in pkg/cloud/converters/eks.go v2.13.0).
type taint struct{ Key, Value, Effect string }

func (t taint) String() string {
	return t.Key + "=" + t.Value + ":" + strings.ReplaceAll(strings.ToLower(t.Effect), "_", "-")
}

// taintTexts returns taints in an order that does not depend on theirs.
func taintTexts(all []taint) []string {
	var out []string
	for _, t := range all {
		out = append(out, t.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// asgFact is what CAPA asks of an autoscaling group.
type asgFact struct {
	Living    int
	Suspended []string `json:",omitempty"` // processes
	Status    string   `json:",omitempty"`
	Mixed     bool     `json:",omitempty"` // it has a policy of mixed instances
	Subnets   []string `json:",omitempty"`
}

// planeFact is what CAPA asks of an EKS control plane.
type planeFact struct {
	Status, Version, Endpoint string
	Mode                      string   `json:",omitempty"` // authentication mode
	Group                     string   `json:",omitempty"` // the security group that EKS made for it
	Key                       string   `json:",omitempty"` // of the encryption of Secrets
	Public, Private           bool     // whether the endpoint is reached from there
	CIDRs                     []string `json:",omitempty"` // from which it is reached in public
}

// addonFact is one add-on.
type addonFact struct {
	Name, Version string
	Role          string `json:",omitempty"` // of its service account
	Config        string `json:",omitempty"` // see configHash
}

// accessFact is one access entry.
type accessFact struct {
	ARN, Type, User string
	Groups          []string `json:",omitempty"`
	Policies        []string `json:",omitempty"`
	Owners          []string // the clusters that the cloud provider's tag names
}

// profileFact is a Fargate profile.
type profileFact struct {
	Status string
	Owners []string // likewise
}

// configHash stands for the configuration of an add-on, which may hold anything.
func configHash(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// scopedPolicy returns a policy and where it holds.
func scopedPolicy(arn, scope string, namespaces []string) string {
	if scope != "namespace" {
		namespaces = nil
	}
	return strings.TrimSpace(arn + " " + scope + " " + strings.Join(slices.Sorted(slices.Values(namespaces)), ","))
}

// hookFact is a lifecycle hook of an autoscaling group.
type hookFact struct {
	Name, Transition, Result string
	Seconds                  int64
	Target, Role             string `json:",omitempty"`
	Metadata                 string `json:",omitempty"` // see configHash
}

// targetsFact is what is behind a load balancer. A classic one has Members alone.
type targetsFact struct {
	Owners    []string       `json:",omitempty"` // the clusters that CAPA's tag names
	Groups    []targetGroup  `json:",omitempty"`
	Listeners []listenerFact `json:",omitempty"`
	Members   []string       `json:",omitempty"` // instances, in any of the groups
}

// targetGroup is a group of targets of a load balancer.
type targetGroup struct {
	Name, Protocol string
	Port           int64
}

// listenerFact is a listener, and the target group that its first action names.
type listenerFact struct {
	Port  int64
	Group string
}

// oidcFact is the identity provider of a control plane.
type oidcFact struct {
	Name, Issuer, Client                                     string
	GroupsClaim, GroupsPrefix, UsernameClaim, UsernamePrefix string            `json:",omitempty"`
	Claims                                                   map[string]string `json:",omitempty"`
}

// is reports whether it is another one.
func (f oidcFact) is(want oidcFact) bool {
	same := maps.Equal(f.Claims, want.Claims)
	f.Claims, want.Claims = nil, nil
	return same && reflect.DeepEqual(f, want)
}

// roleFact is that an IAM role exists.
type roleFact struct{}
