package list

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/detector/rehearsal"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/report"
	"drift-detector/report/code"
)

// restored is one change, and what the restored controllers do then.
type restored struct {
	name    string
	cloud   func(*azurelab.Server)
	backup  func(resource string, object map[string]any) bool
	machine string
	outcome code.Outcome
	says    string        // of the outcome
	effects []code.Reason // of its cluster, among others
	not     []code.Reason
}

// withoutResource deletes what has an id that ends so.
func withoutResource(end string) func(*azurelab.Server) {
	return func(s *azurelab.Server) {
		found := false
		s.Edit(func(id string, _ azurelab.Object) bool {
			is := strings.HasSuffix(strings.ToLower(id), strings.ToLower(end))
			found = found || is
			return !is
		})
		if !found {
			panic("there is nothing called " + end)
		}
	}
}

// capacity returns that of a scale set.
func capacity(name string, n float64) func(*azurelab.Server) {
	return func(s *azurelab.Server) {
		s.Edit(func(id string, o azurelab.Object) bool {
			if strings.HasSuffix(strings.ToLower(id), "/virtualmachinescalesets/"+name) {
				o["sku"].(azurelab.Object)["capacity"] = n
			}
			return true
		})
	}
}

// policy sets the reconcile-policy of an object of ASO.
func policy(name, value string) func(string, map[string]any) bool {
	return func(resource string, o map[string]any) bool {
		if meta := o["metadata"].(map[string]any); resource == "resourcegroups.resources.azure.com" && meta["name"] == name {
			meta["annotations"].(map[string]any)["serviceoperator.azure.com/reconcile-policy"] = value
		}
		return true
	}
}

var foretellings = []restored{
	{name: "as it was: adopted, once AzureMachines are restored again", machine: living, outcome: code.Adopted, says: "its name", effects: []code.Reason{code.RefusedAtFirst}, not: []code.Reason{code.ChangesUndone, code.NetworkSetBack}},
	{name: "SSH closed: opened again", cloud: func(s *azurelab.Server) {
		s.Edit(func(id string, o azurelab.Object) bool {
			if strings.HasSuffix(strings.ToLower(id), "/shop-controlplane-nsg") {
				p := o["properties"].(azurelab.Object)
				p["securityRules"] = p["securityRules"].([]any)[1:]
			}
			return true
		})
	}, machine: living, outcome: code.Adopted, effects: []code.Reason{code.ChangesUndone}},
	{name: "a subnet delegated: ASO takes that off", cloud: func(s *azurelab.Server) {
		s.Edit(func(id string, o azurelab.Object) bool {
			if strings.HasSuffix(strings.ToLower(id), "/shop/providers/microsoft.network/virtualnetworks/shop-vnet/subnets/node-subnet") {
				o["properties"].(azurelab.Object)["delegations"] = []any{azurelab.Object{"name": "d", "properties": azurelab.Object{"serviceName": "Microsoft.ContainerInstance/containerGroups"}}}
			}
			return true
		})
	}, machine: living, outcome: code.Adopted, effects: []code.Reason{code.NetworkSetBack}},
	{name: "made again under its name, worker: taken", cloud: again(living), machine: living, outcome: code.OtherInstanceTaken, says: "takes over another instance that has its name", effects: []code.Reason{code.OtherInstance, code.MachinesUnknown}},
	{name: "made again under its name, only control plane: taken, and not called gone", cloud: again(plane), machine: plane, outcome: code.OtherInstanceTaken, effects: []code.Reason{code.OtherInstance}, not: []code.Reason{code.ControlPlaneDown}},
	{name: "gone with its interface: broken, and the interface is made", machine: gone, outcome: code.Stuck, says: "never creates a new instance", effects: []code.Reason{code.MachinesBroken, code.ResourceMade}},
	{name: "gone, its interface left: broken", machine: "shop-md-1-2fcjq-67vz2", outcome: code.Stuck, effects: []code.Reason{code.MachinesBroken}},
	{name: "deallocated: broken, nobody starts it", cloud: power(living, "deallocated"), machine: living, outcome: code.Stuck, says: "never starts one", effects: []code.Reason{code.InstancesStopped}},
	{name: "spot, evicted: broken, nobody starts it", cloud: both(power(living, "deallocated"), vm(living, func(_, p azurelab.Object) { p["priority"] = "Spot" })), machine: living, outcome: code.Stuck},
	{name: "last change failed: adopted all the same", cloud: vm(living, func(_, p azurelab.Object) { p["provisioningState"] = "Failed" }), machine: living, outcome: code.Adopted},
	{name: "tags removed: adopted", cloud: vm(living, func(o, _ azurelab.Object) { delete(o, "tags") }), machine: living, outcome: code.Adopted},
	{name: "interface of another group: left alone", cloud: vm(living, func(_, p azurelab.Object) {
		nics := p["networkProfile"].(azurelab.Object)
		nics["networkInterfaces"] = append(nics["networkInterfaces"].([]any), azurelab.Object{"id": groupID(azurelab.Retail, "ops") + "/providers/microsoft.network/networkinterfaces/b"})
	}), machine: living, outcome: code.Halted, says: "in another resource group", effects: []code.Reason{code.MachinesHalted}},
	{name: "in creation, its bootstrap data not in the backup: left alone", machine: creating, outcome: code.Halted, says: "CAPZ reads that before it looks for the VM"},
	{name: "never made: fails again", machine: unmade, outcome: code.Stuck, says: "could not be provisioned before"},
	{name: "health check, gone: replaced", machine: "shop-mhc-j2n7t-cxlzl", outcome: code.ReplacedByMachineHealthCheck},
	{name: "health check, deallocated: replaced with its VM", machine: "shop-mhc-j2n7t-h7v6h", outcome: code.ReplacedByMachineHealthCheck, effects: []code.Reason{code.LivingReplaced, code.RefusedAtFirst}},
	{name: "resource group gone: a network is made in it, the machines are broken", machine: "edge-7-md-0-fvr5c-nzt54", outcome: code.Stuck, effects: []code.Reason{code.ResourceMade}, not: []code.Reason{code.ClusterHalted}},
	{name: "resource group gone, its object says skip: halted", backup: policy("edge-7", "skip"), machine: "edge-7-md-0-fvr5c-nzt54", outcome: code.Stuck, effects: []code.Reason{code.ClusterHalted}},
	{name: "resource group gone, its object not in the backup: made", backup: func(resource string, _ map[string]any) bool { return resource != "resourcegroups.resources.azure.com" }, machine: "edge-7-md-0-fvr5c-nzt54", outcome: code.Stuck, effects: []code.Reason{code.ResourceMade}, not: []code.Reason{code.ClusterHalted}},
	{name: "balancer of the API server gone: made, and out of reach", cloud: withoutResource("/loadbalancers/shop-public-lb"), machine: living, outcome: code.Adopted, effects: []code.Reason{code.ControlPlaneDown, code.ResourceMade}},
	{name: "NAT gateway gone: made", cloud: withoutResource("/natgateways/shop-natgw"), machine: living, outcome: code.Adopted, effects: []code.Reason{code.ResourceMade}, not: []code.Reason{code.ControlPlaneDown}},
	{name: "network of a peering gone: halted", backup: azurelab.Spec("AzureCluster", "shop", func(s map[string]any) {
		s["networkSpec"].(map[string]any)["vnet"].(map[string]any)["peerings"] = []any{map[string]any{"resourceGroup": "hub", "remoteVnetName": "hub"}}
	}), machine: living, outcome: code.Adopted, effects: []code.Reason{code.ClusterHalted}},
	{name: "network of a peering there: adopted", cloud: func(s *azurelab.Server) {
		s.Put("/subscriptions/"+azurelab.Retail+"/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub", "Microsoft.Network/virtualNetworks", azurelab.Object{"properties": azurelab.Object{}})
	}, backup: azurelab.Spec("AzureCluster", "shop", func(s map[string]any) {
		s["networkSpec"].(map[string]any)["vnet"].(map[string]any)["peerings"] = []any{map[string]any{"resourceGroup": "hub", "remoteVnetName": "hub"}}
	}), machine: living, outcome: code.Adopted, not: []code.Reason{code.ClusterHalted}},
	{name: "no identity named: halted", backup: azurelab.Spec("AzureCluster", "shop", func(s map[string]any) { delete(s, "identityRef") }), machine: living, outcome: code.Adopted, effects: []code.Reason{code.ClusterHalted}},
	{name: "its Secret not in the backup, listed with another login: halted", backup: lacks("Secret", "retail-sp-secret"), machine: living, outcome: code.Adopted, effects: []code.Reason{code.ClusterHalted}},
	{name: "tenantID is no UUID, listed with another login: halted", backup: azurelab.Spec("AzureClusterIdentity", "retail-sp", func(s map[string]any) { s["tenantID"] = "x" }), machine: living, outcome: code.Adopted, effects: []code.Reason{code.ClusterHalted}},
	{name: "certificate of a form that is not read, listed with another login: not known", backup: azurelab.Spec("AzureClusterIdentity", "retail-sp", func(s map[string]any) { s["type"] = "ServicePrincipalCertificate" }), machine: living, outcome: code.Adopted, not: []code.Reason{code.ClusterHalted}},
	{name: "uniform member: left alone until it is freed", machine: uniform, outcome: code.Halted, says: "owner of AzureMachinePoolMachine", effects: []code.Reason{code.MachinesHalted}, not: []code.Reason{code.RolloutDue, code.ChangesUndone}},
	{name: "scale set of another size: rolled", cloud: func(s *azurelab.Server) {
		s.Edit(func(id string, o azurelab.Object) bool {
			if strings.HasSuffix(strings.ToLower(id), "/virtualmachinescalesets/train-uni") {
				o["sku"].(azurelab.Object)["name"] = "Standard_D4s_v3"
			}
			return true
		})
	}, machine: uniform, outcome: code.Halted, effects: []code.Reason{code.RolloutDue}},
	{name: "flexible member: left alone until it is freed", machine: flexible, outcome: code.Halted, says: "owner of AzureMachinePoolMachine"},
	{name: "uniform member gone: its Machine stays", machine: "train-uni-0", outcome: code.Halted, says: "nobody the Machine", effects: []code.Reason{code.MachinesBroken}},
	{name: "flexible member gone: its Machine stays", cloud: without("train-flex_178d3a67"), machine: flexible, outcome: code.Halted, says: "nobody the Machine"},
	{name: "pool scaled up since: members end", machine: uniform, outcome: code.Halted, effects: []code.Reason{code.PoolScaledBack}},
	{name: "pool scaled down since: members are made", cloud: both(capacity("train-uni", 2), capacity("train-flex", 2)), machine: uniform, outcome: code.Halted, effects: []code.Reason{code.PoolGrown}},
	{name: "scale set gone: made, with new members", cloud: func(s *azurelab.Server) {
		s.Edit(func(id string, _ azurelab.Object) bool {
			return !strings.Contains(strings.ToLower(id), "/virtualmachinescalesets/train-uni")
		})
	}, machine: uniform, outcome: code.MemberGone, effects: []code.Reason{code.MachinesMade}},
}

func TestForecasts(t *testing.T) {
	original := azurelab.Backup(t, lab)
	for _, sc := range foretellings {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			s := azurelab.Serve(t, lab, azurelab.Options{})
			if sc.cloud != nil {
				sc.cloud(s)
			}
			data := original
			if sc.backup != nil {
				data = azurelab.Edit(t, data, sc.backup)
			}
			s.Principals(func(p *azurelab.Principal) { p.Scopes = nil })
			w, f := rehearse(t, data, access(s))
			for i, c := range w.Clusters {
				named := map[string]rehearsal.Machine{}
				for j, v := range c.ControlPlane.Machines {
					named[v.Name] = f.Forecast.Clusters[i].ControlPlane.Machines[j]
				}
				for k, g := range c.WorkerGroups {
					for j, v := range g.Machines {
						named[v.Name] = f.Forecast.Clusters[i].Groups[k].Machines[j]
					}
				}
				m, is := named[sc.machine]
				if !is {
					continue
				}
				if m.Outcome != sc.outcome || !strings.Contains(m.Message, sc.says) {
					t.Errorf("%s: %s: %s; %s", sc.machine, m.Outcome, m.Message, m.Condition)
				}
				var codes []code.Reason
				for _, e := range f.Forecast.Clusters[i].Effects {
					codes = append(codes, e.Code)
				}
				for _, want := range sc.effects {
					if !slices.Contains(codes, want) {
						t.Errorf("no %s, but %v", want, codes)
					}
				}
				if refused := func(n report.Note) bool { return n.Code == code.RefusedAtFirst }; !slices.ContainsFunc(f.Forecast.Clusters[i].Notes, refused) {
					t.Error("no note says that AzureMachines are refused at first")
				}
				for _, not := range sc.not {
					if slices.Contains(codes, not) {
						t.Errorf("%s among %v", not, codes)
					}
				}
				return
			}
			t.Error("there is no such machine")
		})
	}
}
