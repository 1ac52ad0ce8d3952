package lab

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// callerIdentity says whose key the call was signed with.
func (e *EC2) callerIdentity(c *apiCall) (element, *refusal) {
	return result(c.action, leaf("Arn", c.caller.identity()), leaf("UserId", c.caller.ID), leaf("Account", c.caller.Account)), nil
}

// identity returns the ARN of who holds the key.
func (k *EC2Key) identity() string {
	if k.arn != "" {
		return k.arn
	}
	return fmt.Sprintf("arn:aws:iam::%s:user/lab", k.Account)
}

// assumeRole gives a key of the role's account, with a session token.
func (e *EC2) assumeRole(c *apiCall) (element, *refusal) {
	arn, session := c.form.Get("RoleArn"), c.form.Get("RoleSessionName")
	i := slices.IndexFunc(e.roles, func(r EC2Role) bool { return r.ARN == arn })
	denied := refuse(http.StatusForbidden, "AccessDenied", "User: %s is not authorized to perform: sts:AssumeRole on resource: %s", c.caller.identity(), arn)
	if i < 0 || session == "" {
		return element{}, denied
	}
	r := e.roles[i]
	trusted := r.Trusts == nil || slices.Contains(r.Trusts, c.caller.ID) || slices.Contains(r.Trusts, c.caller.arn)
	if !trusted || r.ExternalID != "" && r.ExternalID != c.form.Get("ExternalId") {
		return element{}, denied
	}
	e.assumed = append(e.assumed, arn)
	n := len(e.assumed)
	key := EC2Key{ID: fmt.Sprintf("ASIALAB%013d", n), Secret: fmt.Sprintf("secret-of-session-%d", n), Token: fmt.Sprintf("token-of-session-%d", n), arn: arn}
	if parts := strings.Split(arn, ":"); len(parts) > 4 {
		key.Account = parts[4]
	}
	e.keys[key.ID] = key
	return result(c.action, branch("Credentials",
		leaf("AccessKeyId", key.ID), leaf("SecretAccessKey", key.Secret), leaf("SessionToken", key.Token),
		leaf("Expiration", time.Now().Add(time.Hour).UTC().Format(time.RFC3339)),
	)), nil
}
