package azurelab

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"drift-detector/internal/lab"
)

// Servers of the public cloud.
const (
	Authority = "login.microsoftonline.com"
	Manager   = "management.azure.com"
)

// Options say what Serve serves.
type Options struct {
	// PageSize is the most elements in one answer. Zero puts all into one.
	PageSize int
	// UpperCase writes resource groups in lists of compute resources in upper case, as Azure
	// does sometimes.
	UpperCase bool
	// Synthetic is a number of further VMs in the first subscription, older than all others,
	// and none of Cluster API.
	Synthetic int
}

// Object is a thing as Azure prints it.
type Object = map[string]any

// Principal is who may log in, and which ids begin what it may read; none: all.
type Principal struct {
	Tenant, ClientID, Secret string
	Federated                bool
	Scopes                   []string
}

// Server is an Azure that runs. Its methods may be called while it serves.
type Server struct {
	Address string // host:port of both servers
	CA      []byte // certificate that verifies both, in PEM

	options Options
	served  *httptest.Server
	front   atomic.Pointer[lab.Front]
	lab.Greetings

	mu         sync.Mutex
	subs       map[string]Object
	groups     map[string]Object // by id in lower case
	res        map[string]Object // likewise
	principals []Principal
	denied     []string // in lower case
	stateless  []string // names of VMs
	expires    int      // calls after which a token ends; 0: never
	tokens     map[string]*token
	faults     []Fault
	asked      []string
	logins     [2]int // refused, given
}

type token struct {
	of   Principal
	left int // calls; negative: any number
}

// Serve serves the state in a folder, testdata/azure, until the test ends.
func Serve(t testing.TB, folder string, o Options) *Server {
	t.Helper()
	s := &Server{options: o, tokens: map[string]*token{}}
	if err := s.read(filepath.Join(folder, "arm-state.json.gz")); err != nil {
		t.Fatalf("starting the lab's Azure: %v", err)
	}
	s.addSynthetic()
	c, err := lab.SelfSigned(Authority, Manager)
	if err != nil {
		t.Fatal(err)
	}
	s.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})
	shown, err := s.Before(c)
	if err != nil {
		t.Fatal(err)
	}
	s.listen(shown)
	t.Cleanup(s.Close)
	return s
}

func (s *Server) listen(shown *tls.Config) {
	s.served = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.served.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that break off are part of the tests
	s.served.TLS = shown
	s.served.StartTLS()
	s.Address = s.served.Listener.Addr().String()
}

// Close stops serving, also calls that hang. It may be called twice.
func (s *Server) Close() {
	s.served.CloseClientConnections()
	s.served.Close()
}

// Reroutes returns what drift-detector's --endpoint flag takes to reach both servers.
func (s *Server) Reroutes() []string {
	return []string{Authority + "=" + s.Address, Manager + "=" + s.Address}
}

func (s *Server) read(file string) error {
	packed, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	var state struct {
		Subs, Groups, Res map[string]Object
		Principals        []Principal
	}
	if err := json.NewDecoder(text).Decode(&state); err != nil {
		return err
	}
	s.subs, s.groups, s.res, s.principals = state.Subs, state.Groups, state.Res, state.Principals
	return nil
}

// Synthetic VMs are in this resource group.
const synthetic = "unrelated"

func (s *Server) addSynthetic() {
	if s.options.Synthetic == 0 {
		return
	}
	sub := slices.Sorted(maps.Keys(s.subs))[0]
	for n := range s.options.Synthetic {
		name := fmt.Sprintf("batch-%06d", n)
		id := "/subscriptions/" + sub + "/resourceGroups/" + synthetic + "/providers/Microsoft.Compute/virtualMachines/" + name
		s.res[strings.ToLower(id)] = Object{
			"id": id, "name": name, "type": "Microsoft.Compute/virtualMachines", "location": "westeurope", "tags": Object{"team": "batch"}, "_power": "running",
			"properties": Object{"vmId": fmt.Sprintf("00000000-0000-4000-8000-%012d", n), "timeCreated": "2026-01-01T00:00:00+00:00", "provisioningState": "Succeeded"},
		}
	}
}

// Front puts something before all calls, from the next one on.
func (s *Server) Front(f lab.Front) { s.front.Store(&f) }

// serve notes a call, and lets the Front and the faults have it first.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	spoilt := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
		f := s.fault(r.URL.RequestURI())
		s.mu.Unlock()
		if f != nil {
			f.spoil(w, r, http.HandlerFunc(s.answer))
			return
		}
		s.answer(w, r)
	})
	if f := s.front.Load(); f != nil {
		(*f)(w, r, spoilt)
		return
	}
	spoilt.ServeHTTP(w, r)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	host, _, _ := strings.Cut(r.Host, ":")
	status, body := http.StatusNotFound, any(refusal("InvalidResourceType", "unknown path"))
	switch {
	case host == Authority && r.Method == http.MethodPost:
		status, body = s.login(r)
	case host == Manager && r.Method == http.MethodGet:
		if of, why := s.holder(r); why != nil {
			status, body = http.StatusUnauthorized, why
		} else {
			status, body = s.arm(of, r)
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refusal(reason, message string) Object {
	return Object{"error": Object{"code": reason, "message": message}}
}

// login answers as Entra's token endpoint does, with its words.
func (s *Server) login(r *http.Request) (int, any) {
	tenant, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/oauth2/v2.0/token")
	refuse := func(status int, word, says string) (int, any) {
		s.logins[0]++
		return status, Object{"error": word, "error_description": says + " Trace ID: 0 Correlation ID: 0"}
	}
	if err := r.ParseForm(); err != nil || !ok || r.Form.Get("grant_type") != "client_credentials" || r.Form.Get("scope") != "https://"+Manager+"/.default" {
		return refuse(http.StatusBadRequest, "invalid_request", "AADSTS900144: The request body must contain the right parameters.")
	}
	if !slices.ContainsFunc(s.principals, func(p Principal) bool { return p.Tenant == tenant }) {
		return refuse(http.StatusBadRequest, "invalid_request", "AADSTS90002: Tenant '"+tenant+"' not found.")
	}
	i := slices.IndexFunc(s.principals, func(p Principal) bool { return p.Tenant == tenant && p.ClientID == r.Form.Get("client_id") })
	if i < 0 {
		return refuse(http.StatusBadRequest, "unauthorized_client", "AADSTS700016: Application was not found in the directory '"+tenant+"'.")
	}
	p := s.principals[i]
	if r.Form.Get("client_assertion") != "" {
		if !p.Federated || strings.Count(r.Form.Get("client_assertion"), ".") != 2 {
			return refuse(http.StatusUnauthorized, "invalid_client", "AADSTS700211: No matching federated identity record found for presented assertion issuer.")
		}
	} else if p.Secret == "" || r.Form.Get("client_secret") != p.Secret {
		return refuse(http.StatusUnauthorized, "invalid_client", "AADSTS7000215: Invalid client secret provided.")
	}
	s.logins[1]++
	text := "lab-token-" + strconv.Itoa(s.logins[1]) + "-of-" + p.ClientID
	left := -1
	if s.expires > 0 {
		left = s.expires
	}
	s.tokens[text] = &token{p, left}
	return http.StatusOK, Object{"token_type": "Bearer", "expires_in": 3599, "access_token": text}
}

// holder returns who sends a request.
func (s *Server) holder(r *http.Request) (p Principal, why any) {
	t := s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	switch {
	case t == nil:
		return p, refusal("InvalidAuthenticationToken", "The access token is invalid.")
	case t.left == 0:
		return p, refusal("ExpiredAuthenticationToken", "The access token expiry UTC time is earlier than current UTC time.")
	case t.left > 0:
		t.left--
	}
	return t.of, nil
}

// Asked returns all calls in order, with their queries: "GET /subscriptions/…".
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Logins returns how many tokens were given and how many were refused.
func (s *Server) Logins() (given, refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins[1], s.logins[0]
}
