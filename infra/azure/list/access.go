package list

import (
	"context"
	"crypto/x509"
	"errors"

	"drift-detector/infra"
	"drift-detector/infra/azure"
	"drift-detector/report/code"
)

// noteAccess notes what CAPZ will meet: what becomes of the credential in the backup. listed
// is what became of the Target's own at its login.
func (p *provider) noteAccess(ctx context.Context, t *infra.Target, d *azure.Detail, used *azure.Credential, s *session, listed string, l *infra.Listing) {
	if s != nil {
		if value := verified(s.transport.shown(), s.at.Authority.Host); value != "" {
			l.Facts = append(l.Facts, infra.Fact{Name: infra.FactCertificate, Value: value})
		}
	}
	if t.Own == nil && used.Operator { // in the place of one that was refused
		l.Facts = append(l.Facts, infra.Fact{Name: infra.FactCredential, Value: infra.OfOperator}, infra.Fact{Name: infra.FactOwn, Value: listed})
		return
	}
	l.NoteOwn(ctx, t, listed, func(ctx context.Context, o infra.Own) string {
		c, ok := o.Credential.(azure.Credential)
		if !ok {
			return infra.OwnUntried
		}
		s, err := p.connect(ctx, t, d, &c)
		if err == nil {
			s.transport.close()
		}
		return outcomeOf(err)
	})
}

// verified says what CAPZ's own check makes of a certificate: it has the authorities of its
// image, which are taken to be those of this machine. It is empty where there was none to see,
// as with the az command.
func verified(chain []*x509.Certificate, host string) string {
	if len(chain) == 0 {
		return ""
	}
	opts := x509.VerifyOptions{DNSName: host, Intermediates: x509.NewCertPool()}
	for _, between := range chain[1:] {
		opts.Intermediates.AddCert(between)
	}
	if _, err := chain[0].Verify(opts); err != nil {
		return infra.CertificateUnverified
	}
	return infra.CertificateVerified
}

// outcomeOf returns what became of a credential that was tried. What fails behind the login is no
// refusal.
func outcomeOf(err error) string {
	var refused *loginError
	switch {
	case err == nil:
		return infra.OwnAccepted
	case errors.As(err, &refused):
		return infra.OwnRefused
	}
	return infra.OwnUntried
}

// lackingOwn returns the Facts of a place that nobody lists, because the backup lacks its
// credential.
func lackingOwn(t *infra.Target) infra.Facts {
	if t.Refused == nil || t.Refused.Reason != code.NoCredential {
		return nil
	}
	return infra.Facts{{Name: infra.FactOwn, Value: infra.OwnUntried}}
}
