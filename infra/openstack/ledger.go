package openstack

import (
	"context"
	"sync"
)

// maxFailedLogins is how many logins may fail for one account in a run: Keystone locks
// accounts (security_compliance/lockout_failure_attempts), and a locked service account
// would stop the living clusters too.
const maxFailedLogins = 2

// ledger counts failed logins by endpoint and account. Logins of one account take turns,
// so that two targets can't fail at the same time.
type ledger struct {
	mu       sync.Mutex
	accounts map[account]*tries
}

type account struct{ endpoint, user string }

type tries struct {
	turn   chan struct{} // holds one token
	failed int
}

func newLedger() *ledger { return &ledger{accounts: map[account]*tries{}} }

// enter waits for the account's turn. leave must be called when it returns nil.
func (l *ledger) enter(ctx context.Context, a account) (*tries, error) {
	l.mu.Lock()
	t := l.accounts[a]
	if t == nil {
		t = &tries{turn: make(chan struct{}, 1)}
		l.accounts[a] = t
	}
	l.mu.Unlock()
	select {
	case t.turn <- struct{}{}:
		return t, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t *tries) leave() { <-t.turn }
