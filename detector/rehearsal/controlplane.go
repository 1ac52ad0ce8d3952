package rehearsal

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// planeRows are those of KubeadmControlPlane (controlplane/kubeadm/internal/controllers).
var planeRows = []row[*cluster]{
	{walk.Row{
		ID: "core.K1", Of: kubeadm,
		Asks:   "the Cluster that refers to it, which makes itself its owner again",
		None:   walk.OwnerHalts.Says("it waits for an owner, and does nothing for its Machines and their etcd"),
		Source: "Reconcile, GetOwnerCluster: controller.go v1.5.8 to v1.14.0; reconcileControlPlane: internal/controllers/cluster/cluster_controller_phases.go",
	}, referredTo},
	{walk.Row{
		ID: "core.K2", Of: "KubeadmControlPlane and TalosControlPlane",
		Asks:    "its Machines, by label cluster.x-k8s.io/control-plane alone",
		Differs: walk.RemovesMember.Says("it " + unseenMachine),
		Source:  "initControlPlaneScope, GetControlPlaneMachinesForCluster: controller.go v1.5.8 to v1.14.0; auditEtcd: controllers/etcd.go v0.5.12 of cluster-api-control-plane-provider-talos",
	}, labelledMachines},
	{walk.Row{
		ID: "core.K3", Of: kubeadm,
		Asks:    "a KubeadmConfig as the bootstrap object of each Machine that it takes over, with label cluster.x-k8s.io/control-plane, since it reads them through a cache of those",
		None:    walk.OwnerHalts.Says("it takes over none of its Machines: no rollout, no scaling, no remediation, no audit of etcd"),
		Differs: walk.OwnerHalts.Says("it does not see the KubeadmConfig and takes over none of its Machines: no rollout, no scaling, no remediation, no audit of etcd"),
		Source:  "adoptMachines: controller.go v1.5.8 to v1.14.0; the cache: controlplane/kubeadm/internal/setup/setup.go v1.13.6, controlplane/kubeadm/setup/setup.go v1.14.2",
	}, bootstrapKinds},
	{walk.Row{
		ID: "core.K4", Of: kubeadm,
		Asks:    "the version of each Machine that it takes over, which must be within one minor of its own",
		Differs: walk.OwnerHalts.Says("it takes over none of its Machines and says so in an event alone: no rollout, no scaling, no remediation, no audit of etcd"),
		Source:  "adoptMachines, IsSupportedVersionSkew: controller.go v1.5.8 to v1.14.0",
	}, adoptedVersions},
	{walk.Row{
		ID: "core.K8", Of: kubeadm,
		Asks:    "the certificates of an etcd outside of the cluster, which it does not create itself, and the key of the authority of one inside",
		None:    walk.OwnerHalts.Says("it fails before anything else, and cannot create them"),
		Differs: walk.Halts.Says("it takes etcd for one outside of the cluster, whose client certificate it lacks, and never calls the control plane initialised: it may replace machines that run without a look at the others"),
		Source:  "reconcileClusterCertificates: controller.go; Lookup: util/secret/certificates.go v1.5.8 to v1.14.0; getEtcdCAKeyPair, GetWorkloadCluster: controlplane/kubeadm/internal/cluster.go v1.13.6",
	}, externalCertificates},
	{walk.Row{
		ID: "core.K9", Of: "KubeadmControlPlane and K0sControlPlane",
		Asks:    "the kubeconfig Secret, through a cache of Secrets with label cluster.x-k8s.io/cluster-name, and key value in it; where the Secret is of its own type client certificates of all its users that last for half a year, or the key of the authority that it trusts and the server of the cluster of its name in it to create another, as where there is none",
		None:    walk.OwnerHalts.Says("there is no kubeconfig, it creates none in place of a Secret that exists, nor while it is paused, and connects to no API server"),
		Differs: walk.OwnerHalts.Says("it fails on the Secret, or writes one that the API server refuses, and goes no further: no rollout, no scaling, no remediation, no audit of etcd"),
		Source:  "reconcileKubeconfig: controller.go and helpers.go; NeedsClientCertRotation, RegenerateSecret: util/kubeconfig/kubeconfig.go v1.5.8 to v1.14.0; the cache: setup.go v1.13.4; reconcileKubeconfig: internal/controller/controlplane, the cache: cmd/main.go v2.1.0 of k0smotron",
	}, kubeconfigSeen},
	{walk.Row{
		ID: "core.K23", Of: kubeadm,
		Asks:      "when the certificates of its machines expire, of their API servers where no object says it, before it replaces machines for that",
		Condition: code.CertificatesLast,
		Source:    "reconcileCertificateExpiries, MachinesNeedingRollout: controller.go v1.5.8 to v1.14.0",
	}, certificatesLast},
}

// referredTo asks core.K1. A topology writes the reference itself.
func referredTo(c *cluster) walk.Answer {
	switch {
	case !c.is(kubeadm) || c.own == nil || c.Derived || c.object == nil || c.object.Class != "":
		return notAsked
	case c.own.ControlPlane.IsZero():
		return none(c.title()+" has no spec.controlPlaneRef", "it refers to "+c.planeTitle(), c.planeTitle())
	}
	return passed
}

// labelledMachines asks core.K2. Without members of its own it creates a Machine alone, which
// is counted.
func labelledMachines(c *cluster) walk.Answer {
	if c.plane == nil || !ownerKind(c.plane).Audits || c.plane.ExternalEtcd || c.plane.Paused {
		return notAsked
	}
	found := notAsked
	for i := range c.machines {
		switch m := &c.machines[i]; {
		case !m.ControlPlane || m.verdict == nil || m.verdict.Status == code.Stale:
		case m.unseen():
			return differs(m.title()+" lacks label "+clusterv1.MachineControlPlaneLabel, m.title()+" has it", m.title())
		default:
			found = passed
		}
	}
	return found
}

// unseenMachine is what a control plane does with an unseen one that looks after its etcd.
const unseenMachine = "does not see the Machine: it removes its etcd member and creates a Machine in its place"

// unseen reports whether a control-plane Machine lacks the label by which its control plane
// finds its own, and is taken out of etcd for that.
func (f *machine) unseen() bool {
	return f.Machine != nil && f.Unlabelled && f.cluster.is(f.Owner.Kind) && ownerKind(f.cluster.plane).Audits && !f.cluster.plane.ExternalEtcd && !f.cluster.plane.Paused
}

// bootstrapKinds asks core.K3. That the KubeadmConfig of one is absent is core.K5.
func bootstrapKinds(c *cluster) walk.Answer {
	if !c.is(kubeadm) {
		return notAsked
	}
	found := notAsked
	for i := range c.machines {
		switch m := &c.machines[i]; {
		case !m.ControlPlane || m.Unlabelled:
		case m.Bootstrap.IsZero():
			return none(m.title()+" has no bootstrap object", "it has a KubeadmConfig", m.title())
		case m.Bootstrap.Kind != "KubeadmConfig":
			return none(m.title()+" has a "+m.Bootstrap.Kind, "it has a KubeadmConfig", m.title())
		case m.ConfigUnlabelled:
			config := named("KubeadmConfig", m.Bootstrap.Namespace, m.Bootstrap.Name)
			return differs(config+" lacks label "+clusterv1.MachineControlPlaneLabel, config+" has it", config)
		default:
			found = passed
		}
	}
	return found
}

// externalCertificates asks core.K8. Of those that it makes itself a check says more.
func externalCertificates(c *cluster) walk.Answer {
	if !c.is(kubeadm) {
		return notAsked
	}
	if c.world.in.Secrets.Keyless[c.ID] {
		secret := named("Secret", c.ID.Namespace, c.ID.Name+code.EtcdSecret)
		return differs(secret+" has no key of its certificate", secret+" has tls.crt and tls.key of the authority of etcd, /etc/kubernetes/pki/etcd/ca.crt and ca.key of a control plane machine", secret)
	}
	if !c.plane.ExternalEtcd {
		return notAsked
	}
	if lacking := c.world.in.Secrets.Lacking[c.ID]; lacking != "" {
		secret := named("Secret", c.ID.Namespace, lacking)
		return none(secret+" is not in the backup, or has no certificate or no key of it", secret+" has both: tls.crt and tls.key of apiserver-etcd-client, tls.crt of the authority of etcd", secret)
	}
	return passed
}

// adoptedVersions asks core.K4.
func adoptedVersions(c *cluster) walk.Answer {
	if !c.is(kubeadm) {
		return notAsked
	}
	own, err := version.ParseGeneric(c.plane.Version)
	if err != nil {
		return notAsked
	}
	for i := range c.machines {
		m := &c.machines[i]
		if m.Version == c.plane.Version {
			continue
		}
		v, err := version.ParseGeneric(m.Version)
		if err != nil || !m.ControlPlane {
			continue
		}
		if v.Major() != own.Major() || v.Minor()+1 < own.Minor() || own.Minor()+1 < v.Minor() {
			return differs(fmt.Sprintf("%s has Kubernetes %s, and %s %s", m.title(), m.Version, c.planeTitle(), c.plane.Version),
				"they are at most one minor version apart", m.title())
		}
	}
	return passed
}

// kubeconfigSeen asks core.K9. A Secret that is absent is made again, where the authority allows
// it, and one of another type is its user's.
func kubeconfigSeen(c *cluster) walk.Answer {
	k, there := c.world.in.Secrets.Kubeconfigs[c.ID]
	unmade := c.world.in.Secrets.Unmade[c.ID]
	waits := c.is(kubeadm) && c.plane.Paused && !c.Paused
	if c.plane == nil || !ownerKind(c.plane).Cached || !there && !waits && (unmade == "" || !c.is(kubeadm)) {
		return notAsked
	}
	secret, authority := named("Secret", c.ID.Namespace, c.ID.Name+code.KubeconfigSecret), named("Secret", c.ID.Namespace, c.ID.Name+code.AuthoritySecret)
	switch {
	case !there && waits:
		return none(secret+" is not in the backup, and "+c.planeTitle()+", which would create it, is paused", c.planeTitle()+" is unpaused, or "+secret+" exists", secret)
	case !there:
		return differs(authority+" "+unmade+", and "+secret+" is to be made with it",
			authority+" has label cluster.x-k8s.io/cluster-name="+c.ID.Name+", tls.crt and tls.key, /etc/kubernetes/pki/ca.crt and ca.key of a control plane machine, or "+secret+" exists", secret, authority)
	case !k.Labelled:
		return differs(secret+" lacks label cluster.x-k8s.io/cluster-name="+c.ID.Name, secret+" has it", secret)
	case k.Empty:
		return none(secret+" has no key value", secret+" has it, or is deleted", secret)
	case !c.is(kubeadm):
		return passed
	case !k.Own || k.KubeconfigDigest == nil:
		return passed
	case k.Unread:
		return differs(secret+" holds no kubeconfig", secret+" holds one, or is deleted", secret)
	case k.Certless:
		return differs(secret+" is of type "+ownType+" and has a user without a client certificate", "each user in "+secret+" has one, or it is of another type", secret)
	case k.due(c.world.in.Now):
		return c.renewal(&k, secret, authority)
	case k.Foreign:
		return differs(secret+" trusts another authority than "+authority+", with which the next one and new machines are created", authority+" holds the authority of the cluster", secret, authority)
	}
	return passed
}

// renewal says what is wrong with the kubeconfig that is created in place of one that ends.
func (c *cluster) renewal(k *Kubeconfig, secret, authority string) walk.Answer {
	ends := fmt.Sprintf("a client certificate in %s ends on %s, and ", secret, k.First.UTC().Format(time.DateOnly))
	until := secret + " has one that lasts for half a year, or is of type Opaque"
	switch {
	case !slices.Contains(k.Here, c.ID.Name) && !slices.Contains(k.Elsewhere, c.ID.Name):
		return differs(ends+"has no cluster "+c.ID.Name+" in it, whose server the next one is to name", until, secret)
	case !slices.Contains(k.Here, c.ID.Name):
		return differs(ends+"the next one names the server of cluster "+c.ID.Name+" in it, which is not that of its current context", until, secret)
	case k.Foreign:
		return differs(ends+"it is created again with "+authority+", which is another authority than its own", until, secret, authority)
	case k.Keyless:
		return differs(ends+authority+" has no key to create another", until, secret, authority)
	}
	return passed
}

// restoring is how long a restore may take before the controllers run.
const restoring = 7 * 24 * time.Hour

// certificatesLast asks core.K23. What is due already is in core.K19.
func certificatesLast(c *cluster) walk.Answer {
	if !c.is(kubeadm) || c.plane.Paused || !c.plane.CertificateDays.Known || c.plane.CertificateDays.N == 0 {
		return notAsked
	}
	due := c.world.in.Now.AddDate(0, 0, int(c.plane.CertificateDays.N))
	found := notAsked
	var unknown []string
	for i := range c.machines {
		switch m := &c.machines[i]; {
		case !m.ControlPlane || m.verdict == nil || m.verdict.Status == code.Stale:
		case m.CertificatesExpire.IsZero() || due.Before(m.CertificatesExpire) && due.Add(restoring).After(m.CertificatesExpire):
			unknown = append(unknown, m.title())
		default:
			found = passed
		}
	}
	if unknown != nil {
		return unseen(unknown...)
	}
	return found
}

// bootstrapThereDeed is of KubeadmControlPlane, which reads the objects before it takes Machines over.
var bootstrapThereDeed = deed[*cluster]{walk.Row{
	ID: "core.K5", Of: kubeadm,
	Asks:   "the KubeadmConfig of each Machine that it takes over",
	None:   walk.OwnerHalts.Says("it takes over none of its Machines: no rollout, no scaling, no remediation, no audit of etcd"),
	Source: "adoptMachines: controller.go v1.6.0 to v1.14.0",
}, bootstrapThere}

// bootstrapThere asks core.K5.
func bootstrapThere(p *actions, c *cluster) bool {
	if lost := c.unadopted(); lost != "" {
		p.finds(walk.None, fmt.Sprintf("%s does nothing for its machines and their etcd until %s exists, which the backup lacks: before that it takes its Machines over, for which it reads the bootstrap objects of all", c.control.title(), lost), c.control.title())
	}
	return c.is(kubeadm) && c.recorded > 0
}

// unadopted names a bootstrap object that the backup lacks, for which KubeadmControlPlane
// does nothing: a restore takes away that it owns its Machines, and it fails to take them
// over, before all else, while the KubeadmConfig of one of them is absent (adoptMachines in
// controlplane/kubeadm/internal/controllers/controller.go v1.6.0 to v1.14.0).
func (c *cluster) unadopted() string {
	if c.control.Kind != kubeadm {
		return ""
	}
	for i := range c.control.members {
		if f := c.control.members[i]; f.unbootstrapped() {
			return objectOf(f.Machine.Bootstrap)
		}
	}
	return ""
}
