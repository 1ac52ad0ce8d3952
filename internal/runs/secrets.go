package runs

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Slips are addresses with a secret in them (%s), and a slip of whoever typed them.
var Slips = []string{
	"https:/127.0.0.1:1/b.tar.gz?X-Amz-Credential=k&X-Amz-Signature=%s", "https:127.0.0.1/b.tar.gz?X-Amz-Signature=%s", "//127.0.0.1:1/b.tar.gz?sig=%s",
	"s3:/velero/b?X-Amz-Security-Token=%s", " https://127.0.0.1:1/b.tar.gz?sig=%s", `"https://127.0.0.1:1/b.tar.gz?sig=%s"`, "htps://127.0.0.1:1/b.tar.gz?sig=%s",
	"HTTPS:/127.0.0.1:1/b.tar.gz?SIG=%s", "127.0.0.1:1/b.tar.gz?sig=%s", "https://127.0.0.1:1:1/b.tar.gz?sig=%s", "https:/user:%s@127.0.0.1/b", "user:%s@127.0.0.1:x/b",
	"https:/127.0.0.1/b#access_token=%s", "https:/127.0.0.1/b.tar.gz?sig=a/%s/b//c", "https://127.0.0.1:1/b\x01.tar.gz?sig=%s", "https:/%%zz/b.tar.gz?sig=%s",
	"s3://velero/b?X-Amz-Signature=%s", "https://127.0.0.1=https:/127.0.0.1:1/?sig=%s", "https://user:%s@127.0.0.1:1/b",
}

// Markers are unique values in the place of the secrets of a backup.
type Markers []string

// Next makes a marker that looks different in each form in which a secret may
// leak: plain, base64, URL and JSON.
func (m *Markers) Next(of string) string {
	return m.Add(fmt.Sprintf(`MARK%d<"&+/ \%s>é`, len(*m), of))
}

// Add remembers a secret that nothing may show, and returns it.
func (m *Markers) Add(v string) string {
	*m = append(*m, v)
	return v
}

// In returns the markers that a text holds, in any form.
func (m Markers) In(text string) []string {
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

// Mark replaces every secret value of the world's backup by a marker: data of
// all Secrets except for user names, certificates and what the lab needs to work,
// and the copy of the data in last-applied-configuration.
func (w *World) Mark(m *Markers) {
	byItem := map[string][]byte{} // both copies of an item must stay equal
	w.Edited("marked", func(item string, body []byte) ([]byte, bool) {
		resource, name := ItemOf(item)
		if resource != "secrets" {
			return body, true
		}
		key := filepath.Base(filepath.Dir(item)) + "/" + name
		if done, ok := byItem[key]; ok {
			return done, true
		}
		var object map[string]any
		if err := json.Unmarshal(body, &object); err != nil {
			w.T.Fatal(err)
		}
		data, _ := object["data"].(map[string]any)
		for k, v := range data {
			data[k] = base64.StdEncoding.EncodeToString([]byte(m.value(name, k, v.(string))))
		}
		meta := object["metadata"].(map[string]any)
		if notes, ok := meta["annotations"].(map[string]any); ok && notes["kubectl.kubernetes.io/last-applied-configuration"] != nil {
			copied, _ := json.Marshal(map[string]any{"stringData": map[string]any{"password": m.Next("annotation")}})
			notes["kubectl.kubernetes.io/last-applied-configuration"] = string(copied)
		}
		out, err := json.Marshal(object)
		if err != nil {
			w.T.Fatal(err)
		}
		byItem[key] = out
		return out, true
	})
}

func (m *Markers) value(secret, key, encoded string) string {
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
		m.Add(encodedKey[200:260])
		m.Add(strings.Split(string(pemKey), "\n")[3])
		// (A bearer token is printable ASCII without spaces, else it is refused.)
		token, _ := json.Marshal(m.Add(fmt.Sprintf(`MARK%d<"&+/\token>`, len(*m))))
		return strings.Replace(string(old), "    client-key-data:", "    token: "+string(token)+"\n    client-key-data:", 1)
	case key == "release":
		return m.release(string(old))
	case key == "credentials.yaml":
		password, _ := json.Marshal(m.Next("bootstrap"))
		return "username: user\npassword: " + string(password) + "\n"
	}
	return m.Next(key)
}

// release puts markers into the values of a Helm release, and of its chart.
func (m *Markers) release(encoded string) string {
	packed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic(err)
	}
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	var r Object
	if err := json.NewDecoder(unpack).Decode(&r); err != nil {
		panic(err)
	}
	In(r, "config")["password"] = m.Next("value")
	In(r, "chart", "values", "db")["password"] = m.Next("default")
	var out bytes.Buffer
	pack := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(pack).Encode(r), pack.Close()); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}
