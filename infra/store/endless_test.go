package store

import (
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
	for name, tt := range map[string]struct {
		store pagesOf
		want  string
	}{
		"nothing":   {body("", text), "a text of more than 4 MiB"},
		"text":      {body(begins, text), "a text of more than 4 MiB"},
		"a token":   {body(begins+"<NextContinuationToken>", strings.Repeat("a", 1<<10)), "a text of more than 4 MiB"},
		"a comment": {body(begins+"<!--", text), "a text of more than 4 MiB"},
		"levels":    {body(begins, "<Contents>"), "more than 100 levels"},
		"elements":  {body(begins, "<Contents/>"), "more than 100000 elements"},
		"long ones": {body(begins, "<a>"+text+"</a>"), "64 MiB"},
		"pages": {func(n int) io.Reader {
			return strings.NewReader(fmt.Sprintf("%s<NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", begins, n+1))
		}, "100 pages in a row hold nothing new"},
	} {
		t.Run(name, func(t *testing.T) {
			keys := &infra.Credential{Username: "AKID", Password: backup.NewSensitive("secret")}
			b, _, err := newBucket(t.Context(), "bucket", Options{Endpoint: "http://127.0.0.1:1", Keys: keys})
			if err != nil {
				t.Fatal(err)
			}
			b.client = &http.Client{Transport: tt.store}
			_, err = b.folders(t.Context(), "")
			var input *backup.InputError
			if !errors.As(err, &input) || !strings.Contains(input.Problem, tt.want) || !strings.Contains(input.Next, "--s3-endpoint") {
				t.Error(err)
			}
		})
	}
}
