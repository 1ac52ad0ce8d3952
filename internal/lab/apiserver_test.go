package lab

import (
	"archive/tar"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

func startAPI(t *testing.T, faults ...FaultOf) *APIServers {
	t.Helper()
	a, err := StartAPIServers(filepath.Join(testdata, "fleet-data.tar.gz"), filepath.Join(testdata, "nodes"), faults...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// adminOf makes a client of the kubeconfig in the backup, with nothing else trusted.
func adminOf(t *testing.T, cluster string) *http.Client {
	t.Helper()
	var client *http.Client
	err := eachEntry(filepath.Join(testdata, "fleet-data.tar.gz"), func(h *tar.Header, body io.Reader) error {
		if !strings.HasSuffix(h.Name, "/"+cluster+"-kubeconfig.json") || client != nil {
			return nil
		}
		var secret struct{ Data map[string][]byte }
		if err := json.NewDecoder(body).Decode(&secret); err != nil {
			return err
		}
		var config struct {
			Clusters []struct {
				Cluster struct {
					CA []byte `json:"certificate-authority-data"`
				}
			}
			Users []struct {
				User struct {
					Certificate []byte `json:"client-certificate-data"`
					Key         []byte `json:"client-key-data"`
				}
			}
		}
		if err := yaml.Unmarshal(secret.Data["value"], &config); err != nil {
			return err
		}
		pair, err := tls.X509KeyPair(config.Users[0].User.Certificate, config.Users[0].User.Key)
		if err != nil {
			return err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(config.Clusters[0].Cluster.CA)
		transport := &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		}}
		t.Cleanup(transport.CloseIdleConnections)
		client = &http.Client{Transport: transport}
		return nil
	})
	if err != nil || client == nil {
		t.Fatalf("no kubeconfig of %s: %v", cluster, err)
	}
	return client
}

type nodeList struct {
	Metadata struct {
		Continue string
	}
	Items []struct {
		Metadata struct{ Name string }
	}
}

func TestServesNodesInPages(t *testing.T) {
	a := startAPI(t)
	client := adminOf(t, "alpha-prod")
	var names []string
	token := ""
	for page := range 4 {
		res, err := client.Get("https://" + a.Addr["alpha-prod"] + "/api/v1/nodes?limit=5&continue=" + token)
		if err != nil {
			t.Fatal(err)
		}
		var list nodeList
		err = json.NewDecoder(res.Body).Decode(&list)
		_ = res.Body.Close()
		if err != nil || len(list.Items) > 5 {
			t.Fatalf("page %d: %d items, %v", page, len(list.Items), err)
		}
		for _, n := range list.Items {
			names = append(names, n.Metadata.Name)
		}
		if token = list.Metadata.Continue; token == "" {
			break
		}
	}
	slices.Sort(names)
	if got := len(slices.Compact(names)); got != 13 {
		t.Errorf("%d different Nodes in all pages, the saved list has 13", got)
	}
	if a.Asked("alpha-prod") != 3 || a.Asked("beta-prod") != 0 {
		t.Errorf("asked %d times, and beta-prod %d times", a.Asked("alpha-prod"), a.Asked("beta-prod"))
	}
}

func TestDemandsItsOwnClusters(t *testing.T) {
	a := startAPI(t)
	if _, err := adminOf(t, "beta-prod").Get("https://" + a.Addr["alpha-prod"] + "/api/v1/nodes"); err == nil {
		t.Error("beta-prod's client trusts alpha-prod's server")
	}
	config := adminOf(t, "alpha-prod").Transport.(*http.Transport).TLSClientConfig
	config.Certificates = nil
	bare := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	if _, err := bare.Get("https://" + a.Addr["alpha-prod"] + "/api/v1/nodes"); err == nil {
		t.Error("a client without a certificate is let in")
	}
}

func TestFaults(t *testing.T) {
	a := startAPI(t, FaultOf{"alpha-prod", Hang}, FaultOf{"beta-prod", ExpiredCertificate}, FaultOf{"gamma-edge", Forbidden})
	get := func(ctx context.Context, cluster string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+a.Addr[cluster]+"/api/v1/nodes", nil)
		if err != nil {
			t.Fatal(err)
		}
		return adminOf(t, cluster).Do(req)
	}
	// What hangs is given up half a second after the request was sent.
	patience, cancel := context.WithCancel(t.Context())
	defer cancel()
	patience = httptrace.WithClientTrace(patience, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { time.AfterFunc(500*time.Millisecond, cancel) },
	})
	if _, err := get(patience, "alpha-prod"); !errors.Is(err, context.Canceled) {
		t.Errorf("hanging server: %v", err)
	}
	var invalid x509.CertificateInvalidError
	if _, err := get(t.Context(), "beta-prod"); !errors.As(err, &invalid) || invalid.Reason != x509.Expired {
		t.Errorf("expired server certificate: %v", err)
	}
	res, err := get(t.Context(), "gamma-edge")
	if err != nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("forbidding server: %v, %v", res, err)
	}
	// alpha-dev was deleted after the backup: there is no Node list of it.
	if _, err := get(t.Context(), "alpha-dev"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("server without Nodes: %v", err)
	}
}

func TestReroutesEveryKubeconfig(t *testing.T) {
	a := startAPI(t)
	got := a.Reroutes()
	var from []string
	for _, r := range got {
		f, to, _ := strings.Cut(r, "=")
		from = append(from, f)
		if !strings.HasPrefix(to, "127.0.0.1:") || f == to {
			t.Errorf("reroute %q", r)
		}
	}
	want := []string{"127.0.0.1:20000", "127.0.0.1:20001", "127.0.0.1:20002", "127.0.0.1:20003", "127.0.0.1:26443"}
	if !slices.Equal(from, want) {
		t.Errorf("rerouted are %v, the backup's kubeconfigs name %v", from, want)
	}
}
