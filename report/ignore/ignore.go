// Package ignore sets findings of a report aside, by rules that people write in
// YAML:
//
//	rules:
//	- match: {cluster: alpha-prod, namespace: tenant-alpha, name: "alpha-prod-md-*"}
//	  reason: "kept for forensics, OPS-1234"
//	  expires: 2027-01-31          # the last day on which it holds, UTC
//	- "!match": {status: Ghost}    # takes back what rules before it set aside
//
// What is set aside stays in every list and count and says which rule did it;
// statuses leave it out. The last rule that matches a finding decides.
//
// Keys of a selector are cluster, namespace, name, provider, instance, ref,
// folder, tag, reason, onlyReasons, status and role, and check and object of checks of
// the backup, see [Selector].
package ignore

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Rule is one rule of an ignore file.
type Rule struct {
	File    string // as the operator gave it
	Line    int    // where the rule begins
	Match   Selector
	Include bool   // "!match": takes back what rules before it set aside
	Reason  string // why; a rule that ignores has one
	Expires string // the last day on which it holds, YYYY-MM-DD, UTC; empty: for good
}

// Apply marks the findings of the report that the rules set aside, notes the
// rules in it, and says all statuses again without those findings. Rules of
// several files are one list in the order given. Machines of the management
// cluster itself are no findings. Counts, lists, errors, scopes and completeness
// stay as they are, so that no rule makes an incomplete report look complete.
//
// It returns what the operator should know of the rules: those that have
// expired and those that fit nothing. A report that rules were applied to already
// is refused: which findings were set aside is then decided. Without rules Apply
// does nothing.
func Apply(r *report.Report, rules []Rule, now time.Time) (warnings []string, err error) {
	if len(rules) == 0 {
		return nil, nil
	}
	if len(r.IgnoreRules) > 0 {
		return nil, errors.New("ignore rules were applied to this report already; apply all rules at once to a report that was made without any")
	}
	for i := range rules {
		r.IgnoreRules = append(r.IgnoreRules, rules[i].state(now))
	}
	r.Summary.IgnoredMachines = &report.MachineCounts{}
	x := newIndex(rules)
	for f := range findings(r) {
		setAside(r, f, rules, x)
	}
	rollUp(r)
	for i := range r.IgnoreRules {
		if w := warning(&r.IgnoreRules[i], r.Summary.Complete, r.Options.Filter); w != "" {
			warnings = append(warnings, w)
		}
	}
	return warnings, nil
}

func (r *Rule) state(now time.Time) report.IgnoreRule {
	out := report.IgnoreRule{File: r.File, Line: r.Line, Reason: r.Reason, Expires: r.Expires, Include: r.Include, State: report.RuleActive}
	if r.Expires != "" && now.UTC().Format(time.DateOnly) > r.Expires {
		out.State = report.RuleExpired
	}
	return out
}

// setAside lets the rules decide on one finding.
func setAside(r *report.Report, f *finding, rules []Rule, x *index) {
	by := decide(f, rules, x, r.IgnoreRules)
	*f.ignored = by
	switch {
	case by == nil || f.check != nil:
	case f.status == code.Unattributed:
		r.Summary.Ignored++
		r.Summary.IgnoredInfraMachines++
	default:
		r.Summary.Ignored++
		r.Summary.IgnoredMachines.Count(f.status)
	}
}

// decide returns what sets a finding aside, if anything: the last rule that matches wins.
func decide(f *finding, rules []Rule, x *index, states []report.IgnoreRule) *report.Ignored {
	var by *report.Ignored
	for _, i := range x.about(f) {
		if !rules[i].Match.fits(f) {
			continue
		}
		state := &states[i]
		state.Matched++
		switch {
		case state.State == report.RuleExpired:
		case rules[i].Include:
			by = nil
		default:
			by = &report.Ignored{Rule: i, Reason: rules[i].Reason}
		}
	}
	return by
}

// ApplyToChecks does what [Apply] does to what the check command says. Rules about
// machines and VMs are left out: one file may serve both commands.
func ApplyToChecks(r *report.Readiness, rules []Rule, now time.Time) (warnings []string) {
	rules = slices.DeleteFunc(slices.Clone(rules), func(rule Rule) bool { return !rule.Match.ofChecks() })
	for i := range rules {
		r.IgnoreRules = append(r.IgnoreRules, rules[i].state(now))
	}
	x := newIndex(rules)
	for i := range r.Checks {
		f := ofCheck(&r.Checks[i])
		*f.ignored = decide(f, rules, x, r.IgnoreRules)
	}
	r.Summary = report.CountChecks(r.Checks)
	for i := range r.IgnoreRules {
		if w := warning(&r.IgnoreRules[i], true, r.Filter); w != "" {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

// warning returns what the operator should know of a rule, in one line.
func warning(rule *report.IgnoreRule, complete bool, filter *report.Filter) string {
	name := fmt.Sprintf("ignore rule %s:%d", terminal.Escape(rule.File), rule.Line)
	switch {
	case rule.State == report.RuleExpired && rule.Include:
		return fmt.Sprintf("%s expired on %s and takes nothing back", name, rule.Expires)
	case rule.State == report.RuleExpired:
		return fmt.Sprintf("%s expired on %s and sets nothing aside", name, rule.Expires)
	case rule.Matched > 0:
		return ""
	case !complete:
		// What could not be listed shows no finding that a rule could match.
		return name + " matches no finding; the report is incomplete, so that proves nothing"
	case filter != nil:
		return name + " matches no finding of the clusters that were asked for"
	default:
		return name + " matches no finding: is it still needed?"
	}
}
