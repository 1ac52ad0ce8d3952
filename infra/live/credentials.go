package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
)

// plugin is an exec plugin (client-go tools/clientcmd/api/v1/types.go ExecConfig v0.36.0).
type plugin struct {
	Command            string
	Args               []string
	Env                []struct{ Name, Value string }
	APIVersion         string `json:"apiVersion"`
	InteractiveMode    string `json:"interactiveMode"`
	ProvideClusterInfo bool   `json:"provideClusterInfo"`
}

// credentialGroup is the API of exec plugins; its versions are one in what is used of it.
const credentialGroup = "client.authentication.k8s.io/"

// Bounds on an exec plugin. A cloud's tool answers within seconds. The time is less in tests.
const maxPlugin = 1 << 20

var pluginTime = time.Minute

// refused names what kubectl would do for a plugin and this client does not.
func (p *plugin) refused() string {
	switch {
	case p.Command == "":
		return "an exec plugin without a command"
	case p.InteractiveMode == "Always":
		return "an exec plugin that must ask a person (interactiveMode: Always): log in with it first, and use a kubeconfig that does not ask"
	case p.APIVersion != credentialGroup+"v1" && p.APIVersion != credentialGroup+"v1beta1":
		return "an exec plugin of an API version other than " + credentialGroup + "v1 and v1beta1"
	}
	return ""
}

// login is how a user logs in, each time that it is asked.
type login struct {
	file    string // the kubeconfig
	user    *userEntry
	cluster *clusterEntry
	in      func(string) string // a path, in the folder of the kubeconfig
	hide    *infra.Redaction
}

// identity is what a user shows to the server. It prints as nothing.
type identity struct {
	token backup.Sensitive
	cert  *tls.Certificate // nil for none
}

// renews reports whether another login may give something else.
func (l *login) renews() bool {
	return l.user.Exec != nil || l.user.TokenFile != "" && l.user.Token == ""
}

// identity logs in: it reads files, or runs the plugin.
func (l *login) identity(ctx context.Context) (identity, error) {
	u := l.user
	token, cert, key := u.Token, u.Certificate, u.Key
	for _, f := range []struct {
		path, what string
		into       *[]byte
	}{{u.CertificateFile, "client-certificate", &cert}, {u.KeyFile, "client-key", &key}} {
		if f.path == "" || len(*f.into) > 0 {
			continue
		}
		var err error
		if *f.into, err = readFile(l.in(f.path), maxFile); err != nil {
			return identity{}, unusable(l.file, "its "+f.what+" "+f.path+" can't be read: "+cause(err), "see whether the file is there")
		}
	}
	if token == "" && u.TokenFile != "" {
		text, err := readFile(l.in(u.TokenFile), maxFile)
		if err != nil {
			return identity{}, unusable(l.file, "its tokenFile "+u.TokenFile+" can't be read: "+cause(err), "see whether the file is there")
		}
		token = string(text)
	}
	if u.Exec != nil && token == "" && len(cert) == 0 { // as in kubectl, what is given is stronger
		got, err := u.Exec.run(ctx, l)
		if err != nil {
			return identity{}, unusable(l.file, "its exec plugin "+filepath.Base(u.Exec.Command)+" "+err.Error(), "run it by hand, and see whether 'kubectl get machines -A' works")
		}
		token, cert, key = got.Token, []byte(got.Certificate), []byte(got.Key)
	}
	return l.checked(token, cert, key)
}

// checked returns an identity of those parts.
func (l *login) checked(token string, cert, key []byte) (identity, error) {
	token = strings.TrimSpace(token)
	l.hide.Add(backup.NewSensitive(token), backup.NewSensitive(string(key)))
	id := identity{token: backup.NewSensitive(token)}
	switch {
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return id, unusable(l.file, "the token of its user is not a bearer token", "log in again")
	case len(cert) == 0 && len(key) == 0:
		return id, nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil { // the error might quote
		return id, unusable(l.file, "the client certificate and key of its user are incomplete or do not match", "log in again")
	}
	if end := pair.Leaf.NotAfter; time.Now().After(end) {
		return id, unusable(l.file, "the client certificate of its user expired at "+end.UTC().Format(time.RFC3339), "give a kubeconfig with a valid one")
	}
	id.cert = &pair
	return id, nil
}

// credential is what a plugin answers, in status.
type credential struct {
	Token       string `json:"token"`
	Certificate string `json:"clientCertificateData"`
	Key         string `json:"clientKeyData"`
}

// run runs the plugin: within a minute, with nothing to read and nobody to ask. What it writes
// is a secret, and what it says to people may be one, so neither is shown.
func (p *plugin) run(ctx context.Context, l *login) (*credential, error) {
	ctx, cancel := context.WithTimeout(ctx, pluginTime)
	defer cancel()
	command := p.Command
	if strings.ContainsRune(command, filepath.Separator) {
		command = l.in(command)
	}
	cmd := exec.CommandContext(ctx, command, p.Args...)
	cmd.Env = os.Environ()
	for _, e := range p.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	cmd.Env = append(cmd.Env, "KUBERNETES_EXEC_INFO="+p.info(l.cluster))
	out := &most{left: maxPlugin}
	cmd.Stdout, cmd.WaitDelay = out, time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case out.left < 0:
		return nil, fmt.Errorf("wrote more than %d bytes", maxPlugin)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("did not end within %s", pluginTime)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, errors.New("left a program behind that holds its output")
	case errors.As(err, &exit):
		return nil, fmt.Errorf("failed with %s", exit.ProcessState)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return nil, errors.New("is not installed, or not in PATH")
	case err != nil:
		return nil, errors.New("could not be run: " + l.hide.Brief(cause(err)))
	}
	var answer struct {
		APIVersion string      `json:"apiVersion"`
		Kind       string      `json:"kind"`
		Status     *credential `json:"status"`
	}
	if json.Unmarshal(out.kept.Bytes(), &answer) != nil || answer.Kind != "ExecCredential" || answer.Status == nil {
		return nil, errors.New("wrote something that is no ExecCredential")
	}
	if answer.APIVersion != p.APIVersion {
		return nil, errors.New("answered in another API version than that of the kubeconfig")
	}
	if answer.Status.Token == "" && answer.Status.Certificate == "" {
		return nil, errors.New("gave neither a token nor a certificate")
	}
	return answer.Status, nil
}

// info returns what a plugin is given.
func (p *plugin) info(at *clusterEntry) string {
	spec := map[string]any{"interactive": false}
	if p.ProvideClusterInfo {
		spec["cluster"] = map[string]any{
			"server": at.Server, "tls-server-name": at.ServerName, "insecure-skip-tls-verify": at.Insecure,
			"certificate-authority-data": at.CA, "proxy-url": at.Proxy,
		}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": p.APIVersion, "kind": "ExecCredential", "spec": spec})
	if err != nil {
		panic(err) // of strings
	}
	return string(text)
}

// most keeps so many bytes, and refuses more.
type most struct {
	kept bytes.Buffer
	left int
}

func (m *most) Write(p []byte) (int, error) {
	if m.left -= len(p); m.left < 0 {
		return 0, io.ErrShortWrite
	}
	return m.kept.Write(p)
}
