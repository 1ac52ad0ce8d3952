package live

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"drift-detector/backup"
	"drift-detector/infra"
)

// InCluster stands for the account of the Pod that the program runs in, instead of a file.
const InCluster = "in-cluster"

// podAccount is where a Pod finds its account (Kubernetes
// plugin/pkg/admission/serviceaccount/admission.go DefaultAPITokenMountPath v1.36.0).
const podAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// Bounds on the files of the operator. A kubeconfig may name many clusters.
const (
	maxKubeconfig = 1 << 20
	maxFile       = 1 << 20
)

// kubeconfig is the part of a kubeconfig that is read (client-go
// tools/clientcmd/api/v1/types.go v0.36.0).
type kubeconfig struct {
	Current  string `json:"current-context"`
	Contexts []struct {
		Name    string
		Context struct{ Cluster, User string }
	}
	Clusters []struct {
		Name    string
		Cluster clusterEntry
	}
	Users []struct {
		Name string
		User userEntry
	}
	folder string // that its paths are relative to
}

type clusterEntry struct {
	Server     string
	ServerName string `json:"tls-server-name"`
	Insecure   bool   `json:"insecure-skip-tls-verify"`
	CAFile     string `json:"certificate-authority"`
	CA         []byte `json:"certificate-authority-data"`
	Proxy      string `json:"proxy-url"`
}

type userEntry struct {
	CertificateFile    string `json:"client-certificate"`
	Certificate        []byte `json:"client-certificate-data"`
	KeyFile            string `json:"client-key"`
	Key                []byte `json:"client-key-data"`
	Token              string
	TokenFile          string
	Username, Password string
	As                 string
	AsUID              string              `json:"as-uid"`
	AsGroups           []string            `json:"as-groups"`
	AsExtra            map[string][]string `json:"as-user-extra"`
	AuthProvider       any                 `json:"auth-provider"`
	Exec               *plugin
}

// refused names what kubectl would do for a user and this client does not.
func (u *userEntry) refused() string {
	switch {
	case u.AuthProvider != nil:
		return "an auth-provider, which kubectl has dropped, too: use an exec plugin, such as kubelogin"
	case u.As != "" || u.AsUID != "" || len(u.AsGroups) > 0 || len(u.AsExtra) > 0:
		return "impersonation (as): use an account of its own, with the role that 'drift-detector permissions kubernetes' prints"
	case u.Username != "" || u.Password != "":
		return "a password, which API servers no longer accept: use a token or a client certificate"
	case u.Exec != nil:
		return u.Exec.refused()
	}
	return ""
}

// unusable returns the error for a kubeconfig that can't be used. Neither part quotes a value of it
// but names.
func unusable(file, problem, next string) error {
	return &backup.InputError{Name: file, Problem: problem, Next: next}
}

// Open reads the operator's kubeconfig, or with [InCluster] the account of the Pod, and returns
// the cluster of a context; the current one where none is named. Nothing is contacted, and no
// program is run.
func Open(file, context string, getenv func(string) string) (*Cluster, error) {
	if file == InCluster {
		return openPod(context, podAccount, getenv)
	}
	k, err := readKubeconfig(file)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(context, k.Current)
	if name == "" {
		return nil, unusable(file, "it has no current context", "name one of its contexts with --context: "+k.names())
	}
	for _, c := range k.Contexts {
		if c.Name == name {
			cluster, user := k.cluster(c.Context.Cluster), k.user(c.Context.User)
			if cluster == nil || user == nil {
				return nil, unusable(file, fmt.Sprintf("its context %q names a cluster or a user that it does not hold", name), "see 'kubectl config view'")
			}
			return newCluster(file, k.folder, cluster, user)
		}
	}
	return nil, unusable(file, fmt.Sprintf("it has no context %q", name), "name one of its contexts with --context: "+k.names())
}

func readKubeconfig(file string) (*kubeconfig, error) {
	text, err := readFile(file, maxKubeconfig)
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsRune(file, os.PathListSeparator):
		return nil, unusable(file, "several files, as in KUBECONFIG, are not joined", "write one file: kubectl config view --flatten > FILE")
	case errors.Is(err, fs.ErrNotExist):
		return nil, unusable(file, "no such file", "give the kubeconfig of the management cluster")
	case err != nil:
		return nil, unusable(file, "can't be read: "+cause(err), "give the kubeconfig of the management cluster")
	}
	k := &kubeconfig{folder: filepath.Dir(file)}
	if err := yaml.Unmarshal(text, k); err != nil || len(k.Clusters) == 0 { // the error would quote what it could not read
		return nil, unusable(file, "not a kubeconfig, or one without a cluster", "give the file with which kubectl reaches the management cluster")
	}
	return k, nil
}

// readFile reads a file of the operator's, which may have so many bytes.
func readFile(path string, most int64) ([]byte, error) {
	return infra.ReadFile(path, most)
}

// cause returns an error of the file system without the path, which is said already.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// names lists the contexts.
func (k *kubeconfig) names() string {
	const few = 10
	var names []string
	for _, c := range k.Contexts {
		if len(names) == few {
			names = append(names, "…")
			break
		}
		names = append(names, infra.Brief(c.Name))
	}
	return cmp.Or(strings.Join(names, ", "), "it has none")
}

func (k *kubeconfig) cluster(name string) *clusterEntry {
	for i := range k.Clusters {
		if k.Clusters[i].Name == name {
			return &k.Clusters[i].Cluster
		}
	}
	return nil
}

func (k *kubeconfig) user(name string) *userEntry {
	for i := range k.Users {
		if k.Users[i].Name == name {
			return &k.Users[i].User
		}
	}
	return nil
}

// openPod uses the account that Kubernetes gives to a Pod.
func openPod(context, folder string, getenv func(string) string) (*Cluster, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	switch {
	case context != "":
		return nil, unusable(InCluster, "the account of a Pod has no contexts", "leave --context out")
	case host == "" || port == "":
		return nil, unusable(InCluster, "the program does not run in a Pod: KUBERNETES_SERVICE_HOST is not set", "give a kubeconfig")
	}
	return newCluster(InCluster, folder,
		&clusterEntry{Server: "https://" + (infra.Endpoint{Host: host, Port: port}).String(), CAFile: "ca.crt"}, &userEntry{TokenFile: "token"})
}

// newCluster returns the client for a cluster and a user. Paths are relative to the folder.
func newCluster(file, folder string, at *clusterEntry, user *userEntry) (*Cluster, error) {
	if what := user.refused(); what != "" {
		return nil, unusable(file, "its user has "+what, "give a kubeconfig of another user")
	}
	endpoint, err := infra.ParseEndpoint(at.Server)
	if err != nil {
		return nil, unusable(file, "its server: "+err.Error(), "give the kubeconfig of the management cluster")
	}
	c := &Cluster{Name: endpoint.String(), base: "https://" + endpoint.String(), hide: infra.NewRedaction()}
	if u, err := url.Parse(strings.TrimSpace(at.Server)); err == nil && u.Host != "" {
		c.base += strings.TrimRight(u.EscapedPath(), "/")
	}
	in := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(folder, path)
	}
	trust := infra.Trust{ServerName: cmp.Or(at.ServerName, endpoint.Host), CA: at.CA, Insecure: at.Insecure}
	if len(at.CA) == 0 && at.CAFile != "" && !at.Insecure {
		if trust.CA, err = readFile(in(at.CAFile), maxFile); err != nil {
			return nil, unusable(file, "its certificate-authority "+at.CAFile+" can't be read: "+cause(err), "see whether the file is there")
		}
	}
	if at.Insecure {
		c.Warnings = append(c.Warnings, "the certificate of "+c.Name+" is not verified: the kubeconfig says insecure-skip-tls-verify, so that a server in between reads all Secrets")
	}
	conf, err := trust.TLSConfig()
	if err != nil {
		return nil, unusable(file, "its certificate authority holds no certificate in PEM form", "give the kubeconfig of the management cluster")
	}
	conf.GetClientCertificate = c.certificate
	proxy := http.ProxyFromEnvironment
	if at.Proxy != "" {
		u, err := url.Parse(at.Proxy)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			return nil, unusable(file, "its proxy-url is no http, https or socks5 URL", "correct it")
		}
		if password, ok := u.User.Password(); ok {
			c.hide.Add(backup.NewSensitive(password))
		}
		proxy = http.ProxyURL(u)
	}
	c.connect(conf, proxy)
	c.login = login{file: file, user: user, in: in, cluster: at, hide: c.hide}
	return c, nil
}
