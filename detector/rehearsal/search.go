package rehearsal

import (
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// idRestored reports whether a restore brings the ids back by which the machine's
// controller looks. It then looks by name only for machines without an id.
func (f *machine) idRestored() bool { return f.cluster.controller.ID == infra.IDInSpec }

// obstacle returns why that keeps the controller from a machine that works, or nothing.
func (f *machine) obstacle(o infra.Obstacle) string { return f.cluster.controller.Obstacles[o] }

// replaced reports whether a health check has the machine deleted and re-created.
func (f *machine) replaced() bool { return f.unhealthy && f.remedied }

// searchesInVain reports whether the controller has no id to go by, searches for the
// instance by name and finds none. Of an unprovisioned machine other rows tell.
func (f *machine) searchesInVain() bool {
	kept := f.cluster.controller.NameIsID && f.Machine != nil && f.Machine.ProviderID != ""
	return f.Machine != nil && !kept && !f.unprovisioned() && !f.pool() && f.verdict.Finds == detector.FindsNothing
}

// makesOne reports whether the controller then makes an instance, whether or not the
// machine's own runs.
func (f *machine) makesOne() bool { return f.searchesInVain() && f.blocked() == "" }

// found reports whether the controller finds the machine's recorded instance, in the way
// in which it looks for all machines after a restore.
func (f *machine) found() bool {
	if f.idRestored() {
		return f.verdict.Finds == detector.FindsByID
	}
	return f.verdict.Finds == detector.FindsByName && f.verdict.ByID
}

// takesOther reports whether the controller takes another instance for the machine's
// own, because it looks by name alone.
func (f *machine) takesOther() bool {
	return (f.decided() || f.cluster.controller.NameIsID && f.reason(code.IdentityChanged)) && !f.idRestored() && f.verdict.Finds == detector.FindsOther
}

// blocked returns what of the machine's own instance keeps the controller from getting
// on, or nothing.
func (f *machine) blocked() string {
	renamed := f.searchesInVain() || f.warned(code.Renamed) && f.verdict.Finds == detector.FindsByID
	switch {
	case f.verdict.Instance == nil || f.stale(): // one that has ended is in nobody's way
		return ""
	case renamed && f.obstacle(infra.Renamed) != "" && !f.doubling:
		return "its instance has another name: " + f.obstacle(infra.Renamed)
	case f.warned(code.ErrorState) && f.found() && f.obstacle(infra.ErrorState) != "":
		return "its instance is in an error state: " + f.obstacle(infra.ErrorState)
	case f.warned(code.NotActive) && f.found() && f.obstacle(infra.NotActive) != "":
		return "its instance is not active: " + f.obstacle(infra.NotActive)
	}
	return ""
}

// noID says why the controller has no id to go by.
func (f *machine) noID() string {
	switch f.cluster.controller.ID {
	case infra.IDInStatus:
		return f.controller() + " reads the id in a status, which a restore drops"
	case infra.IDNowhere:
		return f.controller() + " looks by name alone"
	}
	return "no id is recorded where " + f.controller() + " reads it"
}

// recognised returns how the controller finds the machine's instance.
func (f *machine) recognised() string {
	if f.idRestored() {
		return "the recorded id"
	}
	return "its name (" + f.noID() + ")"
}

// searched says how the controller searches, and that it finds none.
func (f *machine) searched() string {
	search := f.noID() + ", and it searches by name"
	if f.cluster.controller.RunningOnly {
		search += " among the instances that run"
	}
	return search + ": it finds none"
}

// searchedAndMade says that the controller makes an instance because it finds none.
func (f *machine) searchedAndMade() string {
	makes := " and creates a second one beside it"
	if f.verdict.Instance == nil || f.stale() {
		makes = " and creates a new one"
	}
	return f.although(f.searched() + makes)
}

// taken says that the controller takes another instance of the machine's name.
func (f *machine) taken() string {
	text := f.although(f.noID() + ": it takes over another instance that has its name")
	if why := f.obstacle(infra.OtherID); why != "" {
		text += ", whose id cannot be recorded: " + why
	}
	return text
}

// doubled reports whether the controller makes a second instance beside one that exists.
func (f *machine) doubled() bool {
	return f.healthy() && !f.idRestored() && f.makesOne() && f.cannotBeMade() == ""
}

// ended says, for whatever deletes the Machine, which instance goes with it if that is
// not the machine's own; empty: it is, or there is none.
func (f *machine) ended() string {
	switch {
	case f.outlives() != "":
		return f.outlives()
	case f.takesOther():
		return f.taken() + ", and that instance is deleted with the Machine"
	case f.doubled():
		return f.searchedAndMade() + ", which is deleted with the Machine"
	case f.anyOfSeveral():
		return f.noID() + ", and of several instances that have its name any may be deleted with the Machine"
	}
	return ""
}

// outlives says why an instance that runs does not go with its Machine, or is empty: it does.
func (f *machine) outlives() string {
	if !f.healthy() {
		return ""
	}
	for _, s := range []*walk.Step{f.cluster.outliving, f.waiting} {
		if s != nil && s.Row.OnDelete != "" {
			return s.Why + ": " + s.Row.OnDelete
		}
	}
	return ""
}

// anyOfSeveral reports whether the controller may take any of several instances, because
// it looks by name alone.
func (f *machine) anyOfSeveral() bool {
	return f.decided() && !f.idRestored() && f.verdict.Finds == detector.FindsSeveral
}

// meanwhile says what the controller does for a machine without an instance before a
// health check has it replaced.
func (f *machine) meanwhile() string {
	switch {
	case f.ended() != "":
		return f.ended()
	case f.makesOne():
		return f.searchedAndMade() + ", which is deleted with the Machine"
	}
	return f.neverMade()
}

// outOfSight reports whether an instance exists that is known not to be found by the
// machine's controller.
func (f *machine) outOfSight() bool {
	if !f.idRestored() && f.verdict.Finds != detector.FindsNothing {
		return f.reason(code.InfraObjectMissing)
	}
	return f.reason(code.FoundElsewhere, code.IdentityChanged, code.InfraObjectMissing)
}

// template reports whether the VM that is found has become a template.
func (f *machine) template() bool {
	return f.warned(code.Template) || f.verdict.Instance != nil && f.verdict.Instance.Exclude == infra.Template
}
