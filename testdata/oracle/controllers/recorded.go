package oracle

import (
	"path"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recordedWorld returns a cluster of a backup beside an inventory of the same time: its VMs are
// those that were listed, its Nodes those of its Node list.
func recordedWorld(b *backup, l listings, at client.ObjectKey) *World {
	w := newWorld(b, at, 7)
	nodes, controlPlane, alive := map[string]bool{}, map[string]bool{}, map[string]bool{} // by the id of their VM
	for _, n := range l.nodesOf(at) {
		id := strings.TrimPrefix(n["providerID"].(string), "vsphere://")
		nodes[id], controlPlane[id], alive[id] = true, n["controlPlane"] == true, n["ready"] == true
	}
	recorded, pending := map[string]*VM{}, map[string]bool{}
	for _, v := range w.VMs {
		recorded[v.UUID] = v
		v.Gone = true
		w.nodesLeft[v.Name] = nodes[v.UUID]
	}
	for _, o := range w.of("VSphereVM") {
		pending[o.GetName()] = text(o, "spec", "biosUUID") == ""
	}
	for _, i := range l.vcenter()["instances"].([]any) {
		i := i.(map[string]any)
		id, name := i["id"].(string), i["name"].(string)
		switch v := recorded[id]; {
		case v != nil:
			v.Gone = false
			v.On = i["state"] == "poweredOn"
		case nodes[id] || pending[name]:
			w.VMs = append(w.VMs, &VM{
				UUID: id, Name: name, Folder: path.Dir(i["path"].(string)), Ref: i["ref"].(string),
				ControlPlane: controlPlane[id], On: i["state"] == "poweredOn", After: true,
			})
		}
	}
	for _, v := range w.VMs {
		v.NotReady = v.On && nodes[v.UUID] && !alive[v.UUID]
	}
	w.startWorkload()
	w.ageNodes(time.Hour)
	return w
}

// nodesOf returns the Node list of a cluster, if it was read.
func (l listings) nodesOf(at client.ObjectKey) []map[string]any {
	var all []map[string]any
	for _, m := range l {
		if m["provider"] != "workload" || m["nodes"] == nil || clusterOf(m) != at {
			continue
		}
		for _, n := range m["nodes"].([]any) {
			all = append(all, n.(map[string]any))
		}
	}
	return all
}

func clusterOf(listing map[string]any) client.ObjectKey {
	c := listing["clusters"].([]any)[0].(map[string]any)
	return client.ObjectKey{Namespace: c["namespace"].(string), Name: c["name"].(string)}
}
