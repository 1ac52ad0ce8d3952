package backup_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

func kubeSystem(uid string) object {
	return object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "kube-system", "uid": uid}}
}

func load(sources ...backup.Source) (*backup.Snapshot, error) {
	s, _, err := backup.Load(context.Background(), sources, backup.Want{})
	return s, err
}

func TestTwoBackupsOfOneManagementCluster(t *testing.T) {
	withUID := func(uid string) *backuptest.Tarball {
		return backuptest.New().Add("namespaces", kubeSystem(uid)).Add(machines, machine("v1beta2", "m-"+uid, ""))
	}
	one, two := withUID("one").Bytes(), withUID("two").Bytes()
	if _, err := load(backuptest.Source("a", one), backuptest.Source("b", two)); err != nil {
		t.Errorf("two management clusters: %v", err)
	}
	sameNamespace := func() error {
		_, err := load(backuptest.Source("a.tar.gz", one), backuptest.Source("other", two), backuptest.Source("b.tar.gz", withUID("one").Bytes()))
		return err
	}
	sameCluster := func() error {
		_, err := load(backuptest.Source("a.tar.gz", withCluster().Bytes()), backuptest.Source("b.tar.gz", withCluster().Bytes()))
		return err
	}
	for what, err := range map[string]error{"Namespace kube-system": sameNamespace(), "a Cluster": sameCluster()} {
		var input *backup.InputError
		if !errors.As(err, &input) || input.Name != "b.tar.gz" || !strings.Contains(input.Problem, "a.tar.gz") ||
			!strings.Contains(input.Problem, what) || input.Next == "" {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// Two backups that share anything of a cluster are of one management cluster,
// also when neither its Cluster object nor kube-system is in them (k0rdent): a
// machine that only the older one holds was deleted since, and is not Stale.
func TestTwoDaysOfOneManagementCluster(t *testing.T) {
	named := func(apiVersion, kind, name string, labels object) object {
		return object{
			"apiVersion": apiVersion, "kind": kind, "metadata": object{"namespace": "ns", "name": name, "labels": labels},
			"spec": object{"clusterName": "c"},
		}
	}
	const core = "cluster.x-k8s.io"
	ofCluster := object{core + "/cluster-name": "c"}
	for resource, c := range map[string]struct {
		object object
		shared string
	}{
		machines:                                  {machine("v1beta2", "shared", ""), "a Machine with"},
		"machinesets." + core:                     {named(core+"/v1beta2", "MachineSet", "s", nil), "a machine group with"},
		"machinedeployments." + core:              {named(core+"/v1beta2", "MachineDeployment", "s", nil), "a machine group with"},
		"k0scontrolplanes.controlplane." + core:   {named("controlplane."+core+"/v1beta1", "K0sControlPlane", "c", nil), "a control plane with"},
		"vsphereclusters.infrastructure." + core:  {named("infrastructure."+core+"/v1beta1", "VSphereCluster", "c", nil), "an infrastructure cluster with"},
		things:                                    {named("infrastructure."+core+"/v1", "Thing", "t", ofCluster), "objects of cluster ns/c with"},
		"identities.infrastructure." + core:       {named("infrastructure."+core+"/v1", "Identity", "i", nil), ""},
		"identities.other.infrastructure." + core: {named("other.infrastructure."+core+"/v1", "Identity", "i", ofCluster), ""}, // not read
	} {
		want := backup.Want{Kinds: []backup.AnyKind{thingKind, backup.NewKind("identities.infrastructure."+core, backup.Text(func(t *thing) *string { return &t.First }, "kind"))}}
		monday := backuptest.New().Add(machines, machine("v1beta2", "monday", "")).Add(resource, c.object).Bytes()
		tuesday := backuptest.New().At(backuptest.Written.Add(24*time.Hour)).Add(machines, machine("v1beta2", "tuesday", "")).Add(resource, c.object).Bytes()
		_, _, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("monday", monday), backuptest.Source("tuesday", tuesday)}, want)
		var input *backup.InputError
		switch {
		case c.shared == "" && err != nil:
			t.Errorf("%s: error %v", resource, err)
		case c.shared != "" && (!errors.As(err, &input) || input.Name != "tuesday" || !strings.Contains(input.Problem, "same management cluster as monday: both hold "+c.shared)):
			t.Errorf("%s: error %v", resource, err)
		}
	}
}

// Objects with one uid are one object: each backup that holds it has what was
// written last. Objects of one name with two uids are two.
func TestMerging(t *testing.T) {
	later := backuptest.Written.Add(time.Hour)
	named := func(name, uid, text string) object {
		o := newThing(name, object{"new": text})
		o["metadata"].(object)["uid"] = uid
		return o
	}
	old := backuptest.New().
		Add(things, named("shared", "1", "old")).Add(things, named("only-old", "2", "old"))
	recent := backuptest.New().At(later).
		Add(things, named("shared", "1", "new")).Add(things, named("only-new", "3", "new"))
	foreign := backuptest.New().Add(things, named("shared", "9", "foreign"))
	for name, b := range map[string]*backuptest.Tarball{"old": old, "recent": recent, "foreign": foreign} {
		m := machine("v1beta2", "same-name", "")
		m["metadata"].(object)["uid"] = name
		b.Add(machines, m)
	}
	for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
		all := []backup.Source{
			backuptest.Source("old", old.Bytes()), backuptest.Source("recent", recent.Bytes()), backuptest.Source("foreign", foreign.Bytes()),
		}
		var sources []backup.Source
		for _, i := range order {
			sources = append(sources, all[i])
		}
		s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{thingKind}}, sources...)
		var got []string
		for r := range thingKind.In(s).All() {
			got = append(got, fmt.Sprintf("%s %s %s", s.Backups[r.Backup].Path, r.Name, r.Data.First))
		}
		slices.Sort(got)
		want := []string{"foreign shared foreign", "old only-old old", "old shared new", "recent only-new new", "recent shared new"}
		if !slices.Equal(got, want) {
			t.Errorf("order %v: things %q", order, got)
		}
		if len(s.Machines) != 3 || len(s.Clusters) != 3 {
			t.Errorf("order %v: machines %v, clusters %+v", order, names(s), s.Clusters)
		}
	}
}
