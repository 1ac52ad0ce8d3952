package rehearsal

import (
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/report/code"
)

// What comes first of a cluster, by the flag of Velero's server. Its default is that of
// Velero v1.18.1, in short.
func TestWhichPrioritiesBringClustersFirst(t *testing.T) {
	for priorities, want := range map[string]bool{
		"customresourcedefinitions,namespaces,secrets,pods,-,clusterbootstraps.run.tanzu.vmware.com,clusters.cluster.x-k8s.io,clusterresourcesets.addons.cluster.x-k8s.io": false,
		"":                                     false, // Velero's low priorities stay
		"namespaces,secrets":                   false,
		"namespaces,-":                         false,
		"clusters.cluster.x-k8s.io":            true,
		"namespaces,clusters":                  true,
		"namespaces,cluster":                   true,
		"namespaces,-,other":                   true, // clusters go by their name then, before machines
		"namespaces,-,machines":                true, // and machines after the rest
		"machines,machinesets,clusters,secret": false,
		"machines.cluster.x-k8s.io,machinesets.cluster.x-k8s.io,clusters.cluster.x-k8s.io": false,
		"machines,clusters,machinesets":                               true,
		"namespaces,-,machinesets,machines,clusters.cluster.x-k8s.io": false,
	} {
		if got := bringsClustersFirst(priorities); got != want {
			t.Errorf("%q brings Clusters first: %v", priorities, got)
		}
	}
}

func TestVeleroOfTheBackup(t *testing.T) {
	deployment := func(name string, args ...string) fields {
		return fields{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": fields{"namespace": "velero", "name": name},
			"spec": fields{"template": fields{"spec": fields{"containers": []any{fields{"name": "velero", "args": args}}}}},
		}
	}
	const first = "clusters,machines"
	for name, c := range map[string]struct {
		object fields
		first  bool
	}{
		"one word":    {deployment("velero", "server", "--restore-resource-priorities="+first), true},
		"two words":   {deployment("velero", "server", "--restore-resource-priorities", first), true},
		"no value":    {deployment("velero", "server", "--restore-resource-priorities"), false},
		"other flags": {deployment("velero", "server", "--features=EnableCSI"), false},
		"none":        {deployment("velero"), false},
		"renamed":     {deployment("backup-velero", "server", "--restore-resource-priorities="+first), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.snapshot = load(t, newTarball(nil, nil).Add("deployments.apps", c.object))
			f := s.end()
			if got := len(f.Effects) == 1 && f.Effects[0].Code == code.ClustersFirst && strings.Contains(f.Effects[0].Message, first); got != c.first || !c.first && f.Effects != nil {
				t.Errorf("%+v", f.Effects)
			}
		})
	}
	s, _, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("b", newTarball(nil, nil).Add("deployments.apps", fields{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": fields{"namespace": "velero", "name": "velero"},
		"spec": fields{"template": fields{"spec": fields{"containers": "none"}}},
	}).Bytes())}, Want())
	if err != nil {
		t.Fatal(err)
	}
	if _, first := ownOrder(s); first {
		t.Error("of nothing")
	}
}
