package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Options say how the operator reaches a store. Without Profile, Ambient and Keys no
// bucket is read.
type Options struct {
	Profile string            // of the operator's AWS configuration
	Ambient bool              // the SDK's whole chain: variables, files, the machine's role
	Keys    *infra.Credential // an access key id and its secret as user and password
	// Endpoint is the URL of a store that is not AWS's own; empty for AWS.
	Endpoint string
	// CustomerKey is the key of 32 bytes with which the objects are encrypted (SSE-C).
	CustomerKey backup.Sensitive
	// Logins are those of a run that failed; nil counts those of this place alone.
	Logins *infra.Logins
}

// IsAddress reports whether a name is the address of a store, not a path.
func IsAddress(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	scheme = strings.ToLower(scheme)
	return ok && (scheme == "s3" || scheme == "https" || scheme == "http")
}

// Open returns the place at an address: s3://BUCKET[/PREFIX], or a URL that is signed for
// one tarball. use says in a sentence where it is read, and as whom. Nothing is contacted,
// except where the operator's own AWS configuration asks for it. The error is a
// [*backup.InputError].
func Open(ctx context.Context, address string, o Options) (p *Place, use string, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil && strings.Contains(address, "arn:"):
		return nil, "", &backup.InputError{Name: "an address of a backup", Problem: "it has an ARN, and access points are not read", Next: "give s3://BUCKET/PREFIX/backups/NAME with the name of the bucket"}
	case err != nil:
		return nil, "", &backup.InputError{Name: "an address of a backup", Problem: "it is no URL", Next: "give s3://BUCKET/PREFIX/backups/NAME, and escape special characters", Err: nil}
	case u.User != nil:
		return nil, "", &backup.InputError{Name: shown(u), Problem: "holds a user or a password", Next: "leave it out; give --s3-profile NAME or --s3-ambient"}
	case u.Host == "" && u.Scheme == "s3":
		return nil, "", &backup.InputError{Name: shown(u), Problem: "names no bucket", Next: "give s3://BUCKET/PREFIX/backups/NAME"}
	case u.Host == "":
		return nil, "", &backup.InputError{Name: shown(u), Problem: "names no host", Next: "give the whole URL of the tarball, such as https://HOST/BUCKET/backups/NAME/NAME.tar.gz"}
	case u.Scheme != "s3":
		client, err := newClient(nil)
		if err != nil {
			return nil, "", err
		}
		return &Place{objects: web{client, u}, path: strings.TrimPrefix(u.Path, "/"), isFile: true}, shown(u), nil
	case u.RawQuery != "" || u.Fragment != "":
		return nil, "", &backup.InputError{Name: shown(u), Problem: "has a ? or # in it", Next: "escape it as %3F or %23"}
	}
	b, use, err := newBucket(ctx, u.Host, o)
	if err != nil {
		return nil, "", err
	}
	return &Place{objects: b, path: strings.Trim(u.Path, "/")}, fmt.Sprintf("bucket %s%s: %s", u.Host, b.where(), use), nil
}

// shown returns a URL for messages: a signature in it is a secret.
func shown(u *url.URL) string {
	c := u.Scheme + "://" + u.Host + u.EscapedPath() // of URL.String, s3:// has no slashes
	if u.RawQuery != "" {
		return c + "?…"
	}
	return c
}

func newBucket(ctx context.Context, name string, o Options) (*bucket, string, error) {
	refuse := func(problem, next string) error {
		return &backup.InputError{Name: "s3://" + name, Problem: problem, Next: next}
	}
	if len(name) > maxName || !bucketForm.MatchString(name) {
		return nil, "", refuse("is not the name of a bucket", "give s3://BUCKET/PREFIX/backups/NAME")
	}
	if o.Profile == "" && !o.Ambient && o.Keys == nil {
		return nil, "", refuse("no credential is given for it", "give --s3-profile NAME of your AWS configuration, or --s3-ambient for your environment; credentials in a backup are never used")
	}
	b := &bucket{bucket: name, signer: v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping, s.Logger = true, logging.Nop{} }), customerKey: o.CustomerKey, logins: o.Logins}
	if b.logins == nil {
		b.logins = &infra.Logins{}
	}
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, "", &backup.InputError{Name: "--s3-endpoint", Problem: "is not the URL of a store", Next: "give https://HOST[:PORT], without user and password"}
		}
		b.endpoint = u
	}
	if !o.CustomerKey.IsZero() && b.endpoint != nil && b.endpoint.Scheme != "https" {
		return nil, "", refuse("--s3-sse-c-key would be sent without encryption", "give an --s3-endpoint with https://")
	}
	use, err := b.credential(ctx, o)
	if err != nil {
		return nil, "", err
	}
	var ca []byte
	if o.Keys != nil {
		ca = o.Keys.CA
	}
	b.client, err = newClient(ca)
	return b, use, err
}

// credential takes the operator's credential, and the region that it comes with.
func (b *bucket) credential(ctx context.Context, o Options) (use string, err error) {
	b.region = "us-east-1" // of a bucket elsewhere AWS says where it is
	if k := o.Keys; k != nil {
		b.keys = credentials.NewStaticCredentialsProvider(k.Username, k.Password.Reveal(), "")
		return "with the key from " + k.Source, nil
	}
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	use = "with your own AWS credentials (--s3-ambient)"
	if o.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(o.Profile), config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
		use = fmt.Sprintf("with your own AWS profile %s (--s3-profile)", o.Profile)
	}
	conf, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return "", &backup.InputError{Name: "s3://" + b.bucket, Problem: "your own AWS configuration can't be read: " + infra.Brief(err.Error()), Next: "check --s3-profile, and the files of your AWS configuration", Err: err}
	}
	if conf.Region != "" && regionForm.MatchString(conf.Region) {
		b.region = conf.Region
	}
	b.keys = aws.NewCredentialsCache(conf.Credentials)
	return use, nil
}

const (
	dialTimeout   = 10 * time.Second
	answerTimeout = 30 * time.Second // until an answer begins
	stallTimeout  = 30 * time.Second // for each part of an answer
	wholeTimeout  = time.Minute      // until an answer that is no tarball has ended
)

// slowError is an answer that did not end in its time.
type slowError struct{}

func (slowError) Error() string {
	return "the store did not answer in full within " + infra.Brisk(wholeTimeout)
}
func (slowError) Timeout() bool   { return true }
func (slowError) Temporary() bool { return true }

// inTime asks a store for what is no tarball: a server that goes on sending has a bound, too.
func inTime(ctx context.Context, ask func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, wholeTimeout)
	defer cancel()
	err := ask(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return slowError{}
	}
	return err
}

// newClient returns a client that follows no redirect. ca are the only roots; without
// them it is those of the variable AWS_CA_BUNDLE, else the system's.
func newClient(ca []byte) (*http.Client, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	source := "caFile"
	if file := os.Getenv("AWS_CA_BUNDLE"); ca == nil && file != "" {
		source = "AWS_CA_BUNDLE"
		var err error
		if ca, err = os.ReadFile(file); err != nil {
			return nil, unreadable(file, err)
		}
	}
	if ca != nil {
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(ca) {
			return nil, &backup.InputError{Name: source, Problem: "holds no certificate in PEM form", Next: "give the certificates of the authority that signs the store's", Err: errors.New("no certificate")}
		}
	}
	return &http.Client{Transport: staying{&http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:       conf,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: answerTimeout,
		// A status line is quoted in errors.
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true, // a tarball is to come as it is stored
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    describing,
	}}}, nil
}

// staying leads nowhere else, and waits for no answer that stalls. The client would quote
// an address that it can't read, which may repeat the signature of the request.
type staying struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (s staying) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	res, err := s.Transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, said(req, err)
	}
	infra.KeepProtocol(res)
	res.Header.Del("Location")
	res.Body = &moving{res.Body, cancel, req}
	return res, nil
}

// moving is the body of an answer. It fails when nothing of it comes for stallTimeout.
type moving struct {
	io.ReadCloser
	cancel context.CancelFunc
	req    *http.Request
}

func (m *moving) Read(p []byte) (int, error) {
	stalled := time.AfterFunc(stallTimeout, m.cancel)
	n, err := m.ReadCloser.Read(p)
	if !stalled.Stop() && err != nil {
		err = os.ErrDeadlineExceeded
	}
	if err != nil && err != io.EOF {
		err = said(m.req, err) // a line of a trailer
	}
	return n, err
}

func (m *moving) Close() error {
	m.cancel() // first: over HTTP/2 Close waits for the stream
	return m.ReadCloser.Close()
}
