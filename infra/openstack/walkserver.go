package openstack

import (
	"fmt"

	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// serverRow returns a row of something that the server is made of. CAPO looks it up by name for a
// server that runs as well, because a restore drops the status that held its id.
func serverRow(id, asks, source string) *walk.Row {
	return &walk.Row{
		ID: "openstack." + id, Of: serverKind, Asks: asks,
		None:   walk.Waits.Says("CAPO looks that up before it looks for the server, and goes no further"),
		Source: source + " v0.11.0 to v0.15.0-beta.0", OnDelete: keepsServer,
	}
}

// Rows of an OpenStackServer, and up to release 0.10 of an OpenStackMachine.
var (
	rowM12 = &walk.Row{
		ID: "openstack.M12", Of: machineKind,
		Asks:      "the external network, for the floating IP of the API server, where there is no load balancer",
		None:      walk.Waits.Says("CAPO does not call the machine of the control plane ready"),
		Condition: code.InfrastructureUnasked, // of a machine with an identity of its own
		Source:    "reconcileAPIServerLoadBalancer: controllers/openstackmachine_controller.go v0.10.0 to v0.15.0-beta.0",
	}
	rowM5 = &walk.Row{
		ID: "openstack.M5", Of: machineKind,
		Asks:   "spec.bootstrap.dataSecretName of its Machine, which Cluster API writes again where there is a KubeadmConfig",
		None:   walk.Waits.Says("CAPO waits for the bootstrap data, although the server runs"),
		Source: "reconcileNormal: controllers/openstackmachine_controller.go v0.9.0 to v0.15.0-beta.0",
	}
	machineRows = []*walk.Row{rowM3, rowM5, rowM10, rowM12}

	rowS1 = &walk.Row{
		ID: "openstack.S1", Of: serverKind,
		Asks:     "its server, whether or not it has an owner",
		None:     walk.Makes.Says("CAPO creates a server for an OpenStackServer without a Machine"),
		Versions: "v0.11 and later",
		Source:   "Reconcile: controllers/openstackserver_controller.go v0.11.0 to v0.15.0-beta.0",
	}
	rowS2 = serverRow("S2", "the server group of the name", "GetServerGroupID: pkg/cloud/services/compute/servergroup.go")
	rowS3 = severalToo(serverRow("S3", "the one image of name and tags", "GetImageID: pkg/cloud/services/compute/instance.go"))
	rowS4 = serverRow("S4", "the flavor of the name", "GetFlavorID: pkg/cloud/services/compute/instance.go")
	rowS5 = serverRow("S5", "security groups of its project", "GetSecurityGroups: pkg/cloud/services/networking/securitygroups.go")
	rowS6 = differing(walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "CAPO creates a port in another network than that of the server's, which no server has"},
		severalToo(serverRow("S6", "the one network of each port: that in which the server has it", "normalizePortTarget, EnsurePort: pkg/cloud/services/networking/port.go")))
	rowS7 = severalToo(serverRow("S7", "the one subnet of each address of a port, in its network", "normalizePortTarget: pkg/cloud/services/networking/port.go"))
	rowS9 = &walk.Row{
		ID: "openstack.S9", Of: serverKind, OnDelete: keepsServer,
		Asks:    "the port of each name on its network, which is to be one alone",
		Several: walk.Waits.Says("CAPO fails before it looks for the server (found multiple ports with name)"),
		Source:  "AdoptPortsServer: pkg/cloud/services/networking/port.go v0.11.0 to v0.15.0-beta.0; AdoptPorts v0.10.0",
	}
	rowS10 = &walk.Row{
		ID: "openstack.S10", Of: serverKind,
		Asks:      "its floating IP, by an IPAddressClaim that the pool answers",
		None:      walk.Waits.Says("CAPO waits for the floating IP before it looks for the server"),
		Condition: code.ForeignPools,
		Source:    "reconcileFloatingAddressFromPool: controllers/openstackserver_controller.go v0.11.0 to v0.15.0-beta.0",
	}
	rowS11 = &walk.Row{
		ID: "openstack.S11", Of: serverKind,
		Asks:    "a port with the address that the spec gives, where there is none of the name, and for its network",
		None:    walk.Waits.Says("Neutron creates no port in a network that is gone, and CAPO goes no further"),
		Differs: walk.Waits.Says("Neutron refuses a second port with the address, and CAPO goes no further"),
		Source:  "EnsurePort: pkg/cloud/services/networking/port.go v0.12.0 to v0.14.7; CreatePorts v0.10.0, v0.11.0",
	}
	rowS11b = &walk.Row{
		ID: "openstack.S11b", Of: serverKind,
		Asks:    "each port of the server by its name, on its network",
		None:    walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "CAPO creates a second port, which no server has"},
		Differs: walk.Waits.Says("Neutron refuses a second port with the MAC address, and CAPO goes no further"),
		Source:  "EnsurePort: pkg/cloud/services/networking/port.go v0.12.0 to v0.15.0-beta.0; CreatePorts v0.10.0, v0.11.0",
	}
	rowS12 = &walk.Row{
		ID: "openstack.S12", Of: serverKind, OnDelete: keepsServer,
		Asks:     "Nova for the one server of its name, by a regular expression: a dot in the name is any character, and databases of MySQL and MariaDB, which most clouds have, take upper and lower case for the same",
		Several:  walk.Waits.Says("CAPO takes none of several (DuplicateServerNames), and goes no further"),
		Versions: "v0.11 and later",
		Source:   "GetInstanceStatusByName: pkg/cloud/services/compute/instance.go v0.11.0 to v0.15.0-beta.0; _regex_instance_filter: nova/db/main/api.py",
	}
	rowS13 = &walk.Row{
		ID: "openstack.S13", Of: serverKind,
		Asks:    "a server with the port of its name, where it finds none of the machine's name; what is renamed keeps CAPO from that as long as it has the port",
		Differs: walk.Doubles.Says("CAPO finds neither server nor port of the name and creates both, beside the server that runs"),
		Source:  "getOrCreateServer: controllers/openstackserver_controller.go; createInstanceImpl: pkg/cloud/services/compute/instance.go v0.10.0 to v0.15.0-beta.0",
	}
	rowS14 = &walk.Row{
		ID: "openstack.S14", Of: serverKind,
		Asks:    "the floating IP that its IPAddress keeps, at the server",
		Differs: walk.Waits.Says("CAPO takes it from where it is, or where it is gone the machine is never ready"),
		Source:  "associateIPAddressFromIPAddressClaim: controllers/openstackserver_controller.go v0.11.0 to v0.15.0-beta.0",
	}
	rowS8 = &walk.Row{
		ID: "openstack.S8", Of: serverKind,
		Asks:      "the extension trunk of Neutron, where a port is to be a trunk, and the trunk of the port",
		None:      walk.Waits.Says("CAPO fails before it looks for the server (there is no trunk support)"),
		Differs:   walk.Waits.Says("Neutron creates no trunk of a port that a server has, and CAPO goes no further"),
		Refused:   "extensions and trunks of Neutron",
		Condition: code.InfrastructureUnasked,
		Source:    "ConstructPorts: pkg/cloud/services/networking/port.go; getOrCreateTrunkForPort: trunk.go v0.10.0 to v0.15.0-beta.0; Port of a trunk: neutron/services/trunk/rules.py",
	}
	rowO1 = &walk.Row{
		ID: "openstack.O1", Of: serverKind,
		Asks:   "the Image object that spec.image.imageRef names",
		None:   walk.Waits.Says("CAPO waits for it before it looks for the server"),
		Source: "getImageIDByReference: pkg/cloud/services/compute/instance.go v0.11.0 to v0.15.0-beta.0",
	}
	rowO2 = &walk.Row{
		ID: "openstack.O2", Of: "Image",
		Asks:      "itself, where a server names it: the OpenStack Resource Controller has to run",
		Condition: code.ImagesResolved,
		Source:    "getImageIDByReference: pkg/cloud/services/compute/instance.go v0.11.0 to v0.15.0-beta.0",
	}
	rowO3 = &walk.Row{
		ID: "openstack.O3", Of: "an object of ORC",
		Asks:      "the thing that it describes, and makes it again where that is gone, unless its policy is unmanaged: none of it is looked for here",
		Condition: code.InfrastructureUnasked,
		Source:    "config/crd/bases of k-orc/openstack-resource-controller: managementPolicy",
	}
	serverRows = []*walk.Row{rowS1, rowS2, rowS3, rowS4, rowS5, rowS6, rowS7, rowS8, rowS9, rowS10, rowS11, rowS11b, rowS12, rowS13, rowS14, rowO1, rowO2, rowO5, rowO4, rowO4b, rowO3}
)

func severalToo(r *walk.Row) *walk.Row {
	r.Several = walk.Waits.Says("CAPO takes none of several, and goes no further")
	return r
}

// rowOf is the row that looks a kind of thing up for a server.
var rowOf = map[string]*walk.Row{
	"server group": rowS2, "image": rowS3, "flavor": rowS4, thingGroup: rowS5, thingNetwork: rowS6, thingSubnet: rowS7,
}

// askMember asks what the backup says of a machine, or a listing of what has no instance.
func (q *questions) askMember(m *member) {
	q.askOwnLogins(m)
	q.askPoolNetwork(m)
	q.askImage(m)
	q.askAlone(m)
	if m.index < 0 || m.meta() == nil || m.meta().Paused {
		return
	}
	note := func(r *walk.Row, lacks, object string) {
		switch {
		case lacks != "":
			a := answer(walk.None, object, lacks, "exists")
			q.Keep(walk.Step{Row: r, Cluster: m.cluster, Subject: q.objs.titleOf(m), Machine: m.index, Answer: a})
		default:
			q.Note(r, m.cluster, pass)
		}
	}
	if machine := &q.objs.snapshot.Machines[m.index]; machine.ProviderID != "" && m.machine != nil {
		if !machine.Bootstrapped {
			note(rowM5, "it names no bootstrap data", q.objs.titleOf(m))
		} else {
			q.Note(rowM5, m.cluster, pass)
		}
	}
	switch claim, w := q.objs.claimOf(m); {
	case w == nil:
	case w.FloatingPoolKind != poolKind:
		q.Note(rowS10, m.cluster, walk.Answer{Found: walk.Unseen, Objects: []string{infra.Brief(w.FloatingPoolKind + " " + w.FloatingPool)}})
	default:
		note(rowS10, q.objs.poolLacks(m), poolKind+" "+claim.Namespace+"/"+w.FloatingPool)
	}
	q.askRegistered(m)
	q.askPortTags(m)
	if trunks := q.objs.trunks(m); trunks != nil {
		q.Steps = append(q.Steps, infra.Step{
			Step: walk.Step{Row: rowS8, Cluster: m.cluster, Subject: q.objs.titleOf(m), Machine: m.index},
			Look: func(inv *infra.Inventory) walk.Answer {
				p := q.place(inv, m.home)
				if p == nil {
					return walk.Answer{}
				}
				return p.trunked(trunks)
			},
		})
	} else {
		q.Note(rowS8, m.cluster, pass)
	}
	if m.imageObject() != "" {
		note(rowO1, q.objs.imageLacks(m), "Image of "+q.objs.titleOf(m))
		q.Note(rowO2, m.cluster, walk.Answer{Found: walk.Unseen, Objects: []string{infra.ClusterTitle(m.cluster)}})
	} else {
		q.Note(rowO2, m.cluster, pass)
	}
}

// askAlone asks S1 of an OpenStackServer whose Machine the backup lacks: its controller asks for
// no owner.
func (q *questions) askAlone(m *member) {
	l := q.objs.locations[m.cluster]
	if m.index >= 0 || m.server == nil || m.server.Paused || l.release < withServers {
		return
	}
	name, id := infra.Key{Kind: keyName, Value: q.objs.serverName(m)}, UUIDOf(m.server.Data.InstanceID)
	subject := q.objs.titleOf(m)
	q.Steps = append(q.Steps, infra.Step{
		Step: walk.Step{Row: rowS1, Cluster: m.cluster, Subject: subject, Machine: -1},
		Look: func(inv *infra.Inventory) walk.Answer {
			p := q.place(inv, m.home)
			switch {
			case p == nil || p.Fault != nil:
				return walk.Answer{}
			case p.holds(name, id):
				return pass
			}
			return walk.Answer{Found: walk.None, Why: fmt.Sprintf("%s has no server of the name %s", p.title(), m.server.Name), Until: subject + " is deleted, or left out of the restore", Objects: []string{subject}}
		},
	})
}

// holds reports whether a server of the name is there, or one of the id that cannot be read.
func (p *place) holds(name infra.Key, id string) bool {
	is := func(i *infra.Instance) bool {
		return !i.Gone && (i.HasKey(name) || i.ID == id && id != "" && i.Unreadable)
	}
	for i := range p.Instances {
		if is(&p.Instances[i]) {
			return true
		}
	}
	for i := range p.Unrelated.All() {
		if is(&i) {
			return true
		}
	}
	return false
}
