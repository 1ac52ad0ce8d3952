package openstack

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"

	"drift-detector/infra"
)

// operatorTLS is how the operator's own configuration reaches its cloud: it may say plain
// HTTP, other roots, or no checks, which a backup may not.
type operatorTLS struct {
	plain bool
	conf  *tls.Config // nil: the system's roots
}

func operatorAllowed(a infra.Access) bool {
	return a.Options[flagAmbient] != "" || a.Options[flagCloud] != ""
}

// ofOperator reads the operator's own clouds.yaml, or the variables of the openstack
// command. Its errors hold nothing of either.
func (p *provider) ofOperator(a infra.Access) (found, error) {
	name := a.Options[flagCloud]
	source := fmt.Sprintf("cloud %s of your own clouds.yaml (--%s)", name, flagCloud)
	if name == "" {
		name = p.getenv("OS_CLOUD")
		source = fmt.Sprintf("your own OS_CLOUD %s (--%s)", name, flagAmbient)
	}
	var auth gophercloud.AuthOptions
	var where gophercloud.EndpointOpts
	var conf *tls.Config
	var err error
	if name != "" {
		auth, where, conf, err = clouds.Parse(clouds.WithCloudName(name))
	} else {
		source = fmt.Sprintf("your own OS_ variables (--%s)", flagAmbient)
		auth, err = openstack.AuthOptionsFromEnv()
		where = gophercloud.EndpointOpts{Region: p.getenv("OS_REGION_NAME"), Availability: gophercloud.Availability(strings.TrimSuffix(cmp.Or(p.getenv("OS_INTERFACE"), p.getenv("OS_ENDPOINT_TYPE")), "URL"))}
	}
	if err != nil {
		return found{}, fmt.Errorf("%s cannot be used: there is none that can be read", source)
	}
	at, base, plain, err := operatorAt(auth.IdentityEndpoint)
	if err != nil {
		return found{}, fmt.Errorf("auth_url of %s: %w", source, err)
	}
	c := ofEnvironment(auth, where, at, base)
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
