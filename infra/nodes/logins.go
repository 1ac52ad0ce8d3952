package nodes

import (
	"cmp"
	"context"
	"crypto/tls"
	"net/http"
	"sync"

	"drift-detector/infra"
)

// loginTurn is the turn of the account that a client logs in as. It begins in a handshake:
// that shows which server it is, before the server is shown a token.
type loginTurn struct {
	mu   sync.Mutex
	turn *infra.LoginTurn // nil while none goes on
}

// prove waits for the turn of the account at the server that has proven to hold a key.
func (c *client) prove(cs tls.ConnectionState) error {
	c.current.mu.Lock()
	defer c.current.mu.Unlock()
	if c.current.turn != nil || len(cs.PeerCertificates) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.transport.TLSHandshakeTimeout)
	defer cancel()
	at := infra.Server{Key: infra.PublicKey(cs.PeerCertificates[0]), Address: c.address}
	turn, err := c.logins.Enter(ctx, at, cmp.Or(c.login.account(), "token"), nil)
	if err != nil {
		return err
	}
	if turn.Left() == 0 {
		turn.Leave()
		return infra.ErrLockout
	}
	turn.Try()
	c.current.turn = turn
	return nil
}

// settle ends the turn by what came of a call: the login failed, or it did not.
func (c *client) settle(status int, err error) {
	c.current.mu.Lock()
	defer c.current.mu.Unlock()
	turn := c.current.turn
	if turn == nil {
		return
	}
	c.current.turn = nil
	if status != http.StatusUnauthorized && remoteAlert(err) == "" && (err == nil || !hungUp(err) || !c.expired()) {
		turn.Forgive(0)
	}
	turn.Leave()
}
