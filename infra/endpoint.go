package infra

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Why a string is no endpoint. The texts quote nothing of it: a password may
// stand anywhere in a URL.
var (
	// ErrPlainHTTP asks for http://: a credential would travel in clear.
	ErrPlainHTTP = errors.New("http:// is refused, only https:// is used")
	ErrScheme    = errors.New("its scheme is not https")
	ErrPort      = errors.New("its port is not a number from 1 to 65535")
	ErrHost      = errors.New("it is not a host, host:port or https:// URL")
)

// Endpoint is a server in the one form in which servers are compared: lower
// case, with the port, without scheme, user info and path.
type Endpoint struct {
	Host string // name or IP address, without brackets
	Port string
}

// String is host:port, with brackets around an IPv6 address.
func (e Endpoint) String() string { return net.JoinHostPort(e.Host, e.Port) }

// ParseEndpoint reads what backups and operators write for a server: a host, a
// host and port, or a URL. The port is 443 where none is given. It returns
// one of the errors above for anything else: the string may come from a hostile
// backup.
func ParseEndpoint(s string) (Endpoint, error) {
	rest := strings.TrimSpace(s)
	if scheme, after, ok := strings.Cut(rest, "://"); ok {
		switch strings.ToLower(scheme) {
		case "https":
			rest = after
		case "http":
			return Endpoint{}, ErrPlainHTTP
		default:
			return Endpoint{}, ErrScheme
		}
	}
	if addr, err := netip.ParseAddr(rest); err == nil {
		return Endpoint{addr.String(), "443"}, nil
	}
	u, err := url.Parse("https://" + rest)
	if err != nil {
		return Endpoint{}, ErrHost
	}
	host, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	if port == "" {
		port = "443"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Endpoint{}, ErrPort
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return Endpoint{addr.String(), port}, nil
	}
	if !isHostName(host) {
		return Endpoint{}, ErrHost
	}
	return Endpoint{host, port}, nil
}

// isHostName accepts what DNS serves in practice (RFC 1123 and underscores).
func isHostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for _, label := range strings.Split(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for _, c := range label {
			switch {
			case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			default:
				return false
			}
		}
	}
	return true
}

// CredentialFor returns what the operator gave for an endpoint, in any of the
// forms that ParseEndpoint reads. The first that fits wins.
func (a Access) CredentialFor(endpoint string) (Credential, bool) {
	want, err := ParseEndpoint(endpoint)
	if err != nil {
		return Credential{}, false
	}
	for _, c := range a.Credentials {
		if have, err := ParseEndpoint(c.Endpoint); err == nil && have == want {
			return c, true
		}
	}
	return Credential{}, false
}

// DialAddress is the host:port at which to reach an endpoint of the backup: the
// target of the Reroute that names it, else the endpoint itself.
func (a Access) DialAddress(endpoint Endpoint) string {
	for _, r := range a.Reroutes {
		if from, err := ParseEndpoint(r.From); err == nil && from == endpoint {
			if to, err := ParseEndpoint(r.To); err == nil {
				return to.String()
			}
		}
	}
	return endpoint.String()
}
