package store

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// TestAStoreThatStallsIsNotWaitedFor: an answer of any kind that begins and does not go on
// is an error in a minute or two, also without --deadline.
func TestAStoreThatStallsIsNotWaitedFor(t *testing.T) {
	for name, begins := range map[string]string{
		"a listing": "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n<ListBucketResult>",
		"a refusal": "HTTP/1.1 403 Forbidden\r\nContent-Length: 5000\r\n\r\n<Error>",
		"no HTTP":   "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
		"a tarball": "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nETag: \"1\"\r\n\r\nabc",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, err := newClient(nil)
				if err != nil {
					t.Fatal(err)
				}
				transport := client.Transport.(staying).Transport
				defer transport.CloseIdleConnections()
				transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					go func() {
						in := bufio.NewReader(there)
						if _, err := http.ReadRequest(in); err == nil {
							_, _ = io.WriteString(there, begins)
						}
						_, _ = io.Copy(io.Discard, in)
						there.Close()
					}()
					return here, nil
				}
				b := &bucket{bucket: "velero", endpoint: &url.URL{Scheme: "http", Host: "store"}, keys: credentials.NewStaticCredentialsProvider("k", "s", ""), signer: v4.NewSigner(), client: client}
				began := time.Now()
				if name == "a tarball" {
					var r io.ReadCloser
					if r, err = b.source(t.Context(), "x.tar.gz", "").Open(); err != nil {
						t.Fatal(err)
					}
					defer r.Close()
					_, err = io.ReadAll(r)
				} else {
					_, err = b.folders(t.Context(), "")
				}
				most := 5 * time.Minute
				if name == "no HTTP" {
					most = 0 // nothing that could come is waited for
				}
				if err == nil || !strings.Contains(err.Error(), "s3://velero") || time.Since(began) > most {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			})
		})
	}
}
