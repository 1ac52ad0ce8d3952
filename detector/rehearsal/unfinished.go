package rehearsal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// unfinished says why a Stale machine that is to be replaced is not, or is empty. Neither a
// MachineSet nor KubeadmControlPlane makes another before the Machine is gone (syncReplicas in
// internal/controllers/machineset, and HasDeletingMachine of preflightChecks in
// controlplane/kubeadm/internal/controllers, Cluster API v1.8.0 to v1.13.1). What drains its
// Node ends by itself: of one that nobody hears neither pods nor volumes are waited for.
func (f *machine) unfinished() string {
	if !f.remedied || !f.stale() {
		return ""
	}
	if hooks := f.hooks(); hooks != "" {
		return f.check.title() + " has its Machine deleted, which goes, and makes room for another, only once annotation " + hooks + " is taken away by what set it"
	}
	return f.exhausted()
}

// unrolled says why a rollout that a Stale worker is part of makes none in its place, or is
// empty: the MachineSet of the new revision runs the same preflight checks (createMachines in
// internal/controllers/machineset v1.9.0 to v1.13.1). That of a topology has its version yet
// to come.
func (f *machine) unrolled() string {
	if f.rolled == "" || !f.stale() || f.cluster.topology.works() {
		return ""
	}
	return f.cluster.skewed(f.set.group())
}

// superseded reports whether KubeadmControlPlane is in the middle of a rollout that ends with
// the deletion of Machines that have no instance: it has made as many new ones as it wants, all
// of them well, and looks at those alone before it deletes an outdated one
// (scaleDownControlPlane in controlplane/kubeadm/internal/controllers/scale.go v1.8.0 to v1.13.4).
func (f *machine) superseded() bool {
	c, p := f.cluster, f.set.plane
	if f.rolled == "" || !f.stale() || p == nil || p.Kind != kubeadm || p.Paused || c.lost != "" || !p.Desired.Known {
		return false
	}
	current := int64(0)
	for i := range c.control.members {
		switch m := c.control.members[i]; {
		case m.Machine == nil || m.rolled != "" && m.stale():
		case m.rolled != "" || !m.healthy() || m.nodeMissing():
			return false
		default:
			current++
		}
	}
	return current >= p.Desired.N
}

// hooks returns the annotations for which the deletion of the Machine waits, or nothing. Those
// before the drain are looked at only while it has a Node (reconcileDelete in Cluster API
// internal/controllers/machine v1.8.0 to v1.13.1).
func (f *machine) hooks() string {
	if f.Machine.Hooks == "" || f.node != nil || !f.nodesRead() {
		return f.Machine.Hooks
	}
	return strings.Join(slices.DeleteFunc(strings.Split(f.Machine.Hooks, ", "), func(hook string) bool {
		return strings.HasPrefix(hook, clusterv1.PreDrainDeleteHookAnnotationPrefix)
	}), ", ")
}

// exhausted says why KubeadmControlPlane replaces the machine no more, or is empty: it was
// made in place of another, and that as often as is allowed (checkRetryLimits in
// controlplane/kubeadm/internal/controllers/remediation.go v1.8.0 to v1.13.1). A restore
// brings the annotation back that says so.
func (f *machine) exhausted() string {
	p := f.set.plane
	if p == nil || f.Machine.Remediated == "" {
		return ""
	}
	var last struct {
		Timestamp  time.Time `json:"timestamp"`
		RetryCount int64     `json:"retryCount"`
	}
	if json.Unmarshal([]byte(f.Machine.Remediated), &last) != nil {
		return p.Kind + " cannot read annotation controlplane.cluster.x-k8s.io/remediation-for of its Machine, and replaces none before"
	}
	until := last.Timestamp.Add(p.MinHealthy)
	if !p.MaxRetry.Known || last.RetryCount < p.MaxRetry.N || !until.After(f.cluster.world.in.Now) {
		return ""
	}
	return fmt.Sprintf("%s has replaced it %s already, which is its maxRetry, and does so no more before %s",
		p.Kind, plural(int(last.RetryCount), "time", "times"), until.UTC().Format("2006-01-02 15:04Z"))
}
