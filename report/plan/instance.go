package plan

import (
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
)

// vm is an instance that commands can address by its id.
type vm struct {
	*report.Instance
	*scope
}

// vm finds out how commands address an instance; nil when its ids or its scope do not
// have the form that they must have.
func (pl *planner) vm(i *report.Instance) *vm {
	if i == nil {
		return nil
	}
	if p := pl.scopeOf(i); p != nil {
		if v := (&vm{Instance: i, scope: p}); p.Addresses(v.address()) {
			return v
		}
	}
	return nil
}

// address returns the instance as its tool takes it.
func (v *vm) address() shell.Instance { return v.scope.at(v.Instance) }

// only reports whether no other instance of the report has the id.
func (pl *planner) only(i *report.Instance) bool { return pl.withID[strings.ToLower(i.ID)] == 1 }

func (v *vm) show() shell.Command { return v.Show(v.address()) }

// start runs an instance that is off.
func (v *vm) start() shell.Command { return v.guarded(v.Start(v.address())) }

// startAs runs a VM that has been given another id.
func (v *vm) startAs(id string) shell.Command { return v.guarded(v.Start(v.address()), "--id="+id) }

// renames reports whether the instance can be given another id.
func (v *vm) renames() bool {
	_, ok := v.Tool.(shell.Renamer)
	return ok
}

// rename gives an instance another id while it is off; see renames.
func (v *vm) rename(id any) shell.Command {
	return v.guarded(v.Tool.(shell.Renamer).Rename(v.address(), id), off)
}

// newID gives a copy of a machine an id of its own, while the machine itself runs.
func (v *vm) newID(machine *vm) []shell.Command {
	return []shell.Command{
		shell.Ask("NEW_UUID", "a new one, such as uuidgen prints, for "+v.Name),
		machine.is(on).Then(v.rename(shell.Variable("NEW_UUID"))),
	}
}

// follow adds the steps of a tool, and has each line that changes something see first
// that this is the VM of the report.
func (v *vm) follow(d *draft, steps []shell.Step) {
	for _, s := range steps {
		lines := s.Look
		if !s.Change.IsZero() {
			lines = append(lines, v.guarded(s.Change))
		}
		d.after(s.Text, lines...)
	}
}

// leaveBalancer takes the instance of a control plane out of what is before the
// API server.
func (v *vm) leaveBalancer(d *draft, c *report.Cluster) {
	balancers := make([]shell.LoadBalancer, len(c.APILoadBalancers))
	for i, lb := range c.APILoadBalancers {
		balancers[i] = shell.LoadBalancer(lb)
	}
	v.follow(d, v.LeaveBalancer(v.address(), balancers))
}

// detach takes the disks that are to stay off the instance.
func (v *vm) detach(d *draft) { v.follow(d, v.Detach(v.address())) }

// remove ends the instance of a Ghost, which ghost sees, if first allows that. Both lines compare
// once more, so that neither works without. What still runs is not destroyed: the step that can be
// undone would be skipped.
func (v *vm) remove(d *draft, ghost, first shell.Command) {
	r := v.Remove(v.address())
	v.follow(d, r.Before)
	d.after(r.Stop, shell.All(ghost, first, v.guarded(v.Stop(v.address()))))
	d.after(r.Destroy, shell.All(ghost, v.guarded(v.Destroy(v.address()), off)))
}
