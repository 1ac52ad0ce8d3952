package store_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"drift-detector/infra/store"
	"drift-detector/infra/store/storetest"
)

// peak returns the most that the heap grew while f ran, in MiB.
func peak(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // .ci/run sets more
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	end, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			case <-time.After(20 * time.Millisecond):
			}
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}()
	f()
	close(end)
	<-ended
	return int64(most-before) >> 20
}

// heavy is a description of 3.5 MiB, of lists that mean nothing to a list of backups.
var heavy = `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":%q},"spec":{"includedNamespaces":["ns"` + strings.Repeat(`,"ns0000001"`, 280_000) +
	`]},"status":{"phase":"Completed","startTimestamp":"2026-11-21T04:00:00Z"}}`

// TestManyLargeDescriptions: what is kept of the backups of a place is bounded as a whole:
// in a bucket, in a folder, and where a younger one is looked for.
func TestManyLargeDescriptions(t *testing.T) {
	const backups = 60
	s, dir := storetest.Start(t, false), t.TempDir()
	for i := range backups {
		name := fmt.Sprint("b", i)
		s.Put("velero", "backups/"+name+"/"+name+".tar.gz", []byte("x"))
		s.Put("velero", "backups/"+name+"/velero-backup.json", nil)
		at := filepath.Join(dir, "backups", name)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "velero-backup.json"), fmt.Appendf(nil, heavy, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
		name, isOne := strings.CutSuffix(r.URL.Path, "/velero-backup.json")
		if isOne {
			fmt.Fprintf(w, heavy, filepath.Base(name))
		}
		return isOne
	}
	folder, err := store.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]func() ([]*store.Stored, error){
		"bucket": func() ([]*store.Stored, error) { return at(t, "s3://velero", options(s)).Backups(t.Context()) },
		"folder": func() ([]*store.Stored, error) { return folder.Backups(t.Context()) },
		"younger": func() ([]*store.Stored, error) {
			p := at(t, "s3://velero/backups/b0", options(s))
			one, err := p.Only(t.Context())
			if err != nil {
				return nil, err
			}
			one.Description.Started = one.Description.Started.Add(-time.Hour)
			all, err := p.Younger(t.Context(), one, false)
			return append(all, one), err
		},
	} {
		var all []*store.Stored
		var err error
		grown := peak(func() { all, err = list() })
		if err != nil || len(all) != backups {
			t.Fatalf("%s: %d, %v", name, len(all), err)
		}
		for _, b := range all {
			if b.Problem != nil || b.Description == nil || b.Description.Phase != "Completed" {
				t.Fatalf("%s: %+v", name, b)
			}
		}
		if grown > 160 { // eight at a time
			t.Errorf("%s: %d descriptions took %d MiB", name, backups, grown)
		}
	}
	// The filters of one are read when it is decided: there are too many of them.
	p := at(t, "s3://velero/backups/b0", options(s))
	one, err := p.Only(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v, err := p.Described(t.Context(), one); v != nil || err == nil || !strings.Contains(err.Error(), "more than 10000 entries") {
		t.Error(v, err)
	}
}

// TestProblemsOfAPlaceAreBounded: the error of each backup is short, and holds nothing of
// an answer.
func TestProblemsOfAPlaceAreBounded(t *testing.T) {
	const backups = 400
	for name, answer := range map[string]string{
		"a number": `{"status":{"errors":` + strings.Repeat("1", 1<<18) + "}}",
		"a date":   `{"status":{"expiration":"` + strings.Repeat("1", 1<<18) + `"}}`,
		"a name":   `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"` + strings.Repeat("n", 1<<18) + `"}}`,
		"a header": "",
	} {
		s := storetest.Start(t, false)
		for i := range backups {
			s.Put("velero", fmt.Sprintf("backups/b%d/velero-backup.json", i), nil)
		}
		s.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/velero-backup.json") {
				return false
			}
			if answer == "" {
				w.Header().Set("X-Amz-Bucket-Region", strings.Repeat("x", 60<<10))
				w.WriteHeader(http.StatusForbidden)
			}
			fmt.Fprint(w, answer)
			return true
		}
		all, err := at(t, "s3://velero", options(s)).Backups(t.Context())
		if err != nil || len(all) != backups {
			t.Fatalf("%s: %d, %v", name, len(all), err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for _, b := range all {
			if b.Problem == nil || len(b.Problem.Error()) > 1000 {
				t.Fatalf("%s: %.2000v", name, b.Problem)
			}
		}
		runtime.KeepAlive(all)
		all = nil
		runtime.GC()
		runtime.ReadMemStats(&after)
		if held := (int64(before.HeapAlloc) - int64(after.HeapAlloc)) >> 20; held > 2 {
			t.Errorf("%s: %d MiB are kept of %d backups", name, held, backups)
		}
	}
}
