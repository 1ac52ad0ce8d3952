package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

// firstScreen is what is whole in the window before anybody scrolls: the texts of the elements.
const firstScreen = `((selector) => [...document.querySelectorAll(selector)].filter((e) => {
	const r = e.getBoundingClientRect();
	return r.height > 0 && r.top >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
}).map((e) => e.textContent.trim().replace(/\s+/g, " ")))`

// Both answers, what becomes of the machines, how old the backup is and what to do first are on the
// first screen, of a small fleet with its clusters and of a large one.
func TestFirstScreen(t *testing.T) {
	for name, r := range map[string]*report.Report{"lab": lab(t), "labs": labs(t, 20)} {
		t.Run(name, func(t *testing.T) {
			b := open(t, r, look{})
			shown := func(selector string) []string { return eval[[]string](b, fmt.Sprintf("%s(%q)", firstScreen, selector)) }
			answer := r.Answer()
			if got := strings.Join(shown(".verdict"), "|"); !strings.Contains(got, answer.Safe) || !strings.Contains(got, answer.ByPlan) || !strings.Contains(got, answer.After) {
				t.Errorf("answers: %s", got)
			}
			if got := shown(".fates li"); len(got) < 5 || !strings.Contains(strings.Join(got, "|"), "6 unmanaged") && name == "lab" {
				t.Errorf("outcomes: %q", got)
			}
			if got := strings.Join(shown(".of, .line li span"), "|"); !strings.Contains(got, " old.") || !strings.Contains(got, "first VM created since, 3 minutes later") {
				t.Errorf("age: %s", got)
			}
			due := shown(".phase:first-child .due")
			for i, want := range r.ToDoIn(code.Before)[:3] {
				if i >= len(due) || !strings.Contains(due[i], string(want.Code)) {
					t.Errorf("number %d is not seen: %s, of %q", i+1, want.Code, due)
				}
			}
			if got := shown(".lot"); name == "lab" && len(got) != len(r.Clusters) {
				t.Errorf("clusters: %q", got)
			}
		})
	}
}

// The bar is as long as the machines are many.
func TestPartsOfTheBar(t *testing.T) {
	b := open(t, lab(t), look{})
	got := eval[[]float64](b, `[...document.querySelectorAll(".bar-parts i")].map((e) => e.getBoundingClientRect().width)`)
	n := eval[[]float64](b, `[...document.querySelectorAll(".fates b")].map((e) => Number(e.textContent))`)
	if len(got) < 5 || len(got) != len(n) {
		t.Fatalf("%d parts, %d numbers", len(got), len(n))
	}
	for i := range got {
		if each := got[0] / n[0]; got[i]/n[i] < each*.8 || got[i]/n[i] > each*1.2 {
			t.Errorf("%.0f machines are %.0f px, and %.0f are %.0f", n[0], got[0], n[i], got[i])
		}
	}
}

// A slash leads to the search, except where somebody writes.
func TestSlashFinds(t *testing.T) {
	b := open(t, reporttest.Sized(1, 5), look{})
	slash := func() { // as a keyboard sends it: without what keydown prevents
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Code: "Slash", Text: "/"})
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: "/", Code: "Slash"})
	}
	slash()
	if got := eval[string](b, `document.activeElement.id + document.activeElement.value`); got != "find" {
		t.Errorf("it leads to %q", got)
	}
	slash()
	if got := eval[string](b, `document.querySelector("#find").value`); got != "/" {
		t.Errorf("in the search it writes %q", got)
	}
}

// The number of a step leads into the plan, which is folded until then, also without JavaScript.
func TestNumbersLeadIntoThePlan(t *testing.T) {
	r := lab(t)
	for _, plain := range []bool{false, true} {
		b := open(t, r, look{plain: plain})
		if n := eval[int](b, `[...document.querySelectorAll(".step")].filter((e) => e.checkVisibility({contentVisibilityAuto: true})).length`); n > 0 {
			t.Errorf("plain %t: %d steps are shown at first", plain, n)
		}
		at := eval[string](b, `document.querySelector(".due a[href^='#step-']").hash.slice(1)`)
		b.click(`.due a[href="#` + at + `"]`)
		b.wait(inSight(at), "step "+at+" in sight")
	}
	b := open(t, r, look{})
	eval[any](b, openAll)
	if got, want := eval[int](b, `document.querySelectorAll(".step").length`), eval[int](b, `parseInt(document.querySelector("#runbook > summary").textContent)`); got != want || got < 20 {
		t.Errorf("%d steps of %d", got, want)
	}
}
