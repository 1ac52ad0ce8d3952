package lab

import (
	"archive/tar"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// workload is what the backup holds about the access to one workload cluster.
type workload struct {
	name   string
	server string // host:port as the kubeconfig names it
	client *x509.Certificate
	ca     *x509.Certificate
	caKey  crypto.Signer
}

// readWorkloads reads the Secrets <cluster>-kubeconfig and <cluster>-ca of a
// backup (names by Cluster API's contract, util/secret/consts.go v1.14.2). It
// goes over the tarball plainly, apart from package backup, which it is to test.
func readWorkloads(tarball string) (map[string]*workload, error) {
	clusters := map[string]*workload{}
	of := func(name string) *workload {
		if clusters[name] == nil {
			clusters[name] = &workload{name: name}
		}
		return clusters[name]
	}
	err := eachEntry(tarball, func(h *tar.Header, body io.Reader) error {
		if !strings.HasPrefix(h.Name, "resources/secrets/namespaces/") {
			return nil
		}
		name := strings.TrimSuffix(path.Base(h.Name), ".json")
		cluster, isConfig := strings.CutSuffix(name, "-kubeconfig")
		caOf, isCA := strings.CutSuffix(name, "-ca")
		if !isConfig && !isCA {
			return nil
		}
		var secret struct {
			Data map[string][]byte `json:"data"`
		}
		if err := json.NewDecoder(body).Decode(&secret); err != nil {
			return fmt.Errorf("reading %s: %w", h.Name, err)
		}
		var err error
		if isConfig {
			err = of(cluster).readKubeconfig(secret.Data["value"])
		} else {
			err = of(caOf).readCA(secret.Data["tls.crt"], secret.Data["tls.key"])
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", h.Name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for name, w := range clusters {
		if w.server == "" || w.ca == nil {
			delete(clusters, name) // an etcd or proxy CA, or no kubeconfig
		}
	}
	return clusters, nil
}

func (w *workload) readKubeconfig(text []byte) error {
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return err
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 {
		return errors.New("not one cluster and one user")
	}
	u, err := url.Parse(config.Clusters[0].Cluster.Server)
	if err != nil {
		return err
	}
	w.server = u.Host
	block, _ := pem.Decode(config.Users[0].User.Certificate)
	if block == nil {
		return errors.New("no client certificate")
	}
	w.client, err = x509.ParseCertificate(block.Bytes)
	return err
}

func (w *workload) readCA(cert, key []byte) error {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return errors.New("the key can't sign")
	}
	w.ca, w.caKey = pair.Leaf, signer
	return nil
}

// serverTLS returns what the cluster's API server would use: a certificate of the
// cluster's own CA for loopback and its own name, and a client certificate of that CA demanded.
func (w *workload) serverTLS(until time.Time) (*tls.Config, error) {
	host, _, _ := strings.Cut(w.server, ":")
	cert, err := issue([]string{"localhost", "127.0.0.1", host}, w.ca, w.caKey, until)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(w.ca)
	// The server's clock is in the client certificate's lifetime, which is
	// one year from when the lab was made: its age is no matter of the lab.
	now := w.client.NotBefore.Add(time.Hour)
	return &tls.Config{
		Certificates: []tls.Certificate{cert.tls()},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
		MinVersion:   tls.VersionTLS12,
		Time:         func() time.Time { return now },
	}, nil
}
