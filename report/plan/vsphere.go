package plan

import (
	"regexp"
	"strings"

	"drift-detector/report"
)

var vsphere = provider{
	tool:         govc{},
	noun:         "vCenter",
	controller:   "CAPV",
	deletes:      "deleting a Machine makes CAPV destroy every VM of its datacenter that has its id",
	powersOn:     true,
	clusterFirst: "makes VSphereVMs without their ids, and clones new VMs",
	machineKinds: []string{"vspheremachines.infrastructure.cluster.x-k8s.io", "vspherevms.infrastructure.cluster.x-k8s.io"},
	clusterKind:  "vsphereclusters.infrastructure.cluster.x-k8s.io",
	identities:   map[string]string{"VSphereClusterIdentity": "vsphereclusteridentities.infrastructure.cluster.x-k8s.io"},
}

var (
	uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	refForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)
)

// govc is the command line of govmomi.
type govc struct{}

func (govc) scope(s *report.Scope) (prefix, meaning string, ok bool) {
	return "VCENTER", "URL of vCenter " + s.Endpoint + " for govc, as you reach it; govc also needs GOVC_USERNAME and GOVC_PASSWORD or, where vCenters differ in them, both in the URL and none of these variables", true
}

func (govc) identifies(id string) bool { return uuidForm.MatchString(id) }

func (govc) addresses(i *report.Instance) bool {
	return uuidForm.MatchString(i.ID) && refForm.MatchString(i.Ref)
}

// leastGovc is the first release that takes managed object ids for VMs in all of
// its commands (govmomi find/finder.go v0.46.0, commit a9d5985f).
const leastGovc = "0.46.0"

func (govc) requires() (command, string) {
	return line(raw("govc version -require " + leastGovc)),
		"govc has to be " + leastGovc + " or later, because earlier releases take no managed object ids. One that was built from source may call itself 0.0.0 and fail here: take a release."
}

// here compares the vCenter's own id, which govc reads without a look at the inventory.
func (g govc) here(p *scope) command {
	if !uuidForm.MatchString(p.identity) {
		return command{}
	}
	return compare(g.line(p, "object.collect", "-s", "-", "content.about.instanceUuid"), p.identity)
}

// sees searches as find does: a VM that can be read by its managed object id need
// not be found.
func (g govc) sees(p *scope, _ *report.Cluster, i *report.Instance) (check command, what string) {
	if i == nil || !uuidForm.MatchString(i.ID) {
		return command{}, ""
	}
	found := g.find(p, i.ID)
	return command{text: `test -n "$(` + found.text + `)"`, refused: found.refused}, "VM " + i.Name
}

// mo is how govc addresses a managed object by its id (govmomi find/finder.go v0.56.0).
func mo(v *vm) string { return "VirtualMachine:" + v.Ref }

func (govc) line(p *scope, words ...any) command {
	return line(append([]any{raw("GOVC_URL=" + string(variable(p.variable)) + " govc")}, words...)...)
}

func (g govc) show(v *vm) command {
	return g.line(v.scope, "object.collect", mo(v), "name", "config.uuid", "config.instanceUuid", "config.createDate", "runtime.powerState", "guest.hostName", "guest.ipAddress")
}

// same compares the vCenter and the BIOS UUID.
func (g govc) same(v *vm) command {
	return g.here(v.scope).then(compare(g.line(v.scope, "object.collect", "-s", mo(v), "config.uuid"), v.ID))
}

func (g govc) off(v *vm) command { return g.state(v, "poweredOff") }
func (g govc) on(v *vm) command  { return g.state(v, "poweredOn") }

func (g govc) state(v *vm, want string) command {
	return compare(g.line(v.scope, "object.collect", "-s", mo(v), "runtime.powerState"), want)
}

func (g govc) start(v *vm) command { return g.line(v.scope, "vm.power", "-on", mo(v)) }
func (g govc) stop(v *vm) command  { return g.line(v.scope, "vm.power", "-off", "-force", mo(v)) }

func (g govc) destroy(v *vm) command { return g.line(v.scope, "vm.destroy", mo(v)) }

// rename gives a VM another BIOS UUID, which vCenter takes only while it is off.
func (g govc) rename(v *vm, id any) command {
	return g.line(v.scope, "vm.change", "-vm", mo(v), "-uuid", id)
}

func (g govc) find(p *scope, id string) command {
	return g.line(p, "find", "/", "-type", "m", "-config.uuid", strings.ToLower(id))
}

func (govc) leaveBalancer(d *draft, _ *report.Cluster, _ *vm) {
	d.after("Take it out of the targets of the API server's load balancer (HAProxy, NSX, keepalived): its own API server has lost etcd. With kube-vip there is nothing to take out, it ends with the VM.")
}

// detach saves the disks that a persistent volume lives on: with the VM, vCenter
// deletes every disk that is attached.
func (g govc) detach(d *draft, v *vm) {
	d.after("Detach, and do not delete, every disk beside the VM's own: first-class disks of persistent volumes (CNS) above all. Deleting the VM deletes what is attached.",
		g.line(v.scope, "device.info", "-vm", mo(v), "disk-*"),
		ask("DISK", "name of a disk of that list that is not the VM's own first disk; repeat for each"),
		v.guarded(g.line(v.scope, "device.remove", "-vm", mo(v), "-keep", variable("DISK"))))
}

func (govc) remove(d *draft, v *vm, first command) {
	d.after("Power it off and see that nothing is missed: this can be undone.", first.then(v.powerOff()))
	d.after("Delete it; the line does nothing while it runs. An IPAM claim of its own may be left over.", v.destroy())
}
