package infra

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
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

// String returns host:port, with brackets around an IPv6 address.
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
	at, err := ParseEndpoint(endpoint)
	if err != nil {
		return Credential{}, false
	}
	c, given := a.indexed().index.credentials[at]
	return c, given
}

// Trusts returns the certificates that the operator gave for endpoints: of several for one, the
// first.
func (a Access) Trusts() map[Endpoint]Trust {
	all := map[Endpoint]Trust{}
	for _, c := range a.Credentials {
		at, err := ParseEndpoint(c.Endpoint)
		if err != nil || c.Thumbprint == "" && len(c.CA) == 0 {
			continue
		}
		if _, taken := all[at]; !taken {
			all[at] = Trust{Thumbprint: c.Thumbprint, CA: c.CA}
		}
	}
	return all
}

// Reroute returns the host:port at which the operator says that an endpoint of the backup
// is reached.
func (a Access) Reroute(endpoint Endpoint) (to string, given bool) {
	to, given = a.indexed().index.ways[endpoint]
	return to, given
}

// DialAddress returns the host:port at which to reach an endpoint of the backup: the
// target of the Reroute that names it, else the endpoint itself.
func (a Access) DialAddress(endpoint Endpoint) string {
	if to, given := a.Reroute(endpoint); given {
		return to
	}
	return endpoint.String()
}

// accessIndex is what the operator says by the endpoint that it is about: there may be as
// many as clusters, and each cluster asks.
type accessIndex struct {
	ways        map[Endpoint]string
	credentials map[Endpoint]Credential
}

// indexed returns the same with its index, which is of the Reroutes and Credentials of now.
func (a Access) indexed() Access {
	if a.index != nil {
		return a
	}
	a.index = &accessIndex{map[Endpoint]string{}, map[Endpoint]Credential{}}
	for _, r := range slices.Backward(a.Reroutes) { // the first stays
		from, err := ParseEndpoint(r.From)
		to, errTo := ParseEndpoint(r.To)
		if err == nil && errTo == nil {
			a.index.ways[from] = to.String()
		}
	}
	for _, c := range slices.Backward(a.Credentials) {
		if at, err := ParseEndpoint(c.Endpoint); err == nil {
			a.index.credentials[at] = c
		}
	}
	return a
}

// Ways returns the same without credentials, for what is kept until a place is listed.
func (a Access) Ways() Access {
	return Access{Reroutes: a.Reroutes, index: &accessIndex{ways: a.indexed().index.ways}}
}
