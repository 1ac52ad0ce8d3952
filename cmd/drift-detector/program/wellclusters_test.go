package program

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

// The clusters of this file are well, and tests change one thing in them. They read the
// answer from the JSON document, as a script does.

// object is one object of a backup, as JSON holds it.
type object = map[string]any

// well returns cluster alpha-prod of the lab alone, in a backup with its cluster-scoped
// objects, against the vCenter before its drift. Nothing else is in the vCenter's
// folders of clusters.
func well(t *testing.T) *world {
	t.Helper()
	return wellWithNodes(t, nodesBefore(t))
}

// wellWithNodes returns the same with the Node lists of a folder.
func wellWithNodes(t *testing.T, nodes string) *world {
	t.Helper()
	w := newWorld(t, testdata+"fleet-cluster-scoped-data.tar.gz", testdata+"vcenter-after.tar.gz", nodes)
	undrift(t, w.vcenter)
	w.only("tenant-alpha", "alpha-dev")
	for _, vm := range w.vcenter.VMs() {
		if strings.Contains(vm.Path, "/capi/") && !strings.HasPrefix(vm.Name, "alpha-prod-") {
			w.ensure(w.vcenter.Remove(vm.Path))
		}
	}
	return w
}

// nodesBefore returns a folder with the Node list of alpha-prod as it was before the drift: a
// Node for each of its Machines, and no other.
func nodesBefore(t *testing.T) string {
	t.Helper()
	body, err := os.ReadFile(testdata + "nodes/alpha-prod.json")
	if err != nil {
		t.Fatal(err)
	}
	var list object
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	var all []any
	var worker object
	for _, n := range list["items"].([]any) {
		switch name := backuptest.Inside(n.(object), "metadata")["name"].(string); name {
		case "alpha-prod-md-0-cjzhw-68lpw", "alpha-prod-md-0-cjzhw-tqwxw", "alpha-prod-md-gpu-tfdnj-8nwrw": // made after the backup
			continue
		case "alpha-prod-md-1-jqqjv-wvlnf":
			worker = n.(object)
		}
		all = append(all, n)
	}
	for name, id := range map[string]string{
		"alpha-prod-md-1-jqqjv-dgmm9":   "65599f85-96e2-5f5e-8b21-b431ece5ed0d",
		"alpha-prod-md-1-jqqjv-r8qdz":   "93df3960-9ffb-5eeb-a724-d63cf2857bfc",
		"alpha-prod-md-gpu-tfdnj-2spl2": "15b4ed0a-629e-5d45-a89c-dc7aeef7ceab",
	} {
		var n object
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

// nodeForEach returns a folder with the Node list of a cluster: a Node for each Machine that it has
// in the backup, and no other.
func nodeForEach(t *testing.T, backup, cluster string) string {
	t.Helper()
	tarball, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	var all []object
	known := map[string]bool{}
	backuptest.Edit(t, tarball, func(_ string, m object) bool {
		spec, meta := in(m, "spec"), in(m, "metadata")
		if spec["clusterName"] != cluster || spec["providerID"] == nil {
			return true
		}
		if name := meta["name"].(string); !known[name] {
			known[name] = true
			_, plane := in(meta, "labels")["cluster.x-k8s.io/control-plane"]
			all = append(all, nodeOfMachine(meta["namespace"].(string), cluster, name, spec["providerID"].(string), plane))
		}
		return true
	}, "machines.cluster.x-k8s.io")
	body, err := json.Marshal(object{"apiVersion": "v1", "kind": "NodeList", "items": all})
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
func nodeOfMachine(namespace, cluster, machine, id string, plane bool) object {
	labels := object{}
	if plane {
		labels["node-role.kubernetes.io/control-plane"] = ""
	}
	return object{
		"apiVersion": "v1", "kind": "Node", "spec": object{"providerID": id},
		"metadata": object{"name": machine, "labels": labels, "annotations": object{
			"cluster.x-k8s.io/cluster-name": cluster, "cluster.x-k8s.io/cluster-namespace": namespace, "cluster.x-k8s.io/machine": machine,
		}},
		"status": object{"conditions": []object{{"type": "Ready", "status": "True"}}},
	}
}

// unregister takes Nodes of a cluster out of its list.
func (w *world) unregister(cluster string, machines ...string) {
	w.t.Helper()
	w.serveNodes(func(c string, nodes []map[string]any) []map[string]any {
		return slices.DeleteFunc(nodes, func(n object) bool {
			return c == cluster && slices.Contains(machines, in(n, "metadata")["name"].(string))
		})
	})
}

func (w *world) ensure(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// only leaves the clusters of other tenants out of the backup, and objects whose names
// begin so.
func (w *world) only(tenant, not string) {
	w.t.Helper()
	w.edited(tenant, func(item string, body []byte) ([]byte, bool) {
		for _, other := range []string{"tenant-alpha", "tenant-beta", "tenant-gamma", "tenant-aws", "shop"} {
			if other != tenant && strings.Contains(item, "/"+other+"/") {
				return nil, false
			}
		}
		_, name := itemOf(item)
		return body, not == "" || !strings.HasPrefix(name, not)
	})
}

// wellAWS returns cluster aws-prod of the lab alone, in an account in which every instance
// runs that the backup records, and no other.
func wellAWS(t *testing.T, change ...func(*lab.EC2Options)) (*world, *lab.EC2) {
	t.Helper()
	w := newWorld(t, testdata+"fleet-data.tar.gz", testdata+"vcenter-after.tar.gz", nodeForEach(t, testdata+"fleet-data.tar.gz", "aws-prod"))
	w.only("tenant-aws", "")
	o := fleetEC2()
	for _, c := range change {
		c(&o)
	}
	ec2 := serveEC2(t, o)
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

// change replaces the world's backup by a copy whose objects edit has changed; it drops
// those for which edit is false.
func (w *world) change(name string, edit func(resource, name string, o object) bool) {
	w.t.Helper()
	w.edited(name, func(item string, body []byte) ([]byte, bool) {
		resource, name := itemOf(item)
		resource, _, _ = strings.Cut(resource, ".")
		var o object
		if json.Unmarshal(body, &o) != nil || o["kind"] == nil {
			return body, true
		}
		if !edit(resource, name, o) {
			return nil, false
		}
		out, err := json.Marshal(o)
		w.ensure(err)
		return out, true
	})
}

// set changes objects of a resource whose names begin so: the value at a path.
func (w *world) set(resource, prefix string, value any, path ...string) {
	w.t.Helper()
	changed := 0
	w.change("set", func(r, name string, o object) bool {
		if r == resource && strings.HasPrefix(name, prefix) {
			changed++
			in(o, path[:len(path)-1]...)[path[len(path)-1]] = value
		}
		return true
	})
	if changed == 0 {
		w.t.Fatalf("the backup holds no %s %s", resource, prefix)
	}
}

// in returns the member of an object at a path, made where it is absent.
func in(o object, path ...string) object {
	for _, p := range path {
		next, ok := o[p].(object)
		if !ok {
			next = object{}
			o[p] = next
		}
		o = next
	}
	return o
}

// drop leaves the object out of the backup.
func (w *world) drop(resource, name string) {
	w.t.Helper()
	dropped := false
	w.change("drop", func(r, n string, _ object) bool {
		gone := r == resource && n == name
		dropped = dropped || gone
		return !gone
	})
	if !dropped {
		w.t.Fatalf("the backup holds no %s %s", resource, name)
	}
}

// healthChecks adds a MachineHealthCheck that covers all machines of a cluster.
func (w *world) healthCheck(namespace, cluster string, checks object) {
	w.t.Helper()
	w.added("health-check", func(b *backuptest.Tarball) {
		b.Add("machinehealthchecks.cluster.x-k8s.io", object{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineHealthCheck", "metadata": object{"namespace": namespace, "name": "all"},
			"spec": object{"clusterName": cluster, "selector": object{}, "checks": checks},
		})
	})
}

// notReady returns checks that mind a Node which is not Ready.
func notReady() object {
	return object{"unhealthyNodeConditions": []object{{"type": "Ready", "status": "Unknown", "timeoutSeconds": 60}}}
}

// safety is summary.answer of a report, as a script reads it.
type safety struct {
	Safe    string
	Reasons []struct {
		Code, Message string
		Objects       []string
	}
	Conditions []struct{ Code, Message string }
	status     string
	complete   bool
	o          outcome
}

// answer runs detect and reads summary.answer.
func (w *world) answer(args ...string) safety {
	w.t.Helper()
	o := w.detect(args...)
	var doc struct {
		Summary struct {
			Answer   safety
			Status   string
			Complete bool
		}
	}
	if err := json.Unmarshal(o.json, &doc); err != nil {
		w.t.Fatalf("%v\n%s", err, o.stderr)
	}
	a := doc.Summary.Answer
	a.status, a.complete, a.o = doc.Summary.Status, doc.Summary.Complete, o
	return a
}

// codes returns the reasons in their order.
func (a safety) codes() string {
	var out []string
	for _, r := range a.Reasons {
		out = append(out, r.Code)
	}
	return strings.Join(slices.Compact(out), " ")
}

// about returns the objects of a reason.
func (a safety) about(code string) string {
	var out []string
	for _, r := range a.Reasons {
		if r.Code == code {
			out = append(out, r.Objects...)
		}
	}
	return strings.Join(out, " ")
}

func (a safety) condition(code string) bool {
	return slices.ContainsFunc(a.Conditions, func(c struct{ Code, Message string }) bool { return c.Code == code })
}

// outcome returns what a report foretells of one machine or ghost.
func (a safety) outcome(machine string) (outcome, condition, message string) {
	var doc struct {
		Clusters []struct {
			ControlPlane struct{ Machines []forecastOf }
			Workers      struct {
				Groups []struct{ Machines []forecastOf }
			}
		}
	}
	if json.Unmarshal(a.o.json, &doc) != nil {
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

// demand fails the test unless the answer is that, for these reasons.
func (a safety) demand(t *testing.T, safe, codes string) {
	t.Helper()
	if a.Safe != safe || a.codes() != codes {
		t.Errorf("the answer is %q for %q, want %q for %q: %+v", a.Safe, a.codes(), safe, codes, a.Reasons)
	}
}
