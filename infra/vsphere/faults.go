package vsphere

import (
	"context"
	"errors"
	"fmt"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
)

// connectFault says why there is no session, and what to do.
func connectFault(ctx context.Context, t infra.Target, err error) *infra.Fault {
	where := "vCenter " + t.Endpoint
	if t.Dial != "" {
		where += " (reached at " + t.Dial + ")"
	}
	var untrusted *infra.CertificateError
	switch {
	case ctx.Err() != nil:
		return interrupted(where, ctx)
	case errors.As(err, &untrusted):
		return &infra.Fault{Reason: "UntrustedCertificate", Message: where + ": " + untrusted.Error(), Hint: untrusted.Hint(t.Endpoint)}
	case errors.Is(err, errBadTrust):
		return &infra.Fault{
			Reason: "UntrustedCertificate", Message: fmt.Sprintf("%s: %v", where, err),
			Hint: "give the SHA-256 of the server's certificate as thumbprint with --credentials",
		}
	case errors.Is(err, errLockout) || fault.Is(err, &types.InvalidLogin{}):
		f := &infra.Fault{
			Reason:  "AuthenticationFailed",
			Message: fmt.Sprintf("%s refuses user %s with the password from %s", where, t.Account, t.Source),
			Hint:    "the password may have changed since the backup: give the current one with --credentials",
		}
		if errors.Is(err, errLockout) {
			f.Message += "; " + errLockout.Error()
		}
		return f
	case fault.Is(err, &types.NoPermission{}):
		return &infra.Fault{
			Reason: "NoPermission", Message: fmt.Sprintf("%s does not let user %s log in: %v", where, t.Account, err),
			Hint: "give the account the privilege System.View, or another account with --credentials",
		}
	default:
		return &infra.Fault{
			Reason: "Unreachable", Message: fmt.Sprintf("cannot talk to %s: %v", where, err),
			Hint: fmt.Sprintf("run from where %s can be reached, or say where to reach it with --endpoint %s=HOST:PORT", t.Endpoint, t.Endpoint),
		}
	}
}

// listFault says why a listing is not whole.
func listFault(ctx context.Context, t infra.Target, doing string, err error) *infra.Fault {
	if ctx.Err() != nil {
		return interrupted("vCenter "+t.Endpoint, ctx)
	}
	return &infra.Fault{
		Reason: "ListingBroken", Message: fmt.Sprintf("vCenter %s: %s: %v", t.Endpoint, doing, err),
		Hint: "run again; nothing is concluded from what was not listed",
	}
}

func interrupted(where string, ctx context.Context) *infra.Fault {
	return &infra.Fault{Reason: "Interrupted", Message: fmt.Sprintf("%s: interrupted: %v", where, context.Cause(ctx)), Hint: "run again"}
}
