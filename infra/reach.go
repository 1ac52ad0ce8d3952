package infra

import "drift-detector/report/code"

// Reacher is a Provider with a command line of its own, which lines of a plan call.
type Reacher interface {
	// Reach returns the Target to which that command line leads when it is told at, such as
	// the URL of a vCenter, a profile or an entry of clouds.yaml. The credential, and what
	// says which certificate to trust, are those of the operator's own variables and files
	// that the command line reads: who looks once more looks through the same door. It
	// contacts nothing, and takes nothing from a backup.
	Reach(at string, s Sought) Target
}

// Sought is what somebody looks for at a place once more.
type Sought struct {
	Location string            // of the scope, as a report has it
	IDs      []string          // of instances, of which the place is asked one by one if it does not list them
	Name     string            // that a controller takes an instance by; empty: none does
	Member   string            // id of an instance whose pool's size is asked for; empty: none is
	Present  map[string]string // kinds of resources that show that it is the place, by their names
}

// FactHolder is a Fact of a place that was reached with a Name: which instance, by its id, a
// thing is attached to that the controller would take by name. The value begins with the name of
// the thing, and ends in a space and the id, where it is attached.
const FactHolder = "holder"

// Reach returns the Target that the command line of a provider leads to, for Collect.
func (r *Registry) Reach(provider, at string, s Sought) Target {
	if p, ok := r.named(provider).(Reacher); ok {
		return p.Reach(at, s)
	}
	return Target{Provider: provider, Refused: &Fault{
		Reason: code.UnsupportedProvider, Message: "provider " + provider + " has no command line that leads to a place",
		Hint: "look with the tools of that infrastructure, and go on by hand",
	}}
}
