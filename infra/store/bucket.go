package store

import (
	"context"
	"crypto/md5" // what S3 asks for as a check of a customer's key
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/lazyregexp"
)

// bucket is a bucket of S3. Two calls are all that is needed of its API, ListObjectsV2
// and GetObject, and the SDK's client of it is 5 MB: here is the SDK's configuration,
// credentials and signature (Amazon S3 API reference, 2006-03-01).
type bucket struct {
	bucket      string
	endpoint    *url.URL // nil is AWS
	keys        aws.CredentialsProvider
	signer      *v4.Signer
	client      *http.Client
	customerKey backup.Sensitive
	logins      *infra.Logins
	taken       atomic.Bool // the store has taken the key
	outage      outage

	mu     sync.Mutex
	region string
	moved  bool // the region is where AWS says that the bucket is
}

var (
	bucketForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]+$`)
	regionForm = lazyregexp.New(`^[a-z0-9-]{2,32}$`)
)

const (
	maxPage    = 64 << 20 // bytes of one page of a listing
	maxPages   = 100_000  // of a listing; a store may answer with fewer than 1,000 keys
	maxName    = 255      // bytes of the name of a bucket; in the expression they would cost each run 0.3 MB
	maxKey     = 1024     // bytes of a key, as S3 has it (Amazon S3 user guide, object keys)
	maxToken   = 16 << 10 // bytes of what leads to the next page; it goes into an address
	maxFolders = 100_000
	// emptyHash is the SHA-256 of no body.
	emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

func (b *bucket) name(key string) string {
	return strings.TrimSuffix("s3://"+b.bucket+"/"+key, "/")
}

// where says which store it is, unless it is AWS's.
func (b *bucket) where() string {
	if b.endpoint == nil {
		return ""
	}
	return " at " + b.endpoint.Scheme + "://" + b.endpoint.Host
}

// server returns the URL of the store, without the bucket's path.
func (b *bucket) server(region string) string {
	u := b.base(region)
	return u.Scheme + "://" + u.Host
}

// page is an answer of ListObjectsV2.
type page struct {
	XMLName     xml.Name `xml:"ListBucketResult"`
	IsTruncated bool
	Next        string `xml:"NextContinuationToken"`
	Contents    []struct {
		Key, ETag    string
		Size         int64
		LastModified time.Time
	}
	CommonPrefixes []struct{ Prefix string }
}

func (b *bucket) each(ctx context.Context, prefix string, found func(object) error) error {
	return b.pages(ctx, prefix, "", func(p *page) error {
		for _, c := range p.Contents {
			key, err := listed(c.Key, c.ETag)
			if err != nil {
				return b.explain(ctx, listing, prefix, err)
			}
			if err := found(object{key, c.Size, c.ETag, c.LastModified.UTC()}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bucket) folders(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	err := b.pages(ctx, prefix, "/", func(p *page) error {
		for _, c := range p.CommonPrefixes {
			key, err := listed(c.Prefix, "")
			if err != nil {
				return b.explain(ctx, listing, prefix, err)
			}
			if len(names) == maxFolders {
				return beyond(b.name(prefix), maxFolders, "folders", "give the place as far as backups/")
			}
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(key, prefix), "/"))
		}
		return nil
	})
	return names, err
}

// listed returns a key of a page, whose ETag is kept with it.
func listed(escaped, etag string) (string, error) {
	key, err := url.QueryUnescape(escaped)
	switch {
	case err != nil:
		return "", errForeign
	case len(key) > maxKey, len(etag) > maxKey:
		return "", &lieError{fmt.Sprintf("its listing has a key or an ETag of more than %d bytes", maxKey)}
	}
	return key, nil
}

// sum names the keys of a page.
func (p *page) sum() [sha256.Size]byte {
	h := sha256.New()
	for _, c := range p.Contents {
		_, _ = io.WriteString(h, c.Key+"\n")
	}
	for _, c := range p.CommonPrefixes {
		_, _ = io.WriteString(h, c.Prefix+"\n")
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// pages asks for one page of keys after the other. Each has the time of an answer, however
// often it is asked for.
func (b *bucket) pages(ctx context.Context, prefix, delimiter string, take func(*page) error) error {
	query := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "max-keys": {"1000"}, "prefix": {prefix}}
	if delimiter != "" {
		query.Set("delimiter", delimiter)
	}
	seen := map[[sha256.Size]byte]bool{} // of pages, and of tokens, which may be long
	var quiet infra.Quiet
	for n := 1; ; n++ {
		var p page
		err := inTime(ctx, func(ctx context.Context) error {
			return infra.Patient.Do(ctx, func() error {
				res, err := b.do(ctx, "", query, nil)
				if err != nil {
					return err
				}
				defer res.Body.Close()
				p = page{}
				return p.read(res.Body)
			})
		})
		if err != nil {
			return b.explain(ctx, listing, prefix, err)
		}
		if err := take(&p); err != nil {
			return err
		}
		if !p.IsTruncated {
			return ctx.Err()
		}
		sum := p.sum()
		lost := quiet.Page(!seen[sum])
		next := sha256.Sum256([]byte(p.Next))
		switch {
		case p.Next == "", seen[next]:
			return b.explain(ctx, listing, prefix, errForeign)
		case len(p.Next) > maxToken:
			return b.explain(ctx, listing, prefix, &lieError{fmt.Sprintf("what leads to the next page of its listing has more than %d bytes", maxToken)})
		case lost != nil:
			return b.explain(ctx, listing, prefix, &endlessError{lost.Error()})
		case n == maxPages:
			return b.explain(ctx, listing, prefix, &endlessError{fmt.Sprintf("there are more than %d pages of it", maxPages)})
		}
		seen[sum], seen[next] = true, true
		query.Set("continuation-token", p.Next)
	}
}

// answerBounds leave room for a hundred elements of each key of a page.
var answerBounds = infra.Bounds{Items: 100_000}

// read takes a page out of an answer. What an answer lacks at its end may be there when it
// is asked for again.
func (p *page) read(body io.Reader) error {
	in := &io.LimitedReader{R: body, N: maxPage}
	err := xml.NewDecoder(answerBounds.XML(io.NopCloser(in))).Decode(p)
	var beyond *infra.BoundError
	var syntax *xml.SyntaxError
	var other xml.UnmarshalError
	switch {
	case errors.As(err, &beyond):
		return fmt.Errorf("%w: %w", errForeign, beyond)
	case err != nil && in.N == 0:
		return &endlessError{fmt.Sprintf("a page of it has more than %d MiB", maxPage>>20)}
	case errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		return io.ErrUnexpectedEOF
	case errors.As(err, &syntax), errors.As(err, &other), err == io.EOF && in.N < maxPage:
		return errForeign
	}
	return err
}

func (b *bucket) source(ctx context.Context, key, etag string) backup.Source {
	pinned := &pin{etag: etagOf(etag)}
	return backup.Source{Name: b.name(key), Open: func() (io.ReadCloser, error) {
		return open(ctx, pinned, transferred{
			get:     func(ctx context.Context, h http.Header) (*http.Response, error) { return b.do(ctx, key, nil, h) },
			explain: func(err error) error { return b.explain(ctx, reading, key, err) },
		})
	}}
}

func (b *bucket) small(ctx context.Context, key string, limit int64) ([]byte, error) {
	return small(ctx, b, key, limit)
}

// do sends one request for a key, or for the bucket where it is empty. A bucket of
// another region is asked there. An answer that is none of success is an error.
func (b *bucket) do(ctx context.Context, key string, query url.Values, header http.Header) (*http.Response, error) {
	if b.taken.Load() || b.logins == nil {
		return b.ask(ctx, key, query, header)
	}
	keys, err := b.keys.Retrieve(ctx)
	if err != nil {
		return nil, &keyError{err}
	}
	turn, err := b.logins.Enter(ctx, infra.Server{Address: b.base(b.at()).Host}, keys.AccessKeyID, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	if turn.Left() == 0 {
		return nil, infra.ErrLockout
	}
	res, err := b.ask(ctx, key, query, header)
	var r *refusal
	switch isRefusal := errors.As(err, &r); {
	case isRefusal && r.wrongKey():
		turn.Try()
	case err == nil, isRefusal && !infra.PassingStatus(r.status):
		b.taken.Store(true)
	}
	return res, err
}

func (b *bucket) ask(ctx context.Context, key string, query url.Values, header http.Header) (*http.Response, error) {
	for {
		region := b.at()
		req, err := b.request(ctx, region, key, query, header)
		if err != nil {
			return nil, err
		}
		if err := b.outage.known(); err != nil {
			return nil, err
		}
		began := time.Now()
		res, err := b.client.Do(req)
		if err != nil {
			err = withoutURL(err)
			if u := unreached(b.server(region), err); u != nil && ctx.Err() == nil {
				b.outage.note(began, u)
				return nil, u
			}
			return nil, err
		}
		b.outage.note(began, nil)
		if res.StatusCode == http.StatusOK || res.StatusCode == http.StatusPartialContent {
			return res, nil
		}
		refused := readRefusal(res)
		if !b.move(region, refused.region) {
			return nil, refused
		}
	}
}

func (b *bucket) at() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.region
}

// move changes the region to where the store says that the bucket is, once. It reports
// whether there is another place to ask.
func (b *bucket) move(from, to string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if to == "" || !regionForm.MatchString(to) || to == from {
		return false
	}
	if b.moved {
		return b.region == to // somebody else has moved it meanwhile
	}
	b.region, b.moved = to, true
	return true
}

// request returns a request that is signed for one host, and carries the customer's key where there is one.
func (b *bucket) request(ctx context.Context, region, key string, query url.Values, header http.Header) (*http.Request, error) {
	u := b.base(region)
	if key != "" {
		u.Path += "/" + key
	} else {
		u.Path += "/"
	}
	u.RawPath = httpbinding.EscapePath(u.Path, false)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.URL = u // NewRequest parses it again
	for name, values := range header {
		req.Header[name] = values
	}
	if k := b.customerKey.Reveal(); k != "" && key != "" {
		sum := md5.Sum([]byte(k))
		req.Header.Set("X-Amz-Server-Side-Encryption-Customer-Algorithm", "AES256")
		req.Header.Set("X-Amz-Server-Side-Encryption-Customer-Key", base64.StdEncoding.EncodeToString([]byte(k)))
		req.Header.Set("X-Amz-Server-Side-Encryption-Customer-Key-Md5", base64.StdEncoding.EncodeToString(sum[:]))
	}
	keys, err := b.keys.Retrieve(ctx)
	if err != nil {
		return nil, &keyError{err}
	}
	req.Header.Set("X-Amz-Content-Sha256", emptyHash)
	return req, b.signer.SignHTTP(ctx, keys, req, emptyHash, "s3", region, time.Now())
}

// base returns the URL of the bucket. AWS's own is a host name for each bucket, unless there
// is a dot in it, for which no certificate is.
func (b *bucket) base(region string) *url.URL {
	if b.endpoint != nil {
		u := *b.endpoint
		u.Path = strings.TrimSuffix(u.Path, "/") + "/" + b.bucket
		return &u
	}
	host := "s3." + region + ".amazonaws.com"
	switch {
	case strings.HasPrefix(region, "cn-"):
		host += ".cn"
	case strings.HasPrefix(region, "eusc-"):
		host = "s3." + region + ".amazonaws.eu"
	}
	if strings.Contains(b.bucket, ".") {
		return &url.URL{Scheme: "https", Host: host, Path: "/" + b.bucket}
	}
	return &url.URL{Scheme: "https", Host: b.bucket + "." + host}
}
