package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

// reports returns those that every look at a page is taken of.
func reports() map[string]*report.Report {
	out := map[string]*report.Report{
		"hostile": reporttest.HostileReport(), "empty": new(report.Report), "five": reporttest.Sized(1, 5), "two clusters": reporttest.Sized(2, 40),
	}
	for _, seed := range []uint64{1, 3, 4, 5} { // with rules, hostile, both, shortened
		out[fmt.Sprint("random ", seed)] = reporttest.Random(seed)
	}
	return out
}

// wider says by how much the page is wider than the window, and what makes it so.
const wider = `(() => {
	const width = document.documentElement.clientWidth;
	const over = document.documentElement.scrollWidth - width;
	if (over <= 0) return "";
	const e = [...document.body.querySelectorAll("*")].find((e) => e.getBoundingClientRect().right > width + 1);
	return over + "px, by " + (e ? e.outerHTML.slice(0, 200) : "nothing");
})()`

// openAllPlain opens everything that is there.
const openAllPlain = `document.querySelectorAll("details").forEach((d) => d.open = true)`

// openAll opens everything, also what is built only then.
const openAll = `(async () => {
	for (let folded; (folded = document.querySelectorAll("details:not([open])")).length; await new Promise((done) => setTimeout(done, 50))) {
		folded.forEach((d) => d.open = true);
	}
	await new Promise((done) => setTimeout(done, 50));
})()`

// Nothing but the page is asked for, nothing complains, no name runs or breaks
// the layout, folded or not, on a phone or on a desk.
func TestPagesAreQuietAndFit(t *testing.T) {
	for name, r := range reports() {
		for _, width := range []int64{360, 1280} {
			t.Run(fmt.Sprintf("%s, %d", name, width), func(t *testing.T) {
				b := open(t, r, look{width: width})
				if over := eval[string](b, wider); over != "" {
					t.Errorf("wider than the window: %s", over)
				}
				eval[any](b, openAll)
				if over := eval[string](b, wider); over != "" {
					t.Errorf("with all open wider than the window: %s", over)
				}
				b.media("screen", "dark") // other colours, and no other sizes
				if over := eval[string](b, wider); over != "" {
					t.Errorf("dark, with all open wider than the window: %s", over)
				}
			})
		}
	}
}

// What a name carries must not run, whatever a reader does with the page.
func TestHostileNamesStayText(t *testing.T) {
	b := open(t, reporttest.HostileReport(), look{})
	eval[any](b, `window.alert = (s) => { window.canary = s }`)
	eval[any](b, openAll)
	eval[bool](b, `(() => {
		for (const e of document.querySelectorAll("*")) {
			for (const kind of ["mouseover", "load", "error", "focus"]) e.dispatchEvent(new Event(kind, {bubbles: true}));
		}
		for (const a of document.querySelectorAll("a")) a.click();
		for (const o of document.querySelectorAll("select option")) {
			o.selected = true;
			o.parentElement.dispatchEvent(new Event("input", {bubbles: true}));
		}
		return true;
	})()`)
	if got := eval[string](b, `String(window.canary)`); got != "undefined" {
		t.Errorf("a name has called alert(%s)", got)
	}
	if n := eval[int](b, `document.querySelectorAll("img, svg, iframe, [onerror], [onload], [onmouseover]").length`); n > 0 {
		t.Errorf("%d elements come out of names", n)
	}
	if n := eval[int](b, `document.scripts.length`); n != 1 {
		t.Errorf("%d scripts", n)
	}
}

// The policy is in force: what the page does not bring along is refused.
func TestPolicyIsInForce(t *testing.T) {
	b := open(t, reporttest.Sized(1, 5), look{})
	got := eval[[]string](b, `new Promise((done) => {
		const refused = [];
		addEventListener("securitypolicyviolation", (e) => {
			refused.push(e.effectiveDirective);
			if (refused.length === 3) done(refused.sort());
		});
		setTimeout(() => done(refused.sort()), 5000); // without a policy nothing is refused
		const add = (tag, of) => document.body.append(Object.assign(document.createElement(tag), of));
		add("script", {textContent: "window.canary = 1"});
		add("style", {textContent: "body { display: none }"});
		add("img", {src: "http://192.0.2.1/x.png"});
	})`)
	if want := []string{"img-src", "script-src-elem", "style-src-elem"}; !slices.Equal(got, want) {
		t.Errorf("refused: %v, want %v", got, want)
	}
	if eval[bool](b, `window.canary === 1`) {
		t.Error("a foreign script ran")
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	if len(b.troubles) != 3 {
		t.Errorf("troubles %q", b.troubles)
	}
	b.troubles, b.requests = nil, b.requests[:1] // the browser tells of a request also where it refuses it
}

// state is what a reader sees of the list.
type state struct {
	Rows []string // status and name of each row that is shown
	Said string   // by the live region
	Off  int      // cells of the picture that are dimmed
}

const seen = `({
	rows: [...document.querySelectorAll(".row")].filter((e) => !e.closest("[hidden]"))
		.map((e) => e.dataset.status + " " + e.querySelector(".name").textContent),
	said: document.querySelector("#shown").textContent,
	off: document.querySelectorAll(".cells a.off").length,
})`

// entry is a machine or a VM to confirm, as the report has it.
type entry struct {
	status        code.Status
	name, cluster string
	codes         []string
	ignored       bool
}

func (e entry) row() string { return string(e.status) + " " + e.name }

func entries(r *report.Report) []entry {
	var out []entry
	for i := range r.Clusters {
		c := &r.Clusters[i]
		for _, s := range c.Sets() {
			for _, m := range s.Machines {
				e := entry{status: m.Status, name: m.Name, cluster: c.Title(), ignored: m.Ignored != nil}
				if m.Reason != "" {
					e.codes = append(e.codes, string(m.Reason))
				}
				for _, w := range m.Warnings {
					e.codes = append(e.codes, string(w.Reason))
				}
				out = append(out, e)
			}
		}
	}
	for _, m := range r.InfraMachines {
		out = append(out, entry{"ToConfirm", m.Instance.Name, m.Cluster, []string{string(m.Reason)}, m.Ignored != nil})
	}
	return out
}

// demand compares the page with what should be left of the report.
func (b *tab) demand(r *report.Report, what string, fits func(entry) bool) {
	b.Helper()
	var want []string
	all := entries(r)
	machines := 0
	for _, e := range all {
		if fits(e) {
			want = append(want, e.row())
			if e.status != "ToConfirm" {
				machines++
			}
		}
	}
	got := eval[state](b, seen)
	slices.Sort(want)
	slices.Sort(got.Rows)
	if !slices.Equal(got.Rows, want) {
		b.Errorf("%s: the page shows %d rows %q\nwant %d %q", what, len(got.Rows), got.Rows, len(want), want)
	}
	if said := fmt.Sprintf("shows %d of %d machines", len(want), len(all)); len(want) < len(all) && !strings.Contains(got.Said, said) {
		b.Errorf("%s: the page says %q, not %q", what, got.Said, said)
	}
	cells := len(all) - len(r.InfraMachines)
	if got.Off != cells-machines {
		b.Errorf("%s: %d cells are dimmed of %d, %d machines are shown", what, got.Off, cells, machines)
	}
}

func everything(entry) bool { return true }

func TestFilterAndSearch(t *testing.T) {
	r := reporttest.Random(4)
	if len(r.Clusters) < 2 || r.Summary.Ignored == 0 || len(r.InfraMachines) == 0 {
		t.Fatalf("the report has %d clusters, %d ignored findings, %d VMs to confirm", len(r.Clusters), r.Summary.Ignored, len(r.InfraMachines))
	}
	b := open(t, r, look{})
	b.demand(r, "at first", everything)

	b.click(`[name="status"][value="Healthy"]`)
	b.click(`[name="status"][value="ToConfirm"]`)
	b.demand(r, "without Healthy and VMs to confirm", func(e entry) bool { return e.status != code.Healthy && e.status != "ToConfirm" })
	b.click("#reset")
	b.demand(r, "reset", everything)

	cluster := r.Clusters[1].Title()
	b.set("#in", cluster)
	b.demand(r, "one cluster", func(e entry) bool { return e.cluster == cluster })
	b.set("#in", "")

	b.set("#because", "InstanceNotFound")
	b.demand(r, "one reason", func(e entry) bool { return slices.Contains(e.codes, "InstanceNotFound") })
	b.set("#because", "")

	b.set("#aside", "only")
	b.demand(r, "set aside", func(e entry) bool { return e.ignored })
	b.set("#aside", "without")
	b.demand(r, "not set aside", func(e entry) bool { return !e.ignored })
	b.click("#reset")

	name := r.Clusters[1].ControlPlane.Machines[0].Name
	b.do(sendKeys("#find", name[:len(name)-1]+strings.ToUpper(name[len(name)-1:])))
	got := eval[state](b, seen)
	if len(got.Rows) == 0 || len(got.Rows) >= len(entries(r)) || !slices.ContainsFunc(got.Rows, func(s string) bool { return strings.HasSuffix(s, " "+name) }) {
		t.Errorf("search for %q finds %q", name, got.Rows)
	}
	b.set("#find", "surely nothing has this")
	b.demand(r, "nothing", func(entry) bool { return false })

	// A cell of what is filtered away ends the filter and leads there.
	b.click(`.cells a[href="#m0-0-0"]`)
	b.demand(r, "after a cell", everything)
	if !eval[bool](b, inSight("m0-0-0")) {
		t.Error("the cell does not lead to its machine")
	}
}

func TestShortenedReportSaysSo(t *testing.T) {
	r := reporttest.Random(5)
	if !r.Options.IgnoreHealthy || r.Summary.Machines.Healthy == 0 {
		t.Fatal("the report is not shortened")
	}
	b := open(t, r, look{})
	if got := eval[state](b, seen); !strings.Contains(got.Said, "leaves out") {
		t.Errorf("it says %q", got.Said)
	}
}

func TestOrder(t *testing.T) {
	r := reporttest.Sized(3, 30)
	b := open(t, r, look{})
	const names = `[...document.querySelectorAll(".group")].map((g) => [...g.querySelectorAll(":scope > .rows > .row")].map((e) => e.KEY))`
	statuses := strings.ReplaceAll(names, "KEY", "dataset.status")
	first := eval[[][]string](b, statuses)
	for _, group := range first {
		if !slices.IsSortedFunc(group, func(a, b string) int { return code.Urgency(code.Status(a)) - code.Urgency(code.Status(b)) }) {
			t.Errorf("not by urgency: %q", group)
		}
	}
	for key, by := range map[string]string{"name": `querySelector(".name").textContent`, "reason": `dataset.reason || "\uffff"`} {
		b.set("#order", key)
		for _, group := range eval[[][]string](b, strings.ReplaceAll(names, "KEY", by)) {
			if !slices.IsSortedFunc(group, natural) {
				t.Errorf("not by %s: %q", key, group)
			}
		}
	}
	b.set("#order", "")
	if again := eval[[][]string](b, statuses); fmt.Sprint(again) != fmt.Sprint(first) {
		t.Error("the first order does not come back")
	}
	b.demand(r, "after ordering", everything)
}

// natural compares names as people do: md-9 before md-10.
func natural(a, b string) int {
	split := func(s string) (string, int) {
		i := strings.LastIndexByte(s, '-')
		n := 0
		fmt.Sscan(s[i+1:], &n)
		return s[:i+1], n
	}
	p, m := split(a)
	q, n := split(b)
	if p != q {
		return strings.Compare(p, q)
	}
	return m - n
}

// inSight says whether what an id names is unfolded and in the window.
func inSight(id string) string {
	return fmt.Sprintf(`(() => {
		const e = document.getElementById(%q);
		const r = e.getBoundingClientRect();
		return location.hash === "#" + %q && e.checkVisibility({contentVisibilityAuto: false}) && r.height > 0 && r.top < innerHeight && r.bottom > 0;
	})()`, id, id)
}

// Every cell leads to its machine, also to those that are folded away twice,
// with JavaScript and without.
func TestCellsLeadToTheirMachines(t *testing.T) {
	r := reporttest.Sized(2, 40)
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain %t", plain), func(t *testing.T) {
			b := open(t, r, look{plain: plain, width: 1000})
			ids := eval[[]string](b, `[...document.querySelectorAll(".cells a")].map((a) => a.hash.slice(1))`)
			if len(ids) != r.Summary.Machines.Total {
				t.Fatalf("%d cells of %d machines", len(ids), r.Summary.Machines.Total)
			}
			for i := 0; i < len(ids); i += 11 {
				b.click(fmt.Sprintf(`.cells a[href="#%s"]`, ids[i]))
				b.wait(inSight(ids[i]), "machine "+ids[i]+" in sight")
			}
		})
	}
}

// Without JavaScript the page is whole: no controls that do nothing, every
// machine, and every part of it.
func TestWithoutJavaScript(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			b := open(t, r, look{plain: true, width: 360})
			if n := eval[int](b, `[...document.querySelectorAll("button, input, select, #controls, #shown")].filter((e) => e.checkVisibility()).length`); n > 0 {
				t.Errorf("%d controls are shown that do nothing", n)
			}
			if got, want := eval[int](b, `document.querySelectorAll(".row").length`), len(entries(r)); got != want {
				t.Errorf("%d rows, want %d", got, want)
			}
			const hidden = `[...document.querySelectorAll("main *")].filter((e) => !e.closest(".bar, .like, [aria-hidden]") &&
				e.textContent.trim() && !e.checkVisibility()).map((e) => e.outerHTML.slice(0, 100)).slice(0, 3)`
			eval[any](b, openAllPlain) // as a reader can by hand
			if got := eval[[]string](b, hidden); len(got) > 0 {
				t.Errorf("hidden: %q", got)
			}
			if over := eval[string](b, wider); over != "" {
				t.Errorf("wider than the window: %s", over)
			}
		})
	}
}

func TestSchemeCanBeChosen(t *testing.T) {
	b := open(t, reporttest.Sized(1, 5), look{scheme: "dark"})
	const shade = `getComputedStyle(document.body).backgroundColor`
	dark := eval[string](b, shade)
	b.click("#scheme")
	light := eval[string](b, shade)
	if dark == light {
		t.Errorf("the button changes nothing: %s", dark)
	}
	b.media("screen", "light")
	b.click("#scheme")
	if got := eval[string](b, shade); got != dark {
		t.Errorf("dark is %s, then %s", dark, got)
	}
}
