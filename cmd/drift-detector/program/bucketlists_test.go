package program

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/terminal"
	"drift-detector/report/backups"
)

func (b *inBucket) list(args ...string) (*backups.Document, outcome) {
	b.t.Helper()
	o := b.run(append([]string{"backups", "s3://velero", "--format", "json"}, args...)...)
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		b.t.Fatalf("status %d: %s", o.code, o.stderr)
	}
	return &doc, o
}

func hoursBefore(n int) time.Time { return backuptest.Written.Add(-time.Duration(n) * time.Hour) }

// TestWhatLooksLikeAnotherBackup: filters, lists and names that say less than they seem to. The
// right one is the newest, whatever lies beside it.
func TestWhatLooksLikeAnotherBackup(t *testing.T) {
	body := []byte("x") // no tarball is read
	only := func(resources ...string) map[string]any { return map[string]any{"includedResources": resources} }
	for what, c := range map[string]struct {
		all  []storedAs
		want string
	}{
		"short names of kinds": {[]storedAs{
			{name: "short", began: hoursBefore(0), spec: only("cl", "ma", "secrets")}, {name: "old", began: hoursBefore(9), objects: ofEast},
		}, "short"},
		"the beginning of a group": {[]storedAs{
			{name: "partly", began: hoursBefore(0), spec: only("clusters.cluster", "machines.cluster.x-k8s.io")}, {name: "old", began: hoursBefore(9), objects: ofEast},
		}, "partly"},
		"Clusters of another API group": {[]storedAs{
			{name: "postgres", began: hoursBefore(0), objects: `{"postgresql.cnpg.io/v1/Cluster":["tenant-alpha/alpha-prod"]}`}, {name: "old", began: hoursBefore(9), objects: ofEast},
		}, "old"},
		"patterns of namespaces": {[]storedAs{
			{name: "pattern", began: hoursBefore(0), spec: map[string]any{"includedNamespaces": []string{"tenant-[a-c]*"}}}, {name: "old", began: hoursBefore(9), objects: ofEast},
		}, "pattern"},
		"a schedule that backs up an application by now": {append(each(20, func(i int) storedAs {
			return storedAs{name: fmt.Sprintf("nightly-202611%02d000000", 28-i), schedule: "nightly", began: hoursBefore(24 * i), spec: map[string]any{"ttl": "720h", "storageLocation": "new"}, objects: ofApplication}
		}), storedAs{name: "nightly-20261101000000", schedule: "nightly", began: hoursBefore(24 * 27), objects: ofEast}, storedAs{name: "monthly-20261030000000", schedule: "monthly", began: hoursBefore(24 * 29), objects: ofEast}), "nightly-20261101000000"},
		"k0rdent, without Clusters": {[]storedAs{
			{name: "k0rdent", began: hoursBefore(0), objects: `{"k0rdent.mirantis.com/v1beta1/ClusterDeployment":["kcm-system/a"],"v1/Secret":["a/b"]}`}, {name: "old", began: hoursBefore(9), objects: ofEast},
		}, "k0rdent"},
		"Excluded, and the same in other words": {[]storedAs{
			{name: "none", began: hoursBefore(0), spec: map[string]any{"excludedResources": []string{"cl", "machine", "clusterdeployments.k0rdent.mirantis.com"}}}, {name: "old", began: hoursBefore(9), objects: ofEast},
		}, "old"},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBucket(t)
			for _, s := range c.all {
				s.phase, s.tarball = "Completed", body
				b.store(s)
			}
			if doc, _ := b.list(); doc.Summary.Newest != c.want {
				for _, row := range doc.Backups {
					t.Logf("%s %t %q", row.Name, row.Empty, row.Why)
				}
				t.Errorf("newest %s, want %s", doc.Summary.Newest, c.want)
			}
			if doc, _ := b.list("--last", "1"); doc.Summary.Newest != c.want && what != "a schedule that backs up an application by now" {
				t.Errorf("--last 1: newest %s, want %s", doc.Summary.Newest, c.want)
			}
		})
	}
}

func each(n int, of func(int) storedAs) (all []storedAs) {
	for i := range n {
		all = append(all, of(i))
	}
	return all
}

// TestHostileListsCostThemselves: names that no object has, more namespaces and clusters than
// there are, and chains of them neither reach the terminal nor take the time of everything.
func TestHostileListsCostThemselves(t *testing.T) {
	b := newBucket(t)
	long := strings.Repeat("n", 100_000)
	lists := func(i int) string {
		var clusters []string
		for k := range 120 {
			clusters = append(clusters, fmt.Sprintf(`"ns-%04d-%d/c"`, 9999-i*2-k%3, k%3))
		}
		for k := range 3_000 {
			clusters = append(clusters, fmt.Sprintf(`"many-%d-%d/c"`, i, k))
		}
		return `{"cluster.x-k8s.io/v1beta2/Cluster":["a/\u001b[31mred","` + long + `/x",` + strings.Join(clusters, ",") + `]}`
	}
	for i := range 40 {
		b.store(storedAs{name: fmt.Sprintf("n-%02d", i), phase: "Completed", began: hoursBefore(i), tarball: []byte("x"), objects: lists(i), spec: map[string]any{"ttl": fmt.Sprint(i)}})
	}
	b.store(storedAs{name: "filtered", phase: "Completed", began: hoursBefore(-1), tarball: []byte("x"), spec: map[string]any{"includedNamespaces": []string{"shop"}}})
	began := time.Now()
	o := b.run("backups", "s3://velero/mgmt")
	o.demand(t, cli.ExitOK)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if strings.Contains(o.stdout, "\x1b") || len(o.stdout) > 20_000 || !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), "clusters are in more than 1000 namespaces") {
		t.Errorf("%d bytes: %.3000s", len(o.stdout), o.stdout)
	}
}

// TestBackupsBesideBackupsAreCompared: of a place that has backups at its root and below it, each
// offered command is about one of them.
func TestBackupsBesideBackupsAreCompared(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	at := func(prefix, name string, began time.Time) {
		b.store(storedAs{prefix: prefix, name: name, phase: "Completed", began: began, tarball: body, objects: ofEast})
	}
	b.putAt("", "first", hoursBefore(48), body)
	at("mgmt-b", "second", hoursBefore(0))
	t.Chdir(t.TempDir())
	list := b.run("backups", "s3://velero")
	list.demand(t, cli.ExitOK)
	offered := offeredIn(t, list.stdout)
	if len(offered) != 4 {
		t.Errorf("%d commands:\n%s", len(offered), list.stdout)
	}
	for _, args := range offered {
		if o := runProgram(t, append(args, w.reach()...)...); o.code != cli.ExitOK {
			t.Errorf("%q: status %d\n%s", args, o.code, o.stderr)
		}
	}
	if refused := b.run("backups", "s3://velero", "--compare"); refused.code != cli.ExitUsage || !strings.Contains(refused.stderr, "backups s3://velero/backups --compare") {
		t.Errorf("status %d: %s", refused.code, refused.stderr)
	}
}

// TestTheNewestLacksItsTarball: it is said to be left out, and no command is offered for it.
func TestTheNewestLacksItsTarball(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	b.store(
		storedAs{name: "old", phase: "Completed", began: hoursBefore(24), tarball: body, objects: ofEast},
		storedAs{name: "new", phase: "Completed", began: hoursBefore(0), objects: ofEast},
	)
	for _, args := range [][]string{{}, append([]string{"--compare"}, w.reach()...)} {
		o := b.run(append([]string{"backups", "s3://velero/mgmt"}, args...)...)
		said, _, _ := strings.Cut(o.stdout, "\nNAME")
		if !strings.Contains(said, "Left out: new, newer") || !strings.Contains(said, "its tarball is not in the store") || strings.Contains(said, "backups/new") {
			t.Errorf("%s: status %d\n%s", args, o.code, o.stdout)
		}
	}
}

// TestAClusterThatWasMoved: the management cluster that had it first is no place to restore it from,
// and one whose clusters are others is, though all are in one prefix.
func TestAClusterThatWasMoved(t *testing.T) {
	w, body := wellBody(t)
	kubeSystem := func(uid string) []byte {
		return backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
			if strings.HasSuffix(item, "/cluster/kube-system.json") {
				var o map[string]any
				_ = json.Unmarshal(body, &o)
				o["metadata"].(map[string]any)["uid"] = uid
				body, _ = json.Marshal(o)
			}
			return body, true
		})
	}
	b := newBucket(t)
	b.store(
		storedAs{name: "first", phase: "Completed", began: hoursBefore(48), tarball: kubeSystem("one"), objects: ofEast},
		storedAs{name: "moved", phase: "Completed", began: hoursBefore(24), tarball: kubeSystem("two"), objects: ofEast},
		storedAs{name: "west", phase: "Completed", began: hoursBefore(0), tarball: ofAnother(t, body, "west", true), objects: ofWest},
	)
	for name, newer := range map[string]string{"first": "moved is of another management cluster that has a cluster of this backup", "moved": "", "west": ""} {
		out := filepath.Join(t.TempDir(), "r.json")
		b.run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/" + name, "-o", out}, w.reach()...)...)
		text, _ := os.ReadFile(out)
		if has := strings.Contains(string(text), `"NewerBackup"`); has != (newer != "") || !strings.Contains(string(text), newer) {
			t.Errorf("%s: newer %t: %.300s", name, has, text)
		}
	}
	doc, _ := b.compare(w.reach()...)
	for _, row := range doc.Comparison.Compared {
		if (row.Safe == "yes") != (row.Name == "moved") && row.Name != "west" {
			t.Errorf("%s is %s", row.Name, row.Safe)
		}
	}
}

// TestNamesThatAreNoNames: control characters, markup and a name of 250 characters stay on their
// own lines of 80 columns.
func TestNamesThatAreNoNames(t *testing.T) {
	b := newBucket(t)
	for i, name := range []string{"a b", "x\u202ey", "<b>bold</b>", strings.Repeat("long", 60), "'; rm -rf ~;'", "-o"} {
		b.store(storedAs{name: name, schedule: name, phase: "Completed", began: hoursBefore(i), tarball: []byte("x"), objects: ofEast})
	}
	o := b.run("backups", "s3://velero/mgmt")
	o.demand(t, cli.ExitOK)
	for line := range strings.Lines(o.stdout) {
		if strings.ContainsAny(line, "\x1b\u202e") || terminal.Width(strings.TrimSpace(line)) > 80 && !strings.HasPrefix(line, "  drift-detector ") && !strings.Contains(line, "long") {
			t.Errorf("%q", line)
		}
	}
	for _, args := range offeredIn(t, o.stdout) {
		if len(args) < 3 || args[0] != "backups" && args[0] != "detect" {
			t.Errorf("%q", args)
		}
	}
}
