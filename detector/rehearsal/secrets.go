package rehearsal

import (
	"cmp"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// Secrets is what a rehearsal needs to know of the backup's Secrets, which are dropped
// before the infrastructure is compared. It holds no secret.
type Secrets struct {
	// Missing are the bootstrap Secrets that Machines name and the backup lacks, as
	// namespace/name, by the uid of the Machine.
	Missing map[string]string
	// Kubeconfigs are the kubeconfig Secrets, of the clusters that have one.
	Kubeconfigs map[backup.ClusterID]Kubeconfig
	// Pools are the bootstrap Secrets that MachinePools name and the backup holds.
	Pools map[infra.SecretAt]bool
	// Lacking is a Secret that a control plane needs for an etcd outside of its cluster, by
	// name, which the backup lacks, or which holds no certificate, or no key of it.
	Lacking map[backup.ClusterID]string
	// Keyless are the clusters whose etcd is their own, and whose Secret with the authority of
	// etcd has a certificate and no key of it.
	Keyless map[backup.ClusterID]bool
	// Unsigned are the clusters without the private key of an authority with which the bootstrap
	// data of new machines is made, and the first such Secret.
	Unsigned map[backup.ClusterID]unsigned
	// Unmade are the clusters without a kubeconfig whose authority KubeadmControlPlane makes none
	// with, and what that lacks.
	Unmade map[backup.ClusterID]string
	// Releases are the releases of Helm of which there is a Secret.
	Releases map[infra.SecretAt]bool
}

// unsigned is a Secret of an authority that has no private key: of all new machines, and of
// those of the control plane.
type unsigned struct{ machines, plane string }

// Kubeconfig is what is known of a kubeconfig Secret.
type Kubeconfig struct {
	Labelled bool // it has the label cluster.x-k8s.io/cluster-name with the cluster's name
	Empty    bool // it holds no kubeconfig
	Own      bool // it is of the type of Secrets that Cluster API makes, so that its control plane renews it
	// Digest is what is in it; nil where that was not read.
	*backup.KubeconfigDigest
	// Foreign says that the authority in the kubeconfig is not that of the cluster.
	Foreign bool
	// Keyless says that the authority of the cluster has a certificate and no key of it.
	Keyless bool
}

// ownType marks the Secrets of the type that Cluster API gives its own (ClusterSecretType in
// api/core/v1beta2/common_types.go v1.14.0).
const ownType = "cluster.x-k8s.io/secret"

func readKubeconfig(of, authority *backup.Secret, cluster string) Kubeconfig {
	k := Kubeconfig{Labelled: of.ClusterName == cluster, Empty: !of.Holds("value"), Own: of.Holds(ownType)}
	k.Keyless = cannotSign(authority)
	d := of.Digest("value")
	if d == nil {
		return k
	}
	k.KubeconfigDigest = d.Kubeconfig
	if authority != nil {
		own := authority.Digest("tls.crt")
		k.Foreign = own != nil && own.Pair != "" && d.Pair != "" && own.Pair != d.Pair
	}
	return k
}

// renewed is how long before its end the client certificate of a kubeconfig is made again
// (ClientCertificateRenewalDuration in util/certs/consts.go v1.13.6).
const renewed = 365 * 24 * time.Hour / 2

// due reports whether a kubeconfig is created again at once, whatever is in it.
func (k *Kubeconfig) due(now time.Time) bool {
	return k.Own && k.KubeconfigDigest != nil && !k.Unread && !k.Certless && k.First.Before(now.Add(renewed))
}

// cannotSign reports whether an authority that is there has no key of its certificate, so that
// nothing is signed with it (getEtcdCAKeyPair and generateClientCert in
// controlplane/kubeadm/internal/cluster.go, generateKubeconfig in util/kubeconfig v1.13.6).
func cannotSign(authority *backup.Secret) bool {
	if authority == nil || !authority.Holds("tls.crt") {
		return false
	}
	certificate, key := authority.Digest("tls.crt"), authority.Digest("tls.key")
	return certificate == nil || key == nil || certificate.Ends.IsZero() || !key.Ends.IsZero() || key.Pair == "" || certificate.Pair != key.Pair
}

// unmade says why KubeadmControlPlane makes no kubeconfig of a cluster that has none. Where there
// is no authority either, it creates that first, and a check says so.
func unmade(authority *backup.Secret, cluster string) string {
	switch {
	case authority == nil:
		return ""
	case authority.ClusterName != cluster:
		return "lacks label cluster.x-k8s.io/cluster-name=" + cluster
	case cannotSign(authority):
		return "has no key of its certificate"
	}
	return ""
}

// authorities are the ends of the names of the Secrets that a control plane of kubeadm shares.
var authorities = []string{code.AuthoritySecret, code.EtcdSecret, code.ProxySecret, code.AccountSecret}

// unsignedOf returns the authorities of a KubeadmControlPlane that are there and have no private
// key. Workers ask for the cluster's alone (NewCertificatesForWorker, NewControlPlaneJoinCerts
// and EnsureAllExist in util/secret/certificates.go v1.5.8 to v1.13.6).
func unsignedOf(secrets *backup.Secrets, p *backup.ControlPlane) (of unsigned) {
	for _, suffix := range authorities {
		s := secrets.Named(p.Backup, p.Namespace, p.Cluster.Name+suffix)
		if s == nil || s.Digest("tls.key") != nil || suffix == code.EtcdSecret && p.ExternalEtcd {
			continue
		}
		of.plane = cmp.Or(of.plane, s.Name)
		if suffix == code.AuthoritySecret {
			of.machines = s.Name
		}
	}
	return of
}

// unsigned says why no bootstrap data is created for a new machine; empty where it is.
func (c *cluster) unsigned(ofPlane bool) string {
	of := c.world.in.Secrets.Unsigned[c.ID]
	secret := of.machines
	if ofPlane {
		secret = of.plane
	}
	if secret == "" {
		return ""
	}
	return "Secret " + secret + " has no private key, without which no bootstrap data is created"
}

// ReadSecrets looks at the Secrets of a Snapshot that was loaded with [Want].
func ReadSecrets(s *backup.Snapshot, secrets *backup.Secrets) Secrets {
	out := Secrets{Missing: map[string]string{}, Kubeconfigs: map[backup.ClusterID]Kubeconfig{}, Pools: map[infra.SecretAt]bool{}, Lacking: map[backup.ClusterID]string{}, Keyless: map[backup.ClusterID]bool{}, Unmade: map[backup.ClusterID]string{}, Unsigned: map[backup.ClusterID]unsigned{}, Releases: map[infra.SecretAt]bool{}}
	for i := range s.Machines {
		m := &s.Machines[i]
		// Of data that somebody made by hand it is not known what its Secret looks like.
		if m.BootstrapSecret != "" && !m.Bootstrap.IsZero() && secrets.Named(m.Backup, m.Namespace, m.BootstrapSecret) == nil {
			out.Missing[m.UID] = m.Namespace + "/" + m.BootstrapSecret
		}
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		if g.Kind == "MachinePool" && g.BootstrapSecret != "" && secrets.Named(g.Backup, g.Namespace, g.BootstrapSecret) != nil {
			out.Pools[infra.SecretAt{Backup: g.Backup, Namespace: g.Namespace, Name: g.BootstrapSecret}] = true
		}
	}
	for i := range s.ControlPlanes {
		if p := &s.ControlPlanes[i]; p.Kind == kubeadm && !p.ExternalEtcd {
			etcd := secrets.Named(p.Backup, p.Namespace, p.Cluster.Name+code.EtcdSecret)
			out.Keyless[p.Cluster] = cannotSign(etcd)
		}
		if p := &s.ControlPlanes[i]; p.Kind == kubeadm {
			out.Unsigned[p.Cluster] = unsignedOf(secrets, p)
		}
		if p := &s.ControlPlanes[i]; p.Kind == kubeadm && p.ExternalEtcd {
			// The key of its authority is not asked for (getAPIServerEtcdClientCert).
			for _, suffix := range []string{code.EtcdClientSecret, code.EtcdSecret} {
				if s := secrets.Named(p.Backup, p.Namespace, p.Cluster.Name+suffix); s == nil || !s.Holds("tls.crt") || suffix == code.EtcdClientSecret && cannotSign(s) {
					out.Lacking[p.Cluster] = p.Cluster.Name + suffix
				}
			}
		}
	}
	for one := range secrets.All() {
		if name, of := strings.CutPrefix(one.Name, "sh.helm.release.v1."); of {
			out.Releases[infra.SecretAt{Backup: one.Backup, Namespace: one.Namespace, Name: name[:max(0, strings.LastIndex(name, ".v"))]}] = true
		}
	}
	for i := range s.Clusters {
		id := s.Clusters[i].ID()
		authority := secrets.Named(id.Backup, id.Namespace, id.Name+code.AuthoritySecret)
		if k := secrets.Named(id.Backup, id.Namespace, id.Name+code.KubeconfigSecret); k != nil {
			out.Kubeconfigs[id] = readKubeconfig(k, authority, id.Name)
		} else if why := unmade(authority, id.Name); why != "" {
			out.Unmade[id] = why
		}
	}
	return out
}
