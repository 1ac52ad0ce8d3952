package main

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/report"
)

// failKinds are what --fail-on of detect can name, and how many of it a report
// holds. What rules set aside does not fail.
var failKinds = map[string]func(*report.Report) int{
	"ghost":        func(r *report.Report) int { return r.Open().Ghost },
	"stale":        func(r *report.Report) int { return r.Open().Stale },
	"unknown":      func(r *report.Report) int { return r.Open().Unknown },
	"unattributed": func(r *report.Report) int { return r.Summary.InfraMachines - r.Summary.IgnoredInfraMachines },
	"error":        func(r *report.Report) int { return r.Summary.Errors },
	"check":        (*report.Report).OpenCheckErrors,
}

// failOrder is the order in which they are listed: most urgent first.
var failOrder = []string{"ghost", "stale", "unknown", "unattributed", "error", "check"}

// failOn is the value of --fail-on: kinds, separated by commas.
type failOn []string

func parseFailOn(value, command string, known []string) (failOn, error) {
	if value == "" {
		return nil, nil
	}
	var out failOn
	for kind := range strings.SplitSeq(value, ",") {
		kind = strings.TrimSpace(kind)
		if !slices.Contains(known, kind) {
			return nil, &usageError{
				message: fmt.Sprintf("--fail-on %s is not known; it is one or more of %s, separated by commas", kind, strings.Join(known, ", ")),
				command: command,
			}
		}
		out = append(out, kind)
	}
	return out, nil
}

// verdict is an error when the report holds what it names.
func (f failOn) verdict(r *report.Report) error {
	var found []string
	for _, kind := range failOrder {
		if n := failKinds[kind](r); n > 0 && slices.Contains(f, kind) {
			found = append(found, fmt.Sprintf("%s: %d", kind, n))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &errFailOn{fmt.Sprintf("--fail-on %s: found %s", strings.Join(f, ","), strings.Join(found, ", "))}
}
