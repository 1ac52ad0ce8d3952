package build

import (
	"reflect"
	"testing"

	"drift-detector/infra"
	"drift-detector/report"
)

func TestProvidersSayWhatTheSpecSays(t *testing.T) {
	kind := func(name, plural string) infra.Kind {
		return infra.Kind{Group: "g.example", Kind: name, Plural: plural}
	}
	got := Providers([]infra.Spec{
		{
			Name: "tiny", Title: "Tiny", Scope: "rack", SeparateAccounts: true, OnDelete: "it goes",
			MachineKinds: []infra.Kind{kind("TinyMachine", "tinymachines"), kind("TinyVM", "tinyvms")}, ClusterKind: kind("TinyCluster", "tinyclusters"),
			ManagedPlanes: []infra.Kind{kind("TinyPlane", "tinyplanes")}, IdentityKinds: []infra.Kind{kind("TinyIdentity", "tinyidentities")},
			Controller: infra.Controller{Name: "CAPT", PowersOn: true, ClustersFirst: "forgets", OwnsKubeconfig: "TinyPlane"},
		},
		{Name: "nodes"},
		{Name: "least", Controller: infra.Controller{Name: "CAPL"}},
	})
	want := []report.Provider{
		{
			Name: "tiny", Title: "Tiny", Noun: "rack", SeparateAccounts: true, OnDelete: "it goes",
			Controller: "CAPT", PowersOn: true, ClustersFirst: "forgets", OwnsKubeconfig: "TinyPlane",
			MachineKinds:  []report.Kind{{Kind: "TinyMachine", Resource: "tinymachines.g.example"}, {Kind: "TinyVM", Resource: "tinyvms.g.example"}},
			ClusterKind:   &report.Kind{Kind: "TinyCluster", Resource: "tinyclusters.g.example"},
			ManagedPlanes: []report.Kind{{Kind: "TinyPlane", Resource: "tinyplanes.g.example"}},
			IdentityKinds: []report.Kind{{Kind: "TinyIdentity", Resource: "tinyidentities.g.example"}},
		},
		{Name: "least", Controller: "CAPL"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}
