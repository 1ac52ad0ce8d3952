package nodes

import (
	"encoding/base64"
	"slices"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// written reads a kubeconfig in the form in which Cluster API writes it, and makes of it
// what clientcmd.Load does: YAML takes a hundred times as long, and every cluster has one.
// It returns false for any other text.
func written(text string) (k kubeconfig, ok bool) {
	var nothing, ca, server, cluster, member, account, context, current, user, certificate, key string
	for _, line := range []struct {
		before string
		fits   func(string) bool
		value  *string
	}{
		{"apiVersion: v1", isEmpty, &nothing},
		{"clusters:", isEmpty, &nothing},
		{"- cluster:", isEmpty, &nothing},
		{"    certificate-authority-data: ", isPEM, &ca},
		{"    server: ", isServer, &server},
		{"  name: ", isName, &cluster},
		{"contexts:", isEmpty, &nothing},
		{"- context:", isEmpty, &nothing},
		{"    cluster: ", isName, &member},
		{"    user: ", isName, &account},
		{"  name: ", isName, &context},
		{"current-context: ", isName, &current},
		{"kind: Config", isEmpty, &nothing},
		{"users:", isEmpty, &nothing},
		{"- name: ", isName, &user},
		{"  user:", isEmpty, &nothing},
		{"    client-certificate-data: ", isPEM, &certificate},
		{"    client-key-data: ", isPEM, &key},
	} {
		if line.before == "users:" {
			text = strings.TrimPrefix(text, "preferences: {}\n") // by older versions
		}
		var now string
		if now, text, ok = strings.Cut(text, "\n"); !ok {
			return k, false
		}
		if *line.value, ok = strings.CutPrefix(now, line.before); !ok || !line.fits(*line.value) {
			return k, false
		}
	}
	if text != "" || member != cluster || account != user || current != context {
		return k, false
	}
	k.name, k.cluster, k.user = cluster, &clientcmdapi.Cluster{Server: server}, &clientcmdapi.AuthInfo{}
	for _, d := range []struct {
		text string
		into *[]byte
	}{{ca, &k.cluster.CertificateAuthorityData}, {certificate, &k.user.ClientCertificateData}, {key, &k.user.ClientKeyData}} {
		var err error
		if *d.into, err = base64.StdEncoding.DecodeString(d.text); err != nil {
			return k, false
		}
	}
	return k, true
}

func isEmpty(value string) bool { return value == "" }

// isPEM reports whether a value begins as PEM does in base64, which YAML takes for text.
// The decoder of base64 lets a carriage return pass, which YAML does not.
func isPEM(value string) bool {
	return strings.HasPrefix(value, "LS0t") && strings.IndexByte(value, '\r') < 0
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// wordsYAML are names that YAML takes for something else than text.
var wordsYAML = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

// isName reports whether YAML takes a value for text as it is: it begins with a letter and
// has no other sign than those of names in Cluster API.
func isName(value string) bool {
	return value != "" && strings.Contains(letters, value[:1]) && strings.Trim(value, letters+"0123456789-.@") == "" &&
		!slices.Contains(wordsYAML, strings.ToLower(value))
}

// isServer reports whether a value is a URL without user info and path. YAML takes a colon
// at its end for more than text.
func isServer(value string) bool {
	host, https := strings.CutPrefix(value, "https://")
	return https && strings.Trim(host, letters+"0123456789-.:") == "" && !strings.HasSuffix(host, ":")
}
