package list

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"

	"github.com/aws/smithy-go"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/report/code"
)

const (
	hintAgain       = "run again; nothing is concluded from what was not listed"
	hintForeign     = "something between here and AWS answers in its stead: see HTTPS_PROXY, NO_PROXY and AWS_ENDPOINT_URL, and run again; nothing is concluded from what was not listed"
	hintPermissions = "`drift-detector permissions aws` prints a policy with all that is needed"
)

// Error codes of AWS's services (EC2 API reference, common errors; STS API
// reference).
var (
	wrongKeys = []string{
		"AuthFailure", "InvalidClientTokenId", "InvalidAccessKeyId", "SignatureDoesNotMatch", "UnrecognizedClientException",
		"IncompleteSignature", "MissingAuthenticationToken", "InvalidSignatureException",
	}
	expiredKeys = []string{"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
	forbidden   = []string{"UnauthorizedOperation", "AccessDenied", "AccessDeniedException"}
	throttled   = []string{"RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException", "Client.RequestLimitExceeded"}
)

// codeOf returns AWS's own code for an error. The text behind it is not used: that
// of SignatureDoesNotMatch repeats the headers of the request, session token
// included.
func codeOf(err error) (code string, ok bool) {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return "", false
	}
	return api.ErrorCode(), true
}

// keyRefused reports that AWS does not take a key, or takes it no more.
func keyRefused(err error) bool {
	code, _ := codeOf(err)
	return slices.Contains(wrongKeys, code) || slices.Contains(expiredKeys, code)
}

func where(t infra.Target) string {
	w := "AWS region " + t.Location
	if t.Dial != "" {
		w += " (reached at " + t.Dial + ")"
	}
	return w
}

// connectFault says why nothing could be listed, and what to do.
func connectFault(ctx context.Context, t infra.Target, err error) *infra.Fault {
	action := "sts:GetCallerIdentity"
	var role *roleError
	if errors.As(err, &role) {
		action = "sts:AssumeRole"
	}
	f := listFault(ctx, t, action, "logging in", err)
	if role != nil && f.Reason == code.NoPermission {
		f.Message = fmt.Sprintf("%s: role %s may not be assumed with %s", where(t), role.arn, t.Source)
		f.Hint = "the trust policy of the role must name who assumes it, and his own policy must allow sts:AssumeRole; " + hintPermissions
	}
	return f
}

// listFault says why a listing is not whole. action is the IAM action of the
// call, doing says what it was for.
func listFault(ctx context.Context, t infra.Target, action, doing string, err error) *infra.Fault {
	if f := infra.CutOff(ctx, where(t)); f != nil {
		return f
	}
	refusal, answered := codeOf(err)
	refusal = t.Redaction.Brief(refusal)
	switch {
	case errors.Is(err, infra.ErrLockout):
		return &infra.Fault{
			Reason: code.AuthenticationFailed, Message: fmt.Sprintf("%s refuses the access key from %s; %s", where(t), t.Source, infra.ErrLockout.Error()),
			Hint: "the key may have been changed " + t.Subject.Since() + ": " + capa.HintOwn,
		}
	case slices.Contains(wrongKeys, refusal):
		return &infra.Fault{
			Reason: code.AuthenticationFailed, Message: fmt.Sprintf("%s refuses the access key from %s (%s)", where(t), t.Source, refusal),
			Hint: "the key may have been changed " + t.Subject.Since() + ": " + capa.HintOwn,
		}
	case slices.Contains(expiredKeys, refusal):
		return &infra.Fault{
			Reason: code.AuthenticationFailed, Message: fmt.Sprintf("%s: the access key from %s has expired (%s)", where(t), t.Source, refusal),
			Hint: "keys with a session token live for hours: " + capa.HintOwn,
		}
	case slices.Contains(forbidden, refusal):
		return &infra.Fault{
			Reason: code.NoPermission, Message: fmt.Sprintf("%s: %s: %s is not allowed with %s (%s)", where(t), doing, action, t.Source, refusal),
			Hint: fmt.Sprintf("allow %s; %s", action, hintPermissions),
		}
	case slices.Contains(throttled, refusal):
		return &infra.Fault{
			Reason: code.Throttled, Message: fmt.Sprintf("%s: %s: %d attempts at %s were refused as too many calls (%s)", where(t), doing, attempts, action, refusal),
			Hint: "others in the account call AWS a lot: run again later",
		}
	case answered:
		return &infra.Fault{
			Reason: code.ListingBroken, Message: fmt.Sprintf("%s: %s: %s failed: %s", where(t), doing, action, refusal), Hint: hintAgain,
		}
	default:
		return networkFault(t, doing, err)
	}
}

// networkFault returns the fault for what is no answer of AWS.
func networkFault(t infra.Target, doing string, err error) *infra.Fault {
	var untrusted *tls.CertificateVerificationError
	var dial *net.OpError
	var request *url.Error
	var dns *net.DNSError
	var answer *answerError
	cause := withoutOutput(err)
	if errors.As(err, &request) {
		cause = request.Err // without the attempts and ids that the SDK puts around it
	}
	why := t.Redaction.Brief(withoutAddresses(cause.Error()))
	switch {
	case errors.As(err, &answer) && (answer.cause == nil || isBeyond(answer.cause)):
		return &infra.Fault{Reason: code.UnexpectedAnswer, Message: fmt.Sprintf("%s: %s: %s", where(t), doing, why), Hint: hintForeign}
	case errors.As(err, &untrusted):
		return &infra.Fault{
			Reason: code.UntrustedCertificate, Message: fmt.Sprintf("%s: %s", where(t), why),
			Hint: "if a proxy opens TLS on the way, give its certificate in AWS_CA_BUNDLE",
		}
	case errors.As(err, &dns), errors.As(err, &dial) && dial.Op == "dial", errors.Is(err, context.DeadlineExceeded):
		return &infra.Fault{
			Reason: code.Unreachable, Message: fmt.Sprintf("cannot talk to %s: %s", where(t), why),
			Hint: fmt.Sprintf("run from where %s and the region's other AWS endpoints can be reached, or set HTTPS_PROXY or AWS_ENDPOINT_URL", t.Endpoint),
		}
	default:
		return &infra.Fault{Reason: code.ListingBroken, Message: fmt.Sprintf("%s: %s: %s", where(t), doing, why), Hint: hintAgain}
	}
}
