package browser

import (
	"bytes"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"drift-detector/report"
	"drift-detector/report/reporttest"
)

// On paper findings are open, Healthy machines are folded, and nothing is a control,
// without JavaScript too.
func TestPrint(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := open(t, reporttest.Random(4), look{plain: plain, scheme: "dark"})
		const closed = `[...document.querySelectorAll("main :is(.row, .check) .body")].filter((e) => !e.closest(".rest") && (e.getBoundingClientRect().height < 5 || !e.checkVisibility()))
			.map((e) => e.outerHTML.slice(0, 100)).slice(0, 3)`
		if len(eval[[]string](b, closed)) == 0 {
			t.Error("on the screen nothing is folded, so that this test tells nothing")
		}
		b.media("print", "dark")
		if got := eval[[]string](b, closed); len(got) > 0 {
			t.Errorf("plain %t: folded on paper: %q", plain, got)
		}
		if n := eval[int](b, `[...document.querySelectorAll(".rest .row")].filter((e) => e.checkVisibility({contentVisibilityAuto: true}) && e.getBoundingClientRect().height > 0).length`); n > 0 {
			t.Errorf("plain %t: %d Healthy machines are open on paper", plain, n)
		}
		if n := eval[int](b, `[...document.querySelectorAll("button, input, select, nav")].filter((e) => e.checkVisibility()).length`); n > 0 {
			t.Errorf("plain %t: %d controls on paper", plain, n)
		}
		if got := eval[string](b, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
			t.Errorf("plain %t: the paper is %s", plain, got)
		}
		if n := pages(b); n < 1 {
			t.Errorf("plain %t: %d pages", plain, n)
		}
	}
}

// pages returns on how many A4 pages the tab prints.
func pages(b *tab) int {
	b.Helper()
	pdf := call(b, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69, PreferCSSPageSize: new(true)})
	if !bytes.HasPrefix([]byte(pdf.Data), []byte("%PDF-")) {
		b.Error("no PDF")
	}
	return bytes.Count([]byte(pdf.Data), []byte("/Type /Page\n"))
}

// overlaps are the rows whose texts of status and name overlap.
const overlaps = `(() => {
	const box = (e) => {
		const range = document.createRange();
		range.selectNodeContents(e);
		return range.getBoundingClientRect();
	};
	const rows = [...document.querySelectorAll(":is(.row, .check) > summary")].map((summary) => [box(summary.querySelector(".status")), box(summary.querySelector(".name")), summary.textContent])
		.filter(([status, name]) => status.width > 0 && name.width > 0);
	return {seen: rows.length, over: rows.filter(([a, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).map((row) => row[2].slice(0, 80))};
})()`

func TestStatusAndNameDoNotOverlap(t *testing.T) {
	for name, r := range map[string]*report.Report{"lab": lab(t), "hostile": reporttest.HostileReport(), "calm": reporttest.Sized(2, 40)} {
		b := open(t, r, look{})
		eval[any](b, openAll)
		for _, media := range []string{"screen", "print"} {
			for _, width := range []int64{360, 718, 1280} {
				b.do(chromedp.EmulateViewport(width, 800))
				b.media(media, "light")
				got := eval[struct {
					Seen int
					Over []string
				}](b, overlaps)
				if got.Seen == 0 || len(got.Over) > 0 {
					t.Errorf("%s, %s, %d px: of %d rows these overlap: %q", name, media, width, got.Seen, got.Over)
				}
			}
		}
	}
}

// The lab fits sixteen pages, with the plan, whose commands are there once.
func TestLabFitsSixteenPages(t *testing.T) {
	b := openFile(t, labPage(t), look{})
	b.media("print", "light")
	n := pages(b)
	t.Logf("%d pages", n)
	if n < 3 || n > 16 {
		t.Errorf("%d pages", n)
	}
	const shown = `[...document.querySelectorAll("SELECTOR")].filter((e) => e.checkVisibility({contentVisibilityAuto: true}) && e.getBoundingClientRect().height > 0).length`
	if n := eval[int](b, strings.Replace(shown, "SELECTOR", ".step .command", 1)); n < 20 {
		t.Errorf("%d commands of the plan on paper", n)
	}
	if n := eval[int](b, strings.Replace(shown, "SELECTOR", ".row .command", 1)); n > 0 {
		t.Errorf("%d commands of machines on paper, which the plan has", n)
	}
}
