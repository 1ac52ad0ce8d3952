package list

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// connectFault says why there is no session, and what to do.
func connectFault(ctx context.Context, t infra.Target, err error) *infra.Fault {
	where := "vCenter " + t.Endpoint
	cause := err
	var request *url.Error
	if errors.As(err, &request) {
		cause = request.Err // without the URL: where it is said once
	}
	why := strings.Replace(t.Redaction.Brief(cause.Error()), " tcp "+cmp.Or(t.Dial, t.Endpoint), "", 1)
	if t.Dial != "" {
		where += " (reached at " + t.Dial + ")"
	}
	var untrusted *infra.CertificateError
	if f := infra.CutOff(ctx, where); f != nil {
		return f
	}
	switch {
	case errors.As(err, &untrusted):
		return &infra.Fault{Reason: code.UntrustedCertificate, Message: where + ": " + t.Redaction.Text(untrusted.Error()), Hint: untrusted.Hint(t.Endpoint)}
	case errors.Is(err, errBadTrust):
		return &infra.Fault{
			Reason: code.UntrustedCertificate, Message: where + ": " + why,
			Hint: "give the SHA-256 of the server's certificate as thumbprint with --credentials",
		}
	case errors.Is(err, infra.ErrLockout) || fault.Is(err, &types.InvalidLogin{}):
		f := &infra.Fault{
			Reason:  code.AuthenticationFailed,
			Message: fmt.Sprintf("%s refuses user %s with the password from %s", where, t.Account, t.Source),
			Hint:    "the password may have changed " + t.Subject.Since() + ": give the current one with --credentials",
		}
		if errors.Is(err, infra.ErrLockout) {
			f.Message += "; " + infra.ErrLockout.Error()
		}
		return f
	case fault.Is(err, &types.NoPermission{}):
		return &infra.Fault{
			Reason: code.NoPermission, Message: fmt.Sprintf("%s does not let user %s log in: %s", where, t.Account, why),
			Hint: "give the account the privilege System.View, or another account with --credentials",
		}
	default:
		return unreachable(t, "cannot talk to "+where+": "+why)
	}
}

func unreachable(t infra.Target, message string) *infra.Fault {
	return &infra.Fault{
		Reason: code.Unreachable, Message: message,
		Hint: fmt.Sprintf("run from where %s can be reached, or say where to reach it with --endpoint %s=HOST:PORT", t.Endpoint, t.Endpoint),
	}
}

// listFault says why a listing is not whole.
func listFault(ctx context.Context, t infra.Target, doing string, err error) *infra.Fault {
	if f := infra.CutOff(ctx, "vCenter "+t.Endpoint); f != nil {
		return f
	}
	return &infra.Fault{
		Reason: code.ListingBroken, Message: fmt.Sprintf("vCenter %s: %s: %s", t.Endpoint, doing, t.Redaction.Brief(err.Error())),
		Hint: "run again; nothing is concluded from what was not listed",
	}
}
