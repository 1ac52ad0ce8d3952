package vsphere

import (
	"net"
	"slices"
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
)

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
		if m.Note(&i); len(i.Keys) > 0 != found {
			t.Errorf("%q: %v, want %v", name, i.Keys, found)
		}
	}
}
