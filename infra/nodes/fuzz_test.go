package nodes

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"drift-detector/backup"
)

// fuzzCA is a certificate of a CA, as a kubeconfig holds it. Nobody has its key.
const fuzzCA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJMVENCNEtBREFnRUNBZ0VCTUFVR0F5dGxjREFWTVJNd0VRWURWUVFEREFwcmRXSmxjbTVsZEdWek1DQVgKRFRJMk1URXlNakUwTXpReE4xb1lEekl4TWpZeE1ESTVNVFF6TkRFM1dqQVZNUk13RVFZRFZRUUREQXByZFdKbApjbTVsZEdWek1Db3dCUVlESzJWd0F5RUFLcXZqeUQxL2NLTUhtb1ByeWxvWVpLeGRkUGVSSy9xcVhHVlRxMWpMCjVFNmpVekJSTUIwR0ExVWREZ1FXQkJRM3pVVlhBZVdKUlU1OStSRFFHQXdrMTVHdzd6QWZCZ05WSFNNRUdEQVcKZ0JRM3pVVlhBZVdKUlU1OStSRFFHQXdrMTVHdzd6QVBCZ05WSFJNQkFmOEVCVEFEQVFIL01BVUdBeXRsY0FOQgpBUERXbkR6T1hpOWlWdStoYldsaVlGZWRteUMraXZYMW9UbGJqSExsS0M2MnBvU0xTYUsvUWZCR01QdkRGQnhsCjROQjVkcjZHY0xEcWpjTEVRdzRINlFNPQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg=="

// What is left of any kubeconfig has a server that is verified and a credential that
// is embedded; a refusal is one line that quotes no secret. Nothing prints either.
func FuzzKubeconfig(f *testing.F) {
	const head = "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
	for _, user := range []string{
		"token: s3cret-token", "tokenFile: /etc/passwd", "exec: {apiVersion: client.authentication.k8s.io/v1, command: touch}", "auth-provider: {name: oidc}",
		"username: admin, password: s3cret-password", "client-certificate-data: eA==, client-key-data: eA==", "token: t, as: system:admin", "token: t, tokenFile: /etc/passwd", "token: t, exec: {apiVersion: v1, command: touch}", "",
	} {
		f.Add(head + "clusters: [{name: c, cluster: {server: 'https://user:s3cret@a:6443/p?q#f', certificate-authority-data: " + fuzzCA + ", proxy-url: 'http://p', insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: {" + user + "}}]\n")
	}
	f.Add(head + "clusters: &a [*a]\n")
	f.Add("{\"kind\":\"Config\",\"apiVersion\":\"v1\",\"clusters\":null}")
	f.Fuzz(func(t *testing.T, text string) {
		k := parse(backup.NewSensitive(text), maxKubeconfig)
		l, err := k.login()
		if err != nil {
			said := err.Error()
			if strings.ContainsFunc(said, unicode.IsControl) {
				t.Errorf("it says %q", said)
			}
			if k.user != nil {
				for _, secret := range []string{k.user.Token, k.user.Password, string(k.user.ClientKeyData)} {
					if len(secret) > 8 && strings.Contains(said, secret) {
						t.Errorf("it quotes a secret: %q", said)
					}
				}
			}
			return
		}
		switch {
		case l.endpoint.Host == "" || l.tls.ServerName == "" || l.tls.VerifyConnection == nil:
			t.Error("the server would not be verified")
		case l.token.Reveal() == "" && l.client == nil:
			t.Error("no credential is embedded")
		case k.user.Exec != nil || k.user.AuthProvider != nil || k.user.TokenFile != "" || k.user.ClientKey != "" || k.user.ClientCertificate != "":
			t.Error("something would be run or opened")
		case fmt.Sprintf("%v %+v %#v", l, l, l) != "[redacted] [redacted] [redacted]":
			t.Error("it prints")
		}
	})
}
