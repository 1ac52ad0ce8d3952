package vsphere

import (
	"encoding/json"
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

var rowC8 = &walk.Row{
	ID: "vsphere.C8", Of: clusterKind,
	Asks:    "the owners of machines, with the template of each, where spec.clusterModules shows that it creates modules of them: the owner of each module among them",
	None:    walk.Halts.Says("CAPV creates no module for the owner, and does nothing for the cluster"),
	Several: walk.Halts.Says("CAPV does not know whose machines belong together, and does nothing for the cluster"),
	Differs: walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPV deletes the module, and nothing keeps its VMs on hosts of their own from then on"},
	Source:  "fetchMachineOwnerObjects, Reconcile: controllers/clustermodule_reconciler.go v1.5.8 to v1.16.1",
}

var rowVM3 = &walk.Row{
	ID: "vsphere.VM3", Of: vmKind,
	Asks:   "the KubeadmControlPlane or MachineDeployment of its Machine, where the VSphereCluster has modules",
	None:   walk.Waits.Says("CAPV does not know in which module the VM is to be, and goes no further"),
	Source: "fetchClusterModuleInfo: controllers/vspherevm_controller.go; FetchControlPlaneOwnerObject, FetchMachineDeploymentOwnerObject: pkg/util/fetch_object.go v1.5.8 to v1.16.1",
}

// module is one of spec.clusterModules.
type module struct {
	Plane bool   `json:"controlPlane"`
	Owner string `json:"targetObjectName"`
}

// modules returns those that CAPV looks after: it makes them where its gate NodeAntiAffinity is on,
// and writes them into the spec.
func (c *vsphereCluster) modules() (all []module) {
	if c.Modules != "" && !c.Moduleless {
		_ = json.Unmarshal([]byte(c.Modules), &all)
	}
	return all
}

// askModules asks C8.
func (q *questions) askModules(id backup.ClusterID, c *backup.Record[vsphereCluster]) {
	modules, planes := c.Data.modules(), q.objs.controlPlanes[id]
	switch {
	case len(modules) == 0 || c.Paused:
		return
	case len(planes) > 1:
		q.note(rowC8, id, answer(walk.Several, clusterTitle(id), fmt.Sprintf("%d control planes have the label of %s", len(planes), clusterTitle(id)), "has one control plane"))
		return
	}
	owners, whole := map[module]bool{}, pass
	look := func(plane bool, kind, name string, template backup.Ref) {
		owners[module{plane, name}] = true
		if template.Kind == templateKind && templates.In(q.objs.snapshot).Named(id.Backup, id.Namespace, template.Name) == nil {
			object := fmt.Sprintf("%s %s/%s", templateKind, id.Namespace, template.Name)
			whole = answer(walk.None, object, fmt.Sprintf("%s of %s %s is not in the backup", object, kind, name), "exists")
		}
	}
	for _, p := range planes {
		look(true, p.Kind, p.Name, p.Infrastructure)
	}
	for i := range q.objs.snapshot.Groups {
		if g := &q.objs.snapshot.Groups[i]; g.Cluster == id && g.Kind == "MachineDeployment" {
			look(false, g.Kind, g.Name, g.Infrastructure)
		}
	}
	for _, m := range modules {
		kind := "MachineDeployment"
		if m.Plane {
			kind = "KubeadmControlPlane"
		}
		if object := kind + " " + id.Namespace + "/" + m.Owner; !owners[m] && !q.objs.snapshot.IsUnread(id.Backup, kind) {
			q.note(rowC8, id, answer(walk.Differs, object, object+" has a module and is not in the backup", "exists"))
		}
	}
	q.note(rowC8, id, whole)
}

// modular asks VM3. An owner that is gone is none of what keeps CAPV from going on.
func (objs *objects) modular(m *member) walk.Answer {
	machine := &objs.snapshot.Machines[m.index]
	switch {
	case !m.modular:
		return walk.Answer{}
	case !machine.ControlPlane || machine.Unlabelled:
		if machine.Deployment == "" {
			return answer(walk.None, objs.titleOf(m), objs.titleOf(m)+" is of no MachineDeployment", "is of one")
		}
	case machine.Owner.Kind != "KubeadmControlPlane":
		return answer(walk.None, objs.titleOf(m), objs.titleOf(m)+" is of no KubeadmControlPlane", "is of one")
	}
	return pass
}
