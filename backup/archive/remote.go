package archive

import (
	"fmt"
	"net/url"
	"strings"
)

// fetching says which command fetches what is at an address: %s stands for the address.
// What package store reads does not come here.
var fetching = map[string]string{
	"gs": "fetch it first, `gcloud storage cp --recursive '%s' backup/`, or pipe the .tar.gz: `gcloud storage cat '%[1]s' | drift-detector … --backup -`",
}

// remote returns an error about an address where a path is asked for; nil when the name is
// none. What may be secret in an address, a user or a signature, is not repeated.
func remote(name string) error {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok {
		return nil
	}
	shown := scheme + "://…"
	if u, err := url.Parse(name); err == nil {
		u.User, u.Fragment = nil, ""
		if u.RawQuery != "" {
			u.RawQuery = "…"
		}
		shown = strings.ReplaceAll(u.String(), "'", "")
	}
	next, ok := fetching[scheme]
	if !ok {
		return &InputError{shown, "is an address, and not a file or folder", "fetch the backup first, or pipe it in with --backup -", nil}
	}
	return &InputError{shown, "drift-detector does not fetch from there", fmt.Sprintf(next, shown), nil}
}
