// Package all is the list of providers: one line each.
package all

import (
	"drift-detector/infra"
	aws "drift-detector/infra/aws/list"
	azure "drift-detector/infra/azure/list"
	"drift-detector/infra/nodes"
	openstack "drift-detector/infra/openstack/list"
	vsphere "drift-detector/infra/vsphere/list"
)

// Registry returns a Registry of every provider, for one run.
func Registry() *infra.Registry {
	r := infra.NewRegistry(
		vsphere.New(),
		aws.New(),
		openstack.New(),
		azure.New(),
	)
	// Node lists come last: they speak in the provider ids of the others.
	r.Add(nodes.New(r))
	return r
}
