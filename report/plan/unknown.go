package plan

import (
	"cmp"
	"fmt"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// unknown plans what to do about what could not be decided, by reason. Nobody acts on such
// a machine before it is settled.
func (pl *planner) unknown(d *draft, s *set, m *report.Machine) {
	text := cmp.Or(pl.remedy(s.cluster.Provider, m.Reason), code.Of(m.Reason).Plan)
	if text == "" {
		text = "It could not be decided. Read the reason in the report, resolve it, and run detect again."
	}
	var look []shell.Command
	if m.Node != "" {
		look = append(look, pl.workload(s.cluster, "get", node+m.Node, "--output=wide"))
	}
	look = append(look, pl.look(m)...)
	if m.MoreOthers > 0 {
		text += fmt.Sprintf(" These are the first of %s.", english.Count(len(m.Others)+m.MoreOthers, "VM"))
	}
	d.before(text, look...)
	if m.Reason == code.IdentityChanged {
		pl.oldID(d, m)
	}
}

// remedy returns what a provider says of a reason instead of what plans say of all, or empty.
func (pl *planner) remedy(provider string, reason code.Reason) string {
	if p := pl.providers[provider]; p != nil {
		return p.Remedies[reason]
	}
	return ""
}

// oldID gives a VM the id back that the backup records, if nothing else has it.
func (pl *planner) oldID(d *draft, m *report.Machine) {
	id := report.InstanceID(m.ProviderID)
	if len(m.Others) != 1 || pl.withID[id] > 0 {
		return
	}
	v := pl.vm(&m.Others[0])
	if v == nil || !v.renames() || !v.Identifies(id) || !v.proven() {
		return
	}
	d.before("If it is the machine, and you give it its recorded id again: drain its Node, power the VM off, change the id, and start it. The line that changes it does nothing while the VM runs, or when anything has that id by now.",
		v.free(id).Then(v.rename(id)))
	d.before("Start it again.", v.startAs(id))
}

// look shows all instances that a verdict names.
func (pl *planner) look(m *report.Machine) []shell.Command {
	var out []shell.Command
	if v := pl.vm(m.Instance); v != nil {
		out = append(out, v.show())
	}
	for i := range m.Others {
		if v := pl.vm(&m.Others[i]); v != nil {
			out = append(out, v.show())
		}
	}
	return out
}

// duplicateID plans for a danger whatever else is true of the machine. Which of the VMs is
// the living one is established before anything else: to power it off and give it
// another id would cost the machine.
func (pl *planner) duplicateID(d *draft, c *report.Cluster, m *report.Machine) {
	nodes := "nodes"
	if m.Node != "" {
		nodes = node + m.Node
	}
	d.before("Danger: other VMs have its id, and "+pl.onDelete(c)+", no matter who deletes it (a person, a health check, a scale-down). First find out which of them its Node runs on: compare the Node's addresses with theirs. That one is left as it is.",
		append([]shell.Command{pl.workload(c, "get", nodes, "--output=wide")}, pl.look(m)...)...)
	pl.ownIDs(d, m)
	d.after(doNotDelete).kind = reminder
}

const doNotDelete = "Do not delete its Machine while two VMs have the id, and see that no MachineHealthCheck does."

// ownIDs gives copies ids of their own, where a second key shows which of the VMs
// is the machine, and that one runs.
func (pl *planner) ownIDs(d *draft, m *report.Machine) {
	machine := pl.vm(m.Instance)
	if machine == nil || !machine.proven() || !runs(m) {
		d.before("No line gives a copy another id: no VM is known to be the machine and to run, so that any of them may be what is alive. Leave all as they are, and run detect again when it is clear which is the machine.")
		return
	}
	var lines []shell.Command
	for i := range m.Others {
		o := &m.Others[i]
		if v := pl.vm(o); v != nil && v.renames() && v.proven() && strings.EqualFold(o.ID, m.Instance.ID) && o.Ref != m.Instance.Ref {
			lines = append(lines, v.newID(machine)...)
		}
	}
	if len(lines) > 0 {
		d.before("If the Node runs on the machine's own VM: ask the owner of the other one to shut it down, then give that one another BIOS UUID. The line does nothing unless the machine's VM runs and the other one is off.", lines...)
	}
}

// warnings plans what to do about a healthy machine that carries some.
func (pl *planner) warnings(d *draft, s *set, m *report.Machine) {
	c := s.cluster
	if warned(m, code.Reidentified) {
		d.before("Its VM has the id, and both second ids differ: it was restored from a VM backup, or only a copy is left. Prove which, by its Node and its creation time, before anything adopts it.",
			append([]shell.Command{pl.nodesByID(c)}, pl.look(m)...)...)
	}
	if warned(m, code.MachineMissing) {
		pl.machineMissing(d, s, m)
	}
	if warned(m, code.PoweredOff) {
		pl.poweredOff(d, s, m)
	}
}

// poweredOff plans for a machine that is started by its controller where the forecast says so. What nobody
// starts is started before the restore: the controllers replace, or leave alone,
// what they find stopped.
func (pl *planner) poweredOff(d *draft, s *set, m *report.Machine) {
	c := s.cluster
	p := pl.providers[c.Provider]
	starts := p != nil && p.PowersOn
	look := pl.look(m)
	if v := pl.vm(m.Instance); v != nil && pl.only(m.Instance) && len(m.Others) == 0 {
		look = append(look, v.start())
	}
	last := s.stackedEtcd() && pl.members(c).running == 0
	if last {
		d.before("No machine of its control plane is known to run, and etcd needs it. Start it before the restore, unless the cluster is off on purpose.", look...)
	}
	switch {
	case pl.powersOn(c, m):
		d.controller(pl.once(pl.controllerOf(c), " powers its VM on as soon as it is adopted. If it is off on purpose, ", pl.keptBack("its cluster"), "."), pl.look(m)...)
	case outcome(m) == code.ReplacedByMachineHealthCheck:
		d.before("It does not run, and a MachineHealthCheck deletes its Machine and its VM after the restore. Start it before, if it is to stay, and see that its Node is Ready.", look...)
		d.controller("What still does not run is deleted and created again. Watch, and do nothing.", listMachines(c))
	case !starts && last:
	case !starts && s.plane:
		d.before("Its instance exists and does not run, and no controller starts it. Start it before its controllers act: deleting the Machine of a control plane costs it a member of etcd.", look...)
	case !starts:
		d.before("Its instance exists and does not run, and no controller starts it. Start it before its controllers act, and see that its Node is Ready: a MachineHealthCheck that covers it deletes it otherwise. If it is off on purpose, "+pl.keptBack("its cluster")+".", look...)
		pl.staysOff(d, m)
	case suspended(m):
		d.after("Its VM is suspended: "+p.Controller+" powers on what is powered off, and fails at what is suspended. Start it, which resumes it; if it is suspended on purpose, "+pl.keptBack("its cluster")+".", look...)
	case outcome(m) == code.CannotKnow && starts:
		d.before("It does not run, and whether it is started before a controller gives it up is not known. Start it before the restore, if it is to stay, and see that its Node is Ready.", look...)
	case c.Paused || outcome(m) == code.UntouchedPaused:
		d.after("It is paused, with its cluster or by itself (annotation cluster.x-k8s.io/paused), and "+p.Controller+" powers its VM on as soon as it is not any more. Start it if it is to run before that; if it is off on purpose, keep it paused.", look...)
	default:
		d.after("Its VM exists and does not run, and the forecast does not say that a controller starts it. Start it if it is to run.", look...)
	}
}

// powersOn reports whether its controller starts the VM of a machine by itself. Without a
// forecast that is what it does to each but those that are paused or suspended.
func (pl *planner) powersOn(c *report.Cluster, m *report.Machine) bool {
	if outcome(m) != "" {
		return outcome(m) == code.AdoptedPoweredOn
	}
	p := pl.providers[c.Provider]
	return p != nil && p.PowersOn && !c.Paused && !suspended(m)
}

func suspended(m *report.Machine) bool { return m.Instance != nil && m.Instance.State == "suspended" }

// machineMissing plans for a machine whose Machine was being deleted, or was left out: its
// other objects come back without an owner, and a new Machine is made beside it.
func (pl *planner) machineMissing(d *draft, s *set, m *report.Machine) {
	c := s.cluster
	if !s.plane {
		pl.isLeft(d, m)
	}
	if outcome(m) == code.OrphanedAndReplaced {
		d.controller("Its owner is short of a Machine and creates a new one, with a new VM.", listMachines(c))
	}
	if s.stackedEtcd() {
		d.after("It may be a member of etcd, and KubeadmControlPlane removes members that have no Machine. See that a majority of the members answers without it before you touch it.", pl.quorum(c)...)
	}
	d.after("Its Machine is not in the backup: it was being deleted when that was taken, or was left out. VM and Node run on. If it was left out, keep them and take a backup that holds it. Only if it was being deleted, finish that by hand: see that the group has as many machines as its replicas, find its Node by the id, and drain and delete it.",
		append([]shell.Command{listMachines(c), pl.nodesByID(c)}, pl.look(m)...)...)
	var left []shell.Command
	kinds := ""
	if p := pl.providers[c.Provider]; p != nil && len(p.MachineKinds) > 0 {
		var all []string
		for _, k := range p.MachineKinds {
			all = append(all, k.Kind)
		}
		kinds = " (" + strings.Join(all, ", ") + ")"
		left = append(left, manage(m.Namespace, "get", strings.Join(resources(p.MachineKinds), ","), "--ignore-not-found", "--selector=cluster.x-k8s.io/cluster-name="+c.Name))
	}
	d.after("Then look at the objects that were restored without an owner: deleting its infrastructure machine"+kinds+" makes the controller destroy the VM, which is how a deletion would have ended. No line here does that: decide it first.", left...)
}
