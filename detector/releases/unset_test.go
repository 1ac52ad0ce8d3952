package releases

import (
	"fmt"
	"strings"
	"testing"
)

const (
	unsetPods    = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"%s},"spec":{"replicas":1,"revisionHistoryLimit":10,"progressDeadlineSeconds":600,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%%","maxUnavailable":"25%%"}},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"creationTimestamp":null,"labels":{"a":"b"}},"spec":{"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":"i:1","imagePullPolicy":"IfNotPresent","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}]}}}}`
	unsetService = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"p"},"spec":{"type":"NodePort","clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","sessionAffinity":"None","externalTrafficPolicy":"Cluster","internalTrafficPolicy":"Cluster","selector":{"a":"b"},"ports":[{"name":"http","port":80,"targetPort":80,"nodePort":30080,"protocol":"TCP"}]}}`
)

// What a manifest declares as null, or empty, is what the API server makes of a field
// without a value: its default, nothing, or what it chose before. Helm 3's merge of each of
// these was made with strategicpatch of apimachinery v0.36.
func unsetCases() []struct{ manifest, live, by, want string } {
	pods := func(in string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {selector: {matchLabels: {a: b}}, " + in + "}}"
	}
	template := func(in, container string) string {
		return pods("template: {metadata: {labels: {a: b}}, spec: {" + in + "containers: [{name: c, image: 'i:1'" + container + "}]}}")
	}
	service := func(in string) string {
		return "{apiVersion: v1, kind: Service, metadata: {name: p}, spec: {selector: {a: b}, " + in + "}}"
	}
	plain := fmt.Sprintf(unsetPods, "")
	return []struct{ manifest, live, by, want string }{
		{pods("replicas: null, strategy: null, revisionHistoryLimit: null, progressDeadlineSeconds: null, minReadySeconds: null"), plain, "", "; ; "},
		{pods("replicas: null"), plain, `"replicas":1=>"replicas":5`, "changed; replace /spec/replicas repairs; "},
		{pods("revisionHistoryLimit: null"), plain, `"revisionHistoryLimit":10=>"revisionHistoryLimit":0`, "changed; replace /spec/revisionHistoryLimit repairs; "},
		{pods("strategy: {type: Recreate, rollingUpdate: null}"), plain, `"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}}=>"strategy":{"type":"Recreate"}`, "; ; "},
		{pods("strategy: {type: Recreate, rollingUpdate: null}"), plain, "", "changed; replace /spec/strategy/type repairs, remove /spec/strategy/rollingUpdate repairs; strategy Recreate with rollingUpdate"},
		{pods("strategy: {rollingUpdate: {maxSurge: null}}"), plain, `"maxSurge":"25%"=>"maxSurge":9`, "changed; replace /spec/strategy/rollingUpdate/maxSurge repairs; "},
		{template("hostNetwork: null, securityContext: null, nodeSelector: null, serviceAccountName: null, volumes: null, ", ", imagePullPolicy: null, resources: null, env: null, args: null, livenessProbe: null"), plain, "", "; ; "},
		{template("hostNetwork: null, ", ""), plain, `"dnsPolicy"=>"hostNetwork":true,"dnsPolicy"`, "changed; remove /spec/template/spec/hostNetwork repairs; "},
		{template("securityContext: null, ", ""), plain, `"securityContext":{}=>"securityContext":{"runAsUser":0}`, "changed; remove /spec/template/spec/securityContext repairs; "},
		{template("securityContext: {runAsUser: null}, ", ""), plain, `"securityContext":{}=>"securityContext":{"runAsUser":0}`, "changed; remove /spec/template/spec/securityContext/runAsUser repairs; "},
		{template("terminationGracePeriodSeconds: null, ", ""), plain, `"terminationGracePeriodSeconds":30=>"terminationGracePeriodSeconds":0`, "changed; replace /spec/template/spec/terminationGracePeriodSeconds repairs; "},
		{template("", ", imagePullPolicy: null"), plain, `"imagePullPolicy":"IfNotPresent"=>"imagePullPolicy":"Never"`, "changed; replace /spec/template/spec/containers/0/imagePullPolicy repairs; "},
		{template("", ", imagePullPolicy: ''"), plain, `"imagePullPolicy":"IfNotPresent"=>"imagePullPolicy":"Never"`, "changed; replace /spec/template/spec/containers/0/imagePullPolicy repairs; "},
		{template("", ", imagePullPolicy: ''"), strings.Replace(plain, `"i:1"`, `"i:1@sha256:0"`, 1), `"i:1@sha256:0"=>"i:1"`, "; ; "},
		{template("", ", resources: {limits: {cpu: null}}"), plain, `"resources":{}=>"resources":{"limits":{"cpu":"1"}}`, "changed; remove /spec/template/spec/containers/0/resources/limits repairs; "},
		{template("", ", resources: null"), plain, `"resources":{}=>"resources":{"limits":{"cpu":"1"}}`, "changed; remove /spec/template/spec/containers/0/resources/limits repairs; "},
		{pods("strategy: null"), plain, `"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}}=>"strategy":{"type":"Recreate"}`, "changed; add /spec/strategy/rollingUpdate repairs, replace /spec/strategy/type repairs; "},
		{template("", ", env: null"), plain, `"resources":{}=>"resources":{},"env":[{"name":"A","value":"1"}]`, "changed; remove /spec/template/spec/containers/0/env repairs; "},
		{template("", ", env: []"), plain, `"resources":{}=>"resources":{},"env":[{"name":"A","value":"1"}]`, "; ; "},
		{template("serviceAccountName: null, ", ""), plain, `"dnsPolicy"=>"serviceAccountName":"x","serviceAccount":"x","dnsPolicy"`, "changed; remove /spec/template/spec/serviceAccountName leaves; "},
		{template("typo: false, hostNetwork: false, ", ""), plain, `"dnsPolicy"=>"hostNetwork":true,"dnsPolicy"`, "changed; remove /spec/template/spec/hostNetwork repairs; "},
		{pods("template: {metadata: {labels: {a: b}, annotations: null}, spec: {containers: [{name: c, image: 'i:1'}]}}"), plain, `"labels":{"a":"b"}},"spec"=>"labels":{"a":"b"},"annotations":{"kubectl.kubernetes.io/restartedAt":"x"}},"spec"`, "unchanged; remove /spec/template/metadata/annotations repairs; "},
		{service("type: NodePort, clusterIP: null, clusterIPs: null, ipFamilies: null, ipFamilyPolicy: null, externalTrafficPolicy: null, internalTrafficPolicy: null, sessionAffinity: null, ports: [{name: http, port: 80, targetPort: null, nodePort: null}]"), unsetService, "", "; ; "},
		{service("type: NodePort, externalTrafficPolicy: '', ports: [{name: http, port: 80}]"), unsetService, `"externalTrafficPolicy":"Cluster"=>"externalTrafficPolicy":"Local"`, "changed; replace /spec/externalTrafficPolicy repairs; "},
		{service("type: '', ports: [{name: http, port: 80}]"), unsetService, "", "changed; replace /spec/type repairs; "},
		{service("type: NodePort, loadBalancerIP: null, ports: [{name: http, port: 80}]"), unsetService, `"clusterIP"=>"loadBalancerIP":"192.0.2.1","clusterIP"`, "changed; remove /spec/loadBalancerIP repairs; "},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {name: p}, data: null}", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p"},"data":{"a":"1"}}`, "", "changed; remove /data repairs; "},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {name: p, labels: {x: null}}}", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p","labels":{"x":"y"}}}`, "", "changed; replace /metadata/labels/x repairs; "},
		{"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p}, spec: {storageClassName: null, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"p"},"spec":{"storageClassName":"standard","volumeMode":"Filesystem","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`, "", "changed; remove /spec/storageClassName fails; spec.storageClassName is immutable"},
		{"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p}, spec: {minAvailable: 1, selector: null}}", `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"p"},"spec":{"minAvailable":1,"selector":{}}}`, "", "changed; remove /spec/selector repairs; "},
		{"{apiVersion: x.io/v1, kind: Thing, metadata: {name: p}, spec: {count: null, in: {side: null}}}", `{"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"p"},"spec":{"in":{}}}`, "", "; ; "},
		{"{apiVersion: x.io/v1, kind: Thing, metadata: {name: p}, spec: {in: {side: null}}}", `{"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"p"},"spec":{"in":{"side":{}}}}`, "", "changed; remove /spec/in/side leaves; "},
		{"{apiVersion: x.io/v1, kind: Thing, metadata: {name: p}, spec: {count: null}}", `{"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"p"},"spec":{"count":0}}`, "", "changed; remove /spec/count leaves; "},
	}
}

func TestUnset(t *testing.T) {
	for _, c := range unsetCases() {
		live := c.live
		if from, to, edited := strings.Cut(c.by, "=>"); edited {
			if !strings.Contains(live, from) {
				t.Fatalf("no %s", from)
			}
			live = strings.Replace(live, from, to, 1)
		}
		kind := text(decode(t, live), "kind")
		resource := map[string]string{"Deployment": "deployments.apps", "PodDisruptionBudget": "poddisruptionbudgets.policy", "Thing": "things.x.io"}[kind]
		if resource == "" {
			resource = strings.ToLower(kind) + "s"
		}
		o := repaired(t).with(t, resource, "shop", live, c.manifest+"\n")
		if got := upgrades(o); got != c.want {
			t.Errorf("%s\n%s by %s: %s\nwant %s", c.manifest, kind, c.by, got, c.want)
		}
		if kind != "Thing" && len(o.Patch) > 0 && !o.Patch[0].Unseen && c.by != "" && !strings.Contains(c.manifest, "Recreate") && !strings.Contains(c.manifest, "labels: {x") {
			t.Errorf("%s: Flux sees it: %s", c.manifest, show(o.Patch))
		}
	}
}

// Helm 4's apply sends nulls, too: of a field that others wrote it is a conflict, and of a
// list that merges by keys it takes nothing away.
func TestUnsetByApply(t *testing.T) {
	const managed = `,"managedFields":[{"manager":"helm","operation":"Apply","fieldsV1":{"f:metadata":{"f:annotations":{"f:meta.helm.sh/release-name":{}}}}},{"manager":"kubectl-edit","operation":"Update","fieldsV1":{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{"f:env":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}}]`
	live := strings.Replace(strings.Replace(fmt.Sprintf(unsetPods, managed), `"replicas":1`, `"replicas":5`, 1), `"resources":{}`, `"resources":{},"env":[{"name":"A","value":"1"}]`, 1)
	w := repaired(t)
	w.edit(t, func(r Object) { r["apply_method"] = "ssa" })
	o := w.with(t, "deployments.apps", "shop", live, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {replicas: null, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: 'i:1', env: null}]}}}}\n")
	if got, want := upgrades(o), "changed; replace /spec/replicas fails, remove /spec/template/spec/containers/0/env leaves; "; got != want || len(o.Added) > 0 {
		t.Errorf("%s\nwant %s; %s", got, want, show(o.Added))
	}
}
