package plan

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// checked counts what the report says about the backup itself.
func (pl *planner) checked() string {
	errors, warnings := pl.CheckErrors(), 0
	for i := range pl.Checks {
		if pl.Checks[i].Severity == code.CheckWarning {
			warnings++
		}
	}
	switch {
	case errors+warnings == 0:
		return ""
	case errors == 0:
		return fmt.Sprintf("The report's checks of the backup itself found no error and %s: 'drift-detector check' says why they matter.", english.Count(warnings, "warning"))
	default:
		return fmt.Sprintf("The report's checks of the backup itself found %s and %s. Resolve the errors before the restore: they are below.", english.Count(errors, "error"), english.Count(warnings, "warning"))
	}
}

// faults returns the errors of the backup, those together of which the same is to be
// said. A report has them in the order of their codes.
func (pl *planner) faults() []Batch {
	var out []Batch
	var last *report.Check
	for _, f := range pl.faultsFound() {
		k := f.Check
		if last == nil || k.Code != last.Code || k.Why != last.Why || k.Do != last.Do {
			d := draft{bare: pl.texts}
			d.before(sentence(k.Do))
			if k.Code == code.IdentityAbsent || k.Code == credentialAbsent {
				d.before("Have its manifest written as far as what refers to it says what it was, read it, and fill in what is not known. It is applied after the restore, before its cluster is unpaused.", extract("manifests"))
			}
			out = append(out, Batch{Note: k.Why, Steps: d.steps})
		}
		last = k
		batch := &out[len(out)-1]
		batch.Items = append(batch.Items, Item{Name: k.Object, Detail: k.Message, Clusters: keys(f.of)})
		batch.Title = string(k.Code) + ": " + english.Count(len(batch.Items), "error")
	}
	return out
}

// credentialAbsent is the check of the providers for a login that the backup lacks.
const credentialAbsent code.Reason = "CredentialAbsent"

// sentence makes one of a phrase.
func sentence(text string) string { return english.Sentence(english.Capital(text)) }

// settleErrors repeats, before a cluster is let go, the errors that concern it,
// but for identities, which a step before brings back. Those of which it can't be
// said for certain whom they concern are pointed to.
func (pl *planner) settleErrors(d *draft, c *report.Cluster) {
	pl.faultsFound()
	var own []string
	open, identities := pl.untied, pl.identitiesOf(c)
	for _, f := range pl.faultsOf[c] {
		waits := func(m *report.Missing) bool { return slices.Contains(identities, m) }
		if !slices.ContainsFunc(pl.missed(f.Backup, f.Object), waits) {
			own = append(own, f.Object+" ("+string(f.Code)+": "+f.Message+")")
		}
	}
	var text string
	if more := len(own) - 3; more > 0 {
		own = append(own[:3], fmt.Sprintf("and %d more", more))
	}
	if len(own) > 0 {
		text = "Do not unpause it before this is resolved, as said under All clusters: " + strings.Join(own, "; ") + "."
	}
	if open > 0 {
		text += fmt.Sprintf(" Under All clusters %s of the backup can't be assigned to one cluster: see that this one does not wait for it.", english.Count(open, "error"))
	}
	if text != "" {
		d.after(strings.TrimSpace(text))
	}
}
