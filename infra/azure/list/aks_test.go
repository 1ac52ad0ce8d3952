package list

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/detector"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/report/code"
)

type anObject = map[string]any

// aks returns a backup of an AKS cluster whose pool has two members.
func aks(plane, cluster, pool string) []byte {
	set := "/subscriptions/" + azurelab.Retail + "/resourceGroups/MC_web_web_westeurope/providers/Microsoft.Compute/virtualMachineScaleSets/aks-pool0-123-vmss"
	meta := func(name string) anObject {
		return anObject{"namespace": "team", "name": name, "uid": backuptest.UID("team", name), "labels": anObject{"cluster.x-k8s.io/cluster-name": "web"}}
	}
	ref := func(kind, name string) anObject {
		return anObject{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": kind, "name": name, "namespace": "team"}
	}
	b := backuptest.New()
	b.Add("clusters.cluster.x-k8s.io", anObject{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": meta("web"), "spec": anObject{
		"controlPlaneRef": ref(plane, "web"), "infrastructureRef": ref(cluster, "web"),
	}})
	b.Add(strings.ToLower(plane)+"s.infrastructure.cluster.x-k8s.io", anObject{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": plane, "metadata": meta("web"), "spec": anObject{
		"subscriptionID": azurelab.Retail, "resourceGroupName": "web", "identityRef": anObject{"kind": "AzureClusterIdentity", "name": "sp", "namespace": "team"},
	}})
	b.Add("azureclusteridentities.infrastructure.cluster.x-k8s.io", anObject{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "AzureClusterIdentity", "metadata": anObject{"namespace": "team", "name": "sp"}, "spec": anObject{
		"type": "ServicePrincipal", "tenantID": azurelab.Operator["AZURE_TENANT_ID"], "clientID": azurelab.Operator["AZURE_CLIENT_ID"], "allowedNamespaces": anObject{},
		"clientSecret": anObject{"name": "sp", "namespace": "team"},
	}})
	b.Add("secrets", anObject{"apiVersion": "v1", "kind": "Secret", "metadata": anObject{"namespace": "team", "name": "sp"}, "data": anObject{"clientSecret": []byte(azurelab.Operator["AZURE_CLIENT_SECRET"])}})
	var ids []any
	for n := range 2 {
		ids = append(ids, fmt.Sprintf("azure://%s/virtualMachines/%d", set, n))
	}
	b.Add("machinepools.cluster.x-k8s.io", anObject{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachinePool", "metadata": meta("pool0"), "spec": anObject{
		"clusterName": "web", "replicas": 2, "providerIDList": ids, "template": anObject{"spec": anObject{"clusterName": "web", "infrastructureRef": ref(pool, "pool0")}},
	}})
	b.Add(strings.ToLower(pool)+"s.infrastructure.cluster.x-k8s.io", anObject{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": pool, "metadata": meta("pool0"), "spec": anObject{"providerIDList": ids}})
	return b.Bytes()
}

// Pools of AKS are compared as sets, in the resource group that AKS made for them.
func TestAKS(t *testing.T) {
	of := func(s *azurelab.Server, members ...int) {
		set := "/subscriptions/" + azurelab.Retail + "/resourceGroups/mc_web_web_westeurope/providers/Microsoft.Compute/virtualMachineScaleSets/aks-pool0-123-vmss"
		s.Put(set, "Microsoft.Compute/virtualMachineScaleSets", azurelab.Object{"sku": azurelab.Object{"capacity": len(members)}, "properties": azurelab.Object{"orchestrationMode": "Uniform"}})
		s.Put("/subscriptions/"+azurelab.Retail+"/resourceGroups/web/providers/Microsoft.ContainerService/managedClusters/web", "Microsoft.ContainerService/managedClusters", azurelab.Object{"properties": azurelab.Object{}})
		for _, n := range members {
			s.Put(fmt.Sprintf("%s/virtualMachines/%d", set, n), "Microsoft.Compute/virtualMachineScaleSets/virtualMachines", azurelab.Object{"_power": "running", "properties": azurelab.Object{
				"vmId": fmt.Sprintf("00000000-1111-4222-8333-%012d", n), "timeCreated": "2026-11-25T12:00:00Z", "provisioningState": "Succeeded",
			}})
		}
	}
	for name, c := range map[string]struct {
		data  []byte
		cloud func(*azurelab.Server)
		state code.Presence
		now   int
	}{
		"as it was":                 {aks("AzureManagedControlPlane", "AzureManagedCluster", "AzureManagedMachinePool"), func(s *azurelab.Server) { of(s, 0, 1) }, code.Present, 2},
		"scaled up":                 {aks("AzureManagedControlPlane", "AzureManagedCluster", "AzureManagedMachinePool"), func(s *azurelab.Server) { of(s, 0, 1, 2) }, code.Present, 3},
		"scaled down":               {aks("AzureManagedControlPlane", "AzureManagedCluster", "AzureManagedMachinePool"), func(s *azurelab.Server) { of(s, 1) }, code.Present, 1},
		"the set is gone":           {aks("AzureManagedControlPlane", "AzureManagedCluster", "AzureManagedMachinePool"), func(s *azurelab.Server) { of(s, 0); s.DeleteGroup(groupID(azurelab.Retail, "mc_web_web_westeurope")) }, code.Absent, 0},
		"its group is refused":      {aks("AzureManagedControlPlane", "AzureManagedCluster", "AzureManagedMachinePool"), func(s *azurelab.Server) { of(s, 0); s.Deny(groupID(azurelab.Retail, "mc_web_web_westeurope")) }, code.Undecided, 0},
		"of Azure Service Operator": {aks("AzureASOManagedControlPlane", "AzureASOManagedCluster", "AzureASOManagedMachinePool"), func(s *azurelab.Server) { of(s, 0, 1) }, code.Present, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := azurelab.Serve(t, lab, azurelab.Options{})
			c.cloud(s)
			w := decide(t, c.data, access(s))
			i := slices.IndexFunc(w.result.Clusters[0].WorkerGroups, func(s detector.Set) bool { return s.Pool != nil })
			if i < 0 {
				t.Fatal("the cluster has no pool")
			}
			p := w.result.Clusters[0].WorkerGroups[i].Pool
			if p.State != c.state || len(p.Now) != c.now {
				t.Errorf("it is %s with %v (%s), want %s with %d", p.State, p.Now, p.Message, c.state, c.now)
			}
			if len(w.ghosts) > 0 {
				t.Errorf("its members are ghosts: %v", w.ghosts)
			}
		})
	}
}
