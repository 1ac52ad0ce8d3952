package build

import (
	"drift-detector/infra"
	"drift-detector/report"
)

// Providers describes infrastructures for the document. What has neither a controller
// nor machines, as the lists of Nodes, is none.
func Providers(specs []infra.Spec) []report.Provider {
	var out []report.Provider
	for i := range specs {
		s := &specs[i]
		if s.Controller.Name == "" && len(s.MachineKinds) == 0 {
			continue
		}
		p := report.Provider{
			Name: s.Name, Title: s.Title, Noun: s.Scope, SeparateAccounts: s.SeparateAccounts,
			Controller: s.Controller.Name, PowersOn: s.Controller.PowersOn, OnDelete: s.OnDelete,
			ClustersFirst: s.Controller.ClustersFirst, RefusedAtFirst: s.Controller.RefusedAtFirst, OwnsKubeconfig: s.Controller.OwnsKubeconfig,
			MachineKinds: kinds(s.MachineKinds), ManagedPlanes: kinds(s.ManagedPlanes), IdentityKinds: kinds(s.IdentityKinds), Remedies: s.Remedies,
		}
		if s.ClusterKind != (infra.Kind{}) {
			p.ClusterKind = &kinds([]infra.Kind{s.ClusterKind})[0]
		}
		out = append(out, p)
	}
	return out
}

func kinds(of []infra.Kind) []report.Kind {
	var out []report.Kind
	for _, k := range of {
		out = append(out, report.Kind{Kind: k.Kind, Resource: k.Resource()})
	}
	return out
}
