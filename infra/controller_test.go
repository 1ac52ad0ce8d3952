package infra_test

import (
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
)

func TestRegistryKeepsTheControllersOfClusters(t *testing.T) {
	of := func(name string) tiny {
		return tiny{name: name, expected: infra.Expected{Controllers: map[backup.ClusterID]infra.Controller{{Name: name}: {Name: "CAP" + name}}}}
	}
	got := infra.NewRegistry(of("a"), of("b")).Expected(&backup.Snapshot{}).Controllers
	if len(got) != 2 || got[backup.ClusterID{Name: "a"}].Name != "CAPa" || got[backup.ClusterID{Name: "b"}].Name != "CAPb" {
		t.Errorf("%+v", got)
	}
}
