package store

import (
	"net/http"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
)

// saidError is an error in which words of the store may be, as net/http quotes a header
// line. Nothing of it is longer than what is shown of any server, and what the request held
// of secrets is not in it.
type saidError struct {
	text  string
	cause error
}

func (e *saidError) Error() string { return e.text }

func (e *saidError) Unwrap() error { return e.cause }

func said(req *http.Request, err error) error {
	return &saidError{secretsOf(req).Brief(err.Error()), err}
}

// secretsOf hides what a request held of secrets, should the store repeat it: its signature,
// a session's token, the key of the objects, or a query that is signed.
func secretsOf(req *http.Request) *infra.Redaction {
	r := infra.NewRedaction()
	hide := func(text string) { r.Add(backup.NewSensitive(text)) }
	signed := req.Header.Get("Authorization")
	_, signature, _ := strings.Cut(signed, "Signature=")
	hide(signature)
	for name, values := range req.Header {
		if name == "X-Amz-Security-Token" || strings.HasPrefix(name, "X-Amz-Server-Side-Encryption-Customer-Key") {
			hide(strings.Join(values, ","))
		}
	}
	if signed != "" {
		return r // what else is in the query are words of this package
	}
	for _, values := range req.URL.Query() {
		if v := strings.Join(values, ","); len(v) >= minSecret {
			hide(v)
		}
	}
	return r
}

// minSecret is the length from which a value of a signed query is taken for a secret: host
// and 3600 are none.
const minSecret = 8
