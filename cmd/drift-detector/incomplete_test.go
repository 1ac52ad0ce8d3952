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
	none := func(host string) unseen {
		return unseen{host, &infra.Fault{Reason: "NoCredential", Message: "the backup has none", Hint: give}}
	}
	for _, tt := range []struct {
		all           []unseen
		message, hint string
	}{
		{[]unseen{none("a:443")}, "incomplete: could not list all of a:443 (NoCredential: the backup has none)", give},
		{[]unseen{none("a:443"), none("b:443")}, "incomplete: could not list all of a:443 (NoCredential: the backup has none); b:443 (NoCredential: the backup has none)", give},
		{
			[]unseen{{"b:443", &infra.Fault{Reason: "VisibilityUnproven", Message: "b:443 was listed, but nothing shows it", Hint: look}}, none("a:443"), {"c:443", nil}},
			"incomplete: could not list all of b:443 (VisibilityUnproven: was listed, but nothing shows it); a:443 (NoCredential: the backup has none); c:443",
			"b:443: " + look + "; a:443: " + give,
		},
	} {
		var got *errIncomplete
		if err := incomplete(tt.all); !errors.As(err, &got) || got.message != tt.message || got.hint != tt.hint {
			t.Errorf("got %+v, want %s, hint %s", got, tt.message, tt.hint)
		}
	}
	if err := incomplete(nil); err != nil {
		t.Error(err)
	}
}
