package program

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
)

// markers are unique values in the place of the secrets of a backup.
type markers []string

// next makes a marker that looks different in each form in which a secret may
// leak: plain, base64, URL and JSON.
func (m *markers) next(of string) string {
	return m.add(fmt.Sprintf(`MARK%d<"&+/ \%s>é`, len(*m), of))
}

func (m *markers) add(v string) string {
	*m = append(*m, v)
	return v
}

// in returns the markers that a text holds, in any form.
func (m markers) in(text string) []string {
	var found []string
	for _, v := range m {
		quoted, _ := json.Marshal(v)
		plainQuoted := strings.Trim(string(quoted), `"`)
		var unescaped strings.Builder
		enc := json.NewEncoder(&unescaped)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v)
		forms := []string{
			v, plainQuoted, strings.Trim(strings.TrimSpace(unescaped.String()), `"`),
			strings.ReplaceAll(plainQuoted, `\`, `\\`), // JSON in JSON, as in last-applied-configuration
			url.QueryEscape(v), url.PathEscape(v), fmt.Sprintf("%q", v),
		}
		if number, _, ok := strings.Cut(v, `"`); ok {
			forms = append(forms, number+`"`) // cut off, as a parser's error may quote it
		}
		for shift := range 3 { // base64 of something that contains the marker
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				s := e.EncodeToString([]byte(strings.Repeat("x", shift) + v))
				forms = append(forms, s[4:len(s)-4])
			}
		}
		if slices.ContainsFunc(forms, func(f string) bool { return strings.Contains(text, f) }) {
			found = append(found, v)
		}
	}
	return found
}

// mark replaces every secret value of the world's backup by a marker: data of
// all Secrets except for user names, certificates and what the lab needs to work,
// and the copy of the data in last-applied-configuration.
func (w *world) mark(m *markers) {
	byItem := map[string][]byte{} // both copies of an item must stay equal
	w.edited("marked", func(item string, body []byte) ([]byte, bool) {
		resource, name := itemOf(item)
		if resource != "secrets" {
			return body, true
		}
		key := filepath.Base(filepath.Dir(item)) + "/" + name
		if done, ok := byItem[key]; ok {
			return done, true
		}
		var object map[string]any
		if err := json.Unmarshal(body, &object); err != nil {
			w.t.Fatal(err)
		}
		data, _ := object["data"].(map[string]any)
		for k, v := range data {
			data[k] = base64.StdEncoding.EncodeToString([]byte(m.value(name, k, v.(string))))
		}
		meta := object["metadata"].(map[string]any)
		if notes, ok := meta["annotations"].(map[string]any); ok && notes["kubectl.kubernetes.io/last-applied-configuration"] != nil {
			copied, _ := json.Marshal(map[string]any{"stringData": map[string]any{"password": m.next("annotation")}})
			notes["kubectl.kubernetes.io/last-applied-configuration"] = string(copied)
		}
		out, err := json.Marshal(object)
		if err != nil {
			w.t.Fatal(err)
		}
		byItem[key] = out
		return out, true
	})
}

func (m *markers) value(secret, key, encoded string) string {
	old, _ := base64.StdEncoding.DecodeString(encoded)
	switch {
	case key == "username", key == "tls.crt":
		return string(old)
	case key == "value" && strings.HasSuffix(secret, "-kubeconfig"):
		// The client certificate must go on working, so its key is looked for as
		// it is, in base64 and in PEM; a token goes beside it.
		_, rest, _ := strings.Cut(string(old), "client-key-data: ")
		encodedKey, _, _ := strings.Cut(rest, "\n")
		pemKey, err := base64.StdEncoding.DecodeString(encodedKey)
		if err != nil || len(pemKey) < 400 {
			panic("the lab's kubeconfig has no client key")
		}
		m.add(encodedKey[200:260])
		m.add(strings.Split(string(pemKey), "\n")[3])
		// (A bearer token is printable ASCII without spaces, else it is refused.)
		token, _ := json.Marshal(m.add(fmt.Sprintf(`MARK%d<"&+/\token>`, len(*m))))
		return strings.Replace(string(old), "    client-key-data:", "    token: "+string(token)+"\n    client-key-data:", 1)
	case key == "release":
		return m.release(string(old))
	case key == "credentials.yaml":
		password, _ := json.Marshal(m.next("bootstrap"))
		return "username: user\npassword: " + string(password) + "\n"
	}
	return m.next(key)
}

// release puts markers into the values of a Helm release, and of its chart.
func (m *markers) release(encoded string) string {
	packed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic(err)
	}
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	var r object
	if err := json.NewDecoder(unpack).Decode(&r); err != nil {
		panic(err)
	}
	in(r, "config")["password"] = m.next("value")
	in(r, "chart", "values", "db")["password"] = m.next("default")
	var out bytes.Buffer
	pack := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(pack).Encode(r), pack.Close()); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// No secret of the backup occurs in any output, log, error or saved inventory,
// at any debug level, whether things work or fail.
func TestNoSecretEverShows(t *testing.T) {
	t.Parallel()
	var m markers
	w := fleet(t)
	w.mark(&m)
	if len(m) < 50 {
		t.Fatalf("only %d markers were placed", len(m))
	}
	refusing, err := lab.StartVCenter(lab.VCenterOptions{Archive: testdata + "vcenter-after.tar.gz", Accounts: map[string]string{"user": "other"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(refusing.Close)

	var everything strings.Builder
	record := func(what string, o outcome) {
		fmt.Fprintf(&everything, "\n== %s: exit %d\n%s\n%s\n%s\n", what, o.code, o.stdout, o.stderr, o.json)
	}
	debug := func(command string, extra ...string) outcome {
		return runProgram(t, slices.Concat([]string{"-D", command}, w.sources(), w.reach(), extra)...)
	}
	saved := filepath.Join(w.dir, "inventory.json")
	o := w.detect()
	o.demand(t, cli.ExitOK)
	record("detect", o)
	record("detect, debug", debug("detect", "-o", "-"))
	record("text", debug("detect", "-o", "-", "--format", "text"))
	record("dry run", debug("detect", "--dry-run"))
	record("inventory", debug("inventory", "-o", saved))
	check := func(format string) outcome {
		return runProgram(t, slices.Concat([]string{"-D", "check", "--format", format}, w.sources())...)
	}
	record("check", check("text"))
	record("check as JSON", check("json"))
	for _, how := range []string{"--diff", "--format=json"} {
		record("releases", runProgram(t, slices.Concat([]string{"-D", "releases", how}, w.sources())...))
	}
	inventory, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	everything.Write(inventory)
	w.vcenter, w.creds = refusing, mustCredentials(t, refusing, w.dir)
	record("login refused", debug("detect", "-o", "-"))
	refusing.Close()
	record("vCenter down", debug("detect", "-o", "-"))
	w.edited("no-json", func(item string, body []byte) ([]byte, bool) {
		if resource, _ := itemOf(item); resource == "secrets" {
			return append(body[:len(body)-1], 'x'), true
		}
		return body, true
	})
	record("Secrets that are no JSON", debug("detect", "-o", "-"))
	record("check of Secrets that are no JSON", check("text"))

	if found := m.in(everything.String()); len(found) > 0 {
		t.Errorf("%d secrets show, for example %s", len(found), found[0])
	}
	for _, form := range []func(string) string{
		func(v string) string { return v },
		func(v string) string { return base64.StdEncoding.EncodeToString([]byte("password: " + v)) },
		url.QueryEscape,
		func(v string) string { q, _ := json.Marshal(v); return string(q) },
	} {
		planted := everything.String() + form(m[7])
		if found := m.in(planted); !slices.Equal(found, m[7:8]) {
			t.Errorf("the search did not find a planted secret: %q", found)
		}
	}
}

func mustCredentials(t *testing.T, v *lab.VCenter, dir string) string {
	t.Helper()
	path, err := v.WriteCredentials(dir)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
