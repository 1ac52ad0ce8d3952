package costs_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/internal/runs"
)

// growth is how an input grows.
type growth struct {
	name, pick string
	vary       []string
	rules      string            // of an ignore file, for the number of a copy
	few        int               // how many there are first; 0: 4
	only       *regexp.Regexp    // of the tenant, only what has such a path
	lacks      *regexp.Regexp    // what is in no object of the backup
	edit       *strings.Replacer // of all objects of the backup
	pad        string            // comes before the number of a copy
	tenant     string            // of the lab; empty: onVSphere
	extra      func(int) []item  // further objects of the backup, for that many copies
	blind      bool              // no Node list was read
	given      bool              // --credentials and --endpoint are given for each copy
}

// The tenants of the lab, each on another infrastructure.
const (
	onVSphere   = "tenant-alpha"
	onAWS       = "tenant-aws"
	onOpenStack = "tenant-os-a"
	onAzure     = "retail"
)

// seed is a tenant of the lab and what was listed of it.
type seed struct {
	items     []item
	ids       map[string][]string // of each item, by its path
	inventory infra.Inventory
}

type item struct{ path, body string }

func newSeed(t *testing.T, w *runs.World, reach []string, tenant string) (s seed) {
	file := filepath.Join(w.Dir, "inventory.json")
	runs.Run(t, slices.Concat([]string{"inventory", "-o", file, "--quiet", "--namespace", tenant}, w.Sources(), reach)...)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s.inventory, err = infra.ReadInventory(f); err != nil {
		t.Fatal(err)
	}
	s.ids = map[string][]string{}
	backuptest.Rewrite(t, w.Backups[0], func(path string, body []byte) ([]byte, bool) {
		if strings.Contains(path, tenant) || !strings.Contains(path, "tenant-") {
			s.items = append(s.items, item{path, string(body)})
			s.ids[path] = grownID.FindAllString(string(body), -1)
		}
		return nil, false
	})
	return s
}

// of returns the tenant that a run is about.
func (g growth) of() string { return cmp.Or(g.tenant, onVSphere) }

// has reports whether a run has what has such a path.
func (g growth) has(path string) bool {
	return g.only == nil || !strings.Contains(path, g.of()) || g.only.MatchString(path)
}

// write makes the files of a run.
func (g growth) write(t *testing.T, s seed, copies int, backup, inventory, rules string) {
	t.Helper()
	kept := g.kept(s)
	tarball := backuptest.New()
	for _, i := range s.items {
		if !g.has(i.path) {
			continue
		}
		if g.lacks != nil {
			i.body = g.lacks.ReplaceAllString(i.body, "")
		}
		if g.edit != nil {
			i.body = g.edit.Replace(i.body)
		}
		n := 1
		if g.pick != "" && strings.Contains(i.path, g.pick) {
			n = copies
		}
		path, body := g.copies(i.path, kept), g.copies(i.body, kept)
		for k := range n {
			if i.path != "metadata/version" { // which the tarball has
				tarball.Raw(path(k), []byte(body(k)))
			}
		}
	}
	if g.extra != nil {
		for _, i := range g.extra(copies) {
			tarball.Raw(i.path, []byte(i.body))
		}
	}
	var listed bytes.Buffer
	if err := infra.WriteInventory(&listed, g.grow(t, s.inventory, copies, kept)); err != nil {
		t.Fatal(err)
	}
	text := "rules: []\n"
	if g.rules != "" {
		text = "rules:\n"
		for k := range copies {
			text += fmt.Sprintf(g.rules, k)
		}
	}
	for file, content := range map[string][]byte{backup: tarball.Bytes(), inventory: listed.Bytes(), rules: []byte(text)} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// access returns the flags for the endpoints of all copies, if they are given.
func (g growth) access(t *testing.T, copies int, credentials string) []string {
	t.Helper()
	if !g.given {
		return nil
	}
	args, text := []string{"--credentials", credentials}, "endpoints:\n"
	for k := range copies {
		at := "127.0.0.1:36459"
		if k > 0 {
			at = fmt.Sprintf("127.0.0.1%03d:36459", k)
		}
		args = append(args, "--endpoint", at+"=127.0.0.1:1")
		text += fmt.Sprintf("- {endpoint: %q, username: user, password: password-%d}\n", at, k)
	}
	if err := os.WriteFile(credentials, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return args
}

// grow multiplies what was listed.
func (g growth) grow(t *testing.T, from infra.Inventory, copies int, kept map[string]bool) infra.Inventory {
	out := infra.Inventory{Version: from.Version}
	for _, l := range from.Listings {
		if g.blind && l.NodeState != "" {
			continue
		}
		l.Instances = slices.DeleteFunc(slices.Clone(l.Instances), func(i infra.Instance) bool { return !g.has(i.Path) })
		if g.pick != g.of() {
			l.Instances = multiply(t, g, l.Instances, copies, kept, func(i infra.Instance) bool { return strings.Contains(i.Path+" "+i.Name, g.pick) })
			l.Nodes = multiply(t, g, l.Nodes, copies, kept, func(n infra.Node) bool { return g.pick == `"kind":"Node"` && n.Machine != "" || n.Machine == g.pick })
			out.Listings = append(out.Listings, l)
			continue
		}
		text := g.copies(jsonOf(t, l), kept)
		for k := range copies {
			var one infra.Listing
			decode(t, text(k), &one)
			if last := len(out.Listings) - 1; k == 0 || l.NodeState != "" || one.Endpoint != out.Listings[last].Endpoint {
				out.Listings = append(out.Listings, one)
			} else {
				into := &out.Listings[last]
				into.IDs, into.Clusters, into.Instances = append(into.IDs, one.IDs...), append(into.Clusters, one.Clusters...), append(into.Instances, one.Instances...)
				into.ProbesFound, into.Asked = append(into.ProbesFound, one.ProbesFound...), append(into.Asked, one.Asked...)
				into.PoolSizes, into.Facts = append(into.PoolSizes, one.PoolSizes...), append(into.Facts, one.Facts...)
			}
		}
	}
	for i := range out.Listings {
		l := &out.Listings[i]
		slices.Sort(l.IDs)
		l.IDs = slices.Compact(l.IDs)
	}
	return out
}

func multiply[T any](t *testing.T, g growth, all []T, copies int, kept map[string]bool, is func(T) bool) (out []T) {
	for _, one := range all {
		if g.pick == "" || !is(one) {
			out = append(out, one)
			continue
		}
		text := g.copies(jsonOf(t, one), kept)
		for k := range copies {
			var next T
			decode(t, text(k), &next)
			out = append(out, next)
		}
	}
	return out
}

// healthChecks returns one for each group.
func healthChecks(copies int) (out []item) {
	for k := range copies {
		group := "alpha-prod-md-0"
		if k > 0 {
			group += fmt.Sprintf("%03d", k)
		}
		out = append(out, item{
			fmt.Sprintf("resources/machinehealthchecks.cluster.x-k8s.io/namespaces/tenant-alpha/check-%03d.json", k),
			fmt.Sprintf(`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachineHealthCheck","metadata":{"namespace":"tenant-alpha","name":"check-%03[1]d","uid":"check-%03[1]d"},`+
				`"spec":{"clusterName":"alpha-prod","selector":{"matchLabels":{"cluster.x-k8s.io/cluster-name":"alpha-prod","cluster.x-k8s.io/deployment-name":"%[2]s"}}}}`, k, group),
		})
	}
	return out
}

// wholeChecks makes health checks that cover all machines of a cluster.
func wholeChecks(copies int) []item {
	all, group := healthChecks(copies), regexp.MustCompile(`,"cluster.x-k8s.io/deployment-name":"[^"]*"`)
	for i := range all {
		all[i].body = group.ReplaceAllString(all[i].body, "")
	}
	return all
}

// oneAccount makes clusters that all have one credential.
func oneAccount(copies int) []item {
	all, identity := accounts(copies), regexp.MustCompile(`("identityRef":\{.*"name":"[a-z]*)[0-9]+"`)
	for i := range all {
		all[i].body = identity.ReplaceAllString(all[i].body, `${1}0"`)
	}
	return all
}

// managedClusters makes Clusters of one ClusterClass.
func managedClusters(copies int) (out []item) {
	for k := range copies {
		for _, i := range managedCluster(2) {
			if !strings.Contains(i.path, "/clusterclasses.") {
				i.path, i.body = strings.ReplaceAll(i.path, "/managed", fmt.Sprintf("/managed%d", k)), strings.ReplaceAll(i.body, "managed", fmt.Sprintf("managed%d", k))
			} else if k > 0 {
				continue
			}
			out = append(out, i)
		}
	}
	return out
}

// addressClaims returns one for each copy of a machine.
func addressClaims(copies int) (out []item) {
	for k := range copies {
		machine := grownMachine
		if k > 0 {
			machine += fmt.Sprintf("%03d", k)
		}
		for _, kind := range []string{"IPAddressClaim", "IPAddress"} {
			resource := strings.ToLower(kind) + "s"
			if kind == "IPAddress" {
				resource = "ipaddresses"
			}
			out = append(out, item{
				fmt.Sprintf("resources/%s.ipam.cluster.x-k8s.io/namespaces/tenant-alpha/%s-0-0.json", resource, machine),
				fmt.Sprintf(`{"apiVersion":"ipam.cluster.x-k8s.io/v1beta1","kind":"%[1]s","metadata":{"namespace":"tenant-alpha","name":"%[2]s-0-0","uid":"%[1]s-%[2]s","labels":{"cluster.x-k8s.io/cluster-name":"alpha-prod"},`+
					`"ownerReferences":[{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"VSphereVM","name":"%[2]s","uid":"vm"}]},`+
					`"spec":{"address":"10.0.0.1","claimRef":{"name":"%[2]s-0-0"},"poolRef":{"apiGroup":"ipam.cluster.x-k8s.io","kind":"GlobalInClusterIPPool","name":"pool"}},"status":{"addressRef":{"name":"%[2]s-0-0"}}}`, kind, machine),
			})
		}
	}
	return out
}

// accounts makes clusters that have a credential each, on AWS and on OpenStack.
func accounts(copies int) (out []item) {
	base64 := base64.StdEncoding.EncodeToString
	add := func(resource, version, kind, name, labels, rest string) {
		where, in := "namespaces/tenant-alpha", `"namespace":"tenant-alpha",`
		if strings.HasSuffix(kind, "Identity") {
			where, in = "cluster", ""
		}
		out = append(out, item{
			fmt.Sprintf("resources/%s/%s/%s.json", resource, where, name),
			fmt.Sprintf(`{"apiVersion":"%s","kind":"%[2]s","metadata":{%[6]s"name":"%[3]s","uid":"%[2]s-%[3]s","labels":{%[4]s}},%[5]s}`, version, kind, name, labels, rest, in),
		})
	}
	const group, core = "infrastructure.cluster.x-k8s.io", "cluster.x-k8s.io"
	for k := range copies {
		for _, on := range []string{"aws", "openstack"} {
			name, kind := fmt.Sprintf("%s%d", on, k), map[string]string{"aws": "AWSCluster", "openstack": "OpenStackCluster"}[on]
			label := fmt.Sprintf(`"cluster.x-k8s.io/cluster-name":"%s"`, name)
			add("clusters."+core, core+"/v1beta2", "Cluster", name, label, fmt.Sprintf(`"spec":{"infrastructureRef":{"apiGroup":"%s","kind":"%s","name":"%s"}}`, group, kind, name))
			if on == "aws" {
				add("awsclusters."+group, group+"/v1beta2", kind, name, label, fmt.Sprintf(`"spec":{"region":"eu-west-1","identityRef":{"kind":"AWSClusterStaticIdentity","name":"%s"}}`, name))
				add("awsclusterstaticidentities."+group, group+"/v1beta2", "AWSClusterStaticIdentity", name, "", fmt.Sprintf(`"spec":{"secretRef":"%s","allowedNamespaces":{}}`, name))
				out = append(out, item{
					"resources/secrets/namespaces/capa-system/" + name + ".json",
					fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"capa-system","name":"%[1]s","uid":"%[1]s"},"type":"Opaque","data":{"AccessKeyID":"%s","SecretAccessKey":"%s"}}`,
						name, base64(fmt.Appendf(nil, "AKIA%016d", k)), base64(fmt.Appendf(nil, "%040d", k))),
				})
				continue
			}
			clouds := fmt.Sprintf("clouds:\n  one:\n    region_name: R\n    auth: {auth_url: https://os.example:5000/v3, username: u%d, password: password-%d, project_name: p, user_domain_name: d, project_domain_name: d}\n", k, k)
			add("openstackclusters."+group, group+"/v1beta1", kind, name, label, fmt.Sprintf(`"spec":{"identityRef":{"name":"%s","cloudName":"one"}}`, name))
			add("secrets", "v1", "Secret", name, "", fmt.Sprintf(`"type":"Opaque","data":{"clouds.yaml":"%s"}`, base64([]byte(clouds))))
		}
	}
	return out
}

// managedCluster returns a Cluster whose topology has many groups, each with a class of its own.
func managedCluster(copies int) (out []item) {
	const prefix = `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"%[1]s","metadata":{"namespace":"tenant-alpha","name":"%[2]s","uid":"%[1]s-%[2]s"%[3]s},"spec":%[4]s}`
	add := func(resource, kind, name, labels, spec string) {
		path := fmt.Sprintf("resources/%s.cluster.x-k8s.io/namespaces/tenant-alpha/%s.json", resource, name)
		out = append(out, item{path, fmt.Sprintf(prefix, kind, name, labels, spec)})
	}
	var classes, deployments, pools []string
	for k := range copies {
		classes = append(classes, fmt.Sprintf(`{"class":"c%d","healthCheck":{"checks":{"nodeStartupTimeoutSeconds":600}}}`, k))
		deployments = append(deployments, fmt.Sprintf(`{"class":"c%d","name":"d%d","replicas":1}`, k, k))
		pools = append(pools, fmt.Sprintf(`{"class":"c%d","name":"p%d","replicas":1}`, k, k))
		spec := `{"clusterName":"managed","replicas":1,"template":{"spec":{"clusterName":"managed"}}}`
		labels := `,"labels":{"topology.cluster.x-k8s.io/owned":"","topology.cluster.x-k8s.io/%s-name":"%s%d"}`
		add("machinedeployments", "MachineDeployment", fmt.Sprintf("managed-d%d", k), fmt.Sprintf(labels, "deployment", "d", k), spec)
		add("machinepools", "MachinePool", fmt.Sprintf("managed-p%d", k), fmt.Sprintf(labels, "pool", "p", k), spec)
	}
	list := func(all []string) string { return "[" + strings.Join(all, ",") + "]" }
	add("clusterclasses", "ClusterClass", "class", "", `{"workers":{"machineDeployments":`+list(classes)+`}}`)
	add("clusters", "Cluster", "managed", "", `{"topology":{"classRef":{"name":"class"},"version":"v1.34.0","workers":{"machineDeployments":`+list(deployments)+`,"machinePools":`+list(pools)+`}}}`)
	return out
}

func jsonOf(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func decode(t *testing.T, text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

var grownID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\bvm-[0-9]+\b|\bi-[0-9a-f]{17}\b`)

// kept returns the ids that have to be the same in all copies: those of what is there once.
func (g growth) kept(s seed) map[string]bool {
	out := map[string]bool{}
	for _, i := range s.items {
		if g.pick == "" || !strings.Contains(i.path, g.pick) {
			for _, id := range s.ids[i.path] {
				out[id] = true
			}
		}
	}
	for _, l := range s.inventory.Listings {
		for _, id := range grownID.FindAllString(l.Identity, -1) {
			out[id] = true
		}
	}
	return out
}

// copies returns what makes copies of a text, of which the first is the text itself. The
// ids are found once: that takes longer than all else that a copy needs.
func (g growth) copies(text string, kept map[string]bool) func(k int) string {
	ids := sync.OnceValue(func() [][]int { return grownID.FindAllStringIndex(text, -1) })
	return func(k int) string {
		if k == 0 {
			return text
		}
		var out strings.Builder
		from := 0
		for _, at := range ids() {
			out.WriteString(text[from:at[0]])
			out.WriteString(copyOfID(text[at[0]:at[1]], k, kept))
			from = at[1]
		}
		out.WriteString(text[from:])
		copied := out.String()
		for _, v := range g.vary {
			copied = strings.ReplaceAll(copied, v, fmt.Sprintf("%s%s%03d", v, g.pad, k))
		}
		return copied
	}
}

// copyOfID returns the id of a copy.
func copyOfID(id string, k int, kept map[string]bool) string {
	switch {
	case kept[id]:
		return id
	case strings.HasPrefix(id, "vm-"):
		return fmt.Sprintf("%s%03d", id, k)
	}
	kind := ""
	if strings.HasPrefix(id, "i-") {
		kind, id = id[:2], id[2:]
	}
	var b [4]byte
	_, _ = hex.Decode(b[:], []byte(id[:8]))
	return fmt.Sprintf("%s%08x%s", kind, binary.BigEndian.Uint32(b[:])+uint32(k), id[8:])
}
