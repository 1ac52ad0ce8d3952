package vsphere

import (
	"net"
	"slices"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
)

// A K0sControlPlane names its machines NAME-0, NAME-1 …
func TestControlPlanesOfK0s(t *testing.T) {
	b := vspheretest.NewBackup().Replicas(1)
	b.Drop("kubeadmcontrolplanes.controlplane" + vspheretest.CAPIGroup)
	b.Set("clusters"+vspheretest.CAPIGroup, "spec.controlPlaneRef", fields{"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "K0sControlPlane", "name": "prod-cp", "namespace": "team"})
	b.Put("k0scontrolplanes.controlplane"+vspheretest.CAPIGroup, vspheretest.Object("controlplane.cluster.x-k8s.io/v1beta1", "K0sControlPlane", "team", "prod-cp", fields{
		"metadata.labels": fields{"cluster.x-k8s.io/cluster-name": "prod"}, "spec.replicas": 0, "status.replicas": 0,
	}))
	ghost, database := vmIn("prod-cp-3", uuid3, "group-v5"), vmIn("prod-db-3", vspheretest.UUID2, "group-v5")
	ghost.created, database.created = backuptest.Written.Add(time.Hour), backuptest.Written.Add(time.Hour)
	guests := map[string]string{"prod-cp-3": "", "prod-db-3": ""}
	r := decideWithin(t, b, sees{vms: []vm{recordedVM(), ghost, database}}, guests)
	wantVerdict(t, r, "prod-cp-3", "Ghost")
	wantVerdict(t, r, "prod-db-3", "to confirm InClusterFolder")
	if v := r.Clusters[0].ControlPlane.Machines; len(v) != 1 || !v[0].ControlPlane {
		t.Errorf("the control plane has %+v", v)
	}
	// A number behind the name of a KubeadmControlPlane says nothing.
	plain := vspheretest.NewBackup().Replicas(1)
	wantVerdict(t, decideWithin(t, plain, sees{vms: []vm{recordedVM(), ghost}}, guests), "prod-cp-3", "to confirm InClusterFolder")
}

// An orphaned VSphereVM has no label of its MachineSet, but the name that this gave it.
func TestAVSphereVMAloneHasAnOwner(t *testing.T) {
	b := vspheretest.NewBackup().Another(fields{}, nil, fields{"server": "vc1.example", "datacenter": "DC0", "folder": "/DC0/vm/prod", "biosUUID": vspheretest.UUID2})
	delete(b.Objects, "machines"+vspheretest.CAPIGroup+" prod-md-0-abcde-xwvtz")
	for _, c := range expected(t, b).Machines {
		if c.Orphan == nil {
			continue
		}
		if want := (infra.OwnerID{Cluster: c.Orphan.Cluster, Kind: "MachineSet", Name: "prod-md-0-abcde"}); c.Orphan.Owner != want {
			t.Errorf("its owner is %+v", c.Orphan.Owner)
		}
		return
	}
	t.Error("there is no orphan")
}

// An endpoint's name may be that of its address, and a port that machines have of
// their own is not the cluster's.
func TestAnEndpointIsNotAPortOfMachines(t *testing.T) {
	expected := expectedJoins("10.0.0.9:6443", []string{"10.0.0.11"})
	for endpoint, agrees := range map[string]bool{
		"10.0.0.9:6443": true, "10.0.0.9:6444": false, "10.0.0.8:6443": false,
		"10.0.0.9:9345": true, "10.0.0.11:9345": true, "10.0.0.12:9345": false, "10.0.0.12:9443": false,
		"api.example:6443": true, "api.example:9345": true, "10.0.0.9": true, "[2001:db8::1]:6443": false,
	} {
		k := joinsKey(endpoint)
		ofKind := slices.ContainsFunc(expected, func(e infra.Key) bool { return e.Kind == k.Kind })
		if got := !ofKind || slices.Contains(expected, k); got != agrees {
			t.Errorf("%s agrees with %v: %v, want %v", endpoint, expected, got, agrees)
		}
	}
	if k := expectedJoins("api.example:6443", []string{"10.0.0.11"}); slices.ContainsFunc(k, func(k infra.Key) bool { return k.Kind == joinsHost("10.0.0.11").Kind }) {
		t.Errorf("a cluster that goes by a name expects addresses: %v", k)
	}
	for name, c := range map[string]struct{ data, want string }{
		"another server line": {"ntp:\n  server: https://10.0.0.1:6443\n", ""},
		"two of them":         {"path: /etc/rancher/rke2/config.yaml\nserver: https://a:9345\nserver: https://b:9345\n", ""},
		"kubeadm beside one":  {"path: /etc/rancher/k3s/config.yaml\nserver: https://b:6443\napiServerEndpoint: a:6443\n", "a:6443"},
		"encoded":             {"path: /etc/rancher/rke2/config.yaml\nencoding: b64\ncontent: " + b64("token: abcdefghijklmnopqrstuvwxyz0123456789\nserver: https://10.0.0.1:9345\n") + "\n", "10.0.0.1:9345"},
	} {
		if got := endpointIn(c.data); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Package net is not imported, and endpoints are parted as it parts them.
func TestEndpointsArePartedAsPackageNetDoes(t *testing.T) {
	for _, endpoint := range []string{
		"", ":", "a", "a:", ":1", "a:1", "a:b:1", "[a]", "[a]:", "[a]:1", "[]:1", "[a:1", "a]:1", "[a]b:1", "[a]1", "[[a]]:1", "[a][b]:1",
		"a[b]:1", "[a]:1]", "[a]:[1", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:6443", "[fe80::1%eth0]:6443", "[a]:1:2", "a:\n", "\xff:1",
	} {
		host, port, err := net.SplitHostPort(endpoint)
		if h, p, ok := splitEndpoint(endpoint); ok != (err == nil) || ok && (h != host || p != port) {
			t.Errorf("%q: %q, %q, %v, and package net says %q, %q, %v", endpoint, h, p, ok, host, port, err)
		}
	}
}

// A name of the backup is found within other names as whole words only.
func TestNamesWithinNames(t *testing.T) {
	s, _ := vspheretest.NewBackup().Load(t, want)
	m := newObjects(s).recordedMachines()
	for name, found := range map[string]bool{
		"prod-vm-1-restored": true, "copy of prod-vm-1": true, "PROD-VM-1_old": true, "(prod-vm-1)": true,
		"prod-vm-12": false, "xprod-vm-1": false, "prod-vm": false, "": false, "ä-prod-vm-1": true,
	} {
		i := infra.Instance{Name: name}
		if m.note(&i); len(i.Keys) > 0 != found {
			t.Errorf("%q: %v, want %v", name, i.Keys, found)
		}
	}
}

// The operator writes a folder as vCenter shows it, and the backup in its own ways.
func TestFoldersAsOperatorsWriteThem(t *testing.T) {
	for _, c := range []struct {
		key, written string
		is           bool
	}{
		{"vc1.example:443/DC0/vm/prod", "/DC0/vm/prod", true},
		{"vc1.example:443/DC0/vm/prod", "vc1.example/DC0/vm/prod/", true},
		{"vc1.example:443/DC0/vm/prod", "vc2.example/DC0/vm/prod", false},
		{"vc1.example:443/DC0/vm/prod", "/DC0/vm/prod/eu", false},
		{"vc1.example:443/DC0/vm/prod", "/DC0/vm", false},
		{"vc1.example:443/DC0/vm/.../eu", "/DC0/vm/prod/eu", true},
		{"vc1.example:443/DC0/vm/.../eu", "/DC1/vm/prod/eu", false},
		{"vc1.example:443/*/vm/.../eu", "/DC1/vm/prod/eu", true},
		{"vc1.example:443/*/vm/prod", "/DC1/vm/prod", true},
		{"vc1.example:443/*/vm/prod", "/DC1/vm/other", false},
		{"vc1.example:443/group-v12", "group-v12", true},
		{"vc1.example:443/group-v12", "group-v1", false},
		{"vc1.example:443/DC0/vm/prod", "", false},
	} {
		if got := isFolder(c.key, c.written); got != c.is {
			t.Errorf("%s for %s: %v, want %v", c.written, c.key, got, c.is)
		}
	}
}
