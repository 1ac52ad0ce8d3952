package list

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/session"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Bounds in time and size on what a vCenter may do.
const (
	dialTimeout  = 10 * time.Second
	firstTimeout = 30 * time.Second // for a server to say what it is
	callTimeout  = 2 * time.Minute
	logoutTime   = 5 * time.Second
	logoutGrace  = 400 * time.Millisecond // of a run that was interrupted: Ctrl-C ends it within a second
	maxAnswer    = 64 << 20
)

// answerBounds leave room for the ids of all VMs in one answer, see limits.vms; the largest
// page of anything else has a tenth of that.
var answerBounds = infra.Bounds{Items: 600_000}

// vcenter is a session.
type vcenter struct {
	*vim25.Client
	manager *session.Manager
	page    int32
	limits  limits
	retry   infra.Retry
	asked   int // folders that were asked for their permissions
	// identity tells this vCenter from every other one, also from one that
	// wants to pass for it.
	identity string
	trimmed  bool // the credential was accepted without the white space that it ends in
}

// identityOf joins vCenter's own id, which anybody can read and repeat, with the
// key of its certificate, which nobody else can present. Two addresses of one
// vCenter share both.
func identityOf(c *vim25.Client, t infra.Target, key *serverKey) string {
	return cmp.Or(vsphere.UUID(c.ServiceContent.About.InstanceUuid), t.Endpoint) + "/" + key.value()
}

// serverKey is the public key that a server has proven to hold. All connections
// of a session must show the same: else one of them could lead to another
// server than the one whose answers are believed.
type serverKey struct {
	mu   sync.Mutex
	held string
	shown
}

var errOtherKey = errors.New("the server shows another certificate than before in the same session")

// hold makes connections of a configuration show the key, after whatever else
// verifies them.
func (k *serverKey) hold(conf *tls.Config) {
	verify, name := conf.VerifyConnection, conf.ServerName
	conf.VerifyConnection = func(cs tls.ConnectionState) error {
		k.see(cs.PeerCertificates, name)
		if verify != nil {
			if err := verify(cs); err != nil {
				return err
			}
		}
		if len(cs.PeerCertificates) == 0 {
			return errors.New("the server sent no certificate")
		}
		key := infra.PublicKey(cs.PeerCertificates[0])
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.held != "" && k.held != key {
			return errOtherKey
		}
		k.held = key
		return nil
	}
}

func (k *serverKey) value() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}

// connect opens a session. It contacts nothing before the certificate of the
// server is verified, and sends the credential nowhere else.
func (p *provider) connect(ctx context.Context, t infra.Target, d *vsphere.Detail, seen *shown) (*vcenter, error) {
	trusts := []infra.Trust{d.Trust}
	if !d.Trust.Insecure && len(d.Thumbprints) > 0 {
		trusts = trusts[:0]
		for _, tp := range d.Thumbprints {
			pinned := d.Trust
			pinned.Thumbprint = tp
			trusts = append(trusts, pinned)
		}
	}
	var refused error
	for _, trust := range trusts {
		var key serverKey
		var c *vim25.Client
		err := p.retry.Do(ctx, func() (err error) {
			c, err = dial(ctx, t, d, trust, &key)
			return err
		})
		*seen = key.what()
		var untrusted *infra.CertificateError
		if errors.As(err, &untrusted) || errors.Is(err, errBadTrust) {
			refused = err
			continue
		}
		if err != nil {
			return nil, err
		}
		return p.login(ctx, c, t, identityOf(c, t, &key))
	}
	return nil, refused
}

// errBadTrust says that what is recorded to trust a server by is unusable.
var errBadTrust = errors.New("nothing says which certificate to trust")

// dial reads the service content, which needs no session.
func dial(ctx context.Context, t infra.Target, d *vsphere.Detail, trust infra.Trust, key *serverKey) (*vim25.Client, error) {
	conf, err := trust.TLSConfig()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadTrust, err)
	}
	key.hold(conf)
	host := d.Server.String()
	if t.Dial != "" {
		host = t.Dial
	}
	c := soap.NewClient(&url.URL{Scheme: "https", Host: host, Path: vim25.Path}, false)
	c.UserAgent = "drift-detector"
	// govmomi's own transport dials without the context and trusts in its own
	// way (vim25/soap/client.go v0.56.0).
	c.Transport = statuses{&infra.Bounded{Next: transport(conf), Limit: maxAnswer}}
	c.Timeout = callTimeout
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Types = smallTypes(c.Types)
	c.Namespace, c.Version = "urn:"+vim25.Namespace, vim25.Version
	ctx, cancel := context.WithTimeout(ctx, firstTimeout)
	defer cancel()
	rt := answered{c}
	about, err := methods.GetServiceContent(ctx, rt)
	if err != nil {
		return nil, err
	}
	return &vim25.Client{Client: c, ServiceContent: about, RoundTripper: rt}, nil
}

// maxThing bounds what one element of an answer may become, in bytes.
const maxThing = 128

// smallTypes leaves out the types of which an element can make more than that: a server may
// name any of vim25's for a property. All that is asked for here is smaller. A property of
// another type is none (vim25/xml/read.go v0.56.0).
func smallTypes(all types.Func) types.Func {
	return func(name string) (reflect.Type, bool) {
		kind, ok := all(name)
		return kind, ok && largest(kind, map[reflect.Type]bool{}) <= maxThing
	}
}

// largest returns the size of the largest thing that is made of one element for a type: itself,
// or what it has lists or pointers of.
func largest(kind reflect.Type, seen map[reflect.Type]bool) uintptr {
	if seen[kind] {
		return 0
	}
	seen[kind] = true
	switch kind.Kind() {
	case reflect.Slice, reflect.Pointer:
		return max(kind.Elem().Size(), largest(kind.Elem(), seen))
	case reflect.Struct:
		most := kind.Size()
		for i := range kind.NumField() {
			most = max(most, largest(kind.Field(i).Type, seen))
		}
		return most
	}
	return kind.Size()
}

// answered makes an error of an answer without content. govmomi takes one for the
// zero value of what was asked for (vim25/methods/methods.go v0.56.0): a list that
// ends, or a nil pointer.
type answered struct{ soap.RoundTripper }

func (a answered) RoundTrip(ctx context.Context, req, res soap.HasFault) error {
	if err := a.RoundTripper.RoundTrip(ctx, req, res); err != nil {
		return err
	}
	body := reflect.ValueOf(res).Elem()
	answer := body.FieldByName("Res")
	if !answer.IsValid() || answer.Kind() != reflect.Pointer {
		return nil
	}
	empty := answer.IsNil()
	if !empty {
		// One that vCenter may leave out is a pointer.
		value := answer.Elem().FieldByName("Returnval")
		empty = value.IsValid() && value.Kind() == reflect.Struct && value.IsZero()
	}
	if empty {
		return fmt.Errorf("it answered %s with nothing", strings.TrimSuffix(body.Type().Name(), "Body"))
	}
	return nil
}

func transport(conf *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment, // the operator's, never the backup's
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:       conf,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: callTimeout,
		// A status line is quoted in errors.
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    1,
		ForceAttemptHTTP2:      false,
	}
}

// statuses makes errors of the statuses that may pass, which govmomi keeps to itself, and
// bounds what its decoder is given.
type statuses struct{ *infra.Bounded }

func (s statuses) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := s.Bounded.RoundTrip(req)
	if err == nil && infra.PassingStatus(res.StatusCode) {
		res.Body.Close()
		return nil, &infra.StatusError{Code: res.StatusCode, Status: res.Status}
	}
	if err == nil {
		res.Body = answerBounds.XML(res.Body)
	}
	return res, err
}

// login logs in once with the credential as it is and, when that fails and it
// ends in white space as `echo | base64` leaves it, once without. CAPV itself
// uses the bytes as they are. A login that was lost on the way is tried once more: it
// may have failed at the server, and counts as if it had.
func (p *provider) login(ctx context.Context, c *vim25.Client, t infra.Target, identity string) (*vcenter, error) {
	cred, _ := t.Credential.(vsphere.Credential)
	user, password := cred.User.Reveal(), cred.Password.Reveal()
	// Two addresses of one vCenter are one place where an account gets locked.
	turn, err := p.logins.Enter(ctx, infra.Server{Key: identity, Address: cmp.Or(t.Dial, t.Endpoint)}, user, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	v := &vcenter{Client: c, manager: session.NewManager(c), page: p.page, limits: p.limits, retry: p.retry, identity: identity}
	attempts := [][2]string{{user, password}}
	if u, w := trimEnd(user), trimEnd(password); u != user || w != password {
		attempts = append(attempts, [2]string{u, w})
	}
	var failure error
	for i, a := range attempts {
		left, before := turn.Left(), turn.Failed()
		if left == 0 {
			return nil, errors.Join(infra.ErrLockout, failure)
		}
		failure = infra.Retry{Attempts: min(left, p.retry.Attempts), Pause: p.retry.Pause}.Do(ctx, func() error {
			turn.Try()
			return v.login(ctx, a[0], a[1])
		})
		if failure == nil {
			turn.Forgive(before) // one that was lost had the same password
			for _, session := range c.Jar.Cookies(c.URL()) {
				t.Redaction.Add(backup.NewSensitive(session.Value))
			}
			v.trimmed = i > 0
			return v, nil
		}
		if !fault.Is(failure, &types.InvalidLogin{}) {
			return nil, failure
		}
	}
	return nil, failure
}

func trimEnd(s string) string { return strings.TrimRight(s, " \t\r\n") }

func (v *vcenter) login(ctx context.Context, user, password string) error {
	if v.ServiceContent.SessionManager == nil {
		return errors.New("this is no vCenter: it has no session manager")
	}
	return infra.FinishLogin(ctx, callTimeout, func(ctx context.Context) error {
		return v.manager.Login(ctx, url.UserPassword(user, password))
	})
}

// logout ends the session, also when the run was interrupted; where listings share their
// answers, when the last is done.
func (v *vcenter) logout(ctx context.Context) error {
	held := fmt.Sprint(v.URL().Host, v.Jar.Cookies(v.URL()))
	if infra.AtEnd(ctx, held, func(ctx context.Context) { _ = v.end(ctx) }) {
		return nil
	}
	return v.end(ctx)
}

func (v *vcenter) end(ctx context.Context) error {
	limit := logoutTime
	if ctx.Err() != nil {
		limit = logoutGrace
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	err := v.manager.Logout(ctx)
	v.CloseIdleConnections()
	return err
}
