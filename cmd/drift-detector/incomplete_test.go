package main

import (
	"errors"
	"testing"

	"drift-detector/infra"
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
			"b:443: " + look + "; a:443: " + give,
		},
		{nil, "could not read 1 object of the backup: m (invalid JSON)", "incomplete: could not read 1 object of the backup: m (invalid JSON)", items},
		{
			[]unseen{none("a:443")},
			"could not read 1 object of the backup: m (invalid JSON)",
			"incomplete: could not list all of a:443 (NoCredential: the backup has none); could not read 1 object of the backup: m (invalid JSON)", give + "; " + items,
		},
	} {
		var got *errIncomplete
		if err := incomplete(tt.all, tt.items, items); !errors.As(err, &got) || got.message != tt.message || got.hint != tt.hint {
			t.Errorf("got %+v, want %s, hint %s", got, tt.message, tt.hint)
		}
	}
	if err := incomplete(nil, "", ""); err != nil {
		t.Error(err)
	}
}
