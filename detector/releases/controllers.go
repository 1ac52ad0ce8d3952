package releases

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/lazyregexp"
)

// controller is an object that looks after releases: a HelmRelease of Flux, a
// ClusterSummary of Sveltos, a ServiceSet of k0rdent.
type controller struct {
	object     string // HelmRelease/flux/shop
	kind       string
	target     string // the namespace that a HelmRelease installs into
	release    string // namespace/name of the release
	mode       string
	suspended  bool
	paused     string // why Sveltos does nothing, or empty
	uninstalls bool   // a ClusterSummary that takes the release away
	waits      bool   // it depends on other HelmReleases
	apply      string // a HelmRelease's: ssa, csa, or as the release was
	replaces   bool   // upgrade.force: objects are replaced, unless they are applied
	newest     int    // version of the newest entry of its history; 0 without
}

// readController takes an object of the first pass that says something about drift.
func (c *Collector) readController(o Object) {
	switch text(o, "kind") {
	case "HelmRelease":
		c.readHelmRelease(o)
	case "ClusterSummary":
		c.readClusterSummary(o)
	case "ResourceSummary":
		c.readResourceSummary(o)
	case "ServiceSet":
		c.readServiceSet(o)
	case "SveltosCluster":
		if text(o, "metadata", "namespace") == "mgmt" && text(o, "metadata", "name") == "mgmt" && at(o, "spec", "paused") == true {
			c.pausedCluster = describe(o)
		}
	}
}

// readHelmRelease follows helm-controller's rules for names (api/v2/helmrelease_types.go v1.6.3).
func (c *Collector) readHelmRelease(o Object) {
	namespace, name := text(o, "metadata", "namespace"), text(o, "metadata", "name")
	target := text(o, "spec", "targetNamespace")
	release := text(o, "spec", "releaseName")
	if release == "" {
		release = name
		if target != "" {
			release = target + "-" + name
		}
	}
	if at(o, "spec", "kubeConfig") != nil {
		c.said = append(c.said, Said{describe(o), "its release is in the cluster of its kubeConfig, not in this backup"})
		return
	}
	release = shortened(release)
	storage := cmp.Or(text(o, "spec", "storageNamespace"), text(o, "status", "storageNamespace"), namespace)
	k := &controller{
		object: describe(o), kind: "HelmRelease", release: storage + "/" + release,
		target: cmp.Or(target, namespace), mode: cmp.Or(text(o, "spec", "driftDetection", "mode"), "disabled"), suspended: at(o, "spec", "suspend") == true,
		replaces: at(o, "spec", "upgrade", "force") == true, waits: len(list(o, "spec", "dependsOn")) > 0,
	}
	k.apply = map[string]string{"enabled": "ssa", "disabled": "csa"}[text(o, "spec", "upgrade", "serverSideApply")]
	for _, h := range list(o, "status", "history") {
		if v, ok := at(h, "version").(int64); ok {
			k.newest = max(k.newest, int(v))
		}
	}
	c.controllers = append(c.controllers, k)
	c.readRules(at(o, "spec", "driftDetection", "ignore"), k.object, k.release)
}

// shortened returns a release's name as Flux makes it fit (internal/release/name.go v1.6.3).
func shortened(name string) string {
	const most, hash = 53, 12
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:most-hash-1] + "-" + hex.EncodeToString(sum[:])[:hash]
}

// readRules takes the ignore rules of an object, for one release or for all.
func (c *Collector) readRules(v any, source, release string) {
	if v == nil {
		return
	}
	var written []writtenRule
	body, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(body, &written)
	}
	if err != nil {
		c.problem(source, "its ignore rules can't be read")
		return
	}
	for _, w := range written {
		if len(w.Paths) == 0 { // k0rdent's driftIgnore is a list of targets
			w.Paths = []string{""}
		}
		if good := slices.DeleteFunc(slices.Clone(w.Paths), func(p string) bool { return p != "" && p[0] != '/' }); len(good) < len(w.Paths) {
			c.problem(source, errPointer.Error()) // its controller uses the others
			if w.Paths = good; len(good) == 0 {
				continue
			}
		}
		r, err := w.rule(source, release)
		if err != nil {
			c.problem(source, err.Error())
			continue
		}
		c.rules = append(c.rules, r)
	}
}

// ofCluster is what Sveltos puts the name, and the namespace, of the cluster for.
var ofCluster = lazyregexp.New(`\{\{-?\s*\.Cluster\.metadata\.name(space)?\s*-?\}\}`)

// readClusterSummary reads what Sveltos deploys. Only the charts of the cluster
// mgmt/mgmt, as Sveltos calls the one that it runs in, are in this backup.
func (c *Collector) readClusterSummary(o Object) {
	spec, _ := at(o, "spec", "clusterProfileSpec").(Object)
	here := text(o, "spec", "clusterName") == "mgmt" && text(o, "spec", "clusterNamespace") == "mgmt"
	mode, paused := cmp.Or(text(spec, "syncMode"), "Continuous"), ""
	if _, is := stringMap(o, "metadata", "annotations")["cluster.x-k8s.io/paused"]; is {
		paused = "it is paused by its annotation"
	}
	for _, chart := range list(spec, "helmCharts") {
		if !here {
			break
		}
		release := text(Object{"c": chart}, "c", "releaseNamespace") + "/" + text(Object{"c": chart}, "c", "releaseName")
		if release = ofCluster.ReplaceAllString(release, "mgmt"); strings.Contains(release, "{{") {
			c.said = append(c.said, Said{describe(o), "deploys a release whose name is a template, and which is not known here: " + release})
			continue
		}
		c.controllers = append(c.controllers, &controller{
			object: describe(o), kind: "ClusterSummary", release: release, mode: mode, paused: paused,
			uninstalls: text(Object{"c": chart}, "c", "helmChartAction") == "Uninstall",
		})
		c.readRules(at(spec, "driftExclusions"), describe(o), release)
	}
	for _, f := range list(o, "status", "featureSummaries") {
		if at(f, "status") == "Provisioning" && at(f, "hash") == nil {
			c.said = append(c.said, Said{describe(o), fmt.Sprintf("feature %v is Provisioning without a hash: a correction was running", at(f, "featureID"))})
		}
	}
}

func (c *Collector) readResourceSummary(o Object) {
	for _, f := range []string{"resourcesChanged", "helmResourcesChanged", "kustomizeResourcesChanged"} {
		if at(o, "status", f) == true {
			c.said = append(c.said, Said{describe(o), "status." + f + " is true: Sveltos saw drift"})
		}
	}
	for _, d := range list(o, "status", "driftedHelmCharts") {
		c.said = append(c.said, Said{describe(o), fmt.Sprintf("driftedHelmCharts has release %v/%v", at(d, "releaseNamespace"), at(d, "releaseName"))})
	}
}

// readServiceSet reads a ServiceSet of k0rdent that is for the management cluster itself.
func (c *Collector) readServiceSet(o Object) {
	if at(o, "spec", "provider", "selfManagement") != true {
		return
	}
	config, _ := at(o, "spec", "provider", "config").(Object)
	for _, s := range list(o, "spec", "services") {
		one := Object{"s": s}
		name := text(one, "s", "name")
		release := cmp.Or(text(one, "s", "namespace"), name) + "/" + name
		c.controllers = append(c.controllers, &controller{object: describe(o), kind: "ServiceSet", release: release, mode: cmp.Or(text(config, "syncMode"), "Continuous")})
		c.readRules(at(config, "driftExclusions"), describe(o), release)
		var targets []any
		for _, t := range list(config, "driftIgnore") {
			targets = append(targets, Object{"target": t})
		}
		if targets != nil {
			c.readRules(targets, describe(o), release)
		}
	}
}

// attach ties controllers to releases; a HelmRelease without one is a release that was deleted.
func (c *Collector) attach() {
	for _, k := range c.controllers {
		if c.pausedCluster != "" && k.kind != "HelmRelease" {
			k.paused = cmp.Or(k.paused, c.pausedCluster+" is paused")
		}
		r := c.byID[k.release]
		if r == nil {
			if k.kind != "HelmRelease" {
				continue
			}
			r = withoutRecord(k)
			if why := c.leftOut("secrets", r.Namespace, false); why != "" {
				r.Reason, r.Message = Incomplete, "its record is not in the backup: "+why
			}
			c.byID[k.release] = r
			if c.options.Namespace == "" || c.options.Namespace == r.Namespace {
				c.releases = append(c.releases, r)
			}
		}
		if first := r.controller; first != nil && first.kind == k.kind && first.object != k.object {
			c.said = append(c.said, Said{k.object, fmt.Sprintf("is for release %s, as %s is: who is not suspended overwrites it", k.release, first.object)})
			if k.suspended {
				continue
			}
		}
		if r.controller == nil || k.kind == "HelmRelease" {
			r.controller = k
			r.Controller, r.Mode = k.object, k.mode
			r.Suspended = nil
			if k.kind == "HelmRelease" {
				r.Suspended = &k.suspended
			}
		}
	}
}
