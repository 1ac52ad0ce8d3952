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

// Objects with one uid are one object, the newer copy counts; objects of one
// name with two uids are two, each in its own cluster.
func TestMerging(t *testing.T) {
	later := backuptest.Written.Add(time.Hour)
	named := func(name, uid, phase string) object {
		m := machine("v1beta2", name, phase)
		m["metadata"].(object)["uid"] = uid
		m["metadata"].(object)["labels"] = object{"cluster.x-k8s.io/cluster-name": "c"}
		return m
	}
	old := backuptest.New().
		Add(machines, named("shared", "1", "old")).Add(machines, named("only-old", "2", "old"))
	recent := backuptest.New().At(later).
		Add(machines, named("shared", "1", "new")).Add(machines, named("only-new", "3", "new"))
	foreign := backuptest.New().Add(machines, named("shared", "9", "foreign"))
	for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
		all := []backup.Source{
			backuptest.Source("old", old.Bytes()), backuptest.Source("recent", recent.Bytes()), backuptest.Source("foreign", foreign.Bytes()),
		}
		var sources []backup.Source
		for _, i := range order {
			sources = append(sources, all[i])
		}
		s, err := load(sources...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range s.Machines {
			got = append(got, fmt.Sprintf("%s %s %s in %s", s.Backups[m.Backup].Path, m.Name, m.Phase, s.Backups[m.Cluster.Backup].Path))
			if s.Cluster(m.Cluster) == nil {
				t.Errorf("machine %s belongs to no cluster", m.Name)
			}
		}
		slices.Sort(got)
		want := []string{
			"foreign shared foreign in foreign", "old only-old old in recent", "recent only-new new in recent", "recent shared new in recent",
		}
		if !slices.Equal(got, want) {
			t.Errorf("order %v: machines %q", order, got)
		}
		if len(s.Clusters) != 2 {
			t.Errorf("order %v: clusters %+v", order, s.Clusters)
		}
	}
}
