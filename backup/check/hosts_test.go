package check_test

import (
	"slices"
	"testing"

	"drift-detector/backup/backuptest"
)

// A host that runs is written over after a restore, unless something keeps its status.
func TestBareMetalHosts(t *testing.T) {
	for name, c := range map[string]struct {
		state       string
		annotations map[string]any
		spec        map[string]any
		lost        bool
	}{
		"provisioned":                    {"provisioned", nil, nil, true},
		"its status is kept":             {"provisioned", map[string]any{"baremetalhost.metal3.io/status": "{}"}, nil, false},
		"paused":                         {"provisioned", map[string]any{"baremetalhost.metal3.io/paused": "metal3.io/capm3"}, nil, false},
		"provisioned by somebody else":   {"provisioned", nil, map[string]any{"externallyProvisioned": true}, false},
		"nothing runs on it":             {"available", nil, nil, false},
		"another annotation of Metal3's": {"provisioned", map[string]any{"inspect.metal3.io": "disabled"}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := backuptest.New().Add("clusters.cluster.x-k8s.io", map[string]any{
				"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": map[string]any{"namespace": "metal", "name": "c"},
			}).Add("baremetalhosts.metal3.io", map[string]any{
				"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "spec": c.spec,
				"metadata": map[string]any{"namespace": "metal", "name": "h", "annotations": c.annotations},
				"status":   map[string]any{"provisioning": map[string]any{"state": c.state}},
			})
			got := signs(checked(t, b.Bytes(), afterwards, described(t)))
			if slices.Contains(got, "error HostStatusLost: BareMetalHost metal/h") != c.lost {
				t.Errorf("found %q", got)
			}
		})
	}
}
