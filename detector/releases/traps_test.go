package releases

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// more appends documents to the manifest.
func (w world) more(t testing.TB, docs string) {
	w.edit(t, func(r Object) { r["manifest"] = text(r, "manifest") + "\n---\n" + docs })
}

// lives puts an object into the world, with Helm's marks.
func (w world) lives(t testing.TB, resource, namespace, body string) Object {
	o := reparsed(t, decode(t, body))
	m, _ := o["metadata"].(Object)
	if namespace != "" {
		m["namespace"] = namespace
	}
	marked(o, "shop", "shop")
	w[[3]string{resource, namespace, text(o, "metadata", "name")}] = o
	return o
}

const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {a: desired}\n"

// other lives in another way than the manifests have it.
func other(t testing.TB, w world) {
	w.lives(t, "configmaps", "shop", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"},"data":{"a":"live"}}`)
}

// traps could be taken for in sync, and are not.
var traps = []struct {
	name   string
	change func(testing.TB, world)
	want   string
}{
	{"a document on the line of ---", func(t testing.TB, w world) {
		other(t, w)
		w.more(t, fmt.Sprintf(config, "first")+"--- {apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {a: desired}}\n")
		w.lives(t, "configmaps", "shop", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"first"},"data":{"a":"desired"}}`)
	}, Drifted},
	{"a document after ...", func(t testing.TB, w world) {
		other(t, w)
		w.more(t, fmt.Sprintf(config, "first")+"...\n"+fmt.Sprintf(config, "other"))
		w.lives(t, "configmaps", "shop", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"first"},"data":{"a":"desired"}}`)
	}, Drifted},
	{"lines that end as on Windows", func(t testing.TB, w world) {
		other(t, w)
		w.more(t, strings.ReplaceAll("# a comment\n---\n"+fmt.Sprintf(config, "other"), "\n", "\r\n"))
	}, Drifted},
	{"an anchor", func(t testing.TB, w world) {
		other(t, w)
		w.more(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: &m {name: other}\nx: *m\ndata: {a: desired}\n")
	}, Drifted},
	{"an item of a List of Lists", func(t testing.TB, w world) {
		other(t, w)
		w.more(t, "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {a: desired}}]}]\n")
	}, Drifted},
	{"an item of a List that is no object", func(t testing.TB, w world) { w.more(t, "apiVersion: v1\nkind: List\nitems: [x]\n") }, Unreadable},
	{"integers that no float64 has", func(t testing.TB, w world) {
		w.lives(t, "things.x.io", "shop", `{"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"count":9007199254740993}}`)
		w.more(t, "apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: a}\nspec: {count: 9007199254740992}\n")
	}, Drifted},
	{"a record without a release", func(_ testing.TB, w world) {
		put(w[newestRecord], base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(`{"manifest":""}`)))), "data", "release")
	}, Unreadable},
	{"the same key twice in a list", func(t testing.TB, w world) {
		w.lives(t, "pods", "shop", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"2"}]}]}}`)
		w.more(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i, env: [{name: A, value: '1'}, {name: A, value: '2'}]}]}\n")
	}, Incomplete},
	{"a field that only a newer server knows", func(t testing.TB, w world) {
		put(w.get("deployments.apps", "shop-web"), "live", "spec", "template", "spec", "future")
		manifest("      containers:\n      - name: web", "      future: desired\n      containers:\n      - name: web")(t, w)
	}, Incomplete},
	{"a field that no server knows", manifest("      containers:\n      - name: web", "      typo: desired\n      containers:\n      - name: web"), InSync},
	{"another revision is deployed", func(t testing.TB, w world) {
		status(t, w, "superseded")
		put(w[[3]string{"secrets", "shop", "sh.helm.release.v1.shop.v1"}], "deployed", "metadata", "labels", "status")
	}, NoDeployedRevision},
	{"a kind that nobody knows", func(t testing.TB, w world) { w.more(t, "apiVersion: y.io/v1\nkind: Ghost\nmetadata: {name: g}\n") }, Incomplete},
}

func TestNotInSync(t *testing.T) {
	for _, c := range traps {
		t.Run(c.name, func(t *testing.T) {
			w := repaired(t)
			c.change(t, w)
			everything := func(string, string) string { return "" }
			r := w.collect(t, New(Options{}), everything).Releases[0]
			if r.Reason != c.want {
				t.Errorf("%s %q, want %s: %s", r.Reason, r.Message, c.want, show(r.Objects))
			}
			if ghost := r.object("Ghost/shop/g"); ghost.Name != "" && (r.After.Upgrade != Fails || !strings.Contains(show(r.After.Do), "install the CustomResourceDefinition of Ghost/shop/g")) {
				t.Error(show(r.After))
			}
		})
	}
}

// What could be taken for drift, and is none.
func TestNoDrift(t *testing.T) {
	for _, c := range []struct{ name, resource, namespace, live, manifest string }{
		{"a kind whose name begins with events", "eventsources.argoproj.io", "shop", `{"apiVersion":"argoproj.io/v1","kind":"EventSource","metadata":{"name":"a"},"spec":{"x":1}}`, "apiVersion: argoproj.io/v1\nkind: EventSource\nmetadata: {name: a}\nspec: {x: 1}\n"},
		{"integers that no float64 has", "things.x.io", "shop", `{"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"count":9007199254740993}}`, "apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: a}\nspec: {count: 9007199254740993}\n"},
		{
			"zero values of a CustomResourceDefinition", "customresourcedefinitions.apiextensions.k8s.io", "", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.x.io"},"spec":{"group":"x.io","scope":"Namespaced","conversion":{"strategy":"None"},"names":{"kind":"Thing","plural":"things","listKind":"ThingList"},"versions":[{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"count":{"type":"integer","default":0,"minimum":0}}}}}]}}`,
			"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.x.io}\nspec:\n  group: x.io\n  scope: Namespaced\n  preserveUnknownFields: false\n  names: {kind: Thing, plural: things, shortNames: []}\n  versions: [{name: v1, served: true, storage: false, deprecated: false, schema: {openAPIV3Schema: {type: object, description: '', properties: {count: {type: integer, default: 0, minimum: 0, nullable: false}}}}}]\nstatus: {acceptedNames: {kind: '', plural: ''}, conditions: [], storedVersions: []}\n",
		},
		{"zero values of an APIService", "apiservices.apiregistration.k8s.io", "", `{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.x.io"},"spec":{"group":"x.io","version":"v1","groupPriorityMinimum":1,"versionPriority":1,"service":{"name":"a","namespace":"shop","port":443}}}`, "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.x.io}\nspec: {group: x.io, version: v1, groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: false, service: {name: a, namespace: shop}}\n"},
		{"a RuntimeClass", "runtimeclasses.node.k8s.io", "", `{"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"a"},"handler":"a","overhead":{"podFixed":{"cpu":"250m"}}}`, "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: a}\nhandler: a\noverhead: {podFixed: {cpu: 0.25}}\n"},
		{"what a server makes of limits", "limitranges", "shop", `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"a"},"spec":{"limits":[{"type":"Container","default":{"cpu":"1","memory":"1Gi"},"defaultRequest":{"cpu":"500m","memory":"1Gi"},"max":{"memory":"1Gi"},"min":{"cpu":"100m"}}]}}`, "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a}\nspec: {limits: [{type: Container, default: {cpu: 1}, defaultRequest: {cpu: 500m}, max: {memory: 1024Mi}, min: {cpu: 0.1}}]}\n"},
		{"an EndpointSlice's port", "endpointslices.discovery.k8s.io", "shop", `{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"a"},"addressType":"IPv4","endpoints":[{"addresses":["192.0.2.1"],"conditions":{}}],"ports":[{"name":"","port":80,"protocol":"TCP"}]}`, "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: a}\naddressType: IPv4\nendpoints: [{addresses: [192.0.2.1]}]\nports: [{port: 80}]\n"},
		{"rules that a policy excludes", "validatingadmissionpolicybindings.admissionregistration.k8s.io", "", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"a"},"spec":{"policyName":"a","validationActions":["Deny"],"matchResources":{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"excludeResourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"],"scope":"*"}]}}}`, "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: a}\nspec: {policyName: a, validationActions: [Deny], matchResources: {excludeResourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}}\n"},
		{"a name with colons and dots", "clusterroles.rbac.authorization.k8s.io", "", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"system:Shop.a"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: 'system:Shop.a', namespace: ignored}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n"},
		{"a byte order mark, tabs behind values, an empty document", "configmaps", "shop", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1"}}`, "\ufeff# comment\n---\n---\n \n---\napiVersion: v1\nkind: ConfigMap\t\nmetadata: {name: a}\ndata: {a: \"1\"}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := repaired(t)
			w.lives(t, c.resource, c.namespace, c.live)
			w.more(t, c.manifest)
			if r := w.one(t); r.Reason != InSync {
				t.Errorf("%s %s: %s", r.Reason, r.Message, show(r.Objects))
			}
		})
	}
}

// Annotations that repeat a Secret are masked, whoever wrote them.
func TestRepeatedSecret(t *testing.T) {
	for _, name := range []string{"kapp.k14s.io/original", "objectset.rio.cattle.io/applied"} {
		w := shop(t)
		db := w.get("secrets", "shop-db")
		put(db, `{"data":{"password":"canary"}}`, "metadata", "annotations", name)
		managed := list(db, "metadata", "managedFields")
		put(managed[len(managed)-1].(Object), Object{}, "fieldsV1", "f:metadata", "f:annotations", "f:"+name)
		w.edit(t, func(r Object) {
			r["manifest"] = strings.Replace(text(r, "manifest"), "kind: Secret\nmetadata:\n", "kind: Secret\nmetadata:\n  annotations: {copy: '{\"password\":\"canary\"}'}\n", 1)
		})
		body := show(w.run(t, Options{}))
		if strings.Contains(body, "canary") || !strings.Contains(body, name) {
			t.Error(body)
		}
	}
}

// helm-controller forces its way over other managers, and may have another method than the record.
func TestHelmControllerForces(t *testing.T) {
	for spec, want := range map[string]string{`{}`: Repairs, `{"upgrade":{"serverSideApply":"disabled"}}`: Repairs} {
		w := repaired(t)
		manifest("replicas: 5", "replicas: 3")(t, w)
		w.edit(t, func(r Object) { r["apply_method"] = "ssa" })
		w.helmRelease("shop", spec, `{"history":[{"version":2}]}`)
		r := w.one(t)
		if o := r.object(web); len(o.Patch) != 1 || o.Patch[0].Upgrade != want || strings.Contains(show(r.After.Do), "force-conflicts") {
			t.Errorf("%s: %s %s", spec, show(o), show(r.After.Do))
		}
	}
}

const trickCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"tricks.x.io"},"spec":{"group":"x.io","scope":"Namespaced",
"names":{"kind":"Trick","plural":"tricks"},"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object","properties":{
"ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],"items":{"type":"object","properties":{"port":{"type":"integer"},"protocol":{"type":"string","default":"TCP"},"name":{"type":"string"}}}},
"tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},"either":{"x-kubernetes-int-or-string":true},
"embedded":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},
"atom":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"},"b":{"type":"string","default":"x"}}},
"zero":{"type":"integer"},"part":{"type":"number"},
"nested":{"type":"array","items":{"type":"object","properties":{"deep":{"type":"object","default":{},"properties":{"v":{"type":"integer","default":3}}}}}}}}}}}}]}}`

// What a CustomResourceDefinition says of lists, maps and defaults decides what is drift.
func TestTricksOfDefinitions(t *testing.T) {
	for _, c := range []struct{ live, manifest, want string }{
		{`{"ports":[{"port":2,"protocol":"TCP"},{"port":1,"protocol":"TCP"}]}`, `{ports: [{port: 1}]}`, InSync}, // a key has a default
		{`{"ports":[{"port":1,"protocol":"UDP"}]}`, `{ports: [{port: 1}]}`, Drifted},
		{`{"tags":["b","a","c"]}`, `{tags: [a, b]}`, InSync},
		{`{"tags":["b"]}`, `{tags: [a, b]}`, Drifted},
		{`{"either":80}`, `{either: "80"}`, Drifted},
		{`{"embedded":{"kind":"X","z":[1,2]}}`, `{embedded: {kind: X, z: [1, 2]}}`, InSync},
		{`{"embedded":{"kind":"X","z":[1,2]}}`, `{embedded: {kind: X, z: [1]}}`, Drifted},
		{`{"atom":{"a":"1","b":"x"}}`, `{atom: {a: "1"}}`, InSync},
		{`{"atom":{"a":"1","b":"y"}}`, `{atom: {a: "1"}}`, Drifted},
		{`{"nested":[{"deep":{"v":3}}]}`, `{nested: [{}]}`, InSync},
		{`{"nested":[{"deep":{"v":4}}]}`, `{nested: [{}]}`, Drifted},
		{`{"zero":1}`, `{zero: 0}`, Drifted},
		{`{"part":1}`, `{part: 1.0}`, InSync},
		{`{}`, `{unknown: 1}`, InSync},
	} {
		w := repaired(t)
		w[[3]string{"customresourcedefinitions.apiextensions.k8s.io", "", "tricks.x.io"}] = decode(t, trickCRD)
		w.lives(t, "tricks.x.io", "shop", `{"apiVersion":"x.io/v1","kind":"Trick","metadata":{"name":"a"},"spec":`+c.live+`}`)
		w.more(t, "apiVersion: x.io/v1\nkind: Trick\nmetadata: {name: a}\nspec: "+c.manifest+"\n")
		if r := w.one(t); r.Reason != c.want {
			t.Errorf("%s of %s: %s, want %s: %s", c.live, c.manifest, r.Reason, c.want, show(r.object("Trick/shop/a")))
		}
	}
}

// Releases of one name, in two namespaces and in two storages, do not meet.
func TestSameNames(t *testing.T) {
	w := repaired(t)
	record := reparsed(t, w[newestRecord])
	put(record, "other", "metadata", "namespace")
	w[[3]string{"secrets", "other", newestRecord[2]}] = record
	inner, _ := base64.StdEncoding.DecodeString(text(record, "data", "release"))
	copied := reparsed(t, w[newestRecord])
	put(copied, string(inner), "data", "release")
	put(copied, "ConfigMap", "kind")
	w[[3]string{"configmaps", "shop", newestRecord[2]}] = copied
	w.helmRelease("shop", `{"suspend":true}`, `{"history":[{"version":2}]}`)
	r := w.run(t, Options{})
	var got []string
	for _, r := range r.Releases {
		got = append(got, r.Namespace+"/"+r.Storage+" "+r.Reason+" "+r.Controller)
	}
	want := "other/Secret InSync , shop/ConfigMap InSync , shop/Secret InSync HelmRelease/shop/shop"
	if strings.Join(got, ", ") != want || len(r.Problems) > 0 {
		t.Errorf("%q, want %q; %s", got, want, show(r.Problems))
	}
	if r := w.run(t, Options{Namespace: "other"}); len(r.Releases) != 1 || len(r.WithoutRecord) != 0 {
		t.Error(show(r))
	}
}
