package archive

import (
	"net/url"
	"strings"

	"drift-detector/internal/lazyregexp"
)

// lead is what is before the host of an address, typed well or not: blanks, quotes, a
// scheme, slashes.
var lead = lazyregexp.New(`^[\s"'<(]*(?:[A-Za-z][A-Za-z0-9+.-]+:/+|(?i:https?|s3|gs):|(?i:https?|s3|gs)?//)`)

// AddressSecrets returns what may be secret in an address, however it is mistyped: its
// query and fragment, which may be a signature, and the password of its user. Of a query in which a store
// has signed an address it is the signature and the key: the rest are words that other texts have, too, such as
// the name of a region. A name that does not look like an address has none. The parts may overlap.
func AddressSecrets(name string) []string {
	var found []string
	for _, part := range addressSecrets(name) {
		text := name[part.from:part.to]
		if secret, ok := signatures(text); ok && part.to == len(name) {
			found = append(found, secret...)
			continue
		}
		found = append(found, text)
	}
	return found
}

// signed are the parameters of addresses that S3 (versions 4 and 2), Google and Azure sign: true of those that
// are secret. Of a credential that is what is before its first slash.
var signed = map[string]bool{
	"x-amz-algorithm": false, "x-amz-credential": true, "x-amz-date": false, "x-amz-expires": false, "x-amz-signedheaders": false,
	"x-amz-signature": true, "x-amz-security-token": true, "x-amz-content-sha256": false, "x-amz-checksum-mode": false, "x-id": false, "versionid": false,
	"awsaccesskeyid": true, "googleaccessid": true, "signature": true, "expires": false,
	"x-goog-algorithm": false, "x-goog-credential": true, "x-goog-date": false, "x-goog-expires": false, "x-goog-signedheaders": false, "x-goog-signature": true,
	"sig": true, "sv": false, "ss": false, "srt": false, "sp": false, "se": false, "st": false, "spr": false, "sr": false, "sip": false,
	"skoid": false, "sktid": false, "skt": false, "ske": false, "sks": false, "skv": false,
}

// signatures returns what is secret in the query of an address that a store has signed, as it is and without
// escapes. It is not ok for every other query.
func signatures(query string) (found []string, ok bool) {
	for pair := range strings.SplitSeq(query, "&") {
		name, value, given := strings.Cut(pair, "=")
		secret, known := signed[strings.ToLower(name)]
		if !given || !known || strings.ContainsAny(value, "?#") {
			return nil, false
		}
		if !secret {
			continue
		}
		plain, err := url.QueryUnescape(value)
		if err != nil {
			return nil, false
		}
		if strings.HasSuffix(strings.ToLower(name), "-credential") {
			plain, _, _ = strings.Cut(plain, "/")
			value = plain
		}
		found = append(found, value, plain)
	}
	return found, len(found) > 0
}

// WithoutSecrets returns a name for messages: of an address, what may be secret is left out.
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

// coded is an address in whose grouping key of a Pushgateway there is an @, at the mark, that is behind no user.
var coded = lazyregexp.New(`/metrics/job(?:@base64)?(?:/[^|]*)?\|base64/`)

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
	user := host
	for at := len(name) - 1; at > host && user == host; at-- {
		if name[at] == '@' && !coded.MatchString(name[:at]+"|"+name[at+1:]) {
			user = at
		}
	}
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
