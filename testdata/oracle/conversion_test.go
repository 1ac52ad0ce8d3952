package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kubeadm "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/conversion"
	core "sigs.k8s.io/cluster-api/core/webhooks/conversion"

	"drift-detector/backup"
)

// converter turns an object of one API version, as JSON, into the other.
type converter func(body []byte) ([]byte, error)

// conversions are Cluster API's own, by resource: down from v1beta2 to v1beta1
// and up again.
var conversions = map[string]struct{ down, up converter }{
	"clusters.cluster.x-k8s.io": {
		by(core.ConvertClusterHubToV1Beta1, "v1beta1"), by(core.ConvertClusterV1Beta1ToHub, "v1beta2"),
	},
	"machines.cluster.x-k8s.io": {
		by(core.ConvertMachineHubToV1Beta1, "v1beta1"), by(core.ConvertMachineV1Beta1ToHub, "v1beta2"),
	},
	"machinesets.cluster.x-k8s.io": {
		by(core.ConvertMachineSetHubToV1Beta1, "v1beta1"), by(core.ConvertMachineSetV1Beta1ToHub, "v1beta2"),
	},
	"machinedeployments.cluster.x-k8s.io": {
		by(core.ConvertMachineDeploymentHubToV1Beta1, "v1beta1"), by(core.ConvertMachineDeploymentV1Beta1ToHub, "v1beta2"),
	},
	"machinepools.cluster.x-k8s.io": {
		by(core.ConvertMachinePoolHubToV1Beta1, "v1beta1"), by(core.ConvertMachinePoolV1Beta1ToHub, "v1beta2"),
	},
	"kubeadmcontrolplanes.controlplane.cluster.x-k8s.io": {
		by(kubeadm.ConvertKubeadmControlPlaneHubToV1Beta1, "v1beta1"), by(kubeadm.ConvertKubeadmControlPlaneV1Beta1ToHub, "v1beta2"),
	},
}

func init() {
	// In a cluster the conversion looks up which version implements the
	// contract; the version is no part of what is compared.
	version := func(_ context.Context, gk schema.GroupKind) (string, error) { return gk.Group + "/v1beta1", nil }
	core.SetAPIVersionGetter(version)
	kubeadm.SetAPIVersionGetter(version)
}

// by wraps a conversion function of Cluster API.
func by[From, To any](convert func(context.Context, *From, *To) error, version string) converter {
	return func(body []byte) ([]byte, error) {
		from, to := new(From), new(To)
		if err := json.Unmarshal(body, from); err != nil {
			return nil, err
		}
		var head struct{ APIVersion, Kind string }
		if err := json.Unmarshal(body, &head); err != nil {
			return nil, err
		}
		if err := convert(context.Background(), from, to); err != nil {
			return nil, err
		}
		text, err := json.Marshal(to)
		if err != nil {
			return nil, err
		}
		// The functions leave apiVersion and kind to the API server.
		group, _, _ := strings.Cut(head.APIVersion, "/")
		var object map[string]any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&object); err != nil {
			return nil, err
		}
		object["apiVersion"], object["kind"] = group+"/"+version, head.Kind
		return json.Marshal(object)
	}
}

// without takes an annotation off an object.
func without(annotation string, body []byte) ([]byte, error) {
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, annotation)
	return json.Marshal(object)
}

// conversionData is where the functions keep what v1beta1 can't say.
const conversionData = "cluster.x-k8s.io/conversion-data"

// TestV1beta1RecordsAreThoseOfV1beta2 loads the lab's objects as v1beta1, and
// the same objects converted to v1beta2, and demands equal records. It does so
// for objects that were v1beta2 once, and for such that never were.
func TestV1beta1RecordsAreThoseOfV1beta2(t *testing.T) {
	for _, file := range tarballs {
		for _, bare := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s bare=%t", strings.TrimPrefix(file, "../"), bare), func(t *testing.T) {
				down := func(resource string, body []byte) ([]byte, error) {
					body, err := conversions[resource].down(body)
					if err == nil && bare {
						body, err = without(conversionData, body)
					}
					return body, err
				}
				old := load(t, converted(t, file, "v1beta1", down), backup.Want{})
				hub := load(t, converted(t, file, "v1beta2", func(resource string, body []byte) ([]byte, error) {
					body, err := down(resource, body)
					if err != nil {
						return nil, err
					}
					return conversions[resource].up(body)
				}), backup.Want{})
				compare(t, old, hub)
				if !bare {
					compare(t, old, countsSet(load(t, rewrite(t, file, unchanged), backup.Want{})))
				}
			})
		}
	}
}

// countsSet sets the counts that are unset: v1beta1 writes them as 0, so that
// the conversion can't tell the two apart.
func countsSet(s *backup.Snapshot) *backup.Snapshot {
	for i := range s.ControlPlanes {
		s.ControlPlanes[i].Replicas.Known = true
	}
	for i := range s.Groups {
		s.Groups[i].Replicas.Known = true
	}
	return s
}

func unchanged(path string, body []byte) (string, []byte) { return path, body }

// converted returns a tarball with its core objects in another version.
func converted(t *testing.T, file, version string, convert func(resource string, body []byte) ([]byte, error)) backup.Source {
	t.Helper()
	count := map[string]int{}
	source := rewrite(t, file, func(path string, body []byte) (string, []byte) {
		_, rest, _ := strings.Cut(path, "/")
		resource, _, _ := strings.Cut(rest, "/")
		if _, ours := conversions[resource]; !ours {
			return path, body
		}
		text, err := convert(resource, body)
		if err != nil {
			t.Fatalf("converting %s: %v", path, err)
		}
		if !bytes.Contains(text, []byte(`/`+version+`"`)) {
			t.Fatalf("%s did not become %s", path, version)
		}
		count[resource]++
		return strings.Replace(path, "/v1beta2-preferredversion/", "/"+version+"-preferredversion/", 1), text
	})
	for _, resource := range []string{"clusters", "machines", "machinesets", "machinedeployments"} {
		if count[resource+".cluster.x-k8s.io"] == 0 {
			t.Fatalf("%s holds no %s", file, resource)
		}
	}
	return source
}

// compare demands equal records of the core kinds.
func compare(t *testing.T, got, want *backup.Snapshot) {
	t.Helper()
	same(t, "Cluster", got.Clusters, want.Clusters)
	same(t, "control plane", got.ControlPlanes, want.ControlPlanes)
	same(t, "group", got.Groups, want.Groups)
	same(t, "Machine", got.Machines, want.Machines)
	if len(want.Machines) < 20 || len(want.Clusters) < 5 {
		t.Errorf("only %d Machines and %d Clusters are compared", len(want.Machines), len(want.Clusters))
	}
}

func same[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d records of a %s, want %d", len(got), what, len(want))
		return
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s of v1beta1:\n%+v\nof v1beta2:\n%+v", what, got[i], want[i])
		}
	}
}
