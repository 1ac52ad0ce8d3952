package detector

import "drift-detector/report/code"

// tables are the two decision tables. docs/verdicts.md shows them.
type tables struct {
	machines  []machineRow
	instances []instanceRow
}

// machineRow is one row of the table for machines.
type machineRow struct {
	Name      string    // stable, for docs and tests
	Condition string    // Applies as a sentence, given that no earlier row applies
	Outcomes  []outcome // every outcome of Decide
	Applies   func(*machineFacts) bool
	Decide    func(*machineFacts) Verdict
}

// instanceRow is one row of the table for instances without a machine.
type instanceRow struct {
	Name      string
	Condition string
	Outcomes  []outcome
	Applies   func(*instanceFacts) bool
	Decide    func(*instanceFacts) placement
}

// outcome is a status and its reason. Without a status, the instance is listed as
// unattributed with the reason, or counted as excluded or out of scope.
type outcome struct {
	Status code.Status
	Reason code.Reason
}

// Reasons of instances that are only counted.
const (
	excluded   = "excluded"
	outOfScope = "out of scope"
)

// matched returns the outcomes of a row that finds the machine's instance: Healthy,
// or the reason why the machine's controller may not use it (see healthy and
// ambiguous).
func matchOutcomes() []outcome {
	return []outcome{
		{code.Healthy, ""},
		{code.Unknown, code.AmbiguousMatch},
		{code.Unknown, code.NodeAlive},
		{code.Unknown, code.NodeListUnread},
		{code.Unknown, code.NotFoundByName},
	}
}

// referenced are the outcomes of an instance that a machine refers to.
var referenced = []outcome{
	{"", code.AmbiguousMatch},
	{"", code.ClaimedTwice},
	{"", code.ConflictingIDs},
	{"", code.FoundElsewhere},
	{"", code.IdentityChanged},
	{"", code.InstanceUnreadable},
	{"", code.NodeOfMachine},
	{"", code.SameName},
	{"", code.ScopeIncomplete},
}

// decideMachine returns the verdict of the first row that applies. The last row
// applies to every machine; a table without it gives Unknown.
func decideMachine(rows []machineRow, f *machineFacts) Verdict {
	for i := range rows {
		if rows[i].Applies(f) {
			return rows[i].Decide(f)
		}
	}
	return Verdict{Status: code.Unknown}
}

// decideInstance returns the placement by the first row that applies. The last row
// applies to every instance; a table without it gives an unattributed instance.
func (t tables) decideInstance(f *instanceFacts) placement {
	for i := range t.instances {
		if t.instances[i].Applies(f) {
			return t.instances[i].Decide(f)
		}
	}
	return f.suggest("", "")
}
