package live_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"drift-detector/infra/live"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// A management cluster that runs with the objects of a backup gives the verdicts of the backup,
// in every byte but for the word, with the role that the program prints and nothing beyond.
func TestLiveVerdictsAreThoseOfTheBackup(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	m, from := runs.Management(t, w.Backups[0])
	asked := holdToRole(t, m)
	tarball := w.Detect()
	tarball.Demand(t, cli.ExitOK)
	o := w.Run(slices.Concat(from, w.Reach())...)
	o.Keeps(t, m.Token)
	o.AgreesWith(t, runs.ReadOracle(t, runs.Testdata+"verdicts.json"))
	o.AgreesWith(t, runs.ReadAWSOracle(t))
	want, got := runs.DecidedIn(t, tarball.Report), runs.DecidedIn(t, o.Report)
	words := strings.NewReplacer("since the backup", "since it was read", "the backup was written", "the management cluster was read",
		"its machine may be missing from the backup only", "may be without its Machine for now only",
		"is in the backup without its Machine: it was being deleted, or was left out", "is left without its Machine: nobody deletes it, and its VM",
		"the backup", "the management cluster")
	for name, text := range want {
		if text = words.Replace(text); got[name] != text {
			t.Errorf("%s is\n%s\nand of the backup\n%s", name, got[name], text)
		}
	}
	if len(got) != len(want) || len(got) < 50 {
		t.Errorf("%d verdicts, %d of the backup", len(got), len(want))
	}
	// The role allows no subgroup of a provider that nobody reads: that decides nothing.
	o.Demand(t, cli.ExitOK)
	for _, e := range o.Report.Errors {
		if !strings.Contains(e.Object, ".vcsim.") {
			t.Errorf("%+v", e)
		}
	}
	if n := len(*asked); n != 2 {
		t.Errorf("beyond the role: %v", *asked)
	}
}

// holdToRole has a management cluster refuse what the printed role does not allow, and returns
// what that was.
func holdToRole(t *testing.T, m *lab.Management) *[]string {
	t.Helper()
	first, _, _ := strings.Cut(live.Role, "---\n")
	var role struct {
		Rules []struct{ APIGroups, Resources, ResourceNames, Verbs []string }
	}
	if err := yaml.UnmarshalStrict([]byte(first), &struct {
		APIVersion, Kind string
		Metadata         map[string]any
		Rules            any
	}{}); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(first), &role); err != nil {
		t.Fatal(err)
	}
	allowed := func(group, resource, name, verb string) bool {
		for _, r := range role.Rules {
			if slices.Contains(r.APIGroups, group) && (slices.Contains(r.Resources, resource) || slices.Contains(r.Resources, "*")) &&
				slices.Contains(r.Verbs, verb) && (len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, name)) {
				return true
			}
		}
		return false
	}
	refused := &[]string{}
	m.Before = func(w http.ResponseWriter, r *http.Request) bool {
		parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		ok := len(parts) == 1 // discovery
		switch {
		case parts[0] == "api" && len(parts) == 3:
			ok = allowed("", parts[2], "", "list")
		case parts[0] == "apis" && len(parts) == 4:
			ok = allowed(parts[1], parts[3], "", "list")
		case parts[0] == "api" && len(parts) == 6:
			ok = allowed("", parts[4], parts[5], "get")
		}
		if ok = ok && !r.URL.Query().Has("watch"); !ok {
			*refused = append(*refused, r.URL.Path)
			lab.Refuse(w, http.StatusForbidden, "no "+m.Token)
		}
		return !ok
	}
	return refused
}

// check says of a management cluster what it says of a backup of it, and nothing of what it
// could not read.
func TestCheckOfAManagementCluster(t *testing.T) {
	t.Parallel()
	codes := func(args ...string) (runs.Outcome, map[string]int) {
		file := filepath.Join(t.TempDir(), "check.json")
		o := runs.Run(t, slices.Concat([]string{"check", "-o", file}, args)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err, o.Stderr)
		}
		o.JSON = text
		var doc struct {
			Checks []struct{ Code, Object string }
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		all := map[string]int{}
		for _, c := range doc.Checks {
			if !strings.HasPrefix(c.Object, "backup ") && !strings.HasPrefix(c.Object, "management cluster ") { // as a whole: its age, and what Velero says of it
				all[c.Code+" "+c.Object]++
			}
		}
		return o, all
	}
	tarball := runs.Testdata + "fleet-cluster-scoped-data.tar.gz"
	m, from := runs.Management(t, tarball)
	holdToRole(t, m)
	_, want := codes("--backup", tarball)
	o, got := codes(from...)
	o.Demand(t, cli.ExitOK)
	for c := range want {
		if got[c] != want[c] {
			t.Errorf("lacks %s", c)
		}
	}
	for c := range got {
		if want[c] == 0 {
			t.Errorf("has %s", c)
		}
	}
	m.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/api/v1/secrets" {
			lab.Refuse(w, http.StatusForbidden, m.Token)
			return true
		}
		return false
	}
	o, got = codes(from...)
	o.Demand(t, cli.ExitIncomplete)
	o.Keeps(t, m.Token)
	for c := range got {
		if strings.HasPrefix(c, "SecretsAbsent") || want[c] == 0 {
			t.Errorf("without Secrets: %s", c)
		}
	}
	if !strings.Contains(o.Stderr, "secrets (not read: the user of the kubeconfig may not list it (403))") {
		t.Errorf("%s", o.Stderr)
	}
}

// releases says of a management cluster what it says of a backup of it.
func TestReleasesOfAManagementCluster(t *testing.T) {
	t.Parallel()
	releases := func(args ...string) (runs.Outcome, any) {
		file := filepath.Join(t.TempDir(), "releases.json")
		o := runs.Run(t, slices.Concat([]string{"releases", "-o", file}, args)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err, o.Stderr)
		}
		o.JSON = text
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		return o, doc["releases"]
	}
	m, from := runs.Management(t, runs.ShopBackup)
	_, want := releases("--backup", runs.ShopBackup)
	o, got := releases(from...)
	o.Demand(t, cli.ExitOK)
	o.Keeps(t, m.Token)
	if a, b := asJSON(t, want), asJSON(t, got); a != b || len(a) < 1000 {
		t.Errorf("they differ: %s", runs.FirstDifference(a, b))
	}
	m.Kind("deployments.apps").Stale = true
	o, unread := releases(from...)
	o.Demand(t, cli.ExitIncomplete)
	if !strings.Contains(o.Stderr, "deployments.apps") {
		t.Errorf("%s", o.Stderr)
	}
	m.Kind("deployments.apps").Lost = true // and so is all of its group
	o, lost := releases(from...)
	o.Demand(t, cli.ExitIncomplete)
	if a, b := asJSON(t, unread), asJSON(t, lost); a != b || a == asJSON(t, want) || !strings.Contains(o.Stderr, "*.apps") {
		t.Errorf("%s %s", o.Stderr, runs.FirstDifference(a, b))
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLiveUsage(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"detect", "check", "releases", "inventory"} {
		for want, args := range map[string][]string{
			"--backup or --kubeconfig is required": {},
			"--backup and --kubeconfig exclude":    {"--backup", "b", "--kubeconfig", "k"},
			"--context is of --kubeconfig":         {"--backup", "b", "--context", "c"},
			"no such file":                         {"--kubeconfig", "none", "-o", filepath.Join(t.TempDir(), "o.json")},
			"--newest chooses a backup":            {"--kubeconfig", "k", "--newest"},
			"--schedule chooses a backup":          {"--kubeconfig", "k", "--schedule", "s"},
			"--max-age chooses a backup":           {"--kubeconfig", "k", "--max-age", "2h"},
			"the program does not run in a Pod":    {"--kubeconfig", "in-cluster", "-o", filepath.Join(t.TempDir(), "o.json")},
		} {
			o := runs.Run(t, append([]string{command}, args...)...)
			o.Demand(t, cli.ExitUsage)
			if !strings.Contains(o.Stderr, want) {
				t.Errorf("%s %v: %s", command, args, o.Stderr)
			}
		}
	}
}

// A clock that is far off is a warning, as is an endpoint that nothing names; both in words of what
// is read.
func TestLiveWarnings(t *testing.T) {
	t.Parallel()
	m, from := runs.Management(t, runs.Testdata+"fleet-cluster-scoped-data.tar.gz")
	credentials := filepath.Join(t.TempDir(), "credentials.yaml")
	if err := os.WriteFile(credentials, []byte("endpoints: [{endpoint: elsewhere, username: u, password: p}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for off, want := range map[time.Duration]string{-30 * 24 * time.Hour: "30 days behind that of this machine", time.Hour: " ahead of that of this machine", -time.Minute: ""} {
		m.Before = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Date", runs.Clock().Add(off).UTC().Format(http.TimeFormat))
			return false
		}
		o := runs.Run(t, append([]string{"detect", "--dry-run", "--endpoint", "nowhere=127.0.0.1:1", "--credentials", credentials}, from...)...)
		o.Demand(t, cli.ExitOK)
		if strings.Contains(o.Stderr, "the clock of "+m.Addr) != (want != "") || !strings.Contains(o.Stderr, want) {
			t.Errorf("%s: %s", off, o.Stderr)
		}
		if strings.Count(o.Stderr, "matches nothing: the management cluster names no such endpoint") != 2 || strings.Contains(o.Stderr, "backup") {
			t.Error(o.Stderr)
		}
	}
}

// What check finds of a management cluster that runs is of what a backup taken now would lack: no
// backup was taken, is old, or is described.
func TestCheckSpeaksOfNoBackup(t *testing.T) {
	t.Parallel()
	for _, tarball := range []string{"fleet-cluster-scoped-data.tar.gz", "azure/azure-cluster-scoped-data.tar.gz", "openstack/openstack-data.tar.gz", "capa/capa-data.tar.gz"} {
		checkSpeaksOfNoBackup(t, runs.Testdata+tarball)
	}
}

func checkSpeaksOfNoBackup(t *testing.T, tarball string) {
	t.Helper()
	m, from := runs.Management(t, tarball)
	for _, id := range m.Kinds() {
		if strings.HasPrefix(id, "machinesets.") || strings.Contains(id, "templates.") || strings.HasPrefix(id, "kubeadmc") || id == "secrets" || strings.HasPrefix(id, "machines.") || strings.HasPrefix(id, "clusters.") {
			k := m.Kind(id)
			k.Objects = k.Objects[:len(k.Objects)/2]
		}
	}
	for _, format := range []string{"text", "json", "markdown", "junit"} {
		o := runs.Run(t, slices.Concat([]string{"check", "--format", format}, from)...)
		o.Demand(t, cli.ExitOK)
		for _, wrong := range sayBackup(withoutOtherBackups(o.Stdout)) {
			t.Errorf("%s, %s: %s", tarball, format, wrong)
		}
		for _, wrong := range []string{"old management cluster", "once more", "was taken", "filtered out"} {
			if i := strings.Index(o.Stdout, wrong); i >= 0 {
				t.Errorf("%s: …%s…", format, o.Stdout[max(0, i-80):min(len(o.Stdout), i+80)])
			}
		}
		if format != "json" && !strings.Contains(o.Stdout, "Could a backup taken now be restored?") {
			t.Errorf("%s:\n%.500s", format, o.Stdout)
		}
	}
}

// Two nights of a management cluster that runs: what leaked before is known, and what leaked since
// fails, by name.
func TestNights(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	m, from := runs.Management(t, w.Backups[0])
	args := slices.Concat(from, w.Reach())
	night := func(name string, status cli.ExitCode) string {
		w.Run(append(args, "--quiet", "--fail-on", "leaked")...).Demand(t, status)
		kept := filepath.Join(w.Dir, name)
		if err := os.Rename(filepath.Join(w.Dir, "report.json"), kept); err != nil {
			t.Fatal(err)
		}
		return kept
	}
	first, second := night("first.json", cli.ExitFailOn), night("second.json", cli.ExitFailOn)
	runs.Run(t, "diff", first, second, "--fail-on", "new-leaked,new-lost").Demand(t, cli.ExitOK)
	const lost = "alpha-prod-md-0-cjzhw-7z9bm"
	for _, id := range m.Kinds() {
		k := m.Kind(id)
		if strings.HasPrefix(id, "machines.") || strings.HasPrefix(id, "vsphere") {
			k.Objects = slices.DeleteFunc(k.Objects, func(o map[string]any) bool { return o["metadata"].(map[string]any)["name"] == lost })
		}
		for _, o := range k.Objects { // its owners have one fewer, and their controllers say so
			if name, _ := o["metadata"].(map[string]any)["name"].(string); strings.HasPrefix(id, "machine") && strings.HasPrefix(lost, name+"-") {
				for _, part := range []string{"spec", "status"} {
					of := o[part].(map[string]any)
					for field, n := range of {
						if n, is := n.(float64); is && strings.HasSuffix(strings.ToLower(field), "replicas") {
							of[field] = n - 1
						}
					}
				}
			}
		}
	}
	o := runs.Run(t, "diff", second, night("third.json", cli.ExitFailOn), "--fail-on", "new-leaked")
	o.Demand(t, cli.ExitFailOn)
	if !strings.Contains(o.Stdout, lost) || !strings.Contains(o.Stderr, "new-leaked") {
		t.Errorf("%s does not name it:\n%s", o.Stderr, o.Stdout)
	}
}
