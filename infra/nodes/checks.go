package nodes

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/report/code"
)

var (
	ruleKubeconfig = check.Rule{
		Code: "KubeconfigAbsent", Severity: code.CheckError, Mended: true,
		Happens: "The backup lacks the kubeconfig of a cluster.",
		Why:     "Cluster API reaches the cluster with it and no other way: no Node is seen, no machine becomes Running.",
		Do:      "put it in place before the cluster is unpaused, from another backup or from the cluster's own control plane machines (/etc/kubernetes/admin.conf)",
		LiveDo:  "put it in place before the cluster is unpaused, from an older backup or from the cluster's own control plane machines (/etc/kubernetes/admin.conf)",
	}
	ruleKubeconfigMade = check.Rule{
		Code: "KubeconfigAbsent", Severity: code.CheckWarning,
		Happens: "The backup lacks the kubeconfig of a cluster.",
		Why:     "KubeadmControlPlane creates a new one, if the cluster's certificate authority is restored; until then neither a person nor drift-detector reaches the cluster.",
		Do:      "see that Secret <cluster>-ca is in the backup; give a kubeconfig to drift-detector detect with --credentials",
		LiveDo:  "see that Secret <cluster>-ca is in the management cluster; give a kubeconfig to drift-detector detect with --credentials",
	}
	ruleUnreadable = check.Rule{
		Code: "KubeconfigUnusable", Severity: code.CheckWarning,
		Happens: "The kubeconfig of a cluster cannot be used.",
		Why:     "Cluster API may not be able to use it either; drift-detector reads no Nodes of the cluster.",
		Do:      "compare it with that of another cluster; give a kubeconfig to drift-detector detect with --credentials",
	}
	ruleExpired = check.Rule{
		Code: "KubeconfigExpired", Severity: code.CheckError, Mended: true,
		Happens: "The client certificate in the kubeconfig of a cluster has expired.",
		Why:     "The cluster refuses its client certificate: Cluster API does not reach the cluster after the restore.",
		Do:      "make a new kubeconfig from the cluster's certificate authority and put it into the Secret before the cluster is unpaused",
	}
	ruleExpiredMade = check.Rule{
		Code: "KubeconfigExpired", Severity: code.CheckWarning,
		Happens: "The client certificate in the kubeconfig of a cluster has expired.",
		Why:     "The cluster refuses its client certificate until KubeadmControlPlane has created a new one, which takes the cluster's certificate authority and the Cluster not to be paused; drift-detector reads no Nodes of the cluster.",
		Do:      "see that Secret <cluster>-ca is in the backup; give a kubeconfig to drift-detector detect with --credentials",
		LiveDo:  "see that Secret <cluster>-ca is in the management cluster; give a kubeconfig to drift-detector detect with --credentials",
	}
	ruleExpiring = check.Rule{
		Code: "KubeconfigExpiring", Severity: code.CheckWarning,
		Happens: "The client certificate in the kubeconfig of a cluster expires soon.",
		Why:     "No controller renews it while the management cluster is down.",
		Do:      "restore before that day, or make a new kubeconfig while the old one still works",
	}
)

// soon is when a certificate is about to expire.
const soon = 30 * 24 * time.Hour

// Check tells which kubeconfigs the backup lacks, and which are of no use any
// more. A kubeconfig that is refused for what it would do is none of them:
// Cluster API uses it all the same.
func (p *provider) Check(s *backup.Snapshot, secrets *backup.Secrets, now time.Time) []check.Finding {
	made := map[string]bool{} // kinds of control planes whose controllers make kubeconfigs where there are none
	for _, other := range p.others.Controllers() {
		made[other.OwnsKubeconfig] = true
	}
	var found []check.Finding
	for i := range s.Clusters {
		c := &s.Clusters[i]
		if kind := c.ControlPlane.Kind; kind != "" && made[kind] {
			continue // what becomes of one that is restored is for the provider to say
		}
		what := fmt.Sprintf("Secret %s/%s-kubeconfig", c.Namespace, c.Meta.Name)
		absent, expired := ruleKubeconfig, ruleExpired
		if c.ControlPlane.Kind == "KubeadmControlPlane" { // Cluster API controlplane/kubeadm reconcileKubeconfig v1.14.0
			absent, expired = ruleKubeconfigMade, ruleExpiredMade
		}
		secret, known := secrets.Named(c.Backup, c.Namespace, c.Meta.Name+code.KubeconfigSecret), (*backup.Digest)(nil)
		if secret != nil {
			known = secret.Digest(secretKey)
		}
		switch {
		case known != nil:
		case c.Endpoint == "": // there was nothing to reach yet
			continue
		case secret != nil: // nobody creates one in place of a Secret that exists
			found = append(found, ruleKubeconfig.On(c.Backup, what, "in %s, and its key %s is empty or absent", s.Subject().The(), secretKey).Of(c.ID()))
			continue
		default:
			found = append(found, absent.On(c.Backup, what, "not in %s", s.Subject().The()).At("secrets", c.Namespace).Of(c.ID()))
			continue
		}
		if known.Problem != nil {
			found = append(found, ruleUnreadable.On(c.Backup, what, "%v", known.Problem).Of(c.ID()))
			continue
		}
		end := known.Ends
		day := end.UTC().Format(time.DateOnly)
		switch {
		case end.IsZero():
		case now.After(end):
			found = append(found, expired.On(c.Backup, what, "its client certificate expired on %s", day).Of(c.ID()))
		case now.Add(soon).After(end):
			found = append(found, ruleExpiring.On(c.Backup, what, "its client certificate expires on %s", day).Of(c.ID()))
		}
	}
	return found
}

// digest says why a kubeconfig can't be read, when its client certificate ends, and what
// becomes of it.
func digest(text backup.Sensitive) backup.Digest {
	config := parse(text, maxKubeconfig)
	d := backup.Digest{Problem: config.err}
	if config.err == nil {
		d.Ends = expiry(config.user.ClientCertificateData)
		d.Pair = backup.CertificateDigest(backup.NewSensitive(string(config.cluster.CertificateAuthorityData))).Pair
	}
	if !config.long {
		d.Kubeconfig = config.whole(d.Ends)
	}
	return d
}

// whole reads what util/kubeconfig of Cluster API v1.13.6 does: NeedsClientCertRotation looks at
// all users, RegenerateSecret takes the server of the cluster that is named as the Cluster.
func (k *kubeconfig) whole(ends time.Time) *backup.KubeconfigDigest {
	d := &backup.KubeconfigDigest{Refused: k.refused(), Unread: k.all == nil && k.err != nil}
	if k.cluster != nil {
		d.Other = k.cluster.ProxyURL != "" || k.cluster.TLSServerName != ""
	}
	if k.all == nil {
		if k.err == nil {
			d.First, d.Certless, d.Here = ends, ends.IsZero(), []string{k.name}
		}
		return d
	}
	for _, user := range k.all.AuthInfos {
		end := expiry(user.ClientCertificateData)
		d.Certless = d.Certless || end.IsZero()
		if d.First.IsZero() || end.Before(d.First) {
			d.First = end
		}
	}
	for name, c := range k.all.Clusters {
		if k.cluster != nil && c.Server == k.cluster.Server {
			d.Here = append(d.Here, name)
		} else {
			d.Elsewhere = append(d.Elsewhere, name)
		}
	}
	return d
}

// refused says why client-go makes no client of a kubeconfig (validateClusterInfo and
// validateAuthInfo in tools/clientcmd/validation.go, TLSConfigFor in transport/transport.go v0.36).
func (k *kubeconfig) refused() string {
	switch {
	case k.err != nil:
		return k.err.Error()
	case k.cluster.InsecureSkipTLSVerify && len(k.cluster.CertificateAuthorityData)+len(k.cluster.CertificateAuthority) > 0:
		return "it has an authority, and insecure-skip-tls-verify beside it"
	case (len(k.user.ClientCertificateData)+len(k.user.ClientCertificate) > 0) != (len(k.user.ClientKeyData)+len(k.user.ClientKey) > 0):
		return "it has a client certificate without its key, or a key alone"
	}
	return ""
}

// expiry returns when a PEM certificate ends; zero when there is none.
func expiry(text []byte) time.Time {
	block, _ := pem.Decode(text)
	if block == nil {
		return time.Time{}
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}
	}
	return cert.NotAfter
}
