package nodes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// errStatus is an answer other than 200 OK.
type errStatus struct{ code int }

func (e *errStatus) Error() string {
	if e.code >= 300 && e.code < 400 {
		return fmt.Sprintf("it answered with a redirect (%d), which is not followed", e.code)
	}
	return fmt.Sprintf("it answered %d %s", e.code, http.StatusText(e.code))
}

// Unwrap tells Retry whether the status may pass. An API server answers 500 while its etcd
// elects a leader.
func (e *errStatus) Unwrap() error {
	if e.code == http.StatusInternalServerError {
		return &infra.StatusError{Code: http.StatusServiceUnavailable}
	}
	return &infra.StatusError{Code: e.code}
}

const (
	hintReach = "run where the API server can be reached, give its other address with --endpoint FROM=TO, or leave the Node lists out with --skip-access-apiserver"
	hintFresh = "the recorded credential has been replaced or has expired; " + hintKubeconfig
	hintCA    = "another cluster may have this address now, or the cluster has been given a new CA; " + hintKubeconfig
)

// fault says in words what went wrong and whether the server refused or was not
// reached. It quotes neither the server nor the kubeconfig.
func (c *client) fault(ctx context.Context, err error) (state string, f *infra.Fault) {
	if f = infra.CutOff(ctx, "the API server "+c.where()); f != nil { // what else went wrong is most likely its consequence
		return stateUnreachable, f
	}
	f = &infra.Fault{Message: fmt.Sprintf("the API server %s: ", c.where())}
	says := func(state string, reason code.Reason, message, hint string) (string, *infra.Fault) {
		f.Reason, f.Hint = reason, hint
		f.Message += message
		return state, f
	}
	var status *errStatus
	var answer *errAnswer
	var untrusted *infra.CertificateError
	switch {
	case errors.Is(err, infra.ErrLockout):
		return says(stateDenied, "AuthenticationFailed", "it does not accept the "+c.credential()+"; "+infra.ErrLockout.Error(), hintFresh)
	case errors.As(err, &status) && status.code == http.StatusUnauthorized:
		return says(stateDenied, code.AuthenticationFailed, "it does not accept the "+c.credential(), hintFresh)
	case errors.As(err, &status) && status.code == http.StatusForbidden:
		return says(stateDenied, "Forbidden", "it does not let this account list Nodes", hintKubeconfig)
	case errors.As(err, &status):
		return says(stateUnreachable, code.UnexpectedAnswer, status.Error(), hintReach)
	case errors.As(err, &answer):
		return says(stateUnreachable, code.UnexpectedAnswer, answer.Error(), hintReach)
	case errors.As(err, &untrusted):
		message, hint := certificateTrouble(untrusted)
		return says(stateUnreachable, code.UntrustedCertificate, message, hint)
	case remoteAlert(err) != "":
		return says(stateDenied, code.AuthenticationFailed, fmt.Sprintf("it ended the TLS handshake (%s) after it was shown the %s", remoteAlert(err), c.credential()), hintFresh)
	case hungUp(err) && c.expired():
		return says(stateDenied, code.AuthenticationFailed, "it closed the connection after it was shown the "+c.credential(), hintFresh)
	default:
		return says(stateUnreachable, code.Unreachable, connectionTrouble(err), hintReach)
	}
}

// where returns the server as the kubeconfig calls it, and by which way it was tried.
func (c *client) where() string {
	where := c.login.endpoint.String()
	if c.address != where {
		where += " (at " + c.address + ")"
	}
	req, err := c.request(context.Background(), "")
	if err != nil {
		return where
	}
	// Only the host of the proxy is shown: its URL may hold a password.
	if proxy, err := c.transport.Proxy(req); err == nil && proxy != nil {
		where += " (through the proxy " + proxy.Host + ")"
	}
	return where
}

// credential describes what was presented, without showing it.
func (c *client) credential() string {
	switch {
	case c.expired():
		return "client certificate, which expired on " + c.login.client.NotAfter.UTC().Format(time.DateOnly)
	case c.login.client != nil:
		return "client certificate"
	default:
		return "token (recorded tokens are mostly expired)"
	}
}

func (c *client) expired() bool {
	return c.login.client != nil && time.Now().After(c.login.client.NotAfter)
}

// certificateTrouble says what is wrong with a server's certificate.
func certificateTrouble(e *infra.CertificateError) (message, hint string) {
	print := "; its SHA-256 is " + e.SHA256
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	switch {
	case errors.As(e.Cause, &invalid) && invalid.Reason == x509.Expired && time.Now().After(invalid.Cert.NotAfter):
		return "its certificate expired on " + invalid.Cert.NotAfter.UTC().Format(time.DateOnly) + print,
			"renew the certificates of that control plane, or check this machine's clock"
	case errors.As(e.Cause, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate is not valid before " + invalid.Cert.NotBefore.UTC().Format(time.DateOnly) + print,
			"check this machine's clock"
	case errors.As(e.Cause, &host):
		return "its certificate is for another host" + print, hintCA
	default:
		return "its certificate is not signed by the CA in the kubeconfig" + print, hintCA
	}
}

// remoteAlert returns the TLS alert with which a server ended a connection, in Go's
// words; empty when err is none (crypto/tls conn.go, Go 1.26: the operation is
// "remote error").
func remoteAlert(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		return op.Err.Error()
	}
	return ""
}

// hungUp reports whether the server closed an established connection. A server that
// rejects a client certificate in TLS 1.3 may do so before its alert is read.
func hungUp(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// connectionTrouble names the trouble in fixed words, or in those of the
// operating system.
func connectionTrouble(err error) string {
	var dns *net.DNSError
	var record tls.RecordHeaderError
	var op *net.OpError
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		return "its name does not resolve"
	case errors.As(err, &record):
		return "it does not speak TLS"
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it did not accept a connection in time"
	case errors.As(err, &op):
		return op.Op + ": " + op.Err.Error()
	case hungUp(err):
		return "it closed the connection"
	default:
		return "it does not answer as an API server does"
	}
}
