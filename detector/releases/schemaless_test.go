package releases

import (
	"strings"
	"testing"
)

// Of a kind that the backup has no definition of, the folder says the scope, and what its lists
// default to nobody knows.
func TestKindsWithoutDefinition(t *testing.T) {
	const monitor = "{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: a}, spec: {size: 1, endpoints: [{port: web}]}}"
	live := func(spec string) string {
		return `{"apiVersion":"monitoring.coreos.com/v1","kind":"PodMonitor","metadata":{"name":"a"},"spec":` + spec + `}`
	}
	const monitors = "podmonitors.monitoring.coreos.com"
	for _, c := range []struct{ name, resource, namespace, live, manifest, want string }{
		{"cluster-scoped", "clusterissuers.cert-manager.io", "", `{"apiVersion":"cert-manager.io/v1","kind":"ClusterIssuer","metadata":{"name":"a"},"spec":{"selfSigned":{}}}`, "{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: a}, spec: {selfSigned: {}}}", ""},
		{"cluster-scoped, drifted", "clusterissuers.cert-manager.io", "", `{"apiVersion":"cert-manager.io/v1","kind":"ClusterIssuer","metadata":{"name":"a"},"spec":{"ca":{"secretName":"x"}}}`, "{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: a}, spec: {ca: {secretName: y}}}", Changed},
		{"another plural", "gateways.gateway.networking.k8s.io", "shop", `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"name":"a"},"spec":{"gatewayClassName":"x"}}`, "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: a}, spec: {gatewayClassName: x}}", ""},
		{"of Kubernetes itself", "deviceclasses.resource.k8s.io", "", `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"a"},"spec":{}}`, "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: a}, spec: {}}", NotComparable},
		{"the same list", monitors, "shop", live(`{"size":1,"endpoints":[{"port":"web"}]}`), monitor, ""},
		{"a default in a list", monitors, "shop", live(`{"size":1,"endpoints":[{"port":"web","scheme":"http"}]}`), monitor, NotComparable},
		{"an item beside", monitors, "shop", live(`{"size":1,"endpoints":[{"port":"a"},{"port":"web"}]}`), monitor, NotComparable},
		{"a default beside drift", monitors, "shop", live(`{"size":2,"endpoints":[{"port":"web","scheme":"http"}]}`), monitor, Changed},
		{"drift in a list", monitors, "shop", live(`{"size":1,"endpoints":[{"port":"other","scheme":"http"}]}`), monitor, Changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := repaired(t)
			o := w.lives(t, c.resource, c.namespace, c.live)
			w.more(t, c.manifest)
			r := w.one(t)
			if got := r.object(describe(o)); got.Verdict != c.want || len(r.Extra) != 1 || got.Upgrade != "" {
				t.Errorf("%s %s %s; extra %s", got.Verdict, got.Message, upgrades(got), r.Extra)
			}
		})
	}
}

// Replicas that an autoscaler sets are no drift; an apply that declares them fails all the same.
func TestApplyAgainstAnAutoscaler(t *testing.T) {
	for method, want := range map[string]string{"ssa": Fails, "csa": ""} {
		w := repaired(t)
		manifest("replicas: 5", "replicas: 3")(t, w)
		w.edit(t, func(r Object) { r["apply_method"] = method })
		w[[3]string{"horizontalpodautoscalers.autoscaling", "shop", "x"}] = decode(t, `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"x","namespace":"shop"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"shop-web"}}}`)
		r := w.one(t)
		if r.Reason != InSync || r.After.Upgrade != want || r.object(web).Fails() != (want == Fails) || strings.Contains(show(r.After), "spec.replicas") != (want == Fails) {
			t.Errorf("%s: %s %s", method, r.Reason, show(r.After))
		}
	}
}
