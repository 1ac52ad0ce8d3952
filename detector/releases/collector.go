package releases

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"drift-detector/internal/sorting"
)

// Collector takes the objects of a backup twice: in the first pass the records
// and what looks after them, in the second each object that a manifest names.
type Collector struct {
	options     Options
	stored      map[key]*stored
	crds        map[schema.GroupKind]*crd
	scaled      map[string]bool // what an autoscaler targets
	controllers []*controller
	// pausedCluster is the name of this cluster's SveltosCluster, if that is paused.
	pausedCluster string
	rules         []*Rule
	placed        int // of rules, how many are in rulesOf
	rulesOf       map[ruleTarget][]int
	namespaces    map[string]bool // that have an object in the backup
	resources     map[string]bool
	global        map[string]bool // resources that the backup has cluster-scoped objects of

	scope    Scope
	releases []*Release
	byID     map[string]*Release // by the namespace of the records, and name
	byTarget map[string]*Release // by the namespace that objects name, and name
	wanted   map[string][]*wanted
	lost     map[string]*WithoutRecord
	said     []Said
	problems []Problem
	kept     int

	seed    maphash.Seed
	noted   []uint64 // hashes of the objects that Note got
	met     []met    // see Meet
	room    int      // bytes that are left for met
	left    int      // see Left
	id      []byte   // used again
	scratch []byte   // of cutManaged
}

// wanted is one object of a manifest.
type wanted struct {
	release  *Release
	compared *Compared
	resource string
	cluster  bool
	custom   bool   // its definition is a CustomResourceDefinition
	twoWay   bool   // Helm has no type of it, and patches what changed between manifests
	labelled bool   // the manifest has Helm's label
	body     []byte // JSON
	done     bool
	other    bool // seen in another API version
	awaited  bool // counted in left
}

// New makes a Collector.
func New(o Options) *Collector {
	return &Collector{
		options: o, rules: slices.Clone(o.Rules),
		stored: map[key]*stored{}, crds: map[schema.GroupKind]*crd{}, scaled: map[string]bool{},
		namespaces: map[string]bool{}, resources: map[string]bool{}, global: map[string]bool{},
		byID: map[string]*Release{}, byTarget: map[string]*Release{}, wanted: map[string][]*wanted{}, lost: map[string]*WithoutRecord{},
		seed: maphash.MakeSeed(), room: maxMet,
	}
}

var firstResources = map[string]bool{
	"secrets": true, "configmaps": true,
	"customresourcedefinitions.apiextensions.k8s.io": true,
	"horizontalpodautoscalers.autoscaling":           true,
	"helmreleases.helm.toolkit.fluxcd.io":            true,
	"clustersummaries.config.projectsveltos.io":      true,
	"resourcesummaries.lib.projectsveltos.io":        true,
	"servicesets.k0rdent.mirantis.com":               true,
	"sveltosclusters.lib.projectsveltos.io":          true,
}

// First notes that an item is in the backup, and reports whether [Collector.Read]
// is to have it in the first pass.
func (c *Collector) First(resource, namespace string) bool {
	c.resources[resource] = true
	if namespace != "" {
		c.namespaces[namespace] = true
	} else {
		c.global[resource] = true
	}
	return firstResources[resource]
}

// Read takes an item of the first pass.
func (c *Collector) Read(resource string, body []byte) {
	if resource == "secrets" && !bytes.Contains(body, []byte("helm.sh/release.v1")) || resource == "configmaps" && !bytes.Contains(body, []byte(`"release"`)) {
		return
	}
	o, err := parse(body)
	if err != nil {
		c.problem(resource, "an object that is no valid JSON")
		return
	}
	switch resource {
	case "secrets", "configmaps":
		c.readRecord(o)
	case "customresourcedefinitions.apiextensions.k8s.io":
		if group, kind, d := readCRD(o); d != nil {
			c.crds[schema.GroupKind{Group: group, Kind: kind}] = d
		} else {
			c.problem(describe(o), "a CustomResourceDefinition that can't be read")
		}
	case "horizontalpodautoscalers.autoscaling":
		target, _ := at(o, "spec", "scaleTargetRef").(Object)
		c.scaled[subject(text(target, "kind"), text(o, "metadata", "namespace"), text(target, "name"))] = true
	default:
		c.readController(o)
	}
}

func parse(body []byte) (Object, error) {
	var o Object
	err := utiljson.Unmarshal(body, &o)
	return o, err
}

// Problem notes an entry of the archive that is left out.
func (c *Collector) Problem(path, reason string) { c.problem(path, reason) }

// maxProblems bounds what a hostile backup can have listed.
const maxProblems = 1000

func (c *Collector) problem(object, reason string) {
	if len(c.problems) == maxProblems {
		object, reason = "more", "what else can't be read is not listed"
	}
	if len(c.problems) > maxProblems {
		return
	}
	c.problems = append(c.problems, Problem{object, reason})
}

// Plan ends the first pass. The scope is what Velero says of the backup's filters;
// nil when that is not known.
func (c *Collector) Plan(scope Scope) {
	c.scope = scope
	c.leaveBehind()
	keys := slices.SortedFunc(maps.Keys(c.stored), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.storage, b.storage))
	})
	for _, k := range keys {
		c.planRelease(k, c.stored[k])
	}
	c.stored = nil
	c.attach()
	c.await()
	for _, m := range c.met {
		if len(c.wanted[m.resource+"\x00"+m.namespace+"\x00"+m.name]) > 0 {
			c.See(m.resource, "", m.namespace, m.name, m.body)
		}
	}
	c.met = nil
}

// planRelease unpacks the newest record of a release, and notes what its manifest wants.
func (c *Collector) planRelease(k key, s *stored) {
	sorting.By(s.revisions, func(a, b Revision) int { return cmp.Compare(b.Revision, a.Revision) })
	r := &Release{
		Name: k.name, Namespace: k.namespace, Storage: k.storage, Revision: s.revisions[0].Revision,
		History: s.revisions[1:], HelmStatus: s.revisions[0].Status, modified: s.revisions[0].Modified, hooks: map[string]bool{},
	}
	if r.newer = s.newer; r.newer == "" {
		c.byID[r.id()] = r
	}
	skipped := c.options.Namespace != "" && c.options.Namespace != k.namespace
	if !skipped {
		c.releases = append(c.releases, r)
	}
	if r.newer != "" {
		return
	}
	rec, why := (*record)(nil), s.damaged
	if why == "" {
		var err error
		if rec, err = unpack(s.packed); err != nil {
			why = err.Error()
		}
	}
	s.packed = ""
	if skipped { // its objects name it, in the namespace that it is installed in
		if rec != nil {
			c.byTarget[cmp.Or(rec.Namespace, k.namespace)+"/"+k.name] = r
		}
		return
	}
	if rec != nil {
		if c.kept += len(rec.Manifest); c.kept > maxManifests {
			rec, why = nil, fmt.Sprintf("the manifests of the backup are larger than %d MiB", maxManifests>>20)
		}
	}
	if rec == nil {
		r.faults, r.Reason = append(r.faults, why), Unreadable
		c.problem(subject(k.storage, k.namespace, k.name), why)
		return
	}
	r.HelmStatus = cmp.Or(rec.Info.Status, r.HelmStatus)
	r.ApplyMethod = rec.ApplyMethod
	r.target = cmp.Or(rec.Namespace, k.namespace)
	c.byTarget[r.target+"/"+r.Name] = r
	r.Chart = strings.Trim(rec.Chart.Metadata.Name+"-"+rec.Chart.Metadata.Version, "-")
	bad := func(why string) {
		r.faults = append(r.faults, why)
		c.problem(subject(k.storage, k.namespace, k.name), why)
	}
	for _, h := range rec.Hooks {
		r.hooks[h.Kind+"/"+h.Name] = true
	}
	c.readBase(r, s)
	for _, o := range objectsOf(rec.Manifest, bad) {
		c.want(r, o)
	}
}

func kindOf(o Object) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(text(o, "apiVersion"), text(o, "kind"))
}

// locate says where an object of a manifest is in the backup.
func (c *Collector) locate(r *Release, o Object) *wanted {
	id := kindOf(o)
	w := &wanted{release: r, custom: true, twoWay: true}
	if k, ok := builtinResource[id.GroupKind()]; ok {
		w.resource, w.cluster, w.custom, w.twoWay = k.resource, k.cluster, false, id.Kind == "APIService"
	} else if known := c.crds[id.GroupKind()]; known != nil {
		w.resource, w.cluster = known.resource, known.cluster
	} else {
		w.resource = c.guessed(id.GroupKind())
		w.cluster = c.global[w.resource]
		if builtinGroups[id.Group] {
			w.custom, w.twoWay = false, false
		}
	}
	w.labelled = stringMap(o, "metadata", "labels")[managedByLabel] == "Helm"
	return w
}

// place gives an object of a manifest the namespace that it is in.
func (w *wanted) place(o Object) {
	m := o["metadata"].(Object)
	if w.cluster {
		delete(m, "namespace")
	} else if text(o, "metadata", "namespace") == "" {
		m["namespace"] = w.release.target
	}
}

// want notes one object of a manifest.
func (c *Collector) want(r *Release, o Object) {
	id, w := kindOf(o), c.locate(r, o)
	o = withNulls(o)
	if id.Group == "" && id.Kind == "Secret" {
		folded(o)
	}
	w.place(o)
	marked(o, r.Name, r.target)
	w.compared = &Compared{
		APIVersion: text(o, "apiVersion"), Kind: id.Kind, Namespace: text(o, "metadata", "namespace"), Name: text(o, "metadata", "name"),
	}
	body, err := json.Marshal(o)
	if err != nil {
		return
	}
	w.body = body
	at := w.resource + "\x00" + w.compared.Namespace + "\x00" + w.compared.Name
	c.wanted[at] = append(c.wanted[at], w)
	r.Objects = append(r.Objects, w.compared)
}

// Second reports whether [Collector.See] is to have an item in the second pass. Of another
// version than Velero restores it takes only what a manifest names.
func (c *Collector) Second(resource, version string, namespace, name []byte) bool {
	if isEvent(resource) {
		return false
	}
	return version == "" || len(c.wanted[resource+"\x00"+string(namespace)+"\x00"+string(name)]) > 0
}

// See takes an item of the second pass. Version is empty for the copy that Velero restores.
func (c *Collector) See(resource, version, namespace, name string, body []byte) {
	targets := c.wanted[resource+"\x00"+namespace+"\x00"+name]
	marked := version == "" && bytes.Contains(body, []byte(releaseAnnotation))
	if len(targets) == 0 && !marked {
		return
	}
	body, managed := c.cutManaged(body)
	live, err := parse(body)
	if err != nil {
		for _, w := range targets {
			w.compared.Message = "the live object is no valid JSON"
		}
		return
	}
	for _, w := range targets {
		c.compareWith(w, live, managed)
	}
	if marked {
		c.claims(resource, live)
	}
}

func (c *Collector) compareWith(w *wanted, live Object, managed []byte) {
	if w.done {
		return
	}
	if w.compared.APIVersion != text(live, "apiVersion") && converted(live, w.compared.APIVersion) == nil {
		w.other = true
		return
	}
	w.done = true
	if w.awaited {
		c.left--
	}
	desired, err := parse(w.body)
	w.body = nil
	if err != nil {
		w.compared.Verdict, w.compared.Message = NotComparable, "the manifest's object is no JSON"
		return
	}
	why, paths := c.excluded(w, desired, live)
	out, err := c.compare(desired, live, managed, paths)
	if err == nil {
		out.next = w.next(desired, out.live)
	}
	switch {
	case why != "":
		w.exclude(why, out)
	case err != nil:
		w.compared.Verdict, w.compared.Message = NotComparable, err.Error()
	default:
		w.settle(out, c.options.Server)
	}
	if !w.adoptable(desired, live) {
		w.compared.Upgrade, w.compared.unowned = Fails, true
		w.compared.Message = "the deployed revision lacks it, and without Helm's label and annotations Helm does not adopt it"
	}
}
