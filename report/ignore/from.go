package ignore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"drift-detector/report"
)

// Which says which findings FromReport makes rules for: those that every given
// part fits. Each part is a glob as selectors have it; an empty one fits all. A status or
// a reason may be in small letters.
type Which struct {
	Cluster, Namespace, Name, Status, Reason, Instance string
}

// FromReport makes one rule for each finding of the report that is not set aside
// yet and that which fits. A rule names all that tells its finding from others,
// each value as it is: a later finding on the same machine, with another
// status, VM or reason, is not hidden by it. Expires is the last day on which the
// rules hold, YYYY-MM-DD in UTC, or empty.
//
// It fails without a reason, when a glob or the date is none, and when no finding
// fits or the date is past: then nothing would be set aside, against what was asked.
func FromReport(r *report.Report, which Which, reason, expires string) ([]Rule, error) {
	if strings.TrimSpace(reason) == "" {
		return nil, errors.New("making ignore rules: no reason given; say why the findings may be set aside")
	}
	if expires != "" && !isDay(expires) {
		return nil, fmt.Errorf("making ignore rules: %q is no date; give the last day on which the rules hold, such as 2027-01-31", expires)
	}
	if made := r.GeneratedAt.UTC().Format(time.DateOnly); expires != "" && expires < made {
		return nil, fmt.Errorf("making ignore rules: %s is before the day of the report (%s): the rules would set nothing aside; give a later one", expires, made)
	}
	asked, err := which.selector()
	if err != nil {
		return nil, fmt.Errorf("making ignore rules: %w", err)
	}
	var rules []Rule
	seen := map[string]bool{} // two findings that no key tells apart need one rule
	for f := range findings(r) {
		if *f.ignored != nil || !asked.fits(f) {
			continue
		}
		rule := Rule{Match: only(f), Reason: reason, Expires: expires}
		if id := fmt.Sprint(rule.Match); !seen[id] {
			seen[id] = true
			rules = append(rules, rule)
		}
	}
	if len(rules) == 0 {
		return nil, errors.New("making ignore rules: no finding of the report matches; check the names, or ask for less")
	}
	return rules, nil
}

func (w Which) selector() (Selector, error) {
	var s Selector
	for _, part := range []struct{ key, glob string }{
		{"cluster", w.Cluster},
		{"namespace", w.Namespace},
		{"name", w.Name},
		{"status", w.Status},
		{"reason", w.Reason},
		{"instance", w.Instance},
	} {
		if part.glob == "" {
			continue
		}
		known := words[part.key]
		if i := slices.IndexFunc(known, func(w string) bool { return strings.EqualFold(w, part.glob) }); i >= 0 {
			part.glob = known[i] // as render and explain take it
		}
		g, err := newGlob(part.glob, false)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.key, err)
		}
		if known != nil && !slices.ContainsFunc(known, g.fits) {
			return nil, fmt.Errorf("%s: %q matches none of %s", part.key, part.glob, strings.Join(known, ", "))
		}
		s = append(s, condition{key: part.key, globs: []glob{g}})
	}
	return s, nil
}

// only returns the selector that fits the finding and, as far as keys can tell, no other.
func only(f *finding) Selector {
	var s Selector
	add := func(key string, values ...string) {
		globs := make([]glob, len(values))
		for i, v := range values {
			globs[i] = exactly(v, false)
		}
		s = append(s, condition{key: key, globs: globs})
	}
	add("cluster", f.cluster)
	add("namespace", f.namespace)
	add("name", f.name)
	add("status", string(f.status))
	add("onlyReasons", f.reasons()...)
	add("instance", f.instance.ID)
	if f.instance.Ref != f.instance.ID {
		add("ref", f.instance.Ref)
	}
	return s
}
