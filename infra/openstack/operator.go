package openstack

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"drift-detector/infra"
)

// operatorTLS is how the operator's own configuration reaches its cloud: it may say plain
// HTTP, other roots, or no checks, which a backup may not.
type operatorTLS struct {
	plain bool
	conf  *tls.Config
}

func operatorAllowed(a infra.Access) bool { return a.Options[flagCloud] != "" }

// ofOperator reads the operator's own clouds.yaml, or the variables of the openstack
// command. Its errors hold nothing of either.
func (p *provider) ofOperator(a infra.Access) (found, error) {
	name := a.Options[flagCloud]
	if name == ofVariables {
		return p.ofVariables()
	}
	file, text := p.ownClouds("clouds.yaml")
	if file == "" {
		return found{}, fmt.Errorf("--%s: you have no clouds.yaml", flagCloud)
	}
	_, secure := p.ownClouds("secure.yaml")
	entry, _, why := readCloud(text, secure, name)
	if why != "" {
		return found{}, fmt.Errorf("--%s: your own %s %s", flagCloud, file, why)
	}
	return entry.ofOperator(fmt.Sprintf("cloud %s of your own %s (--%s)", name, file, flagCloud), entry.CACert)
}

// ownClouds reads one of the operator's own files where the openstack command looks for it
// (openstacksdk 4, config/loader.py): it is empty where there is none.
func (p *provider) ownClouds(name string) (file, text string) {
	places := []string{name}
	if home, err := os.UserHomeDir(); err == nil {
		places = append(places, filepath.Join(cmp.Or(p.getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "openstack", name))
	}
	places = append(places, filepath.Join("/etc/openstack", name))
	if own := p.getenv("OS_CLIENT_CONFIG_FILE"); own != "" {
		places = []string{filepath.Join(filepath.Dir(own), name)}
		if name == "clouds.yaml" {
			places[0] = own
		}
	}
	for _, file := range places {
		if content, err := os.ReadFile(file); err == nil {
			return file, string(content)
		}
	}
	return "", ""
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
		return found{}, fmt.Errorf("--%s %s: what your OS_ variables say %s", flagCloud, ofVariables, why)
	}
	return entry.ofOperator(source, p.getenv("OS_CACERT"))
}

// ofOperator makes a login of an entry that is the operator's own. Its file of roots is
// opened, and what it says of checks is heeded.
func (c *cloudEntry) ofOperator(source, roots string) (found, error) {
	at, base, plain, err := operatorAt(c.Auth.AuthURL)
	if err != nil {
		return found{}, fmt.Errorf("auth_url of %s: %w", source, err)
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.Verify != nil && !*c.Verify}
	if roots != "" {
		pem, err := os.ReadFile(roots)
		conf.RootCAs = x509.NewCertPool()
		if err != nil || !conf.RootCAs.AppendCertsFromPEM(pem) {
			return found{}, fmt.Errorf("cacert of %s names no file of certificates in PEM form", source)
		}
	}
	login := c.login(at, base)
	login.operator = &operatorTLS{plain: plain, conf: conf}
	return found{credential: login, source: source}, nil
}

// operatorAt does what identityAt does, for the operator's own configuration.
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
