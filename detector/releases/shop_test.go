package releases

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/archive"
	"drift-detector/backup/backuptest"
)

// world is the objects of a backup by resource, namespace and name, for tests to change.
type world map[[3]string]Object

// shop reads the lab's backup: a release whose objects several tools changed.
func shop(t testing.TB) world {
	t.Helper()
	source, err := archive.FileSource("testdata/shop-drifted-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	w := world{}
	_, err = archive.Walk(t.Context(), source, archive.DefaultBounds, archive.Visitor{Visit: func(i *archive.Item) error {
		if i.Version == "" && !strings.HasPrefix(i.Resource, "events") {
			o, err := parse(i.Body)
			if err != nil {
				return err
			}
			w[[3]string{i.Resource, string(i.Namespace), string(i.Name)}] = o
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// run collects a world as the command does a backup.
func (w world) run(t testing.TB, o Options) *Result {
	t.Helper()
	return w.collect(t, New(o), nil)
}

// collect writes a world as Velero does, and has the collector read the tarball twice.
func (w world) collect(t testing.TB, c *Collector, scope Scope) *Result {
	t.Helper()
	source, err := archive.FileSource(w.write(t))
	if err != nil {
		t.Fatal(err)
	}
	walk := func(want func(h *archive.Header) bool, visit func(i *archive.Item)) {
		if _, err := archive.Walk(t.Context(), source, archive.DefaultBounds, archive.Visitor{
			Want:  func(h *archive.Header) (bool, error) { return want(h), nil },
			Visit: func(i *archive.Item) error { visit(i); return nil },
		}); err != nil {
			t.Fatal(err)
		}
	}
	walk(func(h *archive.Header) bool { return c.First(h.Resource, string(h.Namespace)) && h.Version == "" },
		func(i *archive.Item) { c.Read(i.Resource, i.Body) })
	c.Plan(scope)
	walk(func(h *archive.Header) bool { return c.Second(h.Resource, h.Version, h.Namespace, h.Name) },
		func(i *archive.Item) { c.See(i.Resource, i.Version, string(i.Namespace), string(i.Name), i.Body) })
	return c.Result()
}

// write makes a backup of the world, and returns its path.
func (w world) write(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	out := tar.NewWriter(z)
	add := func(name string, body []byte) {
		if err := out.WriteHeader(&tar.Header{Name: name, Size: int64(len(body)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	add("metadata/version", []byte("1.1.0\n"))
	for _, k := range slices.SortedFunc(maps.Keys(w), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		body, err := json.Marshal(w[k])
		if err != nil {
			t.Fatal(err)
		}
		scope := "cluster/"
		if k[1] != "" {
			scope = "namespaces/" + k[1] + "/"
		}
		add("resources/"+k[0]+"/"+scope+k[2]+".json", body)
	}
	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	if err := errors.Join(out.Close(), z.Close(), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func (w world) one(t testing.TB) *Release {
	t.Helper()
	r := w.run(t, Options{})
	if len(r.Releases) != 1 {
		t.Fatalf("%d releases", len(r.Releases))
	}
	return r.Releases[0]
}

func (r *Release) object(subject string) *Compared {
	for _, o := range r.Objects {
		if o.Subject() == subject {
			return o
		}
	}
	return &Compared{}
}

// The verdicts of helm-controller's own library on the same backup.
func TestShopAsFluxSeesIt(t *testing.T) {
	var oracle struct {
		Releases []struct {
			Summary []string
			Brief   string
			Extra   []string
			Objects []struct {
				Kind, Namespace, Name, Verdict, Summary string
				Patch                                   []struct {
					Op, Path        string
					Value, OldValue any
					Owners          []struct {
						Manager, Operation, Subresource, Time string
					}
				}
			}
		}
	}
	readJSON(t, "testdata/shop-flux-oracle.json", &oracle)
	r := shop(t).one(t)
	want := oracle.Releases[0]
	for _, o := range want.Objects {
		got := r.object(subject(o.Kind, o.Namespace, o.Name))
		if o.Verdict == "error" {
			if got.Refused == "" || got.Summary != "" {
				t.Errorf("%s: refused %q, summary %q", got.Subject(), got.Refused, got.Summary)
			}
			continue
		}
		if got.Summary != o.Summary {
			t.Errorf("%s/%s: %q, Flux says %q", o.Kind, o.Name, got.Summary, o.Summary)
		}
		if len(got.Patch) != len(o.Patch) {
			t.Errorf("%s: patch %+v, want %+v", got.Subject(), got.Patch, o.Patch)
			continue
		}
		for i, p := range o.Patch {
			g := got.Patch[i]
			if g.Op != p.Op || g.Pointer != p.Path || o.Kind != "Secret" && (!equal(g.Desired, p.Value) || !equal(g.Live, p.OldValue)) {
				t.Errorf("%s: %+v, want %+v", got.Subject(), g, p)
			}
			if len(g.Owners) != len(p.Owners) {
				t.Errorf("%s %s: owners %+v, want %+v", got.Subject(), p.Path, g.Owners, p.Owners)
				continue
			}
			for j, w := range p.Owners {
				at := ""
				if g.Owners[j].Time != nil {
					at = g.Owners[j].Time.Format(time.RFC3339)
				}
				if o := g.Owners[j]; o.Manager != w.Manager || o.Operation != w.Operation || o.Subresource != w.Subresource || at != w.Time {
					t.Errorf("%s %s: owner %+v, want %+v", got.Subject(), p.Path, o, w)
				}
			}
		}
	}
	if !slices.Equal(r.Extra, want.Extra) {
		t.Errorf("extra %q, want %q", r.Extra, want.Extra)
	}
}

// truthEntry is what the lab changed, or what is benign.
type truthEntry struct {
	Class, Kind, Name, Path string
	Declared, Live          any
	Manager, Subresource    string
}

// field returns the path as ours are written: the truth has [name=web] where they have [web].
func (e truthEntry) field() string { return strings.ReplaceAll(e.Path, "[name=", "[") }

// Every entry of the lab's truth is found, and nothing that is benign.
func TestShopTruth(t *testing.T) {
	var truth struct{ Drift, Soft, Benign []truthEntry }
	readJSON(t, "testdata/helm-truth.json", &truth)
	r := shop(t).one(t)
	fields := 0
	for _, e := range append(truth.Drift, truth.Soft...) {
		o := r.object(subject(e.Kind, "shop", e.Name))
		switch {
		case e.Class == "missing" && o.Verdict != Removed:
			t.Errorf("%s %s: %q", e.Kind, e.Name, o.Verdict)
		case e.Class == "extra" && !slices.Contains(r.Extra, subject(e.Kind, "shop", e.Name)):
			t.Errorf("%s is not extra: %q", e.Name, r.Extra)
		case e.Class != "missing" && e.Class != "extra":
			e.found(t, o)
			fields++
		}
	}
	for _, e := range truth.Benign {
		for _, a := range r.object(subject(e.Kind, "shop", e.Name)).Patch {
			if a.Path == e.field() {
				t.Errorf("%s is benign, and found: %+v", e.Path, a)
			}
		}
	}
	if want := "drifted: removed: 1, changed: 5, added: 2"; r.Message != want || r.Reason != Drifted || r.Ready != "False" {
		t.Errorf("%s %s %q, want %q", r.Ready, r.Reason, r.Message, want)
	}
	if fields != 12 {
		t.Errorf("the truth has %d fields", fields)
	}
}

// found reports a field that is not found once, with its values and its manager.
func (e truthEntry) found(t *testing.T, o *Compared) {
	t.Helper()
	var managers []string
	for _, c := range o.Patch {
		if c.Path != e.field() {
			continue
		}
		for _, w := range c.Owners {
			managers = append(managers, w.Manager+"/"+w.Subresource)
		}
		if e.Kind != "Secret" && (!equal(c.Desired, e.Declared) || !equal(c.Live, e.Live)) {
			t.Errorf("%s: %v → %v, want %v → %v", c.Path, c.Desired, c.Live, e.Declared, e.Live)
		}
	}
	for _, a := range o.Added {
		if a.Path == e.field() {
			managers = append(managers, a.Owner.Manager+"/"+a.Owner.Subresource)
		}
	}
	if !slices.Equal(managers, []string{e.Manager + "/" + e.Subresource}) {
		t.Errorf("%s %s %s: managers %q, want %s; have %+v %+v", e.Kind, e.Name, e.Path, managers, e.Manager, o.Patch, o.Added)
	}
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	body, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var newestRecord = [3]string{"secrets", "shop", "sh.helm.release.v1.shop.v2"}

// edit changes what Helm's newest record says.
func (w world) edit(t testing.TB, change func(release Object)) {
	t.Helper()
	backuptest.EditRelease(t, w[newestRecord], change)
}

// A pass that notes what is there, and a second one that ends as soon as nothing is left
// to compare, find the same reasons; and if all that has Helm's annotations was kept in the
// first, less is left for the second.
func TestLeft(t *testing.T) {
	for _, room := range []int{0, maxMet} {
		testLeft(t, room)
	}
}

func testLeft(t *testing.T, room int) {
	lost := shop(t)
	delete(lost, [3]string{"deployments.apps", "shop", "shop-web"})
	for name, w := range map[string]world{"shop": shop(t), "in sync": repaired(t), "lost": lost} {
		whole := w.run(t, Options{})
		c := New(Options{})
		c.room = room
		annotated := 0
		bodies := map[[3]string][]byte{}
		for k, o := range w {
			body, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			bodies[k] = body
			for _, version := range []string{"", "v1"} {
				if c.Note(k[0], version, []byte(k[1]), []byte(k[2])) {
					c.Meet(k[0], []byte(k[1]), []byte(k[2]), body)
				}
			}
			if bytes.Contains(body, []byte(releaseAnnotation)) {
				annotated++
			}
		}
		if met := len(c.met); room > 0 && (met != annotated || met == 0) || room == 0 && met > 0 {
			t.Errorf("%s: kept %d of %d objects with Helm's annotations in %d bytes", name, met, annotated, room)
		}
		c.Plan(nil)
		if room > 0 && c.Left() > len(bodies)-annotated {
			t.Errorf("%s: %d of %d objects are left for the second pass, %d have Helm's annotations", name, c.Left(), len(bodies), annotated)
		}
		for k, body := range bodies {
			if c.Left() == 0 {
				break
			}
			if c.Names(k[0], []byte(k[1]), []byte(k[2])) {
				c.See(k[0], "", k[1], k[2], body)
			}
		}
		found := c.Result()
		if c.Left() != 0 || len(found.Releases) != len(whole.Releases) {
			t.Fatalf("%s: %d objects are left, %d releases", name, c.Left(), len(found.Releases))
		}
		for i, r := range found.Releases {
			if want := whole.Releases[i]; r.Reason != want.Reason || r.Stalled != want.Stalled || r.Counts.Removed != want.Counts.Removed {
				t.Errorf("%s: %s, %v, want %s, %v", name, r.Reason, r.Counts, want.Reason, want.Counts)
			}
		}
	}
}
