package infra_test

import (
	"context"
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// What the controllers have counts, not what listed the place: one answer for each value,
// and a value of one id goes before that of all.
func TestAccessSteps(t *testing.T) {
	row := &walk.Row{ID: "x.C6"}
	at := infra.AccessAt{Subject: "XCluster a/b", ID: "vc/a", With: "Secret a/b"}
	for _, c := range []struct {
		name               string
		facts              infra.Facts
		state              code.ScopeState
		login, certificate walk.Found
	}{
		{"accepted", infra.Facts{{"backupCredential", "accepted"}, {"certificate", "verified"}}, code.ScopeComplete, walk.Passed, walk.Passed},
		{"pinned", infra.Facts{{"backupCredential", "accepted"}, {"certificate", "pinned"}}, code.ScopeComplete, walk.Passed, walk.Passed},
		{"refused", infra.Facts{{"backupCredential", "refused"}, {"certificate", "differs"}}, code.ScopeComplete, walk.Differs, walk.Differs},
		{"untried", infra.Facts{{"backupCredential", "untried"}, {"certificate", "unverified"}}, code.ScopeComplete, walk.Unseen, walk.Unseen},
		{"lost", nil, code.ScopeComplete, walk.Unseen, walk.Unseen},
		{"absent", infra.Facts{{"backupCredential", "absent"}}, code.ScopeComplete, "", walk.Unseen},
		{"nothing listed", nil, code.ScopeFailed, "", ""},
		{"refused, so nothing listed", infra.Facts{{"backupCredential", "refused"}}, code.ScopeFailed, walk.Differs, ""},
		{"its own", infra.Facts{{"backupCredential", "accepted"}, {"backupCredential vc/a", "refused"}}, code.ScopeComplete, walk.Differs, walk.Unseen},
		{"another's", infra.Facts{{"backupCredential", "accepted"}, {"backupCredential vc/b", "refused"}}, code.ScopeComplete, walk.Passed, walk.Unseen},
	} {
		inv := infra.Inventory{Listings: []infra.Listing{{IDs: []string{"vc/b", "vc/a"}, State: c.state, Facts: c.facts}}}
		if got := at.CredentialStep(row).Look(&inv).Found; got != c.login {
			t.Errorf("%s: the login is %q, want %q", c.name, got, c.login)
		}
		if got := at.CertificateStep(row).Look(&inv).Found; got != c.certificate {
			t.Errorf("%s: the certificate is %q, want %q", c.name, got, c.certificate)
		}
	}
	if got := at.CredentialStep(row).Look(&infra.Inventory{}).Found; got != "" {
		t.Errorf("without a listing the login is %q", got)
	}
}

func TestOwnCredentialsAreTriedOnce(t *testing.T) {
	target := infra.Target{Own: []infra.Own{{IDs: []string{"a", "b"}, Credential: 1}, {IDs: []string{"c"}}}}
	tried := 0
	try := func(context.Context, infra.Own) string { tried++; return infra.OwnRefused }
	var l infra.Listing
	l.NoteOwn(t.Context(), &target, infra.OwnAccepted, try)
	for id, want := range map[string]string{"a": infra.OwnRefused, "b": infra.OwnRefused, "c": infra.OwnAbsent} {
		if got := l.AccessFact(infra.FactOwn, id); got != want {
			t.Errorf("of %s %q is noted, want %q", id, got, want)
		}
	}
	if v, _ := l.Facts.Get(infra.FactCredential); tried != 1 || v != infra.OfOperator {
		t.Errorf("%d tries, and the credential is said to be of the %s", tried, v)
	}

	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	l = infra.Listing{}
	l.NoteOwn(interrupted, &target, "", try)
	if got := l.AccessFact(infra.FactOwn, "a"); tried != 1 || got != infra.OwnUntried {
		t.Errorf("an interrupted run tries, or notes %q", got)
	}

	l = infra.Listing{}
	l.NoteOwn(t.Context(), &infra.Target{}, infra.OwnAccepted, try)
	if got := l.AccessFact(infra.FactOwn, "a"); tried != 1 || got != infra.OwnAccepted {
		t.Errorf("the backup's own credential, which listed, is %q", got)
	}
}
