package nodes

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Bounds on a kubeconfig before it is parsed, which takes YAML far longer than
// its size suggests. Cluster API's name one cluster and one user, in 6 kB; the
// operator's own may name many.
const (
	maxKubeconfig = 64 << 10
	maxOperators  = 1 << 20
)

// login is what is left of a kubeconfig: a server, the CA that its certificate
// is verified against, and a client certificate or token that is embedded.
type login struct {
	endpoint infra.Endpoint
	path     string // prefix of the API below the server, escaped; "" or "/…"
	tls      *tls.Config
	token    backup.Sensitive
	client   *x509.Certificate // of tls.Certificates; nil with a token alone
	ignored  []string          // settings that were not followed
	// operators says that it is the operator's, and not the one in the backup, which the
	// controllers use.
	operators bool
	kubeadm   bool // the control plane is a KubeadmControlPlane
	of        *kubeconfig
}

// Format keeps keys and tokens out of whatever prints a Target.
func (l *login) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[redacted]")) }

// MarshalJSON keeps keys and tokens out of whatever saves a Target.
func (l *login) MarshalJSON() ([]byte, error) { return []byte(`"[redacted]"`), nil }

// account returns the user that the client certificate names. A token names nobody
// without being opened.
func (l *login) account() string {
	if l.client == nil {
		return ""
	}
	return l.client.Subject.CommonName
}

// login returns what the current context allows. Whatever would run a program, open a
// file or weaken the connection is refused or ignored, and none of it is looked
// at. Errors hold no value of the kubeconfig but names.
func (k *kubeconfig) login() (*login, error) {
	if k.err != nil {
		return nil, k.err
	}
	cluster, user := k.cluster, k.user
	if err := refuse(cluster, user); err != nil {
		return nil, err
	}
	l := &login{ignored: ignoredSettings(cluster), of: k}
	var err error
	if l.endpoint, l.path, err = server(cluster.Server); err != nil {
		return nil, err
	}
	name := l.endpoint.Host
	if cluster.TLSServerName != "" {
		name = cluster.TLSServerName
	}
	if l.tls, err = (infra.Trust{ServerName: name, CA: cluster.CertificateAuthorityData}).TLSConfig(); err != nil {
		return nil, errors.New("its certificate-authority-data holds no certificate")
	}
	return l, l.identify(user)
}

// identify takes over the user's client certificate and token.
func (l *login) identify(user *clientcmdapi.AuthInfo) error {
	token := strings.TrimSpace(user.Token)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("its token is not a bearer token")
	}
	l.token = backup.NewSensitive(token)
	if len(user.ClientCertificateData) == 0 && len(user.ClientKeyData) == 0 {
		if token == "" {
			return errors.New("its user has neither a client certificate nor a token")
		}
		return nil
	}
	pair, err := tls.X509KeyPair(user.ClientCertificateData, user.ClientKeyData)
	if err != nil {
		return errors.New("its client certificate and key are incomplete or do not match")
	}
	l.client, l.tls.Certificates = pair.Leaf, []tls.Certificate{pair}
	return nil
}

// refuse names the first setting that rules a kubeconfig out. It decides by
// presence alone: nothing is run, opened or resolved.
func refuse(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) error {
	for _, rule := range []struct {
		broken bool
		what   string
	}{
		{user.Exec != nil, "its user needs an exec plugin, and programs that a kubeconfig names are never run"},
		{user.AuthProvider != nil, "its user needs an auth-provider, which is never run"},
		{user.TokenFile != "", "its user names a tokenFile, and files that a kubeconfig names are never opened"},
		{user.ClientCertificate != "", "its user names a client-certificate file, and files that a kubeconfig names are never opened"},
		{user.ClientKey != "", "its user names a client-key file, and files that a kubeconfig names are never opened"},
		{user.Username != "" || user.Password != "", "its user logs in with a password, which API servers no longer accept"},
		{impersonates(user), "its user acts as another user (act-as)"},
		{len(cluster.CertificateAuthorityData) == 0 && cluster.CertificateAuthority != "", "its certificate-authority is a file, and files that a kubeconfig names are never opened"},
		{len(cluster.CertificateAuthorityData) == 0, "it has no certificate-authority-data, without which the server cannot be verified"},
	} {
		if rule.broken {
			return errors.New(rule.what)
		}
	}
	return nil
}

func impersonates(user *clientcmdapi.AuthInfo) bool {
	return user.Impersonate != "" || user.ImpersonateUID != "" || len(user.ImpersonateGroups) > 0 || len(user.ImpersonateUserExtra) > 0
}

// ignoredSettings names what is set and not followed, without the values: a
// proxy-url may carry a password.
func ignoredSettings(cluster *clientcmdapi.Cluster) []string {
	var names []string
	if cluster.ProxyURL != "" {
		names = append(names, "proxy-url (only HTTPS_PROXY and NO_PROXY of the environment count)")
	}
	if cluster.InsecureSkipTLSVerify {
		names = append(names, "insecure-skip-tls-verify (API servers are always verified)")
	}
	if cluster.CertificateAuthority != "" {
		names = append(names, "certificate-authority (the embedded certificate-authority-data counts)")
	}
	return names
}

// server reads the server's URL. User info, query and fragment are dropped.
func server(s string) (infra.Endpoint, string, error) {
	endpoint, err := infra.ParseEndpoint(s)
	if err != nil {
		// The text of the URL stays out: it may carry a password.
		return infra.Endpoint{}, "", fmt.Errorf("its server: %w", err)
	}
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" {
		return endpoint, "", nil // host:port without a scheme has no path either
	}
	return endpoint, strings.TrimRight(u.EscapedPath(), "/"), nil
}

// kubeconfig is the cluster and user of a kubeconfig that kubectl would use, or
// why they are not known.
type kubeconfig struct {
	cluster *clientcmdapi.Cluster
	user    *clientcmdapi.AuthInfo
	err     error
	name    string               // of the cluster, where it is in the form in which Cluster API writes it
	all     *clientcmdapi.Config // else all that is in it; nil for what is no kubeconfig
	long    bool                 // it was not read
}

// server returns the server that a kubeconfig names, whatever else is wrong with it.
func (k *kubeconfig) server() string {
	if k.err != nil {
		return ""
	}
	return k.cluster.Server
}

// decode does what clientcmd.Load of client-go does, without the clients that it brings along: the same
// types, read and converted by the same code.
func decode(text string) (*clientcmdapi.Config, error) {
	var file clientcmdv1.Config
	plain, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(plain, &file); err != nil {
		return nil, err
	}
	if file.APIVersion != "" && file.APIVersion != clientcmdv1.SchemeGroupVersion.Version || file.Kind != "" && file.Kind != "Config" {
		return nil, fmt.Errorf("it is of another kind")
	}
	conf := clientcmdapi.NewConfig()
	return conf, clientcmdv1.Convert_v1_Config_To_api_Config(&file, conf, nil)
}

// parse reads the current context of a kubeconfig of at most so many bytes. The
// loader's own errors stay out: they quote what they could not read.
func parse(text backup.Sensitive, most int) kubeconfig {
	fail := func(format string, args ...any) kubeconfig { return kubeconfig{err: fmt.Errorf(format, args...)} }
	if size := len(text.Reveal()); size > most {
		k := fail("it was not read: it has %d bytes, more than %d; a real one has a few thousand", size, most)
		k.long = true
		return k
	}
	if k, ok := written(text.Reveal()); ok {
		return k
	}
	conf, err := decode(text.Reveal())
	if err != nil {
		return fail("it is not a kubeconfig")
	}
	k := kubeconfig{all: conf}
	current := conf.Contexts[conf.CurrentContext]
	if current == nil {
		k.err = errors.New("it has no current context")
		return k
	}
	k.cluster, k.user = conf.Clusters[current.Cluster], conf.AuthInfos[current.AuthInfo]
	if k.cluster == nil || k.user == nil {
		k.err = errors.New("its current context names a cluster or user that it does not hold")
	}
	return k
}
