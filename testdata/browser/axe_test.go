package browser

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"drift-detector/report"
	"drift-detector/report/reporttest"
)

// axe returns the source of axe-core, which `make test-browser` fetches.
func axe(t *testing.T) string {
	t.Helper()
	name := os.Getenv("AXE")
	if name == "" {
		missing(t, "axe-core (its file axe.min.js in AXE)")
	}
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// violation is a rule of axe-core that the page breaks.
type violation struct {
	ID, Impact, Help string
	Nodes            []string // the first of them
}

// runAxe runs the rules that axe-core runs by default, WCAG 2 at levels A and AA and
// its best practices, or some of them.
const runAxe = `axe.run(document, {preload: false, resultTypes: ["violations"], RULES}).then((r) =>
	r.violations.map((v) => ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))})))`

// axe-core finds nothing, in either scheme, folded or not, filtered or not.
func TestAccessibility(t *testing.T) {
	source := axe(t)
	for name, r := range map[string]*report.Report{
		"hostile": reporttest.HostileReport(), "five": reporttest.Sized(1, 5), "many": reporttest.Sized(7, 90), "shortened": reporttest.Random(5), "rules": reporttest.Random(4),
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, r, look{})
			if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](source)); err != nil {
				t.Fatal(err)
			}
			b.demandAccessible("as it opens", "")
			if name == "many" { // its parts are those of the others, and would take minutes
				return
			}
			eval[any](b, `document.querySelectorAll(".row").forEach((e, i) => { if (i % 9 === 0) e.querySelector("summary").click() })`)
			eval[any](b, openAll)
			b.demandAccessible("with all open", "")
			b.media("screen", "dark")
			b.demandAccessible("dark, with all open", `runOnly: ["color-contrast"]`)
			b.media("screen", "light")
			b.set("#find", "1")
			b.click(`[name="status"][value="Healthy"]`)
			b.demandAccessible("filtered", "")
		})
	}
}

func (b *tab) demandAccessible(how, rules string) {
	b.Helper()
	for _, v := range eval[[]violation](b, strings.Replace(runAxe, "RULES", rules, 1)) {
		b.Errorf("%s: %s, %s: %s\n\t%s", how, v.Impact, v.ID, v.Help, strings.Join(v.Nodes, "\n\t"))
	}
}
