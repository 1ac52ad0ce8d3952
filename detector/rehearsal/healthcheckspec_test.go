package rehearsal

import (
	"encoding/json"
	"reflect"
	"testing"

	//lint:ignore SA1019 Deprecated, and what backups hold.
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// TestHealthChecksAsClusterAPIConvertsThem holds decodeCheck to the conversion of Cluster
// API, and that a spec of v1beta2 is read as it is.
func TestHealthChecksAsClusterAPIConvertsThem(t *testing.T) {
	for name, text := range map[string]string{
		"all members": `{"clusterName":"c","selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"Exists"}]},
			"unhealthyConditions":[{"type":"Ready","status":"False","timeout":"5m0s"},{"type":"Ready","status":"Unknown","timeout":"1h"}],
			"unhealthyMachineConditions":[{"type":"Up","status":"False","timeout":"90s"}],"nodeStartupTimeout":"20m","maxUnhealthy":"40%",
			"unhealthyRange":"[1-3]","remediationTemplate":{"apiVersion":"g/v1","kind":"T","name":"t","namespace":"n"}}`,
		"a number":      `{"maxUnhealthy":3,"nodeStartupTimeout":"0s"}`,
		"below seconds": `{"nodeStartupTimeout":"1500ms","unhealthyConditions":[{"type":"Ready","status":"False","timeout":"999ms"}]}`,
		"empty":         `{}`,
		"nulls":         `{"maxUnhealthy":null,"unhealthyConditions":null,"unhealthyRange":null,"remediationTemplate":null,"nodeStartupTimeout":null}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decodeCheck(text)
			if err != nil {
				t.Fatal(err)
			}
			var older clusterv1beta1.MachineHealthCheckSpec
			var want clusterv1.MachineHealthCheckSpec
			if err := json.Unmarshal([]byte(text), &older); err != nil {
				t.Fatal(err)
			}
			if err := clusterv1beta1.Convert_v1beta1_MachineHealthCheckSpec_To_v1beta2_MachineHealthCheckSpec(&older, &want, nil); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(*got, want) {
				t.Errorf("got  %+v\nwant %+v", *got, want)
			}
			newer, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := decodeCheck(string(newer)); err != nil || !reflect.DeepEqual(*again, want) {
				t.Errorf("as v1beta2: %+v, %v\nwant %+v", again, err, want)
			}
		})
	}
}
