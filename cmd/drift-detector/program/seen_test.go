package program

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/cli"
)

// Every place is named once, and every hint is given once, with the places that
// it is for when there are several.
func TestIncompleteNamesEveryPlaceAndHintOnce(t *testing.T) {
	const give, look = "give user and password with --credentials", "check the folders"
	const items = "take another backup"
	none := func(host string) unseen {
		return unseen{host, &infra.Fault{Reason: "NoCredential", Message: "the backup has none", Hint: give}}
	}
	for _, tt := range []struct {
		all           []unseen
		items         string
		message, hint string
	}{
		{[]unseen{none("a:443")}, "", "incomplete: could not list all of a:443 (NoCredential: the backup has none)", give},
		{[]unseen{none("a:443"), none("b:443")}, "", "incomplete: could not list all of a:443 (NoCredential: the backup has none); b:443 (NoCredential: the backup has none)", give},
		{
			[]unseen{{"b:443", &infra.Fault{Reason: "VisibilityUnproven", Message: "b:443 was listed, but nothing shows it", Hint: look}}, none("a:443"), {"c:443", nil}},
			"",
			"incomplete: could not list all of b:443 (VisibilityUnproven: was listed, but nothing shows it); a:443 (NoCredential: the backup has none); c:443",
			"b:443: " + look + "\na:443: " + give,
		},
		{nil, "could not read 1 object of the backup: m (invalid JSON)", "incomplete: could not read 1 object of the backup: m (invalid JSON)", items},
		{
			[]unseen{none("a:443")},
			"could not read 1 object of the backup: m (invalid JSON)",
			"incomplete: could not list all of a:443 (NoCredential: the backup has none); could not read 1 object of the backup: m (invalid JSON)", give + "\n" + items,
		},
	} {
		var got *cli.IncompleteError
		if err := incomplete(tt.all, tt.items, items); !errors.As(err, &got) || got.Message != tt.message || strings.Join(got.Hints, "\n") != tt.hint {
			t.Errorf("got %+v, want %s, hint %s", got, tt.message, tt.hint)
		}
	}
	if err := incomplete(nil, "", ""); err != nil {
		t.Error(err)
	}
}

// However many places fail, in however many ways, stderr says so in a few lines.
func TestStderrIsShort(t *testing.T) {
	var all []unseen
	var uses []string
	var lists []backup.ClusterID
	for i := range 525 {
		host := fmt.Sprintf("vcenter-%03d.example.com:443", i)
		all = append(all, unseen{host, &infra.Fault{Reason: "Unauthorized", Message: host + " refuses user x with the password from " + strings.Repeat("Secret ns/name, ", i), Hint: fmt.Sprintf("give the password of %s with --credentials", host)}})
		uses = append(uses, "vCenter "+host+": user x from "+strings.Repeat("Secret ns/name, ", i))
		lists = append(lists, backup.ClusterID{Namespace: "tenant", Name: fmt.Sprintf("cluster-%03d", i)})
	}
	var stderr strings.Builder
	s := &cli.Streams{Stderr: &stderr}
	some(s, s.Info, uses)
	some(s, s.Info, uses[:6])
	some(s, s.Warn, uses[:6])
	err := missed(incomplete(all, "", ""), lists)
	var e *cli.IncompleteError
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	s.Say("error: ", "%s", e.Message)
	for _, hint := range e.Hints {
		s.Hint("%s", hint)
	}
	for _, want := range []string{"; and 522 more places", "vcenter-002", "cluster-002 and 522 more", "and 522 more like these; --debug lists all\n", "and 522 more, in the report"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%q is not in\n%s", want, stderr.String())
		}
	}
	if n := stderr.Len(); n > 2048 || strings.Contains(stderr.String(), "vcenter-004") {
		t.Errorf("%d bytes:\n%s", n, stderr.String())
	}
	s.Debug = true
	stderr.Reset()
	if some(s, s.Info, uses); strings.Count(stderr.String(), "\n") != len(uses) {
		t.Errorf("--debug says %d lines", strings.Count(stderr.String(), "\n"))
	}
}
