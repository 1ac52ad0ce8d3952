package report

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

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

const kindStatus = "Statuses"

// kinds are the parts of the glossary, by the word before a meaning's colon.
var kinds = []struct{ word, title string }{
	{"Unknown", "Reasons of Unknown"},
	{"Stale", "Reasons of Stale"},
	{"To confirm", "Reasons of VMs to confirm (`infraMachines`)"},
	{"Warning", "Warnings"},
	{"Control plane", "Control planes and groups"},
	{"Scope", "Scopes that are not complete"},
	{"Node list", "Node lists"},
	{"Answer", "Reasons of the answer"},
	{"Condition", "Conditions of the answer"},
	{"Forecast", "Forecast: outcomes"},
	{"Note", "Forecast: notes"},
}

// wordOf is the word of "Warning, or to confirm: …".
func wordOf(meaning string) string {
	word, _, _ := strings.Cut(meaning, ": ")
	word, _, _ = strings.Cut(word, ",")
	if word == "Group" {
		return "Control plane"
	}
	return word
}

// Codes returns every status, reason, warning, outcome, note and fault that a report can
// hold, kind by kind and sorted within one. The codes of checks are those of the
// packages that check.
func Codes() []Code {
	out := statusCodes()
	for _, kind := range kinds {
		for _, code := range slices.Sorted(maps.Keys(reasons())) {
			if wordOf(reasons()[code]) == kind.word {
				a := advice()[code]
				out = append(out, Code{code, kind.title, reasons()[code], a.Why, a.Do})
			}
		}
	}
	return out
}

var advice = sync.OnceValue(func() map[string]struct{ Why, Do string } {
	var doc struct {
		Advice map[string]struct{ Why, Do string } `json:"x-advice"`
	}
	decode(schema, &doc)
	return doc.Advice
})

// statusAdvice is what the schema's description of a status does not say.
var statusAdvice = map[code.Status]struct{ why, do string }{
	code.Healthy:                      {"The restored controllers know the VM; read in its forecast what they do with it.", "Nothing, unless it has a warning."},
	code.Stale:                        {"Its Machine is restored without a VM and counts as a replica: few controllers replace it by themselves.", "Read its forecast; most often its Machine is deleted after the restore."},
	code.Ghost:                        {"The VM runs on, keeps its addresses and costs money, and no restored controller knows it.", "Use a newer backup if there is one; else drain its Node and remove the VM after the restore. 'drift-detector plan' has the commands."},
	code.Unknown:                      {"A decision without knowing may delete a running VM, or leave one behind.", "Correct the cause that its reason names, and run detect again."},
	code.ManualRemediationRequired:    {"VMs run that no restored controller knows.", "Follow 'drift-detector plan'."},
	code.NeedFurtherConfirmation:      {"Something could not be decided, so the rest may change.", "Resolve what is Unknown, and run detect again."},
	code.ManualRemediationNotRequired: {"No VM is lost sight of. Machines without a VM may still stay broken: read their forecast.", "Follow 'drift-detector plan'."},
}

var statusMeaning = regexp.MustCompile(`(\w+): ([^.:]*)\.`)

// statusCodes are the statuses of machines and of what holds them.
func statusCodes() []Code {
	var doc struct {
		Defs map[string]struct {
			Description string
			Properties  map[string]struct{ Description string }
		} `json:"$defs"`
	}
	decode(schema, &doc)
	text := doc.Defs["machine"].Properties["status"].Description + " " + strings.TrimPrefix(doc.Defs["rollup"].Description, "Worst first: ") +
		" " + string(code.Healthy) + ": none of these."
	var out []Code
	for _, m := range statusMeaning.FindAllStringSubmatch(text, -1) {
		a, ok := statusAdvice[code.Status(m[1])]
		if ok && !slices.ContainsFunc(out, func(c Code) bool { return c.Code == m[1] }) {
			out = append(out, Code{m[1], kindStatus, "Status: " + m[2] + ".", a.why, a.do})
		}
	}
	return out
}
