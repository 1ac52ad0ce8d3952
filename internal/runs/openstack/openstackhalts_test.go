package openstack_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// CAPO waits for the load balancer of the API server before it calls the cluster ready,
// and one in error stays in error; one that is being deleted is made again.
func TestOpenStackLoadBalancer(t *testing.T) {
	t.Parallel()
	w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
	const id, name = "11111111-2222-4333-8444-555555555555", "k8s-clusterapi-cluster-tenant-os-b-data-kubeapi"
	w.Change("balancer", func(resource, _ string, o runs.Object) bool {
		if resource == "openstackclusters" {
			runs.In(o, "spec", "apiServerLoadBalancer")["enabled"] = true
			runs.In(o, "status")["apiServerLoadBalancer"] = runs.Object{"id": id, "name": name}
		}
		return true
	})
	cloud.Endpoint("load-balancer", cloud.Network)
	for status, c := range map[string]struct {
		safe bool
		want code.Outcome
		says string
	}{
		"ACTIVE": {true, code.Adopted, ""}, "PENDING_UPDATE": {true, code.Adopted, ""},
		"ERROR":          {false, code.Adopted, "is in provisioning status ERROR (openstack.C22)"},
		"PENDING_DELETE": {false, code.Adopted, ""},
	} {
		cloud.Edit("loadbalancers", func(openstacklab.Object) bool { return false })
		cloud.Add("loadbalancers", openstacklab.Object{"id": id, "name": name, "project_id": openstacklab.Recorded.ProjectID, "provisioning_status": status})
		t.Log(status)
		w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...).DemandSafe(t, c.safe, c.want, c.says)
	}
}

// Release 0.10 looks images up by name before it looks for the server, as later ones do,
// which make the OpenStackServers that its backup does not have; 0.9 does not. What is
// called safe is the newer one: nobody serves the versions of 0.9.
func TestOpenStackImageWithoutServers(t *testing.T) {
	t.Parallel()
	for version, c := range map[string]struct {
		served bool
		want   code.Outcome
		says   string
	}{
		"v1beta1": {true, code.Halted, "image ubuntu-2404-kube-v1.34.2 is gone"}, "v1alpha7": {false, code.Adopted, ""},
	} {
		t.Log(version)
		w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
		w.Change("without-servers", func(resource, _ string, o runs.Object) bool {
			if strings.HasPrefix(resource, "openstack") {
				o["apiVersion"] = "infrastructure.cluster.x-k8s.io/" + version
			}
			return resource != "openstackservers"
		})
		args := append(w.Sources(), w.WithOpenStackNodes()...)
		w.Run(args...).DemandSafe(t, c.served, code.Adopted, "")
		cloud.Edit("images", func(openstacklab.Object) bool { return false })
		w.Run(args...).DemandSafe(t, false, c.want, c.says)
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
			w, _ := runs.WellOpenStack(t, openstacklab.Options{})
			w.Change("v1beta2", func(resource, _ string, o runs.Object) bool {
				if resource == "openstackclusters" {
					o["apiVersion"] = "infrastructure.cluster.x-k8s.io/v1beta2"
					spec := runs.In(o, "spec")
					for _, old := range []string{"disableAPIServerFloatingIP", "disableExternalNetwork", "apiServerLoadBalancer", "apiServerPort"} {
						delete(spec, old)
					}
					if c.external != nil {
						spec["enableExternalNetwork"] = c.external
					}
					if c.server != nil {
						spec["apiServer"] = runs.Object{"enableFloatingIP": c.server}
					}
				}
				return true
			})
			o := w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...)
			o.DemandSafe(t, c.safe, code.Adopted, "")
			for _, r := range o.Report.Clusters[0].Resources {
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
	w, _ := runs.WellOpenStack(t, openstacklab.Options{})
	for _, resource := range []string{"openstackservers", "openstackmachines"} {
		w.Set(resource, "data-control-plane-", runs.Object{"imageRef": runs.Object{"name": "gold"}}, "spec", "image")
	}
	args := w.WithOpenStackNodes()
	w.Run(append(w.Sources(), args...)...).DemandSafe(t, false, code.Halted, "Image tenant-os-b/gold")
	w.Added("image", func(b *backuptest.Tarball) {
		b.Add("images.openstack.k-orc.cloud", runs.Object{"apiVersion": "openstack.k-orc.cloud/v1alpha1", "kind": "Image", "metadata": runs.Object{"namespace": "tenant-os-b", "name": "gold"}})
	})
	w.Run(append(w.Sources(), args...)...).DemandSafe(t, true, code.Adopted, "")
}

// The controller of Images asks Glance again, with the login that the object names.
func TestOpenStackImageOfImageObject(t *testing.T) {
	t.Parallel()
	named := runs.Object{"filter": runs.Object{"name": "ubuntu-2404-kube-v1.34.2", "visibility": "public"}}
	for name, c := range map[string]struct {
		imports  runs.Object
		secret   string
		inactive bool
		want     code.Outcome
		says     string
	}{
		"by a filter":        {named, "cloud-config", false, code.Adopted, ""},
		"by its id":          {runs.Object{"id": "60c55fb5-9684-4c4e-894f-94655d0d0c01"}, "cloud-config", false, code.Adopted, ""},
		"gone":               {runs.Object{"filter": runs.Object{"name": "old"}}, "cloud-config", false, code.Halted, "image old is gone"},
		"gone by its id":     {runs.Object{"id": "11111111-2222-4333-8444-555555555555"}, "cloud-config", false, code.Halted, "is gone"},
		"deactivated":        {named, "cloud-config", true, code.Halted, "is deactivated"},
		"deactivated, by id": {runs.Object{"id": "60c55fb5-9684-4c4e-894f-94655d0d0c01"}, "cloud-config", true, code.Halted, "is deactivated"},
		"without a login":    {named, "other", false, code.Halted, "Secret tenant-os-b/other is not in the backup"},
	} {
		t.Run(name, func(t *testing.T) {
			w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
			for _, resource := range []string{"openstackservers", "openstackmachines"} {
				w.Set(resource, "data-control-plane-", runs.Object{"imageRef": runs.Object{"name": "gold"}}, "spec", "image")
			}
			if c.inactive {
				cloud.Edit("images", func(o openstacklab.Object) bool {
					o["status"] = "deactivated"
					return true
				})
			}
			w.Added("image", func(b *backuptest.Tarball) {
				b.Add("images.openstack.k-orc.cloud", runs.Object{
					"apiVersion": "openstack.k-orc.cloud/v1alpha1", "kind": "Image", "metadata": runs.Object{"namespace": "tenant-os-b", "name": "gold"},
					"spec": runs.Object{"managementPolicy": "unmanaged", "import": c.imports, "cloudCredentialsRef": runs.Object{"secretName": c.secret, "cloudName": "mycloud"}},
				})
			})
			w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...).DemandSafe(t, c.want == code.Adopted, c.want, c.says)
		})
	}
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
			w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
			var external openstacklab.Object
			for _, n := range cloud.Objects("networks") {
				if n["router:external"] == true {
					external = n
				}
			}
			w.Change("external", func(resource, _ string, o runs.Object) bool {
				if spec := runs.In(o, "spec"); resource == "openstackclusters" {
					spec["disableExternalNetwork"] = c.disabled
					runs.In(o, "status")["externalNetwork"] = runs.Object{"id": external["id"], "name": external["name"]}
					if c.named {
						spec["externalNetwork"] = runs.Object{"id": external["id"]}
					}
				}
				return true
			})
			if c.second {
				second := maps.Clone(external)
				second["id"], second["name"] = "11111111-2222-4333-8444-555555555555", "public-2"
				cloud.Add("networks", second)
			}
			want, says := code.Adopted, ""
			if !c.safe {
				want, says = code.Adopted, "several external networks"
			}
			w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...).DemandSafe(t, c.safe, want, says)
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
		want  code.Outcome
		says  string
	}{
		"server group": {"serverGroup", runs.Object{"filter": runs.Object{"name": "anti"}}, false, code.Halted, "server group anti is gone"},
		"key pair":     {"sshKeyName", "mine", true, code.Adopted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := runs.WellOpenStack(t, openstacklab.Options{})
			for _, resource := range []string{"openstackservers", "openstackmachines"} {
				w.Set(resource, "data-control-plane-", c.value, "spec", c.field)
			}
			w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...).DemandSafe(t, c.safe, c.want, c.says)
		})
	}
}

// CAPO waits for a floating IP from a pool before it looks for the server. The pool's
// IPAddress alone says which one the server has.
func TestOpenStackFloatingIPPool(t *testing.T) {
	t.Parallel()
	w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
	const group, pools, addresses = "infrastructure.cluster.x-k8s.io", "openstackfloatingippools", "ipaddresses"
	for _, resource := range []string{"openstackservers", "openstackmachines"} {
		w.Set(resource, "data-control-plane-", runs.Object{"apiGroup": group, "kind": "OpenStackFloatingIPPool", "name": "public"}, "spec", "floatingIPPoolRef")
	}
	named := func(version, kind, name string) runs.Object {
		return runs.Object{"apiVersion": version, "kind": kind, "metadata": runs.Object{"namespace": "tenant-os-b", "name": name}}
	}
	args := w.WithOpenStackNodes()
	w.Run(append(w.Sources(), args...)...).DemandSafe(t, false, code.Halted, "OpenStackFloatingIPPool tenant-os-b/public")
	w.Added("pool", func(b *backuptest.Tarball) {
		b.Add(pools+"."+group, named(group+"/v1alpha1", "OpenStackFloatingIPPool", "public"))
	})
	o := w.Run(append(w.Sources(), args...)...)
	o.DemandSafe(t, false, code.Adopted, "")
	for _, m := range runs.MachinesOf(o.Report.Clusters[0]) {
		if want := "the backup lacks IPAddress " + m.Name + "-floating-ip-address"; !strings.Contains(m.Forecast.Condition, want) {
			t.Errorf("%s: %+v, want %q", m.Name, m.Forecast, want)
		}
	}
	const floating = "203.0.113.9"
	w.Added("addresses", func(b *backuptest.Tarball) {
		for _, m := range runs.MachinesOf(o.Report.Clusters[0]) {
			a := named("ipam.cluster.x-k8s.io/v1beta2", "IPAddress", m.Name+"-floating-ip-address")
			a["spec"] = runs.Object{"address": floating}
			b.Add(addresses+".ipam.cluster.x-k8s.io", a)
		}
	})
	// The servers have lost it.
	w.Run(append(w.Sources(), args...)...).DemandSafe(t, false, code.Halted, "does not have floating IP "+floating)
	cloud.Edit("servers", func(o openstacklab.Object) bool {
		o["addresses"].(map[string]any)["floating"] = []any{openstacklab.Object{"version": 4, "addr": floating, "OS-EXT-IPS:type": "floating"}}
		return true
	})
	w.Run(append(w.Sources(), args...)...).DemandSafe(t, true, code.Adopted, "")
}

// Up to release 0.10 CAPO reads a machine's bootstrap data before it looks for its server.
func TestOpenStackBootstrapData(t *testing.T) {
	t.Parallel()
	for version, c := range map[string]struct {
		want code.Outcome
		says string
	}{
		"v0.9.2": {code.Halted, "up to release 0.10"}, "v0.10.8": {code.Halted, "up to release 0.10"}, "v0.11.0": {code.Adopted, ""},
	} {
		t.Log(version)
		w, _ := runs.WellOpenStack(t, openstacklab.Options{})
		w.Change("no-bootstrap-data", func(resource, name string, o runs.Object) bool {
			return resource != "secrets" || o["type"] != "cluster.x-k8s.io/secret" || !strings.HasPrefix(name, "data-control-plane-")
		})
		w.Added("installed", func(b *backuptest.Tarball) {
			b.Add("providers.clusterctl.cluster.x-k8s.io", runs.Object{
				"apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Provider", "metadata": runs.Object{"namespace": "capo-system", "name": "infrastructure-openstack"},
				"providerName": "openstack", "type": "InfrastructureProvider", "version": version,
			})
		})
		r := w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...)
		r.DemandSafe(t, c.want == code.Adopted, c.want, c.says)
		if want := (report.Installed{Type: "infrastructure", Name: "openstack", Version: version}); !slices.Contains(r.Report.Backups[0].Installed, want) {
			t.Errorf("installed is %v, want %v", r.Report.Backups[0].Installed, want)
		}
	}
}

// An OpenStackServer needs no cluster: CAPO makes its server where there is none of its name.
// What nobody looks for is no silent yes.
func TestOpenStackServerOfNoCluster(t *testing.T) {
	t.Parallel()
	w, _ := runs.WellOpenStack(t, openstacklab.Options{})
	w.Added("alone", func(b *backuptest.Tarball) {
		b.Add("openstackservers.infrastructure.cluster.x-k8s.io", runs.Object{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1", "kind": "OpenStackServer",
			"metadata": runs.Object{"namespace": "tenant-os-b", "name": "jump", "uid": "u-jump"},
		})
	})
	a := w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...).Report.Summary.Answer
	for _, c := range a.Conditions {
		if c.Code == "OutsideClusters" && strings.HasSuffix(c.Message, "creates another: OpenStackServer tenant-os-b/jump") {
			return
		}
	}
	t.Errorf("%+v", a)
}
