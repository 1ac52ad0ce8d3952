package nodes

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/internal/lab"
)

func load(t *testing.T, source backup.Source) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets, err := backup.Load(t.Context(), []backup.Source{source}, New(infra.NewRegistry()).Spec().Want)
	if err != nil {
		t.Fatal(err)
	}
	return s, secrets
}

func secretObject(namespace, name string, data map[string]string) map[string]any {
	encoded := map[string]any{}
	for key, value := range data {
		encoded[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
		"metadata": map[string]any{"namespace": namespace, "name": name}, "data": encoded,
	}
}

func clusterObject(namespace, name string) map[string]any {
	return map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": map[string]any{"namespace": namespace, "name": name},
		"spec": map[string]any{"controlPlaneEndpoint": map[string]any{"host": name + ".example.test", "port": 6443}},
	}
}

// TestKubeconfigOfTheBackup holds that each cluster is read with its own Secret
// only: not that of a namesake elsewhere, of another key, or for users.
func TestKubeconfigOfTheBackup(t *testing.T) {
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	good := map[string]string{"value": s.kubeconfig(t)}
	eks := s.kubeconfig(t, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		*u = clientcmdapi.AuthInfo{TokenFile: "token"}
	})
	tarball := backuptest.New().
		Add("clusters.cluster.x-k8s.io", clusterObject("one", "prod")).
		Add("clusters.cluster.x-k8s.io", clusterObject("one", "eks")).
		Add("clusters.cluster.x-k8s.io", clusterObject("one", "other-key")).
		Add("clusters.cluster.x-k8s.io", clusterObject("one", "user")).
		Add("clusters.cluster.x-k8s.io", clusterObject("two", "prod")).
		Add("secrets", secretObject("one", "prod-kubeconfig", good)).
		Add("secrets", secretObject("one", "eks-kubeconfig", map[string]string{"value": eks, "relative": s.kubeconfig(t), "token-file": "marker-5f3a"})).
		Add("secrets", secretObject("one", "other-key-kubeconfig", map[string]string{"relative": s.kubeconfig(t)})).
		Add("secrets", secretObject("one", "user-user-kubeconfig", good)).
		Add("secrets", secretObject("three", "prod-kubeconfig", good))
	snapshot, secrets := load(t, backuptest.Source("test", tarball.Bytes()))
	r := infra.NewRegistry(New(infra.NewRegistry()))
	got := map[string]string{}
	for _, l := range r.Collect(t.Context(), r.Targets(snapshot, secrets, infra.Access{}), nil).Listings {
		reason := ""
		if l.Fault != nil {
			reason = " " + string(l.Fault.Reason)
		}
		got[l.IDs[0]] = l.NodeState + reason
	}
	for id, want := range map[string]string{
		"nodes/0/one/prod":      "read",
		"nodes/0/one/eks":       "noKubeconfig KubeconfigRefused",
		"nodes/0/one/other-key": "noKubeconfig NoKubeconfig",
		"nodes/0/one/user":      "noKubeconfig NoKubeconfig",
		"nodes/0/two/prod":      "noKubeconfig NoKubeconfig",
	} {
		if got[id] != want {
			t.Errorf("%s is %q, want %q", id, got[id], want)
		}
	}
	if len(got) != 5 || s.requests.Load() != 1 {
		t.Errorf("%d listings with %d requests, want 5 with 1", len(got), s.requests.Load())
	}
	for secret := range secrets.All() {
		for _, v := range secret.Values {
			if v.Key != "value" {
				t.Errorf("key %s of Secret %s is kept", v.Key, secret.Name)
			}
		}
	}
}

// TestOperatorsKubeconfigWins holds that the operator's kubeconfig replaces the
// backup's, for the server that the backup's kubeconfig names as for the
// cluster's endpoint, and also where the backup's would be refused.
func TestOperatorsKubeconfigWins(t *testing.T) {
	old := serve(t, serverOptions{}, answer(401, ""))
	fresh := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	refused := func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		u.Exec = &clientcmdapi.ExecConfig{Command: "x"}
	}
	for name, text := range map[string]string{"used": old.kubeconfig(t), "refused": old.kubeconfig(t, refused)} {
		for _, endpoint := range []string{old.address(t), "prod.example.test:6443"} {
			tarball := backuptest.New().
				Add("clusters.cluster.x-k8s.io", clusterObject("one", "prod")).
				Add("secrets", secretObject("one", "prod-kubeconfig", map[string]string{"value": text}))
			snapshot, secrets := load(t, backuptest.Source("test", tarball.Bytes()))
			target := New(infra.NewRegistry()).Targets(snapshot, secrets, infra.Access{Credentials: []infra.Credential{
				{Endpoint: endpoint, Source: "--credentials file", Kubeconfig: backup.NewSensitive(fresh.kubeconfig(t))},
			}})[0]
			if l := New(infra.NewRegistry()).List(t.Context(), target); l.NodeState != stateRead || target.Source != "--credentials file" {
				t.Errorf("%s, given for %s: state %s with %s, fault %+v", name, endpoint, l.NodeState, target.Source, l.Fault)
			}
		}
	}
	old.untouched(t)
}

const (
	fleet  = "../../testdata/fleet-data.tar.gz"
	labDir = "../../testdata/nodes"
)

// collectLab reads the lab's clusters with the kubeconfigs of its backup.
func collectLab(t *testing.T, p infra.Provider, faults ...lab.FaultOf) map[string]infra.Listing {
	t.Helper()
	servers, err := lab.StartAPIServers(fleet, labDir, faults...)
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	var a infra.Access
	for _, text := range servers.Reroutes() {
		reroute, err := infra.ParseReroute(text)
		if err != nil {
			t.Fatal(err)
		}
		a.Reroutes = append(a.Reroutes, reroute)
	}
	source, err := archive.FileSource(fleet)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, secrets := load(t, source)
	r := infra.NewRegistry(p)
	found := map[string]infra.Listing{}
	for _, l := range r.Collect(t.Context(), r.Targets(snapshot, secrets, a), nil).Listings {
		found[l.Clusters[0].Name] = l
	}
	return found
}

// TestLab reads the Nodes of the real backup's clusters.
func TestLab(t *testing.T) {
	found := collectLab(t, New(infra.NewRegistry()))
	for _, name := range []string{"alpha-prod", "beta-prod", "gamma-edge"} {
		l := found[name]
		want := nodesOfLab(t, name)
		if l.NodeState != stateRead || !slices.EqualFunc(l.Nodes, want, func(a, b infra.Node) bool { return a.Name == b.Name && a.ProviderID == b.ProviderID }) {
			t.Errorf("%s: state %s, fault %+v, %d Nodes, want %d", name, l.NodeState, l.Fault, len(l.Nodes), len(want))
		}
		for _, n := range l.Nodes {
			if !n.Ready || n.Machine == "" || n.ClusterName != name || n.OwnerName == "" || (n.OwnerKind == "KubeadmControlPlane") != n.ControlPlane {
				t.Errorf("%s: Node %+v lacks something", name, n)
			}
		}
	}
	for _, name := range []string{"alpha-dev", "aws-prod"} { // deleted, and never there
		if l := found[name]; l.NodeState == stateRead || l.NodeState == "" {
			t.Errorf("%s: state %q", name, l.NodeState)
		}
	}
}

// nodesOfLab returns the Nodes as kubectl saw them, by name.
func nodesOfLab(t *testing.T, cluster string) []infra.Node {
	t.Helper()
	text, err := os.ReadFile(labDir + "/" + cluster + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct{ ProviderID string }
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	var all []infra.Node
	for _, n := range list.Items {
		all = append(all, infra.Node{Name: n.Metadata.Name, ProviderID: n.Spec.ProviderID})
	}
	slices.SortFunc(all, func(a, b infra.Node) int { return cmp.Compare(a.Name, b.Name) })
	if len(all) == 0 {
		t.Fatalf("the lab has no Nodes of %s", cluster)
	}
	return all
}

// TestLabFaults holds that each trouble is said of its own cluster, and that
// together they take no longer than the one that hangs.
func TestLabFaults(t *testing.T) {
	p := tight(func(b *bounds) { b.call = 3 * time.Second })
	begin := time.Now()
	found := collectLab(t, p,
		lab.FaultOf{Cluster: "alpha-prod", Fault: lab.Hang},
		lab.FaultOf{Cluster: "beta-prod", Fault: lab.ExpiredCertificate},
		lab.FaultOf{Cluster: "gamma-edge", Fault: lab.Forbidden},
		lab.FaultOf{Cluster: "alpha-dev", Fault: lab.Down},
	)
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	for name, want := range map[string]struct{ state, message string }{
		"alpha-prod": {stateUnreachable, "did not answer in time"},
		"beta-prod":  {stateUnreachable, "its certificate expired on "},
		"gamma-edge": {stateDenied, "does not let this account list Nodes"},
		"alpha-dev":  {stateUnreachable, "refused"},
	} {
		l := found[name]
		if l.NodeState != want.state || l.Fault == nil || !strings.Contains(l.Fault.Message, want.message) {
			t.Errorf("%s: state %s, fault %+v", name, l.NodeState, l.Fault)
		}
	}
}
