package list

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

const (
	logoutTime  = 5 * time.Second
	logoutGrace = 400 * time.Millisecond // of a run that was interrupted: Ctrl-C ends it within a second
)

// cloud is a session in one project.
type cloud struct {
	client    *gophercloud.ProviderClient
	transport *transport
	own       bool // the credential is the backup's
	id        string
	project   *tokens.Project
	catalogue *tokens.ServiceCatalog
	services  map[string]*gophercloud.ServiceClient // by type, of those that may be contacted
	foreign   []infra.Endpoint                      // of the catalogue, and not contacted
	absent    map[string]bool                       // services that it lacks, by type
}

// Types of services in a catalogue (OpenStack service types authority).
const (
	typeCompute  = "compute"
	typeNetwork  = "network"
	typeImage    = "image"
	typeBalancer = "load-balancer"
)

// connect logs in and finds the services that are asked. seen becomes the certificates that
// the identity endpoint shows.
func (p *provider) connect(ctx context.Context, t infra.Target, d *openstack.Detail, c *openstack.Credential, seen *[]*x509.Certificate) (*cloud, error) {
	tr := &transport{hosts: map[string]*server{}}
	defer func() { *seen = tr.shown() }()
	if err := tr.allow(c.Endpoint, d, c, true); err != nil {
		return nil, err
	}
	client := &gophercloud.ProviderClient{IdentityBase: c.Options.IdentityEndpoint}
	client.UseTokenLock()
	client.HTTPClient = *tr.client()
	client.UserAgent.Prepend("drift-detector")
	v := &cloud{client: client, transport: tr, own: c.Operator == nil, services: map[string]*gophercloud.ServiceClient{}, absent: map[string]bool{}}
	if err := p.login(ctx, v, c); err != nil {
		tr.close()
		return nil, err
	}
	t.Redaction.Add(backup.NewSensitive(client.Token()))
	if err := v.find(d, c); err != nil {
		v.logout(ctx)
		return nil, err
	}
	return v, nil
}

// login asks for a token. One that was lost on the way is asked for once more: it may have
// failed at the server, and counts as if it had.
func (p *provider) login(ctx context.Context, v *cloud, c *openstack.Credential) error {
	turn, err := p.enter(ctx, v, c)
	if err != nil {
		return err
	}
	defer turn.Leave()
	before := turn.Failed()
	if turn.Left() == 0 {
		return infra.ErrLockout
	}
	o := optionsOf(&c.Options)
	err = p.retry.Do(ctx, func() error {
		if turn.Left() == 0 {
			return err // the last one, after which nobody is asked any more
		}
		failed := turn.Failed()
		turn.Try()
		err = infra.FinishLogin(ctx, callTimeout, func(ctx context.Context) error {
			result := tokens.Create(ctx, v.identity(), &o)
			if result.Err != nil {
				return result.Err
			}
			return v.client.SetTokenAndAuthResult(result)
		})
		// A proxy before a Keystone that is away says 503, and nobody has seen a password.
		if busy := (&infra.StatusError{}); errors.As(err, &busy) && busy.Code == http.StatusServiceUnavailable {
			turn.Forgive(failed)
		}
		return err
	})
	key := v.transport.identityKey()
	turn.Proved(key)
	if err == nil || key == "" && strings.HasPrefix(v.client.IdentityBase, "https:") { // nothing was sent
		turn.Forgive(before)
	}
	if err != nil {
		return err
	}
	result, ok := v.client.GetAuthResult().(tokens.CreateResult)
	if !ok || v.client.Token() == "" {
		return answerError("it answered a login with no token")
	}
	if v.project, err = result.ExtractProject(); err != nil || v.project == nil || v.project.ID == "" {
		v.logout(ctx)
		return errUnscoped
	}
	if v.catalogue, err = result.ExtractServiceCatalog(); err != nil || len(v.catalogue.Entries) == 0 {
		v.logout(ctx)
		return answerError("it answered a login with no catalogue of services")
	}
	v.id = v.project.ID // of one cloud, no matter at how many addresses it is
	return nil
}

// optionsOf returns a login as gophercloud has it.
func optionsOf(l *openstack.Options) tokens.AuthOptions {
	return tokens.AuthOptions{
		IdentityEndpoint: l.IdentityEndpoint, Username: l.Username, UserID: l.UserID, Password: l.Password, DomainID: l.DomainID, DomainName: l.DomainName,
		ApplicationCredentialID: l.ApplicationCredentialID, ApplicationCredentialName: l.ApplicationCredentialName, ApplicationCredentialSecret: l.ApplicationCredentialSecret,
		Scope: tokens.Scope{ProjectID: l.Scope.ProjectID, ProjectName: l.Scope.ProjectName, DomainID: l.Scope.DomainID, DomainName: l.Scope.DomainName},
	}
}

// identity returns the client of Keystone. gophercloud's own package for that asks which versions there are,
// and links all that it knows (openstack/client.go v2.15.0).
func (v *cloud) identity() *gophercloud.ServiceClient {
	return &gophercloud.ServiceClient{ProviderClient: v.client, Endpoint: v.client.IdentityBase + "v3/", Type: "identity"}
}

// errUnscoped says that a login leads to no project.
var errUnscoped = errors.New("the login leads to no project, and without one no servers are seen")

// find makes clients of the services of the catalogue, which is foreign text: a server is
// contacted only if its host is the identity endpoint's, or the operator allows it by
// name. Compute and network must be there.
func (v *cloud) find(d *openstack.Detail, c *openstack.Credential) error {
	lacking := []string{}
	for _, kind := range []string{typeCompute, typeNetwork, typeImage, typeBalancer} {
		raw, err := endpointOf(v.catalogue, kind, c.Region, c.Service)
		needed := kind == typeCompute || kind == typeNetwork
		if err != nil {
			if needed {
				return err
			}
			v.absent[kind] = true
			continue
		}
		at, base, err := serviceAt(raw, c)
		if err != nil {
			if needed {
				return answerError(fmt.Sprintf("its catalogue leads %s to an address that is not contacted: %v", kind, err))
			}
			continue
		}
		if _, allowed := d.Ways.Reroute(at); at.Host != c.Endpoint.Host && !allowed {
			v.foreign = append(v.foreign, at)
			if needed {
				lacking = append(lacking, kind)
			}
			continue
		}
		if v.transport.hosts[at.String()] == nil {
			if err := v.transport.allow(at, d, c, false); err != nil {
				return err
			}
		}
		v.services[kind] = &gophercloud.ServiceClient{ProviderClient: v.client, Endpoint: base, Type: kind}
	}
	if len(lacking) > 0 {
		return &foreignError{lacking, v.foreign}
	}
	return nil
}

// foreignError says that a catalogue leads to servers that nobody allowed.
type foreignError struct {
	services []string
	at       []infra.Endpoint
}

func (e *foreignError) Error() string {
	var hosts []string
	for _, at := range e.at {
		hosts = append(hosts, at.String())
	}
	return fmt.Sprintf("its catalogue says that %s is at another host (%s), and a token is sent only to the identity endpoint's own",
		strings.Join(e.services, " and "), strings.Join(hosts, ", "))
}

// flags returns the options that allow the servers.
func (e *foreignError) flags() string {
	var all []string
	for _, at := range e.at {
		if f := fmt.Sprintf("--endpoint %s=%s", at, at); !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return strings.Join(all, " ")
}

// endpointOf returns the address of a service, as the catalogue writes it.
func endpointOf(all *tokens.ServiceCatalog, kind, region, service string) (string, error) {
	var found []tokens.Endpoint
	elsewhere := map[string]bool{}
	for _, e := range all.Entries {
		if e.Type != kind {
			continue
		}
		for _, at := range e.Endpoints {
			if at.Interface == service {
				elsewhere[cmp.Or(at.RegionID, at.Region)] = true
			}
			if at.Interface == service && (region == "" || at.Region == region || at.RegionID == region) {
				found = append(found, at)
			}
		}
	}
	regions := map[string]bool{}
	for _, at := range found {
		regions[cmp.Or(at.RegionID, at.Region)] = true
	}
	switch {
	case len(elsewhere) > 0 && len(found) == 0:
		return "", &regionError{regions: slices.Sorted(maps.Keys(elsewhere)), asked: region, of: service + " endpoint of service " + kind}
	case len(found) == 0:
		return "", answerError(fmt.Sprintf("its catalogue has no %s endpoint of service %s", service, kind))
	case len(regions) > 1:
		return "", &regionError{regions: slices.Sorted(maps.Keys(regions))}
	}
	return found[0].URL, nil
}

// regionError says that nobody knows which region is meant, or that there is none of that
// name.
type regionError struct {
	regions   []string // that the catalogue has
	asked, of string   // the region that was named, and what it lacks; empty: none was named
}

func (e *regionError) Error() string {
	if e.asked != "" {
		return fmt.Sprintf("its catalogue has no %s in region %s: it has one in %s", e.of, infra.Brief(e.asked), infra.Brief(strings.Join(e.regions, ", ")))
	}
	return fmt.Sprintf("its catalogue has %d regions, and neither identityRef nor clouds.yaml names one", len(e.regions))
}

// serviceAt reads an address of a catalogue. Plain HTTP is for whom the operator's own
// configuration says it.
func serviceAt(raw string, c *openstack.Credential) (at infra.Endpoint, base string, err error) {
	plain := c.Operator != nil && c.Operator.Plain
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" || u.User != nil {
		return at, "", infra.ErrHost
	}
	if u.Scheme == "http" && plain && u.Port() == "" {
		u.Host += ":80"
	}
	asked := raw
	if plain {
		asked = "https://" + u.Host
	}
	if at, err = infra.ParseEndpoint(asked); err != nil {
		return at, "", err
	}
	if !openstack.IsPath(u.Path) {
		return at, "", infra.ErrHost
	}
	return at, u.Scheme + "://" + at.String() + gophercloud.NormalizeURL(u.Path), nil
}

// logout revokes the token, also when the run was interrupted; where listings share their
// answers, and so the token, when the last is done.
func (v *cloud) logout(ctx context.Context) {
	if !infra.AtEnd(ctx, v.client.Token(), v.end) {
		v.end(ctx)
	}
}

func (v *cloud) end(ctx context.Context) {
	limit := logoutTime
	if ctx.Err() != nil {
		limit = logoutGrace
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	token := v.client.Token()
	if identity := v.identity(); token != "" {
		// A token that cannot be revoked ends by itself: nothing is to be said of it.
		_, _ = identity.Delete(ctx, identity.ServiceURL("auth", "tokens"), &gophercloud.RequestOpts{
			MoreHeaders: map[string]string{"X-Subject-Token": token}, OkCodes: []int{http.StatusNoContent, http.StatusNotFound},
		})
	}
	v.transport.close()
}
