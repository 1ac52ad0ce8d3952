package infra_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
)

// shows returns a part of a secret, of so many bytes, that a text holds; empty: none.
func shows(text, secret string, least int) string {
	text = strings.ToLower(text)
	for i := range len(secret) - least + 1 {
		if part := strings.ToLower(secret[i : i+least]); strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

// A secret is hidden in every form in which a server may repeat it, wherever the text
// or the secret was cut.
func TestASecretIsHiddenInEveryForm(t *testing.T) {
	const secret = `T7s&k/9w"Zq+m4 rk3r<x>%`
	r := infra.NewRedaction(backup.NewSensitive(secret + "\n"))
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{
		"as it is": secret, "in capitals": strings.ToUpper(secret), "in a query": url.QueryEscape(secret), "in a path": url.PathEscape(secret),
		"percent-encoded in small letters": strings.ToLower(url.QueryEscape(secret)), "in HTML": html.EscapeString(secret), "in JSON": string(quoted),
		"quoted": fmt.Sprintf("%q", secret), "hexadecimal": hex.EncodeToString([]byte(secret)),
	}
	for n, before := range []string{"", "u", "us", "user:", "administrator@vsphere.local:"} {
		forms[fmt.Sprint("base64 ", n)] = base64.StdEncoding.EncodeToString([]byte(before + secret))
		forms[fmt.Sprint("base64 of URLs ", n)] = base64.RawURLEncoding.EncodeToString([]byte(before + secret))
		forms[fmt.Sprint("base64 and more ", n)] = base64.StdEncoding.EncodeToString([]byte(before + secret + ":more"))
	}
	for name, form := range forms {
		for _, text := range []string{form, "login failed for user with " + form + " at 10:00", form + " is wrong", "wrong: " + form} {
			got := r.Text(text)
			if part := shows(got, form, 8); part != "" && !strings.HasPrefix(name, "base64") {
				t.Errorf("%s: %q is left in %q", name, part, got)
			}
			if !strings.Contains(got, "[redacted]") || strings.Contains(got, secret[:4]) || strings.Contains(got, secret[len(secret)-4:]) {
				t.Errorf("%s: %q", name, got)
			}
			if raw, err := base64.StdEncoding.DecodeString(got); err == nil && strings.Contains(string(raw), secret[4:10]) {
				t.Errorf("%s can be decoded: %q", name, got)
			}
		}
		// Cut in the text's end, by whoever wrote it.
		for n := 8; n < len(form); n++ {
			if got := r.Text("it was " + form[:n]); shows(got, form[:n], 8) != "" && !strings.HasPrefix(name, "base64") {
				t.Errorf("%s, cut after %d: %q", name, n, got)
			}
		}
		// Cut by us, anywhere.
		for before := 270; before < 310; before++ {
			got := r.Brief(strings.Repeat("x", before) + " " + form + strings.Repeat(" y", 200))
			if !strings.HasPrefix(name, "base64") && shows(got, form, 4) != "" {
				t.Errorf("%s, %d bytes before it: %q", name, before, got)
			}
		}
	}
	for _, cut := range []string{secret[:4], secret[:6], secret[:7]} {
		for _, text := range []string{"it was " + cut, "it was " + cut + "...", "it was " + cut + "… (900 bytes)"} {
			if got := r.Text(text); strings.Contains(got, cut) {
				t.Errorf("the beginning of the secret is left in %q", got)
			}
		}
	}
	if got := r.Text(secret[len(secret)-6:] + " was it"); strings.Contains(got, secret[len(secret)-6:]) {
		t.Errorf("the end of the secret is left in %q", got)
	}
}

// Honest text stays as it is, also beside short and plain secrets.
func TestRedactionLeavesTheRest(t *testing.T) {
	const text = "vCenter vc1.example: the password from Secret capv-system/vc was refused: 503 Service Unavailable"
	r := infra.NewRedaction(backup.NewSensitive("pass"), backup.NewSensitive(""), backup.NewSensitive("a"), backup.NewSensitive("Xk29fj2KKs0"))
	if got := r.Text(text); got != text {
		t.Errorf("%q", got)
	}
	for short, want := range map[string]string{
		"login failed with pass": "login failed with [redacted]", "'pass'?": "'[redacted]'?", "PASS": "[redacted]",
		"pass pass": "[redacted] [redacted]", "passes": "passes", "bypass": "bypass",
	} {
		if got := r.Text(short); got != want {
			t.Errorf("%q becomes %q, want %q", short, got, want)
		}
	}
	var none *infra.Redaction
	none.Add(backup.NewSensitive("x"))
	if none.Text(text) != text || none.Brief(text) != text {
		t.Error("a nil Redaction changes texts")
	}
	long := strings.Repeat("é", 10_000)
	if got := r.Brief(long); !strings.HasSuffix(got, "… (20000 bytes)") || len(got) > 400 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestRedactionPrintsNothing(t *testing.T) {
	r := infra.NewRedaction(backup.NewSensitive("m4rk3r-of-a-secret"))
	target := infra.Target{Redaction: r}
	text, err := json.Marshal(struct{ A, B any }{r, target})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		text = fmt.Appendf(text, format+format, r, target)
	}
	if strings.Contains(string(text), "m4rk3r") || strings.Contains(string(text), hex.EncodeToString([]byte("m4rk3r"))) {
		t.Errorf("%s", text)
	}
}
