package openstack

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"drift-detector/infra"
)

// OperatorTLS is how the operator's own configuration reaches its cloud: it may say plain
// HTTP, other roots, or no checks, which a backup may not.
type OperatorTLS struct {
	Plain    bool
	Insecure bool           // no check of certificates
	Roots    *x509.CertPool // nil: the system's
}

func operatorAllowed(a infra.Access) bool { return a.Options[flagCloud] != "" }

// ofOperator reads the operator's own clouds.yaml, or the variables of the openstack
// command. Its errors hold nothing of either.
func (p *Provider) ofOperator(a infra.Access) (found, error) {
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
func (p *Provider) ownClouds(name string) (file, text string) {
	places := []string{name}
	if home, err := os.UserHomeDir(); err == nil {
		places = append(places, filepath.Join(cmp.Or(p.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "openstack", name))
	}
	places = append(places, filepath.Join("/etc/openstack", name))
	if own := p.Getenv("OS_CLIENT_CONFIG_FILE"); own != "" {
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
func (p *Provider) ofVariables() (found, error) {
	source := fmt.Sprintf("your own OS_ variables (--%s %s)", flagCloud, ofVariables)
	values := map[string]string{}
	for name := range knownAuth {
		values[name] = p.Getenv("OS_" + strings.ToUpper(name))
	}
	delete(values, "allow_reauth")
	entry := cloudEntry{Region: p.Getenv("OS_REGION_NAME"), Interface: p.Getenv("OS_INTERFACE"), EndpointType: p.Getenv("OS_ENDPOINT_TYPE")}
	text, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(text, &entry.Auth)
	}
	if why := entry.lacks(); err != nil || why != "" {
		return found{}, fmt.Errorf("--%s %s: what your OS_ variables say %s", flagCloud, ofVariables, why)
	}
	return entry.ofOperator(source, p.Getenv("OS_CACERT"))
}

// ofOperator makes a login of an entry that is the operator's own. Its file of roots is
// opened, and what it says of checks is heeded.
func (c *cloudEntry) ofOperator(source, roots string) (found, error) {
	at, base, plain, err := operatorAt(c.Auth.AuthURL)
	if err != nil {
		return found{}, fmt.Errorf("auth_url of %s: %w", source, err)
	}
	reached := &OperatorTLS{Plain: plain, Insecure: c.Verify != nil && !*c.Verify}
	if roots != "" {
		pem, err := os.ReadFile(roots)
		reached.Roots = x509.NewCertPool()
		if err != nil || !reached.Roots.AppendCertsFromPEM(pem) {
			return found{}, fmt.Errorf("cacert of %s names no file of certificates in PEM form", source)
		}
	}
	own := c.login(at, base)
	own.Operator = reached
	return found{Credential: own, source: source}, nil
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
		host = strings.TrimSuffix(host, ":") + ":80"
	}
	if at, base, err = identityAt("https://" + host + u.Path); err != nil {
		return at, "", true, err
	}
	return at, "http" + strings.TrimPrefix(base, "https"), true, nil
}
