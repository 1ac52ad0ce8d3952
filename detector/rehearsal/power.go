package rehearsal

import (
	"slices"
	"strings"

	"drift-detector/report/code"
)

// An instance that does not run is there all the same. A controller may start one
// that is a machine's, as CAPV does (infra.Controller.PowersOn); CAPA marks it
// InstanceStopped and does no more (CAPA controllers/awsmachine_controller.go v2.11.1).

// suspended is the state of an instance that no controller powers on: CAPV fails at it.
const suspended = "suspended"

// off reports whether the instance exists and does not run. Ghosts carry no warnings
// of their own.
func (f *machine) off() bool {
	return f.warned(code.PoweredOff) || f.verdict.Instance != nil && slices.Contains(f.verdict.Instance.Warnings, code.PoweredOff)
}

func (f *machine) suspended() bool {
	return f.verdict.Instance != nil && f.verdict.Instance.State == suspended
}

// poweredOn reports whether the controller starts the instance when it adopts it.
func (f *machine) poweredOn() bool {
	return f.healthy() && f.off() && f.cluster.controller.PowersOn && !f.suspended()
}

// stopped reports whether the instance exists, does not run, and nothing starts
// it by itself after the restore.
func (f *machine) stopped() bool {
	exists := f.verdict.Status == code.Healthy || f.ghost()
	return exists && f.off() && (!f.poweredOn() || f.paused || f.cluster.idle())
}

// starts reports whether the controller starts the instance soon after the restore.
func (f *machine) starts() bool { return f.poweredOn() && !f.stopped() }

// isMade reports whether the controller creates the machine's instance after the restore.
func (f *machine) isMade() bool {
	return (f.unprovisioned() || f.makesOne()) && !f.failed() && f.cannotBeMade() == ""
}

// idle reports whether no infrastructure controller acts on the cluster until somebody
// brings back what the backup lacks.
func (c *cluster) idle() bool { return len(c.halts) > 0 || c.Derived }

// whyOff returns why an instance that was found stays off.
func (f *machine) whyOff() string {
	if f.cluster.controller.PowersOn {
		return "its VM is found by the recorded id and is suspended: " + f.controller() + " powers on what is powered off, and fails at a VM that is suspended until it is resumed"
	}
	return "its instance is found by " + f.recognised() + " and is stopped: " + f.controller() + " never starts one: start it by hand"
}

// runsOn says what becomes of an instance that nobody touches.
func (f *machine) runsOn() string {
	if f.off() {
		return "the VM stays off, as it is"
	}
	return "VM and Node keep running"
}

// leftOut is why a machine of which infrastructure objects are left has no Machine: Velero
// leaves out what is being deleted, and what its filters do not select.
const leftOut = "its Machine was being deleted or left out, and is not in the backup: "

// stoppedNames returns the machines of the control plane that are stopped.
func (c *cluster) stoppedNames() string {
	var out []string
	for i := range c.control.members {
		if f := c.control.members[i]; f.stopped() {
			out = append(out, f.verdict.Name)
		}
	}
	return strings.Join(out, ", ")
}

// harm returns what stopped machines of the control plane do to the cluster as a
// whole, if anything.
func (c *cluster) harm() string {
	switch {
	case !c.Applicable || c.stopped == 0:
		return ""
	case c.alive+c.unsure() == 0:
		return "its API server does not answer"
	case c.control.Kind == kubeadm && !c.externalEtcd() && !c.quorate():
		return "etcd may have no majority, and without one the API server does not answer"
	}
	return ""
}

// nobodyStarts says who does not start the stopped machines of the control
// plane. It follows their names or their number.
func (c *cluster) nobodyStarts() string {
	them := verb(c.stopped, "it", "them")
	switch {
	case c.controller.PowersOn && (c.Paused || c.idle()):
		return c.controller.Name + " does not power " + them + " on before it acts on this cluster"
	case c.controller.Name != "":
		return c.controller.Name + " does not start " + them
	}
	return "no controller is known here that starts " + them
}
