package runbook

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/outline"
	"drift-detector/report/plan"
)

// title says which part of the plan this is.
func title(p *plan.Plan) string {
	if of := p.Of.String(); of != "" {
		return ": " + of
	}
	return ""
}

// lead returns what is at the top.
func lead(p *plan.Plan) []string {
	switch {
	case p.Of.Step != 0:
		return []string{fmt.Sprintf("Step %d of %d. None of these commands has been run.", p.Of.Step, p.Total)}
	case !p.Of.AllClusters():
		return []string{
			"None of these commands has been run. Read each one before you run it, in this order. Steps for all clusters are in the table only: print one with --step and its number, or the plan without --cluster and --namespace.",
		}
	default:
		return p.Answer
	}
}

// due returns the list of what is to be done, as every format of the report has it: in a part of the
// plan what its steps are about.
func due(p *plan.Plan) []string {
	numbers := map[int]bool{}
	for _, r := range p.Checklist {
		numbers[r.Number] = true
	}
	of := func(t *report.ToDo) bool {
		return p.Of.AllClusters() || slices.ContainsFunc(t.Steps, func(n int) bool { return numbers[n] })
	}
	var out []string
	for _, s := range outline.ToDoOf(p.Report, of) {
		for i := range s.Items {
			it := &s.Items[i]
			out = append(out, s.Title+": "+english.Join(" ", it.Status, it.Code+":", it.Text))
		}
	}
	return out
}

// mostShown is how many items are listed that no step needs a line of.
const mostShown = 10

// shown returns the items that are listed: all where a step needs the line of one, or
// says numbers of the list.
func (f *folded) shown() []plan.Item {
	if len(f.Items) > mostShown && f.pick == nil && !f.loops {
		return f.Items[:mostShown]
	}
	return f.Items
}

// more counts the items that are not listed.
func (f *folded) more() string {
	if n := len(f.Items) - len(f.shown()); n > 0 {
		return fmt.Sprintf("And %d more: the report lists them.", n)
	}
	return ""
}

// turns says which steps are done for one item after the other.
func (f *folded) turns() string {
	if f.pick == nil {
		return ""
	}
	first := f.Items[0].Number
	labels := make([]string, len(f.serial))
	for i, n := range f.serial {
		labels[i] = f.Label(n)
	}
	return fmt.Sprintf("One at a time: pick%d %d takes number %d of the list; do %s for it, then take the next.", f.Number, first, first, strings.Join(labels, ", "))
}

// lead returns what is said of all items.
func (f *folded) lead(forecast string) string {
	if forecast != "" {
		forecast = "Forecast: " + forecast
	}
	parts := []string{f.Note, forecast, f.turns()}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// says returns what is said of an item behind its name.
func says(i *plan.Item, forecast string) string {
	text := ""
	if i.Detail != "" {
		text = ": " + i.Detail
	}
	if forecast != "" {
		text += ". Forecast: " + forecast
	}
	return text
}
