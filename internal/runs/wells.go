package runs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
)

// ChangedAWS returns a well cluster of AWS, likewise.
func ChangedAWS(change func(*World, *lab.EC2), options ...func(*lab.EC2Options)) func(*testing.T) *World {
	return func(t *testing.T) *World {
		w, ec2 := WellAWS(t, options...)
		change(w, ec2)
		return w
	}
}

// GrowPool gives the pool a member that the backup does not record.
func GrowPool(ec2 *lab.EC2) {
	var more []lab.EC2Instance
	ec2.Change(func(i *lab.EC2Instance) bool {
		if i.InstanceID == "i-002e263aadef727c1" {
			one := *i
			one.InstanceID = "i-057bcd5c18f3f244e"
			more = append(more, one)
		}
		return true
	})
	ec2.Add(more...)
}

// A machine and a pool of cluster aws-prod.
const AWSOne, AWSPoolName = "aws-prod-md-1a-f7mmd-8gn59", "aws-prod-mp-0"

// Well returns cluster alpha-prod of the lab alone, in a backup with its cluster-scoped
// objects, against the vCenter before its drift. Nothing else is in the vCenter's
// folders of clusters.
func Well(t *testing.T) *World {
	t.Helper()
	return WellWithNodes(t, nodesBefore(t))
}

// WellWithNodes returns the same with the Node lists of a folder.
func WellWithNodes(t *testing.T, nodes string) *World {
	t.Helper()
	w := newWorld(t, Testdata+"fleet-cluster-scoped-data.tar.gz", Testdata+"vcenter-after.tar.gz", nodes)
	Undrift(t, w.VCenter)
	w.only("tenant-alpha", "alpha-dev")
	for _, vm := range w.VCenter.VMs() {
		if strings.Contains(vm.Path, "/capi/") && !strings.HasPrefix(vm.Name, "alpha-prod-") {
			w.Ensure(w.VCenter.Remove(vm.Path))
		}
	}
	return w
}

// nodesBefore returns a folder with the Node list of alpha-prod as it was before the drift: a
// Node for each of its Machines, and no other.
func nodesBefore(t *testing.T) string {
	t.Helper()
	body, err := os.ReadFile(Testdata + "nodes/alpha-prod.json")
	if err != nil {
		t.Fatal(err)
	}
	var list Object
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	var all []any
	var worker Object
	for _, n := range list["items"].([]any) {
		switch name := backuptest.Inside(n.(Object), "metadata")["name"].(string); name {
		case "alpha-prod-md-0-cjzhw-68lpw", "alpha-prod-md-0-cjzhw-tqwxw", "alpha-prod-md-gpu-tfdnj-8nwrw": // made after the backup
			continue
		case "alpha-prod-md-1-jqqjv-wvlnf":
			worker = n.(Object)
		}
		all = append(all, n)
	}
	for name, id := range map[string]string{
		"alpha-prod-md-1-jqqjv-dgmm9":   "65599f85-96e2-5f5e-8b21-b431ece5ed0d",
		"alpha-prod-md-1-jqqjv-r8qdz":   "93df3960-9ffb-5eeb-a724-d63cf2857bfc",
		"alpha-prod-md-gpu-tfdnj-2spl2": "15b4ed0a-629e-5d45-a89c-dc7aeef7ceab",
	} {
		var n Object
		text, err := json.Marshal(worker)
		if err == nil {
			err = json.Unmarshal(text, &n)
		}
		if err != nil {
			t.Fatal(err)
		}
		backuptest.Inside(n, "metadata")["name"] = name
		backuptest.Inside(n, "metadata", "annotations")["cluster.x-k8s.io/machine"] = name
		backuptest.Inside(n, "metadata", "annotations")["cluster.x-k8s.io/owner-name"] = name[:strings.LastIndexByte(name, '-')]
		backuptest.Inside(n, "spec")["providerID"] = "vsphere://" + id
		all = append(all, n)
	}
	list["items"] = all
	if body, err = json.Marshal(list); err == nil {
		dir := t.TempDir()
		if err = os.WriteFile(filepath.Join(dir, "alpha-prod.json"), body, 0o600); err == nil {
			return dir
		}
	}
	t.Fatal(err)
	return ""
}

// NodeForEach returns a folder with the Node list of a cluster: a Node for each Machine that it has
// in the backup, and no other.
func NodeForEach(t *testing.T, backup, cluster string) string {
	t.Helper()
	tarball, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	var all []Object
	known := map[string]bool{}
	backuptest.Edit(t, tarball, func(_ string, m Object) bool {
		spec, meta := In(m, "spec"), In(m, "metadata")
		if spec["clusterName"] != cluster || spec["providerID"] == nil {
			return true
		}
		if name := meta["name"].(string); !known[name] {
			known[name] = true
			_, plane := In(meta, "labels")["cluster.x-k8s.io/control-plane"]
			all = append(all, nodeOfMachine(meta["namespace"].(string), cluster, name, spec["providerID"].(string), plane))
		}
		return true
	}, "machines.cluster.x-k8s.io")
	body, err := json.Marshal(Object{"apiVersion": "v1", "kind": "NodeList", "items": all})
	dir := t.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, cluster+".json"), body, 0o600)
	}
	if err != nil || all == nil {
		t.Fatalf("%d Nodes: %v", len(all), err)
	}
	return dir
}

// nodeOfMachine returns the Node of a Machine, which is Ready.
func nodeOfMachine(namespace, cluster, machine, id string, plane bool) Object {
	labels := Object{}
	if plane {
		labels["node-role.kubernetes.io/control-plane"] = ""
	}
	return Object{
		"apiVersion": "v1", "kind": "Node", "spec": Object{"providerID": id},
		"metadata": Object{"name": machine, "labels": labels, "annotations": Object{
			"cluster.x-k8s.io/cluster-name": cluster, "cluster.x-k8s.io/cluster-namespace": namespace, "cluster.x-k8s.io/machine": machine,
		}},
		"status": Object{"conditions": []Object{{"type": "Ready", "status": "True"}}},
	}
}

// only leaves the clusters of other tenants out of the backup, and objects whose names
// begin so.
func (w *World) only(tenant, not string) {
	w.T.Helper()
	w.Edited(tenant, func(item string, body []byte) ([]byte, bool) {
		for _, other := range []string{"tenant-alpha", "tenant-beta", "tenant-gamma", "tenant-aws", "shop"} {
			if other != tenant && strings.Contains(item, "/"+other+"/") {
				return nil, false
			}
		}
		_, name := ItemOf(item)
		return body, not == "" || !strings.HasPrefix(name, not)
	})
}

// WellAWS returns cluster aws-prod of the lab alone, in an account in which every instance
// runs that the backup records, and no other.
func WellAWS(t *testing.T, change ...func(*lab.EC2Options)) (*World, *lab.EC2) {
	t.Helper()
	w := newWorld(t, Testdata+"fleet-data.tar.gz", Testdata+"vcenter-after.tar.gz", NodeForEach(t, Testdata+"fleet-data.tar.gz", "aws-prod"))
	w.only("tenant-aws", "")
	o := FleetEC2()
	for _, c := range change {
		c(&o)
	}
	ec2 := ServeEC2(t, o)
	var like lab.EC2Instance
	ec2.Change(func(i *lab.EC2Instance) bool {
		name, _ := i.Tag("Name")
		switch {
		case name == "aws-prod-md-1a-f7mmd-zzzzz", !strings.HasPrefix(name, "aws-prod-"), i.InstanceID == "i-057bcd5c18f3f244e":
			return false
		case name == "aws-prod-md-1b-r5qhk-kqz5x":
			like = *i
		}
		i.State = lab.EC2State{Code: 16, Name: "running"}
		i.VPC = "vpc-0a1b2c3d4e5f60718"
		return true
	})
	lost := like
	lost.InstanceID = "i-0888c4ded0c78e6b6"
	lost.Tags = slices.Clone(like.Tags)
	for i := range lost.Tags {
		if lost.Tags[i].Key == "Name" {
			lost.Tags[i].Value = "aws-prod-md-1b-r5qhk-6sbbp"
		}
	}
	ec2.Add(lost)
	return w, ec2
}

// TopologyOfPools has the topology of aws-prod own its MachinePool under the name p.
func (w *World) TopologyOfPools(version string, pools ...Object) {
	w.T.Helper()
	w.Set("clusters", "aws-prod", Object{"classRef": Object{"name": "c"}, "version": version, "workers": Object{"machinePools": pools}}, "spec", "topology")
	w.OwnedByTopology("tenant-aws")
	w.Set("machinepools", AWSPoolName, "", "metadata", "labels", "topology.cluster.x-k8s.io/owned")
	w.Set("machinepools", AWSPoolName, "p", "metadata", "labels", "topology.cluster.x-k8s.io/pool-name")
	w.Added("class", func(b *backuptest.Tarball) {
		b.Add("clusterclasses.cluster.x-k8s.io", Object{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass", "metadata": Object{"namespace": "tenant-aws", "name": "c"},
		})
	})
}
