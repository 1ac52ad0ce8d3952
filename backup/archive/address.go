package archive

import (
	"regexp"
	"strings"
)

// lead is what is before the host of an address, typed well or not: blanks, quotes, a
// scheme, slashes.
var lead = regexp.MustCompile(`^[\s"'<(]*(?:[A-Za-z][A-Za-z0-9+.-]+:/+|(?i:https?|s3|gs):|(?i:https?|s3|gs)?//)`)

// AddressSecrets returns what may be secret in an address, however it is mistyped: its
// query and fragment, which may be a signature, and the password of its user. A name that
// does not look like an address has none. The parts may overlap.
func AddressSecrets(name string) []string {
	var found []string
	for _, part := range addressSecrets(name) {
		found = append(found, name[part.from:part.to])
	}
	return found
}

// WithoutSecrets is a name for messages: of an address, what may be secret is left out.
func WithoutSecrets(name string) string {
	hidden := make([]bool, len(name))
	for _, part := range addressSecrets(name) {
		for i := part.from; i < part.to; i++ {
			hidden[i] = true
		}
	}
	var out strings.Builder
	for i := range len(name) {
		switch {
		case !hidden[i]:
			out.WriteByte(name[i])
		case i == 0 || !hidden[i-1]:
			out.WriteString("…")
		}
	}
	return out.String()
}

// part is a part of a text.
type part struct{ from, to int }

func addressSecrets(name string) (found []part) {
	add := func(from, to int) {
		if strings.TrimSpace(name[from:to]) != "" {
			found = append(found, part{from, to})
		}
	}
	host := len(lead.FindString(name))
	if at := strings.IndexAny(name[host:], "?#"); at >= 0 && (host > 0 || strings.Contains(name[host+at:], "=")) {
		add(host+at+1, len(name))
	}
	user := max(host, strings.LastIndexByte(name, '@'))
	colon, slash := strings.IndexByte(name[host:user], ':'), strings.IndexByte(name[host:user], '/')
	switch {
	case colon >= 0 && (slash < 0 || colon < slash):
		add(host+colon+1, user)
		add(strings.LastIndexByte(name[:user], ':')+1, user)
	case slash < 0 && host > 0:
		add(host, user) // a token
	}
	return found
}
