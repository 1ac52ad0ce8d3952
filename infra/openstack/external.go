package openstack

import (
	"drift-detector/backup"
	"drift-detector/infra"
)

// stuckBastion returns the probe of a bastion that CAPO waits for before it calls the cluster
// ready, as release 0.10 alone does (reconcileBastion in
// controllers/openstackcluster_controller.go v0.10.0).
func (l *location) stuckBastion(id backup.ClusterID) infra.Key {
	if l.record == nil || !l.record.Data.bastioned() || l.release != withoutServers {
		return infra.Key{}
	}
	return infra.Key{Kind: KeyStuck, Value: id.Name + "-" + roleBastion}
}
