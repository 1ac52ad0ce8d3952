// Package all is the list of providers: one line each.
package all

import (
	"drift-detector/infra"
	"drift-detector/infra/aws"
	"drift-detector/infra/vsphere"
	"drift-detector/infra/workload"
)

// Registry returns a Registry of every provider, for one run.
func Registry() *infra.Registry {
	r := infra.NewRegistry(
		vsphere.New(),
		aws.New(),
	)
	// Node lists come last: they speak in the provider ids of the others.
	r.Add(workload.New(r.Keys))
	return r
}
