package program

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// What a run pushes to a real Pushgateway, a real Prometheus scrapes with honor_labels, and each
// panel of the dashboard has a series. Both are Debian's (packages prometheus and
// prometheus-pushgateway), and listen on loopback. The instance has a slash, and a run that fails takes
// nothing away.
func TestPushedMetricsFillTheDashboard(t *testing.T) {
	t.Parallel()
	gateway, prometheus := installed(t, "prometheus-pushgateway"), installed(t, "prometheus")
	dir := t.TempDir()
	push := listening(t, gateway, "--web.listen-address=", "--persistence.file="+filepath.Join(dir, "pushed")) // Debian's has one for all
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: gateway\n  honor_labels: true\n  static_configs: [{targets: [%q]}]\n", push)
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	query := listening(t, prometheus, "--web.listen-address=", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"))

	w := runs.Fleet(t)
	to := []string{"detect", "--quiet", "-o", filepath.Join(dir, "report.json"), "--push", "http://" + push + "/metrics/job/drift-detector/instance/eu%2Fmgmt"}
	args := slices.Concat(to, w.Sources(), w.Reach())
	if o := runs.Run(t, args...); o.Code != cli.ExitOK || strings.Contains(o.Stderr, "push") {
		t.Fatalf("exit status %d\n%s", o.Code, o.Stderr)
	}
	data, err := os.ReadFile("../../../deploy/chart/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			asked++
			expr := strings.ReplaceAll(target.Expr, "$instance", "eu/mgmt")
			if !becomes(func() bool { return series(t, query, expr) > 0 }) {
				t.Errorf("%s: nothing comes of %s", p.Title, expr)
			}
		}
	}
	if asked < 10 {
		t.Errorf("%d expressions", asked)
	}
	if o := runs.Run(t, append(to, "--backup", filepath.Join(dir, "missing.tar.gz"))...); o.Code != cli.ExitUsage || strings.Contains(o.Stderr, "push") {
		t.Fatalf("exit status %d\n%s", o.Code, o.Stderr)
	}
	failed := `drift_detector_run_failed{instance="eu/mgmt"} == 1 and on (job, instance) drift_detector_report_timestamp_seconds`
	if !becomes(func() bool { return series(t, query, failed) > 0 }) {
		t.Error("that a run failed is not beside its last report")
	}
}

// installed returns the path of a program, which CI has.
func installed(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(program + " is not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// listening starts a server, which ends with the test, at an address of loopback, which is returned as
// soon as it answers. The first argument gets the address.
func listening(t *testing.T, program string, args ...string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	args[0] += address
	cmd := exec.Command(program, args...)
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if !becomes(func() bool {
		res, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	}) {
		t.Fatalf("%s does not answer at %s", program, address)
	}
	return address
}

// becomes reports whether something becomes true within a minute.
func becomes(is func() bool) bool {
	for range 240 {
		if is() {
			return true
		}
		time.Sleep(250 * time.Millisecond)
	}
	return false
}

// series returns how many series come of an expression.
func series(t *testing.T, at, expr string) int {
	t.Helper()
	res, err := http.Get("http://" + at + "/api/v1/query?query=" + url.QueryEscape(expr))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Status string
		Data   struct{ Result []json.RawMessage }
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %s (%v)", expr, body, err)
	}
	return len(answer.Data.Result)
}
