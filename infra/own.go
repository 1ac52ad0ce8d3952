package infra

import (
	"context"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// The controllers have what the backup holds, whatever an operator used to look: a login
// and a certificate are steps of the walk of every provider. These Facts of a Listing say
// how they came out. One that holds for a single one of Listing.IDs alone has that id
// behind its name, see [Listing.AccessFact].
const (
	// FactCredential is whose credential listed the place: OfBackup or OfOperator.
	FactCredential = "credential"
	// FactOwn is what became of the credential in the backup: OwnAccepted, OwnRefused,
	// OwnUntried, or OwnAbsent where the backup holds none.
	FactOwn = "backupCredential"
	// FactCertificate is what the controllers' own check says of the server's certificate:
	// CertificateVerified by an authority, CertificatePinned by its fingerprint,
	// CertificateDiffers, or CertificateUnverified where nobody knows.
	FactCertificate = "certificate"
)

// Values of these Facts.
const (
	OfBackup   = "backup"
	OfOperator = "operator"

	OwnAccepted = "accepted"
	OwnRefused  = "refused"
	OwnUntried  = "untried"
	OwnAbsent   = "absent"

	CertificateVerified   = "verified"
	CertificatePinned     = "pinned"
	CertificateDiffers    = "differs"
	CertificateUnverified = "unverified"
)

// Own is a credential in the backup that an operator's stands in for at a Target. It is
// tried once, and lists nothing.
type Own struct {
	IDs        []string // those of Target.IDs where the controllers log in with it
	Source     string   // which object it comes from, by name
	Credential any      // the provider's own; it must print as redacted. nil: the backup holds none
}

// NoteOwn notes who listed a place, and what became of each credential of Target.Own: try
// logs in once with one, and returns one of the values of FactOwn. Where the Target has
// none, its Credential is the backup's, and listed is what became of it.
func (l *Listing) NoteOwn(ctx context.Context, t *Target, listed string, try func(context.Context, Own) string) {
	if len(t.Own) == 0 {
		l.Facts = append(l.Facts, Fact{FactCredential, OfBackup}, Fact{FactOwn, listed})
		return
	}
	l.Facts = append(l.Facts, Fact{FactCredential, OfOperator})
	for _, own := range t.Own {
		value := OwnAbsent
		switch {
		case own.Credential == nil:
		case ctx.Err() != nil:
			value = OwnUntried
		default:
			value = try(ctx, own)
		}
		for _, id := range own.IDs {
			l.Facts = append(l.Facts, Fact{FactOwn + " " + id, value})
		}
	}
}

// AccessFact returns the value of a Fact for one of Listing.IDs, else for all of them;
// empty when neither is known.
func (l *Listing) AccessFact(name, id string) string {
	if v, ok := l.Facts.Get(name + " " + id); ok {
		return v
	}
	v, _ := l.Facts.Get(name)
	return v
}

// AccessFact returns that of a listing, for many ids: a place of many clusters has a Fact for each.
func (inv *Inventory) AccessFact(l *Listing, name, id string) string {
	of := inv.Lookup(l)
	if v, ok := of.Fact(name + " " + id); ok {
		return v
	}
	v, _ := of.Fact(name)
	return v
}

// Lookup returns that of a listing, nil for none. Listings must not be changed any more.
func (inv *Inventory) Lookup(l *Listing) *Lookup { return inv.lookups.Of(l) }

// Named returns the listing whose IDs hold that of a target; nil when there is none. Listings must
// not be added any more.
func (inv *Inventory) Named(id string) *Listing {
	if inv.named == nil {
		inv.named = make(map[string]*Listing, len(inv.Listings))
		for i := range inv.Listings {
			for _, id := range inv.Listings[i].IDs {
				if inv.named[id] == nil {
					inv.named[id] = &inv.Listings[i]
				}
			}
		}
	}
	return inv.named[id]
}

// AccessAt is where a cluster's controller logs in, and with what.
type AccessAt struct {
	Cluster backup.ClusterID
	Subject string // "AWSCluster tenant/prod"
	ID      string // one of Target.IDs
	With    string // "Secret tenant/prod-vcenter"
}

// CredentialStep asks a row for a login with the credential in the backup. It differs where
// that was refused, and was not seen where nobody tried it. Where nothing was listed,
// others say so, and where the backup holds no credential, unless the row says what None does.
func (a AccessAt) CredentialStep(r *walk.Row) Step {
	return a.step(r, FactOwn, func(l *Listing, value string) walk.Answer {
		switch value {
		case OwnAccepted:
			return walk.Answer{Found: walk.Passed}
		case OwnAbsent:
			if r.None == (walk.Does{}) {
				return walk.Answer{}
			}
			return walk.Answer{Found: walk.None, Why: a.With + " is not in the backup, or holds no login", Until: a.With + " exists", Objects: []string{a.With}}
		case OwnRefused:
			return walk.Answer{Found: walk.Differs, Why: l.Endpoint + " refuses the credential in " + a.With, Until: a.With + " holds one that is accepted", Objects: []string{a.With}}
		}
		return walk.Answer{Found: walk.Unseen, Objects: []string{a.With}}
	})
}

// CertificateStep asks a row for the certificate of the server, as the controllers check
// it: it differs where they would refuse it, and was not seen where nobody checked it.
func (a AccessAt) CertificateStep(r *walk.Row) Step {
	return a.step(r, FactCertificate, func(l *Listing, value string) walk.Answer {
		switch value {
		case CertificateVerified, CertificatePinned:
			return walk.Answer{Found: walk.Passed}
		case CertificateDiffers:
			return walk.Answer{
				Found: walk.Differs, Why: l.Endpoint + " shows a certificate that " + a.Subject + " does not trust",
				Until: a.Subject + " trusts the certificate that is served", Objects: []string{a.Subject},
			}
		}
		return walk.Answer{Found: walk.Unseen, Objects: []string{a.Subject}}
	})
}

func (a AccessAt) step(r *walk.Row, fact string, answer func(*Listing, string) walk.Answer) Step {
	return Step{
		Step: walk.Step{Row: r, Cluster: a.Cluster, Subject: a.Subject, Machine: -1},
		Look: func(inv *Inventory) walk.Answer {
			l := inv.Named(a.ID)
			if l == nil {
				return walk.Answer{}
			}
			value := inv.AccessFact(l, fact, a.ID)
			if value == "" && l.State == code.ScopeFailed {
				return walk.Answer{}
			}
			return answer(l, value)
		},
	}
}
