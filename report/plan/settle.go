package plan

import (
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// settle comes before a cluster is unpaused: what the answer of the report says of it, and
// what to do first, before it is unpaused, about each reason of which the table of codes
// says that. It reports whether there is anything.
func (pl *planner) settle(d *draft, c *report.Cluster) bool {
	any, earlier := false, d.steps
	for _, reason := range pl.reasons(c) {
		r, own, first := reason.AnswerReason, reason.objects, code.Of(reason.Code).Plan
		if first == "" {
			continue
		}
		any = true
		if r.Code == code.EtcdMembersRemoved && pl.memberGhosts(c) > 0 {
			continue // warnOfEviction says it
		}
		if (r.Code == code.PoolScaledBack || r.Code == code.PoolGrown) && areAbout(earlier, own) {
			continue // keepPoolSizes says it, with the line
		}
		lines, settled := pl.settling(c, r, own)
		step := d.afterWith(func() (string, []shell.Command) {
			text := "Before it is unpaused: " + strings.TrimSuffix(r.Message, ".")
			if strings.HasPrefix(own[0], "Machine ") { // the messages of others name what they are about, or say that of the cluster
				text += ": " + listed(own)
			}
			return text + ". " + first, lines
		})
		step.about, step.settles = own, of(r.Code, settled...)
	}
	return any
}

// settling returns the lines that settle a reason, and of which objects.
func (pl *planner) settling(c *report.Cluster, r *report.AnswerReason, objects []string) (lines []shell.Command, settled []string) {
	switch r.Code {
	case code.MachinesMade:
		lines, settled = pl.asRestored(c, objects)
	case code.LivingReplaced:
		lines, settled = pl.spare(c, objects)
	case code.MachinesHalted:
		lines = pl.freeMembers(c, objects)
	case code.MachinesUnowned:
		if lines = own(c); lines != nil {
			settled = objects
		}
	case code.ClusterHalted:
		if lines = pl.pinned(c, r); lines != nil {
			settled = objects
		}
	}
	if slices.ContainsFunc(lines, func(l shell.Command) bool { return l.Refused() != "" }) {
		return lines, nil
	}
	return lines, settled
}

// areAbout reports whether there is a step about each of the objects.
func areAbout(steps []Step, objects []string) bool {
	for _, o := range objects {
		if !slices.ContainsFunc(steps, func(s Step) bool { return slices.Contains(s.about, o) }) {
			return false
		}
	}
	return true
}

// ownReason is a reason of the answer, with the objects of one cluster that it is about.
type ownReason struct {
	*report.AnswerReason
	objects []string
}

// reasons returns those of the answer that are about a cluster.
func (pl *planner) reasons(c *report.Cluster) []ownReason {
	if pl.reasonsOf == nil {
		pl.findReasons()
	}
	return pl.reasonsOf[c]
}

func (pl *planner) findReasons() {
	pl.reasonsOf = map[*report.Cluster][]ownReason{}
	if pl.Summary.Answer == nil {
		return
	}
	for i := range pl.Summary.Answer.Reasons {
		r := &pl.Summary.Answer.Reasons[i]
		for _, object := range r.Objects {
			for _, c := range pl.clustersOf(object) {
				all := pl.reasonsOf[c]
				if len(all) == 0 || all[len(all)-1].AnswerReason != r {
					all = append(all, ownReason{AnswerReason: r})
				}
				last := &all[len(all)-1]
				last.objects = append(last.objects, object)
				pl.reasonsOf[c] = all
			}
		}
	}
}

// spare keeps MachineHealthChecks from living machines: one that has the annotation is
// none of their targets (Cluster API
// internal/controllers/machinehealthcheck/machinehealthcheck_targets.go v1.10.0).
func (pl *planner) spare(c *report.Cluster, objects []string) (lines []shell.Command, settled []string) {
	for _, object := range objects {
		if name, ok := strings.CutPrefix(object, "Machine "+c.Namespace+"/"); ok {
			lines = append(lines, restored(c.Namespace, machines+name).Then(manage(c.Namespace, "annotate", machines+name, "--overwrite", "cluster.x-k8s.io/skip-remediation=yes")))
			settled = append(settled, object)
		}
	}
	return lines, settled
}

// own gives each Machine of a control plane its owner again, which that finds its Machines by (package
// owners, by kind). It ends with the first that is not changed: one that has none stops the control plane.
func own(c *report.Cluster) []shell.Command {
	kind, name := c.ControlPlane.Kind, c.ControlPlane.Name
	if !labelForm.MatchString(name) || !labelForm.MatchString(c.Name) || !labelForm.MatchString(strings.ToLower(kind)) {
		return nil
	}
	object := strings.ToLower(kind) + "s.controlplane.cluster.x-k8s.io/" + name
	of := func(member, variable string) shell.Command {
		return manage(c.Namespace, "get", object, "--output=jsonpath={."+member+"}").Keep(variable)
	}
	all := manage(c.Namespace, "get", "machines.cluster.x-k8s.io", "--selector=cluster.x-k8s.io/cluster-name="+c.Name+",cluster.x-k8s.io/control-plane", "--output=name").Keep("MACHINES")
	patch := shell.Pieces{
		"--patch=", shell.Loose(`{"metadata":{"ownerReferences":[{"apiVersion":"`), shell.Variable("VERSION"), shell.Loose(`","kind":"` + kind + `","name":"` + name + `","uid":"`), shell.Variable("OWNER"),
		shell.Loose(`","controller":true,"blockOwnerDeletion":true}]}}`),
	}
	return []shell.Command{shell.All(restored(c.Namespace, object), of("apiVersion", "VERSION"), of("metadata.uid", "OWNER"), all,
		shell.Line(shell.Raw(`test -n "$MACHINES"`)).OrStop("it has no Machine: nothing was changed"),
		manage(c.Namespace, "patch", shell.Raw(`"$M"`), "--type=merge", patch).OrStop("this Machine has no owner yet, and the others behind it").EachOrStop("M", "MACHINES"))}
}
