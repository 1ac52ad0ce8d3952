package injection

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
)

var (
	repository, _ = filepath.Abs("../../..")
	fleetData     = filepath.Join(repository, "testdata/fleet-data.tar.gz")
)

// program is the real command, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "drift-detector-injection-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "drift-detector")
	cmd := exec.Command("go", "build", "-trimpath", "-o", file, "./cmd/drift-detector")
	cmd.Dir = repository
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if file, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(file))
	}
	os.Exit(code)
}

// world is the lab's fleet, in which text is put somewhere.
type world struct {
	t       *testing.T
	dir     string // where the program runs
	backup  string
	velero  string // velero-backup.json
	vcenter *lab.VCenter
	nodes   *lab.APIServers
	ec2     *lab.EC2
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	var err error
	if w.vcenter, err = lab.StartVCenter(lab.VCenterOptions{Archive: repository + "/testdata/vcenter-after.tar.gz"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.vcenter.Close)
	if w.nodes, err = lab.StartAPIServers(fleetData, repository+"/testdata/nodes"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.nodes.Close)
	if w.ec2, err = lab.StartEC2(lab.EC2Options{Instances: repository + "/testdata/aws/describe-instances.json", Backup: fleetData}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.ec2.Close)
	w.backup = filepath.Join(w.dir, "backup.tar.gz")
	w.items(func(path, body string) (string, string) { return path, body })
	w.describe("mgmt", nil)
	return w
}

// items makes the world's backup of the fleet's, of which change changes paths and bodies.
func (w *world) items(change func(path, body string) (string, string), more ...[2]string) {
	w.t.Helper()
	out := backuptest.NewFormat("")
	backuptest.Rewrite(w.t, fleetData, func(path string, body []byte) ([]byte, bool) {
		p, b := change(path, string(body))
		out.Raw(p, []byte(b))
		return nil, false
	})
	for _, m := range more {
		out.Raw(m[0], []byte(m[1]))
	}
	if err := os.WriteFile(w.backup, out.Bytes(), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// describe writes Velero's own description of the backup.
func (w *world) describe(name string, status map[string]any) {
	w.t.Helper()
	if status == nil {
		status = map[string]any{"phase": "Completed", "version": 1, "formatVersion": "1.1.0"}
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": map[string]any{"name": name, "namespace": "velero"},
		"spec": map[string]any{"includedNamespaces": []string{"*", name}}, "status": status,
	})
	if err == nil {
		w.velero = filepath.Join(w.dir, "velero-backup.json")
		err = os.WriteFile(w.velero, text, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// answering lets all calls that match end so.
func answering(match string, status int, header [2]string, body string) lab.Front {
	return func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		asked, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(asked))
		if !strings.Contains(r.URL.Path+string(asked), match) {
			next.ServeHTTP(rw, r)
			return
		}
		if header[0] != "" {
			rw.Header().Set(header[0], header[1])
		}
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, body)
	}
}

// replacing changes texts of answers.
func replacing(old, text string) lab.Front {
	return func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		for k, v := range answer.Header() {
			rw.Header()[k] = v
		}
		rw.Header().Del("Content-Length")
		rw.WriteHeader(answer.Code)
		_, _ = io.WriteString(rw, strings.ReplaceAll(answer.Body.String(), old, text))
	}
}

// showing lets a server show a certificate for a name.
func showing(name string) lab.Greeting {
	return func(_ *tls.ClientHelloInfo, own *tls.Config, _ lab.Signing) (*tls.Config, error) {
		c, err := lab.SelfSigned(name, "127.0.0.1")
		conf := own.Clone()
		conf.Certificates = []tls.Certificate{c}
		return conf, err
	}
}

// said is what one run of the program wrote.
type said struct {
	what, format   string // of its stdout
	code           int
	stdout, stderr string
}

func (w *world) run(what, format string, args ...string) said {
	w.t.Helper()
	file, err := program()
	if err != nil {
		w.t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(file, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), w.ec2.Environment()...)
	_ = cmd.Run() // the status is looked at
	return said{what, format, cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// everything runs every command in every format.
func (w *world) everything() []said {
	w.t.Helper()
	creds, err := w.vcenter.WriteCredentials(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	source := []string{"--backup", w.backup}
	reach := append([]string{"--endpoint", w.vcenter.Reroute(), "--credentials", creds, "--aws-ambient", "--timeout", "20s"}, source...)
	for _, r := range w.nodes.Reroutes() {
		reach = append(reach, "--endpoint", r)
	}
	with := func(command string, more ...string) []string {
		return append(append([]string{command}, more...), reach...)
	}
	all := []said{
		w.run("detect", "text", with("detect", "-o", "report.json", "-o", "report.html", "-o", "report.md", "--summary")...),
		w.run("detect, debug", "text", append([]string{"-D"}, with("detect", "-o", "other.json")...)...),
		w.run("dry run", "text", with("detect", "--dry-run")...),
		w.run("inventory", "text", with("inventory", "-o", "inventory.json")...),
	}
	report := filepath.Join(w.dir, "report.json")
	if _, err := os.Stat(report); err != nil {
		w.t.Logf("no report: %s", all[0].stderr)
		w.must(os.WriteFile(report, []byte("{}"), 0o600))
	}
	for _, format := range []string{"text", "screen", "json", "html", "junit", "markdown", "prometheus"} {
		all = append(all, w.run("render", format, "render", report, "--format", format))
	}
	for _, format := range []string{"markdown", "shell"} {
		all = append(all, w.run("plan", format, "plan", report, "--format", format))
	}
	old := filepath.Join(w.dir, "before.json")
	w.before(old)
	for _, format := range []string{"text", "json", "markdown"} {
		all = append(all, w.run("diff", format, "diff", old, report, "--format", format))
	}
	for _, format := range []string{"text", "json", "junit", "markdown"} {
		all = append(all, w.run("check", format, append([]string{"check", "--velero-backup", w.velero, "--format", format}, source...)...))
	}
	for _, format := range []string{"text", "json"} {
		all = append(all, w.run("releases", format, append([]string{"releases", "--diff", "--format", format}, source...)...))
	}
	all = append(all, w.run("ignore", "text", "ignore", report))
	for file, format := range map[string]string{"report.json": "json", "report.html": "html", "report.md": "markdown", "inventory.json": "json"} {
		if text, err := os.ReadFile(filepath.Join(w.dir, file)); err == nil && len(text) > 2 {
			all = append(all, said{what: "file " + file, format: format, stdout: string(text)})
		}
	}
	return all
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// plain is the report of the fleet without text anywhere.
var plain = sync.OnceValues(func() ([]byte, error) {
	file, err := program()
	if err != nil {
		return nil, err
	}
	at := filepath.Join(filepath.Dir(file), "plain.json")
	_ = exec.Command(file, "detect", "-o", at, "--backup", fleetData, "--skip-access-apiserver", "--timeout", "5s").Run()
	return os.ReadFile(at)
})

// before writes the report of the fleet as it is.
func (w *world) before(file string) {
	w.t.Helper()
	text, err := plain()
	w.must(err)
	w.must(os.WriteFile(file, text, 0o600))
}
