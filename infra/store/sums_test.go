package store

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
)

// answers is a store that answers each question as a function does.
type answers func(*http.Request) io.Reader

func (a answers) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(a(req)), Request: req}, nil
}

// placeOf returns the place s3://bucket of a store.
func placeOf(t *testing.T, store http.RoundTripper) *Place {
	t.Helper()
	keys := &infra.Credential{Username: "AKID", Password: backup.NewSensitive("secret")}
	b, _, err := newBucket(t.Context(), "bucket", Options{Endpoint: "http://127.0.0.1:1", Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	b.client = &http.Client{Transport: store}
	return &Place{objects: b, path: "backups"}
}

// Of the descriptions of a place little is kept, however much each of them says: 400 of 3.5
// MiB took 6.3 GB.
func TestDescriptionsOfAPlaceAreBoundedTogether(t *testing.T) {
	const backups = 60
	namespaces := strings.Repeat(`"namespace-1",`, 3_500_000/14)
	var keys strings.Builder
	for n := range backups {
		fmt.Fprintf(&keys, "<Contents><Key>backups/b%d/velero-backup.json</Key><Size>9</Size></Contents><Contents><Key>backups/b%d/b%d.tar.gz</Key><Size>9</Size></Contents>", n, n, n)
	}
	p := placeOf(t, answers(func(req *http.Request) io.Reader {
		name, isDescription := strings.CutSuffix(strings.TrimPrefix(req.URL.Path, "/bucket/backups/"), "/velero-backup.json")
		if !isDescription {
			return strings.NewReader("<ListBucketResult>" + keys.String() + "</ListBucketResult>")
		}
		return io.MultiReader(strings.NewReader(`{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"`+name+`"},"spec":{"includedNamespaces":[`),
			strings.NewReader(namespaces), strings.NewReader(`"last"]},"status":{"phase":"Completed","startTimestamp":"2026-11-20T04:00:00Z"}}`))
	}))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	all, err := p.Backups(t.Context())
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil || len(all) != backups {
		t.Fatalf("%d backups, %v", len(all), err)
	}
	for _, s := range all {
		if s.Problem != nil || s.Description == nil || s.Description.Phase != "Completed" {
			t.Fatalf("%s: %+v, %v", s.Name, s.Description, s.Problem)
		}
	}
	if kept := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20; kept > 8 {
		t.Errorf("%d MiB are kept of %d descriptions", kept, backups)
	}
	runtime.KeepAlive(all)
}

// A listing whose pages come slowly, each within its time and with something new, ends after
// 10 minutes all the same.
func TestAListingHasATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		p := placeOf(t, answers(func(*http.Request) io.Reader {
			time.Sleep(30 * time.Second)
			n++
			return strings.NewReader(fmt.Sprintf("<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken><Contents><Key>backups/a/%d</Key><Size>1</Size></Contents></ListBucketResult>", n, n))
		}))
		began := time.Now()
		_, err := p.Backups(t.Context())
		var input *backup.InputError
		if !errors.As(err, &input) || !strings.Contains(input.Problem, "it took more than 10m") || !strings.Contains(input.Next, "--deadline") {
			t.Error(err)
		}
		if took := time.Since(began); took > listTime+time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}
