package report

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"drift-detector/report/code"
)

// Code explains one word of a report.
type Code struct {
	Code    string `json:"code"`
	Kind    string `json:"kind"`    // what it is a code of: "Warnings"
	Meaning string `json:"meaning"` // "Warning: the VM has another name than the backup records."
	Why     string `json:"why"`     // why it matters
	Do      string `json:"do"`      // what to do
}

// kinds are the parts of the glossary.
var kinds = []struct {
	of    []code.Kind
	title string
}{
	{[]code.Kind{code.OfStatus}, "Statuses"},
	{[]code.Kind{code.OfUnknown}, "Reasons of Unknown"},
	{[]code.Kind{code.OfStale}, "Reasons of Stale"},
	{[]code.Kind{code.ToConfirm}, "Reasons of VMs to confirm (`infraMachines`)"},
	{[]code.Kind{code.Warning}, "Warnings"},
	{[]code.Kind{code.OfPlane, code.OfGroup}, "Control planes and groups"},
	{[]code.Kind{code.OfScope}, "Scopes that are not complete"},
	{[]code.Kind{code.OfNodes}, "Node lists"},
	{[]code.Kind{code.Answer}, "Reasons of the answer"},
	{[]code.Kind{code.Condition}, "Conditions of the answer"},
	{[]code.Kind{code.Forecast}, "Forecast: outcomes"},
	{[]code.Kind{code.Note}, "Forecast: notes"},
}

// Codes returns every status, reason, warning, outcome, note and fault that a report can
// hold, kind by kind; a kind is sorted but for the statuses. The codes of checks are those of
// the packages that check.
func Codes() []Code {
	var out []Code
	for _, kind := range kinds {
		var part []Code
		for i := range code.Table {
			if r := &code.Table[i]; slices.Contains(kind.of, r.Kinds[0]) {
				part = append(part, Code{string(r.Code), kind.title, meaning(r), r.Why, r.Do})
			}
		}
		if kind.of[0] != code.OfStatus {
			slices.SortFunc(part, func(a, b Code) int { return cmp.Compare(a.Code, b.Code) })
		}
		out = append(out, part...)
	}
	return out
}

// Explain says what a reason or an outcome means: "Warning: the VM has another name than
// the backup records." It is empty for a code that this release does not know, and for a
// status.
func Explain[Word ~string](word Word) string {
	r := code.Of(word)
	if r.Code == "" || r.Is(code.OfStatus) {
		return ""
	}
	return meaning(&r)
}

// meaning is what happens, behind the kinds of the code: "Note, or condition: …", and of a
// reason of the answer what that is then: "Answer, no: …".
func meaning(r *code.Row) string {
	prefix := string(r.Kinds[0])
	if r.Safe != "" {
		prefix += ", " + string(r.Safe)
	}
	for _, kind := range r.Kinds[1:] {
		if r.Safe == "" {
			prefix += ", or " + strings.ToLower(string(kind))
		}
	}
	return prefix + ": " + begun(r.Happens)
}

// begun is a sentence as it stands behind a colon. A name keeps its capitals.
func begun(sentence string) string {
	first, _, _ := strings.Cut(sentence, " ")
	if strings.ContainsFunc(first[1:], unicode.IsUpper) || properNames[first] {
		return sentence
	}
	return strings.ToLower(sentence[:1]) + sentence[1:]
}

var properNames = map[string]bool{"Velero": true, "Clusters": true, "Machines": true, "Nodes": true}
