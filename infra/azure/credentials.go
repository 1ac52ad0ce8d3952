package azure

import (
	"errors"
	"fmt"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// Types of an AzureClusterIdentity (api/v1beta1/azureclusteridentity_types.go v1.26.0).
const (
	typeSecret       = "ServicePrincipal"
	typeManual       = "ManualServicePrincipal"
	typeCertificate  = "ServicePrincipalCertificate"
	typeWorkload     = "WorkloadIdentity"
	typeMSI          = "UserAssignedMSI"
	typeUserAssigned = "UserAssignedIdentityCredential"
)

// Credential is what a login needs.
type Credential struct {
	capi.Redacted
	Cloud        string // a name of Clouds
	Tenant       string // a UUID, as Client and Subscription
	Client       string
	Subscription string
	Secret       string // of the client; empty: another way
	Certificate  *Certificate
	Federated    string // file of the operator's own with a token that stands for a secret
	CLI          bool   // the operator's own az command gives the token
	Operator     bool   // it is the operator's own
	// Instead is the operator's own, if it may be used: it is tried when the backup's is
	// refused, which may have been changed since.
	Instead       *Credential
	InsteadSource string
}

// lister is what a listing with a credential is made as: those of equal listers are one.
type lister struct{ cloud, tenant, client, subscription, secret, certificate, federated, cli string }

func (c *Credential) lister() lister {
	l := lister{c.Cloud, c.Tenant, c.Client, c.Subscription, c.Secret, "", c.Federated, fmt.Sprint(c.CLI)}
	if c.Certificate != nil {
		l.certificate = c.Certificate.thumbprint
	}
	return l
}

// Who names the account for people.
func (c *Credential) Who() string {
	switch {
	case c.CLI:
		return "the login of your az command"
	case c.Certificate != nil:
		return "client " + c.Client + " with a certificate"
	case c.Federated != "":
		return "client " + c.Client + " by its workload identity"
	}
	return "client " + c.Client
}

// secrets returns all that a login sends, also that of the credential that may be used instead.
func (c *Credential) secrets() []backup.Sensitive {
	all := []backup.Sensitive{backup.NewSensitive(c.Secret)}
	if c.Instead != nil {
		all = append(all, c.Instead.secrets()...)
	}
	return all
}

// found is a credential and the object that it comes from.
type found struct {
	Credential
	source   string // "Secret team-a/sp-secret"
	warnings []string
	given    bool // by the operator, in the place of the backup's
	unread   bool // the backup may hold one that CAPZ can read, and that is not read here
}

// HintOwn says what to give where the credential of a backup does not do.
const HintOwn = "use a login of your own that may read this subscription: --azure-cli for that of your az command, or --azure-ambient for your AZURE_ variables; `drift-detector permissions azure` says what it must be allowed"

func noCredential(format string, args ...any) *infra.Fault {
	return capi.NoCredential(HintOwn, format, args...)
}

// credentialOf finds the credential of a home as CAPZ does, and the operator's own where
// that is lacking and may be used instead.
func (p *Provider) credentialOf(objs *objects, h home, secrets *backup.Secrets, a infra.Access) (found, *infra.Fault) {
	if _, known := Clouds[h.cloud]; !known {
		return found{}, &infra.Fault{
			Reason: code.BadEndpoint, Message: fmt.Sprintf("azureEnvironment %q is no cloud that is contacted", infra.Brief(h.cloud)),
			Hint: "correct azureEnvironment: it is one of " + strings.Join(sortedNames(Clouds), ", "),
		}
	}
	if !uuidForm.MatchString(h.subscription) {
		of := objs.snapshot.Subject()
		f := capi.BadIdentity("write the id of the subscription into spec.subscriptionID of the cluster's object"+of.Or(", and take the backup again", ""), "no object of %s says the subscription: CAPZ takes it from its own environment", of.The())
		if h.subscription != "" {
			f.Message = fmt.Sprintf("subscriptionID %q is no UUID", infra.Brief(h.subscription))
		}
		return found{}, f
	}
	f, fault := objs.fromBackup(h, secrets)
	if a.Options[flagCLI] == "" && a.Options[flagAmbient] == "" {
		return f, fault
	}
	own, err := p.ofOperator(h, a)
	switch {
	case err != nil && fault != nil:
		fault.Message += fmt.Sprintf("; and %v", err)
		return found{}, fault
	case err != nil:
		f.warnings = append(f.warnings, err.Error())
		return f, nil
	case fault != nil:
		own.given, own.unread = true, f.unread
		own.warnings = append(own.warnings, fmt.Sprintf("%s; used instead: %s", fault.Message, own.source))
		return own, nil
	}
	f.Instead, f.InsteadSource = &own.Credential, own.source
	return f, nil
}

// fromBackup reads the Secret that an identity names.
func (objs *objects) fromBackup(h home, secrets *backup.Secrets) (found, *infra.Fault) {
	switch h.reason {
	case unknownIdentity:
		return found{}, noCredential("the object of cluster %s/%s that names its identity %s", h.namespace, h.name, objs.snapshot.Lacks(h.backup, clusterKind, managedKind, planeKind))
	case noIdentity:
		return found{}, noCredential("cluster %s/%s names no identityRef", h.namespace, h.name)
	case asoIdentity:
		return found{}, noCredential("cluster %s/%s is Azure Service Operator's own, whose credential is not read from a %s", h.namespace, h.name, objs.snapshot.Subject())
	}
	object := objs.identities[h.object()]
	if object == nil {
		return found{}, noCredential("%s %s, so nothing says what its credential is", h.what(), objs.snapshot.Lacks(h.backup, identityKind))
	}
	if why, undecided := objs.forbidden(h, h.forbidden); h.forbidden != "" && why != "" && !undecided {
		return found{}, noCredential("%s", why)
	}
	if why := objs.mistake(h); why != "" {
		return found{}, capi.BadIdentity(HintOwn, "%s", why)
	}
	d := &object.Data
	switch d.Type {
	case typeWorkload:
		return found{}, noCredential("%s is a WorkloadIdentity: only CAPZ's pod has its token", h.what())
	case typeMSI, typeUserAssigned:
		return found{}, noCredential("%s is a %s, whose credential is where CAPZ runs, and in no %s", h.what(), d.Type, objs.snapshot.Subject())
	}
	if d.Type == typeCertificate && d.CertPath != "" {
		return found{}, noCredential("%s has its certificate in a file beside CAPZ (certPath), and no %s holds it", h.what(), objs.snapshot.Subject())
	}
	c := Credential{Cloud: h.cloud, Tenant: UUIDOf(d.Tenant), Client: UUIDOf(d.Client), Subscription: h.subscription}
	switch {
	case c.Tenant == "":
		return found{}, capi.BadIdentity(HintOwn+"; correct tenantID before the clusters are unpaused", "tenantID of %s is no UUID", h.what())
	case c.Client == "":
		return found{}, capi.BadIdentity(HintOwn+"; correct clientID before the clusters are unpaused", "clientID of %s is no UUID", h.what())
	}
	what := fmt.Sprintf("Secret %s/%s", d.SecretIn, d.Secret)
	s := secrets.Named(h.backup, d.SecretIn, d.Secret)
	if s == nil || s.Value(secretKey).IsZero() {
		return found{}, noCredential("%s with %s %s", what, secretKey, objs.snapshot.Lacks(h.backup, "Secret"))
	}
	text := s.Value(secretKey).Reveal()
	if d.Type == typeCertificate {
		cert, err := readCertificate(text)
		if err != nil {
			return found{unread: errors.Is(err, errNoPEM)}, capi.BadIdentity(HintOwn, "%s of %s %v", secretKey, what, err)
		}
		c.Certificate = cert
	} else {
		// CAPZ logs in with the value as it is (GetTokenCredential in azure/scope/identity.go
		// v1.26.0): one that ends in a newline is another secret.
		c.Secret = text
	}
	return found{Credential: c, source: what}, nil
}
