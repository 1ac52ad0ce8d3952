package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"drift-detector/backup"
	"drift-detector/infra"
)

func TestListReadsEveryField(t *testing.T) {
	const body = `{"metadata":{"resourceVersion":"1"},"kind":"NodeList","apiVersion":"v1","items":[
	 {"metadata":{"name":"w","annotations":{"cluster.x-k8s.io/machine":"w-machine","cluster.x-k8s.io/cluster-name":"prod","cluster.x-k8s.io/cluster-namespace":"tenant","cluster.x-k8s.io/owner-kind":"MachineSet","cluster.x-k8s.io/owner-name":"md-0-abcde","other":"x"}},
	  "spec":{"providerID":"vsphere://1"},
	  "status":{"conditions":[{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"2020-01-01T00:00:00Z"},{"type":"Ready","status":"True","lastHeartbeatTime":"2026-03-04T05:06:07Z"}]}},
	 {"metadata":{"name":"c","labels":{"node-role.kubernetes.io/control-plane":""}},"status":{"conditions":[{"type":"Ready","status":"Unknown","lastHeartbeatTime":null}]}},
	 {"metadata":{"name":"b","labels":{"node-role.kubernetes.io/master":""}},"status":{}}]}`
	serverTime := time.Date(2026, 3, 4, 5, 6, 30, 0, time.UTC)
	s := serve(t, serverOptions{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", serverTime.Format(http.TimeFormat))
		_, _ = io.WriteString(w, body)
	})
	l := run(t, t.Context(), New(infra.NewRegistry(other{})), access(s.kubeconfig(t)))

	want := []infra.Node{
		{Cluster: prodID, Name: "b", ControlPlane: true, NoReady: true},
		{Cluster: prodID, Name: "c", ControlPlane: true},
		{
			Cluster: prodID, Name: "w", ProviderID: "vsphere://1", Keys: []infra.Key{{Kind: infra.KeyKindOf("test"), Value: "vsphere://1"}},
			Ready: true, Heartbeat: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
			Machine: "w-machine", ClusterName: "prod", ClusterNamespace: "tenant", OwnerKind: "MachineSet", OwnerName: "md-0-abcde",
		},
	}
	if l.NodeState != stateRead || !reflect.DeepEqual(l.Nodes, want) {
		t.Errorf("state %s, fault %v, Nodes\n%+v\nwant\n%+v", l.NodeState, l.Fault, l.Nodes, want)
	}
	if !l.ListedAt.Equal(serverTime) {
		t.Errorf("listed at %s, want the server's %s", l.ListedAt, serverTime)
	}
	if want := []string{"nodes/0/tenant/prod"}; !slices.Equal(l.IDs, want) || l.Endpoint != s.address(t) || l.Account != "kubernetes-admin" {
		t.Errorf("listing of %v at %s as %s", l.IDs, l.Endpoint, l.Account)
	}
}

func TestListWithoutDateUsesOwnClock(t *testing.T) {
	s := serve(t, serverOptions{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		_, _ = io.WriteString(w, nodes("", "a"))
	})
	before := time.Now()
	if l := list(t, s.kubeconfig(t)); l.ListedAt.Before(before) || l.ListedAt.After(time.Now()) {
		t.Errorf("listed at %s, want now", l.ListedAt)
	}
}

func TestListPages(t *testing.T) {
	var queries []string
	s := serve(t, serverOptions{}, func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		switch r.URL.Query().Get("continue") {
		case "":
			_, _ = io.WriteString(w, nodes("to&ken/2", "b", "d"))
		case "to&ken/2":
			_, _ = io.WriteString(w, nodes("3", "a"))
		default:
			_, _ = io.WriteString(w, nodes("", "c"))
		}
	})
	l := list(t, s.kubeconfig(t))
	if got := names(l.Nodes); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("Nodes %v, fault %v", got, l.Fault)
	}
	if want := []string{"limit=500", "continue=to%26ken%2F2&limit=500", "continue=3&limit=500"}; !slices.Equal(queries, want) {
		t.Errorf("queries %q, want %q", queries, want)
	}
}

func names(list []infra.Node) []string {
	var all []string
	for _, n := range list {
		all = append(all, n.Name)
	}
	return all
}

// TestListExpiredContinue holds that a list that expires between two pages is
// begun again once, and without what was read of it before.
func TestListExpiredContinue(t *testing.T) {
	for _, gone := range []int{1, 2} {
		t.Run(fmt.Sprint(gone, " times"), func(t *testing.T) {
			left := gone
			s := serve(t, serverOptions{}, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Query().Get("continue") == "":
					_, _ = io.WriteString(w, nodes("2", fmt.Sprint("first-", left)))
				case left > 0:
					left--
					w.WriteHeader(http.StatusGone)
				default:
					_, _ = io.WriteString(w, nodes("", "second"))
				}
			})
			l := list(t, s.kubeconfig(t))
			if gone == 1 && !slices.Equal(names(l.Nodes), []string{"first-0", "second"}) {
				t.Errorf("Nodes %v, fault %v", names(l.Nodes), l.Fault)
			}
			if gone == 2 && (l.NodeState != stateUnreachable || s.requests.Load() != 4) {
				t.Errorf("state %s after %d requests, want unreachable after 4", l.NodeState, s.requests.Load())
			}
		})
	}
}

// TestListHanging holds that a server that never answers, or never ends its
// answer, costs no more than the time for one cluster.
func TestListHanging(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	drip := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"kind":"NodeList","items":[`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for name, handler := range map[string]http.HandlerFunc{"no answer": hang, "no end": drip} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, serverOptions{}, handler)
			p := tight(func(b *bounds) { b.call = 200 * time.Millisecond })
			l := run(t, t.Context(), p, access(s.kubeconfig(t)))
			if l.NodeState != stateUnreachable || l.Fault.Reason != "Unreachable" || !strings.Contains(l.Fault.Message, "did not answer in time") {
				t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
			}

			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			begin := time.Now()
			l = run(t, ctx, New(infra.NewRegistry()), access(s.kubeconfig(t)))
			if took := time.Since(begin); took > 5*time.Second || l.NodeState != stateUnreachable || l.Fault.Reason != "Interrupted" {
				t.Errorf("state %s after %s, fault %+v", l.NodeState, took, l.Fault)
			}
			if s.requests.Load() != 3 {
				t.Errorf("%d requests, want two of the patient run and one of the other", s.requests.Load())
			}
		})
	}
}

func TestBoundsOfTheProduct(t *testing.T) {
	want := bounds{call: 30 * time.Second, connect: 10 * time.Second, pages: 1000, page: 64 << 20, nodes: 100_000, retry: infra.Patient}
	if p, ok := New(infra.NewRegistry()).(*provider); !ok || !reflect.DeepEqual(p.bounds, want) {
		t.Errorf("the provider is bounded by %+v, want %+v", p.bounds, want)
	}
}

// tight returns a provider with bounds that a test can reach.
func tight(lower func(*bounds)) *provider {
	p := &provider{others: infra.NewRegistry(), bounds: generous}
	lower(&p.bounds)
	return p
}

func TestListCancelled(t *testing.T) {
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := run(t, ctx, New(infra.NewRegistry()), access(s.kubeconfig(t)))
	if l.NodeState != stateUnreachable || !strings.Contains(l.Fault.Message, "interrupted") {
		t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
	}
	s.untouched(t)
}

func TestListReroutesAndVerifiesTheOriginalName(t *testing.T) {
	var host string
	handler := func(w http.ResponseWriter, r *http.Request) {
		host = r.Host
		_, _ = io.WriteString(w, nodes("", "a"))
	}
	original := func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://API.example.test:6443" }
	for _, c := range []struct{ certificateFor, state string }{
		{"api.example.test", stateRead},
		{"127.0.0.1", stateUnreachable},
	} {
		s := serve(t, serverOptions{host: c.certificateFor}, handler)
		a := access(s.kubeconfig(t, original))
		a.Reroutes = []infra.Reroute{{From: "api.example.test:6443", To: s.address(t)}}
		if l := run(t, t.Context(), New(infra.NewRegistry()), a); l.NodeState != c.state || l.Endpoint != "api.example.test:6443" {
			t.Errorf("certificate for %s: state %s at %s, want %s; fault %+v", c.certificateFor, l.NodeState, l.Endpoint, c.state, l.Fault)
		}
	}
	if host != "api.example.test:6443" {
		t.Errorf("host header %q, want the original server", host)
	}
}

func TestListServerName(t *testing.T) {
	s := serve(t, serverOptions{host: "kubernetes.internal"}, answer(200, nodes("", "a")))
	for name, want := range map[string]string{"kubernetes.internal": stateRead, "": stateUnreachable} {
		l := list(t, s.kubeconfig(t, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.TLSServerName = name }))
		if l.NodeState != want {
			t.Errorf("tls-server-name %q: state %s, want %s; fault %+v", name, l.NodeState, want, l.Fault)
		}
	}
}

func TestListPathPrefixAndToken(t *testing.T) {
	var path, authorization string
	s := serve(t, serverOptions{tokens: true}, func(w http.ResponseWriter, r *http.Request) {
		path, authorization = r.URL.EscapedPath(), r.Header.Get("Authorization")
		_, _ = io.WriteString(w, nodes("", "a"))
	})
	l := list(t, s.kubeconfig(t, func(c *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		c.Server = strings.Replace(s.URL, "https://", "https://someone:else@", 1) + "/k8s/clusters/c-1%2F/?q=1#f"
		*u = clientcmdapi.AuthInfo{Token: "to.k-en\n"}
	}))
	if l.NodeState != stateRead || path != "/k8s/clusters/c-1%2F/api/v1/nodes" || authorization != "Bearer to.k-en" {
		t.Errorf("state %s, path %q, authorization %q, fault %+v", l.NodeState, path, authorization, l.Fault)
	}
}

func TestTargets(t *testing.T) {
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	text := s.kubeconfig(t)
	for _, c := range []struct {
		name, state, reason string
		access              infra.Access
	}{
		{"given for the endpoint", stateRead, "", access(text)},
		{"given for another port", stateNoKubeconfig, "NoKubeconfig", infra.Access{Credentials: []infra.Credential{{Endpoint: "prod.example.test", Kubeconfig: backup.NewSensitive(text)}}}},
		{"not given", stateNoKubeconfig, "NoKubeconfig", infra.Access{}},
		{"given without a kubeconfig", stateNoKubeconfig, "NoKubeconfig", infra.Access{Credentials: []infra.Credential{{Endpoint: endpointInBackup, Thumbprint: "AA"}}}},
		{"skipped", stateSkipped, "", infra.Access{SkipNodes: true, Credentials: access(text).Credentials}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := s.connections.Load()
			l := run(t, t.Context(), New(infra.NewRegistry()), c.access)
			reason := ""
			if l.Fault != nil {
				reason = string(l.Fault.Reason)
			}
			if l.NodeState != c.state || reason != c.reason {
				t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
			}
			if contacted := s.connections.Load() > before; contacted != (c.state == stateRead) {
				t.Errorf("contacted: %t", contacted)
			}
		})
	}
}

// TestTargetsSayWhatIsUsed holds that each use of a credential is announced by
// names, and that nothing of a Target shows the credential.
func TestTargetsSayWhatIsUsed(t *testing.T) {
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	const token = "marker-token-5f3a"
	var key []byte
	text := s.kubeconfig(t, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Token, key = token, u.ClientKeyData })
	target := New(infra.NewRegistry()).Targets(prod(), nil, access(text))[0]
	if want := "using test for the API server " + s.address(t) + " of cluster tenant/prod"; target.Use != want {
		t.Errorf("said %q, want %q", target.Use, want)
	}
	l, ok := target.Credential.(*login)
	if !ok || l.token.Reveal() != token || len(l.tls.Certificates) != 1 {
		t.Fatalf("credential %T does not hold what is searched for below", target.Credential)
	}
	saved, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Join(append([]string{target.Use, string(saved)}, fmt.Sprintf("%v %+v %#v %s %x", target, target, target, target.Credential, target.Credential)), "\n")
	for _, secret := range []string{token, strings.Split(string(key), "\n")[1], fmt.Sprintf("%x", token)} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q shows in %s", secret, shown)
		}
	}
}
