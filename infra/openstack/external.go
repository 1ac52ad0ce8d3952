package openstack

import (
	"cmp"

	"drift-detector/backup"
	"drift-detector/infra"
)

// stuckBastion returns the probe of a bastion that CAPO waits for before it calls the cluster
// ready, as release 0.10 alone does (reconcileBastion in
// controllers/openstackcluster_controller.go v0.10.0).
func (l *location) stuckBastion(id backup.ClusterID) infra.Key {
	if l.record == nil || !l.record.Data.BastionEnabled || l.release != withoutServers {
		return infra.Key{}
	}
	return infra.Key{Kind: keyStuck, Value: id.Name + "-" + roleBastion}
}

// noteExternal notes an external network, and that it is not the only one. An
// administrator sees those that the backup's user may not.
func (l *listing) noteExternal(t *thingAnswer) {
	if !t.External || !l.cloud.own {
		return
	}
	l.found(keyExternal, one)
	if l.external = cmp.Or(l.external, t.ID); l.external != t.ID {
		l.found(keyExternal, several)
	}
}
