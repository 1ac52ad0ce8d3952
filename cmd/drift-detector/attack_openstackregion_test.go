package main

import (
	"testing"

	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report"
)

// Machines with an identityRef of their own, as those with a region in their provider ids
// have, wait for their cluster like all others: what keeps that from being ready is looked
// for where the cluster is.
func TestOpenStackMachinesOfTheirOwnRegion(t *testing.T) {
	t.Parallel()
	w, cloud := managedOpenStack(t)
	w.change("region", func(resource, _ string, o object) bool {
		if resource == "openstackclusters" { // its clouds.yaml names the same
			delete(in(o, "spec", "identityRef"), "region")
		}
		return true
	})
	args := append(w.sources(), w.withOpenStackNodes()...)
	w.run(args...).demandSafe(t, true, report.Adopted, "")
	const name = "k8s-clusterapi-cluster-tenant-os-b-data"
	cloud.Edit("networks", func(o openstacklab.Object) bool {
		if o["name"] == name {
			o["name"] = "renamed"
		}
		return true
	})
	w.run(args...).demandSafe(t, false, report.Halted, "makes a second network")
}
