package nodes

import (
	"slices"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
)

// TestCheck holds what the provider tells of the kubeconfigs in a backup. What
// KubeadmControlPlane makes again is less of a fault, and what CAPA makes is none.
func TestCheck(t *testing.T) {
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	good := s.kubeconfig(t)
	token := s.kubeconfig(t, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		*u = clientcmdapi.AuthInfo{Token: "t"}
	})
	b := backuptest.New()
	add := func(name, kind, kubeconfig string) {
		o := clusterObject("one", name)
		o["spec"].(map[string]any)["controlPlaneRef"] = map[string]any{"apiGroup": "controlplane.cluster.x-k8s.io", "kind": kind, "name": name}
		b.Add("clusters.cluster.x-k8s.io", o)
		if kubeconfig != "" {
			b.Add("secrets", secretObject("one", name+"-kubeconfig", map[string]string{"value": kubeconfig}))
		}
	}
	add("kcp-good", "KubeadmControlPlane", good)
	add("kcp-gone", "KubeadmControlPlane", "")
	add("eks-gone", "AWSManagedControlPlane", "")
	add("eks-good", "AWSManagedControlPlane", good)
	add("own-gone", "OwnControlPlane", "")
	add("own-good", "OwnControlPlane", good)
	add("token", "OwnControlPlane", token)
	add("broken", "KubeadmControlPlane", "hunter2: [")
	add("empty", "OwnControlPlane", "")
	b.Add("secrets", secretObject("one", "empty-kubeconfig", map[string]string{"value": ""}))
	unborn := clusterObject("one", "unborn")
	delete(unborn["spec"].(map[string]any), "controlPlaneEndpoint")
	b.Add("clusters.cluster.x-k8s.io", unborn)
	source := backuptest.Source("test", b.Bytes())
	snapshot, secrets := load(t, source)
	// Where nobody logs in, no kubeconfig is kept, and the findings are the same.
	_, offline, err := backup.Load(t.Context(), []backup.Source{source}, backup.Want{Secrets: New(nil).Spec().Want.Secrets, Offline: true})
	if err != nil || !offline.Named(0, "one", "kcp-good-kubeconfig").Value(secretKey).IsZero() {
		t.Fatalf("a kubeconfig is kept, error %v", err)
	}

	signs := func(secrets *backup.Secrets, now time.Time) []string {
		var all []string
		for _, f := range New(infra.NewRegistry(other{})).(*provider).Check(snapshot, secrets, now) {
			all = append(all, string(f.Severity)+" "+string(f.Code)+" "+f.Object+": "+f.Message)
		}
		slices.Sort(all)
		return all
	}
	always := []string{
		"error KubeconfigAbsent Secret one/empty-kubeconfig: in the backup, and its key value is empty or absent",
		"error KubeconfigAbsent Secret one/own-gone-kubeconfig: not in the backup",
		"warning KubeconfigAbsent Secret one/kcp-gone-kubeconfig: not in the backup",
		"warning KubeconfigUnusable Secret one/broken-kubeconfig: it is not a kubeconfig",
	}
	config := parse(secrets.Named(0, "one", "kcp-good-kubeconfig").Value(secretKey), maxKubeconfig)
	if config.err != nil {
		t.Fatal(config.err)
	}
	end := expiry(config.user.ClientCertificateData)
	if end.IsZero() {
		t.Fatal("the kubeconfig has no client certificate")
	}
	day := end.UTC().Format(time.DateOnly)
	for _, test := range []struct {
		now  time.Time
		want []string
	}{
		{end.Add(-soon - time.Second), nil},
		{end.Add(-soon + time.Second), []string{
			"warning KubeconfigExpiring Secret one/own-good-kubeconfig: its client certificate expires on " + day,
			"warning KubeconfigExpiring Secret one/kcp-good-kubeconfig: its client certificate expires on " + day,
		}},
		{end.Add(time.Second), []string{
			"error KubeconfigExpired Secret one/own-good-kubeconfig: its client certificate expired on " + day,
			"warning KubeconfigExpired Secret one/kcp-good-kubeconfig: its client certificate expired on " + day,
		}},
	} {
		want := slices.Sorted(slices.Values(append(test.want, always...)))
		for _, secrets := range []*backup.Secrets{secrets, offline} {
			if got := signs(secrets, test.now); !slices.Equal(got, want) {
				t.Errorf("at %s found %q, want %q", test.now, got, want)
			}
		}
	}
}
