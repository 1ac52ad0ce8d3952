package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// listings are an inventory that the program wrote of the lab's fleet. What a world's
// inventory says is made after it, so that it has all that the program lists.
type listings []map[string]any

func readListings(file string) (listings, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var inventory struct{ Listings listings }
	if err := json.Unmarshal(data, &inventory); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return inventory.Listings, nil
}

func (l listings) find(is func(map[string]any) bool) map[string]any {
	for _, m := range l {
		if is(m) {
			return m
		}
	}
	panic("the inventory of the lab lacks a listing")
}

func (l listings) vcenter() map[string]any {
	return l.find(func(m map[string]any) bool { return m["provider"] == "vsphere" })
}

func (l listings) nodes(state string) map[string]any {
	return l.find(func(m map[string]any) bool { return m["provider"] == "workload" && m["nodeState"] == state })
}

// writeInventory writes what the program would have listed of the world.
func (w *World) writeInventory(l listings, file string) error {
	clusters := []any{map[string]any{"backup": 0, "namespace": w.Cluster.Namespace, "name": w.Cluster.Name}}
	now := time.Now().UTC().Format(time.RFC3339)
	vcenter := maps.Clone(l.vcenter())
	vcenter["clusters"], vcenter["listedAt"] = clusters, now
	examples, instances := vcenter["instances"].([]any), []any{}
	for _, v := range w.VMs {
		if !v.Gone {
			instances = append(instances, w.instance(v, examples))
		}
	}
	vcenter["instances"], vcenter["facts"] = instances, w.factsOf(vcenter["facts"].([]any))
	state := "read"
	if !w.quorum() || !w.readable() {
		state = "unreachable"
	}
	nodes := maps.Clone(l.nodes(state))
	nodes["clusters"], nodes["listedAt"] = clusters, now
	nodes["ids"] = []any{"nodes/0/" + w.Cluster.Namespace + "/" + w.Cluster.Name}
	if state == "read" {
		nodes["nodes"] = w.listedNodes()
	}
	return os.WriteFile(file, asJSON(map[string]any{"inventoryVersion": "1", "listings": []any{vcenter, nodes}}), 0o600)
}

// factsOf returns those of the vCenter whose certificate the VSphereClusters pin: the one from
// which the inventory was made has another.
func (w *World) factsOf(facts []any) []any {
	facts = slices.Clone(facts)
	for i, f := range facts {
		switch f := maps.Clone(f.(map[string]any)); f["name"] {
		case "certificate":
			f["value"] = "verified"
			facts[i] = f
		}
	}
	return facts
}

// readable reports whether the program gets into the workload cluster with the kubeconfig in
// the backup, or with an operator's where there is none.
func (w *World) readable() bool {
	s := w.get("Secret", w.Cluster.Name+"-kubeconfig")
	return s == nil || w.workload.admit(secretValue(s, "value")) == nil
}

// instance returns the example whose name is most like the VM's, with what is the VM's own.
func (w *World) instance(v *VM, examples []any) map[string]any {
	like := slices.MaxFunc(examples, func(a, b any) int {
		return sharedPrefix(a.(map[string]any)["name"].(string), v.Name) - sharedPrefix(b.(map[string]any)["name"].(string), v.Name)
	}).(map[string]any)
	name, path := like["name"].(string), like["path"].(string)
	folder := v.Folder
	if !strings.HasPrefix(folder, "/") {
		folder = "/DC0/vm/" + folder
	}
	var i map[string]any
	replace := strings.NewReplacer(
		path, folder+"/"+v.Name, strings.TrimSuffix(path, "/"+name), folder,
		like["id"].(string), v.UUID, like["ref"].(string), v.Ref, name, v.Name, stem(name), stem(v.Name),
	)
	if err := json.Unmarshal([]byte(replace.Replace(string(asJSON(like)))), &i); err != nil {
		panic(err)
	}
	w.ownKeys(v, i)
	delete(i, "warnings")
	i["state"], i["created"] = "poweredOn", at(-100)
	if v.After || v.Made {
		i["created"] = time.Now().UTC().Add(-20 * time.Minute).Format(time.RFC3339)
	}
	facts, _ := i["facts"].([]any)
	isAddress := func(f any) bool { return f.(map[string]any)["name"] == "address" }
	switch {
	case !v.On:
		i["state"], i["warnings"] = "poweredOff", []any{"PoweredOff"}
	case !slices.ContainsFunc(facts, isAddress): // the example is off
		i["facts"] = append(facts, map[string]any{"name": "address", "value": "192.0.2.100"})
	}
	return i
}

// ownKeys has the ids that a VM shares with no other. CAPV gives a VM the uid of its
// VSphereVM as instanceUUID.
func (w *World) ownKeys(v *VM, i map[string]any) {
	id := string(uuid.NewUUID())
	if o := w.get("VSphereVM", v.Name); o != nil && o.GetUID() != "" {
		id = string(o.GetUID())
	}
	for _, k := range i["keys"].([]any) {
		if k := k.(map[string]any); k["kind"] == "instanceUUID" {
			k["value"] = id
		}
	}
}

// stem returns the name that owners give to all their machines, with its hyphen.
func stem(name string) string { return name[:strings.LastIndex(name, "-")+1] }

func sharedPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func (w *World) listedNodes() []any {
	var all []any
	for _, n := range w.nodes() {
		all = append(all, w.listedNode(n))
	}
	return all
}

// listedNode has what Cluster API's Machine controller writes on Nodes, too.
func (w *World) listedNode(o corev1.Node) map[string]any {
	id := strings.TrimPrefix(o.Spec.ProviderID, "vsphere://")
	n := map[string]any{
		"cluster": map[string]any{"backup": 0, "namespace": w.Cluster.Namespace, "name": w.Cluster.Name},
		"name":    o.Name, "providerID": o.Spec.ProviderID, "keys": []any{map[string]any{"kind": "biosUUID", "value": id}},
		"machine": o.Name, "clusterName": w.Cluster.Name, "clusterNamespace": w.Cluster.Namespace,
		"ownerKind": "MachineSet", "ownerName": strings.TrimSuffix(stem(o.Name), "-"),
		"heartbeat": time.Now().UTC().Add(-time.Hour).Format(time.RFC3339),
	}
	if _, is := o.Labels["node-role.kubernetes.io/control-plane"]; is {
		n["controlPlane"], n["ownerKind"], n["ownerName"] = true, "KubeadmControlPlane", w.Cluster.Name
	}
	switch v := w.byUUID(id); {
	case v == nil || !v.On || v.NotReady:
		n["conditions"] = "DiskPressure=Unknown MemoryPressure=Unknown PIDPressure=Unknown"
	case v.Pressed:
		n["conditions"] = "MemoryPressure=True"
		fallthrough
	default:
		n["ready"], n["heartbeat"] = true, time.Now().UTC().Format(time.RFC3339)
	}
	return n
}
