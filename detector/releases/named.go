package releases

import (
	"encoding/json"
	"strconv"
	"strings"

	"drift-detector/internal/lazyregexp"
)

// names are how fields, variables, keys and flags end whose value is a secret wherever it
// stands: a password in a variable is none the less one. Azure's are aadClientSecret in
// azure.json and cloud-config (cloud-provider-azure, pkg/provider/config/azure_auth.go),
// clientSecret and AZURE_CLIENT_SECRET.
const names = `(?:passw(?:or)?d|passphrase|[_-]pass|secret|token|(?:api|access|secret|private|account|shared|storage|signing|encryption)[_.-]?key|credentials?|connection[_.-]?string|azure[.-]json|cloud-config|clouds\.yaml|cloud\.conf)`

var (
	secretName = lazyregexp.New(`(?i)` + names + `$`)
	// assigned is a secret in text: password: x, --client-secret=x, "token": "x".
	assigned = lazyregexp.New(`(?i)(` + names + `["']?(?:[ \t]*[:=][ \t]*|\s*,?\s*["']?value["']?[ \t]*:[ \t]*))("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s,;"'}&]+)`)
	// block is a secret of several lines, which end where YAML says so.
	block = lazyregexp.New(`(?i)` + names + `["']?[ \t]*:[ \t]*[|>]|-----BEGIN [A-Z ]*PRIVATE KEY-----`)
	// inAddress is the password in an address.
	inAddress = lazyregexp.New(`(://[^/\s:@]*:)[^@\s/]+@`)
	ofItem    = lazyregexp.New(`\[([^\]]*)\]\.value$`)
)

// maskNamed takes out of what was found what has the name of a secret, in any kind.
func maskNamed(out *outcome) {
	for i := range out.changes {
		c := &out.changes[i]
		before, after := masked, masked
		if c.Op == "replace" {
			before, after = maskedBefore, maskedAfter
		}
		within := isSecretAt(c.Pointer, c.Path) || behindFlag(c.Pointer, out.live) || behindFlag(c.Pointer, out.merged)
		c.Live, c.Desired = maskSecrets(c.Live, within, before), maskSecrets(c.Desired, within, after)
	}
	for i := range out.added {
		a := &out.added[i]
		var field string
		if n := len(a.path); n > 0 && a.path[n-1].FieldName != nil {
			field = *a.path[n-1].FieldName
		} else if n > 0 && a.path[n-1].Value != nil {
			a.Path = maskText(a.Path, masked)
		}
		m := ofItem.FindStringSubmatch(a.Path)
		a.Value = maskSecrets(a.Value, secretName.MatchString(field) || m != nil && secretName.MatchString(m[1]), masked)
	}
}

// isSecretAt reports whether a field has the name of a secret, or is the value of an item
// that has.
func isSecretAt(pointer, path string) bool {
	segments := segmentsOf(pointer)
	m := ofItem.FindStringSubmatch(path)
	return secretName.MatchString(segments[len(segments)-1]) || m != nil && secretName.MatchString(m[1])
}

// behindFlag reports whether a pointer is to an item of a list that is the value of the
// flag before it.
func behindFlag(pointer string, o Object) bool {
	segments := segmentsOf(pointer)
	n, err := strconv.Atoi(segments[len(segments)-1])
	if err != nil || n < 1 {
		return false
	}
	items := list(o, segments[:len(segments)-1]...)
	return n <= len(items) && isSecretFlag(items[n-1])
}

func isSecretFlag(v any) bool {
	s, _ := v.(string)
	return strings.HasPrefix(s, "-") && secretName.MatchString(s)
}

// maskSecrets replaces a text, or those inside of a value that have the name of a secret.
func maskSecrets(v any, whole bool, with string) any {
	switch v := v.(type) {
	case string:
		if whole && v != "" {
			return with
		}
		return maskText(v, with)
	case map[string]any:
		name, _ := v["name"].(string)
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = maskSecrets(e, secretName.MatchString(k) || k == "value" && secretName.MatchString(name), with)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = maskSecrets(e, i > 0 && isSecretFlag(v[i-1]), with)
		}
		return out
	}
	return v
}

// maskText replaces what a text assigns to the name of a secret. Of a JSON document with
// one, of one of several lines, and of what is packed, nothing is left.
func maskText(s, with string) string {
	text := strings.TrimSpace(s)
	if strings.HasPrefix(text, "H4sI") || block.MatchString(s) {
		return with
	}
	var doc any
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if json.Unmarshal([]byte(text), &doc) == nil && !equal(doc, maskSecrets(doc, false, with)) {
			return with
		}
	}
	return inAddress.ReplaceAllString(assigned.ReplaceAllString(s, "${1}"+with), "${1}"+with+"@")
}
