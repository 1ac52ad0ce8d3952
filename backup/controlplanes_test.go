package backup_test

import (
	"strings"
	"testing"

	"drift-detector/backup"
)

func TestControlPlaneNamed(t *testing.T) {
	one, two := backup.ClusterID{Name: "one"}, backup.ClusterID{Name: "two"}
	long := strings.Repeat("machineSetName", 12)
	plane := func(id backup.ClusterID, kind, name string) backup.ControlPlane {
		c := backup.ControlPlane{Kind: kind, Cluster: id}
		c.Name = name
		return c
	}
	s := &backup.Snapshot{ControlPlanes: []backup.ControlPlane{
		plane(one, "KubeadmControlPlane", "only"),
		plane(two, "KubeadmControlPlane", "a"), plane(two, "RKE2ControlPlane", "a"), plane(two, "KubeadmControlPlane", long),
	}}
	planes := s.ControlPlanesByCluster()
	for _, c := range []struct {
		cluster     backup.ClusterID
		kind, label string
		want        int // index into ControlPlanes, -1 for none
	}{
		{one, "", "only", 0},
		{one, "", "hash_abc_z", 0},
		{one, "K0sControlPlane", "other", 0},
		{one, "", "", 0},
		{two, "", "a", 1},
		{two, "RKE2ControlPlane", "a", 2},
		{two, "K0sControlPlane", "a", -1},
		{two, "", "hash_FR_ghQ_z", 3},
		{two, "", "hash_abc_z", -1},
		{two, "", "other", -1},
		{two, "", "", -1},
		{backup.ClusterID{Name: "three"}, "", "only", -1},
	} {
		var want *backup.ControlPlane
		if c.want >= 0 {
			want = &s.ControlPlanes[c.want]
		}
		if got := planes.Named(c.cluster, c.kind, c.label); got != want {
			t.Errorf("%s, kind %q, label %q: %+v, want %+v", c.cluster.Name, c.kind, c.label, got, want)
		}
	}
}
