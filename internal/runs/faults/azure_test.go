package faults_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/internal/runs"
)

// wholeAzure returns the fleet with all that is asked for: a private DNS zone, a bastion host, an
// image, and a VM that is not in the list of power states.
func wholeAzure(t *testing.T) *runs.World {
	t.Helper()
	w := runs.AzureFleet(t, azurelab.Options{PageSize: 5})
	w.Azure.WithoutStatus("shop-md-0-w66kl-wxqkz")
	in := "/subscriptions/" + runs.AzureRetail + "/resourceGroups/shop/providers/"
	w.Azure.Put(in+"Microsoft.Network/privateDnsZones/shop.internal", "Microsoft.Network/privateDnsZones", azurelab.Object{"properties": azurelab.Object{}})
	w.Azure.Put(in+"Microsoft.Network/bastionHosts/shop-bastion", "Microsoft.Network/bastionHosts", azurelab.Object{"properties": azurelab.Object{}})
	w.Azure.Put(in+"Microsoft.Compute/images/node", "Microsoft.Compute/images", azurelab.Object{"properties": azurelab.Object{}})
	data, err := os.ReadFile(w.Backups[0])
	w.Ensure(err)
	data = backuptest.Edit(t, data, func(_ string, o map[string]any) bool {
		meta, _ := o["metadata"].(map[string]any)
		switch {
		case o["kind"] == "AzureCluster" && meta["name"] == "shop":
			backuptest.Inside(o, "spec", "networkSpec")["privateDNSZoneName"] = "shop.internal"
			backuptest.Inside(o, "spec", "networkSpec", "apiServerLB")["type"] = "Internal" // else CAPZ makes no zone
			backuptest.Inside(o, "spec")["bastionSpec"] = map[string]any{"azureBastion": map[string]any{"name": "shop-bastion"}}
		case o["kind"] == "AzureMachineTemplate" && meta["name"] == "shop-md-0":
			backuptest.Inside(o, "spec", "template", "spec")["image"] = map[string]any{"id": in + "Microsoft.Compute/images/node"}
		}
		return true
	}, "azure")
	w.Backups = []string{filepath.Join(w.Dir, "whole.tar.gz")}
	w.Ensure(os.WriteFile(w.Backups[0], data, 0o600))
	return w
}

// wellAzure returns the control plane of cluster shop alone, on an Azure in which each of its VMs
// runs, and no other. CAPZ's webhook refuses its AzureMachines at first: it is safe to restore
// by the plan.
func wellAzure(t *testing.T) *runs.World {
	t.Helper()
	w := runs.AzureFleet(t, azurelab.Options{PageSize: 2})
	const creating, gone, living = "shop-control-plane-sn8rj", "shop-control-plane-79kth", "shop-control-plane-76qbr"
	var uuid string
	w.Change("control-plane", func(resource, name string, o runs.Object) bool {
		switch meta := runs.In(o, "metadata"); {
		case meta["namespace"] == "ml", strings.HasPrefix(name, "edge-7"), strings.HasPrefix(name, creating):
			return false
		}
		switch resource {
		case "machinedeployments", "machinesets", "machinehealthchecks", "machinepools":
			return false
		case "machines", "azuremachines":
			if name == gone && resource == "machines" {
				uuid, _ = runs.In(o, "status", "nodeInfo")["systemUUID"].(string)
			}
			return name == living || name == gone
		case "kubeadmcontrolplanes":
			runs.In(o, "spec")["replicas"] = 2
			for _, count := range []string{"replicas", "readyReplicas", "upToDateReplicas", "availableReplicas"} {
				runs.In(o, "status")[count] = 2
			}
		}
		return true
	})
	var vm azurelab.Object
	w.Azure.Edit(func(id string, o azurelab.Object) bool {
		if o["name"] == living && strings.Contains(id, "/virtualmachines/") {
			vm = o
			return true
		}
		return !strings.Contains(id, "/virtualmachine")
	})
	again := maps.Clone(vm)
	again["properties"] = maps.Clone(vm["properties"].(azurelab.Object))
	again["properties"].(azurelab.Object)["vmId"] = uuid
	w.Azure.Put(strings.Replace(vm["id"].(string), living, gone, 1), vm["type"].(string), again)
	w.WithAzureNodesIn(runs.NodeForEach(t, w.Backups[0], "shop"))
	return w
}
