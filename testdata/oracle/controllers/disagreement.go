package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Disagreement is where the forecast or the answer contradicts what the controllers did.
type Disagreement struct {
	Kind     string `json:"kind"`
	Machine  string `json:"machine,omitempty"` // empty: it is of the answer
	Text     string `json:"text"`
	Expected string `json:"expected,omitempty"` // id of the known fault that explains it
}

// Kinds of disagreements. Those of machines:
const (
	destroyed = "Destroyed" // its VM was destroyed, and it was to live on
	doubled   = "Doubled"   // a second VM was made
	removed   = "Removed"   // its Machine was deleted, and it was to live on
	halted    = "Halted"    // nothing reconciles it, and it was to be adopted
	notHalted = "NotHalted" // it is adopted, and was to be halted
	notActed  = "NotActed"  // it was to be replaced or deleted, and is still there
	made      = "Made"      // a VM was made, and none was to be
	notMade   = "NotMade"   // a VM was to be made, and none was
	missing   = "Missing"   // the report does not have it
)

// Those of answers:
const (
	falseYes  = "FalseYes"  // something running was harmed, and the answer does not say no
	unsaid    = "Unsaid"    // machines were made, and no reason says so
	cautious  = "Cautious"  // the answer is no, and nothing that runs was harmed
	falseMade = "FalseMade" // a reason says that machines are made, and none was
	disturbed = "Disturbed" // the answer is yes, and not all goes on as it was
	failing   = "Failing"   // the answer is yes, and a controller fails
	acted     = "ActedPaused"
)

// disagreements returns all of a world.
func (res *Result) disagreements() []Disagreement {
	var all []Disagreement
	for _, f := range res.Fates {
		outcome, known := res.Forecast.Outcomes[f.Machine]
		kind := missing
		if known {
			kind = res.wrong(f, outcome)
		}
		if kind != "" {
			all = append(all, Disagreement{Kind: kind, Machine: f.Machine, Text: fmt.Sprintf("forecast %s; VM %s, then %s; Machine %s (phase %d), owner %q, provisioned %v, bootstrap data %v, Node %v",
				outcome, f.Before, f.After, f.Object, f.Phase, f.Owner, f.Provisioned, f.Bootstrapped, f.Node)})
		}
	}
	return append(all, res.wrongAnswers()...)
}

// wrong returns the kind of the disagreement about one machine, "" where there is none.
func (res *Result) wrong(f *Fate, outcome string) string {
	kept := f.Object == "kept"
	switch outcome {
	case "Adopted", "AdoptedByName", "AdoptedPoweredOn":
		return res.wrongAdopted(f)
	case "Halted":
		switch {
		case f.After == "destroyed":
			return destroyed
		case f.After == "second":
			return doubled
		case f.Provisioned && f.Bootstrapped && f.Node && kept:
			return notHalted
		}
	case "RolledByOwner", "DeletedByOwner", "DeletedByMachineHealthCheck", "ReplacedByMachineHealthCheck":
		if kept && (f.After == "kept" || f.After == "gone") {
			return notActed
		}
	case "Stuck", "StuckNodeLeft":
		switch {
		case f.After == "made":
			return made
		case f.After == "destroyed":
			return destroyed
		case !kept && !res.someAreDeleted() && !res.Forecast.says("StaleReplaced") && !res.Forecast.deletes(f.Machine):
			return removed
		}
	case "NewInstanceCreated":
		if f.After != "made" && f.After != "second" && (kept || !res.someAreDeleted()) {
			return notMade
		}
	}
	return "" // also where nothing is foretold of the machine alone
}

func (res *Result) wrongAdopted(f *Fate) string {
	switch {
	case f.After == "second":
		return doubled
	case f.Object != "kept" && res.someAreDeleted():
	case f.After == "destroyed":
		return destroyed
	case f.Object != "kept":
		return removed
	case f.Provisioned && f.Owner == "" && res.Forecast.says("OwnerHalted", "CannotReplace"):
	case f.Provisioned && f.Owner == "" && strings.Contains(res.Forecast.Reasons["EtcdMembersRemoved"], "/"+f.Machine+" lacks label"): // core.K2
	case f.Provisioned && f.Owner == "" && f.vm != nil && f.vm.ControlPlane && strings.Contains(res.Forecast.Reasons["EtcdMembersRemoved"], "holds no Machine of"): // all lack it
	case !f.Provisioned || f.Owner == "":
		return halted
	}
	return ""
}

// someAreDeleted reports whether the answer says that an owner deletes some of its
// machines, or may, without saying which.
func (res *Result) someAreDeleted() bool {
	return res.Forecast.says("MachinesDeleted", "RolloutDue", "LivingReplaced", "SpecUnseen")
}

// count returns how many fates are so.
func (res *Result) count(is func(*Fate) bool) int {
	return len(slices.DeleteFunc(slices.Clone(res.Fates), func(f *Fate) bool { return !is(f) }))
}

func (res *Result) wrongAnswers() []Disagreement {
	f := res.Forecast
	hopeful := f.Safe == "yes" || f.Safe == "withWork"
	var all []Disagreement
	say := func(kind, format string, a ...any) {
		all = append(all, Disagreement{Kind: kind, Text: "answer " + f.Safe + "; " + fmt.Sprintf(format, a...)})
	}
	gone := res.count(func(f *Fate) bool { // a hook may hold up what is being deleted
		return f.After == "destroyed" || f.Before == "on" && f.Object == "deleting"
	})
	second := res.count(func(f *Fate) bool { return f.After == "second" })
	again := res.count(func(f *Fate) bool { return f.After == "made" })
	isMade := slices.DeleteFunc(slices.Clone(res.Made), func(m Made) bool { return !m.VM })
	harmed := gone+second+len(res.RemovedRunning) > 0
	if hopeful && harmed {
		say(falseYes, "%d VMs destroyed, %d made a second time, running members removed of etcd: %v", gone, second, res.RemovedRunning)
	}
	if hopeful && len(res.Begun) > 0 {
		say(falseYes, "a new cluster is begun beside the control plane that runs: %v", res.Begun)
	}
	if f.Safe == "yes" {
		untouched := res.count(func(f *Fate) bool {
			return f.After == "kept" && f.Object == "kept" && f.Provisioned && (f.Node || !res.Reached)
		})
		if len(res.Made) > 0 || untouched < len(res.Fates) {
			say(disturbed, "%d of %d machines go on as they were, %d were made", untouched, len(res.Fates), len(res.Made))
		}
		for _, who := range slices.Sorted(maps.Keys(res.Errors)) {
			say(failing, "%s: %.300s", who, res.Errors[who])
		}
	}
	if f.Safe == "withWork" && (again > 0 || len(isMade) > 0) && !f.says("MachinesMade", "StaleReplaced", "MachinesMissing") {
		say(unsaid, "VMs were made for %d machines of the backup and for %d new ones", again, len(isMade))
	}
	if f.says("MachinesMade") && again+len(res.Made)+gone == 0 && !slices.Contains(outcomes(f), "NewInstanceCreated") {
		say(falseMade, "MachinesMade, and none was made")
	}
	if f.Safe == "no" && !harmed {
		if why := res.harmSaid(); len(why) > 0 {
			say(cautious, "because of %s, and nothing that runs was harmed", strings.Join(why, ", "))
		}
	}
	if len(res.ActedPaused) > 0 {
		say(acted, "while the Cluster was paused: %v", res.ActedPaused)
	}
	return all
}

func outcomes(f *Forecast) []string {
	var all []string
	for _, o := range f.Outcomes {
		all = append(all, o)
	}
	return all
}

// harmSaid returns the reasons of the answer that say that something running is harmed.
func (res *Result) harmSaid() []string {
	var why []string
	for _, c := range []string{"MachinesDeleted", "RolloutDue", "LivingReplaced", "SecondInstance", "OtherInstance", "PoolScaledBack"} {
		if res.Forecast.says(c) {
			why = append(why, c)
		}
	}
	return why
}
