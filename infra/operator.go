package infra

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"drift-detector/backup"
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

// EnvironmentCredential is what govc's variables say: GOVC_URL names the one
// endpoint that GOVC_USERNAME and GOVC_PASSWORD are for; where these are
// missing, user and password inside GOVC_URL count (govmomi
// cli/flags/client.go v0.56.0). It is false when GOVC_URL is unset or no
// endpoint, or when user or password is missing.
func EnvironmentCredential(getenv func(string) string) (Credential, bool) {
	text := strings.TrimSpace(getenv("GOVC_URL"))
	if text == "" {
		return Credential{}, false
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return Credential{}, false
	}
	password, _ := u.User.Password()
	c := Credential{Source: "GOVC_URL", Username: u.User.Username()}
	if user := getenv("GOVC_USERNAME"); user != "" {
		c.Source, c.Username = "GOVC_USERNAME", user
	}
	if own := getenv("GOVC_PASSWORD"); own != "" {
		password = own
	}
	u.User = nil
	at, err := ParseEndpoint(u.String())
	if err != nil || c.Username == "" || password == "" {
		return Credential{}, false
	}
	c.Endpoint, c.Password = at.String(), backup.NewSensitive(password)
	return c, true
}
