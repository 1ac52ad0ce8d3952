// Package openstackcli makes lines for the openstack command line interface.
package openstackcli

import (
	"cmp"
	"regexp"

	"drift-detector/infra/shell"
)

// Tool is the openstack command (python-openstackclient). It implements [shell.Tool].
type Tool struct{}

var (
	serverForm  = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	projectForm = regexp.MustCompile(`^[0-9a-f]{32}$|^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	regionForm  = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*)?$`)
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

// Here compares the project of the token.
func (Tool) Here(s shell.Scope) shell.Command {
	if !projectForm.MatchString(s.Identity) {
		return shell.Command{}
	}
	return line(s, "token", "issue", "-f", "value", "-c", "project_id").Prints(s.Identity)
}

// Sees looks for a server of the cluster by its id, or for a network by its id: who sees
// either of them in a project sees all servers of it.
func (t Tool) Sees(s shell.Scope, i *shell.Instance, present []shell.Resource) (check shell.Command, what string) {
	if i != nil && t.Identifies(i.ID) {
		return line(s, "server", "show", i.ID, "-f", "value", "-c", "id").Prints(i.ID), "server " + i.ID
	}
	for _, r := range present {
		if r.Kind == "subnet" && serverForm.MatchString(r.Name) {
			return line(s, "subnet", "show", r.Name, "-f", "value", "-c", "id").Prints(r.Name), "subnet " + r.Name
		}
	}
	return shell.Command{}, ""
}

// Find prints the id of a server, and nothing where the project has none of it. It reads
// the whole list, because `server show` fails alike for one that is gone and for a cloud
// that does not answer.
func (Tool) Find(s shell.Scope, id string) shell.Command {
	return line(s, "server", "list", "--limit=-1", "-f", "value", "-c", "ID").Keep("IDS").
		Then(shell.Line(shell.Raw(`printf '%s\n' "$IDS" | sed -n`), "/^"+id+"$/p"))
}

// Named takes a server for CAPO's when it has a port that is named after it: CAPO makes
// the ports of its servers so, and nobody else does.
func (Tool) Named(s shell.Scope) shell.Command {
	servers := line(s, "server", "list", "--limit=-1", shell.Raw(`--name="^${NAME:?}$"`), "-f", "value", "-c", "ID").Keep("IDS")
	ports := line(s, "port", "list", shell.Raw(`--server="$IDS"`), "-f", "value", "-c", "Name").Keep("PORTS")
	// A port of the name goes with the Machine, too, whichever server it is attached to.
	port := line(s, "port", "list", shell.Raw(`--name="${NAME:?}-0"`), "-f", "value", "-c", "ID").Keep("PORT")
	free := line(s, "port", "show", shell.Raw(`"$PORT"`), "-f", "value", "-c", "device_id").Keep("DEVICE").Then(shell.Empty("DEVICE"))
	return shell.All(servers,
		shell.Empty("IDS").Or(ports.Then(shell.Has("PORTS", shell.Raw(`"${NAME:?}-"`)))),
		shell.Line(shell.Raw(`test -n "$IDS"`)).Or(port.Then(shell.Empty("PORT").Or(free))))
}

// Show prints all of a server.
func (Tool) Show(i shell.Instance) shell.Command { return line(i.Scope, "server", "show", i.ID) }

// Same looks for the server in the project of the report.
func (t Tool) Same(i shell.Instance) shell.Command {
	return t.Here(i.Scope).Then(line(i.Scope, "server", "show", i.ID, "-f", "value", "-c", "id").Prints(i.ID))
}

// Off compares the status.
func (Tool) Off(i shell.Instance) shell.Command { return status(i).Prints("SHUTOFF") }

// On compares the status.
func (Tool) On(i shell.Instance) shell.Command { return status(i).Prints("ACTIVE") }

func status(i shell.Instance) shell.Command {
	return line(i.Scope, "server", "show", i.ID, "-f", "value", "-c", "status")
}

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
// get them.
func (Tool) Remove(i shell.Instance) shell.Removal {
	return shell.Removal{
		Stop:    "Stop the server and check that nothing depends on it (reversible).",
		Destroy: "Delete it when it has stopped; the line does nothing before. Ports that CAPO created for it (its name and -0) and floating IPs stay behind: `openstack port list --device-owner=''` shows those without a server.",
	}
}
