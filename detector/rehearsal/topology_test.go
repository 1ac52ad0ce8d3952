package rehearsal

import (
	"context"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

// What the topology and its class say of health checks decides who is covered,
// when the backup holds no MachineHealthCheck.
func TestHealthChecksOfATopology(t *testing.T) {
	check := fields{"checks": fields{"nodeStartupTimeoutSeconds": 300}}
	older := fields{"nodeStartupTimeout": "5m", "maxUnhealthy": "40%", "unhealthyConditions": []any{fields{"type": "Ready", "status": "False", "timeout": "5m"}}}
	for name, c := range map[string]struct {
		class, topology       fields // of the control plane and of MachineDeployment md-0
		member                string // healthCheck or machineHealthCheck
		plane, worker, others bool
	}{
		"in the class":          {fields{"plane": check, "worker": check}, fields{}, "healthCheck", true, true, false},
		"of the workers":        {fields{"worker": check}, fields{}, "healthCheck", false, true, false},
		"in the topology":       {fields{}, fields{"plane": check, "worker": check}, "healthCheck", true, true, false},
		"before v1beta2":        {fields{"worker": older}, fields{"plane": older}, "machineHealthCheck", true, true, false},
		"switched off":          {fields{"plane": check, "worker": check}, fields{"worker": fields{"enabled": false}}, "healthCheck", true, false, false},
		"switched off, v1beta1": {fields{"plane": older, "worker": older}, fields{"plane": fields{"enable": false}}, "machineHealthCheck", false, true, false},
		"switched on alone":     {fields{}, fields{"worker": fields{"enabled": true}}, "healthCheck", false, false, false},
		"switched on again":     {fields{"worker": check}, fields{"worker": fields{"enabled": true}}, "healthCheck", false, true, false},
		"nowhere":               {fields{}, fields{}, "healthCheck", false, false, false},
		"not to be read":        {fields{}, fields{"worker": "yes"}, "healthCheck", false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := withTopology(t, c.member, c.class, c.topology)
			checks := readChecks(s, managedTopologies(s))[prod]
			covers := func(labels backup.Labels) bool {
				all := newCover(checks).of(&backup.Machine{Labels: labels})
				for _, h := range all {
					if h.timeout.Minutes() != 5 {
						t.Errorf("it waits %s", h.timeout)
					}
				}
				return all != nil
			}
			const owned = `"topology.cluster.x-k8s.io/owned":""`
			for labels, want := range map[backup.Labels]bool{
				`{` + owned + `,"cluster.x-k8s.io/control-plane":""}`:                   c.plane,
				`{` + owned + `,"topology.cluster.x-k8s.io/deployment-name":"md-0"}`:    c.worker,
				`{` + owned + `,"topology.cluster.x-k8s.io/deployment-name":"md-1"}`:    c.others,
				`{"topology.cluster.x-k8s.io/deployment-name":"md-0"}`:                  false,
				`{"cluster.x-k8s.io/control-plane":"","cluster.x-k8s.io/set-name":"x"}`: false,
			} {
				if got := covers(labels); got != want {
					t.Errorf("machines with %s: covered %v, want %v", labels, got, want)
				}
			}
		})
	}
}

// withTopology has cluster prod of class "c", with MachineDeployment md-0 of
// worker class "w" and md-1 of a class that does not exist.
func withTopology(t *testing.T, member string, of, own fields) *backup.Snapshot {
	t.Helper()
	put := func(to fields, from any) fields {
		if from != nil {
			to[member] = from
		}
		return to
	}
	class := fields{"controlPlane": put(fields{}, of["plane"]), "workers": fields{"machineDeployments": []any{fields{"class": "x"}, put(fields{"class": "w"}, of["worker"])}}}
	topology := fields{
		"classRef": fields{"name": "c"}, "controlPlane": put(fields{}, own["plane"]),
		"workers": fields{"machineDeployments": []any{put(fields{"class": "w", "name": "md-0"}, own["worker"]), fields{"class": "gone", "name": "md-1"}}},
	}
	if member == "machineHealthCheck" {
		delete(topology, "classRef")
		topology["class"] = "c"
	}
	b := backuptest.New()
	for kind, spec := range map[string]fields{"ClusterClass": class, "Cluster": {"topology": topology}} {
		name, resource := "prod", "clusters"
		if kind == "ClusterClass" {
			name, resource = "c", "clusterclasses"
		}
		b.Add(resource+".cluster.x-k8s.io", fields{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind, "metadata": fields{"namespace": "ns", "name": name}, "spec": spec,
		})
	}
	s, _, err := backup.Load(context.Background(), []backup.Source{backuptest.Source("b", b.Bytes())}, Want())
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	return s
}

func TestLimitOfATopologysCheck(t *testing.T) {
	h, _ := topologyCheckOf(`{"maxUnhealthy":"40%","unhealthyRange":"[1-2]","remediationTemplate":{"kind":"X"}}`, "")
	newer, _ := topologyCheckOf(`{"remediation":{"triggerIf":{"unhealthyLessThanOrEqualTo":"40%","unhealthyInRange":"[1-2]"},"templateRef":{"kind":"X"}}}`, "")
	for _, got := range []*clusterv1.MachineHealthCheckSpec{h, newer} {
		if got == nil || got.Remediation.TriggerIf.UnhealthyLessThanOrEqualTo.StrVal != "40%" || got.Remediation.TriggerIf.UnhealthyInRange != "[1-2]" || got.Remediation.TemplateRef.Kind != "X" {
			t.Errorf("%+v", got)
		}
	}
}
