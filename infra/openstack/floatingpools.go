package openstack

import (
	"fmt"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra/capi"
)

// floatingPool is an OpenStackFloatingIPPool, and floatingAddress the IPAddress that keeps
// which floating IP of it is a server's. Whether they are there is all that is read.
type (
	floatingPool    struct{}
	floatingAddress struct{}
)

var (
	floatingPools     = backup.NewKind[floatingPool]("openstackfloatingippools." + group).Ownerless()
	floatingAddresses = backup.NewKind[floatingAddress]("ipaddresses.ipam.cluster.x-k8s.io").Ownerless()
)

// claimSuffix ends the name of a server's IPAddressClaim, and of its IPAddress
// (pkg/utils/names/names.go v0.10.0 to v0.14.7).
const claimSuffix = "-floating-ip-address"

var ruleAddress = check.Rule{
	Code: "AddressAbsent", Severity: check.Warning,
	Why: "CAPO gives the machine another floating IP of its pool, which may be one that another server has: it takes that one from there, or Neutron refuses a second one, and the machine is never ready.",
	Do:  "take a newer backup without that filter, or an older one that holds it; else create it by hand, with the floating IP that the server has, before the cluster is unpaused",
}

// floatingClaim names the IPAddressClaim of a server whose floating IP comes from a pool:
// it is empty where none does. CAPO waits for it before it looks for ports and server,
// because a restore drops the status in which it says that it has one
// (reconcileFloatingAddressFromPool in controllers/openstackmachine_controller.go v0.10.0,
// openstackserver_controller.go v0.11.0 to v0.15.0-beta.0).
func (objs *objects) floatingClaim(m *member) (claim capi.Object, w *wish) {
	if w = m.resolved(); w == nil || w.FloatingPool == "" {
		return capi.Object{}, nil
	}
	return capi.Object{Backup: m.cluster.Backup, Namespace: m.meta().Namespace, Name: m.meta().Name + claimSuffix}, w
}

// poolLacks says that the backup lacks the pool, whose controller alone answers the claim
// (controllers/openstackfloatingippool_controller.go v0.10.0 to v0.14.7).
func (objs *objects) poolLacks(m *member) string {
	claim, w := objs.floatingClaim(m)
	if w == nil || w.FloatingPoolKind != poolKind {
		return ""
	}
	at := capi.Object{Backup: claim.Backup, Namespace: claim.Namespace, Name: w.FloatingPool}
	if objs.pools[at] != nil {
		return ""
	}
	return fmt.Sprintf("%s %s/%s, which its spec.floatingIPPoolRef names, is not in the backup, and CAPO waits for its floating IP before it looks for the server", poolKind, at.Namespace, at.Name)
}

// unclaimed is the IPAddress that the backup lacks, or "". Of a claim that is made again
// the pool finds it by its name; without it the claim is given any that is free, and
// which are taken only the IPAddresses say (getIP in
// controllers/openstackfloatingippool_controller.go v0.10.0 to v0.14.7).
func (objs *objects) unclaimed(m *member) string {
	claim, w := objs.floatingClaim(m)
	if w == nil || objs.addresses[claim] != nil {
		return ""
	}
	return "IPAddress " + claim.Name
}

// addressesAbsent are the IPAddresses that machines lack, one for each cluster: mostly the
// backup holds none at all.
func (objs *objects) addressesAbsent() []check.Finding {
	var found check.Shared
	for i := range objs.members {
		m := &objs.members[i]
		lost := objs.unclaimed(m)
		if lost == "" {
			continue
		}
		found.Add(ruleAddress.On(m.cluster.Backup, fmt.Sprintf("IPAddresses of %s/%s", m.cluster.Namespace, m.cluster.Name),
			"%s is not in the backup, and keeps which floating IP server %s has", lost, objs.serverName(m)).
			At(floatingAddresses.Resource(), m.meta().Namespace), m.cluster)
	}
	return found.Findings()
}
