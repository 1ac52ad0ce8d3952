package rehearsal

import (
	"cmp"
	"fmt"
	"strings"

	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// nodeRows are what the controllers of Cluster API see through the API server of a workload
// cluster, which they all ask with the kubeconfig of the backup.
var nodeRows = []row[*cluster]{
	{walk.Row{
		ID: "core.M8", Of: "Cluster",
		Asks:      "the API server of the cluster, with the kubeconfig in the backup",
		Differs:   walk.Does{Effect: walk.OwnerHalts, Code: code.ControlPlaneDown, What: "no controller connects to the API server: the control plane counts as one that was never initialised, and no Machine gets its Node"},
		Refused:   "the Node list, which was asked for from here, or left out with --skip-access-apiserver",
		Condition: code.APIServersAnswer,
		Source:    "reconcileNode: internal/controllers/machine/machine_controller_noderef.go; setControlPlaneInitialized: controlplane/kubeadm/internal/controllers v1.5.8 to v1.14.0",
	}, apiServer},
	{walk.Row{
		ID: "core.M10", Of: "Machine",
		Asks:    "the annotations of its Node, which it writes: they name the Machine, its cluster and namespace",
		Differs: walk.Does{Effect: walk.Doubles, Code: code.ManagedElsewhere, What: "another management cluster manages the machines, and both would act on them"},
		Source:  "patchNode: internal/controllers/machine/machine_controller_noderef.go v1.4.0 to v1.14.0",
	}, annotations},
	{walk.Row{
		ID: "core.K10", Of: "control plane",
		Asks:      "the API server, and a KubeadmControlPlane ConfigMap kube-system/kubeadm-config there, before it calls itself initialised again",
		None:      walk.OwnerHalts.Says("it never calls the control plane initialised: no worker joins, none is replaced, and it replaces a Machine of its own without a look at the others"),
		Refused:   "ConfigMap kubeadm-config",
		Condition: code.APIServersReached,
		Source:    "setControlPlaneInitialized: controlplane/kubeadm/internal/controllers/status.go v1.11.0 to v1.14.0; updateStatus before",
	}, initialised},
	{walk.Row{
		ID: "core.K13", Of: kubeadm,
		Asks:      "the members of etcd, through the API server: they are those of the Nodes of its Machines",
		Condition: code.EtcdMembers,
		Source:    "UpdateEtcdConditions: controlplane/kubeadm/internal/workload_cluster_conditions.go v1.5.8 to v1.14.0",
	}, etcdMembers},
	{walk.Row{
		ID: "core.K14", Of: kubeadm,
		Asks:    "a Machine for each etcd member, by the names of the Nodes with the role of the control plane",
		None:    walk.RemovesMember.Says("it removes the etcd member that has no Machine as soon as all its Machines have Nodes"),
		Refused: "whether a Machine that has no Node yet gets one",
		Source:  "reconcileEtcdMembers: controlplane/kubeadm/internal/controllers/controller.go v1.5.8 to v1.14.0",
	}, membersHaveMachines},
	{walk.Row{
		ID: "core.K15", Of: kubeadm,
		Asks:   "the Node of each of its Machines",
		None:   walk.OwnerHalts.Says("it waits for that Node before anything else: it neither scales, rolls out nor replaces a Machine, and leaves etcd alone"),
		Source: "preflightChecks, reconcileUnhealthyMachines, reconcileEtcdMembers: controlplane/kubeadm/internal/controllers v1.8.0 to v1.14.0",
	}, planeNodes},
}

// apiServer asks core.M8. That it answers from here does not prove that it answers from the new
// management cluster, which core.K10 says. Of a control plane of which nothing is left it is said
// that it is down; the management cluster's own is lost, and a Cluster that the backup lacks is
// halted.
func apiServer(c *cluster) walk.Answer {
	credential := ""
	if c.list != nil {
		credential, _ = c.list.Facts.Get(infra.FactCredential)
	}
	k, inBackup := c.world.in.Secrets.Kubeconfigs[c.ID]
	written := k.KubeconfigDigest != nil && !c.ownsKubeconfig()
	secret := named("Secret", c.ID.Namespace, c.ID.Name+code.KubeconfigSecret)
	switch {
	case c.Nodes.State == "" || c.Derived || c.Self || c.planeGone() && !c.nodesRead():
		return notAsked
	case written && k.Refused != "" && !(c.is(kubeadm) && k.due(c.world.in.Now)):
		return differs("no client is made of the kubeconfig in "+secret+": "+k.Refused, secret+" holds one that works", secret)
	case written && k.Other && c.nodesRead():
		return unseen(c.title()) // over another way than from here, or with another name of the server
	case c.nodesRead() && (credential == infra.OfOperator || !inBackup):
		return unseen(c.title()) // one that the control plane creates has the authority in the backup, which may be another
	case c.nodesRead():
		return passed
	case c.ownsKubeconfig() && (c.Nodes.State == "denied" || c.Nodes.State == "noKubeconfig"):
		return unseen(c.title()) // its controller makes a token for some minutes, and another after the restore
	case credential == infra.OfBackup && c.list.Fault != nil && c.list.Fault.Reason == code.UntrustedCertificate:
		return differs(c.nodesRefused(), "it has a certificate of the authority in the backup, or the backup's kubeconfig that of today", c.title())
	}
	return unread(c.nodesRefused(), c.title())
}

// ownsKubeconfig reports whether the kubeconfig of the cluster is made by its infrastructure
// provider's controller of the control plane.
func (c *cluster) ownsKubeconfig() bool {
	return c.own != nil && c.own.ControlPlane.Kind != "" && c.own.ControlPlane.Kind == c.world.in.Controllers[c.Provider].OwnsKubeconfig
}

// nodesRefused says why the Node list was not read.
func (c *cluster) nodesRefused() string {
	if c.Nodes.State == "skipped" {
		return "its API server was not asked, as with --skip-access-apiserver"
	}
	return strings.TrimSuffix(cmp.Or(c.Nodes.Error, "its API server was not read: "+c.Nodes.State), ".")
}

// planeGone reports whether the control plane has machines, and all are known to be gone.
func (c *cluster) planeGone() bool {
	for _, v := range c.ControlPlane.Machines {
		if v.Status != code.Stale {
			return false
		}
	}
	return len(c.ControlPlane.Machines) > 0
}

// annotations asks core.M10. A list that names another cluster alone was taken for unread, and
// counts here.
func annotations(c *cluster) walk.Answer {
	if len(c.nodes) == 0 {
		return notAsked
	}
	for i := range c.machines {
		m := &c.machines[i]
		if m.ProviderID == "" {
			continue
		}
		for _, n := range c.byID[m.ProviderID] {
			switch {
			case n.ClusterName != "" && (n.ClusterName != c.ID.Name || n.ClusterNamespace != "" && n.ClusterNamespace != c.ID.Namespace):
				return differs(fmt.Sprintf("Node %s is annotated as one of cluster %s/%s", n.Name, n.ClusterNamespace, n.ClusterName), "", m.title())
			case n.Machine != "" && n.Machine != m.Name:
				return differs(fmt.Sprintf("Node %s is annotated as that of Machine %s, and has the provider id of %s", n.Name, n.Machine, m.title()), "", m.title())
			}
		}
	}
	return passed
}

// dropsNodeless reports whether KubeadmControlPlane deletes each of its Machines that will have no
// Node, because it has too many: it picks them first, and does not wait for the Node of the one
// that it deletes (selectMachineForScaleDown, preflightChecks in
// controlplane/kubeadm/internal/controllers/scale.go v1.8.0 to v1.14.0). A Machine without an
// instance that may still get one keeps it from that.
func (c *cluster) dropsNodeless() bool {
	p := c.plane
	if p == nil || p.Kind != kubeadm || p.Paused {
		return false
	}
	wants, have, nodeless := p.Desired, 0, 0
	if t := c.topology; t.works() {
		wants = t.plane()
	}
	for i := range c.machines {
		m := &c.machines[i]
		if !m.ControlPlane || m.verdict == nil {
			continue
		}
		have++
		switch n := c.nodeCount(m); {
		case m.unprovisioned() || c.nodesRead() && n != 1 && !m.stale():
			return false
		case m.stale() && n == 0:
			nodeless++
		}
	}
	return wants.Known && nodeless > 0 && have-int(wants.N) >= nodeless
}

// waitsForNodes reports whether KubeadmControlPlane does nothing, and leaves etcd alone, because
// Machines of it have no Node and stay.
func (c *cluster) waitsForNodes() bool {
	return c.nodeless > c.joining && !c.remediates && !c.dropsNodeless()
}

// planeNodes asks core.K15. A machine that is gone has an outcome of its own.
func planeNodes(c *cluster) walk.Answer {
	if !c.is(kubeadm) || c.plane.Paused {
		return notAsked
	}
	found := notAsked
	for i := range c.machines {
		m := &c.machines[i]
		if !m.ControlPlane || m.verdict == nil || m.verdict.Status != code.Healthy {
			continue
		}
		if m.Paused && !c.Paused {
			return none(m.title()+" is paused, so that nobody writes its Node", "it is unpaused", m.title())
		}
		if !c.nodesRead() {
			continue
		}
		if n := c.nodeCount(m); n != 1 {
			return none(fmt.Sprintf("%s has %d Nodes", m.title(), n), "it has one", m.title())
		}
		found = passed
	}
	return found
}

// etcdMembers asks core.K13.
func etcdMembers(c *cluster) walk.Answer {
	switch {
	case !c.is(kubeadm) || c.planeGone():
		return notAsked
	case c.plane.ExternalEtcd:
		return passed
	}
	return unseen(c.title())
}

// initialised asks core.K10. An API server that does not answer is core.M8, and where an operator's
// kubeconfig was refused the backup's own may not be.
func initialised(c *cluster) walk.Answer {
	switch {
	case !c.nodesRead() || c.list == nil:
		return notAsked
	case c.ControlPlane.Reason == code.HostedInManagementCluster:
		return passed // its API server is there, too
	case !c.is(kubeadm):
		return unseen(c.title())
	}
	credential, _ := c.list.Facts.Get(infra.FactCredential)
	if why, refused := c.list.FactsUnread.Get(infra.FactKubeadmConfig); refused && credential != infra.OfOperator {
		return unread(why, c.title())
	}
	if is, _ := c.list.Facts.Get(infra.FactKubeadmConfig); is == infra.KubeadmConfigAbsent {
		return none("ConfigMap kube-system/kubeadm-config is not in "+c.title(), "the ConfigMap exists there", c.title())
	}
	return unseen(c.title())
}

// membersHaveMachines asks core.K14. Instances without a Machine have an outcome of their own, so
// that only Nodes count of which no instance is known; and nothing is removed while one of the
// Machines has no Node.
func membersHaveMachines(c *cluster) walk.Answer {
	if !c.is(kubeadm) || c.plane.ExternalEtcd || !c.nodesRead() || c.plane.Paused {
		return notAsked
	}
	known := map[string]bool{}
	for _, v := range c.ControlPlane.Machines {
		known[v.ProviderID], known[v.Node], known[v.Name] = true, true, true
	}
	planes, joining := 0, ""
	for i := range c.machines {
		m := &c.machines[i]
		if !m.ControlPlane {
			continue
		}
		planes++
		switch nodeless := c.nodeCount(m) != 1 && !c.dropsNodeless(); {
		case m.Paused || nodeless && m.ProviderID != "":
			return notAsked
		case nodeless:
			joining = m.title()
		}
	}
	var left []string
	for _, n := range c.nodes {
		if n.ControlPlane && !known[n.ProviderID] && !known[n.Name] {
			left = append(left, "Node "+n.Name)
		}
	}
	switch {
	case planes == 0:
		return notAsked
	case left != nil && joining != "":
		return unread(left[0]+" has the role of the control plane and no Machine in the backup, and its member is removed once "+joining+" has its Node", left...)
	case left != nil:
		return none(left[0]+" has the role of the control plane and no Machine in the backup", "", left...)
	}
	return passed
}
