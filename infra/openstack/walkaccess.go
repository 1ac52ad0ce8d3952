package openstack

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strings"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// noteAccess notes what CAPO will meet: the certificate, and what becomes of the credentials
// in the backup. listed is what became of the Target's own at its login.
func (p *provider) noteAccess(ctx context.Context, t *infra.Target, d *detail, used *credential, listed string, chain []*x509.Certificate, l *infra.Listing) {
	own := t.Own
	if own == nil {
		c, _ := t.Credential.(credential)
		own = []infra.Own{{IDs: t.IDs, Credential: c}}
	}
	for _, o := range own {
		c, ok := o.Credential.(credential)
		for _, id := range o.IDs {
			if value := c.verifies(chain); ok && value != "" {
				l.Facts = append(l.Facts, infra.Fact{Name: infra.FactCertificate + " " + id, Value: value})
			}
		}
	}
	if t.Own == nil && used.operator != nil { // in the place of one that was refused
		l.Facts = append(l.Facts, infra.Fact{Name: infra.FactCredential, Value: infra.OfOperator}, infra.Fact{Name: infra.FactOwn, Value: listed})
		return
	}
	l.NoteOwn(ctx, t, listed, func(ctx context.Context, o infra.Own) string {
		c := o.Credential.(credential)
		if at := c.verifies(chain); d.insecure && !c.any && at != infra.CertificateVerified {
			return infra.OwnUntried // it is not sent to whoever answers
		}
		var seen []*x509.Certificate
		v, err := p.connect(ctx, *t, d, &c, &seen)
		if err == nil {
			v.logout(ctx)
		}
		return outcomeOf(err)
	})
	if h, _ := homeKind(t); h == noIdentity {
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

// lackingOwn returns the Facts of a place that nobody lists, because the backup lacks its credential.
// CAPO's own clouds.yaml, which clusters without an identity go by, is in no backup.
func lackingOwn(t *infra.Target) infra.Facts {
	kind, known := homeKind(t)
	switch {
	case t.Refused == nil || t.Refused.Reason != code.NoCredential || !known || kind == unknownIdentity:
		return nil
	case kind == noIdentity:
		return infra.Facts{{Name: infra.FactOwn, Value: infra.OwnUntried}}
	}
	return infra.Facts{{Name: infra.FactOwn, Value: infra.OwnAbsent}}
}

// homeKind returns the kind of the home that a target is of.
func homeKind(t *infra.Target) (kind string, known bool) {
	if len(t.IDs) == 0 {
		return "", false
	}
	parts := strings.Split(t.IDs[0], "/")
	if len(parts) < 2 {
		return "", false
	}
	return parts[1], true
}

// verifies says what CAPO's own check makes of a certificate: it has the CA beside the
// credential, and without one those of its host, or those of its option --ca-certs, which no
// backup tells of. It is empty where there was no certificate to see.
func (c *credential) verifies(chain []*x509.Certificate) string {
	if len(chain) == 0 {
		return ""
	}
	opts := x509.VerifyOptions{DNSName: c.endpoint.Host, Intermediates: x509.NewCertPool()}
	for _, between := range chain[1:] {
		opts.Intermediates.AddCert(between)
	}
	if len(c.ca) > 0 {
		opts.Roots = x509.NewCertPool()
		opts.Roots.AppendCertsFromPEM(c.ca)
	}
	_, err := chain[0].Verify(opts)
	switch {
	case err == nil, c.any:
		return infra.CertificateVerified
	case len(c.ca) > 0:
		return infra.CertificateDiffers
	}
	return infra.CertificateUnverified
}

// refuse notes a kind of things that could not be read. own says that whoever has the account
// meets the same: it may not, or the cloud has no such service.
func (l *listing) refuse(kind infra.KeyKind, why string, own bool) {
	if own && l.cloud.own {
		l.Facts = append(l.Facts, infra.Fact{Name: factRefused + "/" + kind.String(), Value: why})
	} else {
		l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: kind.String(), Value: why})
	}
	if !slices.Contains(l.Unread, kind) {
		l.Unread = append(l.Unread, kind)
	}
}

// factRefused names, with a kind behind it, what the backup's own account may not read, so
// that CAPO may not either; its value says why. What another account may not read, or nobody
// could, is in FactsUnread under the kind.
const factRefused = "refused"
