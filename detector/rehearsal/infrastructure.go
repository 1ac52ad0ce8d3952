package rehearsal

import (
	"fmt"
	"strings"

	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// infrastructureDeeds are those of what all controllers of a cluster wait for.
var infrastructureDeeds = []deed[*cluster]{
	{walk.Row{
		ID: "core.C3b", Of: "Cluster",
		Asks:   "its infrastructure object, and the identity and other objects that this rests on",
		None:   walk.Halts.Says("nothing calls the infrastructure provisioned, for which every controller of the cluster waits"),
		Source: "reconcileInfrastructure: cluster_controller_phases.go v1.5.8 to v1.14.0; the provider's controller of the infrastructure object",
	}, infrastructureThere},
	{walk.Row{
		ID: "core.C4", Of: "Cluster",
		Asks:    "the word of the provider's controller that the infrastructure is provisioned, which a restore takes away",
		Differs: walk.Halts.Says("nothing calls the infrastructure provisioned, for which every controller of the cluster waits"),
		Refused: "resources of the cluster, and whether it may use an identity",
		Source:  "reconcileInfrastructure: cluster_controller_phases.go v1.5.8 to v1.14.0; isPaused: util/paused v1.9.0 to v1.14.0",
	}, infrastructureProvisioned},
	{walk.Row{
		ID: "core.X3", Of: "every controller",
		Asks:   "the Cluster that its object names",
		None:   walk.Halts.Says("it does nothing for the object"),
		Source: "GetClusterByName, GetClusterFromMetadata: util/util.go v1.5.8 to v1.14.0",
	}, clusterThere},
	{walk.Row{
		ID: "core.R1", Of: "infrastructure of the cluster",
		Asks:    "what it created for the cluster: networks, gateways, control planes that the cloud runs",
		None:    walk.Does{Effect: walk.Makes, Code: code.ResourceMade, What: "it creates what is gone again"},
		Differs: walk.Does{Effect: walk.Makes, Code: code.ControlPlaneDown, What: "it creates an empty control plane of the name"},
		Several: walk.Deletes.Says("it deletes what runs and is not specified"),
		Refused: "resources that it deletes if they exist, or creates again if they are gone",
		Source:  "the walks of the providers",
	}, resourcesThere},
}

// halts finds what a row is halted for.
func (p *actions) halts(c *cluster, found walk.Found) {
	for _, h := range c.halts {
		if h.row == p.row.ID {
			s := p.notes(found, h.says())
			s.Until = h.Object + " " + h.Until
			p.says(Reason(s), s).Until = h.Object
		}
	}
}

// says returns what the answer says of a standstill.
func (h *standstill) says() string {
	return fmt.Sprintf("No controller acts on the cluster until %s %s, %s", h.Object, h.Until, h.Why)
}

// infrastructureThere asks core.C3b.
func infrastructureThere(p *actions, c *cluster) bool {
	p.halts(c, walk.None)
	return !c.Derived
}

// infrastructureProvisioned asks core.C4. For what a step of the walk halts it, that step stands.
func infrastructureProvisioned(p *actions, c *cluster) bool {
	p.halts(c, walk.Differs)
	for _, h := range c.halts {
		if h.row == "" {
			r := p.Add(code.ClusterHalted, h.says(), c.title())
			r.Until, r.Row = h.Object, h.step
		}
	}
	for _, h := range c.Halts {
		if h.Undecided {
			p.finds(walk.Unread, fmt.Sprintf("Whether the cluster may use %s is not known, and without it no controller acts on the cluster: %s", h.Object, h.Message))
		}
	}
	for _, r := range undecidedHalts(c) {
		p.unread(code.ResourceUndecided, fmt.Sprintf("Without %s %s the controllers do nothing, and whether it exists could not be looked up", r.Kind, r.Name))
	}
	return !c.Derived
}

// clusterThere asks core.X3.
func clusterThere(p *actions, c *cluster) bool {
	if c.Derived {
		p.finds(walk.None, "No controller acts on the cluster until its Cluster object exists, which the backup lacks")
	}
	return true
}

// resourcesThere asks core.R1.
func resourcesThere(p *actions, c *cluster) bool {
	var made []string
	for i := range c.Resources {
		switch r := &c.Resources[i]; {
		case r.WhenGone == code.Unwanted && r.State == code.Present:
			p.finds(walk.Several, fmt.Sprintf("%s %s runs, and %s does not specify it: %s deletes it", r.Kind, r.Name, r.UsedBy, c.controller.Name))
		case r.WhenGone == code.Unwanted:
			p.unread(code.ResourceUndecided, fmt.Sprintf("%s %s is deleted if it exists, and whether it does could not be looked up", r.Kind, r.Name))
		case r.WhenGone == code.MadeAgain && r.State == code.Undecided && !r.Several && !c.holderGone():
			p.unread(code.ResourceUndecided, fmt.Sprintf("%s %s is created again if it is gone, and whether it is could not be looked up", r.Kind, r.Name))
		case r.State != code.Absent || r.Several || r.WhenGone != code.MadeAgain:
		case strings.HasSuffix(r.Kind, "control plane"):
			p.finds(walk.Differs, fmt.Sprintf("%s %s is gone: its API server does not answer. %s creates an empty one of that name, without the Nodes and workloads of the old one", r.Kind, r.Name, c.controller.Name))
		default:
			made = append(made, r.Kind+" "+r.Name)
		}
	}
	if made != nil && !c.holderGone() {
		p.finds(walk.None, fmt.Sprintf("%s creates %s again, which %s gone", c.controller.Name, strings.Join(made, ", "), verb(len(made), "is", "are")))
	}
	return len(c.Resources) > 0
}
