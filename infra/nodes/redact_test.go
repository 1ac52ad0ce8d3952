package nodes

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"drift-detector/infra"
)

// An API server that repeats the token gets it into no fault.
func TestAnAPIServerThatRepeatsTheToken(t *testing.T) {
	const token = "m4rk3r.of-the-token_of.an-account"
	for _, form := range []string{token, url.QueryEscape(token), base64.StdEncoding.EncodeToString([]byte("Bearer " + token))} {
		for code, body := range map[int]string{
			200: `{"kind":"` + form + `"}`, 401: form, 403: `{"kind":"Status","message":"` + form + `"}`, 500: "<html>" + form, 302: form,
		} {
			s := serve(t, serverOptions{tokens: true}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("WWW-Authenticate", "Bearer "+form)
				w.Header().Set("Location", "https://"+form)
				w.WriteHeader(code)
				_, _ = io.WriteString(w, body)
			})
			config := s.kubeconfig(t, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { *u = clientcmdapi.AuthInfo{Token: token} })
			p := New(infra.NewRegistry())
			targets := p.Targets(prod(), nil, access(config))
			if got := targets[0].Redaction.Text("it is " + form); strings.Contains(got, form) {
				t.Errorf("the target does not hide %q", got)
			}
			l := infra.NewRegistry(p).Collect(t.Context(), targets, nil).Listings[0]
			if said := fmt.Sprintf("%+v %q", l.Fault, l.Warnings); l.Fault == nil || strings.Contains(said, "m4rk3r") || strings.Contains(said, form) {
				t.Errorf("%d: %s", code, said)
			}
		}
	}
}
