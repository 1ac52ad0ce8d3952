package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"drift-detector/report"
	"drift-detector/report/html"
	"drift-detector/report/plan"
	"drift-detector/report/plan/runbook"
)

// browser is the context of the one Chromium of all tests, or nil when the
// machine has none.
var browser context.Context

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return m.Run()
	}
	profile, err := os.MkdirTemp("", "drift-detector-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(profile)
	ctx, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.Headless, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.NoSandbox, // it refuses to run as root with one
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-extensions", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), chromedp.Flag("proxy-server", "127.0.0.1:9"))
	defer stop()
	browser, stop = chromedp.NewContext(ctx)
	if err := chromedp.Do(browser); err != nil {
		fmt.Fprintln(os.Stderr, "starting Chromium:", err)
		return 1
	}
	code := m.Run()
	if err := chromedp.Cancel(browser); err != nil {
		fmt.Fprintln(os.Stderr, "ending Chromium:", err)
	}
	stop()
	return code
}

// missing skips a test for want of a program; in CI it fails instead.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not here: run `make test-browser`", what)
	}
	t.Skipf("%s is not here", what)
}

// tab is a page in the browser, and what it did that no report may do.
type tab struct {
	*testing.T
	ctx  context.Context
	file string // URL of the page

	lock     sync.Mutex
	requests []string // each URL that was asked for
	troubles []string // errors, console messages, refusals of the policy, dialogs
}

// look is how a page is looked at.
type look struct {
	width  int64  // 1280 when 0
	scheme string // light when empty
	plain  bool   // no JavaScript
}

// open writes a report as a page, opens it from disk, and fails the test at its
// end when the page asked for anything else, complained or opened a dialog.
func open(t *testing.T, r *report.Report, l look) *tab {
	t.Helper()
	return openFile(t, written(t, r), l)
}

func openFile(t *testing.T, file string, l look) *tab {
	t.Helper()
	if browser == nil {
		missing(t, "chromium")
	}
	b := &tab{T: t, file: file}
	var stop context.CancelFunc
	b.ctx, stop = chromedp.NewContext(browser)
	t.Cleanup(stop)
	b.listen()
	if l.width == 0 {
		l.width = 1280
	}
	b.do(chromedp.EmulateViewport(l.width, 800))
	b.media("screen", l.scheme)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: l.plain})
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	b.do(chromedp.Navigate(b.file))
	t.Cleanup(b.check)
	return b
}

// written returns the URL of a report on disk.
func written(t *testing.T, r *report.Report) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	p := plan.New(r, nil) // tools of providers would need all that the program links
	if err := html.WriteWith(f, r, runbook.Page(p)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}

func (b *tab) listen() {
	b.Helper()
	err := chromedp.Listen(b.ctx, func(event any) {
		b.lock.Lock()
		defer b.lock.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, e.Request.URL)
		case *log.EventEntryAdded:
			b.troubles = append(b.troubles, fmt.Sprintf("log: %s: %s", e.Entry.Source, e.Entry.Text))
		case *runtime.EventConsoleAPICalled:
			b.troubles = append(b.troubles, fmt.Sprintf("console: %s", e.Type))
		case *runtime.EventExceptionThrown:
			b.troubles = append(b.troubles, "exception: "+e.ExceptionDetails.Text)
		case *page.EventJavascriptDialogOpening:
			b.troubles = append(b.troubles, "dialog: "+e.Message)
			go chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
}

func (b *tab) check() {
	b.lock.Lock()
	defer b.lock.Unlock()
	for _, u := range b.requests {
		if u, _, _ = strings.Cut(u, "#"); u != b.file {
			b.Errorf("the page asked for %s", u)
		}
	}
	if len(b.requests) == 0 {
		b.Error("no request was seen, not even the page's own")
	}
	for _, s := range b.troubles {
		b.Error(s)
	}
}

func (b *tab) media(kind, scheme string) {
	b.Helper()
	if scheme == "" {
		scheme = "light"
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: kind, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

func call[P, R any](b *tab, cmd cdp.Command[P, R], params P) R {
	b.Helper()
	r, err := chromedp.Call(b.ctx, cmd, params)
	if err != nil {
		b.Fatalf("%s: %v", cmd.Method, err)
	}
	return r
}

// eval returns what an expression gives in the page.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// click clicks like a mouse does: what is covered or out of sight fails.
func (b *tab) click(selector string) {
	b.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// set changes an element of the filter, as a user does.
func (b *tab) set(selector, value string) {
	b.Helper()
	eval[bool](b, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.value = %q;
		e.dispatchEvent(new Event("input", {bubbles: true}));
		return true;
	})()`, selector, value))
}

// wait waits until an expression holds: the page itself says when.
func (b *tab) wait(expression, what string) {
	b.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(2*time.Minute))); err != nil {
		b.Fatalf("waiting for %s: %v", what, err)
	}
}

func press(key string) chromedp.Action[chromedp.Void] { return chromedp.KeyEvent(key) }

func sendKeys(selector, text string) chromedp.Action[chromedp.Void] {
	return chromedp.SendKeys(chromedp.CSS(selector), text)
}

// paste pastes into what has the focus, as Ctrl+V (modifier 2) does.
func (b *tab) paste() {
	b.Helper()
	call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{
		Type: input.DispatchKeyEventTypeKeyDown, Key: "v", Code: "KeyV", Modifiers: 2, Commands: []string{"paste"},
	})
}
