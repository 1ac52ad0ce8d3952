package all

import (
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// The members that a MachinePool lists are found whichever provider has them, although none
// reads its kind.
func TestMembersOfPoolsThatNobodyReads(t *testing.T) {
	for provider, id := range map[string]string{
		"aws":       "aws:///us-east-1a/i-0123456789abcdef0",
		"openstack": "openstack:///d0000004-0000-4000-8000-000000000004",
		"vsphere":   "vsphere://42000004-0000-4000-8000-000000000004",
	} {
		t.Run(provider, func(t *testing.T) {
			b := backuptest.New()
			b.Add("clusters.cluster.x-k8s.io", map[string]any{
				"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": map[string]any{"namespace": "ns", "name": "prod"},
			})
			b.Add("machinepools.cluster.x-k8s.io", map[string]any{
				"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool", "metadata": map[string]any{"namespace": "ns", "name": "mp"},
				"spec": map[string]any{
					"clusterName": "prod", "replicas": 1, "providerIDList": []any{id},
					"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "FooMachinePool", "name": "mp"}}},
				},
			})
			r := Registry()
			s, _, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", b.Bytes())}, r.Want())
			if err != nil {
				t.Fatal(err)
			}
			expected := r.Expected(s)
			member := infra.Instance{Identity: "member", ID: "member", Name: "member", Keys: r.Keys(id)}
			if related := expected.IsRelated(); !related(&member) {
				t.Error("a listing does not keep the member")
			}
			inv := infra.Inventory{Listings: []infra.Listing{{Provider: provider, IDs: []string{"x"}, State: code.ScopeComplete, Instances: []infra.Instance{member}}}}
			result := detector.Detect(s, expected, inv, detector.Options{Now: time.Unix(1_800_000_000, 0)})
			g := result.Clusters[0].WorkerGroups[0]
			if g.Reason != code.PoolUndecided || len(g.Pool.Then) != 1 || len(g.Pool.Now) != 1 || result.Excluded["poolMember"] != 1 {
				t.Errorf("the pool is %s %+v, left out are %v", g.Reason, g.Pool, result.Excluded)
			}
		})
	}
}
