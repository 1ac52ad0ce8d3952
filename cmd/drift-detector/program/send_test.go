package program

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// Metrics and messages are sent once the report is written; what can't be sent is a warning, which
// repeats no URL, and changes neither the report nor the status.
func TestResultsAreSent(t *testing.T) {
	w := runs.Well(t)
	var mu sync.Mutex
	got := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		name, password, _ := r.BasicAuth()
		mu.Lock()
		defer mu.Unlock()
		got[strings.Join([]string{r.Method, r.URL.Path, name, password}, " ")] = string(body)
		if strings.Contains(r.URL.Path, "broken") {
			rw.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer server.Close()
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	hook := file("hook", server.URL+"/services/canary\n")
	o := w.Detect("--push", server.URL, "--push-user", file("user", "\ufeffgate:keeper\r\n\r\nmore\r\n"), "--notify", "slack="+hook, "--notify", "webhook="+hook+"")
	if o.Code != cli.ExitOK {
		t.Fatal(o.Stderr)
	}
	metrics, message := got["PUT /metrics/job/drift-detector gate keeper"], got["POST /services/canary  "]
	if !strings.Contains(metrics, "drift_detector_safe_to_restore{") || !strings.Contains(message, `"answer":"YES"`) || len(got) != 2 {
		t.Errorf("%q", got)
	}
	broken := file("broken", server.URL+"/broken/canary")
	o = w.Detect("--push", server.URL+"/broken/metrics/job/x/instance/canary", "--notify", "teams="+broken)
	if o.Code != cli.ExitOK || strings.Count(o.Stderr, "answers with status 502; the report is written all the same") != 2 || strings.Contains(o.Stderr, "canary") {
		t.Errorf("status %d: %s", o.Code, o.Stderr)
	}
	for _, args := range [][]string{
		{"--push", "pushgateway"},
		{"--push", server.URL + "/metrics/job/x/instance/"},
		{"--notify", "irc=" + hook},
		{"--notify", "slack"},
		{"--notify", "slack=" + file("none", "canary")},
		{"--notify", "slack=missing"},
		{"--notify", "slack=/dev/zero"},
		{"--push", server.URL, "--push-user", "missing"},
		{"--push", server.URL, "--push-user", file("utf16", "\xff\xfeg\x00")},
		{"--notify", "slack=https://hooks.example/services/canary"},
		{"--push", server.URL, "--push-user", "gate:canary"},
		{"--notify", "slack=hooks.example/services/canary"},
		{"--push", server.URL, "--push-user", "canary"},
		{"--push", server.URL, "--push-user", file("empty", "\n")},
		{"--push", server.URL, "--push-user", file("nameless", "canary\n")},
		{"--push-user", file("alone", "gate:canary\n")},
	} {
		if o := w.Detect(args...); o.Code != cli.ExitUsage || strings.Contains(o.Stderr, "canary") {
			t.Errorf("%q: status %d: %s", args, o.Code, o.Stderr)
		}
	}
}

// A secret that would go over the net without encryption is a warning, which does not repeat it.
func TestSecretsInPlainAreSaid(t *testing.T) {
	w := runs.Well(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"user": "gate:canary\n", "hook": "http://chat.invalid/canary\n", "https": "https://chat.invalid/canary\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	user := filepath.Join(dir, "user")
	for _, tt := range []struct {
		args []string
		says string // in a warning; empty for none
	}{
		{[]string{"--push", "http://gate.invalid", "--push-user", user}, "--push: gate.invalid is reached without encryption: the user and its password can be read on the way"},
		{[]string{"--push", "http://gate:canary@gate.invalid"}, "--push: gate.invalid is reached without encryption"},
		{[]string{"--push", "http://gate.invalid/?token=canary"}, "--push: gate.invalid is reached without encryption"},
		{[]string{"--push", "http://gate.invalid"}, ""},
		{[]string{"--push", "https://gate.invalid", "--push-user", user}, ""},
		{[]string{"--push", "http://127.0.0.1:1", "--push-user", user}, ""},
		{[]string{"--notify", "teams=" + filepath.Join(dir, "hook")}, "--notify teams: chat.invalid is reached without encryption: the webhook's URL, which is a secret, can be read on the way"},
		{[]string{"--notify", "teams=" + filepath.Join(dir, "https")}, ""},
	} {
		o := w.Detect(append(tt.args, "--dry-run", "--inventory", "missing.json")...)
		if strings.Contains(o.Stderr, "canary") || strings.Contains(o.Stderr, "without encryption") != (tt.says != "") || !strings.Contains(o.Stderr, tt.says) {
			t.Errorf("%q: %s", tt.args, o.Stderr)
		}
	}
}

// A message says why the run failed and where the report is; render says the same of the saved report. A link
// is an address without a secret, and of a message.
func TestMessagesSayWhyAndWhere(t *testing.T) {
	w := runs.Well(t)
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = string(body)
	}))
	defer server.Close()
	hook := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(hook, []byte(server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	const link = "https://ci.example/runs/7?tab=report"
	o := w.Detect("--max-age", "1h", "--fail-on", "stale-backup,ghost", "--notify", "slack="+hook, "--link", link)
	if o.Code != cli.ExitFailOn || !strings.Contains(got, "\\nFails by --fail-on: backup ") || !strings.Contains(got, " old, more than 1h00m") || !strings.Contains(got, "<"+link+"|The report>") {
		t.Errorf("status %d: %s\n%s", o.Code, o.Stderr, got)
	}
	saved := filepath.Join(w.Dir, "report.json")
	if again := runs.Run(t, "render", saved, "--format", "slack", "--link", link); again.Stdout != got {
		t.Errorf("render says\n%s, and not\n%s", again.Stdout, got)
	}
	for _, args := range [][]string{
		{"detect", "--backup", "x", "--link", link},
		{"render", saved, "--link", link},
		{"render", saved, "--format", "slack", "--link", "ftp://ci.example/"},
		{"render", saved, "--format", "slack", "--link", "https://ci.example/a|b"},
		{"render", saved, "--format", "slack", "--link", "https://user:canary@ci.example/"},
		{"render", saved, "--format", "slack", "--link", "ci.example"},
		{"render", saved, "--format", "slack", "--link", "https://ci.example/?" + strings.Repeat("&", 1980)},
	} {
		if o := runs.Run(t, args...); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "--link ") || strings.Contains(o.Stderr, "canary") {
			t.Errorf("%q: status %d: %s", args, o.Code, o.Stderr)
		}
	}
	t.Setenv("DRIFT_DETECTOR_LINK", link) // of a job that runs several commands
	if o := runs.Run(t, "render", saved, "--format", "markdown"); o.Code != cli.ExitOK {
		t.Errorf("status %d: %s", o.Code, o.Stderr)
	}
}

// A run that ends without a report says so, by whatever was given to say the answer: with the reason, what
// to do and no secret. What the last report said stays in the Pushgateway.
func TestARunWithoutAReportIsSaid(t *testing.T) {
	w := runs.Well(t)
	var mu sync.Mutex
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Method+" "+r.URL.Path+" "+string(body))
	}))
	defer server.Close()
	dir := t.TempDir()
	hook := filepath.Join(dir, "hook")
	for name, text := range map[string]string{"hook": server.URL + "/hook", "bad.yaml": "endpoints: [{endpoint: x, password: canary", "half.tar.gz": "canary"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sends := []string{"--push", server.URL, "--notify", "webhook=" + hook, "--link", "https://ci.example/7"}
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"--backup", filepath.Join(dir, "half.tar.gz")}, `half.tar.gz: `},
		{[]string{"--backup", dir, "--newest"}, `no backup`},
		{[]string{"--backup", "http://127.0.0.1:1/b.tar.gz?X-Amz-Signature=canary"}, `"of":["http://127.0.0.1:1/b.tar.gz`},
		{append(w.Sources(), "--credentials", filepath.Join(dir, "bad.yaml")), `bad.yaml`},
		{append(w.Sources(), "--fail-on", "ghosts"), `--fail-on ghosts is not known`},
		{append(w.Sources(), "--notify", "slack=missing"), `no file that can be read`},
		{append(w.Sources(), "--inventory", ""), `--inventory is empty`},
		{[]string{"--kubeconfig", filepath.Join(dir, "none")}, `"of":["the management cluster of `},
	} {
		got = nil
		o := runs.Run(t, append(append([]string{"detect"}, tt.args...), sends...)...)
		said := strings.Join(got, "\n")
		if o.Code != cli.ExitUsage || len(got) != 2 || strings.Contains(said+o.Stderr, "canary") {
			t.Errorf("%q: status %d: %s\n%s", tt.args, o.Code, o.Stderr, said)
		}
		for _, want := range []string{"POST /metrics/job/drift-detector ", "\ndrift_detector_run_failed 1\n", "POST /hook ", `"answer":"NOT KNOWN"`, `"status":"NoReport"`, `"link":"https://ci.example/7"`, tt.says} {
			if !strings.Contains(said, want) {
				t.Errorf("%q: no %s in\n%s\n%s", tt.args, want, said, o.Stderr)
			}
		}
	}
	got = nil
	if o := w.Detect(append(sends, "--fail-on", "not-yes,stale-backup", "--max-age", "1h")...); o.Code != cli.ExitFailOn || len(got) != 2 || strings.Contains(strings.Join(got, ""), "NoReport") {
		t.Errorf("status %d: %s\n%s", o.Code, o.Stderr, got)
	}
	got = nil
	args := slices.Concat([]string{"drift-detector", "detect"}, w.Sources(), w.Reach(), sends)
	if code := runs.Program(t.Context(), args, &cli.Streams{Stdin: strings.NewReader(""), Stdout: full{}, Stderr: io.Discard, Getenv: os.Getenv, Now: time.Now}); code != cli.ExitUsage || len(got) != 2 || !strings.Contains(strings.Join(got, ""), "\ndrift_detector_run_failed 1\n") {
		t.Errorf("stdout is full, status %d: %s", code, got)
	}
	got = nil
	if o := runs.Run(t, append([]string{"detect", "--backup", dir, "--dry-run"}, sends...)...); o.Code != cli.ExitUsage || got != nil {
		t.Errorf("--dry-run: status %d: %s\n%s", o.Code, o.Stderr, got)
	}
}
