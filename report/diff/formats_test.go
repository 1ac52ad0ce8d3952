package diff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
	"drift-detector/report/text"
)

func write(t *testing.T, f report.Format[*Diff], d *Diff) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func plain(w io.Writer, d *Diff) error { return Text(w, d, text.Options{}) }

// diffs returns those of random reports, hostile ones and empty ones.
func diffs(t *testing.T) []*Diff {
	t.Helper()
	out := []*Diff{
		compareOK(t, &report.Report{}, &report.Report{}), compareOK(t, fleet(), fleet()),
		compareOK(t, fleet(), reporttest.HostileReport()), compareOK(t, reporttest.HostileReport(), fleet()),
		compareOK(t, reporttest.Sized(10, 100), reporttest.Sized(11, 100)),
	}
	for seed := range uint64(100) {
		out = append(out, compareOK(t, whole(seed), later(seed)))
	}
	return out
}

// Every format is one line after the other that a terminal shows as it is, ends
// with a newline, is the same twice, and tells the writer's error.
func TestFormats(t *testing.T) {
	for _, name := range Formats.Names() {
		f, err := Formats.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range diffs(t) {
			got := write(t, f, d)
			if !strings.HasSuffix(got, "\n") || !utf8.ValidString(got) {
				t.Fatalf("%s of diff %d is cut or not UTF-8", name, i)
			}
			for _, r := range got {
				if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
					t.Fatalf("%s of diff %d holds %U", name, i, r)
				}
			}
			if got != write(t, f, d) {
				t.Fatalf("%s of diff %d differs from itself", name, i)
			}
		}
		full := errors.New("full")
		if err := f(failing{full}, compareOK(t, fleet(), reporttest.HostileReport())); !errors.Is(err, full) || !strings.HasPrefix(err.Error(), "writing the ") {
			// The document's own form keeps its error as it is.
			if name != "json" || !errors.Is(err, full) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := Formats.Named("html"); err == nil || err.Error() != `format html is not known; it is json, markdown or text` {
		t.Error(err)
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// A diff of reports that were read back is the diff of the reports.
func TestReadBack(t *testing.T) {
	for seed := range uint64(60) {
		a, b := whole(seed), later(seed)
		x, y := compareOK(t, a, b), compareOK(t, reread(t, a), reread(t, b))
		for _, name := range Formats.Names() {
			f, _ := Formats.Named(name)
			if write(t, f, x) != write(t, f, y) {
				t.Fatalf("seed %d: %s differs after the reports were read back", seed, name)
			}
		}
	}
}

// numbersOf returns what every format must say.
func numbersOf(d *Diff) map[string]int {
	out := map[string]int{}
	for _, l := range d.tallies() {
		out[l.what+" new"], out[l.what+" gone"], out[l.what+" changed"] = l.new, l.gone, l.changed
	}
	return out
}

func TestJSON(t *testing.T) {
	for i, d := range diffs(t) {
		text := write(t, JSON, d)
		if strings.Contains(text, "null,\n") && !strings.Contains(text, `"instance": null`) || strings.Contains(text, ": null\n    }") && !strings.Contains(text, `"instance": null`) {
			t.Fatalf("diff %d has null for a list:\n%s", i, text)
		}
		var doc struct {
			SchemaVersion, Kind string
			Machines            Lists[map[string]any]
			InfraMachines       Lists[map[string]any]
			Clusters            Lists[map[string]any]
			Scopes              Lists[map[string]any]
			Errors, Checks      Lists[map[string]any]
			Warnings            []string
		}
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for kind, l := range map[string]Lists[map[string]any]{"Machines": doc.Machines, "VMs to confirm": doc.InfraMachines, "Clusters": doc.Clusters, "Places": doc.Scopes, "Errors": doc.Errors, "Checks": doc.Checks} {
			got[kind+" new"], got[kind+" gone"], got[kind+" changed"] = len(l.New), len(l.Gone), len(l.Changed)
			if l.New == nil || l.Gone == nil || l.Changed == nil {
				t.Fatalf("diff %d: a list of %s is null", i, kind)
			}
		}
		if want := numbersOf(d); fmt.Sprint(got) != fmt.Sprint(want) || doc.SchemaVersion != "1" || doc.Kind != "drift-detector diff" || doc.Warnings == nil {
			t.Fatalf("diff %d: %v, want %v", i, got, want)
		}
	}
}

// fields pins the document: within version 1 this list may grow, and nothing in
// it may be renamed or removed.
func TestFieldsArePinned(t *testing.T) {
	aside := machine("a", "u", code.Stale, vm("1", "vm-1", "a"), "Moved")
	aside.Reason, aside.Message, aside.Ignored = "r", "m", &report.Ignored{Reason: "b"}
	old, new := fleet(machine("a", "u", code.Healthy, nil)), fleet(aside, machine("n", "n", code.Healthy, nil))
	new.Backups = []report.Backup{{Path: "p"}}
	new.Clusters[0].Status = code.ManualRemediationNotRequired
	new.Scopes[0].State, new.Scopes[0].Error = "failed", &report.Fault{Reason: "f"}
	var doc map[string]any
	if err := json.Unmarshal([]byte(write(t, JSON, compareOK(t, old, new))), &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	walk("", doc, got)
	var names []string
	for n := range got {
		names = append(names, n)
	}
	slices.Sort(names)
	want := strings.Fields(pinned)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("fields are\n%s", strings.Join(names, "\n"))
	}
}

func walk(at string, v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if at != "" {
				k = at + "." + k
			}
			into[k] = true
			walk(k, x, into)
		}
	case []any:
		for _, x := range v {
			walk(at, x, into)
		}
	}
}

const pinned = `
schemaVersion kind old new different worse answer complete warnings machines infraMachines clusters scopes errors checks
answer.old answer.new answer.resolved answer.notSeen answer.notInBackup answer.added answer.left answer.conditions
checks.new checks.gone checks.notSeen checks.changed
old.generatedAt old.backups old.status old.complete old.clusters old.machines old.infraMachines old.ignored old.errors old.backupErrors
old.clusters.total old.clusters.Healthy old.clusters.ManualRemediationNotRequired old.clusters.ManualRemediationRequired old.clusters.NeedFurtherConfirmation
old.machines.total old.machines.Healthy old.machines.Stale old.machines.Ghost old.machines.Unknown
new.generatedAt new.backups new.status new.complete new.clusters new.machines new.infraMachines new.ignored new.errors new.backupErrors
new.clusters.total new.clusters.Healthy new.clusters.ManualRemediationNotRequired new.clusters.ManualRemediationRequired new.clusters.NeedFurtherConfirmation
new.machines.total new.machines.Healthy new.machines.Stale new.machines.Ghost new.machines.Unknown
new.backups.path new.backups.sha256 new.backups.writtenTo
machines.new machines.gone machines.notSeen machines.changed infraMachines.new infraMachines.gone infraMachines.notSeen infraMachines.changed
machines.new.cluster machines.new.namespace machines.new.name machines.new.uid machines.new.role machines.new.status machines.new.warnings machines.new.instance machines.new.ignored machines.new.self
machines.changed.old machines.changed.new machines.changed.fields machines.changed.fields.field machines.changed.fields.old machines.changed.fields.new
machines.changed.old.cluster machines.changed.old.namespace machines.changed.old.name machines.changed.old.uid machines.changed.old.role machines.changed.old.status machines.changed.old.warnings machines.changed.old.instance machines.changed.old.ignored machines.changed.old.self
machines.changed.new.cluster machines.changed.new.namespace machines.changed.new.name machines.changed.new.uid machines.changed.new.role machines.changed.new.status machines.changed.new.reason machines.changed.new.message machines.changed.new.warnings machines.changed.new.instance machines.changed.new.ignored machines.changed.new.because machines.changed.new.self
machines.changed.new.instance.provider machines.changed.new.instance.scope machines.changed.new.instance.id machines.changed.new.instance.ref machines.changed.new.instance.name machines.changed.new.instance.path machines.changed.new.instance.state
clusters.new clusters.gone clusters.notSeen clusters.changed clusters.changed.old clusters.changed.new clusters.changed.fields clusters.changed.fields.field clusters.changed.fields.old clusters.changed.fields.new
clusters.changed.old.namespace clusters.changed.old.name clusters.changed.old.status clusters.changed.old.self clusters.changed.new.namespace clusters.changed.new.name clusters.changed.new.status clusters.changed.new.self
scopes.new scopes.gone scopes.notSeen scopes.changed scopes.changed.old scopes.changed.new scopes.changed.fields scopes.changed.fields.field scopes.changed.fields.old scopes.changed.fields.new
scopes.changed.old.provider scopes.changed.old.endpoint scopes.changed.old.location scopes.changed.old.account scopes.changed.old.state
scopes.changed.new.provider scopes.changed.new.endpoint scopes.changed.new.location scopes.changed.new.account scopes.changed.new.state scopes.changed.new.reason
errors.new errors.gone errors.notSeen errors.changed
`

var heading = regexp.MustCompile(`(?m)^(?:### )?([A-Za-z ]+) \((\d+)\)$`)

// sums reads the headings of a text: what it is about and how many.
func sums(text string) map[string]int {
	out := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[2])
		out[strings.ToLower(m[1])] = n
	}
	return out
}

func headings(d *Diff) map[string]int {
	out := map[string]int{}
	for _, l := range d.tallies() {
		for what, n := range map[string]int{"new": l.new, "gone": l.gone, "changed": l.changed, "not seen in the newer": l.unseen} {
			if n > 0 {
				out[strings.ToLower(l.what)+" "+what] = n
			}
		}
	}
	return out
}

func TestTextAndMarkdownCount(t *testing.T) {
	for i, d := range diffs(t) {
		text, markdown := write(t, plain, d), write(t, Markdown, d)
		want := fmt.Sprint(headings(d))
		if got := fmt.Sprint(sums(text)); got != want {
			t.Fatalf("diff %d: the text says %s, want %s", i, got, want)
		}
		if got := fmt.Sprint(sums(markdown)); got != want {
			t.Fatalf("diff %d: the Markdown says %s, want %s", i, got, want)
		}
		if len(markdown) > longest+3000 {
			t.Fatalf("diff %d: the Markdown has %d bytes", i, len(markdown))
		}
		_, lists, _ := strings.Cut(markdown, " Status: ") // behind the answer
		listed := strings.Count(lists, "\n- ")
		for _, m := range regexp.MustCompile(`\n… and (\d+) more`).FindAllStringSubmatch(markdown, -1) {
			n, _ := strconv.Atoi(m[1])
			listed += n
		}
		rows := 0
		for _, n := range headings(d) {
			rows += n
		}
		if listed != rows {
			t.Fatalf("diff %d: the Markdown lists or counts %d of %d", i, listed, rows)
		}
		if !d.Different && (!strings.HasPrefix(text, noDifference) || !strings.Contains(markdown, noDifference)) {
			t.Fatalf("diff %d: an empty diff does not say so:\n%s", i, text)
		}
	}
}

// Outside of code, Markdown holds nothing foreign but plain words, which mean nothing to
// a reader of Markdown.
func TestMarkdownIsTame(t *testing.T) {
	d := compareOK(t, fleet(), reporttest.HostileReport())
	for _, line := range strings.Split(write(t, Markdown, d), "\n") {
		rest := withoutCode(t, line)
		for _, bad := range []string{"script", "onerror", "javascript", "http", "evil", "[", "](", "alert"} {
			if strings.Contains(rest, bad) {
				t.Errorf("%q is outside of code: %s", bad, line)
			}
		}
		if strings.Contains(strings.ReplaceAll(rest, "<br>", ""), "<") {
			t.Errorf("markup is outside of code: %s", line)
		}
	}
}

// withoutCode takes spans of code out, as CommonMark 6.1 finds them.
func withoutCode(t *testing.T, s string) string {
	t.Helper()
	var out strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '`')
		if i < 0 {
			out.WriteString(s)
			break
		}
		out.WriteString(s[:i])
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		rest := s[i+n:]
		end := -1
		for j := 0; j < len(rest); {
			if rest[j] != '`' {
				j++
				continue
			}
			run := len(rest[j:]) - len(strings.TrimLeft(rest[j:], "`"))
			if run == n {
				end = j
				break
			}
			j += run
		}
		if end < 0 {
			t.Fatalf("code is not closed in %s", s)
		}
		s = rest[end+n:]
	}
	return out.String()
}

// One diff as people see it.
func TestTextExample(t *testing.T) {
	aside := machine("old-ghost", "", code.Ghost, vm("3", "vm-3", "old-ghost"))
	kept := aside
	kept.Ignored = &report.Ignored{Reason: "kept for forensics"}
	stale := machine("md-0-a", "u1", code.Stale, nil)
	stale.Reason, stale.Message = "InstanceNotFound", "no VM has its id"
	old := fleet(machine("md-0-a", "u1", code.Healthy, vm("1", "vm-1", "md-0-a")), aside)
	new := fleet(stale, kept, machine("md-0 b", "", code.Ghost, vm("2", "vm-2", "md-0 b")))
	new.Summary.Status, new.Summary.Complete = code.ManualRemediationRequired, false
	new.Scopes[0].State = "partial"
	const want = `Machines: 1 new, 0 gone, 2 changed; Places: 0 new, 0 gone, 1 changed.
Status: Healthy -> ManualRemediationRequired, worse
! The new report is incomplete: not everything could be looked at, so what is
  gone here may still exist.

Old  2026-11-20T09:30:00Z, complete
New  2026-11-20T09:30:00Z, INCOMPLETE

                    old     new
Machines              2       3  +1
Ghost                 1       2  +1
Unknown               0       0  =
Stale                 0       1  +1
Healthy               1       0  -1
VMs to confirm        0       0  =
Ignored               0       0  =
Errors                0       0  =
Backup errors         0       0  =

MACHINES NEW (1)
  ! Ghost   "md-0 b"  in tenant/prod  "/DC0/vm/md-0 b"  id 2  ref vm-2
    in vsphere vc:443

MACHINES CHANGED (2)
  - Stale   md-0-a  in tenant/prod  no VM has its id  status: Healthy -> Stale
    reason: (none) -> InstanceNotFound  VM path: /DC0/vm/md-0-a -> (none)
    VM id: 1 -> (none)
    Ghost   old-ghost  in tenant/prod  (ignored: kept for forensics)
    ignored: (none) -> "kept for forensics"  /DC0/vm/old-ghost  id 3  ref vm-3
    in vsphere vc:443

PLACES CHANGED (1)
  ? partial "vsphere vc:443"  state: complete -> partial
`
	if got := write(t, plain, compareOK(t, old, new)); got != want {
		t.Errorf("wrote\n%s", got)
	}
}

// At any width a row is longer than the terminal only where a single word is.
// Colours say nothing of their own, and nothing foreign reaches the terminal raw.
func TestTextFitsTheTerminal(t *testing.T) {
	colours := regexp.MustCompile("\x1b\\[[0-9]*m")
	for i, d := range diffs(t) {
		for _, width := range []int{40, 80, 132} {
			plain := write(t, func(w io.Writer, d *Diff) error { return Text(w, d, text.Options{Width: width}) }, d)
			colored := write(t, func(w io.Writer, d *Diff) error { return Text(w, d, text.Options{Width: width, Color: true}) }, d)
			if got := colours.ReplaceAllString(colored, ""); got != plain || colored == plain {
				t.Fatalf("diff %d at %d columns: without its colours it reads\n%s\nwant\n%s", i, width, got, plain)
			}
			for row := range strings.Lines(plain) {
				row = strings.TrimSuffix(row, "\n")
				if terminal.Escape(row) != row {
					t.Fatalf("diff %d: raw in %q", i, row)
				}
				if words := strings.Fields(row); utf8.RuneCountInString(row) > width && !strings.Contains(row, `"`) && len(words) > 2 {
					t.Fatalf("diff %d: wider than %d columns: %q", i, width, row)
				}
			}
		}
	}
}
