package store_test

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/infra/store"
	"drift-detector/infra/store/storetest"
)

// described returns velero-backup.json of a backup that was begun at a time.
func described(name string, began time.Time) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":%q},"status":{"phase":"Completed","startTimestamp":%q}}`, name, began.UTC().Format(time.RFC3339))
}

func put(s *storetest.Store, dir, name string, began time.Time) {
	s.Put("velero", dir+"backups/"+name+"/velero-backup.json", described(name, began))
	s.Put("velero", dir+"backups/"+name+"/"+name+".tar.gz", []byte(name))
}

func copied(t *testing.T, dir, name string, began time.Time) {
	t.Helper()
	at := filepath.Join(dir, "backups", name)
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, body := range map[string][]byte{"velero-backup.json": described(name, began), name + ".tar.gz": []byte(name)} {
		if err := os.WriteFile(filepath.Join(at, file), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func names(all []*store.Stored) string {
	var out []string
	for _, s := range all {
		out = append(out, s.Root+":"+s.Name)
	}
	return strings.Join(out, " ")
}

// TestStoreInAFolderCalledBackups: Velero's prefix may be or begin with "backups", and so
// may the path of a copy.
func TestStoreInAFolderCalledBackups(t *testing.T) {
	s := storetest.Start(t, false)
	began := time.Now().Add(-time.Hour)
	put(s, "backups/mgmt/", "n1", began)
	s.Put("velero", "backups//n1.tar.gz", nil) // Velero writes none such
	s.Put("velero", "backups/mgmt/backups//n1.tar.gz", nil)
	s.Put("velero", "backups/mgmt/backups/n1/deeper/n1.tar.gz", nil)
	for _, address := range []string{"s3://velero", "s3://velero/backups", "s3://velero/backups/mgmt", "s3://velero/backups/mgmt/backups", "s3://velero/backups/mgmt/backups/n1"} {
		all, err := at(t, address, options(s)).Backups(t.Context())
		if err != nil || names(all) != "backups/mgmt:n1" || all[0].Tarball == "" || all[0].Description == nil {
			t.Errorf("%s: %s, %v", address, names(all), err)
		}
		if body, _, err := content(t.Context(), at(t, address, options(s))); err != nil || string(body) != "n1" {
			t.Errorf("%s: %q, %v", address, body, err)
		}
	}
	s = storetest.Start(t, false)
	put(s, "backups/", "n1", began) // the prefix is backups
	put(s, "backups/", "backups", began)
	for _, address := range []string{"s3://velero", "s3://velero/backups", "s3://velero/backups/backups"} {
		all, err := at(t, address, options(s)).Backups(t.Context())
		if err != nil || names(all) != "backups:backups backups:n1" {
			t.Errorf("%s: %s, %v", address, names(all), err)
		}
	}
	dir := filepath.Join(t.TempDir(), "backups")
	copied(t, filepath.Join(dir, "mgmt"), "n1", began)
	for _, place := range []string{dir, dir + "/mgmt", dir + "/mgmt/backups", dir + "/mgmt/backups/n1"} {
		p, err := store.Folder(place)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := p.Backups(t.Context()); err != nil || len(all) != 1 || all[0].Tarball != filepath.Join(dir, "mgmt/backups/n1/n1.tar.gz") {
			t.Errorf("%s: %s, %v", place, names(all), err)
		}
	}
}

// TestYoungerBackupIsFound: whichever tarball was stored first. Velero stores one again
// when its volumes are done, and a copy is stored in any order.
func TestYoungerBackupIsFound(t *testing.T) {
	s := storetest.Start(t, false)
	began := time.Now().Add(-10 * time.Hour)
	put(s, "mgmt/", "n2", began.Add(time.Hour))
	put(s, "mgmt/", "n0", began.Add(-time.Hour))
	put(s, "mgmt/backups/n9/", "other", began.Add(2*time.Hour)) // is in no store of this one's
	time.Sleep(1100 * time.Millisecond)                         // times of S3 are whole seconds
	put(s, "mgmt/", "n1", began)
	dir := t.TempDir()
	copied(t, dir, "n2", began.Add(time.Hour))
	copied(t, dir, "n1", began)
	if err := os.Chtimes(filepath.Join(dir, "backups/n2/n2.tar.gz"), time.Time{}, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	folder, err := store.Folder(dir + "/backups/n1")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*store.Place{at(t, "s3://velero/mgmt/backups/n1", options(s)), folder} {
		than, err := p.Only(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.Younger(t.Context(), than, false)
		if err != nil || len(all) != 1 || all[0].Name != "n2" {
			t.Errorf("%s: %s, %v", p.Name(), names(all), err)
		}
	}
}

// TestListedETagMayLackQuotes: it is the same content.
func TestListedETagMayLackQuotes(t *testing.T) {
	s := inBucket(t)
	s.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("list-type") == "" || r.URL.Query().Get("delimiter") != "" {
			return false
		}
		body := tarball(t)
		fmt.Fprintf(w, "<ListBucketResult><Contents><Key>mgmt-cluster-1/backups/mgmt-full/mgmt-full.tar.gz</Key><ETag>%x</ETag><Size>%d</Size></Contents></ListBucketResult>", md5.Sum(body), len(body))
		return true
	}
	if _, _, err := content(t.Context(), at(t, "s3://velero/mgmt-cluster-1", options(s))); err != nil {
		t.Error(err)
	}
}

// TestNothingOfARedirectIsShown: a server may repeat what was signed.
func TestNothingOfARedirectIsShown(t *testing.T) {
	s := storetest.Start(t, false)
	s.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Location", "https://[elsewhere?"+r.URL.RawQuery)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
	for scheme, address := range map[string]string{"http": s.URL, "HTTP": "HTTP" + strings.TrimPrefix(s.URL, "http")} {
		if !store.IsAddress(address) {
			t.Fatal(scheme, " is no address")
		}
		_, _, err := content(t.Context(), at(t, address+"/velero/x.tar.gz?X-Amz-Signature=c4n4ry", options(s)))
		if err == nil || strings.Contains(err.Error(), "c4n4ry") || !strings.Contains(err.Error(), "sends elsewhere") {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

// TestEndlessListingEnds: a store that always has another page with nothing but folders.
func TestEndlessListingEnds(t *testing.T) {
	s := storetest.Start(t, false)
	page := strings.Repeat("<CommonPrefixes><Prefix>x/</Prefix></CommonPrefixes>", 20_000)
	n := 0
	s.Spoil = func(w http.ResponseWriter, _ *http.Request) bool {
		n++
		fmt.Fprintf(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>%s</ListBucketResult>", n, page)
		return n < 20
	}
	if _, err := at(t, "s3://velero", options(s)).Backups(t.Context()); err == nil || !strings.Contains(err.Error(), "folders") {
		t.Error(err)
	}
}

// TestServerThatBeginsAgain: what was read before is skipped.
func TestServerThatBeginsAgain(t *testing.T) {
	s := inBucket(t)
	want := tarball(t)
	n := 0
	s.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, ".tar.gz") {
			return false
		}
		w.Header().Set("ETag", `"same"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(want)))
		if n++; n == 2 { // the first is a look whether it is there
			_, _ = w.Write(want[:len(want)/2])
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(want)
		return true
	}
	if body, _, err := content(t.Context(), at(t, "s3://velero/mgmt-cluster-1/backups/mgmt-full", options(s))); err != nil || !bytes.Equal(body, want) {
		t.Errorf("%d bytes after %d requests: %v", len(body), n, err)
	}
}
