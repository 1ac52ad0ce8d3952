package plan

import (
	"encoding/json"
	"fmt"

	"drift-detector/infra/shell"
	"drift-detector/report"
)

// scale changes the replicas of an owner from one number to another, and fails
// when they are not what they were: a line that is run twice, or out of turn,
// does nothing. Whether the owner is of the restore, owned sees first. What a ClusterClass made is scaled at its Cluster, because the
// topology controller takes any other change back (Cluster API
// exp/topology/desiredstate/desired_state.go v1.14.0); look finds its place there.
func (pl *planner) scale(s *set, from, to int64) (look []shell.Command, owned, scale shell.Command) {
	object := scalable[s.kind] + s.name
	if s.topology != "" {
		object = clusters + s.cluster.Name
	}
	if s.restored.IsZero() {
		s.restored = restored(s.cluster.Namespace, object)
	}
	if s.topology == "" {
		return nil, s.restored, pl.manage(s.cluster.Namespace, "scale", object, fmt.Sprintf("--current-replicas=%d", from), fmt.Sprintf("--replicas=%d", to)).InTurn()
	}
	look = []shell.Command{
		manage(s.cluster.Namespace, "get", object, `--output=go-template={{range $i, $m := .spec.topology.workers.machineDeployments}}{{$i}} {{$m.name}} {{$m.replicas}}{{"\n"}}{{end}}`),
		shell.Ask("INDEX", "the number before "+s.topology+" in that list"),
	}
	return look, s.restored, manage(s.cluster.Namespace, "patch", object, "--type=json", topologyPatch(s.topology, from, to))
}

// asRestored sets the replicas of groups, and of their MachineSets, which create machines on their
// own as soon as they are not paused (syncReplicas in Cluster API
// core/reconcilers/machineset/machineset_controller.go v1.14.0), to the Machines that were restored:
// where it is one MachineSet that is short, nobody else sets them, and none of them was deleted. A
// MachineSet that has as many already stays so. One that is not scaled ends the line.
func (pl *planner) asRestored(c *report.Cluster, objects []string) (lines []shell.Command, settled []string) {
	for _, o := range objects {
		g := pl.deployment(c, o)
		if g == nil || !labelForm.MatchString(g.Name) || g.Topology != "" || g.Desired == nil || g.Forecast == nil || g.Forecast.ManagedBy != "" || g.Forecast.Rollout != nil {
			continue
		}
		from, n := *g.Desired, &g.Forecast.Replicas
		to := int64(n.Recorded)
		if n.Deleted != 0 || to+int64(n.Created) != from {
			continue
		}
		set := func(now int64) shell.Command {
			return manage(c.Namespace, "scale", shell.Raw(`"machinesets.cluster.x-k8s.io/$S"`), fmt.Sprintf("--current-replicas=%d", now), fmt.Sprintf("--replicas=%d", to))
		}
		sets := manage(c.Namespace, "get", "machinesets.cluster.x-k8s.io",
			shell.Pieces{"--selector=cluster.x-k8s.io/deployment-name=" + g.Name + ",velero.io/restore-name=", shell.Variable(restoreName)},
			fmt.Sprintf(`--output=go-template={{range .items}}{{if or (eq (print .spec.replicas) "%d") (eq (print .spec.replicas) "%d")}}{{.metadata.name}} {{end}}{{end}}`, from, to))
		object := scalable[g.Kind] + g.Name
		settled = append(settled, g.Kind+" "+c.Namespace+"/"+g.Name)
		lines = append(lines, shell.All(restored(c.Namespace, object), sets.Keep("SETS"),
			shell.Line(shell.Raw(`test -n "$SETS"`)).OrStop(fmt.Sprintf("of its MachineSets none has replicas %d or %d: nothing was scaled", from, to)),
			set(from).Or(set(to)).OrStop("this MachineSet was not scaled, so that its MachineDeployment is not, either").EachOrStop("S", "SETS"),
			manage(c.Namespace, "scale", object, fmt.Sprintf("--current-replicas=%d", from), fmt.Sprintf("--replicas=%d", to))))
	}
	return lines, settled
}

// deployment returns the MachineDeployment of a cluster that an object of a reason is; nil where it
// is none.
func (pl *planner) deployment(c *report.Cluster, object string) *report.Group {
	all, known := pl.deployments[c]
	if !known {
		all = make(map[string]*report.Group, len(c.Workers.Groups))
		for i := range c.Workers.Groups {
			if g := &c.Workers.Groups[i]; g.Kind == "MachineDeployment" {
				all[g.Kind+" "+c.Namespace+"/"+g.Name] = g
			}
		}
		if pl.deployments == nil {
			pl.deployments = map[*report.Cluster]map[string]*report.Group{}
		}
		pl.deployments[c] = all
	}
	return all[object]
}

// topologyPatch returns a JSON patch of the MachineDeployment at ${INDEX}: it fails
// when another one is there, or another number. A merge patch would replace
// the whole list.
func topologyPatch(name string, from, to int64) any {
	quoted, _ := json.Marshal(name) // a string always can
	const at = "/spec/topology/workers/machineDeployments/"
	index := shell.Variable("INDEX")
	return shell.Pieces{
		"--patch=", shell.Loose(`[{"op":"test","path":"` + at), index,
		shell.Loose(fmt.Sprintf(`/name","value":%s},{"op":"test","path":"%s`, quoted, at)), index,
		shell.Loose(fmt.Sprintf(`/replicas","value":%d},{"op":"replace","path":"%s`, from, at)), index,
		shell.Loose(fmt.Sprintf(`/replicas","value":%d}]`, to)),
	}
}

// atTheTopology says where the replicas of a group are set.
func atTheTopology(s *set) string {
	if s.topology == "" {
		return " Where a ClusterClass topology sets the replicas, change them there."
	}
	return " The group is made by a ClusterClass, so that its replicas are changed at the Cluster. If the list has no number behind its name, they are not set there: then scale the MachineDeployment itself."
}
