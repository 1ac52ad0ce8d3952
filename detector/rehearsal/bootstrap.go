package rehearsal

import (
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// bootstrapOwned asks core.M3.
func bootstrapOwned(m *machine) walk.Answer {
	object := func() string { return named(m.Bootstrap.Kind, m.Bootstrap.Namespace, m.Bootstrap.Name) }
	if m.unbootstrapped() && (m.verdict == nil || !m.unprovisioned()) {
		return none(object()+" is not in the backup", object()+" exists", m.title())
	}
	if m.Bootstrap.IsZero() || m.verdict == nil || m.verdict.Status != code.Healthy {
		return notAsked
	}
	if n := m.cluster.world.sharing(m.Backup, m.Bootstrap); n > 1 {
		return several(fmt.Sprintf("%d Machines refer to %s", n, object()), "one alone does", m.title())
	}
	return passed
}

// bootstrapData asks core.M4.
func bootstrapData(m *machine) walk.Answer {
	if m.Bootstrap.IsZero() {
		return notAsked
	}
	object := named(m.Bootstrap.Kind, m.Bootstrap.Namespace, m.Bootstrap.Name)
	switch c := m.cluster; {
	case m.BootstrapSecret != "":
		return passed
	case m.unbootstrapped() && m.ControlPlane && m.ProviderID == "" && slices.Contains(firstData, m.Bootstrap.Kind):
		return none(object+" is not in the backup, and one that is created again would begin a new cluster", "", m.title())
	case m.unbootstrapped():
		return none(object+" is not in the backup, and the Machine names no bootstrap data", object+" exists", m.title())
	case m.ConfigPaused && !c.Paused:
		return differs(object+" is paused", "it is unpaused", m.title())
	case !m.ControlPlane && c.is(kubeadm) && !c.Paused && c.silentPlane() != "":
		return differs(c.planeTitle()+" does not call itself initialised again: "+c.silentPlane(), "that is called initialised", m.title())
	case m.Bootstrap.Kind == "KubeadmConfig" && joinsAgain(m).Found != walk.Differs: // that of a first one needs no key
		if why := m.cluster.unsigned(m.ControlPlane); why != "" {
			return differs(why, "it has its key, tls.key", m.title())
		}
	}
	return passed
}

// silentPlane says why KubeadmControlPlane never comes to call itself initialised, or is empty.
func (c *cluster) silentPlane() string {
	server, config := apiServer(c), initialised(c)
	switch {
	case c.plane.Paused:
		return "it is paused"
	case server.Found == walk.Differs:
		return server.Why
	case config.Found == walk.None:
		return config.Why
	case c.planeGone() && !c.nodesRead():
		return "no machine of it was found"
	}
	return ""
}

// firstData are the kinds of bootstrap objects whose controllers create the data of a first machine while
// the control plane is not initialised. That of K0sControllerConfig goes by the oldest Machine instead, of
// those of one second by the first in the order of names, and creates it for a Machine that has data, too.
var firstData = []string{"KubeadmConfig", "RKE2Config", "KThreesConfig", "MicroK8sConfig", "K0sControllerConfig"}

// joinsAgain asks core.B2. The first machine of a control plane is to begin a cluster, and the data of
// an instance that exists is not read again.
func joinsAgain(m *machine) walk.Answer {
	again := m.Bootstrap.Kind == "K0sControllerConfig"
	switch {
	case !m.ControlPlane || !slices.Contains(firstData, m.Bootstrap.Kind):
		return notAsked
	case m.ProviderID != "" || m.BootstrapSecret != "" && !again || m.unbootstrapped() || m.ConfigPaused:
		return passed
	}
	for _, other := range m.cluster.begun() {
		if other != m {
			return differs(m.title()+" has no instance yet, and "+other.title()+" is of the same control plane", "it is left out of the restore", m.title())
		}
	}
	return passed
}

// begun returns two of the machines of the control plane that have bootstrap data or an instance, or as many
// as there are.
func (c *cluster) begun() []*machine {
	if c.beginners == nil {
		c.beginners = make([]*machine, 0, 2)
		for i := range c.machines {
			if m := &c.machines[i]; m.ControlPlane && len(c.beginners) < 2 && (m.BootstrapSecret != "" || m.ProviderID != "") {
				c.beginners = append(c.beginners, m)
			}
		}
	}
	return c.beginners
}

// sharing counts the Machines that refer to a bootstrap object.
func (w *world) sharing(n int, ref backup.Ref) int {
	if w.bootstraps == nil {
		w.bootstraps = make(map[owned]int, len(w.in.Snapshot.Machines))
		for i := range w.in.Snapshot.Machines {
			if m := &w.in.Snapshot.Machines[i]; !m.Bootstrap.IsZero() {
				w.bootstraps[owned{m.Backup, m.Namespace, m.Bootstrap.Name}]++
			}
		}
	}
	return w.bootstraps[owned{n, ref.Namespace, ref.Name}]
}
