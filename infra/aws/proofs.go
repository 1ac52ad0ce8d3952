package aws

import (
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/internal/lazyregexp"
)

// ownVPC returns the probes that prove a cluster's account: its VPC, made by CAPA
// for it. CAPA tags it with the name of the Cluster, also where instances have
// another (pkg/cloud/services/network/vpc.go v1.5.0).
func (s *clusterLocation) ownVPC(id backup.ClusterID) []infra.Key {
	if s.vpc == "" {
		return nil
	}
	keys := []infra.Key{{Kind: KeyOwnVPC, Value: infra.Join(s.vpc, id.Name)}}
	if s.tag != id.Name {
		keys = append(keys, infra.Key{Kind: KeyOwnVPC, Value: infra.Join(s.vpc, s.tag)})
	}
	return keys
}

// accountForm finds the account in the ARN of a load balancer or an autoscaling group:
// arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:…
var accountForm = lazyregexp.New(`^arn:aws[a-z-]*:[a-z]+:[a-z0-9-]*:(\d{12}):`)

// accountIn returns the probe of the account that an ARN names, if it names one.
func accountIn(arn string) []infra.Key {
	m := accountForm.FindStringSubmatch(arn)
	if m == nil {
		return nil
	}
	return []infra.Key{{Kind: KeyAccount, Value: m[1]}}
}

// accountOf returns the probes that show the account which a cluster is in, all of
// them by ids that the backup records: the VPC that CAPA made for it; the account
// itself, in an ARN; a security group that CAPA made, where the caller owns it; the
// names that AWS gave its load balancer and its EKS endpoint, which are unique.
// None is what a namesake in another account could have. The role of an identity is
// none of them: it says where CAPA looks, and not what there is.
func (objs *objects) accountOf(id backup.ClusterID) []infra.Key {
	s := objs.locations[id]
	keys := s.ownVPC(id)
	if s.record == nil {
		return keys
	}
	d := &s.record.Data
	for i, group := range d.SecurityGroups {
		// One that was there before may be of another account that shares it.
		if k := keyWith(KeyOwnGroup, "sg-", group); !k.IsZero() && d.Overrides[i] != group {
			keys = append(keys, k)
		}
	}
	for _, lb := range []loadBalancer{d.LB, d.Secondary} {
		keys = append(keys, accountIn(lb.ARN)...)
		if lb.DNS != "" {
			keys = append(keys, infra.Key{Kind: KeyLBName, Value: HostOf(lb.DNS)})
		}
	}
	switch host := HostOf(d.Endpoint); {
	case s.kind == planeKind && host != "":
		keys = append(keys, infra.Key{Kind: KeyEndpoint, Value: host})
	case strings.Contains(host, ".elb."):
		keys = append(keys, infra.Key{Kind: KeyLBName, Value: host})
	}
	return keys
}

// HostOf returns the host of an endpoint, which EKS writes as a URL.
func HostOf(endpoint string) string {
	host := strings.ToLower(strings.TrimSpace(endpoint))
	host = strings.TrimPrefix(host, "https://")
	host, _, _ = strings.Cut(host, "/")
	return strings.TrimSuffix(host, ".")
}

// proofs returns what a listing must show before absence may be concluded from it,
// per target. A target is one region under one identity, and an identity is of one
// account: what shows that account for one of its clusters shows it for all. That
// is an instance that the backup records, a pool that cannot be a namesake in
// another account, or what accountOf says. A VPC that was there before may be
// shared: then accounts see it that see none of the cluster's instances.
func (objs *objects) proofs(expected []infra.ExpectedMachine, pools []infra.Pool) []infra.VisibilityProof {
	sights := map[string]map[infra.Key]bool{} // by target
	note := func(id backup.ClusterID, keys ...infra.Key) {
		target := objs.locations[id].target
		if sights[target] == nil {
			sights[target] = map[infra.Key]bool{}
		}
		for _, k := range keys {
			if !k.IsZero() {
				sights[target][k] = true
			}
		}
	}
	for id := range objs.locations {
		note(id, objs.accountOf(id)...)
	}
	for i := range objs.members {
		note(objs.members[i].cluster, expected[i].Strong)
	}
	for i := range pools {
		note(pools[i].Cluster, pools[i].Members...)
	}
	for i := range objs.pools {
		note(objs.pools[i].cluster, objs.ownPool(&objs.pools[i])...)
	}
	shared := map[string][]infra.Key{}
	for target, keys := range sights {
		shared[target] = capi.SortedKeys(keys)
	}
	var proofs []infra.VisibilityProof
	for _, id := range objs.order() {
		target := objs.locations[id].target
		proofs = append(proofs, infra.VisibilityProof{
			Cluster: id, Target: target, Any: shared[target],
			Hint: "of the clusters that are in this region under the same identity nothing was seen that shows the account: no instance, machine pool, security group or load balancer that " + objs.snapshot.Subject().The() + " records, no VPC that Cluster API created for one of them; a VPC that was there before may be shared between accounts: check that the credential is of the AWS account that the cluster is in",
		})
	}
	return proofs
}
