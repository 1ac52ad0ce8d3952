package openstack

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"

	"drift-detector/infra"
)

// operatorTLS is how the operator's own configuration reaches its cloud: it may say plain
// HTTP, other roots, or no checks, which a backup may not.
type operatorTLS struct {
	plain bool
	conf  *tls.Config // nil: the system's roots
}

func operatorAllowed(a infra.Access) bool { return a.Options[flagCloud] != "" }

// ofOperator reads the operator's own clouds.yaml, or the variables of the openstack
// command. Its errors hold nothing of either.
func (p *provider) ofOperator(a infra.Access) (found, error) {
	name := a.Options[flagCloud]
	if name == ofVariables {
		return p.ofVariables()
	}
	source := fmt.Sprintf("cloud %s of your own clouds.yaml (--%s)", name, flagCloud)
	auth, where, conf, err := clouds.Parse(clouds.WithCloudName(name))
	if err != nil {
		return found{}, fmt.Errorf("%s cannot be used: there is none, or it cannot be read", source)
	}
	at, base, plain, err := operatorAt(auth.IdentityEndpoint)
	if err != nil {
		return found{}, fmt.Errorf("auth_url of %s: %w", source, err)
	}
	c := ofLibrary(auth, where, at, base)
	c.operator = &operatorTLS{plain: plain, conf: conf}
	return found{credential: c, source: source}, nil
}

// ofVariables reads the OS_ variables: each is called as the member of clouds.yaml.
func (p *provider) ofVariables() (found, error) {
	source := fmt.Sprintf("your own OS_ variables (--%s %s)", flagCloud, ofVariables)
	values := map[string]string{}
	for name := range knownAuth {
		values[name] = p.getenv("OS_" + strings.ToUpper(name))
	}
	delete(values, "allow_reauth")
	entry := cloudEntry{Region: p.getenv("OS_REGION_NAME"), Interface: p.getenv("OS_INTERFACE"), EndpointType: p.getenv("OS_ENDPOINT_TYPE")}
	text, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(text, &entry.Auth)
	}
	if why := entry.lacks(); err != nil || why != "" {
		return found{}, fmt.Errorf("%s cannot be used: what they hold %s", source, why)
	}
	at, base, plain, err := operatorAt(entry.Auth.AuthURL)
	if err != nil {
		return found{}, fmt.Errorf("OS_AUTH_URL: %w", err)
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := p.getenv("OS_CACERT"); file != "" {
		pem, err := os.ReadFile(file)
		conf.RootCAs = x509.NewCertPool()
		if err != nil || !conf.RootCAs.AppendCertsFromPEM(pem) {
			return found{}, fmt.Errorf("OS_CACERT names no file of certificates in PEM form")
		}
	}
	c := entry.login(at, base)
	c.operator = &operatorTLS{plain: plain, conf: conf}
	return found{credential: c, source: source}, nil
}

// operatorAt is identityAt for the operator's own configuration.
func operatorAt(authURL string) (at infra.Endpoint, base string, plain bool, err error) {
	u, err := url.Parse(strings.TrimSpace(authURL))
	if err != nil || u.Scheme != "http" {
		at, base, err = identityAt(authURL)
		return at, base, false, err
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "80")
	}
	if at, base, err = identityAt("https://" + host + u.Path); err != nil {
		return at, "", true, err
	}
	return at, "http" + strings.TrimPrefix(base, "https"), true, nil
}
