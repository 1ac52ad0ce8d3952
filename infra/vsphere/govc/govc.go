// Package govc makes lines for govc, the command line of govmomi.
package govc

import (
	"strings"

	"drift-detector/infra/shell"
)

// Tool is govc. It implements [shell.Tool] and [shell.Renamer].
type Tool struct{}

const refLetters = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// letters are the hexadecimal digits and the dash.
var letters = [256]byte{
	'0': 1, '1': 1, '2': 1, '3': 1, '4': 1, '5': 1, '6': 1, '7': 1, '8': 1, '9': 1,
	'a': 1, 'b': 1, 'c': 1, 'd': 1, 'e': 1, 'f': 1, 'A': 1, 'B': 1, 'C': 1, 'D': 1, 'E': 1, 'F': 1, '-': 2,
}

// IsUUID reports whether id is 36 characters, hexadecimal digits with four dashes.
func IsUUID(id string) bool {
	const form = "00000000-0000-0000-0000-000000000000"
	if len(id) != len(form) {
		return false
	}
	other := byte(0) // asked once at the end: the digits of ids are at random, and branches on them slow
	for i := range len(form) {
		other |= letters[id[i]] ^ letters[form[i]]
	}
	return other == 0
}

// Variable holds the URL of a vCenter.
func (Tool) Variable(s shell.Scope) (prefix, meaning string, ok bool) {
	return "VCENTER", "URL of vCenter " + s.Endpoint + " for govc, as you reach it; user and password in GOVC_USERNAME and GOVC_PASSWORD, or in it", true
}

// Identifies reports whether id is a UUID.
func (Tool) Identifies(id string) bool { return IsUUID(id) }

// Addresses reports whether the VM has a BIOS UUID and a managed object id.
func (Tool) Addresses(i shell.Instance) bool {
	return IsUUID(i.ID) && i.Ref != "" && i.Ref[0] != '-' && strings.TrimLeft(i.Ref, refLetters) == ""
}

// least is the first release that takes managed object ids for VMs in all of its
// commands (govmomi find/finder.go v0.46.0, commit a9d5985f).
const least = "0.46.0"

// Requires compares the release of govc.
func (Tool) Requires() (check shell.Command, why string) {
	return shell.Line(shell.Raw("govc version -require " + least)),
		"govc has to be " + least + " or later, because earlier releases take no managed object ids. A govc built from source may report 0.0.0 and fail here; use a release from github.com/vmware/govmomi/releases."
}

// url leads govc to the vCenter of a VM: it is the first word of each line.
func url(i shell.Instance) shell.Pieces {
	return shell.Pieces{"GOVC_URL=", shell.Variable(i.Scope.Variable)}
}

// mo returns how govc addresses a managed object by its id (govmomi find/finder.go v0.56.0).
func mo(i shell.Instance) string { return "VirtualMachine:" + i.Ref }

// IsPlace reports whether identity is a UUID, as the vCenter's own id is.
func (Tool) IsPlace(identity string) bool { return IsUUID(identity) }

// Landmark knows of none: who sees a network or a folder need not see a VM.
func (Tool) Landmark(kind, name string) bool { return false }

// Show prints what tells VMs apart.
func (Tool) Show(i shell.Instance) shell.Command {
	return shell.Line(url(i), "govc", "object.collect", mo(i), "name", "config.uuid", "config.instanceUuid", "config.createDate", "runtime.powerState", "guest.hostName", "guest.ipAddress")
}

// Start powers a VM on.
func (Tool) Start(i shell.Instance) shell.Command {
	return shell.Line(url(i), "govc", "vm.power", "-on", mo(i))
}

// Stop powers a VM off without asking its guest.
func (Tool) Stop(i shell.Instance) shell.Command {
	return shell.Line(url(i), "govc", "vm.power", "-off", "-force", mo(i))
}

// Destroy deletes a VM, which govc would power off without a word (govmomi
// cli/vm/destroy.go v0.56.0).
func (Tool) Destroy(i shell.Instance) shell.Command {
	return shell.Line(url(i), "govc", "vm.destroy", mo(i))
}

// Rename gives a VM another BIOS UUID, which vCenter takes only while it is off.
func (Tool) Rename(i shell.Instance, id any) shell.Command {
	return shell.Line(url(i), "govc", "vm.change", "-vm", mo(i), "-uuid", id)
}

// LeaveBalancer has no line: CAPV knows no load balancer.
func (Tool) LeaveBalancer(shell.Instance, []shell.LoadBalancer) []shell.Step {
	return []shell.Step{{Text: "Take it out of the targets of the API server's load balancer (HAProxy, NSX, keepalived): its own API server has lost etcd. With kube-vip there is nothing to take out, it ends with the VM."}}
}

var askDisk = shell.Ask("DISK", "name of a disk of that list that is not the VM's own first disk; repeat for each")

// Detach saves the disks that a persistent volume lives on: with the VM, vCenter
// deletes every disk that is attached.
func (Tool) Detach(i shell.Instance) []shell.Step {
	return []shell.Step{{
		Text: "Detach, and do not delete, every disk beside the VM's own: first-class disks of persistent volumes (CNS) above all. Deleting the VM deletes what is attached.",
		Look: []shell.Command{
			shell.Line(url(i), "govc", "device.info", "-vm", mo(i), "disk-*"),
			askDisk,
		},
		Change: shell.Line(url(i), "govc", "device.remove", "-vm", mo(i), "-keep", shell.Variable("DISK")),
	}}
}

// Remove needs no step before: nothing replaces a VM without a Machine.
func (Tool) Remove(shell.Instance) shell.Removal {
	return shell.Removal{
		Stop:    "Power it off and check that nothing depends on it (reversible).",
		Destroy: "Delete it; the line does nothing while it runs. An IPAM claim of its own may be left over.",
	}
}
