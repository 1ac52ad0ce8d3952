// Package azcli makes lines for the Azure command line interface.
package azcli

import (
	"cmp"
	"regexp"
	"strings"

	"drift-detector/infra/shell"
)

// Tool is the Azure CLI. It implements [shell.Tool].
type Tool struct{}

// Forms of ids. Those of resources are taken in any case; names of resource groups may have other
// letters than these, and no line is made for them.
const (
	uuid  = `[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`
	group = `/subscriptions/(` + uuid + `)/(?i:resourceGroups)/([A-Za-z0-9_()][A-Za-z0-9._()-]{0,89})`
	named = `[A-Za-z0-9][A-Za-z0-9._-]{0,79}`
)

var (
	vmForm     = regexp.MustCompile(`^` + group + `/providers/(?i:Microsoft\.Compute/virtualMachines)/(` + named + `)$`)
	memberForm = regexp.MustCompile(`^` + group + `/providers/(?i:Microsoft\.Compute/virtualMachineScaleSets)/` + named + `/(?i:virtualMachines)/[0-9]{1,10}$`)
	groupForm  = regexp.MustCompile(`^` + group + `$`)
	placeForm  = regexp.MustCompile(`^` + uuid + `$`)
)

// Variable holds the configuration of an Azure CLI: which cloud and account it uses is kept there
// alone, and the subscription is in each id.
func (Tool) Variable(s shell.Scope) (prefix, meaning string, ok bool) {
	return "AZURE", "AZURE_CONFIG_DIR of an Azure CLI that is logged in at subscription " + cmp.Or(s.Account, "of the clusters") + " of " + s.Endpoint, true
}

// Identifies reports whether id is that of a VM, or of a member of a scale set.
func (Tool) Identifies(id string) bool { return vmForm.MatchString(id) || memberForm.MatchString(id) }

// Addresses reports whether the instance is a VM of its own: members of scale sets come and go
// with these.
func (Tool) Addresses(i shell.Instance) bool { return vmForm.MatchString(i.ID) }

// Requires nothing: all releases of these years have what is used here.
func (Tool) Requires() (check shell.Command, why string) { return shell.Command{}, "" }

func line(s shell.Scope, words ...any) shell.Command {
	return shell.Line(append([]any{shell.Pieces{shell.Raw("AZURE_CONFIG_DIR="), shell.Variable(s.Variable)}, shell.Raw("az")}, words...)...)
}

// IsPlace reports whether identity is a subscription.
func (Tool) IsPlace(identity string) bool { return placeForm.MatchString(identity) }

// Landmark takes a resource group by its id: who reads it and the VMs in it is at its subscription.
func (Tool) Landmark(kind, name string) bool {
	return kind == "resource group" && groupForm.MatchString(name)
}

// Show prints all of a VM, with its power state.
func (Tool) Show(i shell.Instance) shell.Command {
	return line(i.Scope, "vm", "show", "--show-details", "--ids="+i.ID, "--output=json")
}

// Start starts a VM, deallocated or stopped.
func (Tool) Start(i shell.Instance) shell.Command {
	return line(i.Scope, "vm", "start", "--ids="+i.ID)
}

// Stop stops a VM without deallocating it: one with an ephemeral disk could not be started again.
func (Tool) Stop(i shell.Instance) shell.Command { return line(i.Scope, "vm", "stop", "--ids="+i.ID) }

// Destroy deletes a VM.
func (Tool) Destroy(i shell.Instance) shell.Command {
	return line(i.Scope, "vm", "delete", "--yes", "--ids="+i.ID)
}

// LeaveBalancer says that CAPZ's balancer asks the API server itself how it is (getProbes in
// azure/services/loadbalancers/spec.go v1.13.0 to v1.26.0).
func (Tool) LeaveBalancer(i shell.Instance, balancers []shell.LoadBalancer) []shell.Step {
	name := ""
	for _, lb := range balancers {
		if lb.Name != "" {
			name = " " + lb.Name
		}
	}
	return []shell.Step{{
		Text: "It leaves the load balancer of the API server" + name + " by itself: CAPZ's probe (HTTPS, /readyz) takes out an API server that has lost etcd. See that it has such a probe; in one of your own take network interface " + i.Name + "-nic out of its backends.",
		Look: []shell.Command{line(i.Scope, "vm", "show", "--ids="+i.ID, "--query=networkProfile.networkInterfaces[].id", "--output=tsv")},
	}}
}

// Detach saves the data disks.
func (Tool) Detach(i shell.Instance) []shell.Step {
	part := vmForm.FindStringSubmatch(i.ID)
	if part == nil {
		return nil
	}
	return []shell.Step{{
		Text: "Detach, and do not delete, every data disk: one with deleteOption Delete would end with the VM.",
		Look: []shell.Command{
			line(i.Scope, "vm", "show", "--ids="+i.ID, "--query=storageProfile.dataDisks[].[name,lun,deleteOption]", "--output=table"),
			shell.Ask("DISK", "the name of a disk of that list; repeat for each"),
		},
		Change: line(i.Scope, "vm", "disk", "detach", "--subscription="+part[1], "--resource-group="+part[2], "--vm-name="+part[3], "--name", shell.Variable("DISK")),
	}}
}

// Remove ends a VM.
func (Tool) Remove(i shell.Instance) shell.Removal {
	return shell.Removal{
		Stop:    "Stop the VM and check that nothing depends on it (reversible; it still costs what it costs).",
		Destroy: "Delete it when it has stopped; the line does nothing before. What CAPZ created with it stays behind and costs: network interface " + strings.TrimSpace(i.Name) + "-nic, disk " + strings.TrimSpace(i.Name) + "_OSDisk, its public address if it has one, its inbound NAT rule.",
	}
}
