package nodes

import (
	"net/http"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Whether a control plane counts as initialised after a restore is up to a ConfigMap in its
// cluster: only an API server's own word says that it is absent, and all else is refused.
func TestKubeadmConfig(t *testing.T) {
	const there = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"kubeadm-config","namespace":"kube-system"},"data":{}}`
	for name, c := range map[string]struct {
		status           int
		body             string
		value, unreadFor string
	}{
		"there":                 {200, there, infra.KubeadmConfigPresent, ""},
		"not there":             {404, `{"kind":"Status","status":"Failure","reason":"NotFound","code":404}`, infra.KubeadmConfigAbsent, ""},
		"a proxy knows no page": {404, "<html>not found", "", "no ConfigMap"},
		"another object":        {200, strings.Replace(there, `"kubeadm-config"`, `"other"`, 1), "", "no ConfigMap"},
		"another kind":          {200, `{"kind":"Status","reason":"NotFound"}`, "", "no ConfigMap"},
		"not for this account":  {403, "{}", "", "does not let this account read ConfigMap"},
		"out of order":          {500, "", "", "500"},
		"cut off":               {200, there[:30], "", "no ConfigMap"},
		"without end":           {200, `{"kind":"ConfigMap","data":{"a":"` + strings.Repeat("x", maxConfig) + `"}}`, "", "no ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			s := serve(t, serverOptions{}, func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/kubeadm-config") {
					answer(200, nodes("", "a"))(w, r)
					return
				}
				asked++
				answer(c.status, c.body)(w, r)
			})
			snapshot := prod()
			snapshot.Clusters[0].ControlPlane = backup.Ref{Kind: "KubeadmControlPlane", Namespace: "tenant", Name: "prod"}
			p := New(infra.NewRegistry())
			p.(*provider).retry = infra.Retry{Attempts: 1}
			l := p.List(t.Context(), p.Targets(snapshot, nil, access(s.kubeconfig(t)))[0])
			value, _ := l.Facts.Get(infra.FactKubeadmConfig)
			why, refused := l.FactsUnread.Get(infra.FactKubeadmConfig)
			if l.NodeState != stateRead || len(l.Nodes) != 1 || value != c.value || refused != (c.unreadFor != "") || !strings.Contains(why, c.unreadFor) {
				t.Errorf("state %s with %d Nodes, %q, refused for %q", l.NodeState, len(l.Nodes), value, why)
			}
			if asked != 1 {
				t.Errorf("asked %d times", asked)
			}
			if snapshot.Clusters[0].ControlPlane.Kind = "K0sControlPlane"; len(p.List(t.Context(), p.Targets(snapshot, nil, access(s.kubeconfig(t)))[0]).Nodes) != 1 || asked != 1 {
				t.Errorf("asked %d times where nobody asks for it", asked)
			}
		})
	}
}
