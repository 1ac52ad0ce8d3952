package aws

import (
	"context"
	"encoding/json"
	"fmt"

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

// wasRead is the value of the Fact of a kind alone.
const wasRead = "read"

// note keeps a Fact of one thing.
func (l *listing) note(kind, name string, of any) {
	text, err := json.Marshal(of)
	if err == nil {
		l.Facts = append(l.Facts, infra.Fact{Name: kind + ":" + name, Value: string(text)})
	}
}

// noteRead keeps that all Facts of a kind were read.
func (l *listing) noteRead(kind string) {
	if _, noted := l.Facts.Get(kind); !noted {
		l.Facts = append(l.Facts, infra.Fact{Name: kind, Value: wasRead})
	}
}

// unreadFact notes that Facts of a kind could not be read.
func (l *listing) unreadFact(ctx context.Context, fact, action, what string, err error) {
	f := listFault(ctx, l.target, action, "reading "+what, err)
	l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: fact, Value: fmt.Sprintf("%s could not be read: %s", what, f.Message)})
}
