package releases

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// with puts one object into the world and its manifest into the release, and returns what
// is said of it.
func (w world) with(t testing.TB, resource, namespace, live, manifest string) *Compared {
	t.Helper()
	o := w.lives(t, resource, namespace, live)
	w.more(t, manifest)
	r := w.collect(t, New(Options{}), func(string, string) string { return "" })
	return r.Releases[len(r.Releases)-1].object(describe(o))
}

func upgrades(o *Compared) string {
	var out []string
	for _, c := range o.Patch {
		out = append(out, c.Op+" "+c.Pointer+" "+c.Upgrade)
	}
	return o.Verdict + "; " + strings.Join(out, ", ") + "; " + o.Refused
}

type fieldObject struct{ name, resource, namespace, live, manifest, want string }

// What the field's objects look like, what is drift of it, and what Helm 3's upgrade does.
var objectsOfTheField = []fieldObject{
	{
		"a Service with clusterIP and nodePort that the server chose", "services", "shop",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"],"type":"NodePort","sessionAffinity":"None","ports":[{"name":"http","port":80,"targetPort":80,"nodePort":30080,"protocol":"TCP"}]}}`,
		"{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: '', type: NodePort, ports: [{name: http, port: 80, nodePort: 0}]}}", "; ; ",
	},
	{
		"a Service with zero values that the server fills", "services", "shop",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"clusterIP":"10.0.0.7","type":"NodePort","sessionAffinity":"None","externalTrafficPolicy":"Cluster","ports":[{"name":"http","port":80,"targetPort":80,"nodePort":30080,"protocol":"TCP"}]}}`,
		"{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: NodePort, sessionAffinity: '', externalTrafficPolicy: '', ports: [{name: http, port: 80, targetPort: 0, nodePort: null}]}}", "; ; ",
	},
	{
		"a Service with a zero value that the server fills otherwise", "services", "shop",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"sessionAffinity":"ClientIP","clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"],"ipFamilies":["IPv4"],"selector":{"a":"b"},"ports":[{"port":80,"targetPort":80,"protocol":"TCP"}]}}`,
		"{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {sessionAffinity: '', selector: {a: b}, ports: [{port: 80}]}}", "changed; replace /spec/sessionAffinity repairs; ",
	},
	{
		"a probe of zeros", "pods", "shop",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"dnsPolicy":"ClusterFirst","containers":[{"name":"c","image":"i","imagePullPolicy":"Always","terminationMessagePath":"/dev/termination-log","livenessProbe":{"httpGet":{"port":1,"path":"/","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}}]}}`,
		"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {dnsPolicy: '', containers: [{name: c, image: i, imagePullPolicy: '', terminationMessagePath: '', livenessProbe: {httpGet: {port: 1, path: '', scheme: ''}, timeoutSeconds: 0, periodSeconds: 0, successThreshold: 0, failureThreshold: 0}}]}}", "; ; ",
	},
	{
		"a PersistentVolumeClaim that was enlarged", "persistentvolumeclaims", "shop",
		`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"s"},"spec":{"accessModes":["ReadWriteOnce"],"volumeName":"pv","volumeMode":"Filesystem","resources":{"requests":{"storage":"20Gi"}}}}`,
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: s}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}}",
		"changed; replace /spec/resources/requests/storage fails; spec.resources.requests.storage can't shrink",
	},
	{
		"a PersistentVolumeClaim that is to grow", "persistentvolumeclaims", "shop",
		`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"s"},"spec":{"accessModes":["ReadWriteOnce"],"volumeName":"pv","volumeMode":"Filesystem","resources":{"requests":{"storage":"1Gi"}}}}`,
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: s}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2048Mi}}}}",
		"changed; replace /spec/resources/requests/storage repairs; ",
	},
	{
		"a CustomResourceDefinition among the templates", "customresourcedefinitions.apiextensions.k8s.io", "",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.x.io"},"spec":{"group":"x.io","scope":"Namespaced","names":{"kind":"Thing","plural":"things","categories":["a"]},"versions":[{"name":"v1","served":true,"storage":true}]}}`,
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.x.io}, spec: {group: x.io, scope: Namespaced, names: {kind: Thing, plural: things, categories: [b]}, versions: [{name: v1, served: true, storage: true}]}}",
		"changed; replace /spec/names/categories/0 repairs; ",
	},
	{
		"a node selector that got more", "pods", "shop",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeSelector":{"a":"1","b":"2"},"containers":[{"name":"c","image":"i"}]}}`,
		"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeSelector: {a: '1'}, containers: [{name: c, image: i}]}}", "changed; remove /spec/nodeSelector/b leaves; spec.nodeSelector.b of a Pod is immutable",
	},
	{
		"a node selector of a Deployment that got more", "deployments.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"nodeSelector":{"a":"1","b":"2"},"containers":[{"name":"c","image":"i"}]}}}}`,
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {nodeSelector: {a: '1'}, containers: [{name: c, image: i}]}}}}", "changed; remove /spec/template/spec/nodeSelector/b leaves; ",
	},
	{
		"arguments that got more", "deployments.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i","args":["a","b"]}]}}}}`,
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {hostNetwork: false, containers: [{name: c, image: i, args: [a]}]}}}}", "changed; remove /spec/template/spec/containers/0/args/1 repairs, remove /spec/template/spec/hostNetwork repairs; ",
	},
	{
		"a volume with another source", "deployments.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"volumes":[{"name":"v","secret":{"secretName":"x"}}],"containers":[{"name":"c","image":"i"}]}}}}`,
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {volumes: [{name: v, emptyDir: {medium: Memory}}], containers: [{name: c, image: i}]}}}}", "changed; add /spec/template/spec/volumes/0/emptyDir repairs; volume v has two sources",
	},
	{
		"a Service whose targetPort only the server declares", "services", "shop",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"selector":{"a":"b"},"ports":[{"port":80,"targetPort":8080,"protocol":"TCP"}]}}`,
		"{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: {a: b}, ports: [{port: 80}]}}", "changed; replace /spec/ports/0/targetPort leaves; ",
	},
	{
		"a Pod with another image, and tolerations of admission", "pods", "shop",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"n","tolerations":[{"key":"a","operator":"Exists"},{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"containers":[{"name":"c","image":"i:2"}]}}`,
		"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {tolerations: [{key: a, operator: Exists}], containers: [{name: c, image: 'i:1'}]}}", "changed; replace /spec/containers/0/image repairs; ",
	},
	{
		"a Pod with other arguments", "pods", "shop",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:2","args":["b"]}]}}`,
		"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: 'i:2', args: [a]}]}}", "changed; replace /spec/containers/0/args/0 fails; spec.containers[c].args[0] of a Pod is immutable",
	},
	{
		"a PersistentVolume with another source", "persistentvolumes", "",
		`{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"p"},"spec":{"persistentVolumeReclaimPolicy":"Retain","nfs":{"server":"b","path":"/"}}}`,
		"{apiVersion: v1, kind: PersistentVolume, metadata: {name: p}, spec: {persistentVolumeReclaimPolicy: Delete, nfs: {server: a, path: /}}}", "changed; replace /spec fails; spec.nfs.server is immutable",
	},
	{
		"a CustomResourceDefinition with another scope", "customresourcedefinitions.apiextensions.k8s.io", "",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.x.io"},"spec":{"group":"x.io","scope":"Cluster","names":{"kind":"Thing","plural":"things"},"versions":[]}}`,
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.x.io}, spec: {group: x.io, scope: Namespaced, names: {kind: Thing, plural: things}, versions: []}}", "changed; replace /spec/scope fails; spec.scope is immutable",
	},
	{
		"quantities in other words", "deployments.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1","memory":"1G"},"requests":{"cpu":"1m","memory":"1073741824"}}}]}}}}`,
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, resources: {limits: {cpu: 1e0, memory: 1e9}, requests: {cpu: 1e-3, memory: 1Gi}}}]}}}}", "; ; ",
	},
	{
		"a quantity of another value", "deployments.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"memory":"1Gi"}}}]}}}}`,
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, resources: {limits: {memory: 1e9}}}]}}}}", "changed; replace /spec/template/spec/containers/0/resources/limits/memory repairs; ",
	},
	{
		"a custom resource without Helm's marks", "things.x.io", "shop",
		`{"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"a","labels":null,"annotations":{"x":"y"}},"spec":{"count":1}}`,
		"{apiVersion: x.io/v1, kind: Thing, metadata: {name: a, annotations: {x: z}}, spec: {count: 2}}", "changed; replace /metadata/annotations/x leaves, replace /spec/count leaves; ",
	},
}

func TestObjectsOfTheField(t *testing.T) {
	for _, c := range objectsOfTheField {
		t.Run(c.name, func(t *testing.T) {
			if got := upgrades(repaired(t).with(t, c.resource, c.namespace, c.live, c.manifest+"\n")); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// Nulls of a custom resource are kept where its definition has nullable, as by a server.
func TestNulls(t *testing.T) {
	const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"tricks.x.io"},"spec":{"group":"x.io","scope":"Namespaced",
"names":{"kind":"Trick","plural":"tricks"},"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
"maybe":{"type":"integer","nullable":true},"never":{"type":"integer"},"three":{"type":"integer","default":3},"items":{"type":"array","items":{"type":"object","properties":{"maybe":{"type":"string","nullable":true,"default":"x"}}}},
"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"atom":{"type":"object","nullable":true,"x-kubernetes-map-type":"atomic","additionalProperties":{"type":"string","nullable":true}}}}}}}}]}}`
	for _, c := range []struct{ live, manifest, want string }{
		{`{"maybe":1}`, `{maybe: null}`, Drifted},
		{`{"maybe":null}`, `{maybe: null}`, InSync},
		{`{"maybe":null}`, `{maybe: 1}`, Drifted},
		{`{"maybe":null}`, `{}`, InSync},
		{`{"never":1}`, `{never: null}`, Drifted}, // an apply puts the null into the field, and the server drops it
		{`{}`, `{never: null}`, InSync},
		{`{"three":3}`, `{three: null}`, InSync},
		{`{"three":4}`, `{three: null}`, Drifted},
		{`{"items":[{"maybe":"y"}]}`, `{items: [{maybe: null}]}`, Drifted},
		{`{"items":[{"maybe":null}]}`, `{items: [{maybe: null}]}`, InSync},
		{`{"items":[{"maybe":null}]}`, `{items: [{}]}`, Drifted},
		{`{"free":{"a":{"b":1}}}`, `{free: {a: {b: null}}}`, Drifted},
		{`{"free":{"a":{"b":null}}}`, `{free: {a: {b: null}}}`, InSync},
		{`{"atom":{"a":"1"}}`, `{atom: {a: null}}`, Drifted},
		{`{"atom":{"a":"1"}}`, `{atom: null}`, Drifted},
	} {
		w := repaired(t)
		w[[3]string{"customresourcedefinitions.apiextensions.k8s.io", "", "tricks.x.io"}] = decode(t, definition)
		w.lives(t, "tricks.x.io", "shop", `{"apiVersion":"x.io/v1","kind":"Trick","metadata":{"name":"a"},"spec":`+c.live+`}`)
		w.more(t, "apiVersion: x.io/v1\nkind: Trick\nmetadata: {name: a}\nspec: "+c.manifest+"\n")
		r := w.one(t)
		if r.Reason != c.want {
			t.Errorf("%s of %s: %s, want %s: %s", c.live, c.manifest, r.Reason, c.want, show(r.object("Trick/shop/a")))
		}
		for _, ch := range r.object("Trick/shop/a").Patch {
			if ch.Op != "remove" && !strings.Contains(show(ch), `"value"`) {
				t.Error(show(ch), "has no value")
			}
		}
	}
}

// Rules set drift aside for the report. A server refuses what it refuses, and Helm knows no rules.
func TestRulesDoNotHideFailures(t *testing.T) {
	run := func(w world, rule string) *Release {
		rules, err := ReadRules("f", []byte("ignore: ["+rule+"]"))
		if err != nil {
			t.Fatal(err)
		}
		return w.run(t, Options{Rules: rules}).Releases[0]
	}
	w := repaired(t)
	manifest("port: 8081,", "port: 80,")(t, w)
	r := run(w, "{paths: [/spec/ports], target: {kind: Service}}")
	if o := r.object("Service/shop/shop-web"); r.Reason != Drifted || !strings.HasPrefix(o.Refused, "two ports") || r.After.Upgrade != Fails {
		t.Error(r.Reason, r.After.Upgrade, show(o))
	}
	w = repaired(t)
	manifest("replicas: 5", "replicas: 3")(t, w)
	w.edit(t, func(r Object) { r["apply_method"] = "ssa" })
	r = run(w, "{paths: [/spec/replicas], target: {kind: Deployment}}")
	if r.Reason != InSync || r.After.Upgrade != Fails || !strings.Contains(show(r.After), "another manager wrote: the next upgrade fails") || !strings.Contains(show(r.After.Do), "--force-conflicts") {
		t.Error(r.Reason, show(r.After))
	}
}

// Whole objects that rules or marks set aside: Flux does not look at them, Helm's upgrade does.
func TestExclusionsDoNotHideFailures(t *testing.T) {
	whole, err := ReadRules("f", []byte("ignore: [{paths: ['']}]"))
	if err != nil {
		t.Fatal(err)
	}
	marked := func(w world) { put(w.get("services", "shop-web"), "disabled", "metadata", "labels", fluxMark) }
	drift := func(old, new string, then func(world)) func(testing.TB, world) {
		return func(t testing.TB, w world) {
			manifest(old, new)(t, w)
			then(w)
		}
	}
	for _, c := range []struct {
		name, object string
		change       func(testing.TB, world)
		rules        []*Rule
		upgrade      string
		reason, do   string // part of one
	}{
		{"a refusal and a mark", "Service/shop/shop-web", drift("port: 8081,", "port: 80,", marked), nil, Fails, "two ports named http: Flux does not see it, and the next upgrade fails", "kubectl edit service shop-web"},
		{"a refusal and a rule", "Service/shop/shop-web", drift("port: 8081,", "port: 80,", func(world) {}), whole, Fails, "two ports named http", "kubectl edit service shop-web"},
		{"a conflict and a rule", web, drift("replicas: 5", "replicas: 3", func(w world) { w.edit(t, func(r Object) { r["apply_method"] = "ssa" }) }), whole, Fails, "another manager wrote: the next upgrade fails", "--force-conflicts"},
		{"drift alone", web, drift("replicas: 5", "replicas: 3", func(world) {}), whole, "", "no controller", ""},
		{"removed", "ConfigMap/shop/shop-extra", func(_ testing.TB, w world) { delete(w, [3]string{"configmaps", "shop", "shop-extra"}) }, whole, "", "no controller", ""},
		{"a custom resource without its definition", "Ghost/shop/g", func(t testing.TB, w world) { w.more(t, "apiVersion: y.io/v1\nkind: Ghost\nmetadata: {name: g}\n") }, whole, Fails, "no CustomResourceDefinition of it: the next upgrade fails", "install the CustomResourceDefinition of Ghost/shop/g"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := repaired(t)
			c.change(t, w)
			r := w.run(t, Options{Rules: c.rules}).Releases[0]
			o := r.object(c.object)
			if r.Reason != InSync || o.Verdict != Excluded || r.After.Upgrade != c.upgrade || !strings.Contains(show(r.After), c.reason) || !strings.Contains(show(r.After.Do), c.do) {
				t.Errorf("%s %s %s", r.Reason, show(r.After), show(o))
			}
		})
	}
}

// A path that does not begin with / is one that Flux and Sveltos do not find.
func TestPathsOfRules(t *testing.T) {
	if _, err := ReadRules("f", []byte("ignore: [{paths: [spec/replicas]}]")); err == nil {
		t.Error("accepted")
	}
	w := repaired(t)
	manifest("replicas: 5", "replicas: 3")(t, w)
	w.helmRelease("shop", `{"driftDetection":{"ignore":[{"paths":["spec/replicas","/spec/paused"]}]}}`, `{"history":[{"version":2}]}`)
	if r := w.run(t, Options{}); r.Releases[0].Reason != Drifted || len(r.Problems) != 1 || len(r.Rules) != 1 || len(r.Rules[0].Paths) != 1 {
		t.Error(r.Releases[0].Reason, show(r.Problems), show(r.Rules))
	}
}

// Helm's marks are of no manifest, so each upgrade writes them, to custom resources, too.
func TestMarksThatWereLost(t *testing.T) {
	for _, c := range []struct{ label, want string }{
		{"", "changed; add /metadata/labels repairs, add /metadata/annotations repairs; "},
		{"labels: {app.kubernetes.io/managed-by: Helm}, ", "changed; add /metadata/labels leaves, add /metadata/annotations repairs; "},
	} {
		w := repaired(t)
		w[[3]string{"things.x.io", "shop", "a"}] = decode(t, `{"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"a","namespace":"shop"},"spec":{"count":1}}`)
		w.more(t, "{apiVersion: x.io/v1, kind: Thing, metadata: {"+c.label+"name: a}, spec: {count: 1}}\n")
		o := w.one(t).object("Thing/shop/a")
		slices.SortFunc(o.Patch, func(a, b Change) int { return -strings.Compare(a.Pointer, b.Pointer) })
		if got := upgrades(o); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// A definition among the templates needs no other definition.
func TestDefinitionThatWasRemoved(t *testing.T) {
	w := repaired(t)
	w.more(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.x.io}, spec: {group: x.io, names: {kind: Thing, plural: things}}}\n")
	r := w.collect(t, New(Options{}), func(string, string) string { return "" }).Releases[0]
	if o := r.object("CustomResourceDefinition/things.x.io"); o.Verdict != Removed || o.Upgrade != Repairs || o.Message != "" {
		t.Error(show(o))
	}
}

// Helm 4 applies: it meets who owns a list as a whole also where an item is to come, and who
// is not known, and its own updates of before.
func TestConflictsOfApply(t *testing.T) {
	const live = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"%s},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","args":["a"]}]}}}}`
	const entry = `,"managedFields":[{"manager":"helm","operation":"Apply","fieldsV1":{"f:spec":{"f:selector":{}}}},{"manager":%q,"operation":"Update","time":"2026-11-21T04:09:23Z","fieldsV1":{"f:spec":{%s}}}]`
	const args = `"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{"f:args":{}}}}}`
	for name, c := range map[string]struct{ managed, replicas, args, want, owner string }{
		"an item to come": {fmt.Sprintf(entry, "kubectl-edit", args), "1", "[a, b]", "changed; add /spec/template/spec/containers/0/args/- fails; ", "kubectl-edit"},
		"nobody's field":  {fmt.Sprintf(entry, "kubectl-edit", `"f:paused":{}`), "2", "[a]", "changed; replace /spec/replicas repairs; ", ""},
		"Helm's update":   {fmt.Sprintf(entry, "helm", `"f:replicas":{}`), "2", "[a]", "changed; replace /spec/replicas fails; ", "helm"},
		"not known":       {"", "2", "[a]", "changed; replace /spec/replicas fails; ", ""},
	} {
		w := repaired(t)
		w.edit(t, func(r Object) { r["apply_method"] = "ssa" })
		o := w.with(t, "deployments.apps", "shop", fmt.Sprintf(live, c.managed),
			fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {replicas: %s, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, args: %s}]}}}}\n", c.replicas, c.args))
		owner := ""
		for _, ch := range o.Patch {
			for _, by := range ch.Owners {
				owner += by.Manager
			}
		}
		if got := upgrades(o); got != c.want || owner != c.owner {
			t.Errorf("%s: %s by %q\nwant %s by %q", name, got, owner, c.want, c.owner)
		}
	}
}

// Flux may keep records apart from the objects. A namespace narrows by that of the records,
// and loses none of the other.
func TestNamespaceOfRecords(t *testing.T) {
	w := repaired(t)
	for _, v := range []string{"1", "2"} {
		k := [3]string{"secrets", "shop", "sh.helm.release.v1.shop.v" + v}
		o := w[k]
		delete(w, k)
		put(o, "flux", "metadata", "namespace")
		w[[3]string{"secrets", "flux", k[2]}] = o
	}
	if r := w.run(t, Options{Namespace: "shop"}); len(r.Releases)+len(r.WithoutRecord) > 0 {
		t.Error(show(r.WithoutRecord))
	}
	all, one := w.run(t, Options{}), w.run(t, Options{Namespace: "flux"})
	if len(one.Releases) != 1 || show(all.Releases) != show(one.Releases) || len(one.Releases[0].Extra) == 0 {
		t.Error(show(one))
	}
}

// A merge replaces lists that an apply takes for sets, and upgrade.force replaces objects.
func TestAddedAndRemoved(t *testing.T) {
	const live = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"p","managedFields":[{"manager":"kubectl-edit","operation":"Update","fieldsV1":{"f:spec":{"f:paramRef":{"f:name":{}},"f:validationActions":{"v:\"Audit\"":{}}}}}]},"spec":{"policyName":"p","paramRef":{"name":"x"},"validationActions":["Deny","Audit"]}}`
	for name, c := range map[string]struct{ method, flux, want string }{
		"merged": {"", "", " repairs"}, "applied": {"ssa", "", " "}, "replaced": {"", `{"upgrade":{"force":true}}`, "repairs repairs"}, "applied by Flux": {"ssa", `{"upgrade":{"force":true}}`, " "},
	} {
		w := repaired(t)
		w.edit(t, func(r Object) { r["apply_method"] = c.method })
		if c.flux != "" {
			w.helmRelease("shop", c.flux, `{"history":[{"version":2}]}`)
		}
		o := w.with(t, "validatingadmissionpolicybindings.admissionregistration.k8s.io", "", live, "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: p}, spec: {policyName: p, validationActions: [Deny]}}\n")
		if len(o.Added) != 2 || o.Added[0].Upgrade+" "+o.Added[1].Upgrade != c.want {
			t.Errorf("%s: %s", name, show(o))
		}
	}
}

// Of a map that is replaced, those are named who wrote what differs.
func TestWhoWroteAMap(t *testing.T) {
	const live = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p","managedFields":[{"manager":"helm","operation":"Apply","fieldsV1":{"f:data":{"f:d":{}}}},
{"manager":"kubectl-edit","operation":"Update","fieldsV1":{"f:data":{"f:a":{},"f:b":{},"f:c":{}}}},{"manager":"reloader","operation":"Update","fieldsV1":{"f:data":{"f:e":{}}}}]},"data":{"a":"9","b":"8","c":"7","d":"4","e":"5"}}`
	o := repaired(t).with(t, "configmaps", "shop", live, "{apiVersion: v1, kind: ConfigMap, metadata: {name: p}, data: {a: '1', b: '2', c: '3', d: '4'}}\n")
	if len(o.Patch) != 1 || o.Patch[0].Pointer != "/data" || len(o.Patch[0].Owners) != 1 || o.Patch[0].Owners[0].Manager != "kubectl-edit" {
		t.Error(show(o.Patch))
	}
}

// Values of charts may be passwords, also in an object that a release has.
func TestValuesOfCharts(t *testing.T) {
	live := `{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","metadata":{"name":"p","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{canary}"},"managedFields":[
{"manager":"kubectl","operation":"Update","fieldsV1":{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}},"f:spec":{"f:values":{"f:more":{}},"f:chart":{"f:spec":{"f:valuesFiles":{}}}}}}]},"spec":{"interval":"1m","values":{"password":"canary","more":"canary"}}}`
	for _, manifest := range []string{`{interval: 5m, values: {password: canary1}}`, `{interval: 1m, values: {password: {deep: [canary2]}}}`, `{interval: 1m, valuesFrom: [], values: {}}`, `{values: canary}`} {
		w := repaired(t)
		o := w.with(t, "helmreleases.helm.toolkit.fluxcd.io", "shop", live, "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: p}, spec: "+manifest+"}\n")
		if body := show(o); strings.Contains(body, "canary") || len(o.Patch)+len(o.Added) == 0 {
			t.Error(body)
		}
	}
}

// Sveltos takes templates for names of releases; what is not known is said.
func TestTemplatesOfNames(t *testing.T) {
	for name, want := range map[string]string{"{{ .Cluster.metadata.name }}-shop": "ClusterSummary/mgmt/s", "{{ .Values.x }}": ""} {
		w := repaired(t)
		for _, k := range []string{"1", "2"} {
			delete(w, [3]string{"secrets", "shop", "sh.helm.release.v1.shop.v" + k})
		}
		record := reparsed(t, repaired(t)[newestRecord])
		put(record, "mgmt-shop", "metadata", "labels", "name")
		w[newestRecord] = record
		w[[3]string{"clustersummaries.config.projectsveltos.io", "mgmt", "s"}] = decode(t, fmt.Sprintf(`{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"mgmt"},"spec":{"clusterName":"mgmt","clusterNamespace":"mgmt","clusterProfileSpec":{"helmCharts":[{"releaseName":%q,"releaseNamespace":"shop"}]}}}`, name))
		r := w.run(t, Options{})
		if r.Releases[0].Controller != want || (want == "") != (len(r.Said) == 1) {
			t.Error(name, r.Releases[0].Name, r.Releases[0].Controller, show(r.Said))
		}
	}
}
