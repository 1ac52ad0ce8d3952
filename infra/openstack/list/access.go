package list

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// noteAccess notes what CAPO will meet: the certificate, and what becomes of the credentials
// in the backup. listed is what became of the Target's own at its login.
func (p *provider) noteAccess(ctx context.Context, t *infra.Target, d *openstack.Detail, used *openstack.Credential, listed string, chain []*x509.Certificate, l *infra.Listing) {
	own := t.Own
	if own == nil {
		c, _ := t.Credential.(openstack.Credential)
		own = []infra.Own{{IDs: t.IDs, Credential: c}}
	}
	for _, o := range own {
		c, ok := o.Credential.(openstack.Credential)
		for _, id := range o.IDs {
			if value := verifies(&c, chain); ok && value != "" {
				l.Facts = append(l.Facts, infra.Fact{Name: infra.FactCertificate + " " + id, Value: value})
			}
		}
	}
	if t.Own == nil && used.Operator != nil { // in the place of one that was refused
		l.Facts = append(l.Facts, infra.Fact{Name: infra.FactCredential, Value: infra.OfOperator}, infra.Fact{Name: infra.FactOwn, Value: listed})
		return
	}
	l.NoteOwn(ctx, t, listed, func(ctx context.Context, o infra.Own) string {
		c := o.Credential.(openstack.Credential)
		if at := verifies(&c, chain); d.Insecure && !c.Any && at != infra.CertificateVerified {
			return infra.OwnUntried // it is not sent to whoever answers
		}
		var seen []*x509.Certificate
		v, err := p.connect(ctx, *t, d, &c, &seen)
		if err == nil {
			v.logout(ctx)
		}
		return outcomeOf(err)
	})
	if openstack.NamesNoIdentity(t) {
		for i := range l.Facts {
			if strings.HasPrefix(l.Facts[i].Name, infra.FactOwn) && l.Facts[i].Value == infra.OwnAbsent {
				l.Facts[i].Value = infra.OwnUntried
			}
		}
	}
}

// outcomeOf returns what became of a credential that was tried. What fails behind the login is no
// refusal.
func outcomeOf(err error) string {
	var foreign *foreignError
	var region *regionError
	switch {
	case errors.Is(err, infra.ErrLockout):
		return infra.OwnUntried
	case codeOf(err) == http.StatusUnauthorized, codeOf(err) == http.StatusForbidden, errors.Is(err, errUnscoped), errors.As(err, &region):
		return infra.OwnRefused
	case err == nil, errors.As(err, &foreign):
		return infra.OwnAccepted
	}
	return infra.OwnUntried
}

// publicRoots are the authorities of Mozilla, which CAPO's image has (gcr.io/distroless/static), and
// no others. Those of the machine that looks are not asked: it may have its company's.
var publicRoots = sync.OnceValue(func() *x509.CertPool {
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		if cert, err := x509.ParseCertificate(root.Certificate); err == nil {
			pool.AddCertWithConstraint(cert, root.Constraint)
		}
	}
	return pool
})

// verifies says what CAPO's own check makes of a certificate: it has the CA beside the
// credential, and without one those of its image, or those of its option --ca-certs, which no
// backup tells of. It is empty where there was no certificate to see.
func verifies(c *openstack.Credential, chain []*x509.Certificate) string {
	if len(chain) == 0 {
		return ""
	}
	opts := x509.VerifyOptions{DNSName: c.Endpoint.Host, Intermediates: x509.NewCertPool(), Roots: publicRoots()}
	for _, between := range chain[1:] {
		opts.Intermediates.AddCert(between)
	}
	if len(c.CA) > 0 {
		opts.Roots = x509.NewCertPool()
		opts.Roots.AppendCertsFromPEM(c.CA)
	}
	_, err := chain[0].Verify(opts)
	switch {
	case err == nil, c.Any:
		return infra.CertificateVerified
	case len(c.CA) > 0:
		return infra.CertificateDiffers
	}
	return infra.CertificateUnverified
}

// refuse notes a kind of things that could not be read. own says that whoever has the account
// meets the same: it may not, or the cloud has no such service.
func (l *listing) refuse(kind infra.KeyKind, why string, own bool) {
	if own && l.cloud.own {
		l.Facts = append(l.Facts, infra.Fact{Name: openstack.FactRefused + "/" + kind.String(), Value: why})
	} else {
		l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: kind.String(), Value: why})
	}
	if !slices.Contains(l.Unread, kind) {
		l.Unread = append(l.Unread, kind)
	}
}
