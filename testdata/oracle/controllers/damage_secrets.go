package oracle

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	mathrand "math/rand"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
)

// authorities are the ends of the names of Secrets with a pair of keys.
var authorities = []string{"-ca", "-etcd", "-proxy", "-sa"}

// spoiled authorities, kubeconfigs and labels: what Secrets of a cluster may have wrong.
var secretDamage = map[string]mutation{
	"authority":  func(w *World, r *mathrand.Rand) string { return w.spoilAuthority(r, pick(r, authorities)) },
	"kubeconfig": (*World).spoilKubeconfig,
	"made": func(w *World, r *mathrand.Rand) string {
		w.without(w.get("Secret", w.Cluster.Name+"-kubeconfig"))
		return "no kubeconfig, " + w.spoilAuthority(r, "-ca")
	},
	"configLabel": on("KubeadmConfig", func(o *obj, _ *World, _ *mathrand.Rand) string {
		if !unlabel(o, clusterv1.MachineControlPlaneLabel) {
			return ""
		}
		return "without label control-plane"
	}),
}

func (w *World) spoilAuthority(r *mathrand.Rand, suffix string) string {
	s, other := w.get("Secret", w.Cluster.Name+suffix), w.get("Secret", w.Cluster.Name+pick(r, authorities[:3]))
	if s == nil || other == nil {
		return ""
	}
	how := pick(r, []string{"label", "noCertificate", "noKey", "emptyKey", "badKey", "badCertificate", "otherKey", "otherPair"})
	switch how {
	case "label":
		unlabel(s, clusterv1.ClusterNameLabel)
	case "noCertificate":
		unset(s, "data", "tls.crt")
	case "noKey":
		unset(s, "data", "tls.key")
	case "emptyKey":
		setSecretValue(s, "tls.key", nil)
	case "badKey":
		setSecretValue(s, "tls.key", []byte("hunter2"))
	case "badCertificate":
		setSecretValue(s, "tls.crt", []byte("hunter2"))
	case "otherKey":
		setSecretValue(s, "tls.key", secretValue(other, "tls.key"))
	case "otherPair":
		setSecretValue(s, "tls.crt", secretValue(other, "tls.crt"))
		setSecretValue(s, "tls.key", secretValue(other, "tls.key"))
	}
	return s.GetName() + " " + how + " " + other.GetName()
}

// spoilKubeconfig spoils up to four things at once: when it ends, what is in it, whose it is,
// and the authority that is to sign the next one.
func (w *World) spoilKubeconfig(r *mathrand.Rand) string {
	s := w.get("Secret", w.Cluster.Name+"-kubeconfig")
	if s == nil {
		return ""
	}
	c, err := clientcmd.Load(secretValue(s, "value"))
	if err != nil {
		panic(err)
	}
	var did []string
	if days := pick(r, []int{0, 0, 100, 100, -1}); days != 0 {
		w.endIn(c, days)
		did = append(did, "ends soon, or has")
	}
	how := pick(r, []string{"", "", "name", "token", "nobody", "noContext", "badContext", "noUser", "otherAuthority", "insecure"})
	w.spoilText(c, how)
	text, err := clientcmd.Write(*c)
	if err != nil {
		panic(err)
	}
	setSecretValue(s, "value", text)
	also := pick(r, []string{"", "", "", "", "text", "noValue", "label"})
	switch also {
	case "text":
		setSecretValue(s, "value", []byte("!k"))
	case "noValue":
		unset(s, "data", "value")
	case "label":
		unlabel(s, clusterv1.ClusterNameLabel)
	}
	did = append(did, also)
	if r.Intn(4) == 0 {
		set(s, "Opaque", "type")
		did = append(did, "Opaque")
	}
	if r.Intn(3) == 0 {
		did = append(did, w.spoilAuthority(r, "-ca"))
	}
	return strings.Join(append(did, how), " ")
}

func (w *World) spoilText(c *clientcmdapi.Config, how string) {
	at := c.Contexts[c.CurrentContext]
	switch how {
	case "name":
		c.Clusters["other"] = c.Clusters[at.Cluster]
		delete(c.Clusters, at.Cluster)
		at.Cluster = "other"
	case "token":
		c.AuthInfos["second"] = &clientcmdapi.AuthInfo{Token: "hunter2"}
	case "nobody":
		c.AuthInfos["second"] = &clientcmdapi.AuthInfo{}
	case "noContext":
		c.CurrentContext = ""
	case "badContext":
		c.CurrentContext = "other"
	case "noUser":
		delete(c.AuthInfos, at.AuthInfo)
	case "otherAuthority":
		c.Clusters[at.Cluster].CertificateAuthorityData = secretValue(w.get("Secret", w.Cluster.Name+"-proxy"), "tls.crt")
	case "insecure":
		c.Clusters[at.Cluster].InsecureSkipTLSVerify = true
	}
}

// endIn gives a kubeconfig a client certificate of its cluster that ends in so many days.
func (w *World) endIn(c *clientcmdapi.Config, days int) {
	ca := w.get("Secret", w.Cluster.Name+"-ca")
	cert, err := certs.DecodeCertPEM(secretValue(ca, "tls.crt"))
	if err != nil {
		panic(err)
	}
	signer, err := certs.DecodePrivateKeyPEM(secretValue(ca, "tls.key"))
	if err != nil {
		panic(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}},
		NotBefore: time.Now().AddDate(0, -9, 0), NotAfter: time.Now().AddDate(0, 0, days), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, cert, key.Public(), signer)
	if err != nil {
		panic(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	text, err := certs.EncodePrivateKeyPEMFromSigner(key)
	if err != nil {
		panic(err)
	}
	u := c.AuthInfos[c.Contexts[c.CurrentContext].AuthInfo]
	u.ClientCertificateData, u.ClientKeyData = certs.EncodeCertPEM(signed), text
}
