package rehearsal

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// A restore takes away whose Machines and MachineSets are: an owner adopts what its selector
// fits, whoever had it before. What none selects is counted by owner.

// adoptionRows are asked of each cluster.
var adoptionRows = []row[*cluster]{
	{walk.Row{
		ID: "core.D1", Of: "MachineDeployment",
		Asks:     "the templates that it names, before it adopts its MachineSets; a MachineSet likewise, before its Machines",
		None:     walk.OwnerHalts.Says("it fails before anything else: nobody adopts, scales, rolls out or replaces its machines"),
		Source:   "reconcileExternalTemplateReference: internal/controllers/machinedeployment, internal/controllers/machineset v1.5.8 to v1.8.12; getTemplatesAndSetOwner from v1.9.0 on",
		Versions: "up to v1.8; from v1.9.0 on, which writes status.v1beta2 or v1beta2 itself, it lacks them only where it creates a machine",
	}, templatesFirst},
	{walk.Row{
		ID: "core.D2", Of: "MachineDeployment",
		Asks:    "the MachineSets that its selector matches and nobody controls",
		Several: walk.Replaces.Says("the first of several MachineDeployments adopts the MachineSet and deletes its Machines in a rollout, unless it is of its template; the others create MachineSets of their own"),
		Differs: walk.OwnerHalts.Says("it fails on a selector with expressions: it neither scales, rolls out nor adopts"),
		Source:  "getAndAdoptMachineSetsForDeployment, LabelSelectorAsMap: internal/controllers/machinedeployment v1.5.8 to v1.13.4; core/reconcilers/machinedeployment v1.14.0",
	}, setsSelectedOnce},
	{walk.Row{
		ID: "core.D5", Of: "MachineDeployment",
		Asks:   "label machine-template-hash of each of its MachineSets",
		None:   walk.OwnerHalts.Says("it fails on the MachineSet: it neither scales, rolls out nor deletes any of its machines"),
		Source: "computeDesiredMS: internal/controllers/machinedeployment v1.5.8 to v1.13.6; core/reconcilers/machinedeployment v1.14.0",
	}, setsHashed},
	{walk.Row{
		ID: "core.N1", Of: "MachinePool",
		Asks:   "the bootstrap object of its template",
		None:   walk.OwnerHalts.Says("it fails before it calls its bootstrap data ready, which the controller of its infrastructure waits for"),
		Source: "reconcileBootstrap: exp/internal/controllers/machinepool_controller_phases.go v1.5.8 to v1.13.4",
	}, poolBootstrap},
}

// adoptionMachineRows are asked of each Machine.
var adoptionMachineRows = []row[*machine]{
	{walk.Row{
		ID: "core.S2", Of: "MachineSet",
		Asks:    "the Machines that its selector matches and nobody controls",
		Several: walk.Deletes.Says("the first of several owners adopts the Machine and deletes one that is too many for it, with its instance; the others create Machines"),
		Differs: walk.Doubles.Says("it reads its selector as plain labels, fails to, counts no Machine, and creates all its replicas beside those that run, again and again"),
		Source:  "getAndAdoptMachinesForMachineSet, syncReplicas: internal/controllers/machineset v1.9.0 to v1.13.4; core/reconcilers/machineset v1.14.0",
	}, selectedOnce},
}

// templatesFirst asks core.D1. A MachineSet of a MachineDeployment has its templates, or is of an
// older revision, which may lack them.
func templatesFirst(c *cluster) walk.Answer {
	found := notAsked
	for _, g := range c.world.groupsOf(c.ID) {
		if g.Kind != machineDeployment && g.Kind != machineSet || g.Deployment != "" || g.Paused || g.Recent {
			continue
		}
		for _, ref := range []backup.Ref{g.Infrastructure, g.Bootstrap} {
			if !strings.HasSuffix(ref.Kind, clusterv1.TemplateSuffix) {
				continue
			}
			if object := named(ref.Kind, ref.Namespace, ref.Name); c.lacks(ref) {
				return none(object+" of "+named(g.Kind, g.Namespace, g.Name)+" is not in the backup, and Cluster API up to 1.8 may have written that", object+" exists", named(g.Kind, g.Namespace, g.Name))
			}
			found = passed
		}
	}
	return found
}

// setsSelectedOnce asks core.D2.
func setsSelectedOnce(c *cluster) walk.Answer {
	found := notAsked
	for _, set := range c.world.groupsOf(c.ID) {
		if set.Kind != "MachineSet" || c.controlled(&set.Meta) {
			continue
		}
		switch by := c.selecting("MachineDeployment", set.Labels); {
		case len(by) > 1:
			title := named(set.Kind, set.Namespace, set.Name)
			return several(fmt.Sprintf("%s is selected by %s and %s", title, by[0].title(), by[1].title()), "one alone selects it", title)
		case len(by) == 1 && !by[0].selector.Plain:
			return differs(by[0].title()+" has a selector with expressions", "it has labels alone", by[0].title())
		case len(by) == 1:
			found = passed
		}
	}
	return found
}

// setsHashed asks core.D5.
func setsHashed(c *cluster) walk.Answer {
	found := notAsked
	for _, set := range c.world.groupsOf(c.ID) {
		if set.Kind != "MachineSet" || len(c.selecting("MachineDeployment", set.Labels)) != 1 {
			continue
		}
		if !strings.Contains(string(set.Labels), clusterv1.MachineDeploymentUniqueLabel) {
			title := named(set.Kind, set.Namespace, set.Name)
			return none(title+" lacks label "+clusterv1.MachineDeploymentUniqueLabel, title+" has it", title)
		}
		found = passed
	}
	return found
}

// selectedOnce asks core.S2. KubeadmControlPlane selects by label, too.
func selectedOnce(m *machine) walk.Answer {
	if m.Pool != "" {
		return notAsked
	}
	by := m.cluster.selecting("MachineSet", m.Labels)
	switch {
	case len(by) == 0:
		return notAsked
	case m.cluster.controlled(&m.Meta): // and then what else selects it passes it over
		i := slices.IndexFunc(by, func(s *selecting) bool { return m.Owner.Kind == s.Kind && m.Owner.Name == s.Name })
		if i < 0 || by[i].selector.Plain {
			return passed
		}
		return differs(by[i].title()+" has a selector with expressions", "it has labels alone", by[i].title())
	case len(by) > 1:
		return several(by[0].title()+" and "+by[1].title()+" select it", "one alone selects it", m.title())
	case m.ControlPlane && !m.Unlabelled && m.cluster.is(kubeadm):
		return several(by[0].title()+" and "+m.cluster.planeTitle()+" select it", "one alone selects it", m.title())
	case !by[0].selector.Plain:
		return differs(by[0].title()+" has a selector with expressions", "it has labels alone", by[0].title())
	}
	return passed
}

// poolBootstrap asks core.N1.
func poolBootstrap(c *cluster) walk.Answer {
	found := notAsked
	for _, g := range c.world.groupsOf(c.ID) {
		switch {
		case g.Kind != "MachinePool" || g.Bootstrap.IsZero():
		case c.lacks(g.Bootstrap):
			object, title := named(g.Bootstrap.Kind, g.Bootstrap.Namespace, g.Bootstrap.Name), named(g.Kind, g.Namespace, g.Name)
			return none(object+" of "+title+" is not in the backup", object+" exists", title)
		default:
			found = passed
		}
	}
	return found
}

// selecting is a group with its selector.
type selecting struct {
	*backup.Group
	selector *backup.Selector
}

func (s *selecting) title() string { return named(s.Kind, s.Namespace, s.Name) }

// selected is what owners of a kind may select.
type selected struct {
	kind   string
	labels backup.Labels
}

// selecting returns the owners of that kind in the cluster that select what has these labels.
// The name of the cluster is among all labels, and in all selectors: webhooks and controllers put
// it there.
func (c *cluster) selecting(kind string, l backup.Labels) []*selecting {
	key := selected{kind, l}
	out, known := c.selected[key]
	if known {
		return out
	}
	own := l
	if l.Get(clusterv1.ClusterNameLabel) != c.ID.Name {
		own = l.With(clusterv1.ClusterNameLabel, c.ID.Name)
	}
	for _, s := range c.selectors[kind].MayFit(own) { // by their names
		if s.selector.Matches(own) {
			out = append(out, s)
		}
	}
	c.selected[key] = out
	return out
}

// selects reports whether an owner takes for its own what has these labels. A restore takes
// ownerReferences away, and a group adopts what its selector fits, whoever owned it before
// (Cluster API getAndAdoptMachinesForMachineSet in core/reconcilers/machineset and
// getAndAdoptMachineSetsForDeployment in core/reconcilers/machinedeployment v1.14.0). Of a
// group that the backup lacks, or whose selector cannot be read, nothing else is known.
func (c *cluster) selects(by owner, l backup.Labels) bool {
	of := c.counted(by)
	return of.selecting == nil || slices.Contains(c.selecting(by.kind, l), of.selecting)
}

// adopter returns the first owner of a kind that selects what has these labels; its name is
// empty where none does.
func (c *cluster) adopter(kind string, l backup.Labels) owner {
	if by := c.selecting(kind, l); len(by) > 0 {
		return owner{kind, by[0].Name}
	}
	return owner{}
}

// readSelectors reads those of the groups of a kind. One that is absent, which a webhook fills in
// with the group's own name, or that cannot be read, is not among them.
func (c *cluster) readSelectors(kind string) {
	var all []*selecting
	for _, g := range c.world.groupsOf(c.ID) {
		if g.Kind != kind {
			continue
		}
		if s := backup.ReadSelector(g.Selector); s != nil && !s.Empty() {
			one := &selecting{g, s}
			all, c.of(owner{kind, g.Name}).selecting = append(all, one), one
		}
	}
	c.selectors[kind] = backup.NewDemands(all, func(s *selecting) iter.Seq2[string, string] { return s.selector.Demands.All })
}

// groupsOf returns the groups of a cluster.
func (w *world) groupsOf(id backup.ClusterID) []*backup.Group { return w.groups[id] }

// updatedInPlace asks core.M13.
func updatedInPlace(m *machine) walk.Answer {
	if m.InPlace {
		return differs("it has annotation "+clusterv1.UpdateInProgressAnnotation, "", m.title())
	}
	return passed
}

// inPlaceRow is core.M13 and, for KubeadmControlPlane, core.K24.
var inPlaceRow = row[*machine]{walk.Row{
	ID: "core.M13", Of: "Machine",
	Asks:     "the runtime extension that updates it in place, where an update was going on",
	Differs:  walk.Does{Effect: walk.Writes, Code: code.OutcomeUnknown, What: "the extension is called again, and how far the update had come is not known here; its owner waits for it"},
	Versions: "from v1.12.0, with gate InPlaceUpdates",
	Source:   "reconcileInPlaceUpdate: internal/controllers/machine/machine_controller_inplace_update.go v1.12.0 to v1.13.4",
}, updatedInPlace}
