package rehearsal

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	"drift-detector/infra/walk"
)

// planeRows are those of KubeadmControlPlane (controlplane/kubeadm/internal/controllers).
var planeRows = []row[*cluster]{
	{walk.Row{
		ID: "core.K4", Of: kubeadm,
		Asks:    "the version of each Machine that it takes over, which must be within one minor of its own",
		Differs: walk.OwnerHalts.Says("it takes over none of its Machines and says so in an event alone: no rollout, no scaling, no remediation, no audit of etcd"),
		Source:  "adoptMachines, IsSupportedVersionSkew: controller.go v1.5.8 to v1.14.0",
	}, adoptedVersions},
	{walk.Row{
		ID: "core.K9", Of: kubeadm,
		Asks:    "the kubeconfig Secret, through a cache of Secrets with label cluster.x-k8s.io/cluster-name",
		Differs: walk.OwnerHalts.Says("it does not see the Secret, fails to make one that exists, and connects to no API server"),
		Source:  "reconcileKubeconfig: controller.go; the cache: setup.go v1.13.4",
	}, kubeconfigSeen},
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

// kubeconfigSeen asks core.K9. A Secret that is absent is made anew.
func kubeconfigSeen(c *cluster) walk.Answer {
	labelled, there := c.world.in.Secrets.Labelled[c.ID]
	if !c.is(kubeadm) || !there {
		return notAsked
	}
	if !labelled {
		secret := named("Secret", c.ID.Namespace, c.ID.Name+kubeconfigSuffix)
		return differs(secret+" lacks label cluster.x-k8s.io/cluster-name="+c.ID.Name, secret+" has it", secret)
	}
	return passed
}
