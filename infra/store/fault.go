package store

import (
	"context"
	"crypto/tls"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/lazyregexp"
)

// refusal is an answer that is none of success.
type refusal struct {
	status  int
	code    string        // of S3; empty when the answer has none
	region  string        // where the bucket is, if the answer says so
	skew    time.Duration // how far the server's clock is ahead of ours
	deleted bool          // the newest version of the object is a mark that it was deleted
}

var codeForm = lazyregexp.New(`^[A-Za-z0-9.]{1,64}$`)

// readRefusal takes of an answer what is safe to repeat. The text of S3 is not: that of
// SignatureDoesNotMatch has the request in it.
func readRefusal(res *http.Response) *refusal {
	defer res.Body.Close()
	defer time.AfterFunc(stallTimeout, func() { res.Body.Close() }).Stop()
	var answer struct {
		XMLName      xml.Name `xml:"Error"`
		Code, Region string
	}
	// An answer without a code is none of S3.
	_ = xml.NewDecoder(answerBounds.XML(io.NopCloser(io.LimitReader(res.Body, 64<<10)))).Decode(&answer)
	r := &refusal{status: res.StatusCode, region: res.Header.Get("X-Amz-Bucket-Region"), deleted: res.Header.Get("X-Amz-Delete-Marker") == "true"}
	if codeForm.MatchString(answer.Code) && secretsOf(res.Request).Text(answer.Code) == answer.Code {
		r.code = answer.Code
	}
	if r.region == "" {
		r.region = answer.Region
	}
	if at, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		r.skew = time.Until(at)
	}
	return r
}

func (r *refusal) Error() string {
	if r.code != "" {
		return fmt.Sprintf("it answered %d %s", r.status, r.code)
	}
	return fmt.Sprintf("it answered %d %s", r.status, http.StatusText(r.status))
}

// Unwrap makes a refusal that may pass one that is repeated, see [infra.Passing]. S3 asks
// that a 500 be repeated, too.
func (r *refusal) Unwrap() error {
	switch {
	case r.status == http.StatusNotFound && r.code != "NoSuchBucket":
		return fs.ErrNotExist
	case r.status == http.StatusInternalServerError:
		return &infra.StatusError{Code: http.StatusServiceUnavailable}
	}
	return &infra.StatusError{Code: r.status}
}

// wrongKey reports that the store does not take the key.
func (r *refusal) wrongKey() bool {
	return r.code == "InvalidAccessKeyId" || r.code == "SignatureDoesNotMatch"
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// keyError says that the operator's credential could not be had.
type keyError struct{ cause error }

// Error leaves out what the operator's own credential_process wrote, which the SDK repeats
// where it is no credential in JSON: it may well be a token.
func (e *keyError) Error() string {
	if errors.As(e.cause, new(*processcreds.ProviderError)) {
		return "its credential_process fails, or gives no credential that can be read"
	}
	return infra.Brief(e.cause.Error())
}

// withoutURL returns an error of a request without its address, which may be signed.
func withoutURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// What was done when a store refused.
const (
	listing = "list"
	reading = "read"
)

// errForeign is an answer to a question for a listing that is none.
var errForeign = errors.New("the store's listing is none of S3")

func (b *bucket) explain(ctx context.Context, doing, key string, err error) error {
	return explain(ctx, b.name(key), doing, err)
}

// explain makes an error of a store one for the operator.
func explain(ctx context.Context, name, doing string, err error) error {
	var known *backup.InputError
	if errors.As(err, &known) {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	problem, next := advice(doing, err)
	return &backup.InputError{Name: name, Problem: problem, Next: next, Err: err}
}

// nextAgain is for what passes by itself.
const nextAgain = "run again; nothing was concluded from what was read"

// nextPlace is for what no store of S3 answers.
const nextPlace = "check --s3-endpoint, and what is between here and the store"

func advice(doing string, err error) (problem, next string) {
	var r *refusal
	var key *keyError
	var lie *lieError
	var endless *endlessError
	var broken *brokenError
	var untrusted *tls.CertificateVerificationError
	var none *unreachedError
	switch {
	case errors.Is(err, infra.ErrLockout):
		return "the store refuses the key: " + err.Error(), "check --s3-profile or --s3-ambient, and --s3-endpoint if the key is of another store"
	case errors.Is(err, errReplaced):
		return err.Error(), "run again, when nobody writes it"
	case errors.As(err, &lie):
		return "the store is not to be trusted: " + lie.what, nextAgain
	case errors.Is(err, errForeign):
		return err.Error(), nextPlace
	case errors.As(err, &endless):
		return err.Error(), nextPlace + "; or give the place as far as backups/NAME"
	case errors.As(err, &broken):
		return broken.Error(), "run again, or fetch it first with a tool that resumes"
	case errors.Is(err, io.EOF):
		return "the store's answer is empty", "run again; if it stays so, see what is between here and the store"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the store's answer breaks off", nextAgain
	case errors.As(err, &key):
		return "your own AWS credential can't be had: " + key.Error(), "check --s3-profile or --s3-ambient; 'aws sts get-caller-identity' asks for the same"
	case errors.As(err, &r):
		return r.advice(doing)
	case errors.As(err, &untrusted):
		return "the certificate of the store is not trusted: " + infra.Brief(untrusted.Err.Error()), "give the certificate of its authority in AWS_CA_BUNDLE"
	case errors.As(err, &none):
		return none.Error(), none.next
	case errors.Is(err, context.DeadlineExceeded):
		return "can't be reached: " + infra.Brief(err.Error()), "run from where the store can be reached, or set HTTPS_PROXY"
	}
	return "can't be read: " + infra.Brief(err.Error()), nextAgain
}

func (r *refusal) advice(doing string) (problem, next string) {
	said := fmt.Sprintf(" (%d %s)", r.status, r.code)
	if r.code == "" {
		said = fmt.Sprintf(" (%d)", r.status)
	}
	switch {
	case r.code == "NoSuchBucket":
		return "there is no such bucket" + said, "check its name, and --s3-endpoint if it is not on AWS"
	case r.deleted:
		return "has been deleted: its newest version is a delete marker" + said, "look for an older version of it: aws s3api list-object-versions"
	case r.status == http.StatusNotFound:
		return "there is no such object" + said, "check the path; 'drift-detector backups' lists what there is"
	case r.wrongKey(), r.code == "AuthorizationHeaderMalformed":
		return "the store refuses the key" + said, "check --s3-profile or --s3-ambient, and --s3-endpoint if the key is of another store"
	case r.code == "ExpiredToken", r.code == "TokenRefreshRequired", r.code == "RequestExpired":
		return "the credential or the signature has expired" + said, "log in again, or have the URL signed again"
	case r.code == "RequestTimeTooSkewed":
		return fmt.Sprintf("the clock of this machine is %s from the store's", r.skew.Abs().Round(time.Second)) + said, "set the clock and run again"
	case r.code == "InvalidObjectState":
		return "is archived, and can't be read as it is" + said, "bring it back first: aws s3api restore-object"
	case r.status == http.StatusForbidden && doing == listing:
		return "may not be listed with this credential" + said, "allow s3:ListBucket on the bucket, or give the place as far as backups/NAME, which needs s3:GetObject only; a bucket whose readers pay (requester pays) is not read"
	case r.status == http.StatusForbidden, r.status == http.StatusUnauthorized:
		return "may not be read with this credential" + said, "allow s3:GetObject on it, and kms:Decrypt if the bucket is encrypted with KMS; without s3:ListBucket a missing object looks the same"
	case r.status == http.StatusBadRequest:
		return "the store does not take the question" + said, "if its objects are encrypted with keys of your own (SSE-C), give --s3-sse-c-key FILE"
	case r.status == http.StatusPreconditionFailed:
		return errReplaced.Error(), "run again, when nobody writes it"
	case r.status >= 300 && r.status < 400:
		return "the store sends elsewhere, which is not followed" + said, "give the right address, in --s3-endpoint for a store of your own"
	case infra.PassingStatus(r.status):
		return "the store has no time for it" + said, nextAgain
	}
	return "the store refuses it" + said, nextAgain
}
