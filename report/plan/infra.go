package plan

import (
	"cmp"
	"fmt"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// namesakes is what to do about VMs with the name of a machine that its controller may
// look for by name.
var namesakes = map[code.Outcome]string{
	code.OtherInstanceTaken: takenByName, code.Halted: takenByName,
	code.CannotKnow: "It has the name of a machine of the backup and another id. Whether that machine's controller takes it is not known: find out whose it is before its controllers act.",
}

const takenByName = "It has the name of a machine of the backup and another id, and that machine's controller looks by name: it takes this VM for the machine's own, and deletes it with the Machine, or does nothing for the machine while both have the name. Find out whose it is, and rename it before its controllers act where VMs can be renamed, or keep all infrastructure objects of the machine paused."

// infraMachine returns what to do about an instance that is nobody's: its owner says.
func (pl *planner) infraMachine(m *report.InfraMachine) []Step {
	if m.Ignored != nil {
		return nil
	}
	d := draft{steps: pl.room[:0], read: pl.read, texts: pl.texts}
	if c, x := pl.duplicate(m); x != nil {
		d.before(fmt.Sprintf("It has the id of machine %s of cluster %s. See there: what is to be done about both is said with that machine, once.", x.Name, key(c)))
		return pl.done(&d)
	}
	if m.Confirmed != nil {
		return nil
	}
	text := code.Of(m.Reason).Confirm
	if m.Reason == code.SameName {
		text = cmp.Or(namesakes[pl.outcomeOfNamesake(m)], text)
	}
	if m.Reason == code.DuplicateID { // the other codes mean something else of a machine
		text = cmp.Or(pl.remedy(m.Instance.Provider, m.Reason), text)
	}
	if text == "" {
		text = "Ask its owner whether it belongs to a cluster of this backup. If nobody knows it, leave it running, and look again after the restore: nothing restored refers to it."
	}
	var look []shell.Command
	if v := pl.vm(&m.Instance); v != nil {
		look = append(look, v.show().InTurn()) // what its owner says is written down for one after the other
	}
	d.before(text, look...)
	pl.notOurs(&d, m)
	return pl.done(&d)
}

// outcomeOfNamesake returns the outcome of the machine that has an instance's name.
func (pl *planner) outcomeOfNamesake(m *report.InfraMachine) code.Outcome {
	if pl.outcomes == nil {
		pl.outcomes = map[[2]string]code.Outcome{}
		for s, x := range pl.machines() {
			if of := [2]string{key(s.cluster), x.Name}; x.Forecast != nil && pl.outcomes[of] == "" {
				pl.outcomes[of] = x.Forecast.Outcome
			}
		}
	}
	return pl.outcomes[[2]string{m.Cluster, m.Instance.Name}]
}

// duplicate returns the machine whose id an instance has, if that machine's own steps say
// what to do about the instance.
func (pl *planner) duplicate(m *report.InfraMachine) (*report.Cluster, *report.Machine) {
	if m.Reason != code.DuplicateID {
		return nil, nil
	}
	if pl.copied == nil { // the steps of all machines are known by now
		pl.copied = map[[3]string]copied{}
		for s, x := range pl.machines() {
			if !warned(x, code.DuplicateID) || len(pl.steps[x]) == 0 {
				continue
			}
			for i := range x.Others {
				if k := sameInstance(&x.Others[i]); pl.copied[k].machine == nil {
					pl.copied[k] = copied{s.cluster, x}
				}
			}
		}
	}
	found := pl.copied[sameInstance(&m.Instance)]
	return found.cluster, found.machine
}

// copied is a machine whose id another instance has.
type copied struct {
	cluster *report.Cluster
	machine *report.Machine
}

// sameInstance returns the same for one instance in two places of a report.
func sameInstance(i *report.Instance) [3]string {
	return [3]string{i.Scope, i.Ref, strings.ToLower(i.ID)}
}
