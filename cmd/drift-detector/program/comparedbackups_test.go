package program

import (
	"context"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// ofCluster is used instead of the provider's own Detail.
type ofCluster string

func (c ofCluster) Same(o any) bool { return o == any(c) }

// TestNodesOfAnotherClusterAreNotShared: one that was made under the name of one that was
// deleted has other Nodes, and another credential is used only after it was said.
func TestNodesOfAnotherClusterAreNotShared(t *testing.T) {
	target := func(uid string) infra.Target {
		return infra.Target{
			IDs: []string{"nodes/0/ns/a"}, Provider: "nodes", Endpoint: "a:6443", Clusters: []backup.ClusterID{{Namespace: "ns", Name: "a"}},
			NodeState: "unreachable", Detail: ofCluster(uid), Credential: uid,
		}
	}
	l := newSharedListing()
	for i, c := range []struct {
		uid          string
		known, asked bool
	}{{"new", false, true}, {"old", false, true}, {"new", true, false}} {
		targets := []infra.Target{target(c.uid)}
		l.adopt(targets)
		known := l.knows(&targets[0])
		_, held := l.listings["nodes/0/ns/a"]
		asks := !(held && l.same["nodes/0/ns/a"])
		if known != c.known || asks != c.asked || targets[0].Credential != c.uid {
			t.Errorf("%d: known %v, asks %v, credential %v", i, known, asks, targets[0].Credential)
		}
		l.collect(t.Context(), infra.NewRegistry(), targets, &infra.Watch{Found: func(int, int) {}, Done: func(int, infra.Listing) {}})
		if i == 0 {
			l.listings["nodes/0/ns/a"] = infra.Listing{Account: "new"}
		}
		if got := l.listings["nodes/0/ns/a"].Account; got != "new" {
			t.Errorf("%d: the Nodes are of %q", i, got)
		}
	}
}

// letsIn is a place that takes one password.
type letsIn struct{ password string }

func (p letsIn) Spec() infra.Spec { return infra.Spec{Name: "letsin"} }

func (p letsIn) Targets(*backup.Snapshot, *backup.Secrets, infra.Access) []infra.Target { return nil }

func (p letsIn) Expected(*backup.Snapshot) infra.Expected { return infra.Expected{} }

func (p letsIn) List(_ context.Context, t infra.Target) infra.Listing {
	l := infra.Listing{IDs: t.IDs, Provider: t.Provider, Endpoint: t.Endpoint, Account: t.Account, Clusters: t.Clusters, State: code.ScopeComplete}
	if t.Credential != p.password {
		l.State, l.Fault = code.ScopeFailed, &infra.Fault{Reason: "AuthenticationFailed"}
	}
	return l
}

// TestRefusedCredentialIsNotShared: the newest backup may have the wrong password, and an
// older one the right one.
func TestRefusedCredentialIsNotShared(t *testing.T) {
	l, r := newSharedListing(), infra.NewRegistry(letsIn{"right"})
	var got []string
	for _, password := range []string{"wrong", "right", "older"} {
		targets := []infra.Target{{IDs: []string{"x"}, Provider: "letsin", Endpoint: "x:443", Clusters: []backup.ClusterID{{Name: "a"}}, Credential: password}}
		l.adopt(targets)
		inv := l.collect(t.Context(), r, targets, &infra.Watch{Found: func(int, int) {}, Done: func(int, infra.Listing) {}})
		got = append(got, string(inv.Listings[0].State))
	}
	if want := "failed complete complete"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}
