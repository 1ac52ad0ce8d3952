package store_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/check"
	"drift-detector/infra/store"
	"drift-detector/infra/store/storetest"
)

// erring stores a backup with an error about a volume of another namespace.
func erring(s *storetest.Store, name string, began time.Time) {
	at := "mgmt/backups/" + name + "/"
	s.Put("velero", at+name+".tar.gz", []byte(name))
	s.Put("velero", at+"velero-backup.json", fmt.Appendf(nil, `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":%q},"status":{"phase":"PartiallyFailed","errors":1,"startTimestamp":%q}}`, name, began.UTC().Format(time.RFC3339)))
	for suffix, text := range map[string]string{
		"-results.gz":            `{"errors":{"namespaces":{"logging":[" resource: /persistentvolumeclaims name: /data message: /x"]}}}`,
		"-resource-list.json.gz": `{"cluster.x-k8s.io/v1beta2/Cluster":["a/b"],"v1/Secret":["c/d"]}`,
	} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		s.Put("velero", at+name+suffix, b.Bytes())
	}
}

// TestWhatIsBesideATarballIsRead: of a backup with errors what they are about, from a bucket and
// from a folder; where it is refused, that is said.
func TestWhatIsBesideATarballIsRead(t *testing.T) {
	s := storetest.Start(t, false)
	erring(s, "n1", time.Now())
	p := at(t, "s3://velero/mgmt/backups/n1", options(s))
	one, err := p.Only(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Described(t.Context(), one)
	if err != nil || v.Results == nil || v.Results.Unread != "" || len(v.Results.Faults) != 1 || v.Contents == nil || v.Contents.Objects != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	s.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "-results.gz") {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	}
	if v, err = p.Described(t.Context(), one); err != nil || !strings.Contains(v.Results.Unread, "may not be read") {
		t.Errorf("%+v, %v", v.Results, err)
	}
	dir := t.TempDir()
	if b := store.Beside(t.Context(), dir, "../n1"); b.Results != nil || b.NoResults != "" {
		t.Errorf("%+v", b)
	}
	if err := os.WriteFile(filepath.Join(dir, "n1-results.gz"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b := store.Beside(t.Context(), dir, "n1"); string(b.Results) != "x" {
		t.Errorf("%+v", b)
	}
}

// TestBackupsBesideBackups: those of a folder beside backups/ are found, too; one that may not be
// listed, and Velero's own, cost nothing.
func TestBackupsBesideBackups(t *testing.T) {
	s := storetest.Start(t, false)
	began := time.Now().Add(-time.Hour)
	put(s, "", "n1", began)
	put(s, "mgmt-b/", "n2", began.Add(time.Minute))
	put(s, "kopia/", "n3", began)
	put(s, "secret/", "n4", began)
	s.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Query().Get("prefix"), "secret/") {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	}
	all, err := at(t, "s3://velero", options(s)).Backups(t.Context())
	if err != nil || names(all) != "mgmt-b:n2 :n1" {
		t.Errorf("%s, %v", names(all), err)
	}
}

// TestFoldersBesideBackupsAreBounded: what is beyond the bound is said, and costs no other backup.
func TestFoldersBesideBackupsAreBounded(t *testing.T) {
	s := storetest.Start(t, false)
	began := time.Now().Add(-time.Hour)
	put(s, "", "n1", began)
	for i := range 101 {
		s.Put("velero", fmt.Sprintf("f%03d/x", i), nil)
	}
	p := at(t, "s3://velero", options(s))
	if all, err := p.Backups(t.Context()); err != nil || len(all) != 1 || len(p.Bounds()) != 1 || !strings.Contains(p.Bounds()[0], "has 101 folders beside backups/: backups of others are looked for in 100, the most") {
		t.Errorf("%s, %q, %v", names(all), p.Bounds(), err)
	}
}

// TestDeeperPrefixesAreNotSearched: what to give is said.
func TestDeeperPrefixesAreNotSearched(t *testing.T) {
	s := storetest.Start(t, false)
	s.Put("velero", "prod/eu/mgmt-a/backups/n/velero-backup.json", []byte("{}"))
	_, _, err := at(t, "s3://velero/prod", options(s)).Recent(t.Context(), time.Time{}, nil)
	if err == nil || !strings.Contains(err.Error(), "backups/ is looked for here and one folder deeper: give the bucket, or the prefix that spec.objectStorage.prefix") {
		t.Error(err)
	}
	if all, _, err := at(t, "s3://velero/prod/eu", options(s)).Recent(t.Context(), time.Time{}, nil); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}

// TestAStartThatIsWrong: no backup begins after it was stored, or after it was completed.
func TestAStartThatIsWrong(t *testing.T) {
	s := storetest.Start(t, false)
	erring(s, "right", time.Now())
	erring(s, "future", time.Now().Add(90*24*time.Hour))
	all, left, err := at(t, "s3://velero/mgmt", options(s)).Recent(t.Context(), time.Time{}, nil)
	if err != nil || len(left) != 0 || len(all) != 2 {
		t.Fatal(all, err)
	}
	for _, b := range all {
		if wrong := b.Misdated() != ""; wrong != (b.Name == "future") || b.Started().After(time.Now().Add(time.Minute)) {
			t.Errorf("%s: %q, %s", b.Name, b.Misdated(), b.Started())
		}
	}
}

// A backup whose description says only when its object was made began then; a time that can't be is none.
func TestAStartThatIsNotSaid(t *testing.T) {
	stored := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for made, want := range map[time.Time]time.Time{
		stored.Add(-time.Hour): stored.Add(-time.Hour), stored.AddDate(1, 0, 0): stored, {}: stored, time.Unix(0, 0): stored,
	} {
		s := &store.Stored{Name: "by-hand", Written: stored, Description: &check.Outline{Created: made}}
		if got := s.Started(); !got.Equal(want) || strings.Contains(s.Dated(), "object was made") != (want != stored) {
			t.Errorf("%s: %s, %s", made, got, s.Dated())
		}
	}
}
