package build

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup/check"
	"drift-detector/report"
)

// CheckCodes are the codes of checks, sorted. One that stands for several rules, such as
// that of two providers, is there once for each severity, reason and deed.
func CheckCodes(rules []check.Rule) []report.Code {
	out := make([]report.Code, len(rules))
	for i, r := range rules {
		why := cmp.Or(r.Why, "The finding says what the object that refers to it does without it.")
		meaning, _, _ := strings.Cut(why, ": ")
		if first, _, more := strings.Cut(meaning, ". "); more {
			meaning = first
		}
		out[i] = report.Code{
			Code: string(r.Code), Kind: "Checks of the backup",
			Meaning: fmt.Sprintf("Check, %s: %s.", r.Severity, strings.TrimSuffix(meaning, ".")),
			Why:     why, Do: sentence(r.Do),
		}
	}
	slices.SortStableFunc(out, func(a, b report.Code) int { return strings.Compare(a.Code, b.Code) })
	return slices.Compact(out)
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}
