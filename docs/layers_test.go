package docs_test

import (
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// layer is a set of packages with one rule for what they may import from
// outside the standard library. Imports between packages of one layer are free;
// Go refuses cycles, and architecture.md records each import.
type layer struct {
	name    string
	has     func(pkg string, m module) bool
	layers  []string // the other layers of this module
	foreign []string // import paths of others, with all below them
	ownSDK  bool     // and modules that no other package of the product imports
}

// Import paths that hold the types of Kubernetes, Cluster API and Velero, and no client.
var apiTypes = []string{
	"k8s.io/apimachinery", "sigs.k8s.io/cluster-api/api", "github.com/vmware-tanzu/velero/pkg/apis",
}

// layers are in order: each imports only layers above it in this list.
var layers = []layer{
	{name: "codes", has: at("report/code")},                                // the words of all others
	{name: "standard", has: at("internal/sorting", "internal/lazyregexp")}, // which any may import, as it may packages slices and regexp
	{name: "post", has: at("internal/post")},                               // sends a report on
	{name: "terminal", has: at("internal/terminal", "internal/english"), foreign: []string{"github.com/mattn/go-runewidth"}},
	{name: "document", has: at("report"), layers: []string{"codes", "terminal"}, foreign: []string{"github.com/go-json-experiment/json"}}, // what the detector and the forecast fill, and formats print
	{name: "shell", has: at("infra/shell"), layers: []string{"terminal"}},                                                                 // what a plan and a provider's tool have in common
	{
		name:    "backup",
		has:     below("backup"),
		layers:  []string{"codes"},
		foreign: append([]string{"github.com/mholt/archiver/v3"}, apiTypes...),
	},
	{
		name: "infra", // what a provider is, and what providers share
		has: func(pkg string, m module) bool {
			return below("infra")(pkg, m) && !at("infra/shell", "infra/store", "infra/live", "infra/all")(pkg, m) && m.provider(pkg) == ""
		},
		layers:  []string{"codes", "document", "backup", "shell"},
		foreign: append([]string{"go.yaml.in/yaml/v3", "github.com/go-json-experiment/json", "github.com/klauspost/compress/flate"}, apiTypes...),
	},
	{
		name:    "store", // where backups are kept
		has:     at("infra/store"),
		layers:  []string{"backup", "infra"},
		foreign: []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"},
	},
	{
		name:    "management cluster", // that runs, as a backup
		has:     at("infra/live"),
		layers:  []string{"backup", "infra"},
		foreign: []string{"github.com/go-json-experiment/json", "github.com/klauspost/compress/flate", "sigs.k8s.io/yaml"},
	},
	{
		// Listed in infra/all, so that a new one needs no line here. No provider
		// imports another. One with a package list below it contacts nothing but there,
		// see refuses.
		name:    "provider",
		has:     func(pkg string, m module) bool { return m.provider(pkg) != "" && !m.lists(pkg) },
		layers:  []string{"codes", "backup", "infra", "shell"},
		foreign: append([]string{"sigs.k8s.io/yaml", "golang.org/x/time/rate"}, apiTypes...),
		ownSDK:  true,
	},
	{
		name:    "listing", // what a provider asks of servers, where that is a package of its own
		has:     func(pkg string, m module) bool { return m.lists(pkg) },
		layers:  []string{"codes", "backup", "infra", "shell", "provider"},
		foreign: append([]string{"sigs.k8s.io/yaml", "golang.org/x/time/rate"}, apiTypes...),
		ownSDK:  true,
	},
	{name: "provider list", has: at("infra/all"), layers: []string{"infra", "provider", "listing"}},
	{name: "matching", has: at("detector/match"), layers: []string{"codes", "document", "terminal", "backup", "infra"}}, // who is whose; it knows no verdict
	{name: "detector", has: at("detector"), layers: []string{"codes", "document", "backup", "infra", "matching"}},
	{name: "forecast", has: at("detector/rehearsal"), layers: []string{"codes", "document", "terminal", "backup", "infra", "detector"}, foreign: append([]string{"k8s.io/api"}, apiTypes...)},
	{
		name: "releases", has: at("detector/releases"), layers: []string{"backup"},
		foreign: append([]string{"k8s.io/api", "sigs.k8s.io/structured-merge-diff/v6", "sigs.k8s.io/yaml", "github.com/wI2L/jsondiff"}, apiTypes...),
	},
	{
		name: "formats", // they decide nothing
		has: func(pkg string, m module) bool {
			return below("report")(pkg, m) && !at("report", "report/code", "report/build", "report/ignore", "report/confirm", "report/plan", "report/plan/runbook", "report/recheck", "report/ready", "report/verify", "report/backups", "report/releases")(pkg, m)
		},
		layers:  []string{"codes", "document", "terminal"},
		foreign: []string{"github.com/go-json-experiment/json"},
	},
	{name: "report", has: at("report/build"), layers: []string{"codes", "backup", "infra", "detector", "forecast", "document", "formats"}}, // nothing else below report knows the detector
	{
		name:    "ignore rules",
		has:     at("report/ignore", "report/confirm"),
		layers:  []string{"codes", "document", "formats", "terminal"},
		foreign: []string{"go.yaml.in/yaml/v3", "github.com/bmatcuk/doublestar/v4"},
	},
	{name: "plan", has: at("report/plan"), layers: []string{"codes", "document", "terminal", "shell"}},                                  // what to do, and in which order
	{name: "runbook", has: at("report/plan/runbook"), layers: []string{"codes", "document", "formats", "plan", "terminal", "shell"}},    // a plan, printed
	{name: "recheck", has: at("report/recheck"), layers: []string{"codes", "infra", "document", "terminal"}},                            // what lines of a plan look at once more
	{name: "readiness", has: at("report/ready"), layers: []string{"codes", "infra", "document", "formats", "ignore rules", "terminal"}}, // what a restore takes for granted
	{name: "verification", has: at("report/verify"), layers: []string{"codes", "document", "formats", "terminal", "shell"}},             // what came of a forecast
	{name: "backup list", has: at("report/backups"), layers: []string{"codes", "document", "formats", "terminal"}},
	{name: "release report", has: at("report/releases"), layers: []string{"releases", "document", "formats", "terminal"}},
	{
		name:    "command line", // which knows nothing of what commands do
		has:     at("internal/cli"),
		layers:  []string{"terminal", "shell"},
		foreign: []string{"github.com/cpuguy83/go-md2man/v2", "github.com/urfave/cli/v2", "github.com/vbauerster/mpb/v8", "github.com/xrash/smetrics", "golang.org/x/term", "k8s.io/klog/v2"},
	},
	{
		name:    "command",
		has:     at("cmd/drift-detector/program"),
		layers:  []string{"command line", "codes", "backup", "infra", "provider list", "detector", "forecast", "report", "ignore rules", "document", "formats", "plan", "runbook", "recheck", "readiness", "verification", "terminal", "post", "shell", "releases", "release report", "store", "management cluster", "backup list"},
		foreign: []string{"github.com/urfave/cli/v2", "github.com/vmware-tanzu/velero/pkg/apis"},
	},
	{
		name:    "test support", // the product links none of it
		has:     isTestSupport,
		layers:  []string{"codes", "backup", "infra", "detector", "forecast", "report", "document", "formats", "plan", "verification", "backup list", "terminal", "shell", "command line"},
		foreign: []string{""},
	},
	{name: "process", has: at("cmd/drift-detector"), layers: []string{"command", "command line"}},
	{name: "demo", has: at("cmd/demo"), layers: []string{"test support"}},
}

func at(folders ...string) func(string, module) bool {
	return func(pkg string, _ module) bool { return slices.Contains(folders, pkg) }
}

func below(folder string) func(string, module) bool {
	return func(pkg string, _ module) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }
}

func isTestSupport(pkg string, _ module) bool {
	return strings.HasPrefix(pkg, "internal/") && !at("internal/terminal", "internal/english", "internal/sorting", "internal/lazyregexp", "internal/post", "internal/cli")(pkg, nil) || strings.HasSuffix(path.Base(pkg), "test")
}

// provider returns the provider, a folder of infra that infra/all imports, or whose list it
// imports, that a package belongs to, or "".
func (m module) provider(pkg string) string {
	parts := strings.Split(pkg, "/")
	if len(parts) < 2 || parts[0] != "infra" {
		return ""
	}
	folder := "infra/" + parts[1]
	if all := m["infra/all"].imports; !slices.Contains(all, own+folder) && !slices.Contains(all, own+folder+"/list") {
		return ""
	}
	return folder
}

// lists reports whether a package is a provider's list, or below it.
func (m module) lists(pkg string) bool {
	p := m.provider(pkg)
	return p != "" && below(p+"/list")(pkg, m)
}

// pure reports whether a package is of a provider that leaves all contact with servers to its list.
func (m module) pure(pkg string) bool {
	p := m.provider(pkg)
	return p != "" && m[p+"/list"] != nil && !m.lists(pkg) && !isTestSupport(pkg, m)
}

func (m module) layerOf(pkg string) *layer {
	support := isTestSupport(pkg, m)
	i := slices.IndexFunc(layers, func(l layer) bool { return l.has(pkg, m) && (l.name == "test support") == support })
	if i < 0 {
		return nil
	}
	return &layers[i]
}

// complaints lists the imports that break a rule.
func (m module) complaints() []string {
	var found []string
	for pkg, p := range m {
		l := m.layerOf(pkg)
		if l == nil {
			found = append(found, pkg+" belongs to no layer")
			continue
		}
		for _, imported := range slices.Concat(p.imports, p.network) {
			if why := m.refuses(l, pkg, imported); why != "" {
				found = append(found, fmt.Sprintf("%s (%s) imports %s: %s", pkg, l.name, imported, why))
			}
		}
	}
	slices.Sort(found)
	return found
}

const onlyList = "only the provider's list contacts a server"

// refuses says why a package must not import what it imports, or returns "".
func (m module) refuses(l *layer, pkg, imported string) string {
	if to, ours := strings.CutPrefix(imported, own); ours {
		target := m.layerOf(to)
		switch {
		case target == nil:
			return "it belongs to no layer"
		case target.name != l.name && target.name != "standard" && !slices.Contains(l.layers, target.name):
			return "the layer may not import " + target.name
		case m.provider(to) != "" && m.provider(pkg) != "" && m.provider(to) != m.provider(pkg):
			return "no provider imports another"
		}
		return ""
	}
	if contacts(imported) {
		if m.pure(pkg) {
			return onlyList
		}
		return ""
	}
	if slices.ContainsFunc(l.foreign, func(f string) bool { return f == "" || imported == f || strings.HasPrefix(imported, f+"/") }) {
		return ""
	}
	switch {
	case !l.ownSDK:
		return "the layer may not import it"
	case m.pure(pkg):
		return onlyList
	}
	for other, p := range m {
		shared := m.provider(other) != m.provider(pkg) && !isTestSupport(other, m) && other != "infra/store" // its store speaks the protocol of one
		if shared && slices.ContainsFunc(p.imports, func(i string) bool { return foreignModule(i) == foreignModule(imported) }) {
			return "an SDK is one provider's own, and " + other + " imports it too"
		}
	}
	return ""
}

func TestNoLayerImportsOneBelowItInTheList(t *testing.T) {
	above := map[string]bool{}
	for _, l := range layers {
		for _, imported := range l.layers {
			if !above[imported] {
				t.Errorf("%s imports %s, which is not above it", l.name, imported)
			}
		}
		above[l.name] = true
	}
}

func TestEveryPackageImportsOnlyWhatItsLayerMay(t *testing.T) {
	m := readModule(t)
	for _, c := range m.complaints() {
		t.Error(c)
	}
	for _, l := range layers {
		if !slices.ContainsFunc(m.names(), func(pkg string) bool { return m.layerOf(pkg).name == l.name }) {
			t.Errorf("no package is in layer %s", l.name)
		}
	}
}

// Nothing that only tests need is linked into the program, not by way of a
// third party either.
func TestProductLinksNoTestPackage(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", own+"cmd/drift-detector").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, own+"detector") {
		t.Fatalf("only %d packages are linked", len(linked))
	}
	for _, p := range linked {
		ours, isOurs := strings.CutPrefix(p, own)
		if isOurs && isTestSupport(ours, nil) || p == "testing" || strings.HasPrefix(p, "testing/") || strings.HasSuffix(p, "/simulator") {
			t.Errorf("the program links %s", p)
		}
	}
}

// The rules refuse what they are for, and a new provider needs no rule of its own.
func TestLayersRefuse(t *testing.T) {
	sdk, real := "cloud.example/sdk/v2", readModule(t)
	for _, c := range []struct{ pkg, imported, want string }{
		{"infra/plain", own + "backup", ""},
		{"infra/plain", own + "infra", ""},
		{"infra/plain", sdk, ""},
		{"infra/plain", sdk + "/servers", ""},
		{"infra/plain/names", sdk, ""},
		{"infra/plain", own + "infra/plain/names", ""},
		{"infra/plain", own + "infra/aws", "no provider imports another"},
		{"infra/plain", own + "detector", "may not import detector"},
		{"infra/plain", own + "infra/all", "may not import provider list"},
		{"infra/plain", own + "infra/infratest", "may not import test support"},
		{"infra/plain", "github.com/vmware/govmomi/vim25", "imports it too"},
		{"infra", own + "infra/plain", "may not import provider"},
		{"infra/plain", "net/http", ""},
		{"infra/rooms", "net/url", ""},
		{"infra/rooms", "net/http", "only the provider's list"},
		{"infra/rooms", "net/http/httptrace", "only the provider's list"},
		{"infra/rooms", "net", "only the provider's list"},
		{"infra/rooms", "crypto/tls", "only the provider's list"},
		{"infra/rooms/names", "net", "only the provider's list"},
		{"infra/rooms", "rooms.example/sdk", "only the provider's list"},
		{"infra/rooms/names", "rooms.example/sdk", "only the provider's list"},
		{"infra/rooms", "k8s.io/apimachinery/pkg/labels", ""},
		{"infra/rooms", own + "infra/rooms/list", "may not import listing"},
		{"infra/rooms/list", own + "infra/rooms", ""},
		{"infra/rooms/list", own + "infra/rooms/names", ""},
		{"infra/rooms/list", "rooms.example/sdk", ""},
		{"infra/rooms/list", "net/http", ""},
		{"infra/rooms/list", own + "infra/plain", "no provider imports another"},
		{"infra/plain", own + "infra/rooms", "no provider imports another"},
		{"infra/rooms/list", own + "detector", "may not import detector"},
		{"infra/rooms/list", "github.com/vmware/govmomi/vim25", "imports it too"},
		{"cmd/drift-detector/program", own + "infra/rooms/list", "may not import listing"},
		{"infra/plain", own + "infra/shell", ""},
		{"infra/shell", own + "infra", "may not import infra"},
		{"detector", own + "infra/shell", "may not import shell"},
		{"report/plan", own + "infra", "may not import infra"},
		{"report/plan", own + "infra/aws/awscli", "may not import provider"},
		{"report/plan", own + "detector", "may not import detector"},
		{"report/plan", own + "report/plan/runbook", "may not import runbook"},
		{"report/plan", own + "report/html", "may not import formats"},
		{"report/sarif", own + "infra/shell", "may not import shell"},
		{"report/sarif", own + "report/plan", "may not import plan"},
		{"infra", sdk, "may not import it"},
		{"infra/shared", sdk, "may not import it"},
		{"backup", own + "infra", "may not import infra"},
		{"backup/archive", own + "detector", "may not import detector"},
		{"detector", "k8s.io/apimachinery/pkg/labels", "may not import it"},
		{"detector", sdk, "may not import it"},
		{"detector", own + "report/text", "may not import formats"},
		{"detector", own + "report/build", "may not import report"},
		{"detector", own + "infra/aws", "may not import provider"},
		{"detector/match", own + "detector", "may not import detector"},
		{"detector/match", own + "infra/aws", "may not import provider"},
		{"report/build", own + "detector/match", "may not import matching"},
		{"detector/rehearsal", own + "detector/match", "may not import matching"},
		{"detector/rehearsal", "k8s.io/client-go/kubernetes", "may not import it"},
		{"detector/releases", own + "infra", "may not import infra"},
		{"detector/releases", own + "detector", "may not import detector"},
		{"detector/releases", "k8s.io/client-go/applyconfigurations/apps/v1", "may not import it"},
		{"detector/releases", "k8s.io/kube-openapi/pkg/schemaconv", "may not import it"},
		{"report/text", own + "detector/releases", "may not import releases"},
		{"report/sarif", own + "report", ""},
		{"report/sarif", own + "detector", "may not import detector"},
		{"report/sarif", own + "detector/rehearsal", "may not import forecast"},
		{"report/sarif", own + "backup", "may not import backup"},
		{"report/sarif", own + "report/build", "may not import report"},
		{"report", own + "detector", "may not import detector"},
		{"report/ignore", own + "detector", "may not import detector"},
		{"report/text", own + "infra", "may not import infra"},
		{"report/html", own + "report/reporttest", "may not import test support"},
		{"report", own + "internal/lab", "may not import test support"},
		{"cmd/drift-detector/program", own + "internal/lab", "may not import test support"},
		{"cmd/drift-detector/program", own + "infra/aws", "may not import provider"},
		{"cmd/drift-detector", own + "backup", "may not import backup"},
		{"cmd/other", own + "report", "belongs to no layer"},
		{"extras", "fmt.example/x", "belongs to no layer"},
	} {
		m := real.clone()
		m.add("infra/all", own+"infra/plain", own+"infra/rooms/list")
		m.add("infra/plain")
		m.add("infra/plain/names")
		m.add("infra/rooms")
		m.add("infra/rooms/names")
		m.add("infra/rooms/list")
		m.add(c.pkg, c.imported)
		got := m.complaints()
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s may not import %s: %q", c.pkg, c.imported, got)
		case c.want != "" && !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, c.want) }):
			t.Errorf("%s may import %s; the complaints are %q", c.pkg, c.imported, got)
		}
	}
}
