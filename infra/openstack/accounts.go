package openstack

import (
	"context"
	"slices"
	"strings"
	"sync"

	"drift-detector/infra"
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
		return strings.ToLower(join(kind, "id", a.id))
	}
	return strings.ToLower(join(kind, a.domainBy, a.domain, a.user, a.name))
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

// accountOf is who logs in with a credential.
func (c *credential) accountOf() account {
	o := &c.options
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

// accounts are those that a run has credentials of, by Keystone. The zero value is ready
// to use.
type accounts struct {
	mu sync.Mutex
	at map[string]map[string]account // by endpoint and key
}

// note takes in the account of a credential, and of what may be used instead of it.
func (a *accounts) note(c *credential) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ; c != nil; c = c.instead {
		at := c.endpoint.String()
		if a.at == nil {
			a.at = map[string]map[string]account{}
		}
		if a.at[at] == nil {
			a.at[at] = map[string]account{}
		}
		who := c.accountOf()
		a.at[at][who.key()] = who
	}
}

// same are the keys of all accounts that may be the credential's, its own among them, in
// order.
func (a *accounts) same(c *credential) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	who := c.accountOf()
	keys := []string{who.key()}
	for key, other := range a.at[c.endpoint.String()] {
		if who.mayBe(other) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// loginTurns are the turns of all accounts that may be one.
type loginTurns struct {
	all []*infra.LoginTurn
	own *infra.LoginTurn
}

// enter waits for the turns of all accounts that may be the credential's; in order, so that
// two that wait for each other's cannot be. leave must be called when it returns no error.
func (p *provider) enter(ctx context.Context, c *credential) (t loginTurns, err error) {
	own := c.accountOf().key()
	for _, key := range p.accounts.same(c) {
		turn, err := p.logins.Enter(ctx, c.endpoint.String(), key)
		if err != nil {
			t.leave()
			return loginTurns{}, err
		}
		t.all = append(t.all, turn)
		if key == own {
			t.own = turn
		}
	}
	return t, nil
}

func (t *loginTurns) leave() {
	for _, turn := range t.all {
		turn.Leave()
	}
}

// failed is how many logins have failed of what may be one account.
func (t *loginTurns) failed() int {
	n := 0
	for _, turn := range t.all {
		n += turn.Failed
	}
	return min(n, infra.MaxFailedLogins)
}
