package list

import (
	"context"
	"crypto/sha1" // CAPV's thumbprints are SHA-1; it only compares, it signs nothing
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
)

// noteAccess notes what the controllers will meet: the certificate, and what becomes of the
// credentials in the backup. v is nil where err is not.
func (p *provider) noteAccess(ctx context.Context, t infra.Target, d *vsphere.Detail, v *vcenter, err error, seen *shown, l *infra.Listing) {
	seen.facts(d.Pins, l)
	listed := infra.OwnUntried
	switch {
	case err == nil && !v.trimmed:
		listed = infra.OwnAccepted
	case err == nil, refusedLogin(err):
		listed = infra.OwnRefused
	}
	l.NoteOwn(ctx, &t, listed, func(ctx context.Context, own infra.Own) string {
		switch {
		case own.Credential == t.Credential:
			return listed
		case v == nil && !refusedLogin(err):
			return infra.OwnUntried // nobody could be asked
		case d.Trust.Insecure && l.AccessFact(infra.FactCertificate, "") != infra.CertificateVerified && l.AccessFact(infra.FactCertificate, "") != infra.CertificatePinned:
			return infra.OwnUntried // it is not sent to whoever answers
		}
		return p.tryOwn(ctx, t, d, own)
	})
}

// tryOwn logs in with a credential of the backup, as its bytes are.
func (p *provider) tryOwn(ctx context.Context, t infra.Target, d *vsphere.Detail, own infra.Own) string {
	t.Credential = own.Credential
	v, err := p.connect(ctx, t, d, new(shown))
	switch {
	case err == nil:
		_ = v.logout(ctx)
		if !v.trimmed {
			return infra.OwnAccepted
		}
		return infra.OwnRefused
	case refusedLogin(err):
		return infra.OwnRefused
	}
	return infra.OwnUntried
}

func refusedLogin(err error) bool {
	return fault.Is(err, &types.InvalidLogin{}) && !errors.Is(err, infra.ErrLockout)
}

// shown is the certificate that a vCenter showed.
type shown struct {
	thumbprints []string // SHA-1 and SHA-256
	signed      bool     // by an authority that this machine trusts, for its name
}

// see notes what a connection shows, whether or not it is trusted.
func (k *serverKey) see(chain []*x509.Certificate, name string) {
	if len(chain) == 0 {
		return
	}
	opts := x509.VerifyOptions{DNSName: name, Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		opts.Intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(opts)
	short := strings.ToUpper(fmt.Sprintf("% x", sha1.Sum(chain[0].Raw)))
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shown = shown{thumbprints: []string{strings.ReplaceAll(short, " ", ":"), infra.Thumbprint(chain[0])}, signed: err == nil}
}

func (k *serverKey) what() shown {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shown
}

// facts notes it, and what CAPV makes of it with the thumbprints of the backup.
func (s *shown) facts(pins []string, l *infra.Listing) {
	if s.thumbprints == nil {
		return
	}
	value := infra.CertificateUnverified
	switch pinned := func(pin string) bool { return s.has(pin) }; {
	case s.signed:
		value = infra.CertificateVerified
	case slices.ContainsFunc(pins, pinned):
		value = infra.CertificatePinned
	case len(pins) > 0:
		value = infra.CertificateDiffers
	}
	l.Facts = append(l.Facts, infra.Fact{Name: infra.FactCertificate, Value: value})
	l.Facts = append(l.Facts, infra.Fact{Name: vsphere.FactThumbprint, Value: s.thumbprints[1]}, infra.Fact{Name: vsphere.FactShort, Value: s.thumbprints[0]})
}

func (s *shown) has(pin string) bool {
	plain := func(t string) string { return strings.ToLower(strings.NewReplacer(":", "", " ", "").Replace(t)) }
	return slices.ContainsFunc(s.thumbprints, func(t string) bool { return plain(t) == plain(pin) })
}
