package check

import (
	"reflect"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

// What was installed is what clusterctl noted and what Deployments ran; what is no release is
// left out.
func TestInstalled(t *testing.T) {
	type object = map[string]any
	noted := func(name, kind, version string) object {
		return object{"apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Provider", "metadata": object{"namespace": "s", "name": name + kind}, "providerName": name, "type": kind, "version": version}
	}
	ran := func(name, label string, images ...string) object {
		var containers []any
		for _, i := range images {
			containers = append(containers, object{"image": i})
		}
		return object{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"namespace": "s", "name": name, "labels": object{"cluster.x-k8s.io/provider": label}},
			"spec": object{"template": object{"spec": object{"containers": containers}}},
		}
	}
	file := backuptest.New().Add("clusters.cluster.x-k8s.io", object{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": object{"namespace": "a", "name": "b"}})
	for _, o := range []object{noted("cluster-api", "CoreProvider", "v1.10.4"), noted("vsphere", "InfrastructureProvider", "v1.13.0"), noted("x;y", "CoreProvider", "v1.0.0"), noted("odd", "OtherProvider", "v1.0.0"), noted("late", "AddonProvider", "latest")} {
		file.Add("providers.clusterctl.cluster.x-k8s.io", o)
	}
	for _, o := range []object{
		ran("capi", "cluster-api", "registry.k8s.io/cluster-api/cluster-api-controller:v1.10.4"),
		ran("capv", "infrastructure-vsphere", "gcr.io/kubebuilder/kube-rbac-proxy:v0.16.0", "mirror:5000/capv:v1.12.0@sha256:0"),
		ran("kcp", "control-plane-kubeadm", "x/kubeadm-control-plane-controller:v1.10.4"),
		ran("tagless", "bootstrap-kubeadm", "x/y@sha256:0"), ran("other", "", "x/y:v1.0.0"),
	} {
		file.Add("deployments.apps", o)
	}
	s, _, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("test", file.Bytes())}, Want())
	if err != nil {
		t.Fatal(err)
	}
	want := []Provider{{"core", "cluster-api", "v1.10.4"}, {"control-plane", "kubeadm", "v1.10.4"}, {"infrastructure", "vsphere", "v1.12.0"}, {"infrastructure", "vsphere", "v1.13.0"}}
	if got := Installed(s, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Installed(s, 1); len(got) != 0 {
		t.Errorf("of another backup: %v", got)
	}
}
