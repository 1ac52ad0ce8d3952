package list

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/azure"
	"drift-detector/infra/infratest"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/report/code"
)

// Machines and VMs of the fleet, after its drift.
const (
	living    = "shop-md-0-w66kl-wxqkz"
	gone      = "shop-md-0-w66kl-djmng"
	remade    = "shop-md-1-2fcjq-9252z"
	creating  = "shop-control-plane-sn8rj" // the backup records no id of it
	unmade    = "shop-gpu-9xjdb-tb5bw"     // likewise, and it has no VM
	ghost     = "shop-md-0-w66kl-2nq8x"
	lookAlike = "shop-md-9-manual"
	uniform   = "train-uni-1"
	flexible  = "train-flex-train-flex-178d3a67"
	plane     = "train-control-plane-vtc6v"
)

// vm edits the VM of a name.
func vm(name string, change func(o, p azurelab.Object)) func(*azurelab.Server) {
	return func(s *azurelab.Server) {
		if s.VM(name, func(o, p azurelab.Object) bool { change(o, p); return true }) == 0 {
			panic("there is no VM " + name)
		}
	}
}

func power(name, state string) func(*azurelab.Server) {
	return vm(name, func(o, _ azurelab.Object) { o["_power"] = state })
}

func without(name string) func(*azurelab.Server) {
	return func(s *azurelab.Server) { s.VM(name, func(azurelab.Object, azurelab.Object) bool { return false }) }
}

// again creates a VM under its name.
func again(name string) func(*azurelab.Server) {
	return vm(name, func(_, p azurelab.Object) {
		p["vmId"], p["timeCreated"] = "00000000-1111-4222-8333-444444444444", "2026-11-25T13:00:00.1234567+00:00"
	})
}

// moved moves a VM to another resource group, as it is.
func moved(name, group string) func(*azurelab.Server) {
	return func(s *azurelab.Server) {
		var it azurelab.Object
		s.VM(name, func(o, _ azurelab.Object) bool { it = maps.Clone(o); return false })
		s.Put("/subscriptions/"+azurelab.Retail+"/resourceGroups/"+group+"/providers/Microsoft.Compute/virtualMachines/"+name, "Microsoft.Compute/virtualMachines", it)
	}
}

func both(all ...func(*azurelab.Server)) func(*azurelab.Server) {
	return func(s *azurelab.Server) {
		for _, one := range all {
			one(s)
		}
	}
}

func deny(ids ...string) func(*azurelab.Server) {
	return func(s *azurelab.Server) {
		for _, id := range ids {
			s.Deny(id)
		}
	}
}

func lacks(kind, name string) func(string, map[string]any) bool {
	return func(_ string, o map[string]any) bool {
		meta, _ := o["metadata"].(map[string]any)
		return o["kind"] != kind || meta["name"] != name
	}
}

// withoutUUID takes away what the kubelet of a machine reported.
func withoutUUID(name string) func(string, map[string]any) bool {
	return func(_ string, o map[string]any) bool {
		if meta, _ := o["metadata"].(map[string]any); o["kind"] == "Machine" && meta["name"] == name {
			delete(o["status"].(map[string]any), "nodeInfo")
		}
		return true
	}
}

// A scene is one change, and what is decided then.
type scene struct {
	name    string
	cloud   func(*azurelab.Server)
	backup  func(resource string, object map[string]any) bool
	options azurelab.Options
	machine string
	status  code.Status
	reason  code.Reason
	warning code.Reason // that goes with it
	state   code.ScopeState
}

// Tags that CAPZ gives to a VM: to the first it adds the name of the Cluster.
const (
	tagCluster = "sigs.k8s.io_cluster-api-provider-azure_cluster_"
	tagRole    = "sigs.k8s.io_cluster-api-provider-azure_role"
)

// swapped returns a UUID with the bytes of its first three fields in the other order.
func swapped(u string) string {
	return u[6:8] + u[4:6] + u[2:4] + u[:2] + "-" + u[11:13] + u[9:11] + "-" + u[16:18] + u[14:16] + u[18:]
}

const (
	healthy, stale, unknown = code.Healthy, code.Stale, code.Unknown
	complete, partial       = code.ScopeComplete, code.ScopePartial
)

var scenes = []scene{
	{name: "a VM as it was: Healthy", machine: living, status: healthy},
	{name: "made again under its name, worker: Unknown", cloud: again(living), machine: living, status: unknown, reason: code.IdentityChanged},
	{name: "made again under its name, only control plane: Unknown", cloud: again(plane), machine: plane, status: unknown, reason: code.IdentityChanged},
	{name: "made again under its name and deallocated: not Healthy", cloud: both(again(living), power(living, "deallocated")), machine: living, status: unknown, reason: code.IdentityChanged},
	{name: "made again under its name, its Machine has no nodeInfo: Unknown", cloud: again(living), backup: withoutUUID(living), machine: living, status: unknown, reason: code.IdentityChanged},
	{name: "no nodeInfo, older than the backup: Healthy", backup: withoutUUID(living), machine: living, status: healthy},
	{name: "no nodeInfo, and Azure does not say when it was created: Unknown", cloud: vm(living, func(_, p azurelab.Object) { delete(p, "timeCreated") }), backup: withoutUUID(living), machine: living, status: unknown, reason: code.InstanceUnreadable, state: partial},
	{name: "vmId in the other order of bytes: Healthy", cloud: vm(living, func(_, p azurelab.Object) { p["vmId"] = swapped("7e639352-7c3b-4abd-8c98-c1db8f601e56") }), machine: living, status: healthy},
	{name: "vmId in upper case: Healthy", cloud: vm(living, func(_, p azurelab.Object) { p["vmId"] = strings.ToUpper(p["vmId"].(string)) }), machine: living, status: healthy},
	{name: "Azure does not say vmId: Unknown", cloud: vm(living, func(_, p azurelab.Object) { delete(p, "vmId") }), machine: living, status: unknown, reason: code.InstanceUnreadable, state: partial},
	{name: "Azure says a vmId that is none: Unknown", cloud: vm(living, func(_, p azurelab.Object) { p["vmId"] = "x" }), machine: living, status: unknown, reason: code.InstanceUnreadable},
	{name: "deleted: Stale", cloud: without(living), machine: living, status: stale, reason: code.InstanceNotFound},
	{name: "deallocated: Healthy, off", cloud: power(living, "deallocated"), machine: living, status: healthy, warning: code.PoweredOff},
	{name: "deallocating: Healthy, off", cloud: power(living, "deallocating"), machine: living, status: healthy, warning: code.PoweredOff},
	{name: "stopped: Healthy, off", cloud: power(living, "stopped"), machine: living, status: healthy, warning: code.PoweredOff},
	{name: "starting: Healthy", cloud: power(living, "starting"), machine: living, status: healthy},
	{name: "spot, evicted: Healthy, off", cloud: both(power(living, "deallocated"), vm(living, func(_, p azurelab.Object) { p["priority"] = "Spot" })), machine: living, status: healthy, warning: code.PoweredOff},
	{name: "power state unknown: Unknown", cloud: power(living, "unknown"), machine: living, status: unknown, reason: code.InstanceUnreadable},
	{name: "the list of power states lacks it: it is asked, Healthy", cloud: func(s *azurelab.Server) { s.WithoutStatus(living) }, machine: living, status: healthy, state: complete},
	{name: "the list of power states lacks it, and it may not be asked: Unknown", cloud: both(func(s *azurelab.Server) { s.WithoutStatus(living) }, deny(vmID(living)+"/instanceview")), machine: living, status: unknown, reason: code.InstanceUnreadable, state: partial},
	{name: "power state of no known name: Unknown", cloud: power(living, "hibernated"), machine: living, status: unknown, reason: code.InstanceUnreadable},
	{name: "Failed: Healthy with a warning", cloud: vm(living, func(_, p azurelab.Object) { p["provisioningState"] = "Failed" }), machine: living, status: healthy, warning: code.Reason(infra.ErrorState)},
	{name: "Creating: Healthy with a warning", cloud: vm(living, func(_, p azurelab.Object) { p["provisioningState"] = "Creating" }), machine: living, status: healthy, warning: code.Reason(infra.NotActive)},
	{name: "Updating: Healthy", cloud: vm(living, func(_, p azurelab.Object) { p["provisioningState"] = "Updating" }), machine: living, status: healthy},
	{name: "Deleting: Unknown", cloud: vm(living, func(_, p azurelab.Object) { p["provisioningState"] = "Deleting" }), machine: living, status: unknown, reason: code.InstanceUnreadable},
	{name: "tags removed: Healthy", cloud: vm(living, func(o, _ azurelab.Object) { delete(o, "tags") }), machine: living, status: healthy},
	{name: "in creation at the backup, its VM there: Healthy", machine: creating, status: healthy},
	{name: "in creation at the backup, VM of its name without tags: Unknown", cloud: vm(creating, func(o, _ azurelab.Object) { delete(o, "tags") }), machine: creating, status: unknown, reason: code.AmbiguousMatch},
	{name: "in creation at the backup, its VM being deleted: Unknown", cloud: vm(creating, func(_, p azurelab.Object) { p["provisioningState"] = "Deleting" }), machine: creating, status: unknown, reason: code.InstanceUnreadable},
	{name: "never made: Stale", machine: unmade, status: stale, reason: code.NotProvisioned},
	{name: "resource group gone: Stale", machine: "edge-7-md-0-fvr5c-nzt54", status: stale, reason: code.InstanceNotFound},
	{name: "resource group gone, and the account may not read the subscription: Unknown", cloud: func(s *azurelab.Server) {
		s.Principals(func(p *azurelab.Principal) {
			if len(p.Scopes) > 0 {
				p.Scopes = []string{"/subscriptions/" + azurelab.Retail + "/resourceGroups/edge-7", "/subscriptions/" + azurelab.Retail + "/resourceGroups/shop"}
			}
		})
	}, machine: "edge-7-md-0-fvr5c-nzt54", status: unknown, reason: code.ScopeIncomplete, state: complete},
	{name: "an account of the group alone sees its VMs: Healthy", cloud: func(s *azurelab.Server) {
		s.Principals(func(p *azurelab.Principal) {
			if len(p.Scopes) > 0 {
				p.Scopes = []string{"/subscriptions/" + azurelab.Retail + "/resourceGroups/shop"}
			}
		})
	}, machine: living, status: healthy, state: complete},
	{name: "an account of the group alone, VM gone: Stale", cloud: func(s *azurelab.Server) {
		s.Principals(func(p *azurelab.Principal) {
			if len(p.Scopes) > 0 {
				p.Scopes = []string{"/subscriptions/" + azurelab.Retail + "/resourceGroups/shop"}
			}
		})
	}, machine: gone, status: stale, reason: code.InstanceNotFound},
	{name: "moved to another resource group: Unknown", cloud: moved(living, "shop-dr"), machine: living, status: unknown, reason: code.IdentityChanged},
	{name: "moved to another resource group, vmId in the other order of bytes: Unknown", cloud: both(vm(living, func(_, p azurelab.Object) { p["vmId"] = swapped(p["vmId"].(string)) }), moved(living, "shop-dr")), machine: living, status: unknown, reason: code.IdentityChanged},
	{name: "deleted, and another VM has its name in another resource group: Stale", cloud: both(again(living), moved(living, "shop-dr")), machine: living, status: stale, reason: code.InstanceNotFound},
	{name: "resource group refused: Unknown", cloud: deny(groupID(azurelab.Retail, "shop")), machine: gone, status: unknown, reason: code.ScopeIncomplete},
	{name: "group readable and its VMs forbidden, gone: Unknown", cloud: deny(groupID(azurelab.Retail, "shop") + "/providers/microsoft.compute"), machine: gone, status: unknown, reason: code.ScopeIncomplete},
	{name: "one VM is hidden from the list: Unknown", cloud: deny(vmID(living)), machine: living, status: unknown, reason: code.ScopeIncomplete},
	{name: "one VM is hidden from the list, another one is gone: Unknown", cloud: deny(vmID(living)), machine: gone, status: unknown, reason: code.ScopeIncomplete},
	{name: "the list leaves out a VM that exists, another one is gone: Unknown", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "/providers/Microsoft.Compute/virtualMachines.api-version=2024-03-01$", Change: func(o azurelab.Object) {
			o["value"] = slices.DeleteFunc(o["value"].([]any), func(vm any) bool { return vm.(map[string]any)["name"] == living })
		}})
	}, machine: gone, status: unknown, reason: code.ScopeIncomplete, state: partial},
	{name: "the list leaves out a VM that exists: it is found by its id, Healthy", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "/providers/Microsoft.Compute/virtualMachines.api-version=2024-03-01$", Change: func(o azurelab.Object) {
			o["value"] = slices.DeleteFunc(o["value"].([]any), func(vm any) bool { return vm.(map[string]any)["name"] == living })
		}})
	}, machine: living, status: healthy, state: partial},
	{name: "subscription of another tenant: Unknown", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "subscriptions/" + azurelab.Retail, Status: 401, Body: `{"error":{"code":"InvalidAuthenticationTokenTenant","message":"wrong issuer"}}`})
	}, machine: gone, status: unknown, reason: code.ScopeIncomplete, state: code.ScopeFailed},
	{name: "subscription does not exist: Unknown", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "subscriptions/" + azurelab.Retail, Status: 404, Body: `{"error":{"code":"SubscriptionNotFound","message":"none"}}`})
	}, machine: gone, status: unknown, reason: code.ScopeIncomplete, state: code.ScopeFailed},
	{name: "a proxy answers 404 for a VM: Unknown", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "virtualmachines/" + gone, Status: 404, Body: "<html>"})
	}, machine: gone, status: unknown, reason: code.ScopeIncomplete, state: partial},
	{name: "the token ends in mid-list: a new one, Healthy", cloud: func(s *azurelab.Server) { s.Expire(12) }, machine: living, status: healthy, state: complete},
	{name: "tokens end again and again: Unknown", cloud: func(s *azurelab.Server) { s.Expire(1) }, machine: gone, status: unknown, reason: code.ScopeIncomplete},
	{name: "throttled once: Healthy", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "api-version=2024-03-01$", Status: 429, RetryAfter: 1, Body: "{}", To: 1})
	}, machine: living, status: healthy, state: complete},
	{name: "throttled for good: Unknown", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "api-version=2024-03-01$", Status: 429, Body: "{}"})
	}, machine: gone, status: unknown, reason: code.ScopeIncomplete},
	{name: "half a page: Unknown", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "skiptoken=3&api-version=2024-03-01$", Cut: true})
	}, options: azurelab.Options{PageSize: 3}, machine: gone, status: unknown, reason: code.ScopeIncomplete, state: partial},
	{name: "a page without a list: Unknown", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "skiptoken=3&api-version=2024-03-01$", Change: func(o azurelab.Object) { delete(o, "value") }})
	}, options: azurelab.Options{PageSize: 3}, machine: gone, status: unknown, reason: code.ScopeIncomplete, state: partial},
	{name: "pages go round in a circle: Unknown", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "skiptoken=6&api-version=2024-03-01$", Change: func(o azurelab.Object) {
			o["nextLink"] = "https://" + azurelab.Manager + "/subscriptions/" + azurelab.Retail + "/providers/Microsoft.Compute/virtualMachines?%24skiptoken=3&api-version=2024-03-01"
		}})
	}, options: azurelab.Options{PageSize: 3}, machine: gone, status: unknown, reason: code.ScopeIncomplete},
	{name: "a VM of another subscription in the list: Unknown", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: azurelab.Retail + "/providers/Microsoft.Compute/virtualMachines.*api-version=2024-03-01$", Change: func(o azurelab.Object) {
			first := o["value"].([]any)[0].(map[string]any)
			first["id"] = strings.Replace(first["id"].(string), azurelab.Retail, azurelab.ML, 1)
		}})
	}, machine: gone, status: unknown, reason: code.ScopeIncomplete},
	{name: "resource group renamed in case: Healthy", options: azurelab.Options{UpperCase: true}, machine: plane, status: healthy},
	{name: "provider id in another case: Healthy", backup: azurelab.Spec("AzureMachine", living, func(s map[string]any) { s["providerID"] = strings.ToUpper(s["providerID"].(string)) }), machine: living, status: healthy},
	{name: "two ids recorded: Unknown", backup: azurelab.Spec("AzureMachine", living, func(s map[string]any) { s["providerID"] = strings.Replace(s["providerID"].(string), living, ghost, 1) }), machine: living, status: unknown, reason: code.ConflictingIDs},
	{name: "id in another group than the cluster's: Unknown", backup: func(r string, o map[string]any) bool {
		other := func(s map[string]any) {
			s["providerID"] = strings.Replace(s["providerID"].(string), "/shop/", "/shop-dr/", 1)
		}
		return azurelab.Spec("AzureMachine", living, other)(r, o) && azurelab.Spec("Machine", living, other)(r, o)
	}, machine: living, status: unknown, reason: code.ConflictingIDs},
	{name: "id that is none of Azure's: Unknown", backup: azurelab.Spec("AzureMachine", living, func(s map[string]any) { s["providerID"] = "aws:///i-0123" }), machine: living, status: unknown, reason: code.ConflictingIDs},
	{name: "AzureMachine records no id, and Machine that of another VM: Unknown", backup: func(r string, o map[string]any) bool {
		other := func(s map[string]any) { s["providerID"] = "azure://" + vmID("shop-other") }
		return azurelab.Spec("AzureMachine", living, func(s map[string]any) { delete(s, "providerID") })(r, o) && azurelab.Spec("Machine", living, other)(r, o)
	}, machine: living, status: unknown, reason: code.ConflictingIDs},
	{name: "AzureMachine records a member of a scale set: Unknown", backup: func(r string, o map[string]any) bool {
		member := func(s map[string]any) {
			s["providerID"] = "azure://" + groupID(azurelab.ML, "rg-ml-train") + "/providers/microsoft.compute/virtualmachinescalesets/train-uni/virtualmachines/4"
		}
		return withoutUUID(plane)(r, o) && azurelab.Spec("AzureMachine", plane, member)(r, o) && azurelab.Spec("Machine", plane, member)(r, o)
	}, cloud: vm("train-uni_4", func(_, p azurelab.Object) { p["timeCreated"] = "2026-11-25T12:00:00+00:00" }), machine: plane, status: unknown, reason: code.ConflictingIDs},
	{name: "id with a letter that only looks like one of ASCII: Unknown", backup: func(r string, o map[string]any) bool {
		kelvin := func(s map[string]any) {
			s["providerID"] = strings.Replace(s["providerID"].(string), "w66kl", "w66\u212Al", 1)
		}
		return azurelab.Spec("AzureMachine", living, kelvin)(r, o) && azurelab.Spec("Machine", living, kelvin)(r, o)
	}, machine: living, status: unknown, reason: code.ConflictingIDs},
	{name: "resource group of the cluster with such a letter: Unknown", backup: func(r string, o map[string]any) bool {
		group := func(s map[string]any) { s["resourceGroup"] = "\u212Ashop" }
		id := func(s map[string]any) {
			s["providerID"] = strings.Replace(s["providerID"].(string), "/shop/", "/kshop/", 1)
		}
		return azurelab.Spec("AzureCluster", "shop", group)(r, o) && azurelab.Spec("AzureMachine", living, id)(r, o) && azurelab.Spec("Machine", living, id)(r, o)
	}, machine: living, status: unknown, reason: code.ConflictingIDs},
	{name: "AzureMachine not in the backup: Unknown", backup: lacks("AzureMachine", living), machine: living, status: unknown, reason: code.InfraObjectMissing},
	{name: "AzureCluster not in the backup: Unknown", backup: lacks("AzureCluster", "shop"), machine: gone, status: unknown, reason: code.ScopeIncomplete},
	{name: "ASO objects not in the backup: as ever", backup: func(resource string, _ map[string]any) bool { return resource != "resourcegroups.resources.azure.com" }, machine: living, status: healthy},
	{name: "uniform member: Healthy", machine: uniform, status: healthy},
	{name: "uniform member gone: Stale", cloud: without("train-uni_1"), machine: uniform, status: stale, reason: code.PoolMember},
	{name: "uniform member made again under its number: Unknown", cloud: again("train-uni_1"), machine: uniform, status: unknown, reason: code.IdentityChanged},
	{name: "uniform member off: Healthy, off", cloud: power("train-uni_1", "deallocated"), machine: uniform, status: healthy, warning: code.PoweredOff},
	{name: "flexible member: Healthy", machine: flexible, status: healthy},
	{name: "flexible member gone: Stale", cloud: without("train-flex_178d3a67"), machine: flexible, status: stale, reason: code.PoolMember},
	{name: "flexible member left its set: Unknown", cloud: vm("train-flex_178d3a67", func(_, p azurelab.Object) { delete(p, "virtualMachineScaleSet") }), machine: flexible, status: unknown, reason: code.LeftPool},
	{name: "scale set gone with its members: Stale", cloud: func(s *azurelab.Server) {
		s.Edit(func(id string, _ azurelab.Object) bool {
			return !strings.Contains(id, "/virtualmachinescalesets/train-uni")
		})
	}, machine: uniform, status: stale, reason: code.PoolMember},
	{name: "members of a scale set refused: Unknown", cloud: deny(groupID(azurelab.ML, "rg-ml-train") + "/providers/microsoft.compute/virtualmachinescalesets/train-uni/virtualmachines"), machine: "train-uni-0", status: unknown, reason: code.ScopeIncomplete},
	{name: "scale set refused: Unknown", cloud: deny(groupID(azurelab.ML, "rg-ml-train")+"/providers/microsoft.compute/virtualmachinescalesets", "/subscriptions/"+azurelab.ML+"/providers/microsoft.compute/virtualmachinescalesets"), machine: "train-uni-0", status: unknown, reason: code.ScopeIncomplete},
	{name: "scale sets of the subscription refused, those of its groups listed: Healthy", cloud: deny("/subscriptions/" + azurelab.ML + "/providers/microsoft.compute/virtualmachinescalesets"), machine: uniform, status: healthy},
	{name: "scale sets of the subscription and of a group refused, a VM of the group is gone: Unknown", cloud: both(without("train-md-0-c95vj-2q675"), deny("/subscriptions/"+azurelab.ML+"/providers/microsoft.compute/virtualmachinescalesets", groupID(azurelab.ML, "rg-ml-train")+"/providers/microsoft.compute/virtualmachinescalesets")), machine: "train-md-0-c95vj-2q675", status: unknown, reason: code.ScopeIncomplete},
	{name: "the list of members is empty: one that lives is Healthy", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "train-uni/virtualMachines.api", Change: func(o azurelab.Object) { o["value"] = []any{} }})
	}, machine: uniform, status: healthy, state: partial},
	{name: "the list of members is empty: one that is gone is Unknown", cloud: func(s *azurelab.Server) {
		s.Fail(azurelab.Fault{Match: "train-uni/virtualMachines.api", Change: func(o azurelab.Object) { o["value"] = []any{} }})
	}, machine: "train-uni-0", status: unknown, reason: code.ScopeIncomplete, state: partial},
}

func TestScenes(t *testing.T) {
	original := azurelab.Backup(t, lab)
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			s := azurelab.Serve(t, lab, sc.options)
			if sc.cloud != nil {
				sc.cloud(s)
			}
			data := original
			if sc.backup != nil {
				data = azurelab.Edit(t, data, sc.backup)
			}
			a := access(s)
			if sc.machine == plane || strings.HasPrefix(sc.machine, "train-") {
				s.Principals(func(p *azurelab.Principal) { p.Scopes = nil })
			} else {
				a.Options = nil // what the backup's own account may read
			}
			w := decide(t, data, a)
			w.demand(t, sc.machine, sc.status, sc.reason)
			if v := w.machines[sc.machine]; sc.warning != "" && (len(v.Warnings) != 1 || v.Warnings[0].Reason != sc.warning) {
				t.Errorf("warnings are %+v, want %s", v.Warnings, sc.warning)
			} else if sc.warning == "" && sc.status == healthy && len(v.Warnings) > 0 {
				t.Errorf("warnings are %+v", v.Warnings)
			}
			of := w.listings[slices.IndexFunc(w.listings, func(l infra.Listing) bool {
				return slices.ContainsFunc(l.Clusters, func(id backup.ClusterID) bool { return (id.Name == "train") == strings.HasPrefix(sc.machine, "train-") })
			})]
			if sc.state != "" && of.State != sc.state {
				t.Errorf("the listing is %s: %+v", of.State, of.Fault)
			}
			if of.State != complete && (of.Fault == nil || of.Fault.Hint == "") {
				t.Errorf("the listing is %s, and says not what to do: %+v", of.State, of.Fault)
			}
		})
	}
}

// What Azure says of VMs that are no machine's.
func TestGhosts(t *testing.T) {
	other := func(s *azurelab.Server, group, name, created string, tags azurelab.Object) string {
		id := "/subscriptions/" + azurelab.Retail + "/resourceGroups/" + group + "/providers/Microsoft.Compute/virtualMachines/" + name
		s.Put(id, "Microsoft.Compute/virtualMachines", azurelab.Object{"tags": tags, "_power": "running", "properties": azurelab.Object{
			"vmId": "00000000-1111-4222-8333-555555555555", "timeCreated": created, "provisioningState": "Succeeded",
		}})
		return strings.ToLower(id)
	}
	ours := azurelab.Object{tagCluster + "shop": "owned", tagRole: "node"}
	for name, c := range map[string]struct {
		group, vm string
		tags      azurelab.Object
		want      string
	}{
		"one that the cluster made since: Ghost":                                                             {"shop", "shop-md-0-w66kl-bcdfg", ours, "Ghost"},
		"look-alike with all tags, younger than the backup: Ghost":                                           {"shop", "by-hand", ours, "Ghost"},
		"the tag of the cluster, and no role: to look at":                                                    {"shop", "by-hand", azurelab.Object{tagCluster + "shop": "owned"}, "NameOnly"},
		"all tags in another group: to look at":                                                              {"shop-dr", "by-hand", ours, "NameOnly"},
		"a name of the cluster in its group, without tags: Ghost":                                            {"shop", "shop-md-0-w66kl-bcdfg", nil, "Ghost"},
		"a name of the cluster in another group: to look at":                                                 {"elsewhere", "shop-md-0-w66kl-bcdfg", nil, "NameOnly"},
		"tags of a cluster that the backup does not know: unrelated":                                         {"shop", "other-0", azurelab.Object{tagCluster + "other": "owned", tagRole: "node"}, ""},
		"nothing of the cluster: unrelated":                                                                  {"shop", "jump-2", azurelab.Object{"owner": "ops"}, ""},
		"the name of a machine in another group: to look at":                                                 {"shop-dr", living, nil, "SameName"},
		"a name of the cluster and both tags, older than the backup, all Machines of its owner known: Ghost": {"shop", "shop-md-0-w66kl-bcdfg", ours, "Ghost"},
		"a name of the cluster and its tag alone, older than the backup: to look at":                         {"shop", "shop-md-0-w66kl-bcdfg", azurelab.Object{tagCluster + "shop": "owned"}, "NameOnly"},
		"tags in another case: Ghost":                                                                        {"shop", "by-hand", azurelab.Object{strings.ToUpper(tagCluster) + "shop": "Owned", strings.ToUpper(tagRole): "node"}, "Ghost"},
	} {
		t.Run(name, func(t *testing.T) {
			s := azurelab.Serve(t, lab, azurelab.Options{PageSize: 4})
			created := "2026-11-25T14:00:00+00:00"
			if strings.Contains(name, "older") {
				created = "2026-11-25T12:15:00+00:00"
			}
			id := other(s, c.group, c.vm, created, c.tags)
			w := decide(t, azurelab.Backup(t, lab), access(s))
			is := ""
			if v, ok := w.ghosts[id]; ok {
				is = string(v.Status)
			}
			if u, ok := w.unattributed[id]; ok {
				is += string(u.Reason)
			}
			if is != c.want {
				t.Errorf("it is %q, want %q", is, c.want)
			}
		})
	}
}

// Clusters of one name in two groups are told apart by the groups, and in one group not at
// all.
func TestTwoClustersOfOneName(t *testing.T) {
	for name, c := range map[string]struct {
		group string
		want  code.Status
	}{"in two groups: Ghost": {"shop-two", code.Ghost}, "in one group: a draw": {"shop", ""}} {
		t.Run(name, func(t *testing.T) {
			s := azurelab.Serve(t, lab, azurelab.Options{})
			s.Principals(func(p *azurelab.Principal) { p.Scopes = nil })
			s.VM(lookAlike, func(_, p azurelab.Object) bool {
				p["timeCreated"] = "2026-11-25T14:00:00+00:00"
				return true
			})
			// Another management cluster has clusters of the same names.
			uid := regexp.MustCompile(`"uid":"[0-9a-f]{8}`)
			second := backuptest.Rewrite(t, azurelab.Backup(t, lab), func(_ string, body []byte) ([]byte, bool) {
				return uid.ReplaceAll(body, []byte(`"uid":"ffffffff`)), true
			})
			second = azurelab.Edit(t, second, azurelab.Spec("AzureCluster", "shop", func(s map[string]any) { s["resourceGroup"] = c.group }))
			snapshot, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("a.tar.gz", azurelab.Backup(t, lab)), backuptest.Source("b.tar.gz", second)}, New().Spec().Want)
			if err != nil {
				t.Fatal(err)
			}
			w := decideWith(t, small(azurelab.Operator), snapshot, secrets, access(s))
			v, is := w.ghosts[vmID(lookAlike)]
			if u, drawn := w.unattributed[vmID(lookAlike)]; is != (c.want != "") || v.Status != c.want || drawn && u.Reason != code.AmbiguousOwner {
				t.Errorf("it is %v %+v, %+v", is, v, u)
			}
		})
	}
}

// A link to another server is not followed, whatever the other servers are.
func TestForeignLinks(t *testing.T) {
	addr, contacts := infratest.Listen(t)
	for _, link := range []string{
		"https://" + addr + "/subscriptions/x", "http://" + azurelab.Manager + "/subscriptions/x", "https://user@" + azurelab.Manager + "/x", "https://" + azurelab.Authority + "/x",
		"https://" + azurelab.Manager + ":8443/x", "//" + addr + "/x", "/subscriptions/x", "x", "https://", "https://" + azurelab.Manager + ".evil.example/x",
	} {
		s := azurelab.Serve(t, lab, azurelab.Options{PageSize: 3})
		s.Fail(azurelab.Fault{Match: "api-version=2024-03-01$", Change: func(o azurelab.Object) {
			if o["nextLink"] != nil {
				o["nextLink"] = link
			}
		}})
		w := decide(t, azurelab.Backup(t, lab), access(s))
		for _, l := range w.listings {
			if l.State == complete || l.Fault == nil || l.Fault.Reason != code.UnexpectedAnswer {
				t.Errorf("%q: %s %+v", link, l.State, l.Fault)
			}
		}
		w.demand(t, gone, unknown, code.ScopeIncomplete)
	}
	if n := contacts(); n > 0 {
		t.Errorf("another server was contacted %d times", n)
	}
}

// Lists of any length are read in pages, and only what the backup has to do with is kept.
func TestManyVMs(t *testing.T) {
	s := azurelab.Serve(t, lab, azurelab.Options{PageSize: 500, Synthetic: 10_000})
	p := small(azurelab.Operator)
	snapshot, secrets := azurelab.Load(t, p, azurelab.Backup(t, lab))
	c := p.Expected(snapshot)
	calls := 0
	for _, target := range p.Targets(snapshot, secrets, access(s)) {
		target.IsRelated = c.IsRelated()
		l := p.List(t.Context(), target)
		if l.State != complete || len(l.Instances) > 40 {
			t.Errorf("%s: %d of %d are kept: %+v", l.State, len(l.Instances), l.Count(), l.Fault)
		}
		calls += l.Count()
	}
	if calls != fleetVMs+10_000 {
		t.Errorf("%d VMs were listed", calls)
	}
	if n := len(s.Asked()); n > 100 {
		t.Errorf("%d calls", n)
	}
}

// So many VMs are not asked for one by one that a server which hides them would be busy.
func TestTooManyToLookUp(t *testing.T) {
	s := azurelab.Serve(t, lab, azurelab.Options{})
	p := small(azurelab.Operator)
	snapshot, secrets := azurelab.Load(t, p, azurelab.Backup(t, lab))
	for _, target := range p.Targets(snapshot, secrets, access(s)) {
		d := target.Detail.(*azure.Detail)
		for n := range maxMissing + 1 {
			d.Seek.VMs[vmID(fmt.Sprintf("gone-%d", n))] = time.Time{}
		}
		if target.Account == azurelab.Retail {
			if l := p.List(t.Context(), target); l.State != partial || !strings.Contains(l.Fault.Message, "no more than 500 are looked up one by one") {
				t.Errorf("%s: %+v", l.State, l.Fault)
			}
		}
	}
}
