package infra

import (
	"errors"
	"fmt"
	"strings"
)

// ParseReroute reads the value of --endpoint: FROM=TO, where both are a host, a
// host and port, or an https:// URL. The port is 443 where none is given.
func ParseReroute(s string) (Reroute, error) {
	from, to, ok := strings.Cut(s, "=")
	if !ok {
		return Reroute{}, errors.New("expected FROM=TO: the endpoint as the backup calls it, and where to reach it")
	}
	if strings.Contains(s, "@") {
		return Reroute{}, errors.New("an endpoint must not hold a user or password")
	}
	f, err := ParseEndpoint(from)
	if err != nil {
		return Reroute{}, fmt.Errorf("%q: %w", from, err)
	}
	t, err := ParseEndpoint(to)
	if err != nil {
		return Reroute{}, fmt.Errorf("%q: %w", to, err)
	}
	return Reroute{From: f.String(), To: t.String()}, nil
}
