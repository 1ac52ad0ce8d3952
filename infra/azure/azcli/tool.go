// Package azcli makes lines for the Azure command line interface.
package azcli

import (
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/lazyregexp"
)

// Tool is the az command (Azure CLI 2). It implements [shell.Tool].
type Tool struct{}

var (
	vmForm    = lazyregexp.New(`^/subscriptions/([0-9a-f-]{36})/resourcegroups/([a-z0-9._()-]*[a-z0-9_()-])/providers/microsoft\.compute/(virtualmachines/([a-z0-9_][a-z0-9._-]*)|virtualmachinescalesets/([a-z0-9_][a-z0-9._-]*)/virtualmachines/([0-9]+))$`)
	placeForm = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

// Variable holds the id of a subscription.
func (Tool) Variable(s shell.Scope) (prefix, meaning string, ok bool) {
	return "AZURE", "id of the Azure subscription, for which your az command is logged in: " + s.Account, placeForm.MatchString(s.Account)
}

// Identifies reports whether id is the ARM id of a VM, of a scale set or not.
func (Tool) Identifies(id string) bool { return vmForm.MatchString(id) }

// Addresses reports whether the instance has one.
func (t Tool) Addresses(i shell.Instance) bool { return t.Identifies(i.ID) }

// Requires nothing: all releases of Azure CLI 2 have what is used here.
func (Tool) Requires() (check shell.Command, why string) { return shell.Command{}, "" }

// IsPlace reports whether identity is the id of a subscription.
func (Tool) IsPlace(identity string) bool { return placeForm.MatchString(identity) }

// Landmark takes nothing: who sees a network need not see the VMs beside it.
func (Tool) Landmark(string, string) bool { return false }

// line addresses a VM by the parts of its id.
func line(i shell.Instance, verb string, more ...any) shell.Command {
	of := vmForm.FindStringSubmatch(i.ID)
	if of == nil {
		return shell.Command{}
	}
	at := []any{"--subscription", shell.Variable(i.Variable), "--resource-group=" + of[2]}
	if of[5] == "" {
		words := append([]any{shell.Raw("az vm " + verb)}, at...)
		return shell.Line(append(append(words, "--name="+of[4]), more...)...)
	}
	option := "--instance-ids"
	if verb == "show" {
		option = "--instance-id"
	}
	if verb == "delete" {
		verb, more = "delete-instances", nil
	}
	words := append([]any{shell.Raw("az vmss " + verb)}, at...)
	return shell.Line(append(append(words, "--name="+of[5], option, of[6]), more...)...)
}

// Show prints all of a VM.
func (Tool) Show(i shell.Instance) shell.Command { return line(i, "show") }

// Start starts a VM.
func (Tool) Start(i shell.Instance) shell.Command { return line(i, "start") }

// Stop stops a VM and gives its host back, as CAPZ never does; its disks stay.
func (Tool) Stop(i shell.Instance) shell.Command { return line(i, "deallocate") }

// Destroy deletes a VM and waits until it is gone.
func (Tool) Destroy(i shell.Instance) shell.Command { return line(i, "delete", "--yes") }

// LeaveBalancer says that CAPZ's balancer asks each API server how it is (getProbes in
// azure/services/loadbalancers/spec.go v1.13.0 to v1.26.0).
func (Tool) LeaveBalancer(i shell.Instance, balancers []shell.LoadBalancer) []shell.Step {
	name := "of the API server"
	if len(balancers) > 0 && balancers[0].Name != "" {
		name += ", " + balancers[0].Name + ","
	}
	return []shell.Step{{
		Text: "See that it leaves the load balancer " + name + " by itself: CAPZ's probe (HTTPS, /readyz) takes out an API server that has lost etcd. From a balancer of your own, or one without that probe, take its network interfaces out of the backend pool.",
		Look: []shell.Command{line(i, "show", "--query=networkProfile.networkInterfaces[].id", "--output=tsv")},
	}}
}

// Detach saves the data disks of a VM of its own.
func (Tool) Detach(i shell.Instance) []shell.Step {
	step := shell.Step{Text: "Detach, and do not delete, every data disk that is to outlive the VM: one with deleteOption Delete ends with it."}
	if of := vmForm.FindStringSubmatch(i.ID); of != nil && of[5] == "" {
		step.Look = []shell.Command{
			line(i, "show", "--query=storageProfile.dataDisks[].[name,lun,deleteOption]", "--output=table"),
			shell.Ask("DISK", "the name of a disk of that list; repeat for each"),
		}
		step.Change = shell.Line(shell.Raw("az vm disk detach --subscription"), shell.Variable(i.Variable), "--resource-group="+of[2], "--vm-name="+of[4], "--name", shell.Variable("DISK"))
	}
	return []shell.Step{step}
}

// Remove ends a VM. Interface and disks stay, and CAPZ would take them by their names.
func (Tool) Remove(i shell.Instance) shell.Removal {
	name := strings.TrimSpace(i.Name)
	return shell.Removal{
		Stop:    "Deallocate the VM and check that nothing depends on it (reversible).",
		Destroy: "Delete it when it is deallocated; the line does nothing before. What CAPZ created with it stays behind and costs: network interface " + name + "-nic, disk " + name + "_OSDisk, its public address and inbound NAT rule, if it has them.",
	}
}
