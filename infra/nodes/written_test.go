package nodes

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ofClusterAPI returns a kubeconfig as Cluster API has client-go write it.
func ofClusterAPI(t testing.TB, cluster, user, server string) string {
	pem := []byte("-----BEGIN X-----\nAAAA\n-----END X-----\n")
	text, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{cluster: {Server: server, CertificateAuthorityData: pem}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{user: {ClientCertificateData: pem, ClientKeyData: pem}},
		Contexts:       map[string]*clientcmdapi.Context{user + "@" + cluster: {Cluster: cluster, AuthInfo: user}},
		CurrentContext: user + "@" + cluster,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What Cluster API writes is read without YAML, also by older versions.
func TestWrittenByClusterAPI(t *testing.T) {
	text := ofClusterAPI(t, "alpha", "alpha-admin", "https://10.0.0.1:6443")
	for _, form := range []string{text, strings.Replace(text, "users:", "preferences: {}\nusers:", 1)} {
		if _, ok := written(form); !ok {
			t.Errorf("it goes through YAML:\n%s", form)
		}
	}
}

// What is read without YAML is what client-go reads.
func FuzzWritten(f *testing.F) {
	for _, name := range []string{"alpha", "true", "No", "null", "1e3", "0x1f", "12:30:45", "a:", "a b", "2026-01-01", "~", ".inf", "y", "é", "'a'", "&a", "*a"} {
		f.Add(ofClusterAPI(f, name, "admin", "https://10.0.0.1:6443"))
		f.Add(strings.ReplaceAll(ofClusterAPI(f, "alpha", "alpha", "https://10.0.0.1:6443"), "alpha", name))
		f.Add(ofClusterAPI(f, "alpha", "admin", name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		have, ok := written(text)
		if !ok {
			return
		}
		conf, err := clientcmd.Load([]byte(text))
		if err != nil {
			t.Fatalf("client-go refuses it: %v\n%s", err, text)
		}
		current := conf.Contexts[conf.CurrentContext]
		if current == nil || conf.Clusters[current.Cluster] == nil || conf.AuthInfos[current.AuthInfo] == nil {
			t.Fatalf("client-go finds no current context:\n%s", text)
		}
		cluster, user := *conf.Clusters[current.Cluster], *conf.AuthInfos[current.AuthInfo]
		cluster.Extensions, user.Extensions = nil, nil
		if !reflect.DeepEqual(*have.cluster, cluster) || !reflect.DeepEqual(*have.user, user) {
			t.Errorf("%+v %+v\nclient-go reads %+v %+v", *have.cluster, *have.user, cluster, user)
		}
	})
}
