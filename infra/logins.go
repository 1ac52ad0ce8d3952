package infra

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// MaxFailedLogins is how many logins may fail for one account in a run: servers lock
// accounts, and a locked service account would stop the clusters that run, too.
const MaxFailedLogins = 2

// ErrLockout says that no further login is tried.
var ErrLockout = fmt.Errorf("%d logins of this account have failed; no further one is tried, so that it is not locked", MaxFailedLogins)

// Server tells one server from others, however it is called.
type Server struct {
	Key     string // what it has proven to hold, such as the key of its certificate; empty before
	Address string // host:port that is dialled
}

// mayBe reports whether two may be one: only another key at another address says that they
// are not.
func (s Server) mayBe(o Server) bool {
	return s.Address == o.Address || s.Key == "" || o.Key == "" || s.Key == o.Key
}

// Logins counts failed logins by server and user, whatever the server is called and which
// password was tried. Logins of one account take turns, so that two targets can't fail at
// the same time. The zero value is ready to use.
type Logins struct {
	mu     sync.Mutex
	all    []*LoginTurn // those that have failed, and those that go on
	active map[*LoginTurn]bool
}

// LoginTurn is the turn of one account at one server.
type LoginTurn struct {
	logins *Logins
	server Server
	user   string
	failed int // logins of this turn, as long as nobody knows better
	same   func(user string) bool
	done   chan struct{}
}

// Enter waits for the turn of an account, whose name may be written in any case. same
// reports whether another name may be of the account; nil is the same name alone. Leave
// must be called when it returns nil; the error is that of the context.
func (l *Logins) Enter(ctx context.Context, server Server, user string, same func(string) bool) (*LoginTurn, error) {
	t := &LoginTurn{logins: l, server: server, user: strings.ToLower(strings.TrimSpace(user)), same: same, done: make(chan struct{})}
	for {
		other := l.begin(t)
		if other == nil {
			return t, nil
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin lets a turn begin, or returns one that is to end before.
func (l *Logins) begin(t *LoginTurn) *LoginTurn {
	l.mu.Lock()
	defer l.mu.Unlock()
	for other := range l.active {
		if t.mayBe(other) {
			return other
		}
	}
	if l.active == nil {
		l.active = map[*LoginTurn]bool{}
	}
	l.active[t] = true
	l.all = append(l.all, t)
	return nil
}

func (t *LoginTurn) mayBe(o *LoginTurn) bool {
	return t.server.mayBe(o.server) && (t.user == o.user || t.same != nil && t.same(o.user))
}

// Left returns how many logins of the account may still fail.
func (t *LoginTurn) Left() int {
	l := t.logins
	l.mu.Lock()
	defer l.mu.Unlock()
	n := MaxFailedLogins
	for _, other := range l.all {
		if other == t || t.mayBe(other) {
			n -= other.failed
		}
	}
	return max(n, 0)
}

// Try counts a login that is about to be sent: it has failed as long as nobody knows better.
func (t *LoginTurn) Try() { t.count(func() { t.failed++ }) }

// Failed returns how many logins of the turn have failed so far.
func (t *LoginTurn) Failed() (n int) {
	t.count(func() { n = t.failed })
	return n
}

// Forgive takes back what the turn has counted since there were so many: a login succeeded,
// and what was lost before had the same password; or nothing was sent.
func (t *LoginTurn) Forgive(failed int) { t.count(func() { t.failed = failed }) }

// Proved notes the key that the server has proven to hold meanwhile.
func (t *LoginTurn) Proved(key string) { t.count(func() { t.server.Key = key }) }

func (t *LoginTurn) count(f func()) {
	t.logins.mu.Lock()
	defer t.logins.mu.Unlock()
	f()
}

// Leave ends the turn.
func (t *LoginTurn) Leave() {
	l := t.logins
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.active, t)
	if t.failed == 0 {
		l.all = slices.DeleteFunc(l.all, func(o *LoginTurn) bool { return o == t })
	}
	close(t.done)
}

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
