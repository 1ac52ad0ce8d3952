package nodes

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"drift-detector/infra"
)

// TestListFaults holds what is said of each way in which a server fails. Each
// has a healthy duplicate in the other tests, which differs in that one thing only.
func TestListFaults(t *testing.T) {
	good := answer(200, nodes("", "a"))
	long := strings.Repeat("x", maxString+1)
	token := func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { *u = clientcmdapi.AuthInfo{Token: "token"} }
	for _, c := range []struct {
		name          string
		options       serverOptions
		handler       http.HandlerFunc
		bend          func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
		state, reason string
		message       []string
	}{
		{"401", serverOptions{}, answer(401, ""), nil, stateDenied, "AuthenticationFailed", []string{"does not accept the client certificate"}},
		{"401 for a token", serverOptions{tokens: true}, answer(401, ""), token, stateDenied, "AuthenticationFailed", []string{"does not accept the token"}},
		{"403", serverOptions{}, answer(403, ""), nil, stateDenied, "Forbidden", []string{"list Nodes"}},
		{"404", serverOptions{}, answer(404, ""), nil, stateUnreachable, "UnexpectedAnswer", []string{"404 Not Found"}},
		{"503", serverOptions{}, answer(503, ""), nil, stateUnreachable, "UnexpectedAnswer", []string{"503 Service Unavailable"}},
		{"204", serverOptions{}, answer(204, ""), nil, stateUnreachable, "UnexpectedAnswer", []string{"204"}},
		{"empty", serverOptions{}, answer(200, ""), nil, stateUnreachable, "UnexpectedAnswer", []string{"cut off"}},
		{"a page of HTML", serverOptions{}, answer(200, "<html>log in</html>"), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"no list", serverOptions{}, answer(200, `{"kind":"Status"}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"another list", serverOptions{}, answer(200, `{"kind":"PodList","items":[]}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"items are no list", serverOptions{}, answer(200, `{"kind":"NodeList","items":{}}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"items are a text", serverOptions{}, answer(200, `{"kind":"NodeList","items":"a"}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"items are an object", serverOptions{}, answer(200, `{"kind":"NodeList","items":{"metadata":{"name":"a"}}}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"items are a number", serverOptions{}, answer(200, `{"items":7,"kind":"NodeList"}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"a JSON array", serverOptions{}, answer(200, `[]`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"malformed", serverOptions{}, answer(200, `{"kind":"NodeList","items":[{"metadata":{"name":"a"},"status":{}},}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"wrong type", serverOptions{}, answer(200, `{"kind":"NodeList","items":[{"metadata":{"name":7}}]}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"wrong date", serverOptions{}, answer(200, `{"kind":"NodeList","items":[{"metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"today"}]}}]}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"date beyond dates", serverOptions{}, answer(200, `{"kind":"NodeList","items":[{"metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"9999-12-31T23:59:59-10:00"}]}}]}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"no list of Nodes"}},
		{"cut off", serverOptions{}, answer(200, `{"kind":"NodeList","items":[{"metadata":{"name":"a"},"status":{}},`), nil, stateUnreachable, "UnexpectedAnswer", []string{"cut off"}},
		{"Node without a name", serverOptions{}, answer(200, `{"kind":"NodeList","items":[{}]}`), nil, stateUnreachable, "UnexpectedAnswer", []string{"without a name"}},
		{"pages without Nodes", serverOptions{}, emptyPages(), nil, stateUnreachable, "UnexpectedAnswer", []string{"does not end", "100 pages in a row"}},
		{"endless name", serverOptions{}, answer(200, nodes("", long)), nil, stateUnreachable, "UnexpectedAnswer", []string{"more than 1024 bytes"}},
		{"giant header", serverOptions{}, giantHeader, nil, stateUnreachable, "Unreachable", nil},
		{"connection closed", serverOptions{}, hangUp, nil, stateUnreachable, "Unreachable", []string{"closed the connection"}},
		{"expired server certificate", serverOptions{until: yesterday}, good, nil, stateUnreachable, "UntrustedCertificate", []string{"its certificate expired on " + yesterday.UTC().Format(time.DateOnly), "SHA-256"}},
		{"server certificate of the future", serverOptions{from: tomorrow.Add(-time.Hour)}, good, nil, stateUnreachable, "UntrustedCertificate", []string{"not valid before"}},
		{"server certificate for another host", serverOptions{host: "127.0.0.2"}, good, nil, stateUnreachable, "UntrustedCertificate", []string{"another host"}},
		{"server certificate of another CA", serverOptions{signer: newAuthority(t)}, good, nil, stateUnreachable, "UntrustedCertificate", []string{"not signed by the CA"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.options, c.handler)
			bend := c.bend
			if bend == nil {
				bend = func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}
			}
			l := list(t, s.kubeconfig(t, bend))
			if l.NodeState != c.state || l.Fault == nil || string(l.Fault.Reason) != c.reason {
				t.Fatalf("state %s, fault %+v, want %s, %s", l.NodeState, l.Fault, c.state, c.reason)
			}
			for _, part := range append(c.message, s.address(t)) {
				if !strings.Contains(l.Fault.Message, part) {
					t.Errorf("message %q does not say %q", l.Fault.Message, part)
				}
			}
			if l.Fault.Hint == "" {
				t.Error("no hint")
			}
		})
	}
}

// TestListBounds holds that an answer is read up to each bound and not beyond.
func TestListBounds(t *testing.T) {
	// Three pages with one Node each, every page of this many bytes.
	size := int64(len(nodes("more", "a")))
	pages := func(w http.ResponseWriter, r *http.Request) {
		token := r.URL.Query().Get("continue") + "+"
		name := string(rune('a' + len(token)))
		if token == "+++" {
			token = ""
		}
		body := nodes(token, name)
		_, _ = io.WriteString(w, body+strings.Repeat(" ", int(size)-len(body)))
	}
	for _, c := range []struct {
		name, state, message string
		lower                func(*bounds)
	}{
		{"at every bound", stateRead, "", func(b *bounds) { b.pages, b.page, b.nodes = 3, size, 3 }},
		{"pages", stateUnreachable, "does not end after 2 pages", func(b *bounds) { b.pages = 2 }},
		{"bytes", stateUnreachable, "bytes a page", func(b *bounds) { b.page = size - 20 }},
		{"Nodes", stateUnreachable, "more than 2 Nodes", func(b *bounds) { b.nodes = 2 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, serverOptions{}, pages)
			l := run(t, t.Context(), tight(c.lower), access(s.kubeconfig(t)))
			if l.NodeState != c.state {
				t.Fatalf("state %s, fault %+v", l.NodeState, l.Fault)
			}
			if l.Fault != nil && (l.Fault.Reason != "UnexpectedAnswer" || !strings.Contains(l.Fault.Message, c.message)) {
				t.Errorf("fault %+v", l.Fault)
			}
		})
	}
}

// TestListOfPagesWithoutNodes holds that pages which lead on and on are given up.
func TestListOfPagesWithoutNodes(t *testing.T) {
	pages := 0
	s := serve(t, serverOptions{}, func(w http.ResponseWriter, _ *http.Request) {
		pages++
		_, _ = io.WriteString(w, nodes(fmt.Sprint("more-", pages)))
	})
	l := list(t, s.kubeconfig(t))
	if l.NodeState != stateUnreachable || l.Fault == nil || l.Fault.Reason != "UnexpectedAnswer" || !strings.Contains(l.Fault.Message, "100 pages in a row hold nothing new") || pages != infra.MaxQuiet {
		t.Errorf("%d pages: state %s, fault %+v", pages, l.NodeState, l.Fault)
	}
}

func giantHeader(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Giant", strings.Repeat("x", 128<<10))
	_, _ = io.WriteString(w, nodes("", "a"))
}

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// TestListExpiredClientCertificate holds that the client's own certificate is
// named as the cause, however the server says no.
func TestListExpiredClientCertificate(t *testing.T) {
	for name, c := range map[string]struct {
		options serverOptions
		handler http.HandlerFunc
	}{
		"TLS 1.3":  {serverOptions{}, answer(200, nodes("", "a"))},
		"TLS 1.2":  {serverOptions{tls12: true}, answer(200, nodes("", "a"))},
		"401":      {serverOptions{tokens: true}, answer(401, "")},
		"hangs up": {serverOptions{tokens: true}, hangUp},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.options, c.handler)
			l := list(t, s.kubeconfig(t, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
				u.ClientCertificateData, u.ClientKeyData = s.ca.issue(t, "kubernetes-admin", yesterday.Add(-time.Hour), yesterday)
			}))
			expired := "client certificate, which expired on " + yesterday.UTC().Format(time.DateOnly)
			if l.NodeState != stateDenied || l.Fault.Reason != "AuthenticationFailed" || !strings.Contains(l.Fault.Message, expired) {
				t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
			}
		})
	}
}

func TestListForeignClientCertificate(t *testing.T) {
	s := serve(t, serverOptions{tls12: true}, answer(200, nodes("", "a")))
	l := list(t, s.kubeconfig(t, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		u.ClientCertificateData, u.ClientKeyData = newAuthority(t).issue(t, "kubernetes-admin", yesterday, tomorrow)
	}))
	if l.NodeState == stateRead || s.requests.Load() != 0 {
		t.Errorf("state %s after %d requests", l.NodeState, s.requests.Load())
	}
}

func TestListDown(t *testing.T) {
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	text := s.kubeconfig(t)
	s.Close()
	l := list(t, text)
	if l.NodeState != stateUnreachable || l.Fault.Reason != "Unreachable" || !strings.Contains(l.Fault.Message, "refused") || !strings.Contains(l.Fault.Hint, "--endpoint") {
		t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
	}
}

func TestListNoTLS(t *testing.T) {
	plain := httptest.NewServer(answer(200, nodes("", "a")))
	defer plain.Close()
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	l := list(t, s.kubeconfig(t, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
		c.Server = strings.Replace(plain.URL, "http://", "https://", 1)
	}))
	if l.NodeState != stateUnreachable || !strings.Contains(l.Fault.Message, "does not speak TLS") {
		t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
	}
}

// TestListDoesNotConnectInTime holds the bound on a server that accepts and
// says nothing, not even in TLS.
func TestListDoesNotConnectInTime(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	p := tight(func(b *bounds) { b.connect = 200 * time.Millisecond })
	got := run(t, t.Context(), p, access(s.kubeconfig(t, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
		c.Server = "https://" + l.Addr().String()
	})))
	if got.NodeState != stateUnreachable || !strings.Contains(got.Fault.Message, "in time") {
		t.Errorf("state %s, fault %+v", got.NodeState, got.Fault)
	}
}

// TestListFollowsNoRedirect holds that credentials stay with the server that
// they belong to.
func TestListFollowsNoRedirect(t *testing.T) {
	other := serve(t, serverOptions{tokens: true}, answer(200, nodes("", "a")))
	s := serve(t, serverOptions{tokens: true, signer: other.ca}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	text := s.kubeconfig(t, func(c *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		c.CertificateAuthorityData = other.ca.pem()
		*u = clientcmdapi.AuthInfo{Token: "token"}
	})
	l := list(t, text)
	if l.NodeState != stateUnreachable || !strings.Contains(l.Fault.Message, "redirect (307), which is not followed") {
		t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
	}
	other.untouched(t)

	// The same credential does get there when the way is followed.
	login := mustParse(t, text)
	follower := &http.Client{Transport: &http.Transport{TLSClientConfig: login.tls}}
	resp, err := follower.Get(s.URL + "/api/v1/nodes")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if other.requests.Load() != 1 {
		t.Error("the control did not reach the other server: this test proves nothing")
	}
}

// TestFaultsQuoteNothing holds that neither what a kubeconfig holds nor what a
// server answers gets into a fault, a warning or a line for the operator.
func TestFaultsQuoteNothing(t *testing.T) {
	const secret = "marker-5f3a"
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "https://"+secret+".example.test/"+r.Header.Get("Authorization"))
		w.WriteHeader(302)
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	}
	body := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, secret+r.Header.Get("Authorization"))
	}
	status := func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 "+secret+" "+r.Header.Get("Authorization")+"\r\n\r\n")
		conn.Close()
	}
	for name, handler := range map[string]http.HandlerFunc{"redirect": echo, "body": body, "status line": status} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, serverOptions{tokens: true}, handler)
			a := access(s.kubeconfig(t, func(c *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
				c.Server = strings.Replace(s.URL, "https://", "https://admin:"+secret+"@", 1)
				c.ProxyURL = "http://admin:" + secret + "@127.0.0.1:1"
				*u = clientcmdapi.AuthInfo{Token: secret}
			}))
			use := New(infra.NewRegistry()).Targets(prod(), nil, a)[0].Use
			l := run(t, t.Context(), New(infra.NewRegistry()), a)
			if l.Fault == nil || len(l.Warnings) == 0 || use == "" || s.requests.Load() == 0 {
				t.Fatalf("fault %+v, warnings %q, said %q: nothing to search", l.Fault, l.Warnings, use)
			}
			for _, text := range slices.Concat(l.Warnings, []string{use, l.Fault.Message, l.Fault.Hint, l.Endpoint, l.Account}) {
				if strings.Contains(text, secret) {
					t.Errorf("the secret shows in %q", text)
				}
			}
		})
	}
}

// emptyPages answers with pages that hold no Node, each of which leads to another one.
func emptyPages() http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"kind":"NodeList","metadata":{"continue":"page-%d"},"items":[]}`, n.Add(1))
	}
}
