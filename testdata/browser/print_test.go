package browser

import (
	"bytes"
	"testing"

	"github.com/chromedp/chromedp"

	"drift-detector/report/reporttest"
)

// On paper everything is open and nothing is a control, without JavaScript too.
func TestPrint(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := open(t, reporttest.Random(4), look{plain: plain, scheme: "dark"})
		const closed = `[...document.querySelectorAll("main .body, main .known, main .resources")].filter((e) => e.getBoundingClientRect().height < 5 || !e.checkVisibility())
			.map((e) => e.outerHTML.slice(0, 100)).slice(0, 3)`
		if len(eval[[]string](b, closed)) == 0 {
			t.Error("on the screen nothing is folded, so that this test tells nothing")
		}
		b.media("print", "dark")
		if got := eval[[]string](b, closed); len(got) > 0 {
			t.Errorf("plain %t: folded on paper: %q", plain, got)
		}
		if n := eval[int](b, `[...document.querySelectorAll("button, input, select, nav")].filter((e) => e.checkVisibility()).length`); n > 0 {
			t.Errorf("plain %t: %d controls on paper", plain, n)
		}
		if got := eval[string](b, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
			t.Errorf("plain %t: the paper is %s", plain, got)
		}
		pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(pdf, []byte("%PDF-")) || bytes.Count(pdf, []byte("/Type /Page\n")) < 2 {
			t.Errorf("plain %t: no PDF of several pages: %d bytes", plain, len(pdf))
		}
	}
}
