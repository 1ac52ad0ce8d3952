package list

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/azure"
)

// session is a token for one subscription.
type session struct {
	provider  *provider
	target    *infra.Target
	used      *azure.Credential
	at        azure.Endpoints
	transport *transport
	client    *http.Client
	token     string
	renewed   bool // once, because it had expired
}

// observe notes what the authority shows, after whatever verifies that.
func (t *transport) observe(conf *tls.Config) {
	verify := conf.VerifyConnection
	conf.VerifyConnection = func(cs tls.ConnectionState) error {
		t.mu.Lock()
		t.chain = cs.PeerCertificates
		t.mu.Unlock()
		if verify != nil {
			return verify(cs)
		}
		return nil
	}
}

// shown returns the certificates that the authority showed.
func (t *transport) shown() []*x509.Certificate {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.chain
}

// connect gets a token.
func (p *provider) connect(ctx context.Context, t *infra.Target, d *azure.Detail, c *azure.Credential) (*session, error) {
	at := azure.Clouds[c.Cloud]
	tr, err := newTransport(at, d)
	if err != nil {
		return nil, err
	}
	s := &session{provider: p, target: t, used: c, at: at, transport: tr, client: tr.client()}
	if err := s.login(ctx); err != nil {
		tr.close()
		return s, err
	}
	return s, nil
}

// login asks for a token: the authority, or the operator's own az command. One that was lost
// on the way is asked for once more: it may have failed there, and counts as if it had.
func (s *session) login(ctx context.Context) (err error) {
	c := s.used
	if c.CLI {
		az, err := s.provider.Az()
		if err == nil {
			s.token, err = cliToken(ctx, az, c)
		}
		s.target.Redaction.Add(backup.NewSensitive(s.token))
		return err
	}
	turn, err := s.provider.logins.Enter(ctx, infra.Server{Address: s.transport.hosts[s.at.Authority.Host].dial}, c.Tenant+"/"+c.Client, nil)
	if err != nil {
		return err
	}
	defer turn.Leave()
	before := turn.Failed()
	if turn.Left() == 0 {
		return infra.ErrLockout
	}
	err = s.provider.retry.Do(ctx, func() error {
		if turn.Left() == 0 {
			return err // the last one, after which nobody is asked any more
		}
		failed := turn.Failed()
		turn.Try()
		err = s.ask(ctx)
		var busy *infra.StatusError
		var untrusted *untrustedError
		if errors.As(err, &busy) || errors.As(err, &untrusted) { // nobody has seen a secret
			turn.Forgive(failed)
		}
		return err
	})
	if err == nil {
		turn.Forgive(before)
	}
	return err
}

// ask sends the form of RFC 6749 §4.4 to the authority of the cloud, with a secret or with an
// assertion in its place (RFC 7523).
func (s *session) ask(ctx context.Context) error {
	c := s.used
	address := "https://" + s.at.Authority.Host + "/" + c.Tenant + "/oauth2/v2.0/token"
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.Client}, "scope": {audience(s.at) + ".default"}}
	proof, err := "", error(nil)
	switch {
	case c.Certificate != nil:
		proof, err = assertion(c.Certificate, address, c.Client, time.Now())
	case c.Federated != "":
		proof, err = federatedToken(c.Federated)
	default:
		form.Set("client_secret", c.Secret)
	}
	if err != nil {
		return &loginError{says: err.Error()}
	}
	if proof != "" {
		s.target.Redaction.Add(backup.NewSensitive(proof))
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", proof)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("User-Agent", userAgent)
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
		Error string `json:"error"`
		Says  string `json:"error_description"`
	}
	err = json.NewDecoder(res.Body).Decode(&answer)
	switch {
	case res.StatusCode == http.StatusInternalServerError:
		return &statusError{code: res.StatusCode}
	case err != nil:
		return cutOff(err)
	case answer.Error != "" && (res.StatusCode == http.StatusBadRequest || res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden):
		return &loginError{says: answer.Error + ": " + firstLine(answer.Says)}
	case res.StatusCode != http.StatusOK:
		return &statusError{code: res.StatusCode}
	case answer.Token == "" || len(answer.Token) > maxToken:
		return answerError("it answered a login with no token")
	}
	s.token = answer.Token
	s.target.Redaction.Add(backup.NewSensitive(s.token))
	return nil
}

// audience returns what a token is for.
func audience(of azure.Endpoints) string { return "https://" + of.Manager.Host + "/" }

const userAgent = "drift-detector"

// firstLine leaves out the ids and times that Entra writes behind what is wrong.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line, _, _ = strings.Cut(line, " Trace ID:")
	return strings.TrimSpace(strings.TrimSuffix(line, "\r"))
}

// loginError says that a login was refused.
type loginError struct {
	says string // foreign text
	cli  bool   // the az command refused it
}

func (e *loginError) Error() string { return e.says }

// statusError is an answer of Azure that is none to the question.
type statusError struct {
	code   int
	reason string // error.code, such as ResourceGroupNotFound; foreign text
	says   string // error.message; foreign text
}

func (e *statusError) Error() string {
	if e.reason == "" {
		return "it answered " + http.StatusText(e.code)
	}
	return "it answered " + e.reason + ": " + e.says
}

// codeOf returns the HTTP status of an error that Azure answered, or 0.
func codeOf(err error) int {
	var status *statusError
	if errors.As(err, &status) {
		return status.code
	}
	return 0
}

// overloaded reports whether Azure could not answer: ARM says 500 and 408 where what is
// behind it failed, and its own clients ask again (azcore runtime/policy_retry.go v1.20.0).
func overloaded(err error) bool {
	c := codeOf(err)
	return c == http.StatusInternalServerError || c == http.StatusRequestTimeout
}

// get reads one answer of Azure Resource Manager to its end. A token that has expired on the
// way is asked for once more.
func (s *session) get(ctx context.Context, pathAndQuery string, read func(*json.Decoder) error) error {
	err := s.provider.retry.Do(ctx, func() error { return s.once(ctx, pathAndQuery, read) })
	if codeOf(err) == http.StatusUnauthorized && !s.renewed {
		s.renewed = true
		if again := s.login(ctx); again != nil {
			return again
		}
		err = s.provider.retry.Do(ctx, func() error { return s.once(ctx, pathAndQuery, read) })
	}
	return err
}

func (s *session) once(ctx context.Context, pathAndQuery string, read func(*json.Decoder) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.at.Manager.Host+pathAndQuery, nil)
	if err != nil {
		return answerError("it leads to an address that is none")
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", userAgent)
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return refusalIn(res)
	}
	dec := json.NewDecoder(res.Body)
	if err := read(dec); err != nil {
		return cutOff(err)
	}
	_, err = dec.Token()
	if !errors.Is(err, io.EOF) {
		return answerError("behind the answer there is something else")
	}
	return nil
}

// refusalIn reads what ARM says of an error.
func refusalIn(res *http.Response) error {
	out := &statusError{code: res.StatusCode}
	var body struct {
		Error *struct{ Code, Message string }
	}
	if json.NewDecoder(res.Body).Decode(&body) == nil && body.Error != nil {
		out.reason, out.says = body.Error.Code, firstLine(body.Error.Message)
	}
	return out
}

// nowhere reports whether Azure answered that a resource or its group does not exist. A 404
// without ARM's own code may be anybody's.
func nowhere(err error) bool {
	var status *statusError
	if !errors.As(err, &status) || status.code != http.StatusNotFound {
		return false
	}
	switch status.reason {
	case "ResourceNotFound", "ResourceGroupNotFound", "NotFound", "ParentResourceNotFound":
		return true
	}
	return false
}

// groupNowhere reports whether Azure answered that a resource group does not exist.
func groupNowhere(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == http.StatusNotFound && status.reason == "ResourceGroupNotFound"
}
