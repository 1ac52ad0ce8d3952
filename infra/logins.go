package infra

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// MaxFailedLogins is how many logins may fail for one account in a run: servers lock
// accounts, and a locked service account would stop the clusters that run, too.
const MaxFailedLogins = 2

// ErrLockout says that no further login is tried.
var ErrLockout = fmt.Errorf("%d logins of this account have failed; no further one is tried, so that it is not locked", MaxFailedLogins)

// Logins counts failed logins by server and user. Logins of one account take turns, so
// that two targets can't fail at the same time. The zero value is ready to use.
type Logins struct {
	mu       sync.Mutex
	accounts map[account]*LoginTurn
}

type account struct{ server, user string }

// LoginTurn is the turn of one account.
type LoginTurn struct {
	turn   chan struct{} // holds one token
	Failed int           // logins, so far
}

// Enter waits for the turn of an account, whose name may be written in any case. Leave
// must be called when it returns nil; the error is that of the context.
func (l *Logins) Enter(ctx context.Context, server, user string) (*LoginTurn, error) {
	a := account{server, strings.ToLower(strings.TrimSpace(user))}
	l.mu.Lock()
	if l.accounts == nil {
		l.accounts = map[account]*LoginTurn{}
	}
	t := l.accounts[a]
	if t == nil {
		t = &LoginTurn{turn: make(chan struct{}, 1)}
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

// Leave ends the turn.
func (t *LoginTurn) Leave() { <-t.turn }

// loginGrace is for a login that is under way when the run is interrupted.
const loginGrace = 400 * time.Millisecond

// FinishLogin runs a login that may take so long, and that outlives an interrupted context
// for a moment: a session that a server has opened and nobody has heard of could not be
// ended. The error is that of the context where it has ended before, else that of login.
func FinishLogin(ctx context.Context, most time.Duration, login func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(loginGrace):
			cancel()
		case <-detached.Done():
		}
	})
	defer stop()
	return login(detached)
}
