package forecast

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
)

// standstill is one cause for which no controller acts on a cluster.
type standstill struct {
	Object string // "VSphereClusterIdentity shared"
	Why    string // "which the backup lacks"
	Until  string // what has to happen to Object: "exists"
}

const (
	lacking  = "which the backup lacks"
	vanished = "which is gone"
	exists   = "exists"
)

// names lists what the causes wait for, in words.
func names(all []standstill) string {
	var out []string
	for _, h := range all {
		out = append(out, h.Object+" "+h.Until)
	}
	return strings.Join(out, " and ")
}

// ends says when the causes are gone, in words.
func ends(all []standstill) string {
	var out []string
	for _, h := range all {
		until := h.Until
		if until == exists {
			until = "exists again"
		}
		out = append(out, h.Object+", "+h.Why+", "+until)
	}
	return strings.Join(out, ", and ")
}

// absence names an object that the backup may lack, or with the name "*" every
// object of its kind.
type absence struct {
	backup                int
	kind, namespace, name string
}

// objectOf names what a reference leads to.
func objectOf(r backup.Ref) string { return fmt.Sprintf("%s %s/%s", r.Kind, r.Namespace, r.Name) }

// lacks reports whether the backup lacks what a reference leads to.
func (x *index) lacks(n int, ref backup.Ref) bool {
	if ref.IsZero() {
		return false
	}
	return x.absent[absence{n, ref.Kind, ref.Namespace, ref.Name}] || x.absent[absence{backup: n, kind: ref.Kind, name: "*"}]
}

// haltsOf are all causes for which no controller acts on the cluster.
func (x *index) haltsOf(c *detector.Cluster) []standstill {
	out := slices.Clone(x.halts[c.ID])
	managed := x.controller(c).OwnsKubeconfig // the control plane that the provider runs
	if own := x.clusters[c.ID]; own != nil && !own.Derived {
		for _, ref := range []backup.Ref{own.Infrastructure, own.ControlPlane} {
			if x.lacks(c.ID.Backup, ref) && (ref == own.Infrastructure || ref.Kind == managed) {
				out = append(out, standstill{objectOf(ref), lacking, exists})
			}
		}
		if own.Meta.Paused {
			// Its controller says no more that the infrastructure is there, for which all
			// others wait (Cluster API core/reconcilers/cluster/cluster_controller.go v1.14.0).
			out = append(out, standstill{"Cluster " + c.ID.Namespace + "/" + c.ID.Name, "which has the annotation " + clusterv1.PausedAnnotation, "is without it"})
		}
		switch infrastructure := objectOf(own.Infrastructure); own.LeftAlone {
		case clusterv1.ManagedByAnnotation:
			// Velero restores no status, and its controller looks away.
			out = append(out, standstill{infrastructure, "which is managed externally and which a restore leaves without its status", "is marked as ready"})
		case clusterv1.PausedAnnotation:
			out = append(out, standstill{infrastructure, "which has the annotation " + clusterv1.PausedAnnotation, "is unpaused"})
		}
	}
	if p := x.plane(c); p != nil && p.Paused && p.Kind == managed {
		// It reports that the cluster's infrastructure is there (CAPA
		// controllers/awsmanagedcluster_controller.go v2.11.1).
		out = append(out, standstill{fmt.Sprintf("%s %s/%s", p.Kind, c.ID.Namespace, p.Name), "which has the annotation " + clusterv1.PausedAnnotation, "is unpaused"})
	}
	for i := range c.Resources {
		if r := &c.Resources[i]; r.State == detector.Absent && r.WhenGone == infra.HaltsCluster {
			out = append(out, standstill{r.Kind + " " + r.Name, vanished, exists})
		}
	}
	for _, h := range c.Halts {
		if !h.Undecided {
			out = append(out, standstill{h.Object, "because " + h.Message, "may be used"})
		}
	}
	// CAPA updates only a kubeconfig that its control plane owns, and a restore takes
	// ownerReferences away (pkg/cloud/services/eks/config.go v2.13.0). It makes one
	// where there is none.
	if managed != "" && managed == c.ControlPlane.Kind && x.in.Secrets.Kubeconfigs[c.ID] {
		out = append(out, standstill{fmt.Sprintf("Secret %s/%s%s", c.ID.Namespace, c.ID.Name, kubeconfigSuffix), "which is restored without its owner", "is deleted"})
	}
	return out
}

// undecidedHalts are resources whose absence would stop the cluster's controllers,
// or keep them from instances that exist, and of which nobody can tell whether they
// exist.
func undecidedHalts(c *cluster) []*detector.ResourceState {
	var out []*detector.ResourceState
	for i := range c.Resources {
		if r := &c.Resources[i]; r.State == detector.Undecided && (r.WhenGone == infra.HaltsCluster || c.index.first[c.ID][infra.Need{Kind: r.Kind, Name: r.Name, UsedBy: r.UsedBy}]) {
			out = append(out, r)
		}
	}
	return out
}

// halted says why the machine's controller does nothing for the machine, although it
// acts on the cluster; it is empty when it does.
func (f *facts) halted() string {
	r, shared := f.restore, f.obstacle(infra.SharedName)
	switch {
	case f.machine == nil:
		return ""
	case r != nil && len(r.Lacks) > 0:
		return strings.Join(r.Lacks, " and ") + " is not in the backup, and " + f.controller() + " touches no machine of a failure domain that it cannot read"
	case f.verdict.Blocked != "":
		return f.verdict.Blocked
	case f.waits() != "":
		return f.waits()
	case f.pausedInfrastructure() != "":
		return f.pausedInfrastructure()
	case r != nil && r.Refused != "":
		return r.Refused
	case f.verdict.Finds == detector.FindsSeveral && shared != "":
		return f.noID() + ", and several instances have its name: " + shared
	case f.unread() != "":
		return f.unread()
	case f.unresolved() != "":
		return f.unresolved() + ", and " + f.controller() + " looks that up before it looks for the instance, which it does not take over until it is back"
	}
	return ""
}

// unread says that the controller lacks the Machine's bootstrap data, which it reads although
// the instance exists; it is empty where it does not.
func (f *facts) unread() string {
	why, secret := f.obstacle(infra.NoBootstrapData), f.cluster.index.in.Secrets.Missing[f.machine.UID]
	if why == "" || secret == "" {
		return ""
	}
	return "its bootstrap data is not in the backup (Secret " + secret + "), and " + why
}

// unbootstrapped reports whether the Machine waits for its bootstrap object, which
// the backup lacks. Its instance is adopted all the same (Cluster API
// core/reconcilers/machine/machine_controller_phases.go v1.14.0).
func (f *facts) unbootstrapped() bool {
	return f.machine != nil && f.cluster.index.lacks(f.machine.Backup, f.machine.Bootstrap)
}

// cannotBeMade says why no instance can be made for a Machine that has none, or is
// empty.
func (f *facts) cannotBeMade() string {
	if secret, missing := f.cluster.index.in.Secrets.Missing[f.machine.UID]; missing {
		return "its bootstrap data is not in the backup (Secret " + secret + ")"
	}
	if f.recipe == nil {
		return f.verdict.Unmakeable
	}
	return cmp.Or(f.cluster.goneOf(f.recipe.Needs), f.verdict.Unmakeable)
}

// gone returns what is gone of all that an instance is made with from a template, in a
// sentence; empty: nothing.
func (c *cluster) gone(object string) string {
	if r := c.index.recipes[recipe{c.ID, object}]; r != nil {
		return c.goneOf(r.Needs)
	}
	return ""
}

func (c *cluster) goneOf(needs []infra.Need) string {
	for _, n := range needs {
		if c.states[n] == detector.Absent {
			return n.Kind + " " + n.Name + c.how(n)
		}
	}
	return ""
}

// how says why there is not the one thing that is needed.
func (c *cluster) how(n infra.Need) string {
	for i := range c.Resources {
		if r := &c.Resources[i]; r.Several && r.Kind == n.Kind && r.Name == n.Name && r.UsedBy == n.UsedBy {
			return " may be any of several"
		}
	}
	return " is gone"
}

// unresolved says what is gone of all that the controller looks up before it looks for
// an instance that exists, or is empty.
func (f *facts) unresolved() string {
	if r := f.recipe; r != nil && f.healthy() {
		return f.cluster.goneOf(r.First)
	}
	return ""
}
