package releases

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

// What a restore makes of a release, by one change of the lab's backup.
var afters = []struct {
	name       string
	world      func(testing.TB) world
	change     func(testing.TB, world)
	state      string
	overwrites string
	upgrade    string
	reason, do string // part of one
}{
	{"in sync, no controller", repaired, func(testing.TB, world) {}, "drifted", "", "", "no controller looks after it", ""},
	{"refused", shop, func(testing.TB, world) {}, "drifted", "", Fails, "two ports named http: Flux does not see it, and the next upgrade fails", "kubectl edit service shop-web --namespace shop"},
	{"HelmRelease", repaired, func(_ testing.TB, w world) { w.helmRelease("shop", `{}`, `{}`) }, "drifted", "HelmRelease/shop/shop", "", "helm-controller upgrades at once", ""},
	{"suspended", repaired, func(_ testing.TB, w world) { w.helmRelease("shop", `{"suspend":true}`, `{}`) }, "drifted", "", "", "is suspended: what comes back stays", ""},
	{"locked", repaired, func(t testing.TB, w world) { status(t, w, "pending-upgrade") }, "drifted", "", "", "", "helm rollback shop 1 --namespace shop"},
	{"locked, Flux", repaired, func(t testing.TB, w world) {
		status(t, w, "pending-upgrade")
		w.helmRelease("shop", `{}`, `{}`)
	}, "drifted", "HelmRelease/shop/shop", "", "", "helm-controller unlocks it by itself"},
	{"conflict", repaired, func(t testing.TB, w world) {
		w.edit(t, func(r Object) {
			r["apply_method"] = "ssa"
			r["manifest"] = strings.Replace(text(r, "manifest"), "replicas: 5", "replicas: 3", 1)
		})
	}, "drifted", "", Fails, "", "--force-conflicts"},
	{"custom resource without CRD", repaired, func(t testing.TB, w world) {
		w[[3]string{"gadgets.x.io", "shop", "other"}] = Object{}
		w.edit(t, func(r Object) {
			r["manifest"] = text(r, "manifest") + "\n---\napiVersion: x.io/v1\nkind: Gadget\nmetadata: {name: g}\n"
		})
	}, "drifted", "", Fails, "CustomResourceDefinition is not in the backup", "install the CustomResourceDefinition of Gadget/shop/g"},
	{"Sveltos", repaired, func(t testing.TB, w world) {
		w[[3]string{"clustersummaries.config.projectsveltos.io", "mgmt", "s"}] = decode(t, `{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"mgmt"},"spec":{"clusterName":"mgmt","clusterNamespace":"mgmt","clusterProfileSpec":{"syncMode":"ContinuousWithDriftDetection","helmCharts":[{"releaseName":"shop","releaseNamespace":"shop"}]}}}`)
	}, "drifted", "ClusterSummary/mgmt/s", "", "has syncMode ContinuousWithDriftDetection", ""},
	{"k0rdent, once", repaired, func(t testing.TB, w world) {
		w[[3]string{"servicesets.k0rdent.mirantis.com", "k", "s"}] = decode(t, `{"kind":"ServiceSet","metadata":{"name":"s","namespace":"k"},"spec":{"provider":{"selfManagement":true,"config":{"syncMode":"OneTime"}},"services":[{"name":"shop","namespace":"shop"}]}}`)
	}, "drifted", "ServiceSet/k/s", "", "deploys the charts once more", ""},
	{"two HelmReleases, one suspended", repaired, func(_ testing.TB, w world) {
		w.helmRelease("shop", `{}`, `{"history":[{"version":2}]}`)
		w.helmRelease("zwei", `{"releaseName":"shop","suspend":true}`, `{}`)
	}, "drifted", "HelmRelease/shop/shop", "", "upgrades at once", ""},
	{"depends on another", repaired, func(_ testing.TB, w world) { w.helmRelease("shop", `{"dependsOn":[{"name":"a"}]}`, `{}`) }, "drifted", "HelmRelease/shop/shop", "", "upgrades once what it depends on is ready", ""},
	{"uninstalled, Flux", repaired, func(t testing.TB, w world) {
		status(t, w, "uninstalled")
		w.helmRelease("shop", `{}`, `{}`)
	}, "drifted", "HelmRelease/shop/shop", "", "installs at once", ""},
	{"Sveltos, paused by its annotation", repaired, func(t testing.TB, w world) {
		w[[3]string{"clustersummaries.config.projectsveltos.io", "mgmt", "s"}] = decode(t, `{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"mgmt","annotations":{"cluster.x-k8s.io/paused":""}},"spec":{"clusterName":"mgmt","clusterNamespace":"mgmt","clusterProfileSpec":{"helmCharts":[{"releaseName":"shop","releaseNamespace":"shop"}]}}}`)
	}, "drifted", "", "", "ClusterSummary/mgmt/s deploys nothing, for it is paused by its annotation", ""},
	{"Sveltos, the cluster is paused", repaired, func(t testing.TB, w world) {
		w[[3]string{"clustersummaries.config.projectsveltos.io", "mgmt", "s"}] = decode(t, `{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"mgmt"},"spec":{"clusterName":"mgmt","clusterNamespace":"mgmt","clusterProfileSpec":{"helmCharts":[{"releaseName":"shop","releaseNamespace":"shop"}]}}}`)
		w[[3]string{"sveltosclusters.lib.projectsveltos.io", "mgmt", "mgmt"}] = decode(t, `{"kind":"SveltosCluster","metadata":{"name":"mgmt","namespace":"mgmt"},"spec":{"paused":true}}`)
	}, "drifted", "", "", "for SveltosCluster/mgmt/mgmt is paused", ""},
	{"Sveltos, another cluster is paused", repaired, func(t testing.TB, w world) {
		w[[3]string{"clustersummaries.config.projectsveltos.io", "mgmt", "s"}] = decode(t, `{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"mgmt"},"spec":{"clusterName":"mgmt","clusterNamespace":"mgmt","clusterProfileSpec":{"helmCharts":[{"releaseName":"shop","releaseNamespace":"shop"}]}}}`)
		w[[3]string{"sveltosclusters.lib.projectsveltos.io", "p", "mgmt"}] = decode(t, `{"kind":"SveltosCluster","metadata":{"name":"mgmt","namespace":"p"},"spec":{"paused":true}}`)
	}, "drifted", "ClusterSummary/mgmt/s", "", "deployed again", ""},
	{"Sveltos, uninstalls", repaired, func(t testing.TB, w world) {
		w[[3]string{"clustersummaries.config.projectsveltos.io", "mgmt", "s"}] = decode(t, `{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"mgmt"},"spec":{"clusterName":"mgmt","clusterNamespace":"mgmt","clusterProfileSpec":{"helmCharts":[{"releaseName":"shop","releaseNamespace":"shop","helmChartAction":"Uninstall"}]}}}`)
	}, "drifted", "ClusterSummary/mgmt/s", "", "its controller uninstalls the release", ""},
	{"Sveltos, dry run", repaired, func(t testing.TB, w world) {
		w[[3]string{"clustersummaries.config.projectsveltos.io", "mgmt", "s"}] = decode(t, `{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"mgmt"},"spec":{"clusterName":"mgmt","clusterNamespace":"mgmt","clusterProfileSpec":{"syncMode":"DryRun","helmCharts":[{"releaseName":"shop","releaseNamespace":"shop"}]}}}`)
	}, "drifted", "", "", "has syncMode DryRun: what comes back stays", ""},
}

func TestAfter(t *testing.T) {
	for _, c := range afters {
		t.Run(c.name, func(t *testing.T) {
			w := c.world(t)
			c.change(t, w)
			r := w.one(t)
			a := r.After
			if a.State != c.state || a.Overwrites != c.overwrites || a.Upgrade != c.upgrade {
				t.Errorf("%s %q %q, want %s %q %q", a.State, a.Overwrites, a.Upgrade, c.state, c.overwrites, c.upgrade)
			}
			said := show(a)
			if !strings.Contains(said, c.reason) || !strings.Contains(said, c.do) {
				t.Errorf("%s\nhas not %q and %q", said, c.reason, c.do)
			}
		})
	}
}

// What the cluster itself said about drift is handed on; releases of other clusters are not taken for ours.
func TestSaid(t *testing.T) {
	w := repaired(t)
	w[[3]string{"resourcesummaries.lib.projectsveltos.io", "p", "r"}] = decode(t, `{"kind":"ResourceSummary","metadata":{"name":"r","namespace":"p"},"status":{"helmResourcesChanged":true,"driftedHelmCharts":[{"releaseName":"shop","releaseNamespace":"shop"}]}}`)
	w[[3]string{"clustersummaries.config.projectsveltos.io", "p", "s"}] = decode(t, `{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"p"},"spec":{"clusterName":"prod","clusterNamespace":"p","clusterProfileSpec":{"helmCharts":[{"releaseName":"shop","releaseNamespace":"shop"}]}},"status":{"featureSummaries":[{"featureID":"Helm","status":"Provisioning"}]}}`)
	w.helmRelease("far", `{"kubeConfig":{"secretRef":{"name":"x"}}}`, `{"history":[{"version":3}]}`)
	r := w.run(t, Options{})
	var said []string
	for _, s := range r.Said {
		said = append(said, s.Object+": "+s.Message)
	}
	slices.Sort(said)
	want := []string{
		"ClusterSummary/p/s: feature Helm is Provisioning without a hash: a correction was running",
		"HelmRelease/shop/far: its release is in the cluster of its kubeConfig, not in this backup",
		"ResourceSummary/p/r: driftedHelmCharts has release shop/shop",
		"ResourceSummary/p/r: status.helmResourcesChanged is true: Sveltos saw drift",
	}
	if !slices.Equal(said, want) || len(r.Releases) != 1 || r.Releases[0].Controller != "" {
		t.Errorf("%q\nwant %q; %d releases", said, want, len(r.Releases))
	}
}

// Rules of Sveltos and k0rdent are for their releases.
func TestRulesOfControllers(t *testing.T) {
	for name, o := range map[string]string{
		"clustersummaries.config.projectsveltos.io": `{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"mgmt"},"spec":{"clusterName":"mgmt","clusterNamespace":"mgmt","clusterProfileSpec":{"helmCharts":[{"releaseName":"shop","releaseNamespace":"shop"}],"driftExclusions":[{"paths":["/spec/replicas"],"target":{"kind":"Deployment"}}]}}}`,
		"servicesets.k0rdent.mirantis.com":          `{"kind":"ServiceSet","metadata":{"name":"s","namespace":"k"},"spec":{"provider":{"selfManagement":true,"config":{"driftIgnore":[{"kind":"Deployment","name":"shop-web"}]}},"services":[{"name":"shop","namespace":"shop"}]}}`,
	} {
		w := shop(t)
		w[[3]string{name, "k", "s"}] = decode(t, o)
		r := w.run(t, Options{})
		if len(r.Rules) != 1 || r.Rules[0].Used == 0 {
			t.Fatalf("%s: %s", name, show(r.Rules))
		}
		got := r.Releases[0].object("Deployment/shop/shop-web")
		if got.Verdict != Excluded && slices.ContainsFunc(got.Patch, func(c Change) bool { return c.Pointer == "/spec/replicas" }) {
			t.Errorf("%s: %s", name, show(got))
		}
	}
}

// Absence is drift only where the backup would have the object.
func TestMissing(t *testing.T) {
	web := [3]string{"services", "shop", "shop-web"}
	for _, c := range []struct {
		name, more string // of the manifest
		object     string
		scope      Scope
		want       string
	}{
		{"no other of its kind", "", "Service/shop/shop-web", nil, NotInBackup},
		{"by Velero's description", "", "Service/shop/shop-web", func(string, string) string { return "" }, Removed},
		{"left out by a filter", "", "Service/shop/shop-web", func(string, string) string { return "excludedResources" }, NotInBackup},
		{"cluster-scoped", "kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: r}", "ClusterRole/r", nil, NotInBackup},
		{"another namespace", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: r, namespace: other}", "ConfigMap/other/r", nil, NotInBackup},
		{"kept out by its label", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: r, labels: {velero.io/exclude-from-backup: 'true'}}", "ConfigMap/shop/r", nil, NotInBackup},
		{"Job with a TTL", "kind: Job\napiVersion: batch/v1\nmetadata: {name: r}\nspec: {ttlSecondsAfterFinished: 5}", "Job/shop/r", nil, Expired},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := repaired(t)
			delete(w, web)
			w.edit(t, func(r Object) { r["manifest"] = text(r, "manifest") + "\n---\n" + c.more })
			collector := New(Options{})
			r := w.collect(t, collector, c.scope)
			o := r.Releases[0].object(c.object)
			if o.Verdict != c.want {
				t.Errorf("%s, want %s: %s", o.Verdict, c.want, show(o))
			}
		})
	}
}

// An object that the backup has in another API version only is not compared.
func TestAnotherVersion(t *testing.T) {
	w := repaired(t)
	put(w.get("deployments.apps", "shop-web"), "apps/v1beta1", "apiVersion")
	if r := w.one(t); r.Reason != Incomplete || r.object("Deployment/shop/shop-web").Verdict != NotComparable {
		t.Error(show(r))
	}
}

// What the release's own Apply entry owns, and the manifest no longer has, goes.
func TestOwnApply(t *testing.T) {
	w := repaired(t)
	c := w.get("configmaps", "shop-config")
	put(c, "x", "data", "old")
	for _, e := range list(c, "metadata", "managedFields") {
		if m := e.(Object); m["manager"] == "helm" {
			m["operation"] = "Apply"
			put(m, Object{}, "fieldsV1", "f:data", "f:old")
		}
	}
	o := w.one(t).object("ConfigMap/shop/shop-config")
	if len(o.Patch) != 1 || o.Patch[0].Op != "remove" || o.Patch[0].Pointer != "/data/old" {
		t.Error(show(o))
	}
}

// Words of a shell stay words.
func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"shop": "shop", "-n": "'-n'", "": "''", "a b": "'a b'", "a'b": `'a'\''b'`, "$(x)": "'$(x)'"} {
		if got := quote(in); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// Flux may keep the records in another namespace than the release; objects name the latter.
func TestStorageNamespace(t *testing.T) {
	w := repaired(t)
	record := w[newestRecord]
	delete(w, newestRecord)
	delete(w, [3]string{"secrets", "shop", "sh.helm.release.v1.shop.v1"})
	put(record, "flux", "metadata", "namespace")
	w[[3]string{"secrets", "flux", "sh.helm.release.v1.shop.v2"}] = record
	w.helmRelease("shop", `{"storageNamespace":"flux","targetNamespace":"shop","releaseName":"shop"}`, `{"history":[{"version":2}]}`)
	if r := w.one(t); r.Reason != InSync || r.Namespace != "flux" || len(r.Extra) != 1 || r.Controller == "" {
		t.Error(show(r))
	}
}

// Helm has one namespace for records and objects: a command would put objects beside the records.
func TestCommandsAcrossNamespaces(t *testing.T) {
	w := repaired(t)
	status(t, w, "pending-upgrade")
	for _, v := range []string{"1", "2"} {
		k := [3]string{"secrets", "shop", "sh.helm.release.v1.shop.v" + v}
		o := w[k]
		delete(w, k)
		put(o, "flux", "metadata", "namespace")
		w[[3]string{"secrets", "flux", k[2]}] = o
	}
	w.helmRelease("shop", `{"suspend":true,"storageNamespace":"flux","targetNamespace":"shop","releaseName":"shop"}`, `{}`)
	do := w.one(t).After.Do
	if len(do) != 1 || do[0].Command != "" || !strings.Contains(do[0].Text, "its records are in flux") {
		t.Error(show(do))
	}
	for k := range w {
		if k[1] == "flux" {
			delete(w, k)
		}
	}
	w[[3]string{"secrets", "flux", "other"}] = Object{}
	if do = w.one(t).After.Do; len(do) != 1 || do[0].Command != "" || !strings.Contains(do[0].Text, "without a record Helm installs") {
		t.Error(show(do))
	}
}

// Records that stay when HELM_DRIVER changes are no release that needs action.
func TestRecordsLeftBehind(t *testing.T) {
	for _, c := range []struct {
		secrets, configMaps string // modifiedAt
		flux                bool
		want                string
	}{
		{"100", "200", false, "ConfigMap InSync , Secret NoDeployedRevision left behind by a change of HELM_DRIVER: its records of kind ConfigMap are newer"},
		{"200", "100", false, "ConfigMap NoDeployedRevision left behind by a change of HELM_DRIVER: its records of kind Secret are newer, Secret Failed revision 2 failed"},
		{"100", "", false, "ConfigMap InSync , Secret Failed revision 2 failed"},
		{"100", "200", true, "ConfigMap InSync , Secret Failed revision 2 failed"},
	} {
		w := repaired(t)
		delete(w, [3]string{"secrets", "shop", "sh.helm.release.v1.shop.v1"})
		at := func(o Object, seconds string) {
			labels := o["metadata"].(Object)["labels"].(Object)
			delete(labels, "createdAt")
			if labels["modifiedAt"] = seconds; seconds == "" {
				delete(labels, "modifiedAt")
			}
		}
		copied := reparsed(t, w[newestRecord])
		inner, _ := base64.StdEncoding.DecodeString(text(copied, "data", "release"))
		put(copied, string(inner), "data", "release")
		put(copied, "ConfigMap", "kind")
		w[[3]string{"configmaps", "shop", newestRecord[2]}] = copied
		status(t, w, "failed")
		at(w[newestRecord], c.secrets)
		at(copied, c.configMaps)
		if c.flux {
			w.helmRelease("shop", `{}`, `{"history":[{"version":2}]}`)
		}
		var got []string
		for _, r := range w.run(t, Options{}).Releases {
			message := r.Message
			if r.Reason == InSync {
				message = ""
			}
			got = append(got, r.Storage+" "+r.Reason+" "+message)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
}

// The objects of a HelmRelease without record are nobody's, not extra.
func TestObjectsOfADeletedRelease(t *testing.T) {
	w := shop(t)
	delete(w, newestRecord)
	delete(w, [3]string{"secrets", "shop", "sh.helm.release.v1.shop.v1"})
	w.helmRelease("shop", `{}`, `{"history":[{"version":2}]}`)
	r := w.run(t, Options{})
	if len(r.WithoutRecord) != 1 || len(r.Releases) != 1 || len(r.Releases[0].Extra) != 0 || r.WithoutRecord[0].Do.Command != "helm upgrade --install shop CHART --namespace shop" {
		t.Error(show(r))
	}
}
