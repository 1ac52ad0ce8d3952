package backup_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

// living returns the lab's backup as a management cluster that runs, of which some kinds could not be
// read.
func living(t *testing.T, unread map[string]string, change func(resource string, o map[string]any)) backup.Source {
	t.Helper()
	packed, err := os.ReadFile(lab)
	if err != nil {
		t.Fatal(err)
	}
	source := backuptest.Source("mgmt:6443", backuptest.Edit(t, packed, func(resource string, o map[string]any) bool {
		if change != nil {
			change(resource, o)
		}
		return unread[resource] == ""
	}, ""))
	source.Live, source.Unread = true, func() map[string]string { return unread }
	return source
}

// Of a kind that could not be read nothing is absent, and the run knows that it has not seen
// everything.
func TestUnreadKindsAreNotAbsent(t *testing.T) {
	t.Parallel()
	for resource, decisive := range map[string]bool{
		"machines.cluster.x-k8s.io":                               true,
		"vsphereclusters.infrastructure.cluster.x-k8s.io":         true,
		"kubeadmcontrolplanes.controlplane.cluster.x-k8s.io":      true,
		"kubeadmconfigs.bootstrap.cluster.x-k8s.io":               true,
		"vspheremachinetemplates.infrastructure.cluster.x-k8s.io": true,
		"customresourcedefinitions.apiextensions.k8s.io":          true,
		"vcentersimulators.vcsim.infrastructure.cluster.x-k8s.io": false,
		"pods": false,
	} {
		s, _ := loadAll(t, backup.Want{}, living(t, map[string]string{resource: "forbidden"}, nil))
		if !s.Backups[0].Live || s.Backups[0].Unread[resource] != "forbidden" {
			t.Errorf("%s: %+v", resource, s.Backups[0])
		}
		for _, a := range s.Absent {
			if a.Resource == resource {
				t.Errorf("%s: absent: %+v", resource, a)
			}
		}
		if len(s.Problems) != 1 || s.Problems[0].Item != resource || s.Problems[0].Decisive != decisive || !strings.Contains(s.Problems[0].Reason, "forbidden") {
			t.Errorf("%s: problems %+v", resource, s.Problems)
		}
	}
}

// Which verdicts rest on a kind: all of a backup on those of Cluster API, a provider's on its own.
func TestUnreadRestsOnKinds(t *testing.T) {
	t.Parallel()
	vsphere := []backup.AnyKind{backup.NewKind[struct{}]("vspherevms.infrastructure.cluster.x-k8s.io")}
	for resource, want := range map[string][2]bool{ // of vSphere, of another provider
		"machines.cluster.x-k8s.io":                          {true, true},
		"machinesets.cluster.x-k8s.io":                       {true, true},
		"kubeadmcontrolplanes.controlplane.cluster.x-k8s.io": {true, true},
		"customresourcedefinitions.apiextensions.k8s.io":     {true, true},
		"vspherevms.infrastructure.cluster.x-k8s.io":         {true, false},
		"machinehealthchecks.cluster.x-k8s.io":               {false, false},
		"secrets":                                            {false, false},
	} {
		s, _ := loadAll(t, backup.Want{}, living(t, map[string]string{resource: "forbidden"}, nil))
		for i, kinds := range [][]backup.AnyKind{vsphere, nil} {
			if on, why := s.Unread(0, kinds); (on != "") != want[i] || on != "" && (on != resource || why != "forbidden") {
				t.Errorf("%s, provider %d: rests on %q (%s)", resource, i, on, why)
			}
		}
	}
}

// Where nothing of Cluster API could be read, the reason is said, and not that there is none.
func TestNothingReadIsNoEmptyCluster(t *testing.T) {
	t.Parallel()
	unread := map[string]string{"clusters.cluster.x-k8s.io": "forbidden"}
	source := backuptest.Source("mgmt:6443", backuptest.New().Add("namespaces", map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "a", "uid": "u"},
	}).Bytes())
	source.Live, source.Unread = true, func() map[string]string { return unread }
	_, _, err := backup.Load(context.Background(), []backup.Source{source}, backup.Want{})
	if err == nil || errors.Is(err, backup.ErrNoClusterAPI) || !strings.Contains(err.Error(), "clusters.cluster.x-k8s.io: forbidden") {
		t.Errorf("%v", err)
	}
	unread = nil
	_, _, err = backup.Load(context.Background(), []backup.Source{source}, backup.Want{})
	if !errors.Is(err, backup.ErrNoClusterAPI) || strings.Contains(err.Error(), "Velero") {
		t.Errorf("%v", err)
	}
}

// An object that is being deleted is known by its kind and name, and what controls an
// infrastructure object loses it, too.
func TestDeletingObjects(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	vms := backup.NewKind[struct{}]("vspherevms.infrastructure.cluster.x-k8s.io")
	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{vms}}, living(t, nil, func(resource string, o map[string]any) {
		name := textAt(o, "metadata", "name")
		if resource == machineResource && name == "alpha-prod-jzxnt" || resource == vms.Resource() && name == "alpha-prod-kcn2q" {
			backuptest.Inside(o, "metadata")["deletionTimestamp"] = at.Format(time.RFC3339)
		}
	}))
	for _, one := range []struct {
		kind, name, what string
		want             time.Time
	}{
		{"Machine", "alpha-prod-jzxnt", "Machine tenant-alpha/alpha-prod-jzxnt", at},
		{"Machine", "alpha-prod-nnxbq", "", time.Time{}},
		{"VSphereVM", "alpha-prod-kcn2q", "VSphereVM tenant-alpha/alpha-prod-kcn2q", at},
		{"VSphereMachine", "alpha-prod-kcn2q", "VSphereVM tenant-alpha/alpha-prod-kcn2q", at},
		{"VSphereMachine", "alpha-prod-nnxbq", "", time.Time{}},
	} {
		if what, since := s.Deleting(0, one.kind, "tenant-alpha", one.name); !since.Equal(one.want) || one.what != "" && what != one.what {
			t.Errorf("of %s %s, %s is being deleted since %s, want %s", one.kind, one.name, what, since, one.want)
		}
	}
}

const machineResource = "machines.cluster.x-k8s.io"

// Of an object of a kind that could not be read nobody says that it is not there.
func TestLacks(t *testing.T) {
	t.Parallel()
	const unread = "could not be read"
	live := &backup.Snapshot{Backups: []backup.Info{{Live: true, Unread: map[string]string{"secrets": "403", "awsclusterstaticidentities.infrastructure.cluster.x-k8s.io": "403"}}}}
	for _, c := range []struct {
		of    *backup.Snapshot
		kinds []string
		want  string
	}{
		{live, []string{"Secret"}, unread},
		{live, []string{"AWSClusterStaticIdentity"}, unread},
		{live, []string{"VSphereCluster", "Secret"}, unread},
		{live, []string{"VSphereCluster"}, "is not in the management cluster"},
		{live, []string{"AWSClusterRoleIdentity"}, "is not in the management cluster"},
		{&backup.Snapshot{Backups: []backup.Info{{}}}, []string{"Secret"}, "is not in the backup"},
		{&backup.Snapshot{Backups: []backup.Info{{Unread: map[string]string{"secrets": "damaged"}}}}, []string{"Secret"}, unread}, // a folder of clusterctl
	} {
		if got := c.of.Lacks(0, c.kinds...); got != c.want {
			t.Errorf("%v: %q, want %q", c.kinds, got, c.want)
		}
	}
}
