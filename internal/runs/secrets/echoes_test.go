package secrets_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"drift-detector/infra/store/storetest"
	"drift-detector/internal/lab"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
)

// behind is what an echo puts before the request that it repeats.
const behind = "ECHOED BEHIND THE ANSWER "

// echoes is before a server. On the wire, behind the end of each answer, it repeats the
// request as it came.
type echoes struct {
	mu       sync.Mutex
	repeated strings.Builder
}

func (e *echoes) front(w http.ResponseWriter, r *http.Request, next http.Handler) {
	request, _ := httputil.DumpRequest(r, true)
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	e.send(w, answer, request)
}

// send ends an answer where it says that it ends, and goes on.
func (e *echoes) send(w http.ResponseWriter, answer *httptest.ResponseRecorder, request []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err) // HTTP/2: no client here was offered it
	}
	defer conn.Close()
	res := answer.Result()
	res.ContentLength, res.TransferEncoding, res.Close = int64(answer.Body.Len()), nil, false
	res.Header.Del("Content-Length")
	var whole strings.Builder
	_ = res.Write(&whole)
	e.mu.Lock()
	e.repeated.Write(request)
	e.mu.Unlock()
	_, _ = conn.Write(append([]byte(whole.String()+behind), request...))
	_, _ = conn.Read(make([]byte, 1)) // until the client has taken it
}

// demand holds that the echoes repeated a secret, and that nothing of an echo was written.
func (c *canaries) demand(e *echoes, sent string) {
	c.T.Helper()
	e.mu.Lock()
	repeated := e.repeated.String()
	e.mu.Unlock()
	if !strings.Contains(repeated, sent) {
		c.T.Errorf("the server was not sent %q, and could not repeat it", sent)
	}
	said := c.written()
	for _, secret := range append(slices.Clone(c.Markers), strings.TrimSpace(behind), sent) {
		if at := strings.Index(said, secret); at >= 0 {
			c.T.Errorf("%q shows: …%s…", secret, said[max(0, at-300):min(len(said), at+100)])
		}
	}
	if !strings.Contains(said, "exit status") {
		c.T.Error("nothing ran")
	}
}

// asked runs what asks all servers of a world.
func (c *canaries) asked(extra ...string) {
	where := slices.Concat(c.Sources(), c.Reach(), []string{"--timeout", "5s"}, extra)
	c.program(slices.Concat([]string{"detect", "-o", filepath.Join(c.out, "report.json"), "--quiet"}, where)...)
	c.program(slices.Concat([]string{"inventory", "-o", filepath.Join(c.out, "inventory.json")}, where)...)
}

func echoing(w *runs.World) (*canaries, *echoes) {
	return &canaries{World: w, out: w.T.TempDir()}, &echoes{}
}

func TestAVCenterThatEchoes(t *testing.T) {
	t.Parallel()
	c, e := echoing(runs.Fleet(t))
	c.VCenter.Front(e.front)
	c.asked("--cluster", "tenant-alpha/alpha-prod", "--skip-access-apiserver")
	c.demand(e, "<password>pass</password>")
}

// A session is as good as a password until it ends.
func TestAVCenterThatRepeatsItsSession(t *testing.T) {
	t.Parallel()
	c, e := echoing(runs.Fleet(t))
	c.VCenter.Front(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		session := r.Header.Get("Cookie")
		if call := runs.CallOf(r); session == "" || call == "Login" || call == "Logout" {
			next.ServeHTTP(w, r)
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		_, value, _ := strings.Cut(session, "=")
		e.repeated.WriteString(session)
		c.Add(strings.Trim(value, `"`))
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nX %s\r\n\r\n", session)
			conn.Close()
		}
	})
	c.asked("--cluster", "tenant-alpha/alpha-prod", "--skip-access-apiserver")
	c.demand(e, c.Markers[0])
}

func TestAnAPIServerThatEchoes(t *testing.T) {
	t.Parallel()
	c, e := echoing(runs.Fleet(t))
	c.Mark(&c.Markers)
	c.Nodes.Front(e.front)
	c.asked()
	c.demand(e, "Authorization: Bearer MARK")
}

func TestAnAWSThatEchoes(t *testing.T) {
	t.Parallel()
	c, e := echoing(runs.Fleet(t))
	o := runs.FleetEC2()
	o.Keys = []lab.EC2Key{{ID: "AKIAMARKED0000000002", Secret: "s", Token: c.token("session"), Account: lab.EC2Account}}
	aws, err := lab.StartEC2(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(aws.Close)
	c.env = aws.Environment()
	aws.Front(e.front)
	c.asked("--cluster", "aws-prod")
	c.demand(e, "X-Amz-Security-Token: "+c.Markers[0])
	for _, action := range []string{"GetCallerIdentity", "DescribeInstances"} {
		c.demand(e, "Action="+action)
	}
}

func TestAnOpenStackThatEchoes(t *testing.T) {
	t.Parallel()
	w, cloud := runs.OpenStackFleet(t, openstacklab.Options{})
	c, e := echoing(w)
	cloud.Front(e.front)
	c.asked("--skip-access-apiserver")
	c.demand(e, c.Add("s3cret-Public-7")) // to Keystone
	c.demand(e, "X-Auth-Token: ")         // to Nova
}

// A store of S3 is sent the key that encrypts the objects, and a signed URL is a secret.
func TestAStoreThatEchoes(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"refuses": http.StatusForbidden, "answers": http.StatusOK} {
		t.Run(name, func(t *testing.T) {
			c, e := echoing(&runs.World{T: t, Dir: t.TempDir()})
			store := storetest.Start(t, true)
			store.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
				request, _ := httputil.DumpRequest(r, true)
				answer := httptest.NewRecorder()
				answer.WriteHeader(status)
				if status != http.StatusOK {
					_, _ = answer.WriteString("<Error><Code>AccessDenied</Code></Error>")
				}
				e.send(w, answer, request)
				return true
			}
			key := make([]byte, 32)
			_, _ = rand.Read(key)
			file := func(name string, text []byte) string {
				c.Ensure(os.WriteFile(filepath.Join(c.Dir, name), text, 0o600))
				return filepath.Join(c.Dir, name)
			}
			profile := fmt.Sprintf("[dr]\naws_access_key_id = %s\naws_secret_access_key = %s\naws_session_token = %s\n", storetest.KeyID, storetest.Secret, c.token("session"))
			c.env = []string{
				"AWS_CA_BUNDLE=" + file("ca", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: store.Certificate().Raw})),
				"AWS_SHARED_CREDENTIALS_FILE=" + file("profile", []byte(profile)),
			}
			at := []string{"--s3-profile", "dr", "--s3-endpoint", store.URL, "--s3-sse-c-key", file("key", key)}
			c.program(slices.Concat([]string{"backups", "s3://velero/mgmt"}, at)...)
			c.program(slices.Concat([]string{"check", "--backup", "s3://velero/mgmt/backups/b/b.tar.gz"}, at)...)
			c.program("check", "--backup", store.URL+"/b.tar.gz?X-Amz-Signature="+c.token("signature"))
			c.Add(base64.StdEncoding.EncodeToString(key))
			for _, secret := range c.Markers {
				c.demand(e, secret)
			}
		})
	}
}

// Go traces HTTP/2 for who asks in the environment, headers and addresses and all.
func TestTracesAreSilent(t *testing.T) {
	t.Parallel()
	c, e := echoing(&runs.World{T: t, Dir: t.TempDir()})
	store := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		request, _ := httputil.DumpRequest(r, false)
		e.repeated.Write(request)
	}))
	store.EnableHTTP2 = true
	store.StartTLS()
	defer store.Close()
	ca := filepath.Join(c.Dir, "ca")
	c.Ensure(os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: store.Certificate().Raw}), 0o600))
	c.env = []string{"AWS_CA_BUNDLE=" + ca, "GODEBUG=http2debug=2"}
	c.program("check", "--backup", store.URL+"/b.tar.gz?X-Amz-Signature="+c.token("signature"))
	c.demand(e, c.Markers[0])
	c.demand(e, " HTTP/2.0")
	if said := c.written(); strings.Contains(said, "http2: ") {
		t.Error(said)
	}
}
