package nodes

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"drift-detector/infra"
)

// One account at an API server of four names, with four tokens or four certificates: it is
// refused twice, and then not asked again; whether all are asked at once or not. Another
// API server is asked.
func TestOneAPIServerOfSeveralNames(t *testing.T) {
	for _, tokens := range []bool{false, true} {
		for _, atOnce := range []bool{false, true} {
			var refusals atomic.Int32
			refuse := func(w http.ResponseWriter, r *http.Request) {
				refusals.Add(1)
				answer(http.StatusUnauthorized, "no")(w, r)
			}
			s := serve(t, serverOptions{tokens: tokens}, refuse)
			p := New(infra.NewRegistry())
			var targets []infra.Target
			for i := range 4 {
				name := fmt.Sprintf("api%d.example:6443", i)
				kubeconfig := s.kubeconfig(t, func(c *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
					c.Server, c.TLSServerName = "https://"+name, "127.0.0.1"
					if tokens {
						*u = clientcmdapi.AuthInfo{Token: fmt.Sprint("old-", i)}
					}
				})
				a := access(kubeconfig)
				a.Reroutes = []infra.Reroute{{From: name, To: s.address(t)}}
				targets = append(targets, p.Targets(prod(), nil, a)...)
			}
			registry := infra.NewRegistry(p)
			var all []infra.Listing
			if atOnce {
				all = registry.Collect(t.Context(), targets, nil).Listings
			} else {
				for i := range targets {
					all = append(all, registry.Collect(t.Context(), targets[i:i+1], nil).Listings...)
				}
			}
			told := 0
			for _, l := range all {
				if l.NodeState != stateDenied || l.Fault.Reason != "AuthenticationFailed" {
					t.Errorf("it is %s: %+v", l.NodeState, l.Fault)
				}
				if strings.Contains(l.Fault.Message, "no further one is tried") {
					told++
				}
			}
			if n := refusals.Load(); n != infra.MaxFailedLogins || told != len(all)-infra.MaxFailedLogins {
				t.Errorf("tokens %v, at once %v: %d logins failed, %d say why they were not tried", tokens, atOnce, n, told)
			}
			good := serve(t, serverOptions{}, answer(http.StatusOK, nodes("", "a")))
			if l := run(t, t.Context(), p, access(good.kubeconfig(t))); l.NodeState != stateRead {
				t.Errorf("another API server: %s, %+v", l.NodeState, l.Fault)
			}
		}
	}
}
