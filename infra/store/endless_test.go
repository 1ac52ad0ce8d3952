package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
)

// pagesOf is a store that answers each question with another page.
type pagesOf func(n int) io.Reader

func (p pagesOf) RoundTrip(req *http.Request) (*http.Response, error) {
	n := 0
	_, _ = fmt.Sscan(req.URL.Query().Get("continuation-token"), &n)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(p(n)), Request: req}, nil
}

// endless repeats a text.
type endless string

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

// TestAListingWithoutAnEndSaysSo: a page of any length, and any number of pages, is given
// up at a bound, and the error says which, and what to do.
func TestAListingWithoutAnEndSaysSo(t *testing.T) {
	const begins = "<ListBucketResult><IsTruncated>true</IsTruncated>"
	text := strings.Repeat(" ", 1<<10)
	body := func(before, again string) pagesOf {
		return func(int) io.Reader { return io.MultiReader(strings.NewReader(before), endless(again)) }
	}
	pages := func(key func(n int) string) pagesOf {
		return func(n int) io.Reader {
			held := key(n)
			if held != "" {
				held = "<CommonPrefixes><Prefix>" + held + "/</Prefix></CommonPrefixes>"
			}
			return strings.NewReader(fmt.Sprintf("%s%s<NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", begins, held, n+1))
		}
	}
	for name, tt := range map[string]struct {
		store pagesOf
		want  string
	}{
		"nothing":              {body("", text), "a text of more than 4 MiB"},
		"text":                 {body(begins, text), "a text of more than 4 MiB"},
		"a token":              {body(begins+"<NextContinuationToken>", strings.Repeat("a", 1<<10)), "a text of more than 4 MiB"},
		"a comment":            {body(begins+"<!--", text), "a text of more than 4 MiB"},
		"levels":               {body(begins, "<Contents>"), "more than 100 levels"},
		"elements":             {body(begins, "<Contents/>"), "more than 100000 elements"},
		"long ones":            {body(begins, "<a>"+text+"</a>"), "64 MiB"},
		"pages":                {pages(func(n int) string { return fmt.Sprint("k", n) }), "100000 pages"},
		"pages without keys":   {pages(func(int) string { return "" }), "100 pages in a row hold nothing new"},
		"one page":             {pages(func(int) string { return "k" }), "100 pages in a row hold nothing new"},
		"two pages":            {pages(func(n int) string { return fmt.Sprint("k", n%2) }), "100 pages in a row hold nothing new"},
		"at last without keys": {pages(func(n int) string { return fmt.Sprint("k", min(n, 500)) }), "100 pages in a row hold nothing new"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bucketOf(t, tt.store).folders(t.Context(), "")
			var input *backup.InputError
			if !errors.As(err, &input) || !strings.Contains(input.Problem, tt.want) || !strings.Contains(input.Next, "--s3-endpoint") {
				t.Error(err)
			}
		})
	}
}

// TestAListingMayHaveEmptyPages: a store that filters answers with them, and says where it
// goes on.
func TestAListingMayHaveEmptyPages(t *testing.T) {
	b := bucketOf(t, pagesOf(func(n int) io.Reader {
		const page = "<ListBucketResult><IsTruncated>%v</IsTruncated><NextContinuationToken>%d</NextContinuationToken>%s</ListBucketResult>"
		held := ""
		if n%100 == 99 {
			held = fmt.Sprintf("<CommonPrefixes><Prefix>%d/</Prefix></CommonPrefixes>", n)
		}
		return strings.NewReader(fmt.Sprintf(page, n < 499, n+1, held))
	}))
	if all, err := b.folders(t.Context(), ""); err != nil || len(all) != 5 {
		t.Error(all, err)
	}
}

// TestTextsOfAListingAreBounded: S3 has no longer keys, and a token goes into an address.
func TestTextsOfAListingAreBounded(t *testing.T) {
	const fits, most = 1024, 16 << 10
	text := func(n int) string { return strings.Repeat("x", n) }
	for name, tt := range map[string]struct{ page, want string }{
		"a key":         {"<Contents><Key>" + text(fits) + "</Key><ETag>" + text(fits) + "</ETag></Contents>", ""},
		"a longer key":  {"<Contents><Key>" + text(fits+1) + "</Key></Contents>", "more than 1024 bytes"},
		"a longer ETag": {"<Contents><Key>a</Key><ETag>" + text(fits+1) + "</ETag></Contents>", "more than 1024 bytes"},
		"a token":       {"<IsTruncated>true</IsTruncated><NextContinuationToken>" + text(most+1) + "</NextContinuationToken>", "more than 16384 bytes"},
	} {
		b := bucketOf(t, pagesOf(func(int) io.Reader { return strings.NewReader("<ListBucketResult>" + tt.page + "</ListBucketResult>") }))
		err := b.each(t.Context(), "", func(object) error { return nil })
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func bucketOf(t *testing.T, store http.RoundTripper) *bucket {
	t.Helper()
	keys := &infra.Credential{Username: "AKID", Password: backup.NewSensitive("secret")}
	b, _, err := newBucket(t.Context(), "bucket", Options{Endpoint: "http://127.0.0.1:1", Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	b.client = &http.Client{Transport: store}
	return b
}

// crowded is a bucket with many folders in which backups/ is, of many objects each.
type crowded struct {
	*bucket
	objects int
	key     func(n int) string
}

func (c crowded) folders(_ context.Context, prefix string) ([]string, error) {
	if prefix != "" {
		return []string{folder}, nil
	}
	names := make([]string, maxRoots)
	for i := range names {
		names[i] = fmt.Sprint("r", i)
	}
	return names, nil
}

func (c crowded) each(_ context.Context, _ string, found func(object) error) error {
	for n := range c.objects {
		if err := found(object{key: c.key(n)}); err != nil {
			return err
		}
	}
	return nil
}

// TestObjectsOfAPlaceAreCountedTogether: backups/ may be in a hundred folders of it.
func TestObjectsOfAPlaceAreCountedTogether(t *testing.T) {
	of, key := bucketOf(t, nil), func(int) string { return "x" }
	if all, err := (&Place{objects: crowded{of, maxObjects / maxRoots, key}}).list(t.Context()); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	if _, err := (&Place{objects: crowded{of, maxObjects/maxRoots + 1, key}}).list(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 5000000 objects") {
		t.Error(err)
	}
}

// TestBackupsOfAPlaceAreCounted: one more than is allowed is too many.
func TestBackupsOfAPlaceAreCounted(t *testing.T) {
	key := func(n int) string { return fmt.Sprintf("backups/n%d/velero-backup.json", n) }
	of := bucketOf(t, nil)
	if all, err := (&Place{objects: crowded{of, 20_000, key}, path: folder}).list(t.Context()); err != nil || len(all) != 20_000 {
		t.Error(len(all), err)
	}
	if _, err := (&Place{objects: crowded{of, 20_001, key}, path: folder}).list(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 20000 backups") {
		t.Error(err)
	}
}
