// Package openstackcli makes lines for the openstack command line interface.
package openstackcli

import (
	"cmp"

	"drift-detector/infra/shell"
	"drift-detector/internal/lazyregexp"
)

// Tool is the openstack command (python-openstackclient). It implements [shell.Tool].
type Tool struct{}

var (
	serverForm  = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	projectForm = lazyregexp.New(`^[0-9a-f]{32}$|^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	regionForm  = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)?$`)
)

// Variable holds an entry of clouds.yaml for a project and region.
func (Tool) Variable(s shell.Scope) (prefix, meaning string, ok bool) {
	meaning = "entry of your clouds.yaml for project " + cmp.Or(s.Account, "of the clusters") + " at " + s.Endpoint
	if s.Region != "" {
		meaning += ", region " + s.Region
	}
	return "OPENSTACK", meaning, regionForm.MatchString(s.Region)
}

// Identifies reports whether id is the UUID of a server.
func (Tool) Identifies(id string) bool { return serverForm.MatchString(id) }

// Addresses reports whether the instance has one.
func (t Tool) Addresses(i shell.Instance) bool { return t.Identifies(i.ID) }

// Requires nothing: all releases of these ten years have what is used here.
func (Tool) Requires() (check shell.Command, why string) { return shell.Command{}, "" }

func line(s shell.Scope, words ...any) shell.Command {
	head := []any{shell.Raw("openstack --os-cloud"), shell.Variable(s.Variable)}
	if s.Region != "" {
		head = append(head, "--os-region-name="+s.Region)
	}
	return shell.Line(append(head, words...)...)
}

// IsPlace reports whether identity is the id of a project.
func (Tool) IsPlace(identity string) bool { return projectForm.MatchString(identity) }

// Landmark takes a subnet by its id: who sees it in a project sees all servers of that.
func (Tool) Landmark(kind, name string) bool { return kind == "subnet" && serverForm.MatchString(name) }

// Show prints all of a server.
func (Tool) Show(i shell.Instance) shell.Command { return line(i.Scope, "server", "show", i.ID) }

// starts are the commands for servers that are not running in another way than stopped:
// Nova refuses each of them in any other state (nova/compute/api.py 34.0.0).
var starts = map[string]string{
	"PAUSED": "unpause", "SUSPENDED": "resume", "SHELVED": "unshelve", "SHELVED_OFFLOADED": "unshelve", "RESCUE": "unrescue",
}

// Start starts a server, or wakes it.
func (Tool) Start(i shell.Instance) shell.Command {
	return line(i.Scope, "server", cmp.Or(starts[i.State], "start"), i.ID)
}

// Stop stops a server.
func (Tool) Stop(i shell.Instance) shell.Command { return line(i.Scope, "server", "stop", i.ID) }

// Destroy deletes a server and waits until it is gone.
func (Tool) Destroy(i shell.Instance) shell.Command {
	return line(i.Scope, "server", "delete", "--wait", i.ID)
}

// LeaveBalancer takes a server out of the load balancer of the API server, whose members
// are known by their addresses.
func (Tool) LeaveBalancer(i shell.Instance, balancers []shell.LoadBalancer) []shell.Step {
	for _, lb := range balancers {
		if lb.Type == "disabled" {
			continue
		}
		pool := shell.Variable("POOL")
		return []shell.Step{{
			Text: "Take it out of the API server's load balancer " + lb.Name + ": it stays there when its member has left etcd, and its API server then answers with errors. Its members are addresses.",
			Look: []shell.Command{
				line(i.Scope, "server", "show", i.ID, "-f", "value", "-c", "addresses"),
				line(i.Scope, "loadbalancer", "pool", "list", "--loadbalancer="+lb.Name),
				shell.Ask("POOL", "the id of a pool that this printed; repeat for each"),
				line(i.Scope, "loadbalancer", "member", "list", pool),
				shell.Ask("MEMBER", "the id of the member with an address of the server"),
			},
			Change: line(i.Scope, "loadbalancer", "member", "delete", pool, shell.Variable("MEMBER")),
		}}
	}
	return []shell.Step{{Text: "Take it out of what leads to the API server: its own API server has lost etcd. The cluster has no load balancer of CAPO's: look for floating IPs and for balancers of your own that lead to it."}}
}

// Detach saves the volumes beside the root volume.
func (Tool) Detach(i shell.Instance) []shell.Step {
	return []shell.Step{{
		Text: "Detach, and do not delete, every volume beside the root volume; one with delete_on_termination would end with the server.",
		Look: []shell.Command{
			line(i.Scope, "server", "volume", "list", i.ID),
			shell.Ask("VOLUME", "a volume of that list that is not the root volume (/dev/vda); repeat for each"),
		},
		Change: line(i.Scope, "server", "remove", "volume", i.ID, shell.Variable("VOLUME")),
	}}
}

// Remove ends a server. The ports that CAPO made stay, and a new server of the name would
// get them. Only --long shows Device Owner (python-openstackclient master,
// openstackclient/network/v2/port.py).
func (Tool) Remove(i shell.Instance) shell.Removal {
	return shell.Removal{
		Stop:    "Stop the server and check that nothing depends on it (reversible).",
		Destroy: "Delete it when it has stopped; the line does nothing before. Ports that CAPO created for it (its name and -0) and floating IPs stay behind: `openstack port list --long` shows them; those without a server have no Device Owner.",
	}
}
