package program

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
	"drift-detector/report"
)

// management serves the objects of a tarball as the management cluster that runs. No output of
// the test may hold its token, with which every continue token begins.
func management(t *testing.T, tarball string) (*lab.Management, []string) {
	t.Helper()
	m, err := lab.StartManagement(tarball)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	file, err := m.WriteKubeconfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return m, []string{"--kubeconfig", file}
}

func (o outcome) keeps(t *testing.T, secret string) {
	t.Helper()
	if text := o.stdout + o.stderr + string(o.json); strings.Contains(text, secret) {
		t.Errorf("an output holds %s:\n%s", secret, text)
	}
}

// saved returns what the world's places hold now, as a file.
func (w *world) saved(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "inventory.json")
	runProgram(t, slices.Concat([]string{"inventory", "-o", file}, w.sources(), w.reach())...).demand(t, cli.ExitOK)
	return file
}

// decidedIn returns the machines of a report with all that was decided on them, and the VMs to
// confirm, by their names; what a restore makes of them is left out.
func decidedIn(t *testing.T, r *report.Report) map[string]string {
	t.Helper()
	all := map[string]string{}
	add := func(name string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		all[name] += string(text)
	}
	machines := func(cluster, set string, list []report.Machine) {
		for _, m := range list {
			m.Forecast, m.Remediation = nil, nil // which are of a restore
			add(cluster+" "+set+" "+m.Name, m)
		}
	}
	for _, c := range r.Clusters {
		machines(c.Name, "", c.ControlPlane.Machines)
		for _, g := range c.Workers.Groups {
			machines(c.Name, g.Name, g.Machines)
		}
	}
	for _, u := range r.InfraMachines {
		u.Remediation = nil
		add("VM "+u.Instance.Name, u)
	}
	return all
}

// A management cluster that runs with the objects of a backup gives the verdicts of the backup,
// in every byte but for the word, with the role that the program prints and nothing beyond.
func TestLiveVerdictsAreThoseOfTheBackup(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	m, from := management(t, w.backups[0])
	asked := holdToRole(t, m)
	tarball := w.detect()
	tarball.demand(t, cli.ExitOK)
	o := w.run(slices.Concat(from, w.reach())...)
	o.keeps(t, m.Token)
	o.agreesWith(t, readOracle(t, testdata+"verdicts.json"))
	o.agreesWith(t, readAWSOracle(t))
	want, got := decidedIn(t, tarball.report), decidedIn(t, o.report)
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
	o.demand(t, cli.ExitOK)
	for _, e := range o.report.Errors {
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
	codes := func(args ...string) (outcome, map[string]int) {
		file := filepath.Join(t.TempDir(), "check.json")
		o := runProgram(t, slices.Concat([]string{"check", "-o", file}, args)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err, o.stderr)
		}
		o.json = text
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
	tarball := testdata + "fleet-cluster-scoped-data.tar.gz"
	m, from := management(t, tarball)
	holdToRole(t, m)
	_, want := codes("--backup", tarball)
	o, got := codes(from...)
	o.demand(t, cli.ExitOK)
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
	o.demand(t, cli.ExitIncomplete)
	o.keeps(t, m.Token)
	for c := range got {
		if strings.HasPrefix(c, "SecretsAbsent") || want[c] == 0 {
			t.Errorf("without Secrets: %s", c)
		}
	}
	if !strings.Contains(o.stderr, "secrets (not read: the user of the kubeconfig may not list it (403))") {
		t.Errorf("%s", o.stderr)
	}
}

// releases says of a management cluster what it says of a backup of it.
func TestReleasesOfAManagementCluster(t *testing.T) {
	t.Parallel()
	releases := func(args ...string) (outcome, any) {
		file := filepath.Join(t.TempDir(), "releases.json")
		o := runProgram(t, slices.Concat([]string{"releases", "-o", file}, args)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err, o.stderr)
		}
		o.json = text
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		return o, doc["releases"]
	}
	m, from := management(t, shopBackup)
	_, want := releases("--backup", shopBackup)
	o, got := releases(from...)
	o.demand(t, cli.ExitOK)
	o.keeps(t, m.Token)
	if a, b := asJSON(t, want), asJSON(t, got); a != b || len(a) < 1000 {
		t.Errorf("they differ: %s", firstDifference(a, b))
	}
	m.Kind("deployments.apps").Stale = true
	o, unread := releases(from...)
	o.demand(t, cli.ExitIncomplete)
	if !strings.Contains(o.stderr, "deployments.apps") {
		t.Errorf("%s", o.stderr)
	}
	m.Kind("deployments.apps").Lost = true // and so is all of its group
	o, lost := releases(from...)
	o.demand(t, cli.ExitIncomplete)
	if a, b := asJSON(t, unread), asJSON(t, lost); a != b || a == asJSON(t, want) || !strings.Contains(o.stderr, "*.apps") {
		t.Errorf("%s %s", o.stderr, firstDifference(a, b))
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
			o := runProgram(t, append([]string{command}, args...)...)
			o.demand(t, cli.ExitUsage)
			if !strings.Contains(o.stderr, want) {
				t.Errorf("%s %v: %s", command, args, o.stderr)
			}
		}
	}
}

// A clock that is far off is a warning, as is an endpoint that nothing names; both in words of what
// is read.
func TestLiveWarnings(t *testing.T) {
	t.Parallel()
	m, from := management(t, testdata+"fleet-cluster-scoped-data.tar.gz")
	credentials := filepath.Join(t.TempDir(), "credentials.yaml")
	if err := os.WriteFile(credentials, []byte("endpoints: [{endpoint: elsewhere, username: u, password: p}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for off, want := range map[time.Duration]string{-30 * 24 * time.Hour: "30 days behind that of this machine", time.Hour: " ahead of that of this machine", -time.Minute: ""} {
		m.Before = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Date", clock().Add(off).UTC().Format(http.TimeFormat))
			return false
		}
		o := runProgram(t, append([]string{"detect", "--dry-run", "--endpoint", "nowhere=127.0.0.1:1", "--credentials", credentials}, from...)...)
		o.demand(t, cli.ExitOK)
		if strings.Contains(o.stderr, "the clock of "+m.Addr) != (want != "") || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %s", off, o.stderr)
		}
		if strings.Count(o.stderr, "matches nothing: the management cluster names no such endpoint") != 2 || strings.Contains(o.stderr, "backup") {
			t.Error(o.stderr)
		}
	}
}

// What check finds of a management cluster that runs is of what a backup taken now would lack: no
// backup was taken, is old, or is described.
func TestCheckSpeaksOfNoBackup(t *testing.T) {
	t.Parallel()
	for _, tarball := range []string{"fleet-cluster-scoped-data.tar.gz", "azure/azure-cluster-scoped-data.tar.gz", "openstack/openstack-data.tar.gz", "capa/capa-data.tar.gz"} {
		checkSpeaksOfNoBackup(t, testdata+tarball)
	}
}

func checkSpeaksOfNoBackup(t *testing.T, tarball string) {
	t.Helper()
	m, from := management(t, tarball)
	for _, id := range m.Kinds() {
		if strings.HasPrefix(id, "machinesets.") || strings.Contains(id, "templates.") || strings.HasPrefix(id, "kubeadmc") || id == "secrets" || strings.HasPrefix(id, "machines.") || strings.HasPrefix(id, "clusters.") {
			k := m.Kind(id)
			k.Objects = k.Objects[:len(k.Objects)/2]
		}
	}
	for _, format := range []string{"text", "json", "markdown", "junit"} {
		o := runProgram(t, slices.Concat([]string{"check", "--format", format}, from)...)
		o.demand(t, cli.ExitOK)
		for _, wrong := range sayBackup(withoutOtherBackups(o.stdout)) {
			t.Errorf("%s, %s: %s", tarball, format, wrong)
		}
		for _, wrong := range []string{"old management cluster", "once more", "was taken", "filtered out"} {
			if i := strings.Index(o.stdout, wrong); i >= 0 {
				t.Errorf("%s: …%s…", format, o.stdout[max(0, i-80):min(len(o.stdout), i+80)])
			}
		}
		if format != "json" && !strings.Contains(o.stdout, "Could a backup taken now be restored?") {
			t.Errorf("%s:\n%.500s", format, o.stdout)
		}
	}
}

// What is said of a management cluster that runs is what has drifted, and nothing of a restore.
func TestLiveDriftNow(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	m, from := management(t, w.backups[0])
	for _, o := range m.Kind("machines.cluster.x-k8s.io").Objects {
		if meta := o["metadata"].(map[string]any); meta["name"] == "alpha-prod-nnxbq" {
			meta["deletionTimestamp"] = "2026-11-01T10:00:00Z"
		} else if meta["name"] == "alpha-prod-kcn2q" {
			o["status"].(map[string]any)["phase"] = "Provisioned"
		}
	}
	args := slices.Concat(from, w.reach())
	o := w.run(append(args, "--fail-on", "leaked,lost,stuck")...)
	o.demand(t, cli.ExitFailOn)
	o.keeps(t, m.Token)
	r := o.report
	if r.Summary.Answer != nil || r.Summary.AnswerByPlan != nil || r.Summary.Forecast != nil || len(r.ToDo) > 0 || len(r.Checks) > 0 || !r.Backups[0].Live {
		t.Errorf("it speaks of a restore: %+v", r.Summary)
	}
	for _, c := range r.Clusters {
		for _, x := range allMachines(c) {
			if x.Forecast != nil || len(x.Remediation) > 0 {
				t.Errorf("%s has a forecast or steps", x.Name)
			}
		}
	}
	counts := map[string]int{}
	for _, d := range r.Drift() {
		counts[d.Word]++
	}
	all := r.Summary.Machines
	if counts["LEAKED"] == 0 || counts["LOST"] == 0 || counts["STUCK"] != 2 || counts["LEAKED"] < all.Ghost || counts["LOST"] < all.Stale {
		t.Errorf("drift %v of %+v", counts, all)
	}
	saved := filepath.Join(w.dir, "report.json")
	for _, format := range []string{"text", "markdown", "html", "junit"} {
		out := runProgram(t, "render", saved, "--format", format)
		out.demand(t, cli.ExitOK)
		if !strings.Contains(out.stdout, "Drift now:") || !strings.Contains(out.stdout, "LEAKED") || strings.Contains(out.stdout, "Safe to restore") || !strings.Contains(out.stdout, "its Machine is Provisioned") {
			t.Errorf("%s:\n%.600s", format, out.stdout)
		}
	}
	screen := runProgram(t, append([]string{"detect"}, args...)...)
	screen.demand(t, cli.ExitOK)
	for _, want := range []string{"Drift now:", "LEAKED", "LOST", "STUCK", "alpha-prod-nnxbq"} {
		if !strings.Contains(screen.stdout, want) {
			t.Errorf("the screen lacks %s:\n%s", want, screen.stdout)
		}
	}
	if strings.Contains(screen.stdout, "estore") || strings.Contains(screen.stdout, "ackup") {
		t.Errorf("the screen speaks of a restore:\n%s", screen.stdout)
	}
	for command, want := range map[string]string{"plan": "nothing is restored", "ready": "nothing is restored"} {
		out := runProgram(t, command, saved)
		out.demand(t, cli.ExitUsage)
		if !strings.Contains(out.stderr, want) {
			t.Errorf("%s: %s", command, out.stderr)
		}
	}
	for _, kind := range []string{"no", "not-yes", "by-plan", "check"} {
		runProgram(t, slices.Concat([]string{"detect", "--fail-on", kind}, args)...).demand(t, cli.ExitUsage)
	}
	for _, kind := range ofLive {
		if !strings.Contains(o.stderr, kind) && !strings.Contains(o.stderr, strings.ToUpper(kind)) {
			t.Errorf("--fail-on %s found nothing: %s", kind, o.stderr)
		}
		runProgram(t, "detect", "--fail-on", kind, "--backup", w.backups[0]).demand(t, cli.ExitUsage)
	}
}

// Two nights of a management cluster that runs: what leaked before is known, and what leaked since
// fails, by name.
func TestNights(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	m, from := management(t, w.backups[0])
	args := slices.Concat(from, w.reach())
	night := func(name string, status cli.ExitCode) string {
		w.run(append(args, "--quiet", "--fail-on", "leaked")...).demand(t, status)
		kept := filepath.Join(w.dir, name)
		if err := os.Rename(filepath.Join(w.dir, "report.json"), kept); err != nil {
			t.Fatal(err)
		}
		return kept
	}
	first, second := night("first.json", cli.ExitFailOn), night("second.json", cli.ExitFailOn)
	runProgram(t, "diff", first, second, "--fail-on", "new-leaked,new-lost").demand(t, cli.ExitOK)
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
	o := runProgram(t, "diff", second, night("third.json", cli.ExitFailOn), "--fail-on", "new-leaked")
	o.demand(t, cli.ExitFailOn)
	if !strings.Contains(o.stdout, lost) || !strings.Contains(o.stderr, "new-leaked") {
		t.Errorf("%s does not name it:\n%s", o.stderr, o.stdout)
	}
}
