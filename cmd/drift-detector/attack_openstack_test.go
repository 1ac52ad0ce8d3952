package main

import (
	"maps"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report"
)

// demandSafe holds the answer for a fleet of one control plane, and what is foretold of
// each of its machines, which exist.
func (o outcome) demandSafe(t *testing.T, safe bool, want report.Outcome, says string) {
	t.Helper()
	if o.report == nil {
		t.Fatal(o.stderr)
	}
	if a := o.report.Summary.Answer.Safe; (a == report.Yes) != safe {
		t.Errorf("safe to restore: %s", a)
	}
	for _, m := range machinesOf(o.report.Clusters[0]) {
		if m.Status != report.Healthy || m.Forecast.Outcome != want || !strings.Contains(m.Forecast.Message, says) {
			t.Errorf("%s is %s, %+v", m.Name, m.Status, m.Forecast)
		}
	}
}

// CAPO waits for the load balancer of the API server before it calls the cluster ready,
// and one in error stays in error; one that is being deleted is made again.
func TestOpenStackLoadBalancer(t *testing.T) {
	t.Parallel()
	w, cloud := wellOpenStack(t, openstacklab.Options{})
	const id, name = "11111111-2222-4333-8444-555555555555", "k8s-clusterapi-cluster-tenant-os-b-data-kubeapi"
	w.change("balancer", func(resource, _ string, o object) bool {
		if resource == "openstackclusters" {
			in(o, "spec", "apiServerLoadBalancer")["enabled"] = true
			in(o, "status")["apiServerLoadBalancer"] = object{"id": id, "name": name}
		}
		return true
	})
	cloud.Endpoint("load-balancer", cloud.Network)
	for status, c := range map[string]struct {
		safe bool
		want report.Outcome
		says string
	}{
		"ACTIVE": {true, report.Adopted, ""}, "PENDING_UPDATE": {true, report.Adopted, ""},
		"ERROR":          {false, report.Halted, "load balancer of the API server broken"},
		"PENDING_DELETE": {false, report.Adopted, ""},
	} {
		cloud.Edit("loadbalancers", func(openstacklab.Object) bool { return false })
		cloud.Add("loadbalancers", openstacklab.Object{"id": id, "name": name, "project_id": openstacklab.Recorded.ProjectID, "provisioning_status": status})
		t.Log(status)
		w.run(append(w.sources(), w.withOpenStackNodes()...)...).demandSafe(t, c.safe, c.want, c.says)
	}
}

// Release 0.10 looks images up by name before it looks for the server, as later ones do,
// which make the OpenStackServers that its backup does not have; 0.9 does not. What is
// called safe is the newer one: nobody serves the versions of 0.9.
func TestOpenStackImageWithoutServers(t *testing.T) {
	t.Parallel()
	for version, c := range map[string]struct {
		served bool
		want   report.Outcome
		says   string
	}{
		"v1beta1": {true, report.Halted, "image ubuntu-2404-kube-v1.34.2 is gone"}, "v1alpha7": {false, report.Adopted, ""},
	} {
		t.Log(version)
		w, cloud := wellOpenStack(t, openstacklab.Options{})
		w.change("without-servers", func(resource, _ string, o object) bool {
			if strings.HasPrefix(resource, "openstack") {
				o["apiVersion"] = "infrastructure.cluster.x-k8s.io/" + version
			}
			return resource != "openstackservers"
		})
		args := append(w.sources(), w.withOpenStackNodes()...)
		w.run(args...).demandSafe(t, c.served, report.Adopted, "")
		cloud.Edit("images", func(openstacklab.Object) bool { return false })
		w.run(args...).demandSafe(t, false, c.want, c.says)
	}
}

// In v1beta2 a cluster says that it wants a floating IP and an external network, where
// older versions say that it does not: what it does not want is not missing.
func TestOpenStackWithoutFloatingIP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server, external any
		safe             bool
	}{
		"no floating IP": {false, nil, true}, "no external network": {nil, false, true}, "neither": {false, false, true},
		"said": {true, true, false}, "not said": {nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := wellOpenStack(t, openstacklab.Options{})
			w.change("v1beta2", func(resource, _ string, o object) bool {
				if resource == "openstackclusters" {
					o["apiVersion"] = "infrastructure.cluster.x-k8s.io/v1beta2"
					spec := in(o, "spec")
					for _, old := range []string{"disableAPIServerFloatingIP", "disableExternalNetwork", "apiServerLoadBalancer", "apiServerPort"} {
						delete(spec, old)
					}
					if c.external != nil {
						spec["enableExternalNetwork"] = c.external
					}
					if c.server != nil {
						spec["apiServer"] = object{"enableFloatingIP": c.server}
					}
				}
				return true
			})
			o := w.run(append(w.sources(), w.withOpenStackNodes()...)...)
			o.demandSafe(t, c.safe, report.Adopted, "")
			for _, r := range o.report.Clusters[0].Resources {
				if r.Kind == "floating IP" && c.safe {
					t.Errorf("it asks for floating IP %s", r.Name)
				}
			}
		})
	}
}

// CAPO waits for an Image object that a machine names before it looks for its server.
func TestOpenStackImageObject(t *testing.T) {
	t.Parallel()
	w, _ := wellOpenStack(t, openstacklab.Options{})
	for _, resource := range []string{"openstackservers", "openstackmachines"} {
		w.set(resource, "data-control-plane-", object{"imageRef": object{"name": "gold"}}, "spec", "image")
	}
	args := w.withOpenStackNodes()
	w.run(append(w.sources(), args...)...).demandSafe(t, false, report.Halted, "Image tenant-os-b/gold")
	w.added("image", func(b *backuptest.Tarball) {
		b.Add("images.openstack.k-orc.cloud", object{"apiVersion": "openstack.k-orc.cloud/v1alpha1", "kind": "Image", "metadata": object{"namespace": "tenant-os-b", "name": "gold"}})
	})
	w.run(append(w.sources(), args...)...).demandSafe(t, true, report.Adopted, "")
}

// Of several external networks CAPO takes none. A cluster that names none was ready before
// the second one came, and stays so; a restored one never gets ready.
func TestOpenStackSeveralExternalNetworks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		disabled, named, second bool
		safe                    bool
	}{
		"one": {false, false, false, true}, "two": {false, false, true, false},
		"two, one is named": {false, true, true, true}, "two, none is wanted": {true, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, cloud := wellOpenStack(t, openstacklab.Options{})
			var external openstacklab.Object
			for _, n := range cloud.Objects("networks") {
				if n["router:external"] == true {
					external = n
				}
			}
			w.change("external", func(resource, _ string, o object) bool {
				if spec := in(o, "spec"); resource == "openstackclusters" {
					spec["disableExternalNetwork"] = c.disabled
					in(o, "status")["externalNetwork"] = object{"id": external["id"], "name": external["name"]}
					if c.named {
						spec["externalNetwork"] = object{"id": external["id"]}
					}
				}
				return true
			})
			if c.second {
				second := maps.Clone(external)
				second["id"], second["name"] = "11111111-2222-4333-8444-555555555555", "public-2"
				cloud.Add("networks", second)
			}
			want, says := report.Adopted, ""
			if !c.safe {
				want, says = report.Halted, "several external networks"
			}
			w.run(append(w.sources(), w.withOpenStackNodes()...)...).demandSafe(t, c.safe, want, says)
		})
	}
}

// A server group that a machine names is looked up before its server, a key pair only to
// make one.
func TestOpenStackServerGroupAndKeyPair(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field string
		value any
		safe  bool
		want  report.Outcome
		says  string
	}{
		"server group": {"serverGroup", object{"filter": object{"name": "anti"}}, false, report.Halted, "server group anti is gone"},
		"key pair":     {"sshKeyName", "mine", true, report.Adopted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := wellOpenStack(t, openstacklab.Options{})
			for _, resource := range []string{"openstackservers", "openstackmachines"} {
				w.set(resource, "data-control-plane-", c.value, "spec", c.field)
			}
			w.run(append(w.sources(), w.withOpenStackNodes()...)...).demandSafe(t, c.safe, c.want, c.says)
		})
	}
}

// managedOpenStack is the fleet of wellOpenStack with a network, a router and security
// groups that CAPO made for it.
func managedOpenStack(t *testing.T) (*world, *openstacklab.Server) {
	t.Helper()
	w, cloud := wellOpenStack(t, openstacklab.Options{})
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
		status["workerSecurityGroup"] = object{"id": "22222222-aaaa-4222-8222-222222222222", "name": "k8s-cluster-tenant-os-b-data-secgroup-worker"}
		return true
	})
	cloud.Edit("networks", func(o openstacklab.Object) bool {
		if o["id"] == network {
			o["name"] = name
		}
		return true
	})
	add := func(kind, id, name string) {
		cloud.Add(kind, openstacklab.Object{"id": id, "name": name, "project_id": openstacklab.Recorded.ProjectID, "tenant_id": openstacklab.Recorded.ProjectID})
	}
	add("routers", router, name)
	add("security_groups", "22222222-aaaa-4222-8222-222222222222", "k8s-cluster-tenant-os-b-data-secgroup-worker")
	return w, cloud
}

// CAPO looks for what it made by name: what has another name is made a second time, and of
// two things of the name it takes none.
func TestOpenStackManagedThingsByName(t *testing.T) {
	t.Parallel()
	w, cloud := managedOpenStack(t)
	args := append(w.sources(), w.withOpenStackNodes()...)
	w.run(args...).demandSafe(t, true, report.Adopted, "")
	for kind, c := range map[string]struct{ name, renamed, twins string }{
		"networks":        {"k8s-clusterapi-cluster-tenant-os-b-data", "makes a second network", "name of the cluster's network"},
		"routers":         {"k8s-clusterapi-cluster-tenant-os-b-data", "makes a second router", "name of the cluster's router"},
		"security_groups": {"k8s-cluster-tenant-os-b-data-secgroup-worker", "makes a second one", "name of the cluster's security group"},
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
		w.run(args...).demandSafe(t, false, report.Halted, c.renamed)
		rename("renamed", c.name)
		own["id"], own["name"] = "33333333-aaaa-4333-8333-333333333333", c.name
		cloud.Add(kind, own)
		w.run(args...).demandSafe(t, false, report.Halted, c.twins)
		cloud.Edit(kind, func(o openstacklab.Object) bool { return o["id"] != own["id"] })
	}
}

// A floating IP that is attached is left where it is, unless the API server has a load
// balancer.
func TestOpenStackFloatingIPOfAnother(t *testing.T) {
	t.Parallel()
	w, cloud := managedOpenStack(t)
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
		want, says := report.Adopted, ""
		if name == "another" {
			want, says = report.Halted, "no control plane machine of the cluster"
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
			got.demandSafe(t, c.safe, report.Adopted, "")
			for _, m := range machinesOf(got.report.Clusters[0]) {
				if strings.Contains(m.Forecast.Condition, gone) == c.safe {
					t.Errorf("%s is adopted %s", m.Name, m.Forecast.Condition)
				}
			}
		})
	}
}
