package infratest

import (
	"net"
	"sync/atomic"
	"testing"
)

// Listen accepts connections, never answers, and counts.
func Listen(t *testing.T) (addr string, contacts func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		var open []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			n.Add(1)
			open = append(open, c)
		}
		for _, c := range open {
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String(), func() int { return int(n.Load()) }
}

// ClosedPort returns an address of loopback that refuses connections.
func ClosedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
