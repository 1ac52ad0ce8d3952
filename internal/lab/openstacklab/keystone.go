package openstacklab

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Account may log in to a project, by a user's password or an application credential.
type Account struct {
	User, Password string // of the domain Default
	// Credential is the id of an application credential, CredentialName its name.
	Credential, CredentialName, Secret string
	Project, ProjectID                 string
}

// Recorded is the account of testdata/openstack: that of the Secrets in its backup.
var Recorded = Account{
	User: "capo-public", Password: "s3cret-Public-7",
	Credential: "c0ffee00c0ffee00c0ffee00c0ffee00", CredentialName: "capo", Secret: "s3cret-Credential-7",
	Project: "tenant-os", ProjectID: "40efb056b07944ce8207023157ab1cea",
}

// session is what a token that was given is worth.
type session struct {
	account *Account
	scoped  bool
	body    Object
}

// reference is how a request names a user, a project or a domain.
type reference struct {
	ID, Name, Password string
	Domain             *reference
}

// isDefault reports whether a domain is the only one that there is.
func (r *reference) isDefault() bool {
	return r != nil && (r.ID == "default" || r.ID == "" && r.Name == "Default")
}

type login struct {
	Auth struct {
		Identity struct {
			Methods    []string
			Password   struct{ User reference }
			Credential struct {
				ID, Name, Secret string
				User             reference
			} `json:"application_credential"`
			Token reference
		}
		// Scope is nothing, "unscoped", or an object.
		Scope json.RawMessage
	}
}

// userID returns the id of an account's user: the recorded one's as recorded.
func (s *Server) userID(a *Account) string {
	if a.User == Recorded.User {
		return text(s.token["user"].(Object), "id")
	}
	return fmt.Sprintf("%032x", a.User)[:32]
}

// names reports whether a reference is to an account's user.
func (s *Server) names(r reference, a *Account) bool {
	return a.User != "" && (r.ID == s.userID(a) || r.ID == "" && r.Name == a.User && r.Domain.isDefault())
}

// proves reports whether what a login shows is right for an account.
func (s *Server) proves(l *login, a *Account) bool {
	switch i := &l.Auth.Identity; strings.Join(i.Methods, ",") {
	case "password":
		return s.names(i.Password.User, a) && i.Password.User.Password == a.Password
	case "application_credential":
		c := &i.Credential
		return a.Credential != "" && c.Secret == a.Secret &&
			(c.ID == a.Credential || c.ID == "" && c.Name == a.CredentialName && s.names(c.User, a))
	case "token":
		known := s.tokens[i.Token.ID]
		return known != nil && known.account.User == a.User
	}
	return false
}

// admit decides what a login gives: nil is 401, whatever is wrong.
func (s *Server) admit(l *login) *session {
	var scope struct{ Project *reference }
	if json.Unmarshal(l.Auth.Scope, &scope) != nil {
		scope.Project = nil // "unscoped"
	}
	byCredential := strings.Join(l.Auth.Identity.Methods, ",") == "application_credential"
	for i := range s.accounts {
		a := &s.accounts[i]
		if !s.proves(l, a) {
			continue
		}
		p := scope.Project
		switch {
		case byCredential && len(l.Auth.Scope) > 0:
			return nil // its project is its own
		case p == nil:
			return s.give(a, l.Auth.Identity.Methods, byCredential)
		case p.ID == a.ProjectID || p.ID == "" && p.Name == a.Project && p.Domain.isDefault():
			return s.give(a, l.Auth.Identity.Methods, true)
		}
	}
	return nil
}

// give makes the token of an account. One without a scope names no project, and has no
// catalogue.
func (s *Server) give(a *Account, methods []string, scoped bool) *session {
	body := copied(s.token)
	user := body["user"].(Object)
	user["id"], user["name"] = s.userID(a), a.User
	body["methods"], body["issued_at"] = methods, keystoneTime(time.Now())
	body["expires_at"] = keystoneTime(time.Now().Add(time.Hour))
	if a.Credential != "" && methods[0] == "application_credential" {
		body["application_credential"] = Object{"id": a.Credential, "name": a.CredentialName, "restricted": true}
	}
	if !scoped {
		delete(body, "project")
		delete(body, "roles")
		delete(body, "catalog")
		delete(body, "is_domain")
		return &session{a, false, body}
	}
	project := body["project"].(Object)
	project["id"], project["name"] = a.ProjectID, a.Project
	body["catalog"] = s.catalog()
	return &session{a, true, body}
}

func keystoneTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// catalog returns the recorded catalogue with the addresses of this server.
func (s *Server) catalog() []Object {
	here := map[string]string{"identity": s.Identity, "compute": s.Compute, "network": s.Network, "image": s.Image}
	known := map[string]bool{}
	var all []Object
	add := func(service Object) {
		kind := text(service, "type")
		url, moved := s.moved[kind]
		if !moved {
			url = here[kind]
		}
		known[kind] = true
		if url == "" {
			return // placement is not served, nor what a test took away
		}
		for _, e := range list(service, "endpoints") {
			e["url"] = url
		}
		all = append(all, service)
	}
	for _, service := range list(copied(s.token), "catalog") {
		add(service)
	}
	for kind := range s.moved {
		if !known[kind] {
			add(Object{"type": kind, "name": kind, "id": kind, "endpoints": []any{
				Object{"id": kind, "interface": "public", "region": "RegionOne", "region_id": "RegionOne"},
			}})
		}
	}
	return all
}

// unauthorized answers with keystone's words for a wrong password, a project that does not exist,
// one without a role and an unknown token alike.
func (s *Server) unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", fmt.Sprintf("Keystone uri=%q", s.Identity))
	keystoneSays(w, http.StatusUnauthorized, "The request you have made requires authentication.")
}

// session finds the session of a token, or answers 401.
func (s *Server) session(w http.ResponseWriter, token string) *session {
	s.mu.Lock()
	known := s.tokens[token]
	s.mu.Unlock()
	if known == nil {
		s.unauthorized(w)
	}
	return known
}

// known serves only those with a token, with the project that it is of: "" for none.
func (s *Server) known(serve func(w http.ResponseWriter, r *http.Request, project string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch known := s.session(w, r.Header.Get("X-Auth-Token")); {
		case known == nil:
		case known.scoped:
			serve(w, r, known.account.ProjectID)
		default:
			serve(w, r, "")
		}
	}
}

func (s *Server) keystone() http.Handler {
	mux := http.NewServeMux()
	version := func() Object {
		return Object{
			"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z",
			"links":       []Object{{"rel": "self", "href": s.Identity + "/"}},
			"media-types": []Object{{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}},
		}
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", s.Identity+"/")
		answer(w, http.StatusMultipleChoices, Object{"versions": Object{"values": []Object{version()}}})
	})
	for _, path := range []string{"GET /v3", "GET /v3/{$}"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, Object{"version": version()}) })
	}
	mux.HandleFunc("POST /v3/auth/tokens", s.logIn)
	mux.HandleFunc("GET /v3/auth/tokens", func(w http.ResponseWriter, r *http.Request) {
		if s.session(w, r.Header.Get("X-Auth-Token")) == nil {
			return
		}
		s.mu.Lock()
		asked := s.tokens[r.Header.Get("X-Subject-Token")]
		s.mu.Unlock()
		if asked == nil {
			keystoneSays(w, http.StatusNotFound, "Could not recognize Fernet token")
			return
		}
		w.Header().Set("X-Subject-Token", r.Header.Get("X-Subject-Token"))
		answer(w, http.StatusOK, Object{"token": asked.body})
	})
	mux.HandleFunc("DELETE /v3/auth/tokens", func(w http.ResponseWriter, r *http.Request) {
		if s.session(w, r.Header.Get("X-Auth-Token")) == nil {
			return
		}
		s.mu.Lock()
		delete(s.tokens, r.Header.Get("X-Subject-Token"))
		s.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /v3/auth/projects", func(w http.ResponseWriter, r *http.Request) {
		if s.session(w, r.Header.Get("X-Auth-Token")) != nil {
			answer(w, http.StatusOK, Object{"projects": s.Objects("projects"), "links": Object{"next": nil, "self": s.Identity + "/auth/projects", "previous": nil}})
		}
	})
	return mux
}

func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	var l login
	w.Header().Set("Vary", "X-Auth-Token")
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&l); err != nil || len(l.Auth.Identity.Methods) == 0 {
		keystoneSays(w, http.StatusBadRequest, "Expecting to find auth in request body. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	given := s.admit(&l)
	if given == nil {
		s.logins[0]++
		s.refuse(w, &l)
		return
	}
	secret := make([]byte, 96)
	_, _ = rand.Read(secret)
	token := "gAAAAA" + base64.RawURLEncoding.EncodeToString(secret)
	s.tokens[token] = given
	s.logins[1]++
	w.Header().Set("X-Subject-Token", token)
	answer(w, http.StatusCreated, Object{"token": given.body})
}

// refuse says why a login fails: of application credentials keystone says more than of
// passwords.
func (s *Server) refuse(w http.ResponseWriter, l *login) {
	id := l.Auth.Identity.Credential.ID
	byCredential := strings.Join(l.Auth.Identity.Methods, ",") == "application_credential"
	switch {
	case byCredential && id != "" && !slices.ContainsFunc(s.accounts, func(a Account) bool { return a.Credential == id }):
		keystoneSays(w, http.StatusNotFound, "Could not find Application Credential: "+id+".")
	case byCredential && len(l.Auth.Scope) > 0:
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Keystone uri=%q", s.Identity))
		keystoneSays(w, http.StatusUnauthorized, "Error authenticating with application credential: Application credentials cannot request a scope.")
	default:
		s.unauthorized(w)
	}
}

func keystoneSays(w http.ResponseWriter, status int, message string) {
	answer(w, status, Object{"error": Object{"code": status, "title": http.StatusText(status), "message": message}})
}
