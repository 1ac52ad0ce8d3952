package plan

import (
	"drift-detector/infra/shell"
	"drift-detector/internal/lazyregexp"
	"drift-detector/report"
)

// Tools are the command lines of the providers, by the providers' names in reports.
type Tools map[string]shell.Tool

// provider is an infrastructure as the report describes it, and its tool. Without a
// tool a plan says what to do, and no line addresses an instance.
type provider struct {
	*report.Provider
	shell.Tool // nil: there is none
}

// resourceForm is that of a resource, as kubectl takes it: no option begins so.
var resourceForm = lazyregexp.New(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$`)

// readProviders takes in what the report says of each provider. Kinds whose resource
// has not the form of one are left out: the report may have been edited.
func (pl *planner) readProviders() {
	for _, p := range pl.Report.Providers {
		p.MachineKinds, p.IdentityKinds, p.ManagedPlanes = wellFormed(p.MachineKinds), wellFormed(p.IdentityKinds), wellFormed(p.ManagedPlanes)
		if p.ClusterKind != nil && !resourceForm.MatchString(p.ClusterKind.Resource) {
			p.ClusterKind = nil
		}
		pl.providers[p.Name] = &provider{&p, pl.tools[p.Name]}
		for _, k := range p.IdentityKinds {
			pl.identityKinds[k.Kind] = k.Resource + "/"
		}
	}
}

func wellFormed(kinds []report.Kind) []report.Kind {
	var out []report.Kind
	for _, k := range kinds {
		if resourceForm.MatchString(k.Resource) {
			out = append(out, k)
		}
	}
	return out
}

func resources(kinds []report.Kind) []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.Resource
	}
	return out
}

// planeResource returns the resource of a control plane that stands for the infrastructure
// cluster; empty when it is of another kind.
func (p *provider) planeResource(c *report.Cluster) string {
	if p == nil {
		return ""
	}
	for _, k := range p.ManagedPlanes {
		if k.Kind == c.ControlPlane.Kind {
			return k.Resource
		}
	}
	return ""
}

// clusterResource returns the resource that is touched to make the controller try again;
// empty when it is not known.
func (p *provider) clusterResource(c *report.Cluster) string {
	if plane := p.planeResource(c); plane != "" || p == nil || p.ClusterKind == nil {
		return plane
	}
	return p.ClusterKind.Resource
}

// controllerOf names the infrastructure controller of a cluster.
func (pl *planner) controllerOf(c *report.Cluster) string {
	if p := pl.providers[c.Provider]; p != nil && p.Controller != "" {
		return p.Controller
	}
	return "The controller of provider " + c.Provider
}

// onDelete says what happens to an instance when its Machine is deleted.
func (pl *planner) onDelete(c *report.Cluster) string {
	if p := pl.providers[c.Provider]; p != nil && p.OnDelete != "" {
		return p.OnDelete
	}
	return "deleting a Machine may destroy every VM that has its id"
}

// kubeconfigOwner names the controller that makes the kubeconfig of a kind of control
// plane; empty when none does.
func (pl *planner) kubeconfigOwner(kind string) string {
	for _, p := range pl.Report.Providers {
		if kind != "" && p.OwnsKubeconfig == kind {
			return p.Controller
		}
	}
	return ""
}

// identifies reports whether an id has the form of a provider's.
func (pl *planner) identifies(id string) bool {
	for _, t := range pl.tools {
		if t.Identifies(id) {
			return true
		}
	}
	return false
}
