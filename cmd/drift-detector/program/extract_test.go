package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

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
	w := runs.Fleet(t)
	out := filepath.Join(w.Dir, "kubeconfigs")
	extract := append([]string{"extract", "kubeconfigs", "-o", out}, w.Sources()...)
	o := runs.Run(t, extract...)
	o.Demand(t, cli.ExitOK)
	files := filesIn(t, out)
	if len(files) != 5 || !slices.Contains(files, "tenant-alpha.alpha-prod.kubeconfig") || o.Stdout != "" {
		t.Fatalf("%v\n%s", files, o.Stdout)
	}
	for _, says := range []string{"tenant-alpha.alpha-prod.kubeconfig: a credential, keep it as one", "from Secret tenant-alpha/alpha-prod-kubeconfig", "export KUBECONFIG="} {
		if !strings.Contains(o.Stderr, says) {
			t.Errorf("no %q in\n%s", says, o.Stderr)
		}
	}
	// The operator gives the file to a run in which the backup's own kubeconfig is of no use.
	w.SecretEdited("alpha-prod-kubeconfig", func(data map[string]string) {
		data["value"] = strings.Replace(data["value"], "users:", "users: []\nothers:", 1)
	})
	creds := filepath.Join(w.Dir, "with.yaml")
	text := string(runs.MustRead(t, w.Creds)) + "- endpoint: \"" + runs.ClusterOf(t, w.Detect().Report, "alpha-prod").Endpoint + "\"\n  kubeconfig: " + filepath.Join(out, "tenant-alpha.alpha-prod.kubeconfig") + "\n"
	if err := os.WriteFile(creds, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if state := runs.ClusterOf(t, w.Detect().Report, "alpha-prod").Nodes.State; state == report.NodesRead {
		t.Fatalf("without it the Nodes are %s", state)
	}
	w.Creds = creds
	if c := runs.ClusterOf(t, w.Detect().Report, "alpha-prod"); c.Nodes.State != report.NodesRead {
		t.Errorf("with it the Nodes are %s", c.Nodes.State)
	}
	// What is there stays, and nothing else is written.
	left := filepath.Join(out, files[0])
	for _, path := range files[1:] {
		if err := os.Remove(filepath.Join(out, path)); err != nil {
			t.Fatal(err)
		}
	}
	before := runs.MustRead(t, left)
	o = runs.Run(t, extract...)
	o.Demand(t, cli.ExitUsage)
	if !strings.Contains(o.Stderr, left+" is there already, and nothing was written") || len(filesIn(t, out)) != 1 || string(runs.MustRead(t, left)) != string(before) {
		t.Errorf("%s\n%v", o.Stderr, filesIn(t, out))
	}
	runs.Run(t, append(extract, "--force")...).Demand(t, cli.ExitOK)
}

// A kubeconfig of a backup that would run, open or trust something is not written, and of
// others only what leads to the server.
func TestExtractWritesNothingThatActs(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.SecretEdited("alpha-prod-kubeconfig", func(data map[string]string) {
		data["value"] = strings.Replace(data["value"], "  user:\n", "  user:\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [MARKexec]}\n", 1)
	})
	w.SecretEdited("beta-prod-kubeconfig", func(data map[string]string) {
		data["value"] = strings.Replace(data["value"], "    server:", "    proxy-url: http://MARKproxy:1\n    insecure-skip-tls-verify: true\n    server:", 1) + "extensions: [{name: MARKextension}]\n"
	})
	out := filepath.Join(w.Dir, "out")
	o := runs.Run(t, append([]string{"extract", "kubeconfigs", "-o", out}, w.Sources()...)...)
	o.Demand(t, cli.ExitIncomplete)
	files := filesIn(t, out)
	if len(files) != 4 || slices.Contains(files, "tenant-alpha.alpha-prod.kubeconfig") || !strings.Contains(o.Stderr, "its user needs an exec plugin") {
		t.Errorf("%v\n%s", files, o.Stderr)
	}
	for _, f := range files {
		if text := string(runs.MustRead(t, filepath.Join(out, f))); strings.Contains(text, "MARK") || strings.Contains(text, "insecure") {
			t.Errorf("%s:\n%s", f, text)
		}
	}
	if !strings.Contains(o.Stderr, "proxy-url") || !strings.Contains(o.Stderr, "insecure-skip-tls-verify") {
		t.Errorf("what is left out is not said:\n%s", o.Stderr)
	}
}

// Keys of a Secret lead to no other folder, and a link is not followed to where a value
// would be seen.
func TestExtractedSecretsStayInTheirFolder(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.SecretEdited("alpha-prod-kubeconfig", func(data map[string]string) {
		data["../../escaped"], data[".."], data["a\x1b[31m/b"], data["A\x1b[31m/b"] = "MARK1", "MARK2", "MARK3", "MARK4"
	})
	out := filepath.Join(w.Dir, "out", "in")
	if err := os.MkdirAll(out, 0o700); err != nil {
		t.Fatal(err)
	}
	extract := append([]string{"extract", "secret", "tenant-alpha/alpha-prod-kubeconfig", "-o", out}, w.Sources()...)
	o := runs.Run(t, extract...)
	o.Demand(t, cli.ExitOK)
	if files := filesIn(t, out); len(files) != 5 {
		t.Errorf("%q", files)
	}
	if above, _ := os.ReadDir(filepath.Dir(out)); len(above) != 1 {
		t.Errorf("%v", above)
	}
	if strings.Contains(o.Stderr+o.Stdout, "MARK") || strings.Contains(o.Stderr, "\x1b") {
		t.Errorf("%q", o.Stderr)
	}
	value := filepath.Join(out, "tenant-alpha.alpha-prod-kubeconfig.value")
	if err := os.Remove(value); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", value); err != nil {
		t.Fatal(err)
	}
	o = runs.Run(t, append(extract, "--force")...)
	o.Demand(t, cli.ExitUsage)
	if !strings.Contains(o.Stderr, "no regular file") {
		t.Error(o.Stderr)
	}
	o = runs.Run(t, append([]string{"extract", "secret", "tenant-alpha/none", "-o", out}, w.Sources()...)...)
	o.Demand(t, cli.ExitUsage)
	if !strings.Contains(o.Stderr, "Secret tenant-alpha/none is not in the backup") {
		t.Error(o.Stderr)
	}
}

// The manifest of the identity that the lab's backup lacks is whole, in the version of the lab's
// other objects, and stderr says when each is applied; one of an impossible name is refused, and
// the others are written.
func TestManifestsSayWhenAndWhatVersion(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	out := filepath.Join(w.Dir, "manifests")
	o := runs.Run(t, append([]string{"extract", "manifests", "-o", out}, w.Sources()...)...)
	o.Demand(t, cli.ExitOK)
	text := string(runs.MustRead(t, filepath.Join(out, "VSphereClusterIdentity.vcenter-shared.yaml")))
	for _, want := range []string{"apiVersion: infrastructure.cluster.x-k8s.io/v1beta2\n", "secretName: vcenter-shared-creds\n", "kubernetes.io/metadata.name: tenant-beta\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, want := range []string{"VSphereClusterIdentity vcenter-shared: after the restore, once its Secret is there: kubectl apply -f ", "AWSClusterControllerIdentity default: after the restore, before its cluster is unpaused: kubectl apply -f "} {
		if !strings.Contains(o.Stderr, want) {
			t.Errorf("no %q in\n%s", want, o.Stderr)
		}
	}
	w.Set("vsphereclusters", "beta-prod", "Not A Name", "spec", "identityRef", "name")
	o = runs.Run(t, append([]string{"extract", "manifests", "-o", out, "--force"}, w.Sources()...)...)
	o.Demand(t, cli.ExitIncomplete)
	if !strings.Contains(o.Stderr, `VSphereClusterIdentity "Not A Name" of tenant-beta/beta-prod: no object can have that name`) || !strings.Contains(o.Stderr, "1 manifest is not written; the others are") {
		t.Error(o.Stderr)
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
		o := runs.Run(t, strings.Fields(line)...)
		if o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, want) || o.Stdout != "" {
			t.Errorf("%s: status %d, %s", line, o.Code, o.Stderr)
		}
	}
}

const fleetFile = runs.Testdata + "fleet-data.tar.gz"
