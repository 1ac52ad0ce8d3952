package code_test

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/report/code"
)

// Each code has one row, which says all of it in whole sentences of its own.
func TestEveryRowIsWhole(t *testing.T) {
	known, said := map[code.Reason]bool{}, map[string]code.Reason{}
	for _, r := range code.Table {
		if known[r.Code] {
			t.Errorf("%s is there twice", r.Code)
		}
		known[r.Code] = true
		if len(r.Kinds) == 0 || r.Is(code.Answer) != (r.Safe != "") || r.Heals && !r.Is(code.Forecast) || r.Person && !r.Is(code.Warning) {
			t.Errorf("%s: %+v", r.Code, r)
		}
		for what, text := range map[string]string{"happens": r.Happens, "why": r.Why, "do": r.Do} {
			if text == "" || !strings.HasSuffix(text, ".") || strings.ToUpper(text[:1]) != text[:1] {
				t.Errorf("%s has no %s that is a sentence: %q", r.Code, what, text)
			}
			if of := said[text]; of != "" && what == "why" {
				t.Errorf("%s matters for the same reason as %s: %q", r.Code, of, text)
			}
			said[text] = r.Code
		}
	}
}

// The reasons of the answer are in the order of the answers that they leave, the worst first.
func TestDangerIsTheOrder(t *testing.T) {
	answers := []code.Safe{code.No, code.Unclear, code.WithWork}
	last := 0
	for i, r := range code.Table {
		if r.Safe == "" {
			continue
		}
		if at := slices.Index(answers, r.Safe); at < last {
			t.Errorf("%s leaves %s, and stands behind what is less dangerous", r.Code, r.Safe)
		} else {
			last = at
		}
		if code.SafeAfter(r.Code) != r.Safe || code.Rank(r.Code) != i {
			t.Errorf("%s leaves %s at %d", r.Code, code.SafeAfter(r.Code), code.Rank(r.Code))
		}
	}
	if last != len(answers)-1 || code.SafeAfter("OfALaterRelease") != code.No || code.Rank("OfALaterRelease") >= 0 {
		t.Error("a reason that is not known is called less than the worst")
	}
}
