package check

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"drift-detector/backup"
)

var (
	ruleProvisioning  = rule("provisioning")
	ruleToken         = rule("token")
	ruleBootstrapData = rule("bootstrap data")
	ruleHealth        = rule("health")
)

// tokenLifetime is Cluster API's default for bootstrap tokens; while a machine
// waits, its token is made valid again and again (bootstrap/kubeadm
// controllers/kubeadmconfig_controller.go DefaultTokenTTL v1.14.0).
const tokenLifetime = 15 * time.Minute

// LacksBootstrap reports whether the bootstrap data of a machine should be among the
// Secrets and is not. Only of data that Cluster API made it is known what the Secret
// looks like.
func LacksBootstrap(m *backup.Machine, secrets *backup.Secrets) bool {
	return m.BootstrapSecret != "" && !m.Bootstrap.IsZero() && secrets.Named(m.Backup, m.Namespace, m.BootstrapSecret) == nil
}

// provisioning reports machines that had no VM yet.
func provisioning(e *examination) []Finding {
	var found []Finding
	for i := range e.Machines {
		m := &e.Machines[i]
		if m.ProviderID != "" {
			continue
		}
		what := name("Machine", m.Namespace, m.Name)
		phase := ""
		if m.Phase != "" {
			phase = ", in phase " + m.Phase
		}
		found = append(found, ruleProvisioning.On(m.Backup, what, "no provider id %s%s", e.now(), phase).Of(m.Cluster))
		if LacksBootstrap(m, e.secrets) {
			found = append(found, ruleBootstrapData.On(m.Backup, name("Secret", m.Namespace, m.BootstrapSecret),
				"not in %s", e.Subject().The()).And("bootstrap data of Machine "+m.Name).At(secretResource, m.Namespace).Of(m.Cluster))
		}
		written := e.Backups[m.Backup].WrittenTo
		if m.JoinsByToken && e.options.Now.After(written.Add(tokenLifetime)) {
			found = append(found, ruleToken.On(m.Backup, what, "the token to join with was valid for %d minutes after %s at most", tokenLifetime/time.Minute, e.Subject().Or("the backup", "it was read")).Of(m.Cluster))
		}
	}
	return found
}

// healthChecks reports owners of machines that no MachineHealthCheck covers. A
// MachineHealthCheck selects among the machines of its cluster, in its namespace
// (Cluster API core/reconcilers/machinehealthcheck v1.14.0).
func healthChecks(e *examination) []Finding {
	type tally struct {
		made
		bare int
	}
	covers, all := newCover(e), make(map[owner]*tally, len(e.made))
	var last owner
	var t *tally
	for i := range e.Machines {
		m := &e.Machines[i]
		if m.Owner.Name == "" || m.Owner.Kind == "MachinePool" {
			continue // a pool replaces its members itself
		}
		if by := ownerOf(m); by != last {
			last = by
			first := e.made[by].first
			if by.kind == "MachineSet" && first.Deployment != "" {
				by.kind, by.name = "MachineDeployment", first.Deployment
			}
			if t = all[by]; t == nil {
				t = &tally{made: made{first: first}}
				all[by] = t
			}
		}
		if t.machines++; !covers.machine(m) {
			t.bare++
		}
	}
	maps.DeleteFunc(all, func(_ owner, t *tally) bool { return t.bare == 0 })
	found := make([]Finding, 0, len(all))
	for by, t := range all {
		message := fmt.Sprintf("not covered: %d of its %d machines", t.bare, t.machines)
		switch {
		case t.machines == 1:
			message = "its machine is not covered"
		case t.bare == t.machines:
			message = fmt.Sprintf("none of its %d machines is covered", t.bare)
		}
		found = append(found, ruleHealth.On(by.backup, name(by.kind, by.namespace, by.name), "%s", message).Of(t.first.Cluster))
	}
	return found
}

// cover tells which machines a MachineHealthCheck selects. Machines of one owner come one
// after the other and mostly share their labels, so that each selector is asked once.
type cover struct {
	byCluster map[backup.ClusterID]*backup.Demands[*backup.Selector]
	asked     coverKey // last
	covered   bool
}

type coverKey struct {
	cluster backup.ClusterID
	labels  backup.Labels
}

func newCover(e *examination) *cover {
	all := map[backup.ClusterID][]*backup.Selector{}
	for h := range healthCheckKind.In(e.Snapshot).All() {
		if s := backup.ReadSelector(h.Data.Selector); s != nil && !h.Paused {
			id := backup.ClusterID{Backup: h.Backup, Namespace: h.Namespace, Name: h.Data.Cluster}
			all[id] = append(all[id], s)
		}
	}
	c := &cover{byCluster: make(map[backup.ClusterID]*backup.Demands[*backup.Selector], len(all))}
	for id, selectors := range all {
		c.byCluster[id] = backup.NewDemands(selectors, func(s *backup.Selector) iter.Seq2[string, string] { return s.Demands.All })
	}
	return c
}

func (c *cover) machine(m *backup.Machine) bool {
	selectors := c.byCluster[m.Cluster]
	if selectors == nil || m.SkipRemediation {
		return false
	}
	if k := (coverKey{m.Cluster, m.Labels}); k != c.asked {
		c.asked = k
		c.covered = slices.ContainsFunc(selectors.MayFit(m.Labels), func(s *backup.Selector) bool { return s.Matches(m.Labels) })
	}
	return c.covered
}
