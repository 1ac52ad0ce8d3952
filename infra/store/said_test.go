package store_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/store"
	"drift-detector/infra/store/storetest"
)

// repeating are ways in which a store may repeat text of the request where an error of it
// quotes the store.
var repeating = map[string]func(text string) string{
	"a header line": func(s string) string { return "HTTP/1.1 200 OK\r\nX-Amz-Bucket-Region " + s + "\r\n\r\n" },
	"a status line": func(s string) string { return s + " 200 OK\r\n\r\n" },
	"a status":      func(s string) string { return "HTTP/1.1 " + s + "\r\n\r\n" },
	"a length":      func(s string) string { return "HTTP/1.1 200 OK\r\nContent-Length: " + s + "\r\n\r\n" },
	"an encoding":   func(s string) string { return "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + s + "\r\n\r\n" },
	"a trailer": func(s string) string {
		return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + s + "\r\n\r\n"
	},
	"a chunk":   func(s string) string { return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + s + "\r\n" },
	"a code":    func(s string) string { return refusalOf(403, "<Code>"+s+"</Code>", "") },
	"a message": func(s string) string { return refusalOf(403, "<Code>AccessDenied</Code><Message>"+s+"</Message>", "") },
	"a region": func(s string) string {
		return refusalOf(301, "<Code>PermanentRedirect</Code><Region>"+s+"</Region>", "")
	},
	"a region header": func(s string) string { return refusalOf(301, "<Code>x</Code>", "X-Amz-Bucket-Region: "+s+"\r\n") },
	"a location":      func(s string) string { return refusalOf(307, "<Code>x</Code>", "Location: https://%zz"+s+"\r\n") },
	"an ETag": func(s string) string {
		return "HTTP/1.1 206 Partial\r\nETag: \"" + s + "\"\r\nContent-Range: " + s + "\r\n\r\n"
	},
}

func refusalOf(status int, body, header string) string {
	return fmt.Sprintf("HTTP/1.1 %d x\r\nContent-Length: %d\r\n%s\r\n<Error>%s</Error>", status, len("<Error></Error>")+len(body), header, body)
}

// What a store says is cut, and holds nothing of what it was sent: neither the signature of
// a request, nor a session's token, nor the key of the objects, nor a signed address.
func TestAStoreThatRepeatsTheRequest(t *testing.T) {
	const token, signature = "S3ss10nT0kenOfTheRequest", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	key := strings.Repeat("k3y!", 8)
	s := storetest.Start(t, true)
	ca := filepath.Join(t.TempDir(), "ca")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"AWS_CA_BUNDLE": ca, "AWS_ACCESS_KEY_ID": storetest.KeyID, "AWS_SECRET_ACCESS_KEY": storetest.Secret, "AWS_SESSION_TOKEN": token, "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
	failed := 0
	encoded := base64.StdEncoding.EncodeToString([]byte(key))
	for how, answer := range repeating {
		for what, of := range map[string]func(*http.Request) string{
			"signature": func(r *http.Request) string {
				_, s, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
				return s + r.URL.Query().Get("X-Amz-Signature")
			},
			"token": func(r *http.Request) string { return r.Header.Get("X-Amz-Security-Token") },
			"key":   func(r *http.Request) string { return r.Header.Get("X-Amz-Server-Side-Encryption-Customer-Key") },
			"query": func(r *http.Request) string { return r.URL.RawQuery },
			"much":  func(*http.Request) string { return strings.Repeat("much", 10_000) },
		} {
			var sent []string
			s.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
				text := of(r)
				if what != "query" && what != "much" && text != "" {
					sent = append(sent, text)
				}
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					panic(err)
				}
				defer conn.Close()
				_, _ = conn.Write([]byte(answer(text)))
				return true
			}
			for _, at := range []string{"s3://velero/b/backups/n", "s3://velero/b/backups/n/n.tar.gz", s.URL + "/n.tar.gz?X-Amz-Signature=" + signature} {
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
				p, _, err := store.Open(ctx, at, store.Options{Ambient: true, Endpoint: s.URL, CustomerKey: backup.NewSensitive(key)})
				if err == nil {
					_, _, err = content(ctx, p)
				}
				stop()
				if err == nil {
					continue // what it was not sent, it can't repeat
				}
				if failed++; !errors.As(err, new(*backup.InputError)) {
					t.Errorf("%s as %s of %s: %v", what, how, at, err)
				}
				for _, secret := range append(sent, token, signature, encoded, "X-Amz-Signature=0") {
					if strings.Contains(err.Error(), secret) {
						t.Errorf("%s as %s of %s: %v", what, how, at, err)
					}
				}
				if len(err.Error()) > 1000 {
					t.Errorf("%s as %s of %s: %d bytes", what, how, at, len(err.Error()))
				}
			}
		}
	}
	if failed < 150 {
		t.Errorf("only %d answers were refused", failed)
	}
}

// A key that no store of S3 has is no name to show.
func TestTooLongKeys(t *testing.T) {
	s := storetest.Start(t, false)
	long := strings.Repeat("n", 2000)
	s.Put("velero", "backups/"+long+"/"+long+".tar.gz", bytes.Repeat([]byte("x"), 10))
	keys := &infra.Credential{Username: storetest.KeyID, Password: backup.NewSensitive(storetest.Secret)}
	p, _, err := store.Open(t.Context(), "s3://velero", store.Options{Endpoint: s.URL, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Backups(t.Context()); err == nil || len(err.Error()) > 500 || !strings.Contains(err.Error(), "more than 1024 bytes") {
		t.Errorf("%.300v", err)
	}
}
