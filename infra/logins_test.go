package infra

import (
	"context"
	"testing"
	"time"
)

// Two servers are two only where both the key and the address differ, and a login counts
// wherever the account may be the same.
func TestLoginsCountByAccount(t *testing.T) {
	a := Server{Key: "k1", Address: "a:1"}
	for _, c := range []struct {
		second Server
		user   string
		left   int
	}{
		{a, "user", 0},
		{a, " USER", 0},
		{a, "other", MaxFailedLogins},
		{Server{Key: "k1", Address: "b:2"}, "user", 0},
		{Server{Key: "k2", Address: "a:1"}, "user", 0},
		{Server{Key: "k2", Address: "b:2"}, "user", MaxFailedLogins},
		{Server{Address: "b:2"}, "user", 0},
	} {
		var l Logins
		for range MaxFailedLogins {
			turn, err := l.Enter(t.Context(), a, "user", nil)
			if err != nil {
				t.Fatal(err)
			}
			turn.Try()
			turn.Leave()
		}
		turn, err := l.Enter(t.Context(), c.second, c.user, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := turn.Left(); n != c.left {
			t.Errorf("%+v, %q: %d may fail, want %d", c.second, c.user, n, c.left)
		}
		turn.Leave()
	}
}

// Logins of one account take turns, and those of others do not wait for them.
func TestLoginsTakeTurns(t *testing.T) {
	var l Logins
	enter := func(ctx context.Context, key, address string) (*LoginTurn, error) {
		return l.Enter(ctx, Server{Key: key, Address: address}, "user", nil)
	}
	first, err := enter(t.Context(), "k1", "a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := enter(t.Context(), "k2", "b")
	if err != nil {
		t.Fatal(err)
	}
	other.Leave()
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := enter(ended, "k1", "c"); err == nil {
		t.Error("two logins of one account go on at a time")
	}
	entered := make(chan *LoginTurn)
	go func() {
		turn, _ := enter(t.Context(), "k1", "c")
		entered <- turn
	}()
	first.Try()
	first.Leave()
	select {
	case turn := <-entered:
		if n := turn.Left(); n != MaxFailedLogins-1 {
			t.Errorf("%d may fail", n)
		}
		turn.Leave()
	case <-time.After(10 * time.Second):
		t.Error("the second login waits on")
	}
}
