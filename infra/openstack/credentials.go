package openstack

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/internal/lazyregexp"
	"drift-detector/report/code"
)

// Credential is what a login needs.
type Credential struct {
	capi.Redacted
	Options  Options
	Endpoint infra.Endpoint
	Region   string // empty: the only one
	Service  string // which endpoints of the catalogue: "public"
	Project  string // as the credential names it, for people
	CA       []byte
	Any      bool         // clouds.yaml says verify: false, so that CAPO takes any certificate
	Operator *OperatorTLS // of the operator's own; nil: the backup's
	// Instead is the operator's own, if it may be used: it is tried when Keystone refuses
	// the backup's, which may have been changed since.
	Instead       *Credential
	InsteadSource string
}

// Options are what Keystone is asked with: a user, or an application credential, and a project.
type Options struct {
	IdentityEndpoint                                   string // without the version
	Username, UserID, Password                         string
	DomainID, DomainName                               string // of the user
	ApplicationCredentialID, ApplicationCredentialName string
	ApplicationCredentialSecret                        string
	Scope                                              Scope
}

// Scope is the project that a login is for; an application credential has one of its own.
type Scope struct {
	ProjectID, ProjectName string
	DomainID, DomainName   string // of the project, where that is named
}

// lister is what a listing with a credential is made as: those of equal listers are one.
type lister struct {
	options             Options
	endpoint            infra.Endpoint
	region, service, ca string
	operator            bool
}

func (c *Credential) lister() lister {
	return lister{c.Options, c.Endpoint, c.Region, c.Service, string(c.CA), c.Operator != nil}
}

// found is a credential and the object that it comes from.
type found struct {
	Credential
	source   string // "Secret team-a/cloud-config"
	warnings []string
	given    bool   // by the operator, in the place of own
	own      *found // the backup's; nil where it holds none
}

// HintOwn says what to give where the credential of a backup does not do.
const HintOwn = "use a credential of your own that may read this project: --openstack-cloud NAME for an entry of your clouds.yaml, or envvars for your OS_ variables; `drift-detector permissions openstack` says what it must be allowed"

func noCredential(format string, args ...any) *infra.Fault {
	return capi.NoCredential(HintOwn, format, args...)
}

// credentialOf finds the credential of a home as CAPO does, and the operator's own where
// that is lacking and may be used instead.
func (p *Provider) credentialOf(objs *objects, h home, secrets *backup.Secrets, a infra.Access) (found, *infra.Fault) {
	f, fault := objs.fromBackup(h, secrets)
	if fault == nil {
		f, fault = f.override(a)
	}
	if !operatorAllowed(a) {
		return f, fault
	}
	own, err := p.ofOperator(a)
	switch {
	case err != nil && fault != nil:
		fault.Message += fmt.Sprintf("; and %v", err)
		return found{}, fault
	case err != nil:
		f.warnings = append(f.warnings, err.Error())
		return f, nil
	case fault != nil && fault.Reason == code.BadEndpoint:
		return found{}, fault
	case fault != nil:
		own.given, own.Region = true, cmp.Or(h.region, own.Region)
		own.warnings = append(own.warnings, fmt.Sprintf("%s; used instead: %s", fault.Message, own.source))
		return own, nil
	}
	own.Region = cmp.Or(f.Region, own.Region)
	f.Instead, f.InsteadSource = &own.Credential, own.source
	return f, nil
}

// fromBackup reads the Secret that an identityRef leads to.
func (objs *objects) fromBackup(h home, secrets *backup.Secrets) (found, *infra.Fault) {
	namespace, name := h.namespace, h.name
	switch {
	case h.kind == unknownIdentity:
		return found{}, noCredential("%s of cluster %s/%s %s, so nothing says which credential it uses", clusterKind, h.namespace, h.name, objs.snapshot.Lacks(h.backup, clusterKind))
	case h.kind == noIdentity:
		return found{}, noCredential("cluster %s/%s names no identityRef: CAPO uses a clouds.yaml of its own, which is not in %s", h.namespace, h.name, objs.snapshot.Subject().The())
	case h.forbidden:
		why, _ := objs.forbidden(h.backup, h.name, h.namespace)
		return found{}, noCredential("%s", why)
	case h.kind == identityKind:
		object := objs.identities[capi.Object{Backup: h.backup, Name: h.name}]
		if object == nil {
			return found{}, noCredential("%s %s %s, so nothing says in which Secret its credential is", identityKind, h.name, objs.snapshot.Lacks(h.backup, identityKind))
		}
		namespace, name = object.Data.Namespace, object.Data.Secret
	}
	if why := h.mistake(); why != "" {
		return found{}, capi.BadIdentity(HintOwn+"; correct "+referenceFields+" before the clusters are unpaused", "%s", why)
	}
	what := fmt.Sprintf("Secret %s/%s", namespace, name)
	s := secrets.Named(h.backup, namespace, name)
	if s == nil {
		return found{}, noCredential("%s with %s %s", what, cloudsKey, objs.snapshot.Lacks(h.backup, "Secret"))
	}
	entry, warnings, why := readCloud(s.Value(cloudsKey).Reveal(), "", h.cloud)
	if why != "" {
		return found{}, noCredential("%s of %s %s", cloudsKey, what, why)
	}
	for i := range warnings {
		warnings[i] = fmt.Sprintf("%s of %s: %s", cloudsKey, what, warnings[i])
	}
	c, fault := entry.credential(what)
	if fault != nil {
		return found{}, fault
	}
	c.Region = cmp.Or(h.region, c.Region)
	if ca := s.Value(caKey).Reveal(); strings.TrimSpace(ca) != "" {
		c.CA = []byte(ca)
	}
	return found{Credential: c, source: what, warnings: warnings}, nil
}

// pathForm is the path of an identity endpoint: "/identity/v3".
var pathForm = lazyregexp.New(`^(/[A-Za-z0-9._~-]+)*/?$`)

// IsPath reports whether the path of an address is one that is followed.
func IsPath(path string) bool { return pathForm.MatchString(path) && !strings.Contains(path, "..") }

// identityAt reads an auth_url: the server, and the address without user info, query and
// version.
func identityAt(authURL string) (at infra.Endpoint, base string, err error) {
	authURL = strings.TrimSpace(authURL)
	if at, err = infra.ParseEndpoint(authURL); err != nil {
		return at, "", err
	}
	u, err := url.Parse(authURL)
	if err != nil || !IsPath(u.Path) {
		return at, "", infra.ErrHost
	}
	path := strings.TrimSuffix(u.Path, "/")
	for _, version := range []string{"/v3", "/v2.0"} {
		path = strings.TrimSuffix(path, version)
	}
	return at, "https://" + at.String() + path + "/", nil
}

// credential makes a login of an entry.
func (c *cloudEntry) credential(source string) (Credential, *infra.Fault) {
	a := &c.Auth
	at, base, err := identityAt(a.AuthURL)
	if err != nil {
		f := &infra.Fault{
			Reason: code.BadEndpoint, Message: fmt.Sprintf("auth_url in %s of %s: %v", cloudsKey, source, err),
			Hint: "correct auth_url; drift-detector contacts https:// servers only",
		}
		if errors.Is(err, infra.ErrPlainHTTP) {
			f.Hint = "the password would travel in clear; where that is meant, use a clouds.yaml of your own: --openstack-cloud NAME"
		}
		return Credential{}, f
	}
	return c.login(at, base), nil
}

// login returns what an entry logs in with at an identity endpoint.
func (c *cloudEntry) login(at infra.Endpoint, base string) Credential {
	a := &c.Auth
	o := Options{
		IdentityEndpoint: base, Username: a.Username, UserID: a.UserID, Password: a.Password,
		DomainID:                    cmp.Or(a.UserDomainID, a.DomainID),
		DomainName:                  cmp.Or(a.UserDomainName, a.DomainName),
		ApplicationCredentialID:     a.AppID,
		ApplicationCredentialName:   a.AppName,
		ApplicationCredentialSecret: a.AppSecret,
		Scope: Scope{
			ProjectID: cmp.Or(a.ProjectID, a.TenantID), ProjectName: cmp.Or(a.ProjectName, a.TenantName),
			DomainID: cmp.Or(a.ProjectDomainID, a.DomainID), DomainName: cmp.Or(a.ProjectDomainName, a.DomainName),
		},
	}
	made := finished(o, a.DefaultDomain, at, c.Region, c.catalogueInterface())
	made.Any = c.Verify != nil && !*c.Verify
	return made
}

// finished makes the options consistent, of which gophercloud refuses what is too much
// (openstack/identity/v3/tokens/requests.go v2.15.0).
func finished(o Options, defaultDomain string, at infra.Endpoint, region, service string) Credential {
	if o.DomainID == "" && o.DomainName == "" && o.UserID == "" {
		o.DomainID = cmp.Or(defaultDomain, "default")
	}
	if s := &o.Scope; s.DomainID == "" && s.DomainName == "" {
		s.DomainID, s.DomainName = o.DomainID, o.DomainName
		if s.DomainID == "" && s.DomainName == "" {
			s.DomainID = cmp.Or(defaultDomain, "default")
		}
	}
	if o.DomainID != "" || o.UserID != "" {
		o.DomainName = ""
	}
	if o.UserID != "" {
		o.DomainID = ""
		if o.ApplicationCredentialID == "" {
			o.Username = ""
		}
	}
	project := cmp.Or(o.Scope.ProjectName, o.Scope.ProjectID)
	switch s := &o.Scope; {
	case o.ApplicationCredentialID != "" || o.ApplicationCredentialName != "":
		// It is for one project; a scope beside it is refused.
		o.Scope, o.Password = Scope{}, ""
		if o.ApplicationCredentialID != "" {
			o.Username, o.UserID, o.DomainID, o.DomainName = "", "", "", ""
		}
		project = ""
	case s.ProjectID != "":
		o.Scope = Scope{ProjectID: s.ProjectID}
	case s.DomainID != "":
		s.DomainName = ""
	}
	return Credential{Options: o, Endpoint: at, Region: region, Service: service, Project: project}
}

// Who names the account for people.
func (c *Credential) Who() string {
	switch o := &c.Options; {
	case o.ApplicationCredentialID != "":
		return "application credential " + o.ApplicationCredentialID
	case o.ApplicationCredentialName != "":
		return "application credential " + o.ApplicationCredentialName
	default:
		return "user " + cmp.Or(o.Username, o.UserID)
	}
}

// override puts user and password that the operator gave for the endpoint in the place of
// the backup's. Project and domain stay the backup's.
func (f found) override(a infra.Access) (found, *infra.Fault) {
	given, ok := a.CredentialFor(f.Endpoint.String())
	if !ok || given.Username == "" && given.Password.IsZero() {
		return f, nil
	}
	o := f.Options
	if o.Scope == (Scope{}) {
		return found{}, noCredential("%s holds an application credential, which says no project that the user of %s could log in to", f.source, given.Source)
	}
	domain := cmp.Or(o.DomainID, o.DomainName)
	o.Username, o.UserID, o.Password = given.Username, "", given.Password.Reveal()
	if domain == "" {
		o.DomainID = "default"
	}
	c := finished(o, "", f.Endpoint, f.Region, f.Service)
	c.CA = f.CA
	return found{Credential: c, source: cmp.Or(given.Source, "--credentials"), warnings: f.warnings, given: true, own: &f}, nil
}
