package plan

import (
	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// sayWho is how a text ends whose step writes down what a person says.
const sayWho = " Say who says so, then run detect as before with --confirmations and that file, and go on with its report."

// word adds a step that writes down what a person says. name is of no form that an option has.
func (d *draft) word(text, name, as string) {
	d.before(text,
		shell.Ask("BY", "who says so: a person, a ticket"),
		shell.Line(shell.Raw("drift-detector confirm"), shell.Variable(reportFile), name, shell.Raw("--as "+as+" --by"), shell.Variable("BY"), shell.Raw("-o"), shell.Variable(saidFile)))
}

// notOurs has it written down that a VM is of no cluster of the backup.
func (pl *planner) notOurs(d *draft, m *report.InfraMachine) {
	name := m.Instance.ID
	if !pl.only(&m.Instance) {
		name = m.Instance.Path
	}
	if v := pl.vm(&m.Instance); v == nil || !pl.only(&m.Instance) && (len(name) < 2 || name[0] != '/') {
		return
	}
	d.word("Only if its owner says that it is of no cluster of the backup. Where it is one of yours that is to stay as it is, --as leave."+sayWho, name, "notAMachine")
}

// givenUp has it written down that a cluster is, of which nothing exists any more.
func (pl *planner) givenUp(d *draft, c *report.Cluster) {
	if labelForm.MatchString(c.Namespace) && labelForm.MatchString(c.Name) && pl.gone(c) {
		d.word("Only if the cluster was deleted on purpose: the plan leaves it out of the restore then."+sayWho, key(c), "givenUp")
	}
}

// staysOff has it written down that a machine is off on purpose.
func (pl *planner) staysOff(d *draft, m *report.Machine) {
	if labelForm.MatchString(m.Namespace) && labelForm.MatchString(m.Name) {
		d.word("Only if it is off on purpose, and stays so."+sayWho, m.Namespace+"/"+m.Name, "staysOff")
	}
}

// isLeft has it written down that a VM runs on whose Machine the backup lacks.
func (pl *planner) isLeft(d *draft, m *report.Machine) {
	leaves := outcome(m) == code.OrphanedAndReplaced || outcome(m) == code.GhostKeepsRunning
	if leaves && m.Instance != nil && labelForm.MatchString(m.Namespace) && labelForm.MatchString(m.Name) {
		d.word("Its Machine is not in the backup, and its VM keeps running without one. Only if its owner says that the VM is known and stays as it is, managed by no controller. Else take a backup that holds its Machine, or end it after the restore."+sayWho, m.Namespace+"/"+m.Name, "leave")
	}
}
