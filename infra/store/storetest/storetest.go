// Package storetest is an object store for tests: the part of S3 that reading backups
// needs, over HTTP, as the Amazon S3 API reference describes it. It verifies signatures,
// counts calls, and spoils answers on demand.
package storetest

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// KeyID and Secret are the credential that the store knows.
const (
	KeyID  = "AKIAIOSFODNN7EXAMPLE"
	Secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
)

// Store is a running store.
type Store struct {
	// Now is the clock of the store, where it is not nil.
	Now func() time.Time

	*httptest.Server
	Region string // of all buckets; empty accepts each
	Page   int    // most keys in an answer; 1000 if zero
	// Spoil may answer in the store's stead: it reports whether it did.
	Spoil        func(w http.ResponseWriter, r *http.Request) bool
	IgnoresMatch bool // If-Match, as some stores do
	// CutAfter is how many bytes of a body are sent before the connection is cut; 0 is all.
	CutAfter int

	mu      sync.Mutex
	buckets map[string]map[string]*object
	calls   []string
}

type object struct {
	body []byte
	etag string
	at   time.Time
}

// Start runs a store on loopback until the test ends.
func Start(t testing.TB, tls bool) *Store {
	t.Helper()
	s := &Store{buckets: map[string]map[string]*object{}}
	if tls {
		s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	} else {
		s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	}
	t.Cleanup(s.Close)
	return s
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Put stores an object.
func (s *Store) Put(bucket, key string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buckets[bucket] == nil {
		s.buckets[bucket] = map[string]*object{}
	}
	s.buckets[bucket][key] = &object{body, fmt.Sprintf(`"%x"`, md5.Sum(body)), s.now().UTC()}
}

// Dated says when the objects that are there were stored.
func (s *Store) Dated(at func(key string) time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, objects := range s.buckets {
		for key, o := range objects {
			o.at = at(key).UTC()
		}
	}
}

// PutFolder stores the files of a folder below a prefix.
func (s *Store) PutFolder(t testing.TB, bucket, prefix, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		s.Put(bucket, prefix+filepath.ToSlash(rel), body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Calls returns the calls since the last time it was asked: "GET key", "LIST prefix".
func (s *Store) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>text of a server</Message></Error>`, code)
}

func (s *Store) serve(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	what := "GET " + key
	if key == "" {
		what = "LIST " + r.URL.Query().Get("prefix")
	}
	s.calls = append(s.calls, what)
	objects := s.buckets[bucket]
	o := objects[key]
	s.mu.Unlock()
	if s.Spoil != nil && s.Spoil(w, r) {
		return
	}
	region, err := verify(r)
	switch {
	case err != "":
		refuse(w, http.StatusForbidden, err)
	case s.Region != "" && region != s.Region && region != "":
		w.Header().Set("X-Amz-Bucket-Region", s.Region)
		refuse(w, http.StatusMovedPermanently, "PermanentRedirect")
	case objects == nil:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case key == "":
		s.list(w, r, objects)
	case o == nil:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	default:
		s.send(w, r, o)
	}
}

func (s *Store) send(w http.ResponseWriter, r *http.Request, o *object) {
	if m := r.Header.Get("If-Match"); m != "" && m != o.etag && !s.IgnoresMatch {
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	w.Header().Set("ETag", o.etag)
	w.Header().Set("Last-Modified", o.at.Format(http.TimeFormat))
	body, status := o.body, http.StatusOK
	if from, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		at, err := strconv.Atoi(strings.TrimSuffix(from, "-"))
		if err != nil || at >= len(body) {
			refuse(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
			return
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, len(body)-1, len(body)))
		body, status = body[at:], http.StatusPartialContent
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if s.CutAfter > 0 && len(body) > s.CutAfter {
		_, _ = w.Write(body[:s.CutAfter])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

func (s *Store) list(w http.ResponseWriter, r *http.Request, objects map[string]*object) {
	q := r.URL.Query()
	prefix, delimiter, after := q.Get("prefix"), q.Get("delimiter"), q.Get("continuation-token")
	most := s.Page
	if most == 0 {
		most = 1000
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range objects {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	type content struct {
		Key, ETag, LastModified string
		Size                    int
	}
	type folder struct{ Prefix string }
	answer := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string    `xml:",omitempty"`
		Contents              []content `xml:"Contents"`
		CommonPrefixes        []folder  `xml:"CommonPrefixes"`
	}{}
	last := ""
	for _, key := range keys {
		name := key
		if delimiter != "" {
			if at := strings.Index(key[len(prefix):], delimiter); at >= 0 {
				name = key[:len(prefix)+at+1]
			}
		}
		if name <= after || name == last {
			continue
		}
		if len(answer.Contents)+len(answer.CommonPrefixes) == most {
			answer.IsTruncated, answer.NextContinuationToken = true, last
			break
		}
		last = name
		if o := objects[key]; name == key {
			answer.Contents = append(answer.Contents, content{url.QueryEscape(key), o.etag, o.at.Format(time.RFC3339), len(o.body)})
		} else {
			answer.CommonPrefixes = append(answer.CommonPrefixes, folder{url.QueryEscape(name)})
		}
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

// verify checks a signature of version 4 by the text of its specification ("Create a
// signed AWS API request"). A query that is signed is taken as it is, unless it says
// another key. It returns the region, or the code of what is wrong.
func verify(r *http.Request) (region, code string) {
	if r.URL.Query().Get("X-Amz-Signature") != "" {
		if !strings.HasPrefix(r.URL.Query().Get("X-Amz-Credential"), KeyID) {
			return "", "InvalidAccessKeyId"
		}
		return "", ""
	}
	parts := map[string]string{}
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return "", "AccessDenied"
	}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[name] = value
	}
	scope := strings.Split(parts["Credential"], "/") // key, day, region, service, aws4_request
	if len(scope) != 5 || scope[0] != KeyID {
		return "", "InvalidAccessKeyId"
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(parts["SignedHeaders"], ";") {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.TrimSpace(value))
	}
	path, query, _ := strings.Cut(r.RequestURI, "?")
	pairs := strings.Split(strings.ReplaceAll(query, "+", "%20"), "&")
	slices.Sort(pairs)
	canonical := strings.Join([]string{r.Method, path, strings.Join(pairs, "&"), headers.String(), parts["SignedHeaders"], r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"), fmt.Sprintf("%x", sha256.Sum256([]byte(canonical)))}, "\n")
	key := []byte("AWS4" + Secret)
	for _, part := range append(scope[1:], toSign) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	if hex.EncodeToString(key) != parts["Signature"] {
		return "", "SignatureDoesNotMatch"
	}
	return scope[2], ""
}
