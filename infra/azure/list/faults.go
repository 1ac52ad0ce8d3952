package list

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"drift-detector/infra"
	"drift-detector/infra/azure"
	"drift-detector/report/code"
)

const (
	hintAgain       = "run again; nothing is concluded from what was not listed"
	hintForeign     = "something between here and Azure answers in its stead: see HTTPS_PROXY and NO_PROXY, and run again; nothing is concluded from what was not listed"
	hintPermissions = "give the account Reader on the subscription; `drift-detector permissions azure` says what it must be allowed"
)

func where(t infra.Target) string { return "Azure " + t.Account }

// connectFault says why there is no token, and what to do.
func connectFault(ctx context.Context, t infra.Target, c *azure.Credential, err error) *infra.Fault {
	if f := infra.CutOff(ctx, where(t)); f != nil {
		return f
	}
	var refused *loginError
	switch {
	case errors.As(err, &refused) && refused.cli:
		return &infra.Fault{Reason: code.AuthenticationFailed, Message: fmt.Sprintf("%s: your az command gives no token: %s", where(t), t.Redaction.Brief(refused.says)), Hint: "log in with az login, with an account that may read the subscription"}
	case errors.As(err, &refused), errors.Is(err, infra.ErrLockout):
		return &infra.Fault{
			Reason: code.AuthenticationFailed, Message: fmt.Sprintf("%s: %s refuses %s from %s: %s", where(t), azure.Clouds[c.Cloud].Authority.Host, c.Who(), t.Source, t.Redaction.Brief(err.Error())),
			Hint: "the secret may have expired or been changed " + t.Subject.Since() + ": " + azure.HintOwn,
		}
	}
	return listFault(ctx, t, "logging in", err)
}

// listFault says why a listing is not whole.
func listFault(ctx context.Context, t infra.Target, doing string, err error) *infra.Fault {
	if f := infra.CutOff(ctx, where(t)); f != nil {
		return f
	}
	var untrusted *untrustedError
	var busy *infra.StatusError
	var status *statusError
	var refused *loginError
	var dial *net.OpError
	var dns *net.DNSError
	var syntax *json.SyntaxError
	var form *json.UnmarshalTypeError
	var answer answerError
	var beyond *infra.BoundError
	fault := func(reason code.Reason, hint, format string, args ...any) *infra.Fault {
		return &infra.Fault{Reason: reason, Message: where(t) + ": " + fmt.Sprintf(format, args...), Hint: hint}
	}
	why := t.Redaction.Brief(err.Error())
	switch {
	case errors.As(err, &untrusted):
		return fault(code.UntrustedCertificate, untrusted.Hint(untrusted.endpoint), "%s", t.Redaction.Text(untrusted.Error()))
	case errors.Is(err, errBadTrust):
		return fault(code.UntrustedCertificate, "give the SHA-256 of the server's certificate as thumbprint with --credentials", "%s", why)
	case errors.As(err, &busy) && busy.Code == http.StatusTooManyRequests:
		return fault(code.Throttled, "others call Azure a lot with this account or subscription: run again later", "%s: it answers that there are too many calls", doing)
	case errors.As(err, &refused):
		return fault(code.AuthenticationFailed, azure.HintOwn, "%s: its token ended, and no new one was given: %s", doing, why)
	case errors.As(err, &status):
		return statusFault(t, doing, status)
	case errors.Is(err, errHidden):
		return fault(code.NoPermission, hintPermissions, "%s: %s", doing, why)
	case errors.As(err, &answer), errors.As(err, &beyond), errors.As(err, &syntax), errors.As(err, &form), errors.Is(err, errForeign):
		return fault(code.UnexpectedAnswer, hintForeign, "%s: %s", doing, why)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault(code.ListingBroken, hintAgain, "%s: the answer ends too soon", doing)
	case errors.As(err, &dns), errors.As(err, &dial) && dial.Op == "dial", errors.Is(err, context.DeadlineExceeded):
		return fault(code.Unreachable, fmt.Sprintf("run from where %s can be reached, or say where to reach it with --endpoint %s=HOST:PORT", t.Endpoint, t.Endpoint), "%s: cannot talk to it: %s", doing, why)
	}
	return fault(code.ListingBroken, hintAgain, "%s: %s", doing, why)
}

// statusFault returns the fault for a status that will not pass.
func statusFault(t infra.Target, doing string, e *statusError) *infra.Fault {
	says := t.Redaction.Brief(e.Error())
	f := &infra.Fault{Reason: code.ListingBroken, Message: fmt.Sprintf("%s: %s: %s", where(t), doing, says), Hint: hintAgain}
	switch e.code {
	case http.StatusUnauthorized:
		f.Reason, f.Hint = code.AuthenticationFailed, "the subscription may be of another tenant, or the token ended: "+azure.HintOwn
	case http.StatusForbidden:
		f.Reason, f.Hint = code.NoPermission, hintPermissions
	case http.StatusNotFound:
		if e.reason == "SubscriptionNotFound" {
			f.Reason, f.Hint = code.NoPermission, "the subscription does not exist, or is of another tenant than the account: "+azure.HintOwn
			break
		}
		f.Reason, f.Hint = code.UnexpectedAnswer, hintForeign
	case http.StatusMultipleChoices, http.StatusFound, http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		f.Reason, f.Hint = code.UnexpectedAnswer, hintForeign
	}
	return f
}
