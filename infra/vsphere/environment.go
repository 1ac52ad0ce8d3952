package vsphere

import (
	"net/url"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
)

// govcCredential reads govc's variables: GOVC_URL names the one
// endpoint that GOVC_USERNAME and GOVC_PASSWORD are for; where these are
// missing, user and password inside GOVC_URL count (govmomi
// cli/flags/client.go v0.56.0). It is false when GOVC_URL is unset or no
// endpoint, or when user or password is missing.
func govcCredential(getenv func(string) string) (infra.Credential, bool) {
	text := strings.TrimSpace(getenv("GOVC_URL"))
	if text == "" {
		return infra.Credential{}, false
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return infra.Credential{}, false
	}
	password, _ := u.User.Password()
	c := infra.Credential{Source: "GOVC_URL", Username: u.User.Username()}
	if user := getenv("GOVC_USERNAME"); user != "" {
		c.Source, c.Username = "GOVC_USERNAME", user
	}
	if own := getenv("GOVC_PASSWORD"); own != "" {
		password = own
	}
	u.User = nil
	at, err := infra.ParseEndpoint(u.String())
	if err != nil || c.Username == "" || password == "" {
		return infra.Credential{}, false
	}
	c.Endpoint, c.Password = at.String(), backup.NewSensitive(password)
	return c, true
}
