package openstack

import (
	"cmp"

	"drift-detector/backup"
	"drift-detector/infra"
)

// several is the value of the probe that the project sees more than one external network.
const several = "several"

// externalBlocks says that CAPO cannot choose an external network.
const externalBlocks = "the project sees several external networks, and spec.externalNetwork of its OpenStackCluster names none: CAPO takes none of them (failed to get external network), and never calls the cluster ready again, for which all machines wait"

// severalExternal is the probe of what keeps CAPO from choosing the cluster's external
// network where the cluster names none: it takes the only one that there is. A cluster that
// was ready before stayed so when a second one came, and a restore takes that away
// (ReconcileExternalNetwork in pkg/cloud/services/networking/network.go v0.9.0 to
// v0.15.0-beta.0).
func (l *location) severalExternal() infra.Key {
	if l.record == nil || l.record.Data.noExternal() || given(l.record.Data.SpecExternal) {
		return infra.Key{}
	}
	return infra.Key{Kind: keyExternal, Value: several}
}

// bastionBlocks says that the bastion keeps CAPO from its cluster.
const bastionBlocks = "the bastion is in ERROR or BUILD, and CAPO release 0.10 does not call the cluster ready before the bastion is ACTIVE: bring it back, or set spec.bastion.enabled of its OpenStackCluster to false"

// stuckBastion is the probe of a bastion that CAPO waits for before it calls the cluster
// ready, as release 0.10 alone does (reconcileBastion in
// controllers/openstackcluster_controller.go v0.10.0).
func (l *location) stuckBastion(id backup.ClusterID) infra.Key {
	if l.record == nil || !l.record.Data.BastionEnabled || l.release != withoutServers {
		return infra.Key{}
	}
	return infra.Key{Kind: keyStuck, Value: id.Name + "-" + roleBastion}
}

// blockers keep the whole cluster from being ready.
func (l *location) blockers(id backup.ClusterID) (list []infra.Blocker) {
	for _, b := range []infra.Blocker{{Key: l.brokenBalancer(), Why: balancerBlocks}, {Key: l.severalExternal(), Why: externalBlocks}, {Key: l.floatingElsewhere(), Why: floatingElsewhere}, {Key: l.stuckBastion(id), Why: bastionBlocks}} {
		if !b.Key.IsZero() {
			list = append(list, b)
		}
	}
	return append(list, l.misnamed(id)...)
}

// noteExternal notes an external network, and that it is not the only one. An
// administrator sees those that the backup's user may not.
func (l *listing) noteExternal(t *thingAnswer) {
	if !t.External || !l.cloud.own {
		return
	}
	if l.external = cmp.Or(l.external, t.ID); l.external != t.ID {
		l.found(keyExternal, several)
	}
}
