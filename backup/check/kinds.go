package check

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/backup/owners"
)

const (
	coreGroup           = "cluster.x-k8s.io"
	controlPlaneGroup   = "controlplane." + coreGroup
	bootstrapGroup      = "bootstrap." + coreGroup
	infrastructureGroup = "infrastructure." + coreGroup

	secretResource = "secrets"
)

// clusterFields are what the package reads of a Cluster beside the core's fields.
type clusterFields struct {
	Class, ClassNamespace string // ClusterClass of a managed topology
}

var clusterKind = backup.NewKind("clusters."+coreGroup,
	backup.Text(func(c *clusterFields) *string { return &c.Class }, "spec.topology.classRef.name", "spec.topology.class"),
	backup.Text(func(c *clusterFields) *string { return &c.ClassNamespace }, "spec.topology.classRef.namespace", "spec.topology.classNamespace"),
)

var classKind = backup.NewKind[struct{}]("clusterclasses." + coreGroup)

type healthCheckFields struct {
	Cluster  string
	Selector string // JSON of a label selector
}

var healthCheckKind = backup.NewKind("machinehealthchecks."+coreGroup,
	backup.Text(func(h *healthCheckFields) *string { return &h.Cluster }, "spec.clusterName"),
	backup.Raw(func(h *healthCheckFields) *string { return &h.Selector }, "spec.selector"),
)

// deploymentKind is k0rdent's: it makes a Cluster of the same name through Helm
// (k0rdent/kcm internal/controller/clusterdeployment_controller.go v1.11.4).
var deploymentKind = backup.NewKind[struct{}]("clusterdeployments.k0rdent.mirantis.com")

// caParts are the Secrets with the certificate authorities of a cluster that
// KubeadmControlPlane keeps, by the ends of their names (Cluster API
// util/secret/consts.go v1.14.0), and certificateKey is their data key.
var caParts = []string{"ca", "etcd", "proxy", "sa"}

const (
	certificateKey = "tls.crt"
	privateKey     = "tls.key" // that it is there
)

// Want returns what the package asks of a backup. Of certificate authorities it is only
// kept when the certificate ends; of bootstrap data nothing but that it
// is there.
func Want() backup.Want {
	w := backup.Want{Kinds: []backup.AnyKind{clusterKind, classKind, healthCheckKind, deploymentKind, hostKind, inventoryKind, controllerKind}}
	w.Kinds = append(w.Kinds, Kinds(versionedKinds)...)
	for _, part := range owners.SecretNames() {
		if !slices.Contains(caParts, part) {
			w.Secrets = append(w.Secrets, backup.SecretRule{Name: "*-" + part}) // that it is there
		}
	}
	for _, part := range caParts {
		// The certificate is optional: other Secrets have such names, too.
		w.Secrets = append(w.Secrets, backup.SecretRule{Name: "*-" + part, Optional: []string{certificateKey, privateKey}, Digest: backup.CertificateDigest})
	}
	// Bootstrap data and all else that Cluster API itself makes is of this type
	// (Cluster API api/core/v1beta2/common_types.go v1.14.0).
	w.Secrets = append(w.Secrets, backup.SecretRule{Type: "cluster.x-k8s.io/secret"})
	return w
}
