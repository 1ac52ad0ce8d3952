package skeleton

import (
	"encoding/base64"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra/infratest"
	"drift-detector/infra/shell"
	"drift-detector/infra/shell/shelltest"
)

func TestConformance(t *testing.T) {
	infratest.Run(t, infratest.Harness{New: New, Start: start, Conditions: []infratest.Condition{infratest.Whole}})
}

func start(t *testing.T, _ infratest.Condition) infratest.World {
	const password = "m4rk3r-of-the-rack"
	object := func(apiVersion, kind, name string, spec map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": apiVersion, "kind": kind, "spec": spec,
			"metadata": map[string]any{"namespace": "boxes", "name": name, "labels": map[string]any{"cluster.x-k8s.io/cluster-name": "edge"}},
		}
	}
	secret := object("v1", "Secret", "rack", nil)
	secret["data"] = map[string]any{"password": base64.StdEncoding.EncodeToString([]byte(password))}
	data := backuptest.New().
		Add("clusters.cluster.x-k8s.io", object("cluster.x-k8s.io/v1beta2", "Cluster", "edge", nil)).
		Add("machines.cluster.x-k8s.io", object("cluster.x-k8s.io/v1beta2", "Machine", "a", map[string]any{
			"clusterName": "edge", "infrastructureRef": map[string]any{"apiGroup": group, "kind": "BoxMachine", "name": "a"},
		})).
		Add("boxmachines."+group, object(group+"/v1beta2", "BoxMachine", "a", map[string]any{"serial": "1001"})).
		Add("secrets", secret).Bytes()
	return infratest.World{Count: 2, Markers: []string{password}, Load: func() (*backup.Snapshot, *backup.Secrets) {
		s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("test", data)}, New().Spec().Want)
		if err != nil {
			t.Fatal(err)
		}
		return s, secrets
	}}
}

func TestTool(t *testing.T) {
	shelltest.Tool(t, tool{}, shell.Instance{
		Scope: shell.Scope{Endpoint: "rack-1.example:443", Identity: "4711", Variable: "SCOPE_1"}, ID: "1001", Name: "box-a",
	})
}
