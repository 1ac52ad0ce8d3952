package openstack_test

import (
	"maps"
	"strings"
	"testing"

	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report/code"
)

// CAPO looks for what it made by name: what has another name is made a second time, and of
// two things of the name it takes none.
func TestOpenStackManagedThingsByName(t *testing.T) {
	t.Parallel()
	w, cloud := runs.ManagedOpenStack(t, openstacklab.Options{})
	args := append(w.Sources(), w.WithOpenStackNodes()...)
	w.Run(args...).DemandSafe(t, true, code.Adopted, "")
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
		w.Run(args...).DemandSafe(t, false, code.Adopted, c.renamed)
		rename("renamed", c.name)
		own["id"], own["name"] = "33333333-aaaa-4333-8333-333333333333", c.name
		cloud.Add(kind, own)
		w.Run(args...).DemandSafe(t, false, code.Adopted, c.twins)
		cloud.Edit(kind, func(o openstacklab.Object) bool { return o["id"] != own["id"] })
	}
}

// A floating IP that is attached is left where it is, unless the API server has a load
// balancer.
func TestOpenStackFloatingIPOfAnother(t *testing.T) {
	t.Parallel()
	w, cloud := runs.ManagedOpenStack(t, openstacklab.Options{})
	const ip = "203.0.113.77"
	w.Change("floating", func(resource, _ string, o runs.Object) bool {
		if resource == "openstackclusters" {
			spec := runs.In(o, "spec")
			delete(spec, "disableAPIServerFloatingIP")
			spec["controlPlaneEndpoint"] = runs.Object{"host": ip, "port": 6443}
			runs.In(o, "status")["externalNetwork"] = runs.Object{"id": "10092081-2db9-4143-8229-1bc59416eec5", "name": "public-ext"}
		}
		return true
	})
	args := append(w.Sources(), w.WithOpenStackNodes()...)
	servers := cloud.Objects("servers")
	cloud.Like(servers[0]["name"].(string), "somebody", "44444444-aaaa-4444-8444-444444444444", false)
	apart := func(kind, id string) {
		cloud.Edit(kind, func(o openstacklab.Object) bool {
			if o[id] == "44444444-aaaa-4444-8444-444444444444" {
				o["network_id"], o["addresses"] = "66666666-aaaa-4666-8666-666666666666", runs.Object{}
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
		w.Run(args...).DemandSafe(t, name != "another", want, says)
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
			w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
			const id, name = "11111111-2222-4333-8444-555555555555", "k8s-clusterapi-cluster-tenant-os-b-data-kubeapi"
			w.Change("balancer", func(resource, _ string, o runs.Object) bool {
				if resource == "openstackclusters" {
					runs.In(o, "spec")["apiServerLoadBalancer"] = runs.Object{"enabled": true, "network": runs.Object{"id": c.network}, "subnets": []any{runs.Object{"id": c.subnet}}}
					runs.In(o, "status")["apiServerLoadBalancer"] = runs.Object{"id": id, "name": name}
				}
				return true
			})
			cloud.Endpoint("load-balancer", cloud.Network)
			cloud.Add("loadbalancers", openstacklab.Object{"id": id, "name": name, "project_id": openstacklab.Recorded.ProjectID, "provisioning_status": "ACTIVE"})
			got := w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...)
			got.DemandSafe(t, c.safe, code.Adopted, "")
			for _, m := range runs.MachinesOf(got.Report.Clusters[0]) {
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
			w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
			w.Change("bastion", func(resource, _ string, o runs.Object) bool {
				if resource == "openstackclusters" {
					runs.In(o, "spec", "bastion")["enabled"] = c.enabled
				}
				return resource != "openstackservers" || !c.old
			})
			const id = "44444444-aaaa-4444-8444-444444444444"
			cloud.Like(cloud.Objects("servers")[0]["name"].(string), "data-bastion", id, true)
			cloud.Status(c.status, id)
			o := w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...)
			want, says := code.Adopted, ""
			if !c.safe {
				want, says = code.Adopted, "only once bastion"
			}
			o.DemandSafe(t, c.safe, want, says)
		})
	}
}

// CAPO makes a port that it does not find by name, and Neutron gives it no address that
// another port has; without an address it makes a port that nothing uses.
func TestOpenStackPortWithoutName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fixed, renamed, safe bool
		want                 code.Outcome
		says                 string
	}{
		"its name": {true, false, true, code.Adopted, ""}, "another name": {true, true, false, code.Halted, "does not have its name"},
		"another name, any address": {false, true, false, code.Adopted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
			address, servers := map[any]any{}, cloud.Objects("servers")
			cloud.Edit("ports", func(o openstacklab.Object) bool {
				for _, s := range servers {
					if s["id"] == o["device_id"] {
						address[s["name"]] = o["fixed_ips"].([]any)[0].(runs.Object)["ip_address"]
						if c.renamed {
							o["name"] = "renamed-" + o["name"].(string)
						}
					}
				}
				return true
			})
			w.Change("fixed", func(resource, name string, o runs.Object) bool {
				if resource == "openstackservers" && c.fixed {
					port := runs.In(o, "spec")["ports"].([]any)[0].(runs.Object)
					port["fixedIPs"] = []any{runs.Object{"ipAddress": address[name]}}
				}
				return true
			})
			w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...).DemandSafe(t, c.safe, c.want, c.says)
		})
	}
}
