package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/infra/live"
	"drift-detector/internal/lab"
)

const (
	tarball  = "../../testdata/fleet-cluster-scoped-data.tar.gz"
	machines = "machines.cluster.x-k8s.io"
	list     = "/apis/cluster.x-k8s.io/v1beta2/machines?"
)

func start(t *testing.T) *lab.Management {
	t.Helper()
	m, err := lab.StartManagement(tarball)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func open(t *testing.T, m *lab.Management, user string) *live.Cluster {
	t.Helper()
	file, err := m.WriteKubeconfigOf(t.TempDir(), user)
	if err != nil {
		t.Fatal(err)
	}
	c, err := live.Open(file, "", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// walk returns the objects of a source by their paths.
func walk(t *testing.T, s archive.Source) (map[string]any, archive.Info, error) {
	t.Helper()
	all := map[string]any{}
	info, err := archive.Walk(context.Background(), s, archive.DefaultBounds, archive.Visitor{
		Want: func(h *archive.Header) (bool, error) { return h.Version == "", nil },
		Visit: func(i *archive.Item) error {
			var o any
			if err := json.Unmarshal(i.Body, &o); err != nil {
				return err
			}
			if all[i.Path()] != nil {
				t.Errorf("%s is there twice", i.Path())
			}
			all[i.Path()] = o
			return nil
		},
		Problem: func(path, reason string) { t.Errorf("%s: %s", path, reason) },
	})
	return all, info, err
}

// The stream has every object of the server, as it is there, and the server's times.
func TestSourceHasAllObjects(t *testing.T) {
	t.Parallel()
	m := start(t)
	*m.Kind("machinedrainrules.cluster.x-k8s.io") = lab.Listed{Group: "cluster.x-k8s.io", Resource: "machinedrainrules", Version: "v1beta2", Kind: "MachineDrainRule", Namespaced: true} // none
	want, _, err := walk(t, archive.Source{Name: tarball, Open: func() (io.ReadCloser, error) { return os.Open(tarball) }})
	if err != nil {
		t.Fatal(err)
	}
	source := open(t, m, "token: "+m.Token).Source(context.Background(), live.Wants{})
	for range 2 { // it can be read again
		got, info, err := walk(t, source)
		if err != nil || len(source.Unread()) > 0 {
			t.Fatal(err, source.Unread())
		}
		if at := m.Now().UTC(); !info.WrittenFrom.Equal(at) || !info.WrittenTo.Equal(at) || info.FormatVersion != "1.1.0" {
			t.Errorf("written from %s to %s, want %s", info.WrittenFrom, info.WrittenTo, at)
		}
		for path, o := range want {
			if left := strings.Contains(path, "/events/"); left == (got[path] != nil) || !left && !reflect.DeepEqual(got[path], o) {
				t.Errorf("%s is %v, want %v", path, got[path], o)
			}
		}
		for path := range got {
			if want[path] == nil && !strings.Contains(path, "customresourcedefinitions") {
				t.Errorf("%s is in no tarball", path)
			}
		}
	}
}

// What a pass does not want is not asked for; of ConfigMaps only those that are named.
func TestSourceAsksForWhatIsWanted(t *testing.T) {
	t.Parallel()
	m := start(t)
	c := open(t, m, "token: "+m.Token)
	wants := live.Wants{
		Resource:   func(id string) bool { return id == machines },
		ConfigMaps: []live.Object{{"kube-system", "extension-apiserver-authentication"}, {"kube-public", "none"}},
	}
	got, _, err := walk(t, c.Source(context.Background(), wants))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 43 {
		t.Errorf("%d objects: %v", len(got), slices.Sorted(maps.Keys(got)))
	}
	for _, path := range m.Asked() {
		if !strings.HasPrefix(path, "/api?") && path != "/api" && path != "/apis" && !strings.HasPrefix(path, list) && !strings.Contains(path, "/customresourcedefinitions?") && !strings.Contains(path, "/configmaps/") {
			t.Errorf("asked for %s", path)
		}
	}
}

// fault is something that the server does to the lists of Machines.
type fault struct {
	name  string
	does  func(m *lab.Management, w http.ResponseWriter, r *http.Request, asked int) bool
	means string // part of why they are unread; empty: they are read all the same
}

func refusal(code int) func(*lab.Management, http.ResponseWriter, *http.Request, int) bool {
	return func(m *lab.Management, w http.ResponseWriter, r *http.Request, _ int) bool {
		lab.Refuse(w, code, "canary-operator-token "+r.URL.RawQuery)
		return true
	}
}

func answer(body string) func(*lab.Management, http.ResponseWriter, *http.Request, int) bool {
	return func(_ *lab.Management, w http.ResponseWriter, _ *http.Request, _ int) bool {
		_, _ = io.WriteString(w, body)
		return true
	}
}

func listOf(items, meta string) string {
	return `{"kind":"MachineList","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{` + meta + `},"items":[` + items + `]}`
}

func machine(name string) string {
	return `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","metadata":{"name":"` + name + `","namespace":"a"}}`
}

var faults = []fault{
	{"forbidden", refusal(403), "may not list it (403)"},
	{"not found", refusal(404), "does not serve it (404)"},
	{"broken", refusal(500), "can't list it (500)"},
	{"busy for ever", refusal(503), "answered 503"},
	{"throttled once", func(_ *lab.Management, w http.ResponseWriter, _ *http.Request, asked int) bool {
		if asked == 0 {
			lab.Refuse(w, 429, "later")
		}
		return asked == 0
	}, ""},
	{"expired once", func(_ *lab.Management, w http.ResponseWriter, r *http.Request, asked int) bool {
		if asked == 1 {
			lab.Refuse(w, 410, r.URL.RawQuery)
		}
		return asked == 1
	}, ""},
	{"expired always", func(_ *lab.Management, w http.ResponseWriter, r *http.Request, _ int) bool {
		next := r.URL.Query().Get("continue") != ""
		if next {
			lab.Refuse(w, 410, r.URL.RawQuery)
		}
		return next
	}, "expire twice"},
	{"cut once", func(_ *lab.Management, w http.ResponseWriter, _ *http.Request, asked int) bool {
		if asked == 0 {
			_, _ = io.WriteString(w, listOf(machine("cut"), "")[:120])
		}
		return asked == 0
	}, ""},
	{"dropped always", func(*lab.Management, http.ResponseWriter, *http.Request, int) bool { panic(http.ErrAbortHandler) }, "broke its answer off"},
	{"cut always", func(_ *lab.Management, w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.Header().Set("Content-Length", "5000")
		_, _ = io.WriteString(w, listOf(machine("cut"), "")[:120])
		return true
	}, "broke its answer off"},
	{"no list", answer(`{"kind":"Status"}`), "no list"},
	{"HTML", answer(`<html>canary-operator-token`), "no list"},
	{"another kind of list", answer(`{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}`), "no list"},
	{"no metadata", answer(`{"kind":"MachineList","apiVersion":"cluster.x-k8s.io/v1beta2","items":[]}`), "no list"},
	{"something behind", answer(listOf("", "") + `{}`), "no list"},
	{"another version", answer(listOf(strings.Replace(machine("x"), "v1beta2", "v1beta1", 1), "")), "another kind or version"},
	{"another kind", answer(listOf(strings.Replace(machine("x"), "Machine", "Pod", 1), "")), "another kind or version"},
	{"a path for a name", answer(listOf(machine("../../x"), "")), "named as none can be"},
	{"no namespace", answer(listOf(`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","metadata":{"name":"x"}}`, "")), "named as none can be"},
	{"fewer than announced", answer(listOf(machine("x"), `"remainingItemCount":5`)), "announced 6 objects"},
	{"the same page again", answer(listOf(machine("x"), `"continue":"canary-operator-token-1"`)), "leads back"},
	{"empty pages for ever", func(_ *lab.Management, w http.ResponseWriter, _ *http.Request, asked int) bool {
		_, _ = io.WriteString(w, listOf("", fmt.Sprintf(`"continue":"canary-operator-token-%d"`, asked)))
		return true
	}, "does not end"},
	{"an object without an end", func(_ *lab.Management, w http.ResponseWriter, r *http.Request, _ int) bool {
		_, err := io.WriteString(w, `{"kind":"MachineList","items":[{"metadata":{"name":"`)
		for err == nil && r.Context().Err() == nil {
			_, err = w.Write(bytes.Repeat([]byte("x"), 1<<20))
		}
		return true
	}, "too long"},
	{"no clock", func(_ *lab.Management, w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.Header()["Date"] = nil
		_, _ = io.WriteString(w, listOf("", ""))
		return true
	}, "what time it is"},
	{"a redirect", func(_ *lab.Management, w http.ResponseWriter, r *http.Request, _ int) bool {
		http.Redirect(w, r, "https://"+r.Host+"/elsewhere", http.StatusFound)
		return true
	}, "answered 302"},
}

// Whatever is wrong with the lists of one kind, all its objects are in the stream or none, it is
// unread then, and the others are there.
func TestFaultsLeaveTheirKindUnread(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			m := start(t)
			asked := 0
			m.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.URL.RequestURI(), list) {
					return false
				}
				asked++
				return f.does(m, w, r, asked-1)
			}
			source := open(t, m, "token: "+m.Token).Source(context.Background(), live.Wants{Resource: func(id string) bool {
				return strings.HasSuffix(id, ".cluster.x-k8s.io")
			}})
			got, _, err := walk(t, source)
			if err != nil {
				t.Fatal(err)
			}
			n, clusters := 0, 0
			for path := range got {
				if strings.Contains(path, "/"+machines+"/") {
					n++
				} else if strings.Contains(path, "/clusters.cluster.x-k8s.io/") {
					clusters++
				}
			}
			why := source.Unread()[machines]
			if strings.Contains(fmt.Sprint(source.Unread()), "canary") {
				t.Errorf("it repeats what the server said: %v", source.Unread())
			}
			switch {
			case clusters != 5:
				t.Errorf("%d clusters", clusters)
			case f.means == "" && (n != 42 || len(source.Unread()) > 0):
				t.Errorf("%d machines, unread %v", n, source.Unread())
			case f.means != "" && (n > 0 || !strings.Contains(why, f.means) || len(source.Unread()) > 1):
				t.Errorf("%d machines, unread as %q, of %d kinds", n, why, len(source.Unread()))
			}
		})
	}
}

// A kind that is defined and not served, or whose group is stale, is not absent; nor is one without
// which there is no Cluster API.
func TestWhatIsNotServedIsUnread(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*lab.Listed){
		"does not serve it": func(k *lab.Listed) { k.Unserved = true },
		"stale":             func(k *lab.Listed) { k.Stale = true },
		"neither serves":    func(k *lab.Listed) { k.Gone = true },
	} {
		m := start(t)
		change(m.Kind(machines))
		source := open(t, m, "token: "+m.Token).Source(context.Background(), live.Wants{})
		if _, _, err := walk(t, source); err != nil || !strings.Contains(source.Unread()[machines], name) || len(source.Unread()) != 1 {
			t.Errorf("%s: %v, unread %v", name, err, source.Unread())
		}
	}
}

// Where all of Cluster API is gone but its providers, the objects that these are of are not absent.
func TestCoreThatIsGone(t *testing.T) {
	t.Parallel()
	m := start(t)
	for _, id := range m.Kinds() {
		if _, group, _ := strings.Cut(id, "."); group == "cluster.x-k8s.io" {
			m.Kind(id).Gone = true
		}
	}
	source := open(t, m, "token: "+m.Token).Source(context.Background(), live.Wants{})
	if _, _, err := walk(t, source); err != nil || source.Unread()[machines] == "" || len(source.Unread()) != 4 {
		t.Errorf("%v, unread %v", err, source.Unread())
	}
}

// Of a stale group of which the server does not know what it has, everything is unread.
func TestGroupThatIsLost(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.Kind("deployments.apps").Lost = true
	source := open(t, m, "token: "+m.Token).Source(context.Background(), live.Wants{})
	if _, _, err := walk(t, source); err != nil || !strings.Contains(source.Unread()["*.apps"], "stale") || len(source.Unread()) != 1 {
		t.Errorf("%v, unread %v", err, source.Unread())
	}
}

// Without the definitions nobody knows what should be served.
func TestUnreadDefinitionsAreUnread(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "customresourcedefinitions") {
			lab.Refuse(w, 403, "no")
			return true
		}
		return false
	}
	source := open(t, m, "token: "+m.Token).Source(context.Background(), live.Wants{Resource: func(id string) bool { return id == machines }})
	if _, _, err := walk(t, source); err != nil || source.Unread()["customresourcedefinitions.apiextensions.k8s.io"] == "" {
		t.Errorf("%v, unread %v", err, source.Unread())
	}
}

// Where a conversion webhook is down, objects are listed as they are stored.
func TestStoredVersionIsListedWhereConversionFails(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.Kind(machines).Stored = "v1beta1"
	m.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.RequestURI(), list) {
			lab.Refuse(w, 500, "conversion webhook for cluster.x-k8s.io/v1beta1, Kind=Machine failed: no endpoints")
			return true
		}
		return false
	}
	source := open(t, m, "token: "+m.Token).Source(context.Background(), live.Wants{Resource: func(id string) bool { return id == machines }})
	got, _, err := walk(t, source)
	if err != nil || len(got) != 42 || len(source.Unread()) > 0 {
		t.Errorf("%d objects, %v, unread %v", len(got), err, source.Unread())
	}
}

// A server that goes away between two pages is not asked for each of the other kinds.
func TestServerThatGoesAway(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.RequestURI(), list) && r.URL.Query().Get("continue") != "" {
			go m.Close()
			panic(http.ErrAbortHandler)
		}
		return false
	}
	source := open(t, m, "token: "+m.Token).Source(context.Background(), live.Wants{})
	begun := time.Now()
	got, _, err := walk(t, source)
	if err != nil || source.Unread()[machines] == "" || source.Unread()["vspherevms.infrastructure.cluster.x-k8s.io"] == "" {
		t.Errorf("%d objects, %v, unread %v", len(got), err, source.Unread())
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

// One that breaks off every list is not asked for each kind: what was not asked for says so.
func TestServerThatBreaksOffEverything(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Count(r.URL.Path, "/") > 2 && !strings.Contains(r.URL.Path, "customresourcedefinitions") {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	source := open(t, m, "token: "+m.Token).Source(context.Background(), live.Wants{})
	begun := time.Now()
	if _, _, err := walk(t, source); err != nil {
		t.Fatal(err)
	}
	asked, unasked := 0, 0
	for _, why := range source.Unread() {
		switch {
		case strings.Contains(why, "broke its answer off"):
			asked++
		case strings.Contains(why, "was not asked for"):
			unasked++
		default:
			t.Errorf("%s", why)
		}
	}
	if took := time.Since(begun); asked < 8 || asked > 12 || unasked < 5 || took > 30*time.Second {
		t.Errorf("%d asked and %d not, in %s", asked, unasked, took)
	}
}

// The time for a pass ends it, and what it cuts off is unread; a kind that does not end leaves the
// others their time.
func TestTimeoutCutsOff(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.RequestURI(), list) {
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		}
		return false
	}
	c := open(t, m, "token: "+m.Token)
	c.Timeout = 30 * time.Second // half of it is enough for the other kinds on a machine that is busy
	source := c.Source(context.Background(), live.Wants{})
	if _, _, err := walk(t, source); err != nil || !strings.Contains(source.Unread()[machines], "s, half of what was left of --timeout") || len(source.Unread()) != 1 {
		t.Errorf("%v, unread %v", err, source.Unread())
	}
}

// An interrupted run ends at once, and is no list.
func TestInterruptedPassIsNoBackup(t *testing.T) {
	t.Parallel()
	m := start(t)
	ctx, cancel := context.WithCancel(context.Background())
	m.Before = func(http.ResponseWriter, *http.Request) bool {
		if len(m.Asked()) > 5 {
			cancel()
		}
		return false
	}
	source := open(t, m, "token: "+m.Token).Source(ctx, live.Wants{})
	_, err := archive.Walk(ctx, source, archive.DefaultBounds, archive.Visitor{Want: func(*archive.Header) (bool, error) { return false, nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A server of which nothing can be known gives no stream.
func TestServerWithoutDiscovery(t *testing.T) {
	t.Parallel()
	for what, body := range map[string]string{
		"Kubernetes 1.27 or newer": `{"kind":"APIGroupList","groups":[]}`,
		"no discovery":             `canary-operator-token`,
	} {
		m := start(t)
		m.Before = func(w http.ResponseWriter, r *http.Request) bool {
			_, _ = io.WriteString(w, body)
			return true
		}
		_, _, err := walk(t, open(t, m, "token: "+m.Token).Source(context.Background(), live.Wants{}))
		var input *backup.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v", err)
		}
	}
}
