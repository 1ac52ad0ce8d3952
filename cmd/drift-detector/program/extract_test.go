package program

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/report"
)

// secretEdited makes a world whose Secret of that name has other data.
func (w *world) secretEdited(name string, edit func(data map[string]string)) {
	w.edited("secret-"+name, func(item string, body []byte) ([]byte, bool) {
		if resource, of := itemOf(item); resource != "secrets" || of != name {
			return body, true
		}
		var o map[string]any
		if err := json.Unmarshal(body, &o); err != nil {
			w.t.Fatal(err)
		}
		data := map[string]string{}
		for key, value := range o["data"].(map[string]any) {
			text, err := base64.StdEncoding.DecodeString(value.(string))
			if err != nil {
				w.t.Fatal(err)
			}
			data[key] = string(text)
		}
		edit(data)
		o["data"] = map[string]any{}
		for key, value := range data {
			o["data"].(map[string]any)[key] = base64.StdEncoding.EncodeToString([]byte(value))
		}
		body, err := json.Marshal(o)
		return body, err == nil
	})
}

// filesIn returns the names of the files of a folder, which are all for their owner alone.
func filesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
		names = append(names, e.Name())
	}
	return names
}

// What is extracted leads to the API servers of the workload clusters; stdout has nothing, and
// stderr says which file is a credential, and from where.
func TestExtractedKubeconfigsWork(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	out := filepath.Join(w.dir, "kubeconfigs")
	extract := append([]string{"extract", "kubeconfigs", "-o", out}, w.sources()...)
	o := runProgram(t, extract...)
	o.demand(t, cli.ExitOK)
	files := filesIn(t, out)
	if len(files) != 5 || !slices.Contains(files, "tenant-alpha.alpha-prod.kubeconfig") || o.stdout != "" {
		t.Fatalf("%v\n%s", files, o.stdout)
	}
	for _, says := range []string{"tenant-alpha.alpha-prod.kubeconfig: a credential, keep it as one", "from Secret tenant-alpha/alpha-prod-kubeconfig", "export KUBECONFIG="} {
		if !strings.Contains(o.stderr, says) {
			t.Errorf("no %q in\n%s", says, o.stderr)
		}
	}
	// The operator gives the file to a run in which the backup's own kubeconfig is of no use.
	w.secretEdited("alpha-prod-kubeconfig", func(data map[string]string) {
		data["value"] = strings.Replace(data["value"], "users:", "users: []\nothers:", 1)
	})
	creds := filepath.Join(w.dir, "with.yaml")
	text := string(mustRead(t, w.creds)) + "- endpoint: \"" + clusterOf(t, w.detect().report, "alpha-prod").Endpoint + "\"\n  kubeconfig: " + filepath.Join(out, "tenant-alpha.alpha-prod.kubeconfig") + "\n"
	if err := os.WriteFile(creds, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if state := clusterOf(t, w.detect().report, "alpha-prod").Nodes.State; state == report.NodesRead {
		t.Fatalf("without it the Nodes are %s", state)
	}
	w.creds = creds
	if c := clusterOf(t, w.detect().report, "alpha-prod"); c.Nodes.State != report.NodesRead {
		t.Errorf("with it the Nodes are %s", c.Nodes.State)
	}
	// What is there stays, and nothing else is written.
	left := filepath.Join(out, files[0])
	for _, path := range files[1:] {
		if err := os.Remove(filepath.Join(out, path)); err != nil {
			t.Fatal(err)
		}
	}
	before := mustRead(t, left)
	o = runProgram(t, extract...)
	o.demand(t, cli.ExitUsage)
	if !strings.Contains(o.stderr, left+" is there already, and nothing was written") || len(filesIn(t, out)) != 1 || string(mustRead(t, left)) != string(before) {
		t.Errorf("%s\n%v", o.stderr, filesIn(t, out))
	}
	runProgram(t, append(extract, "--force")...).demand(t, cli.ExitOK)
}

// A kubeconfig of a backup that would run, open or trust something is not written, and of
// others only what leads to the server.
func TestExtractWritesNothingThatActs(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	w.secretEdited("alpha-prod-kubeconfig", func(data map[string]string) {
		data["value"] = strings.Replace(data["value"], "  user:\n", "  user:\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [MARKexec]}\n", 1)
	})
	w.secretEdited("beta-prod-kubeconfig", func(data map[string]string) {
		data["value"] = strings.Replace(data["value"], "    server:", "    proxy-url: http://MARKproxy:1\n    insecure-skip-tls-verify: true\n    server:", 1) + "extensions: [{name: MARKextension}]\n"
	})
	out := filepath.Join(w.dir, "out")
	o := runProgram(t, append([]string{"extract", "kubeconfigs", "-o", out}, w.sources()...)...)
	o.demand(t, cli.ExitIncomplete)
	files := filesIn(t, out)
	if len(files) != 4 || slices.Contains(files, "tenant-alpha.alpha-prod.kubeconfig") || !strings.Contains(o.stderr, "its user needs an exec plugin") {
		t.Errorf("%v\n%s", files, o.stderr)
	}
	for _, f := range files {
		if text := string(mustRead(t, filepath.Join(out, f))); strings.Contains(text, "MARK") || strings.Contains(text, "insecure") {
			t.Errorf("%s:\n%s", f, text)
		}
	}
	if !strings.Contains(o.stderr, "proxy-url") || !strings.Contains(o.stderr, "insecure-skip-tls-verify") {
		t.Errorf("what is left out is not said:\n%s", o.stderr)
	}
}

// Keys of a Secret lead to no other folder, and a link is not followed to where a value
// would be seen.
func TestExtractedSecretsStayInTheirFolder(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	w.secretEdited("alpha-prod-kubeconfig", func(data map[string]string) {
		data["../../escaped"], data[".."], data["a\x1b[31m/b"], data["A\x1b[31m/b"] = "MARK1", "MARK2", "MARK3", "MARK4"
	})
	out := filepath.Join(w.dir, "out", "in")
	if err := os.MkdirAll(out, 0o700); err != nil {
		t.Fatal(err)
	}
	extract := append([]string{"extract", "secret", "tenant-alpha/alpha-prod-kubeconfig", "-o", out}, w.sources()...)
	o := runProgram(t, extract...)
	o.demand(t, cli.ExitOK)
	if files := filesIn(t, out); len(files) != 5 {
		t.Errorf("%q", files)
	}
	if above, _ := os.ReadDir(filepath.Dir(out)); len(above) != 1 {
		t.Errorf("%v", above)
	}
	if strings.Contains(o.stderr+o.stdout, "MARK") || strings.Contains(o.stderr, "\x1b") {
		t.Errorf("%q", o.stderr)
	}
	value := filepath.Join(out, "tenant-alpha.alpha-prod-kubeconfig.value")
	if err := os.Remove(value); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", value); err != nil {
		t.Fatal(err)
	}
	o = runProgram(t, append(extract, "--force")...)
	o.demand(t, cli.ExitUsage)
	if !strings.Contains(o.stderr, "no regular file") {
		t.Error(o.stderr)
	}
	o = runProgram(t, append([]string{"extract", "secret", "tenant-alpha/none", "-o", out}, w.sources()...)...)
	o.demand(t, cli.ExitUsage)
	if !strings.Contains(o.stderr, "Secret tenant-alpha/none is not in the backup") {
		t.Error(o.stderr)
	}
}

// The manifest of the identity that the lab's backup lacks is whole, in the version of the lab's
// other objects, and stderr says when each is applied; one of an impossible name is refused, and
// the others are written.
func TestManifestsSayWhenAndWhatVersion(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	out := filepath.Join(w.dir, "manifests")
	o := runProgram(t, append([]string{"extract", "manifests", "-o", out}, w.sources()...)...)
	o.demand(t, cli.ExitOK)
	text := string(mustRead(t, filepath.Join(out, "VSphereClusterIdentity.vcenter-shared.yaml")))
	for _, want := range []string{"apiVersion: infrastructure.cluster.x-k8s.io/v1beta2\n", "secretName: vcenter-shared-creds\n", "kubernetes.io/metadata.name: tenant-beta\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, want := range []string{"VSphereClusterIdentity vcenter-shared: after the restore, once its Secret is there: kubectl apply -f ", "AWSClusterControllerIdentity default: after the restore, before its cluster is unpaused: kubectl apply -f "} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("no %q in\n%s", want, o.stderr)
		}
	}
	w.set("vsphereclusters", "beta-prod", "Not A Name", "spec", "identityRef", "name")
	o = runProgram(t, append([]string{"extract", "manifests", "-o", out, "--force"}, w.sources()...)...)
	o.demand(t, cli.ExitIncomplete)
	if !strings.Contains(o.stderr, `VSphereClusterIdentity "Not A Name" of tenant-beta/beta-prod: no object can have that name`) || !strings.Contains(o.stderr, "1 manifest is not written; the others are") {
		t.Error(o.stderr)
	}
}

func TestExtractMisuse(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"extract":                                        "say what to extract: kubeconfigs, credentials, manifests or secret",
		"extract everything --backup x":                  "say what to extract",
		"extract secret --backup x":                      "name the Secret: NAMESPACE/NAME",
		"extract secret x --backup x":                    `"x" is no NAMESPACE/NAME`,
		"extract kubeconfigs":                            "--backup is required",
		"extract kubeconfigs --backup x -o -":            "a secret is not written to a terminal",
		"extract kubeconfigs --backup x -o /dev/stdout":  "a secret is not written to a terminal",
		"extract kubeconfigs none --backup " + fleetFile: "none: the backup holds no such cluster; it holds tenant-alpha/alpha-dev",
	} {
		o := runProgram(t, strings.Fields(line)...)
		if o.code != cli.ExitUsage || !strings.Contains(o.stderr, want) || o.stdout != "" {
			t.Errorf("%s: status %d, %s", line, o.code, o.stderr)
		}
	}
}

const fleetFile = testdata + "fleet-data.tar.gz"
