package browser

import (
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"drift-detector/report/reporttest"
)

// cpu is the seconds of CPU time that the main thread has spent in tasks since
// it was first asked. It is no wall-clock time: a busy machine changes it little.
func (b *tab) cpu() float64 {
	b.Helper()
	call(b, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	for _, m := range call(b, performance.GetMetrics, cdp.Empty{}).Metrics {
		if m.Name == "TaskDuration" {
			return m.Value
		}
	}
	b.Fatal("Chromium tells no TaskDuration")
	return 0
}

const painted = `new Promise((done) => {
	const first = () => performance.getEntriesByName("first-contentful-paint").length;
	const look = () => (first() ? requestAnimationFrame(() => requestAnimationFrame(() => done(true))) : requestAnimationFrame(look));
	look();
})`

// 5,000 machines are painted after less than three seconds of the main thread's
// time, the script's first work included, and fit a phone.
func TestFiveThousandMachines(t *testing.T) {
	r := reporttest.Sized(50, 100)
	b := open(t, reporttest.Sized(1, 5), look{width: 360}) // the process that counts must be the one that loads
	small := b.cpu()
	b.check()
	b.requests, b.file = nil, written(t, r)
	b.do(chromedp.Navigate(b.file))
	eval[bool](b, painted)
	spent := b.cpu() - small
	elements := eval[int](b, `document.querySelectorAll("*").length`)
	t.Logf("%.2f s of the main thread until load and first paint, %d elements, %d bytes", spent, elements, size(t, b.file))
	if spent <= 0.01 || spent > 3 {
		t.Errorf("the main thread worked for %.2f s until the first paint", spent)
	}
	if n := eval[int](b, `document.querySelectorAll(".cells a").length`); n != 5000 {
		t.Errorf("%d cells of 5000 machines", n)
	}
	if over := eval[string](b, wider); over != "" {
		t.Errorf("wider than the window: %s", over)
	}

	before := b.cpu()
	b.do(sendKeys("#find", "zz"))
	b.demand(r, "nothing", func(e entry) bool { return strings.Contains(e.name, "zz") })
	b.click("#reset")
	b.demand(r, "reset", everything)
	t.Logf("%.2f s of the main thread for a search and back", b.cpu()-before)
	b.click(`.cells a[href="#m49-1-0"]`)
	b.wait(inSight("m49-1-0"), "a machine of the last cluster in sight")
}

func size(t *testing.T, file string) int64 {
	t.Helper()
	u, err := url.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(u.Path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
