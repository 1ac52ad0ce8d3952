package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drift-detector/internal/terminal"
	"drift-detector/report/code"
)

// known refuses a report in which a word that decides is none of the schema's: what is
// counted, sorted and drawn by it would be left out, or read as another.
func (r *Report) known() error {
	var w words
	rollUp := append(code.RollUps(), "") // a set without one is as bad as one with an Unknown
	machine, presence := code.MachineStatuses(), code.Presences()
	know(&w, r.Summary.Status, rollUp, "status", "the summary")
	know(&w, r.Summary.StatusWithoutRules, rollUp, "statusWithoutRules", "the summary")
	if a := r.Summary.Answer; a != nil {
		know(&w, a.Safe, code.Answers(), "safe", "the answer")
	}
	if a := r.Summary.AnswerByPlan; a != nil {
		know(&w, a.Safe, code.Answers(), "safe", "the answer by the plan")
	}
	for i := range r.ToDo {
		know(&w, r.ToDo[i].Phase, code.Phases(), "phase", "what is to be done", string(r.ToDo[i].Code))
		know(&w, r.ToDo[i].Safe, code.Answers(), "safe", "what is to be done", string(r.ToDo[i].Code))
	}
	for i := range r.Scopes {
		know(&w, r.Scopes[i].State, code.ScopeStates(), "state", "scope", r.Scopes[i].Endpoint)
	}
	for i := range r.Checks {
		know(&w, r.Checks[i].Severity, code.Severities(), "severity", "check", string(r.Checks[i].Code))
	}
	if f := r.Options.Filter; f != nil {
		for _, status := range f.Statuses {
			know(&w, status, machine, "statuses", "the filter")
		}
	}
	machines := func(all []Machine) {
		for i := range all {
			know(&w, all[i].Status, machine, "status", "machine", all[i].Namespace, all[i].Name)
		}
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		know(&w, c.Status, rollUp, "status", "cluster", c.Namespace, c.Name)
		know(&w, c.ControlPlane.Status, rollUp, "status", "the control plane of", c.Namespace, c.Name)
		know(&w, c.Workers.Status, rollUp, "status", "the workers of", c.Namespace, c.Name)
		machines(c.ControlPlane.Machines)
		for j := range c.Workers.Groups {
			g := &c.Workers.Groups[j]
			know(&w, g.Status, rollUp, "status", g.Kind, c.Namespace, g.Name)
			if g.Pool != nil {
				know(&w, g.Pool.State, presence, "state", "the pool of "+g.Kind, c.Namespace, g.Name)
			}
			machines(g.Machines)
		}
		for j := range c.Resources {
			know(&w, c.Resources[j].State, presence, "state", c.Resources[j].Kind, c.Resources[j].Name)
		}
	}
	return w.err
}

// words keeps the first error about a word.
type words struct{ err error }

// know looks the word of a field up. What has it is put together for an error only: there
// are many.
func know[T ~string](w *words, word T, of []T, field, kind string, name ...string) {
	if w.err != nil || slices.Contains(of, word) {
		return
	}
	var all []string
	for _, v := range of {
		if v != "" {
			all = append(all, string(v))
		}
	}
	has := "has " + field + " " + strconv.Quote(terminal.Begin(string(word), 40))
	if word == "" {
		has = "has no " + field
	}
	w.err = fmt.Errorf("%s %s, as in no report of detect: it is one of %s", strings.TrimSpace(kind+" "+strings.Join(name, "/")), has, strings.Join(all, ", "))
}
