package infra

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"drift-detector/backup"
)

// Redaction hides the secrets of a Target in text that somebody else wrote: servers
// repeat what they were sent, in faults, headers and pages. It hides each secret in
// the forms that text may hold it in (as it is, quoted, percent-encoded, escaped for
// HTML and JSON, hexadecimal, base64 with anything before it), in any case of
// letters, and what is left of one that was cut. A nil Redaction hides nothing. It
// prints as redacted itself, and may be used by several goroutines.
type Redaction struct {
	mu      sync.Mutex
	secrets []backup.Sensitive
}

// NewRedaction returns a Redaction of the secrets.
func NewRedaction(secrets ...backup.Sensitive) *Redaction {
	r := &Redaction{}
	r.Add(secrets...)
	return r
}

// Add hides further secrets, such as keys that a server has issued.
func (r *Redaction) Add(secrets ...backup.Sensitive) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range secrets {
		if trimmed := backup.NewSensitive(strings.TrimSpace(s.Reveal())); !trimmed.IsZero() && !slices.Contains(r.secrets, trimmed) {
			r.secrets = append(r.secrets, trimmed)
		}
	}
}

// Format keeps the secrets out of whatever prints a Target.
func (r *Redaction) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalJSON keeps the secrets out of whatever saves a Target.
func (r *Redaction) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

var redacted = backup.Sensitive{}.String()

// fragment is how many bytes of a secret are hidden wherever they are; end is how
// many are when the text begins or ends with them, as text does that was cut. A
// secret shorter than a fragment is hidden where it is a word of its own.
const (
	fragment = 8
	end      = 4
)

// maxHidden bounds what is looked through: nobody is shown more of a foreign text.
const maxHidden = 8 << 10

// Brief returns the beginning of a foreign text without the secrets, as [Brief] cuts it.
func (r *Redaction) Brief(text string) string {
	if len(text) <= maxHidden {
		return Brief(r.Text(text))
	}
	head := maxHidden
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	return brief(r.Text(text[:head]), len(text))
}

// Text returns a text without the secrets.
func (r *Redaction) Text(text string) string {
	if r == nil || text == "" {
		return text
	}
	r.mu.Lock()
	secrets := slices.Clone(r.secrets)
	r.mu.Unlock()
	folded := fold([]byte(text))
	hide := make([]bool, len(folded))
	for _, s := range secrets {
		for _, form := range forms(s.Reveal()) {
			mark(hide, folded, form)
		}
	}
	if !slices.Contains(hide, true) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case !hide[i]:
			out.WriteByte(text[i])
		case i == 0 || !hide[i-1]:
			out.WriteString(redacted)
		}
	}
	return out.String()
}

// fold makes forms comparable: letters without case, and base64 of URLs as that of
// all else. It keeps every byte in its place.
func fold(text []byte) []byte {
	out := bytes.Clone(text)
	for i, c := range out {
		switch {
		case 'A' <= c && c <= 'Z':
			out[i] = c + ('a' - 'A')
		case c == '-':
			out[i] = '+'
		case c == '_':
			out[i] = '/'
		}
	}
	return out
}

// forms returns those that a text may hold a secret in, folded.
func forms(secret string) [][]byte {
	quoted := strconv.Quote(secret)
	texts := []string{
		secret, quoted[1 : len(quoted)-1], url.QueryEscape(secret), url.PathEscape(secret),
		html.EscapeString(secret), hex.EncodeToString([]byte(secret)),
	}
	if text, err := json.Marshal(secret); err == nil {
		texts = append(texts, string(text[1:len(text)-1]))
	}
	// What comes before a secret shifts its base64 by one or two bytes. Those of its
	// characters that depend on its neighbours are left out.
	for shift := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), secret...))
		texts = append(texts, text[(shift*8+5)/6:(shift+len(secret))*8/6])
	}
	slices.Sort(texts)
	var out [][]byte
	for _, text := range slices.Compact(texts) {
		out = append(out, fold([]byte(text)))
	}
	return out
}

// mark marks what a text holds of a form. Both are folded.
func mark(hide []bool, text, form []byte) {
	cover := func(from, to int) {
		for i := from; i < to; i++ {
			hide[i] = true
		}
	}
	if len(form) < fragment {
		for at := 0; len(form) > 0; at++ {
			i := bytes.Index(text[at:], form)
			if i < 0 {
				return
			}
			if at += i; !inWord(text, at-1) && !inWord(text, at+len(form)) {
				cover(at, at+len(form))
			}
		}
		return
	}
	known := make(map[string]bool, len(form))
	for i := range len(form) - fragment + 1 {
		known[string(form[i:i+fragment])] = true
	}
	for i := range max(0, len(text)-fragment+1) {
		if known[string(text[i:i+fragment])] {
			cover(i, i+fragment)
		}
	}
	for n := min(fragment-1, len(text)); n >= end; n-- {
		if bytes.HasSuffix(form, text[:n]) {
			cover(0, n)
		}
	}
	for i := range len(text) + 1 {
		if i < len(text) && !bytes.HasPrefix(text[i:], []byte("..")) && !bytes.HasPrefix(text[i:], []byte("…")) {
			continue
		}
		for n := min(fragment-1, i); n >= end; n-- {
			if bytes.HasPrefix(form, text[i-n:i]) {
				cover(i-n, i)
			}
		}
	}
}

// inWord reports whether a byte of a text is of a word.
func inWord(text []byte, at int) bool {
	return at >= 0 && at < len(text) && (text[at] >= 0x80 || 'a' <= text[at] && text[at] <= 'z' || '0' <= text[at] && text[at] <= '9')
}
