package prometheus

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"drift-detector/report"
)

const deploy = "../../deploy/chart/"

// metric is the name of one of the metrics, and label what is compared of it.
var (
	metric   = regexp.MustCompile(`drift_detector_[a-z_]+`)
	selector = regexp.MustCompile(`(drift_detector_[a-z_]+)\{([^}]*)\}`)
	compared = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!=|!~|=)`)
)

// demandMetrics demands that an expression names only metrics that are written, with
// labels that they have, or that Prometheus adds.
func demandMetrics(t *testing.T, where, expr string) {
	t.Helper()
	known := map[string][]string{}
	for _, r := range []*report.Report{{}, {Backups: []report.Backup{{Live: true}}}} {
		for _, f := range families(r) {
			known[f.name] = f.labels
		}
	}
	for _, name := range metric.FindAllString(expr, -1) {
		if _, ok := known[name]; !ok {
			t.Errorf("%s: no metric %s is written", where, name)
		}
	}
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		for _, l := range compared.FindAllStringSubmatch(s[2], -1) {
			if l[1] != "instance" && l[1] != "job" && !slices.Contains(known[s[1]], l[1]) {
				t.Errorf("%s: metric %s has no label %s", where, s[1], l[1])
			}
		}
	}
}

func TestAlertRulesNameMetricsThatExist(t *testing.T) {
	data, err := os.ReadFile(deploy + "prometheus-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []struct {
				Alert       string            `json:"alert"`
				Expr        string            `json:"expr"`
				For         string            `json:"for"`
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			seen++
			demandMetrics(t, r.Alert, r.Expr)
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
				t.Errorf("%s has no severity or no summary", r.Alert)
			}
		}
	}
	if seen < 7 {
		t.Errorf("%d rules", seen)
	}
}

// TestPromtoolTakesTheRules needs promtool, of Debian's package prometheus.
func TestPromtoolTakesTheRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("promtool is not installed")
		}
		t.Skip("promtool is not installed")
	}
	rules := filepath.FromSlash(deploy + "prometheus-rules.yaml")
	if out, err := exec.Command(promtool, "check", "rules", rules).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	if out, err := exec.Command(promtool, "test", "rules", filepath.Join("testdata", "alerts_test.yaml")).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	// Its parser of expressions takes those of the dashboard as rules, too.
	type rule map[string]string
	var all []rule
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			all = append(all, rule{"record": "drift_detector:panel", "expr": strings.ReplaceAll(target.Expr, "$instance", ".*")})
		}
	}
	doc, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": all}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "check", "rules", "--lint=none", file).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// dashboard is what the tests read of Grafana's JSON.
type dashboard struct {
	Templating struct {
		List []struct{ Name, Query string }
	}
	Panels []struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	data, err := os.ReadFile(deploy + "grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	demandSchema(t, data)
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// demandSchema holds a dashboard against the part of Grafana's model that it uses.
func demandSchema(t *testing.T, document []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "dashboard.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Error(err)
	}
}

func TestDashboard(t *testing.T) {
	d := readDashboard(t)
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("%s: id %d is used twice", p.Title, p.ID)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			demandMetrics(t, p.Title, target.Expr)
			if !strings.Contains(target.Expr, `instance=~"$instance"`) {
				t.Errorf("%s does not obey the choice of a fleet", p.Title)
			}
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if cells[at] != "" || at[0] > 23 {
					t.Fatalf("%s is over %s or beyond the edge", p.Title, cells[at])
				}
				cells[at] = p.Title
			}
		}
	}
	for _, v := range d.Templating.List {
		demandMetrics(t, v.Name, v.Query)
	}
	if len(slices.Collect(maps.Keys(ids))) < 8 {
		t.Errorf("%d panels", len(ids))
	}
}
