package list

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// account is who logs in, as a credential names it: what locks, never a secret. A user has
// an id, and a name in a domain, which has an id and a name itself. A credential says one
// of each, and who is meant by the other nobody knows before a login succeeds.
type account struct {
	application      bool // an application credential
	id, name         string
	domain, domainBy string // by which the domain is named: "id" or "name"
	user             string // key of the user that an application credential is of, where its name is given
}

// key tells accounts apart that are named alike.
func (a account) key() string {
	kind := "user"
	if a.application {
		kind = "application"
	}
	if a.id != "" {
		return strings.ToLower(infra.Join(kind, "id", a.id))
	}
	return strings.ToLower(infra.Join(kind, a.domainBy, a.domain, a.user, a.name))
}

// mayBe reports whether two of one Keystone may be one.
func (a account) mayBe(b account) bool {
	switch {
	case a.application != b.application:
		return false // one locks without the other
	case a.id != "" && b.id != "":
		return strings.EqualFold(a.id, b.id)
	case a.id != "" || b.id != "":
		return true
	}
	return strings.EqualFold(a.name, b.name) && (a.domainBy != b.domainBy || strings.EqualFold(a.domain, b.domain))
}

// accountOf returns who logs in with a credential.
func accountOf(c *openstack.Credential) account {
	o := &c.Options
	var user account
	switch {
	case o.UserID != "":
		user = account{id: o.UserID}
	case o.DomainID != "":
		user = account{name: o.Username, domain: o.DomainID, domainBy: "id"}
	default:
		user = account{name: o.Username, domain: o.DomainName, domainBy: "name"}
	}
	switch {
	case o.ApplicationCredentialID != "":
		return account{application: true, id: o.ApplicationCredentialID}
	case o.ApplicationCredentialName != "":
		return account{application: true, name: o.ApplicationCredentialName, user: user.key()}
	}
	return user
}

// accounts are those that a run has credentials of. The zero value is ready to use.
type accounts struct {
	mu    sync.Mutex
	known map[string]account         // by key
	at    map[string]map[string]bool // keys by Keystone
}

// note takes in the account of a credential, and of what may be used instead of it.
func (a *accounts) note(c *openstack.Credential) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at == nil {
		a.known, a.at = map[string]account{}, map[string]map[string]bool{}
	}
	for ; c != nil; c = c.Instead {
		at, who := c.Endpoint.String(), accountOf(c)
		if a.at[at] == nil {
			a.at[at] = map[string]bool{}
		}
		a.at[at][who.key()], a.known[who.key()] = true, who
	}
}

// same reports whether the account of a key may be the credential's, at one Keystone.
func (a *accounts) same(c *openstack.Credential) func(key string) bool {
	who := accountOf(c)
	return func(key string) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		other, ok := a.known[key]
		return ok && who.mayBe(other)
	}
}

// elsewhere reports whether the account may be one that has credentials for what is called
// otherwise, and may be the same Keystone.
func (a *accounts) elsewhere(c *openstack.Credential) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	who := accountOf(c)
	for at, keys := range a.at {
		for key := range keys {
			if at != c.Endpoint.String() && who.mayBe(a.known[key]) {
				return true
			}
		}
	}
	return false
}

// enter waits for the turn of the account. Where another Keystone may be the same, the
// server proves its key before, so that those that are not have turns of their own.
func (p *provider) enter(ctx context.Context, v *cloud, c *openstack.Credential) (*infra.LoginTurn, error) {
	at := c.Endpoint.String()
	if p.accounts.elsewhere(c) && v.transport.identityKey() == "" {
		err := p.retry.Do(ctx, func() error { return v.greet(ctx) })
		if err != nil {
			return nil, err
		}
	}
	return p.logins.Enter(ctx, infra.Server{Key: v.transport.identityKey(), Address: v.transport.hosts[at].dial}, accountOf(c).key(), p.accounts.same(c))
}

// greet asks Keystone for nothing of anybody's: what it answers does not matter.
func (v *cloud) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.identity().Endpoint, nil)
	if err != nil {
		return err
	}
	res, err := v.client.HTTPClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection is used again
	return nil
}
