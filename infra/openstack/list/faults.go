package list

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"

	"github.com/gophercloud/gophercloud/v2"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
	"drift-detector/report/code"
)

const (
	hintAgain       = "run again; nothing is concluded from what was not listed"
	hintForeign     = "something between here and OpenStack answers in its stead, or auth_url leads elsewhere: see HTTPS_PROXY and NO_PROXY, and run again; nothing is concluded from what was not listed"
	hintPermissions = "`drift-detector permissions openstack` says what the account must be allowed"
)

// answerError says that an answer is not one of OpenStack's.
type answerError string

func (e answerError) Error() string { return string(e) }

// lacking says that an answer has no list where it should.
func lacking(member string) error {
	return answerError(fmt.Sprintf("the answer holds no list of %s", member))
}

func where(t infra.Target) string {
	w := "OpenStack " + t.Endpoint
	if t.Location != "" {
		w += ", region " + t.Location
	}
	if t.Dial != "" {
		w += " (reached at " + t.Dial + ")"
	}
	return w
}

// connectFault says why there is no session, and what to do.
func connectFault(ctx context.Context, t infra.Target, c *openstack.Credential, err error) *infra.Fault {
	if f := infra.CutOff(ctx, where(t)); f != nil {
		return f
	}
	var foreign *foreignError
	var region *regionError
	project := cmp.Or(c.Project, "of the credential")
	switch {
	case errors.Is(err, infra.ErrLockout), codeOf(err) == http.StatusUnauthorized:
		f := &infra.Fault{
			Reason: code.AuthenticationFailed,
			Message: fmt.Sprintf("%s refuses %s from %s: the password or secret is wrong, project %s does not exist, or the account has no role in it; Keystone says the same in all three cases",
				where(t), c.Who(), t.Source, project),
			Hint: "the password may have been changed, or the project deleted, " + t.Subject.Since() + ": " + openstack.HintOwn,
		}
		if errors.Is(err, infra.ErrLockout) {
			f.Message += "; " + infra.ErrLockout.Error()
		}
		return f
	case errors.Is(err, errUnscoped):
		return &infra.Fault{Reason: code.NoPermission, Message: where(t) + ": " + err.Error(), Hint: "name the project in clouds.yaml; " + openstack.HintOwn}
	case errors.As(err, &foreign):
		return &infra.Fault{
			Reason: code.BadEndpoint, Message: where(t) + ": " + t.Redaction.Brief(foreign.Error()),
			Hint: "if those hosts are the cloud's own, allow them: " + t.Redaction.Brief(foreign.flags()),
		}
	case errors.As(err, &region):
		return &infra.Fault{Reason: code.BadIdentity, Message: where(t) + ": " + region.Error(), Hint: "name a region of the cloud as region_name in clouds.yaml, or in identityRef.region; " + openstack.HintOwn}
	}
	return listFault(ctx, t, "logging in", err)
}

// codeOf returns the HTTP status that gophercloud took for an error, or 0.
func codeOf(err error) int {
	var status gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &status) {
		return status.Actual
	}
	return 0
}

// overloaded reports whether a service could not answer: under load the services of
// OpenStack say 500 for a time-out of their database or message queue
// (nova/api/openstack/__init__.py 34.0.0: "Unexpected API Error"), as AWS does, whose
// client asks again, too.
func overloaded(err error) bool { return codeOf(err) == http.StatusInternalServerError }

// listFault says why a listing is not whole.
func listFault(ctx context.Context, t infra.Target, doing string, err error) *infra.Fault {
	if f := infra.CutOff(ctx, where(t)); f != nil {
		return f
	}
	var untrusted *untrustedError
	var busy *infra.StatusError
	var status gophercloud.ErrUnexpectedResponseCode
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
		return fault(code.Throttled, "others call OpenStack a lot: run again later", "%s: it answers that there are too many calls", doing)
	case errors.As(err, &status):
		return statusFault(t, doing, &status)
	case errors.As(err, &answer), errors.As(err, &beyond), errors.As(err, &syntax), errors.As(err, &form):
		return fault(code.UnexpectedAnswer, hintForeign, "%s: %s", doing, why)
	case errors.As(err, &dns), errors.As(err, &dial) && dial.Op == "dial", errors.Is(err, context.DeadlineExceeded):
		return fault(code.Unreachable, fmt.Sprintf("run from where %s can be reached, or say where to reach it with --endpoint %s=HOST:PORT", t.Endpoint, t.Endpoint), "%s: cannot talk to it: %s", doing, why)
	}
	return fault(code.ListingBroken, hintAgain, "%s: %s", doing, why)
}

// statusFault returns the fault for a status that will not pass.
func statusFault(t infra.Target, doing string, e *gophercloud.ErrUnexpectedResponseCode) *infra.Fault {
	says := t.Redaction.Brief(messageOf(e))
	f := &infra.Fault{Reason: code.ListingBroken, Message: fmt.Sprintf("%s: %s: it answered %d: %s", where(t), doing, e.Actual, says), Hint: hintAgain}
	switch e.Actual {
	case http.StatusUnauthorized:
		f.Message = fmt.Sprintf("%s: %s: it does not take the token that Keystone gave: it has expired or was revoked, the access rules of the application credential lack the path, or the service knows another Keystone", where(t), doing)
	case http.StatusForbidden:
		f.Reason, f.Hint = code.NoPermission, "give the account role reader in the project; "+hintPermissions
		f.Message = fmt.Sprintf("%s: %s: the policy does not allow it with %s: %s", where(t), doing, t.Source, says)
	case http.StatusNotFound, http.StatusMultipleChoices, http.StatusFound, http.StatusMovedPermanently:
		f.Reason, f.Hint = code.UnexpectedAnswer, hintForeign
	}
	return f
}

// messageOf returns what a service says of an error: each puts one object with a message into
// another.
func messageOf(e *gophercloud.ErrUnexpectedResponseCode) string {
	var body map[string]json.RawMessage
	if json.Unmarshal(e.Body, &body) == nil {
		for _, name := range slices.Sorted(maps.Keys(body)) {
			var inner struct{ Message string }
			if json.Unmarshal(body[name], &inner) == nil && inner.Message != "" {
				return inner.Message
			}
		}
	}
	return http.StatusText(e.Actual)
}
