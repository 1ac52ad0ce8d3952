package openstacklab

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"drift-detector/internal/lab"
)

// Options say what Serve serves.
type Options struct {
	// Accounts may log in. Nil is the account that the recorded token is of.
	Accounts []Account
	// TLS serves HTTPS, with a certificate that Server.CA verifies.
	TLS bool
	// PageSize is the most servers in one answer. Zero is nova's default, 1000.
	PageSize int
	// Microversion is the highest that nova knows, and 2.104 when it is empty.
	Microversion string
	// Synthetic is a number of further servers in the project of the recorded token,
	// older than all others, each with a port, and none of Cluster API.
	Synthetic int
}

// Object is a thing as a service prints it.
type Object = map[string]any

// Server is an OpenStack that runs. Its methods may be called while it serves.
type Server struct {
	// Identity is the URL of keystone with its version, Compute, Network and Image are
	// those of the others as the catalogue has them unless Endpoint changed it.
	Identity, Compute, Network, Image string
	// CA is the certificate that verifies all of them, in PEM. Nil without TLS.
	CA []byte

	options  Options
	accounts []Account
	served   []*httptest.Server
	front    atomic.Pointer[lab.Front]
	// What is before handshakes, and what all services show in them.
	lab.Greetings
	shown *tls.Config

	mu       sync.Mutex
	objects  map[string][]Object // by the name of the listing: "servers"
	token    Object              // as recorded
	versions string              // of nova, as recorded
	recorded map[string]string   // endpoints as recorded, by service type
	moved    map[string]string   // endpoints as a test wants them, by service type
	tokens   map[string]*session
	down     map[string]bool // servers of a cell that is down
	faults   []Fault
	calls    map[string]int
	logins   [2]int // refused, given
	asked    []string
}

// Serve serves the answers that were recorded in a folder, testdata/openstack/after,
// until the test ends.
func Serve(t testing.TB, folder string, o Options) *Server {
	t.Helper()
	if o.PageSize == 0 {
		o.PageSize = 1000
	}
	if o.Microversion == "" {
		o.Microversion = "2.104"
	}
	s := &Server{
		options: o, objects: map[string][]Object{}, recorded: map[string]string{}, moved: map[string]string{},
		tokens: map[string]*session{}, down: map[string]bool{}, calls: map[string]int{},
	}
	if err := s.read(folder); err != nil {
		t.Fatalf("starting the lab's OpenStack: %v", err)
	}
	s.accounts = o.Accounts
	if s.accounts == nil {
		s.accounts = []Account{Recorded}
	}
	if o.TLS {
		if err := s.secure(); err != nil {
			t.Fatalf("starting the lab's OpenStack: %v", err)
		}
	}
	s.Identity = s.listen(s.keystone()) + "/v3"
	s.Compute = s.listen(s.nova()) + "/v2.1"
	s.Network = s.listen(s.neutron())
	s.Image = s.listen(s.glance())
	t.Cleanup(s.Close)
	return s
}

// secure makes the certificate of all services.
func (s *Server) secure() error {
	c, err := lab.SelfSigned("localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	s.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})
	s.shown, err = s.Before(c)
	return err
}

// listen serves a service at a port of its own and returns its URL.
func (s *Server) listen(service http.Handler) string {
	h := httptest.NewUnstartedServer(s.before(service))
	h.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that break off are part of the tests
	if s.options.TLS {
		h.TLS = s.shown
		h.StartTLS()
	} else {
		h.Start()
	}
	s.served = append(s.served, h)
	return h.URL
}

// Close stops serving, also calls that hang. It may be called twice.
func (s *Server) Close() {
	for _, h := range s.served {
		h.CloseClientConnections()
		h.Close()
	}
}

// Front puts something before all services, from the next call on.
func (s *Server) Front(f lab.Front) { s.front.Store(&f) }

// before counts a call, and lets the Front and the faults have it first.
func (s *Server) before(service http.Handler) http.Handler {
	spoilt := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := CallOf(r)
		s.mu.Lock()
		s.calls[call]++
		s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
		f := s.fault(call)
		s.mu.Unlock()
		if f == nil {
			service.ServeHTTP(w, r)
			return
		}
		f.spoil(w, r, service)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := s.front.Load(); f != nil {
			(*f)(w, r, spoilt)
			return
		}
		spoilt.ServeHTTP(w, r)
	})
}

// services are what paths start with, in the order in which they are looked for.
var services = []struct{ name, path string }{{"keystone", "/v3"}, {"nova", "/v2.1"}, {"neutron", "/v2.0"}, {"glance", "/v2"}}

var anID = regexp.MustCompile(`^([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|id-.*)$`)

// CallOf names a call by its service, method and path, with {id} for ids:
// "nova GET /v2.1/servers/{id}". A call for the versions of a service has no
// service: "GET /".
func CallOf(r *http.Request) string {
	path := strings.Split(strings.TrimSuffix(r.URL.Path, "/"), "/")
	for i, part := range path {
		if anID.MatchString(part) {
			path[i] = "{id}"
		}
	}
	whole := strings.Join(path, "/")
	for _, service := range services {
		if whole == service.path || strings.HasPrefix(whole, service.path+"/") {
			return service.name + " " + r.Method + " " + whole
		}
	}
	return r.Method + " " + r.URL.Path
}

// Calls returns how often each call was made, by the names of CallOf.
func (s *Server) Calls() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

// Asked returns all calls in order, with their queries: "GET /v2.0/ports?limit=5".
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// Logins returns how many tokens were given and how many were refused.
func (s *Server) Logins() (given, refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins[1], s.logins[0]
}

// answer prints JSON.
func answer(w http.ResponseWriter, status int, body any) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// refusal returns the word in which a service says what is wrong: nova names it.
func refusal(word string, status int, format string, args ...any) Object {
	return Object{word: Object{"code": status, "message": fmt.Sprintf(format, args...)}}
}

// says answers plain text, as the services do outside of what they serve.
func says(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}
