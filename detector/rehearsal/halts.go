package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// standstill is one cause for which no controller acts on a cluster.
type standstill struct {
	Object string // "VSphereClusterIdentity shared"
	Why    string // "which the backup lacks"
	Until  string // what has to happen to Object: "exists"

	identity bool   // Object leads the cluster to its credential
	row      string // by which it halts; empty where a step of the walk does
	step     string // the row of that step
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

// isCreated reports whether the plan creates what the backup lacks: what leads to the
// infrastructure, or says how one machine is made. An owner, or what a topology rests on, may
// do anything once it was created by hand.
func isCreated(a *backup.Absence) bool {
	return !a.HaltsTopology && (a.HaltsMachines || strings.HasSuffix(a.Kind, "Template") || strings.HasSuffix(a.Kind, "Identity"))
}

// lacks reports whether the backup lacks what a reference of the cluster leads to.
func (c *cluster) lacks(ref backup.Ref) bool {
	if ref.IsZero() {
		return false
	}
	stays, is := c.world.absent[absence{c.ID.Backup, ref.Kind, ref.Namespace, ref.Name}]
	all, none := c.world.absent[absence{backup: c.ID.Backup, kind: ref.Kind, name: "*"}]
	stays, is = stays || all, is || none
	c.mended = c.mended || is && !stays
	return is && (stays || !c.world.byPlan)
}

// haltsOf returns all causes for which no controller acts on the cluster.
func (c *cluster) haltsOf() []standstill {
	out := c.standstills()
	if c.world.byPlan { // only what is gone from the infrastructure cannot come back, under its id
		out = slices.DeleteFunc(out, func(h standstill) bool { return h.Why != vanished })
	}
	return out
}

func (c *cluster) standstills() []standstill {
	out := slices.Clone(c.lacking)
	row := "core.C3b"
	add := func(object, why, until string) {
		out = append(out, standstill{Object: object, Why: why, Until: until, row: row})
	}
	managed := c.controller.OwnsKubeconfig // the control plane that the provider runs
	if own := c.own; own != nil && !own.Derived {
		for _, ref := range []backup.Ref{own.Infrastructure, own.ControlPlane} {
			if c.lacks(ref) && (ref == own.Infrastructure || ref.Kind == managed) {
				add(objectOf(ref), lacking, exists)
			}
		}
		row = "core.C4"
		if own.Meta.Paused {
			// Its controller says no more that the infrastructure is there, for which all
			// others wait (Cluster API core/reconcilers/cluster/cluster_controller.go v1.14.0).
			add(c.title(), "which has the annotation "+clusterv1.PausedAnnotation, "is without it")
		}
		switch infrastructure := objectOf(own.Infrastructure); own.LeftAlone {
		case clusterv1.ManagedByAnnotation:
			// Velero restores no status, and its controller looks away.
			add(infrastructure, "which is managed externally and which a restore leaves without its status", "is marked as ready")
		case clusterv1.PausedAnnotation:
			add(infrastructure, "which has the annotation "+clusterv1.PausedAnnotation, "is unpaused")
		}
	}
	row = "core.C4"
	if p := c.plane; p != nil && p.Paused && p.Kind == managed {
		// It reports that the cluster's infrastructure is there (CAPA
		// controllers/awsmanagedcluster_controller.go v2.11.1).
		add(c.planeTitle(), "which has the annotation "+clusterv1.PausedAnnotation, "is unpaused")
	}
	out = append(out, c.missing()...)
	for _, h := range c.Halts {
		if !h.Undecided {
			add(h.Object, "because "+h.Message, "may be used")
		}
	}
	// CAPA updates only a kubeconfig that its control plane owns, and a restore takes
	// ownerReferences away (pkg/cloud/services/eks/config.go v2.13.0). It makes one
	// where there is none.
	if _, restored := c.world.in.Secrets.Kubeconfigs[c.ID]; restored && !c.moved() && managed != "" && managed == c.ControlPlane.Kind {
		add(named("Secret", c.ID.Namespace, c.ID.Name+code.KubeconfigSecret), "which is restored without its owner", "is deleted")
	}
	return out
}

// missing returns the resources whose absence halts the cluster; of one that holds the others,
// it alone.
func (c *cluster) missing() (out []standstill) {
	for i := range c.Resources {
		if r := &c.Resources[i]; r.State == code.Absent && r.WhenGone == code.HaltsCluster {
			cause := standstill{Object: r.Kind + " " + r.Name, Why: vanished, Until: exists, row: "core.C4"}
			if r.Several {
				cause.Why, cause.Until = "which may be any of several", "is one alone"
			}
			if c.holder == cause.Object {
				return []standstill{cause}
			}
			out = append(out, cause)
		}
	}
	return out
}

// holderGone reports whether what holds the cluster's other resources is gone: none of those
// is asked for or made.
func (c *cluster) holderGone() bool {
	return slices.ContainsFunc(c.Resources, func(r report.Resource) bool {
		return r.State == code.Absent && c.holder == r.Kind+" "+r.Name
	})
}

// undecidedHalts reports resources whose absence would stop the cluster's controllers,
// or keep them from instances that exist, and of which nobody can tell whether they
// exist.
func undecidedHalts(c *cluster) []*report.Resource {
	var out []*report.Resource
	for i := range c.Resources {
		if r := &c.Resources[i]; r.State == code.Undecided && (r.WhenGone == code.HaltsCluster || c.first[infra.Need{Kind: r.Kind, Name: r.Name, UsedBy: r.UsedBy}]) {
			out = append(out, r)
		}
	}
	return out
}

// halted says why the machine's controller does nothing for the machine, although it
// acts on the cluster; it is empty when it does.
func (f *machine) halted() string {
	r, shared := f.restore, f.obstacle(infra.SharedName)
	switch {
	case f.Machine == nil:
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
func (f *machine) unread() string {
	why, secret := f.obstacle(infra.NoBootstrapData), f.cluster.world.in.Secrets.Missing[f.Machine.UID]
	if why == "" || secret == "" {
		return ""
	}
	return "its bootstrap data is not in the backup (Secret " + secret + "), and " + why
}

// unbootstrapped reports whether the Machine waits for its bootstrap object, which
// the backup lacks. Its instance is adopted all the same (Cluster API
// core/reconcilers/machine/machine_controller_phases.go v1.14.0).
func (f *machine) unbootstrapped() bool {
	return f.Machine != nil && f.cluster.lacks(f.Machine.Bootstrap)
}

// cannotBeMade says why no instance can be made for a Machine that has none, or is
// empty.
func (f *machine) cannotBeMade() string {
	if secret, missing := f.cluster.world.in.Secrets.Missing[f.Machine.UID]; missing {
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
	if r := c.recipes[object]; r != nil {
		return c.goneOf(r.Needs)
	}
	return ""
}

func (c *cluster) goneOf(needs []infra.Need) string {
	for _, n := range needs {
		if c.states[n] == code.Absent {
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
func (f *machine) unresolved() string {
	if r := f.recipe; r != nil && f.healthy() {
		return f.cluster.goneOf(r.First)
	}
	return ""
}
