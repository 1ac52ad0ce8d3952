package rehearsal

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"

	"drift-detector/backup"
)

// k0sSpec is a K0sControlPlane, or a K0sControllerConfig: the configuration, in JSON.
type k0sSpec struct{ Spec string }

var (
	k0sPlanes = backup.NewKind("k0scontrolplanes.controlplane.cluster.x-k8s.io",
		backup.Raw(func(k *k0sSpec) *string { return &k.Spec }, "spec.k0sConfigSpec")).Ownerless()
	k0sConfigs = backup.NewKind("k0scontrollerconfigs.bootstrap.cluster.x-k8s.io",
		backup.Raw(func(k *k0sSpec) *string { return &k.Spec }, "spec")).Ownerless()
)

// reconfigured says that a K0sControlPlane specifies another configuration than the machine was
// created with, or is empty. A K0sControllerConfig that is absent is no difference
// (isBootstrapConfigUpToDate: internal/controller/controlplane/helper.go v2.0.0 to v2.1.0 of
// k0smotron, hasControllerConfigChanged v1.5.0 to v1.10.9). In its status k0smotron up to v1.10.9
// counts no Machine of another configuration, and K0sControlPlane has no observedGeneration.
func (c *cluster) reconfigured(m *backup.Machine) string {
	if c.plane.Kind != "K0sControlPlane" {
		return ""
	}
	s := c.world.in.Snapshot
	plane := k0sPlanes.In(s).Named(c.plane.Backup, c.plane.Namespace, c.plane.Name)
	config := k0sConfigs.In(s).Named(m.Backup, m.Bootstrap.Namespace, m.Bootstrap.Name)
	if plane == nil || config == nil ||
		reflect.DeepEqual(k0sConfiguration(plane.Data.Spec, m.K0sConfig), k0sConfiguration(config.Data.Spec, m.K0sConfig)) {
		return ""
	}
	return named("K0sControllerConfig", config.Namespace, config.Name) + " has another configuration than " + c.planeTitle() + " specifies"
}

// k0sUsual are the values that k0smotron takes where none is set (withV1Beta2Defaults: helper.go v2.1.0).
var k0sUsual = map[string]any{
	"k0sInstallDir": "/usr/local/bin",
	"downloadURL":   "https://get.k0s.sh",
	"provisioner":   map[string]any{"type": "cloud-config", "platform": "linux"},
	"tunneling":     map[string]any{"serverNodePort": 31700.0, "tunnelingNodePort": 31443.0, "mode": "tunnel"},
}

// k0sConfiguration returns what is compared of a configuration. Of a Machine with annotation k0s-config
// (v1.10.0) all but that of k0s itself, which is changed as k0s runs; of one without, all
// but the tunnel, and of k0s the API server and the storage, in which its etcd may have the Machine's
// name; the K0sControllerConfig may name its file among the arguments (deprecatedIsK0sConfigChanged).
func k0sConfiguration(text string, annotated bool) any {
	var spec map[string]any
	if json.Unmarshal([]byte(text), &spec) != nil {
		return nil
	}
	k0s := inside(inside(spec, "k0s"), "spec")
	delete(spec, "k0s")
	delete(spec, "version")
	if annotated {
		return unusual(spec, k0sUsual)
	}
	delete(spec, "tunneling")
	delete(inside(inside(inside(k0s, "storage"), "etcd"), "extraArgs"), "name")
	spec["k0s"] = map[string]any{"api": k0s["api"], "storage": k0s["storage"]}
	file := "/etc/k0s.yaml"
	if dir, _ := spec["workingDir"].(string); dir != "" {
		file = path.Join(dir, "k0s.yaml")
	}
	args, _ := spec["args"].([]any)
	var kept []any
	for _, a := range args {
		if a != "--config" && a != file && !slices.Contains(kept, a) {
			kept = append(kept, a)
		}
	}
	spec["args"] = kept
	return unusual(spec, k0sUsual)
}

// inside returns a member of an object that is one itself, or nil.
func inside(of map[string]any, name string) map[string]any {
	m, _ := of[name].(map[string]any)
	return m
}

// unusual returns what is left of a value without what is empty, or as usual.
func unusual(v, usual any) any {
	switch t := v.(type) {
	case map[string]any:
		of, _ := usual.(map[string]any)
		for k, e := range t {
			if t[k] = unusual(e, of[k]); t[k] == nil {
				delete(t, k)
			}
		}
		if len(t) == 0 {
			return nil
		}
	case []any:
		for i, e := range t {
			t[i] = unusual(e, nil)
		}
		if len(t) == 0 {
			return nil
		}
	default:
		if v == usual || v == "" || v == false || v == 0.0 {
			return nil
		}
	}
	return v
}
