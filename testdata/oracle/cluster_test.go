package oracle

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

// Stand-ins of kubectl, velero and clusterctl: what they change is in a file for each context of
// the folder $OF_CONTEXTS. They do what the lines of a plan need of them, in the words of the real
// ones, and fail at all else.

type stored struct {
	Resource string         `json:"resource"` // "clusters.cluster.x-k8s.io"
	Object   map[string]any `json:"object"`
}

func (s *stored) meta(name string) string {
	meta, _ := s.Object["metadata"].(map[string]any)
	text, _ := meta[name].(string)
	return text
}

func (s *stored) labels() labels.Set {
	meta, _ := s.Object["metadata"].(map[string]any)
	all, _ := meta["labels"].(map[string]any)
	set := labels.Set{}
	for name, value := range all {
		set[name] = fmt.Sprint(value)
	}
	return set
}

// cluster is what the API server of a context holds.
type cluster struct {
	path string
	all  []stored
}

func openCluster(context string) *cluster {
	c := &cluster{path: filepath.Join(os.Getenv("OF_CONTEXTS"), strings.ReplaceAll(context, "/", ".")+".json")}
	text, err := os.ReadFile(c.path)
	check(err)
	check(json.Unmarshal(text, &c.all))
	return c
}

func (c *cluster) save() {
	text, err := json.Marshal(c.all)
	check(err)
	check(os.WriteFile(c.path, text, 0o600))
}

func (c *cluster) find(resource, namespace, name string) *stored {
	for i := range c.all {
		if s := &c.all[i]; s.Resource == resource && s.meta("name") == name && (s.meta("namespace") == namespace || s.meta("namespace") == "") {
			return s
		}
	}
	return nil
}

// add adds an object unless it is there.
func (c *cluster) add(resource string, object map[string]any) bool {
	meta, _ := object["metadata"].(map[string]any)
	namespace, _ := meta["namespace"].(string)
	if c.find(resource, namespace, fmt.Sprint(meta["name"])) != nil {
		return false
	}
	meta["uid"], meta["creationTimestamp"] = fmt.Sprintf("uid-%d", len(c.all)), time.Now().Add(time.Second).UTC().Format(time.RFC3339)
	c.all = append(c.all, stored{resource, object})
	return true
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// call is a command line: words, and flags with their values. bare are the flags without.
type call struct {
	words []string
	flags map[string]string
}

func parse(args []string, bare ...string) call {
	c := call{flags: map[string]string{}}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case !strings.HasPrefix(name, "--"):
			c.words = append(c.words, args[i])
		case joined:
			c.flags[name[2:]] = value
		case slices.Contains(bare, name[2:]):
			c.flags[name[2:]] = "true"
		case i+1 < len(args):
			i++
			c.flags[name[2:]] = args[i]
		default:
			check(errors.New("flag needs an argument: " + name))
		}
	}
	return c
}

func kubectl(args []string) {
	c := parse(args, "all-namespaces", "no-headers", "overwrite", "ignore-not-found")
	k := openCluster(c.flags["context"])
	switch verb := c.words[0]; {
	case verb == "get" && c.flags["raw"] != "":
		k.raw(c.flags["raw"])
	case verb == "get":
		k.get(c)
	case verb == "create" && c.words[1] == "configmap":
		key, value, _ := strings.Cut(c.flags["from-literal"], "=")
		if !k.add("configmaps", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": c.flags["namespace"], "name": c.words[2]}, "data": map[string]any{key: value}}) {
			check(errors.New("already exists"))
		}
	case verb == "apply":
		k.apply(c.flags["filename"])
	default:
		for _, s := range k.named(c) {
			k.change(verb, c, s)
		}
	}
	if c.flags["dry-run"] == "" {
		k.save()
	}
}

// raw prints a list as the API server has it.
func (k *cluster) raw(path string) {
	served := map[string]string{"velero.io": "v1"}
	if slices.ContainsFunc(k.all, func(s stored) bool { return s.Resource == "providers.clusterctl.cluster.x-k8s.io" }) {
		served["cluster.x-k8s.io"] = "v1beta2"
	}
	if path == "/apis" {
		groups := []any{map[string]any{"name": "apps"}}
		for name := range served {
			groups = append(groups, map[string]any{"name": name})
		}
		print(map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
		return
	}
	rest, ok := strings.CutPrefix(path, "/apis/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || served[parts[0]] != parts[1] {
		check(errors.New("the server could not find the requested resource"))
	}
	kinds := map[string]string{"clusters": "ClusterList", "restores": "RestoreList"}
	items := []any{}
	for i := range k.all {
		if k.all[i].Resource == parts[2]+"."+parts[0] {
			items = append(items, k.all[i].Object)
		}
	}
	print(map[string]any{"kind": kinds[parts[2]], "apiVersion": parts[0] + "/" + parts[1], "metadata": map[string]any{}, "items": items})
}

func print(value any) {
	text, err := json.Marshal(value)
	check(err)
	fmt.Println(string(text))
}

// named returns the objects that the words of a call name. That one is not there is an error.
func (k *cluster) named(c call) (found []*stored) {
	selector, err := labels.Parse(c.flags["selector"])
	check(err)
	resource, name, one := strings.Cut(c.words[1], "/")
	if !one && len(c.words) > 2 && c.words[0] == "get" {
		name, one = c.words[2], true
	}
	if kind, group, _ := strings.Cut(resource, "."); !strings.HasSuffix(kind, "s") { // as --output=name prints it
		resource = strings.TrimSuffix(kind+"s."+group, ".")
	}
	if one {
		s := k.find(resource, c.flags["namespace"], name)
		if s == nil {
			check(fmt.Errorf("%s %q not found", resource, name))
		}
		return []*stored{s}
	}
	for i := range k.all {
		s := &k.all[i]
		if !slices.Contains(strings.Split(resource, ","), s.Resource) || !selector.Matches(s.labels()) {
			continue
		}
		if c.flags["all-namespaces"] == "" && c.flags["namespace"] != "" && s.meta("namespace") != "" && s.meta("namespace") != c.flags["namespace"] {
			continue
		}
		found = append(found, s)
	}
	return found
}

func (k *cluster) get(c call) {
	found := k.named(c)
	items := []any{}
	for _, s := range found {
		items = append(items, s.Object)
	}
	var data any = map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{}, "items": items}
	if strings.Contains(c.words[1], "/") {
		data = found[0].Object
	}
	switch kind, text, _ := strings.Cut(c.flags["output"], "="); kind {
	case "json":
		print(data)
	case "go-template":
		check(template.Must(template.New("").Parse(text)).Execute(os.Stdout, data))
	case "jsonpath":
		j := jsonpath.New("").AllowMissingKeys(true)
		check(j.Parse(text))
		check(j.Execute(os.Stdout, data))
	case "name":
		for _, s := range found {
			resource, group, _ := strings.Cut(s.Resource, ".")
			fmt.Println(strings.TrimSuffix(strings.TrimSuffix(resource, "s")+"."+group, ".") + "/" + s.meta("name"))
		}
	case "", "wide", "custom-columns":
		for _, s := range found {
			fmt.Println(s.meta("namespace"), s.meta("name"))
		}
	default:
		check(errors.New("unable to match a printer suitable for the output format " + kind))
	}
}

func (k *cluster) change(verb string, c call, s *stored) {
	switch verb {
	case "annotate":
		if c.flags["dry-run"] != "" {
			fmt.Println(s.Resource + "/" + s.meta("name"))
			return
		}
		for _, w := range c.words[2:] {
			key, value, _ := strings.Cut(w, "=")
			s.merge(map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
		}
	case "patch":
		var patch map[string]any
		if c.flags["type"] != "merge" {
			check(errors.New("--type must be merge"))
		}
		check(json.Unmarshal([]byte(c.flags["patch"]), &patch))
		s.merge(patch)
	case "scale":
		spec, _ := s.Object["spec"].(map[string]any)
		if now := fmt.Sprint(spec["replicas"]); now != c.flags["current-replicas"] {
			check(fmt.Errorf("Expected replicas to be %s, was %s", c.flags["current-replicas"], now))
		}
		s.merge(map[string]any{"spec": map[string]any{"replicas": json.RawMessage(c.flags["replicas"])}})
	default:
		check(errors.New("unknown command " + verb))
	}
	fmt.Println(s.Resource+"/"+s.meta("name"), verb)
}

func (s *stored) merge(patch map[string]any) {
	old, err := json.Marshal(s.Object)
	check(err)
	change, err := json.Marshal(patch)
	check(err)
	merged, err := jsonpatch.MergePatch(old, change)
	check(err)
	s.Object = nil
	check(json.Unmarshal(merged, &s.Object))
}

func (k *cluster) apply(file string) {
	text, err := os.ReadFile(file)
	check(err)
	var object map[string]any
	check(yaml.Unmarshal(text, &object))
	if kind := object["kind"]; kind != "VSphereClusterIdentity" {
		check(fmt.Errorf("no matches for kind %q", kind))
	}
	k.add("vsphereclusteridentities.infrastructure.cluster.x-k8s.io", object)
}

// clusterctl installs providers: their objects, and their webhook configurations.
func clusterctl(args []string) {
	k := openCluster(parse(args).flags["kubeconfig-context"])
	types := map[string]string{"core": "CoreProvider", "bootstrap": "BootstrapProvider", "control-plane": "ControlPlaneProvider", "infrastructure": "InfrastructureProvider"}
	prefixes := map[string]string{"core": "", "bootstrap": "bootstrap-", "control-plane": "control-plane-", "infrastructure": "infrastructure-"}
	for _, a := range args {
		flag, value, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		name, release, _ := strings.Cut(value, ":")
		if types[flag] == "" {
			continue
		}
		if release == "" {
			check(fmt.Errorf("%s: no release", a))
		}
		label := prefixes[flag] + name
		k.add("providers.clusterctl.cluster.x-k8s.io", map[string]any{
			"apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Provider", "metadata": map[string]any{"namespace": label + "-system", "name": label},
			"providerName": name, "type": types[flag], "version": release,
		})
		k.add("deployments.apps", map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "status": map[string]any{"availableReplicas": 1},
			"metadata": map[string]any{"namespace": label + "-system", "name": label + "-controller-manager", "labels": map[string]any{"cluster.x-k8s.io/provider": label}},
		})
		for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
			k.add(strings.ToLower(kind)+"s", map[string]any{"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": label, "labels": map[string]any{"cluster.x-k8s.io/provider": label}}})
		}
	}
	k.save()
}

func veleroCommand(args []string) {
	c := parse(args, "wait", "details")
	k := openCluster(c.flags["kubecontext"])
	switch what := strings.Join(c.words[:2], " "); what {
	case "backup get", "restore describe", "restore logs":
		resource := map[string]string{"backup": "backups.velero.io", "restore": "restores.velero.io"}[c.words[0]]
		if k.find(resource, c.flags["namespace"], c.words[2]) == nil {
			check(fmt.Errorf("%s %q not found", resource, c.words[2]))
		}
	case "restore create":
		k.restore(c)
		k.save()
	default:
		check(errors.New("unknown command " + what))
	}
}

// restore brings back what the backup of $BACKUP_FILE holds and the cluster does not, as Velero
// does (pkg/restore/restore.go v1.18.3): without status, owners and ids, with its labels.
func (k *cluster) restore(c call) {
	selector, err := labels.Parse(c.flags["selector"])
	check(err)
	if k.find("backups.velero.io", c.flags["namespace"], c.flags["from-backup"]) == nil {
		check(errors.New("backup not found"))
	}
	modifiers := k.find("configmaps", c.flags["namespace"], c.flags["resource-modifier-configmap"])
	if modifiers == nil {
		check(errors.New("resource modifier configmap not found"))
	}
	var rules struct {
		Version string
		Rules   []struct {
			Conditions   struct{ GroupResource string }
			MergePatches []struct{ PatchData string }
		} `json:"resourceModifierRules"`
	}
	data, _ := modifiers.Object["data"].(map[string]any)
	check(yaml.UnmarshalStrict([]byte(fmt.Sprint(data["modifiers.yaml"])), &rules))
	excluded := append(strings.Split(c.flags["exclude-resources"], ","), "nodes", "events", "backups", "restores", "backuprepositories", "csinodes", "volumeattachments")
	f, err := os.Open(os.Getenv("BACKUP_FILE"))
	check(err)
	z, err := gzip.NewReader(f)
	check(err)
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		check(err)
		parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(h.Name, "./"), ".json"), "/")
		if parts[0] != "resources" || len(parts) < 4 || parts[2] != "namespaces" && parts[2] != "cluster" {
			continue
		}
		plural, _, _ := strings.Cut(parts[1], ".")
		s := stored{Resource: parts[1]}
		check(json.NewDecoder(t).Decode(&s.Object))
		if slices.Contains(excluded, plural) || !selector.Matches(s.labels()) {
			continue
		}
		meta, _ := s.Object["metadata"].(map[string]any)
		kept := map[string]any{"name": meta["name"], "annotations": meta["annotations"]}
		if meta["namespace"] != nil {
			kept["namespace"] = meta["namespace"]
		}
		own := map[string]any{"velero.io/restore-name": c.words[2], "velero.io/backup-name": c.flags["from-backup"]}
		for name, value := range s.labels() {
			own[name] = value
		}
		kept["labels"] = own
		s.Object["metadata"] = kept
		delete(s.Object, "status")
		for _, r := range rules.Rules {
			if r.Conditions.GroupResource != s.Resource {
				continue
			}
			for _, p := range r.MergePatches {
				var patch map[string]any
				check(json.Unmarshal([]byte(p.PatchData), &patch))
				s.merge(patch)
			}
		}
		k.add(s.Resource, s.Object)
	}
	k.add("restores.velero.io", map[string]any{"kind": "Restore", "metadata": map[string]any{"namespace": c.flags["namespace"], "name": c.words[2]}, "status": map[string]any{"phase": "Completed"}})
}
