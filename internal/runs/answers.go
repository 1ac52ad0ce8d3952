package runs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

const (
	ProdMD   = "alpha-prod-md-0"
	ProdSet  = "alpha-prod-md-0-cjzhw"
	ProdOne  = "alpha-prod-md-0-cjzhw-dm6x8"
	ProdKCP  = "alpha-prod"
	PlaneOne = "alpha-prod-kcn2q"
)

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

// Velero adds the Deployment of a Velero that is started with these arguments.
func (w *World) Velero(args ...string) {
	w.T.Helper()
	w.Added("velero", func(b *backuptest.Tarball) {
		b.Add("deployments.apps", Object{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": Object{"namespace": "velero", "name": "velero"},
			"spec": Object{"template": Object{"spec": Object{"containers": []Object{{"name": "velero", "args": append([]string{"server"}, args...)}}}}},
		})
	})
}

// Made adds a VM like another one of alpha-prod, which was made after the backup, with its Node.
func (w *World) Made(like, name string) {
	w.T.Helper()
	vm, err := w.VCenter.Clone(like, lab.CloneSpec{Name: name, Created: time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)})
	w.Ensure(err)
	w.WithNode("alpha-prod", like, name, vm.BIOSUUID)
}

// Unprovision takes away every id of a machine that the backup records.
func (w *World) Unprovision(name string) {
	w.T.Helper()
	w.Change("unprovisioned", func(resource, n string, o Object) bool {
		if n == name && (resource == "machines" || resource == "vspheremachines") {
			delete(In(o, "spec"), "providerID")
		}
		if n == name && resource == "vspherevms" {
			delete(In(o, "spec"), "biosUUID")
			delete(In(o, "status"), "vmRef")
		}
		return true
	})
	w.Ensure(w.VCenter.Remove(name))
}

// Each test is one defect that was found, by its number: a restore that differs from one
// that is well in that alone.

// Foretells demands the outcome of a machine and words of what is said of it.
func (a Safety) Foretells(t *testing.T, machine, outcome string, words ...string) {
	t.Helper()
	got, condition, message := a.outcome(machine)
	if got != outcome {
		t.Errorf("%s: %q (%s; %s), want %s", machine, got, message, condition, outcome)
	}
	for _, w := range words {
		if !strings.Contains(message+"; "+condition, w) {
			t.Errorf("%s: %q lacks %q", machine, message+"; "+condition, w)
		}
	}
}

// Halfway makes a backup in the middle of an upgrade of alpha-prod-md-0: one of its four machines is
// of a new MachineSet.
func (w *World) Halfway() {
	w.T.Helper()
	const fresh, moved = ProdMD + "-zzzzz", "alpha-prod-md-0-cjzhw-zk8zm"
	var set Object
	w.Change("halfway", func(resource, name string, o Object) bool {
		switch {
		case resource == "machinedeployments" && name == ProdMD:
			In(o, "spec", "template", "spec")["version"] = "v1.35.0"
		case resource == "machinesets" && name == ProdSet:
			In(o, "spec")["replicas"], In(o, "status")["replicas"] = 3, 3
			set = o
		case resource == "machines" && name == moved:
			In(o, "metadata", "labels")["cluster.x-k8s.io/set-name"] = fresh
			In(o, "metadata", "labels")["machine-template-hash"] = "fresh"
			In(o, "spec")["version"] = "v1.35.0"
			for _, owner := range In(o, "metadata")["ownerReferences"].([]any) {
				owner.(Object)["name"], owner.(Object)["uid"] = fresh, "fresh"
			}
		}
		return true
	})
	w.Added("new-set", func(b *backuptest.Tarball) {
		spec := In(set, "spec")
		In(set, "metadata", "labels")["machine-template-hash"] = "fresh"
		In(spec, "selector", "matchLabels")["machine-template-hash"] = "fresh"
		b.Add("machinesets.cluster.x-k8s.io", Object{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineSet", "status": Object{"replicas": 1},
			"metadata": Object{"namespace": "tenant-alpha", "name": fresh, "uid": "fresh", "labels": In(set, "metadata")["labels"], "ownerReferences": In(set, "metadata")["ownerReferences"]},
			"spec": Object{"clusterName": "alpha-prod", "replicas": 1, "selector": spec["selector"], "template": Object{"spec": Object{
				"clusterName": "alpha-prod", "version": "v1.35.0",
				"bootstrap": In(spec, "template", "spec")["bootstrap"], "infrastructureRef": In(spec, "template", "spec")["infrastructureRef"],
			}}},
		})
	})
}

// Scenes of what controllers do beside what the lab shows: each differs from a restore
// that is well in one thing.

// A machine and a pool of cluster aws-prod.
const AWSOne, AWSPoolName = "aws-prod-md-1a-f7mmd-8gn59", "aws-prod-mp-0"

// OwnedByTopology gives the clusters of a namespace the label with which a topology knows what is
// its own: infrastructure cluster, control plane and all templates.
func (w *World) OwnedByTopology(namespace string) {
	w.T.Helper()
	w.Change("labels", func(r, _ string, o Object) bool {
		made := strings.HasSuffix(r, "clusters") && r != "clusters" || strings.HasSuffix(r, "templates") || r == "kubeadmcontrolplanes" || r == "awsmachinepools"
		if made && In(o, "metadata")["namespace"] == namespace {
			In(o, "metadata", "labels")["topology.cluster.x-k8s.io/owned"] = ""
		}
		return true
	})
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

// The clusters of this file are well, and tests change one thing in them. They read the
// answer from the JSON document, as a script does.

// Object is one object of a backup, as JSON holds it.
type Object = map[string]any

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

// Unregister takes Nodes of a cluster out of its list.
func (w *World) Unregister(cluster string, machines ...string) {
	w.T.Helper()
	w.ServeNodes(func(c string, nodes []map[string]any) []map[string]any {
		return slices.DeleteFunc(nodes, func(n Object) bool {
			return c == cluster && slices.Contains(machines, In(n, "metadata")["name"].(string))
		})
	})
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

// Change replaces the world's backup by a copy whose objects edit has changed; it drops
// those for which edit is false.
func (w *World) Change(name string, edit func(resource, name string, o Object) bool) {
	w.T.Helper()
	w.Edited(name, func(item string, body []byte) ([]byte, bool) {
		resource, name := ItemOf(item)
		resource, _, _ = strings.Cut(resource, ".")
		var o Object
		if json.Unmarshal(body, &o) != nil || o["kind"] == nil {
			return body, true
		}
		if !edit(resource, name, o) {
			return nil, false
		}
		out, err := json.Marshal(o)
		w.Ensure(err)
		return out, true
	})
}

// Set changes objects of a resource whose names begin so: the value at a path.
func (w *World) Set(resource, prefix string, value any, path ...string) {
	w.T.Helper()
	changed := 0
	w.Change("set", func(r, name string, o Object) bool {
		if r == resource && strings.HasPrefix(name, prefix) {
			changed++
			In(o, path[:len(path)-1]...)[path[len(path)-1]] = value
		}
		return true
	})
	if changed == 0 {
		w.T.Fatalf("the backup holds no %s %s", resource, prefix)
	}
}

// In returns the member of an object at a path, made where it is absent.
func In(o Object, path ...string) Object {
	for _, p := range path {
		next, ok := o[p].(Object)
		if !ok {
			next = Object{}
			o[p] = next
		}
		o = next
	}
	return o
}

// Drop leaves the object out of the backup.
func (w *World) Drop(resource, name string) {
	w.T.Helper()
	dropped := false
	w.Change("drop", func(r, n string, _ Object) bool {
		gone := r == resource && n == name
		dropped = dropped || gone
		return !gone
	})
	if !dropped {
		w.T.Fatalf("the backup holds no %s %s", resource, name)
	}
}

// healthChecks adds a MachineHealthCheck that covers all machines of a cluster.
func (w *World) HealthCheck(namespace, cluster string, checks Object) {
	w.T.Helper()
	w.Added("health-check", func(b *backuptest.Tarball) {
		b.Add("machinehealthchecks.cluster.x-k8s.io", Object{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineHealthCheck", "metadata": Object{"namespace": namespace, "name": "all"},
			"spec": Object{"clusterName": cluster, "selector": Object{}, "checks": checks},
		})
	})
}

// Safety is summary.answer of a report, as a script reads it.
type Safety struct {
	Safe    string
	Reasons []struct {
		Code, Message string
		Objects       []string
	}
	Conditions []struct{ Code, Message string }
	Status     string
	Complete   bool
	O          Outcome
}

// Answer runs detect and reads summary.answer.
func (w *World) Answer(args ...string) Safety {
	w.T.Helper()
	o := w.Detect(args...)
	var doc struct {
		Summary struct {
			Answer   Safety
			Status   string
			Complete bool
		}
	}
	if err := json.Unmarshal(o.JSON, &doc); err != nil {
		w.T.Fatalf("%v\n%s", err, o.Stderr)
	}
	a := doc.Summary.Answer
	a.Status, a.Complete, a.O = doc.Summary.Status, doc.Summary.Complete, o
	return a
}

// Codes returns the reasons in their order.
func (a Safety) Codes() string {
	var out []string
	for _, r := range a.Reasons {
		out = append(out, r.Code)
	}
	return strings.Join(slices.Compact(out), " ")
}

// About returns the objects of a reason.
func (a Safety) About(code string) string {
	var out []string
	for _, r := range a.Reasons {
		if r.Code == code {
			out = append(out, r.Objects...)
		}
	}
	return strings.Join(out, " ")
}

// Condition reports whether the answer has a condition of a code.
func (a Safety) Condition(code string) bool {
	return slices.ContainsFunc(a.Conditions, func(c struct{ Code, Message string }) bool { return c.Code == code })
}

// outcome returns what a report foretells of one machine or ghost.
func (a Safety) outcome(machine string) (outcome, condition, message string) {
	var doc struct {
		Clusters []struct {
			ControlPlane struct{ Machines []forecastOf }
			Workers      struct {
				Groups []struct{ Machines []forecastOf }
			}
		}
	}
	if json.Unmarshal(a.O.JSON, &doc) != nil {
		return "", "", ""
	}
	for _, c := range doc.Clusters {
		all := c.ControlPlane.Machines
		for _, g := range c.Workers.Groups {
			all = append(all, g.Machines...)
		}
		for _, m := range all {
			if m.Name == machine {
				return m.Forecast.Outcome, m.Forecast.Condition, m.Forecast.Message
			}
		}
	}
	return "", "", ""
}

type forecastOf struct {
	Name     string
	Forecast struct{ Outcome, Condition, Message string }
}

// Demand fails the test unless the answer is that, for these reasons.
func (a Safety) Demand(t *testing.T, safe, codes string) {
	t.Helper()
	if a.Safe != safe || a.Codes() != codes {
		t.Errorf("the answer is %q for %q, want %q for %q: %+v", a.Safe, a.Codes(), safe, codes, a.Reasons)
	}
}
