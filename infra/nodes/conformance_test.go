package nodes

import (
	"io"
	"net/http"
	"strings"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/infratest"
)

// TestConformance leaves two conditions out. Broken wants what was read before
// the fault to be kept, which Node lists do not do (see List); Unreadable is
// about instances.
func TestConformance(t *testing.T) {
	infratest.Run(t, infratest.Harness{
		New:        func() infra.Provider { return New(infra.NewRegistry()) },
		Start:      startWorld,
		Conditions: []infratest.Condition{infratest.Whole, infratest.WrongPassword, infratest.Down, infratest.Hanging, infratest.PlainHTTP},
	})
}

func startWorld(t *testing.T, c infratest.Condition) infratest.World {
	pages := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			_, _ = io.WriteString(w, nodes("2", "b", "c"))
			return
		}
		_, _ = io.WriteString(w, nodes("", "a"))
	}
	handlers := map[infratest.Condition]http.HandlerFunc{
		infratest.WrongPassword: answer(http.StatusUnauthorized, ""),
		infratest.Hanging:       func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	}
	handler := http.HandlerFunc(pages)
	if h := handlers[c]; h != nil {
		handler = h
	}
	s := serve(t, serverOptions{}, handler)
	const token = "marker-token-5f3a"
	var key string
	text := s.kubeconfig(t, func(cluster *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		u.Token, key = token, string(u.ClientKeyData)
		if c == infratest.PlainHTTP {
			cluster.Server = strings.Replace(s.URL, "https://", "http://", 1)
		}
	})
	if c == infratest.Down {
		s.Close()
	}
	tarball := backuptest.New().
		Add("clusters.cluster.x-k8s.io", clusterObject("one", "prod")).
		Add("secrets", secretObject("one", "prod-kubeconfig", map[string]string{"value": text})).
		Bytes()
	return infratest.World{
		Load:     func() (*backup.Snapshot, *backup.Secrets) { return load(t, backuptest.Source("test", tarball)) },
		Count:    3,
		Sessions: func() (open, failed int) { return 0, int(s.requests.Load()) },
		Contacts: func() int { return int(s.connections.Load()) },
		Markers:  []string{token, strings.Split(key, "\n")[1]},
	}
}
