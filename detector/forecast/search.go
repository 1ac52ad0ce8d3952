package forecast

import "drift-detector/detector"

// searchesInVain reports whether the controller has no id to go by, searches for the
// instance by name and finds none. It then makes one, whether or not the machine's
// instance runs. Of an unprovisioned machine other rows tell.
func (f *facts) searchesInVain() bool {
	return f.machine != nil && !f.unprovisioned() && !f.pool() && f.verdict.Finds == detector.FindsNothing
}

// searched says how the controller searches, and that it finds none.
func (f *facts) searched() string {
	const unknown = "no id is recorded where "
	search := f.controller() + " reads it, and it searches by name"
	if f.cluster.controller.RunningOnly {
		search += " among the instances that run"
	}
	return unknown + search + ": it finds none"
}

// template reports whether the VM that is found has become a template.
func (f *facts) template() bool {
	return f.warned("Template") || f.verdict.Instance != nil && f.verdict.Instance.Exclude == excludedTemplate
}

// excludedTemplate is why a template can be nobody's machine.
const excludedTemplate = "template"
