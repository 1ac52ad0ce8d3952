package program

import (
	"maps"
	"strings"
	"testing"

	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/code"
)

// managedOpenStack returns the fleet of wellOpenStack with a network, a router and security
// groups that CAPO made for it.
func managedOpenStack(t *testing.T, o openstacklab.Options) (*world, *openstacklab.Server) {
	t.Helper()
	w, cloud := wellOpenStack(t, o)
	const network, router, name = "c47ce825-6d66-4882-9be5-1cbccd4536f7", "11111111-aaaa-4111-8111-111111111111", "k8s-clusterapi-cluster-tenant-os-b-data"
	w.change("managed", func(resource, _ string, o object) bool {
		if resource != "openstackclusters" {
			return true
		}
		spec, status := in(o, "spec"), in(o, "status")
		delete(spec, "network")
		delete(spec, "subnets")
		delete(spec, "disableExternalNetwork")
		spec["managedSubnets"] = []any{object{"cidr": "10.20.0.0/24"}}
		spec["managedSecurityGroups"] = object{}
		in(o, "status", "network")["name"] = name
		status["router"] = object{"id": router, "name": name}
		status["controlPlaneSecurityGroup"] = object{"id": "22222222-bbbb-4222-8222-222222222222", "name": "k8s-cluster-tenant-os-b-data-secgroup-controlplane"}
		status["workerSecurityGroup"] = object{"id": "22222222-aaaa-4222-8222-222222222222", "name": "k8s-cluster-tenant-os-b-data-secgroup-worker"}
		return true
	})
	cloud.Edit("networks", func(o openstacklab.Object) bool {
		if o["id"] == network {
			o["name"] = name
		}
		return true
	})
	cloud.Add("ports", openstacklab.Object{
		"id": "44444444-aaaa-4444-8444-444444444444", "name": "", "description": "", "device_id": router, "device_owner": "network:router_interface", "network_id": network,
		"project_id": openstacklab.Recorded.ProjectID, "tenant_id": openstacklab.Recorded.ProjectID, "security_groups": []any{},
	})
	add := func(kind, id, name string) {
		cloud.Add(kind, openstacklab.Object{"id": id, "name": name, "project_id": openstacklab.Recorded.ProjectID, "tenant_id": openstacklab.Recorded.ProjectID})
	}
	add("routers", router, name)
	add("security_groups", "22222222-aaaa-4222-8222-222222222222", "k8s-cluster-tenant-os-b-data-secgroup-worker")
	add("security_groups", "22222222-bbbb-4222-8222-222222222222", "k8s-cluster-tenant-os-b-data-secgroup-controlplane")
	return w, cloud
}

// CAPO looks for what it made by name: what has another name is made a second time, and of
// two things of the name it takes none.
func TestOpenStackManagedThingsByName(t *testing.T) {
	t.Parallel()
	w, cloud := managedOpenStack(t, openstacklab.Options{})
	args := append(w.sources(), w.withOpenStackNodes()...)
	w.run(args...).demandSafe(t, true, code.Adopted, "")
	for kind, c := range map[string]struct{ name, renamed, twins string }{
		"networks": {"k8s-clusterapi-cluster-tenant-os-b-data", "creates a second network", "name of the cluster's network"},
		"routers":  {"k8s-clusterapi-cluster-tenant-os-b-data", "creates a second router", "name of the cluster's router"},
		// The cluster is ready with a second group: what lives keeps the first one, by its id.
		"security_groups": {"k8s-cluster-tenant-os-b-data-secgroup-worker", "", "name of the cluster's security group"},
	} {
		t.Log(kind)
		var own openstacklab.Object
		rename := func(from, to string) {
			cloud.Edit(kind, func(o openstacklab.Object) bool {
				if o["name"] == from {
					o["name"], own = to, maps.Clone(o)
				}
				return true
			})
		}
		rename(c.name, "renamed")
		w.run(args...).demandSafe(t, false, code.Adopted, c.renamed)
		rename("renamed", c.name)
		own["id"], own["name"] = "33333333-aaaa-4333-8333-333333333333", c.name
		cloud.Add(kind, own)
		w.run(args...).demandSafe(t, false, code.Adopted, c.twins)
		cloud.Edit(kind, func(o openstacklab.Object) bool { return o["id"] != own["id"] })
	}
}

// A floating IP that is attached is left where it is, unless the API server has a load
// balancer.
func TestOpenStackFloatingIPOfAnother(t *testing.T) {
	t.Parallel()
	w, cloud := managedOpenStack(t, openstacklab.Options{})
	const ip = "203.0.113.77"
	w.change("floating", func(resource, _ string, o object) bool {
		if resource == "openstackclusters" {
			spec := in(o, "spec")
			delete(spec, "disableAPIServerFloatingIP")
			spec["controlPlaneEndpoint"] = object{"host": ip, "port": 6443}
			in(o, "status")["externalNetwork"] = object{"id": "10092081-2db9-4143-8229-1bc59416eec5", "name": "public-ext"}
		}
		return true
	})
	args := append(w.sources(), w.withOpenStackNodes()...)
	servers := cloud.Objects("servers")
	cloud.Like(servers[0]["name"].(string), "somebody", "44444444-aaaa-4444-8444-444444444444", false)
	apart := func(kind, id string) {
		cloud.Edit(kind, func(o openstacklab.Object) bool {
			if o[id] == "44444444-aaaa-4444-8444-444444444444" {
				o["network_id"], o["addresses"] = "66666666-aaaa-4666-8666-666666666666", object{}
			}
			return true
		})
	}
	apart("servers", "id")
	apart("ports", "device_id")
	ports := map[string]any{"nothing": nil}
	for _, p := range cloud.Objects("ports") {
		switch p["device_id"] {
		case servers[0]["id"]:
			ports["its own"] = p["id"]
		case "44444444-aaaa-4444-8444-444444444444":
			ports["another"] = p["id"]
		}
	}
	for name, port := range ports {
		t.Log(name)
		cloud.Edit("floatingips", func(openstacklab.Object) bool { return false })
		cloud.Add("floatingips", openstacklab.Object{"id": "55555555-aaaa-4555-8555-555555555555", "floating_ip_address": ip, "port_id": port, "project_id": openstacklab.Recorded.ProjectID})
		want, says := code.Adopted, ""
		if name == "another" {
			want, says = code.Halted, "no control plane machine of the cluster"
		}
		w.run(args...).demandSafe(t, name != "another", want, says)
	}
	if len(ports) != 3 {
		t.Error("it shows nothing")
	}
}

// The network and the subnets that a load balancer was given are looked up before the
// cluster is ready.
func TestOpenStackLoadBalancerNetwork(t *testing.T) {
	t.Parallel()
	const network, subnet = "c47ce825-6d66-4882-9be5-1cbccd4536f7", "7ce62685-a449-40d3-9be9-5352ac6d89b8"
	const gone = "77777777-aaaa-4777-8777-777777777777"
	for name, c := range map[string]struct {
		network, subnet string
		safe            bool
	}{
		"both there": {network, subnet, true}, "no network": {gone, subnet, false}, "no subnet": {network, gone, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, cloud := wellOpenStack(t, openstacklab.Options{})
			const id, name = "11111111-2222-4333-8444-555555555555", "k8s-clusterapi-cluster-tenant-os-b-data-kubeapi"
			w.change("balancer", func(resource, _ string, o object) bool {
				if resource == "openstackclusters" {
					in(o, "spec")["apiServerLoadBalancer"] = object{"enabled": true, "network": object{"id": c.network}, "subnets": []any{object{"id": c.subnet}}}
					in(o, "status")["apiServerLoadBalancer"] = object{"id": id, "name": name}
				}
				return true
			})
			cloud.Endpoint("load-balancer", cloud.Network)
			cloud.Add("loadbalancers", openstacklab.Object{"id": id, "name": name, "project_id": openstacklab.Recorded.ProjectID, "provisioning_status": "ACTIVE"})
			got := w.run(append(w.sources(), w.withOpenStackNodes()...)...)
			got.demandSafe(t, c.safe, code.Adopted, "")
			for _, m := range machinesOf(got.report.Clusters[0]) {
				if strings.Contains(m.Forecast.Condition, gone) == c.safe {
					t.Errorf("%s is adopted %s", m.Name, m.Forecast.Condition)
				}
			}
		})
	}
}

// Release 0.10, of which the backup holds no OpenStackServers, waits for a bastion before it
// calls the cluster ready; later ones call it ready first.
func TestOpenStackBastionInError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old, enabled bool
		status       string
		safe         bool
	}{
		"0.10": {true, true, "ERROR", false}, "0.10, BUILD": {true, true, "BUILD", false}, "0.10, ACTIVE": {true, true, "ACTIVE", true},
		"0.10, no bastion": {true, false, "ERROR", true}, "0.14": {false, true, "ERROR", true},
	} {
		t.Run(name, func(t *testing.T) {
			w, cloud := wellOpenStack(t, openstacklab.Options{})
			w.change("bastion", func(resource, _ string, o object) bool {
				if resource == "openstackclusters" {
					in(o, "spec", "bastion")["enabled"] = c.enabled
				}
				return resource != "openstackservers" || !c.old
			})
			const id = "44444444-aaaa-4444-8444-444444444444"
			cloud.Like(cloud.Objects("servers")[0]["name"].(string), "data-bastion", id, true)
			cloud.Status(c.status, id)
			o := w.run(append(w.sources(), w.withOpenStackNodes()...)...)
			want, says := code.Adopted, ""
			if !c.safe {
				want, says = code.Adopted, "only once bastion"
			}
			o.demandSafe(t, c.safe, want, says)
		})
	}
}

// CAPO makes a port that it does not find by name, and Neutron gives it no address that
// another port has.
func TestOpenStackPortWithoutName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fixed, renamed, safe bool }{
		"its name": {true, false, true}, "another name": {true, true, false}, "another name, any address": {false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, cloud := wellOpenStack(t, openstacklab.Options{})
			address, servers := map[any]any{}, cloud.Objects("servers")
			cloud.Edit("ports", func(o openstacklab.Object) bool {
				for _, s := range servers {
					if s["id"] == o["device_id"] {
						address[s["name"]] = o["fixed_ips"].([]any)[0].(object)["ip_address"]
						if c.renamed {
							o["name"] = "renamed-" + o["name"].(string)
						}
					}
				}
				return true
			})
			w.change("fixed", func(resource, name string, o object) bool {
				if resource == "openstackservers" && c.fixed {
					port := in(o, "spec")["ports"].([]any)[0].(object)
					port["fixedIPs"] = []any{object{"ipAddress": address[name]}}
				}
				return true
			})
			want, says := code.Adopted, ""
			if !c.safe {
				want, says = code.Halted, "does not have its name"
			}
			w.run(append(w.sources(), w.withOpenStackNodes()...)...).demandSafe(t, c.safe, want, says)
		})
	}
}
