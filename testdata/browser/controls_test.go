package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

func TestKeyboard(t *testing.T) {
	b := open(t, reporttest.Sized(1, 5), look{})
	b.do(press("\t"))
	if got := eval[string](b, `document.activeElement.textContent`); got != "Skip to the answer" {
		t.Errorf("the first stop of the keyboard is %q", got)
	}
	if !eval[bool](b, `document.activeElement.getBoundingClientRect().width > 50`) {
		t.Error("the skip link is not seen when it has the focus")
	}
	b.do(press("\t"))
	if got := eval[string](b, `document.activeElement.textContent`); got != "Skip to the search" {
		t.Errorf("the second stop of the keyboard is %q", got)
	}
	b.do(press("\r"))
	if got := eval[string](b, `document.activeElement.id`); got != "find" {
		t.Errorf("it leads to %q", got)
	}
	eval[any](b, `document.querySelector(".skip").focus()`)
	b.do(press("\r"))
	if got := eval[string](b, `document.activeElement.id`); got != "answer" {
		t.Errorf("it leads to %q", got)
	}
	if n := eval[int](b, `[...document.querySelectorAll(".cells a")].filter((a) => a.tabIndex === 0).length`); n != 1 {
		t.Errorf("the picture is %d stops of the keyboard", n)
	}
	eval[any](b, `document.querySelector(".cells a").focus()`)
	b.do(press(kb.ArrowRight), press(kb.ArrowRight), press(kb.ArrowLeft))
	if got := eval[string](b, `document.activeElement.hash`); got != eval[string](b, `document.querySelectorAll(".cells a")[1].hash`) {
		t.Errorf("the arrow keys lead to %q", got)
	}
	eval[any](b, `document.querySelector('.cells a[href="#m0-0-0"]').focus()`)
	b.do(press("\r"))
	b.wait(inSight("m0-0-0"), "the machine of the first cell in sight")
	eval[any](b, `new Promise((done) => setTimeout(done, 100))`) // hashchange is over
	eval[any](b, `document.querySelector(".row[open] summary").focus()`)
	b.do(press("\r"))
	if eval[bool](b, `document.querySelector("#m0-0-0").parentElement.open`) {
		t.Error("Enter does not fold a machine")
	}
}

// Commands are copied through the clipboard's API, and without it by selecting.
func TestCopy(t *testing.T) {
	r := reporttest.Random(4)
	for i, before := range []string{`0`, `Object.defineProperty(navigator, "clipboard", {value: undefined})`} {
		t.Run(before, func(t *testing.T) {
			b := open(t, r, look{})
			eval[any](b, before)
			if n := eval[int](b, `document.querySelectorAll(".command button").length`); n != 0 {
				t.Errorf("%d buttons before anything is opened", n)
			}
			// The clipboard outlives the tab, so each time another command.
			want := eval[string](b, fmt.Sprintf(`(() => {
				const row = [...document.querySelectorAll(".row:has(.command)")][%d];
				row.id = "chosen";
				row.scrollIntoView({block: "center"});
				return row.querySelector(".command code").textContent;
			})()`, i))
			b.click(`#chosen summary`)
			b.wait(`document.querySelector("#chosen button") !== null`, "a button")
			b.click(`#chosen button`)
			b.wait(`document.querySelector("#chosen button").textContent === "Copied"`, "the button to say so")
			eval[any](b, `document.querySelector("#find").focus()`)
			b.paste()
			if got := eval[string](b, `document.querySelector("#find").value`); got != want {
				t.Errorf("copied %q, want %q", got, want)
			}
		})
	}
}

// Ids and paths are copied, too, from a button that a name cannot be mistaken for.
func TestCopyIDs(t *testing.T) {
	b := open(t, reporttest.Random(4), look{})
	eval[any](b, `(() => {
		const row = document.querySelector(".row:has(dd.copy)");
		row.id = "chosen";
		row.scrollIntoView({block: "center"});
	})()`)
	want := eval[string](b, `document.querySelector("#chosen dd.copy").textContent`)
	b.click(`#chosen summary`)
	b.wait(`document.querySelector("#chosen dd.copy button") !== null`, "a button")
	b.click(`#chosen dd.copy button`)
	b.wait(`document.querySelector("#chosen dd.copy button").textContent === "Copied"`, "the button to say so")
	eval[any](b, `document.querySelector("#find").focus()`)
	b.paste()
	if got := eval[string](b, `document.querySelector("#find").value`); got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
}

// The filter leaves most of the window to what it filters.
func TestFilterIsNoQuarterOfTheWindow(t *testing.T) {
	for _, width := range []int64{360, 800, 1280} {
		b := open(t, reporttest.Random(4), look{width: width})
		const height = `((e) => getComputedStyle(e).position === "sticky" ? e.getBoundingClientRect().height : 0)(document.querySelector(".bar"))`
		if h := eval[float64](b, height); h > 650/4 {
			t.Errorf("%d px wide: the filter sticks with %.0f px", width, h)
		}
		eval[any](b, `document.querySelector("#more").open = true`)
		if h := eval[float64](b, height); h > 650/4 {
			t.Errorf("%d px wide: all filters stick with %.0f px", width, h)
		}
		if n := eval[int](b, `[...document.querySelectorAll("nav a")].filter((a) => a.getBoundingClientRect().right > innerWidth).length`); n > 0 {
			t.Errorf("%d px wide: %d links of the navigation are out of sight", width, n)
		}
	}
}

// The numbers of the answer show what they count, and heads of sections count what is shown.
func TestNumbersFilter(t *testing.T) {
	r := reporttest.Random(4)
	b := open(t, r, look{})
	b.click(`[data-only="Ghost"]`)
	b.demand(r, "Ghosts", func(e entry) bool { return e.status == code.Ghost })
	const heads = `[...document.querySelectorAll("#clusters-title span")].map((e) => e.textContent + [...document.querySelectorAll(".cluster")].filter((c) => !c.hidden).length)[0]`
	n := eval[int](b, `[...document.querySelectorAll(".cluster")].filter((c) => !c.hidden).length`)
	want := fmt.Sprintf("(%d of %d)%d", n, len(r.Clusters), n)
	if n == len(r.Clusters) {
		want = fmt.Sprintf("(%d)%d", n, n)
	}
	if got := eval[string](b, heads); got != want {
		t.Errorf("the head says %q, want %q", got, want)
	}
	if n := eval[int](b, `[...document.querySelectorAll("#readiness > *, #scopes > *")].filter((e) => e.hidden).length`); n > 0 {
		t.Errorf("the filter hides %d parts of what it does not filter", n)
	}
}
