package skeleton

import (
	"regexp"

	"drift-detector/infra/shell"
)

var serialForm = regexp.MustCompile(`^[0-9]+$`)

// tool makes lines for rackctl, which switches boxes.
type tool struct{}

func (tool) Variable(s shell.Scope) (prefix, meaning string, ok bool) {
	return "RACK", "address of rack " + s.Endpoint, true
}

func (tool) Identifies(id string) bool { return serialForm.MatchString(id) }

func (tool) Addresses(i shell.Instance) bool             { return serialForm.MatchString(i.ID) }
func (tool) Requires() (check shell.Command, why string) { return shell.Command{}, "" }
func (t tool) Show(i shell.Instance) shell.Command       { return line(i.Scope, "show", i.ID) }

func (tool) IsPlace(identity string) bool    { return serialForm.MatchString(identity) }
func (tool) Landmark(kind, name string) bool { return false }

func (t tool) Start(i shell.Instance) shell.Command { return line(i.Scope, "on", i.ID) }

func (t tool) Stop(i shell.Instance) shell.Command { return line(i.Scope, "off", i.ID) }

func (t tool) Destroy(i shell.Instance) shell.Command                        { return line(i.Scope, "wipe", i.ID) }
func (tool) LeaveBalancer(shell.Instance, []shell.LoadBalancer) []shell.Step { return nil }
func (tool) Detach(shell.Instance) []shell.Step                              { return nil }
func (tool) Remove(shell.Instance) shell.Removal {
	return shell.Removal{Stop: "Switch it off.", Destroy: "Wipe it."}
}

func line(s shell.Scope, words ...any) shell.Command {
	return shell.Line(append([]any{"rackctl", "--rack", shell.Variable(s.Variable)}, words...)...)
}
