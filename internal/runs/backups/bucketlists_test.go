package backups_test

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
	"drift-detector/internal/runs"
	"drift-detector/internal/terminal"
)

// TestWhatLooksLikeAnotherBackup: filters, lists and names that say less than they seem to. The
// right one is the newest, whatever lies beside it.
func TestWhatLooksLikeAnotherBackup(t *testing.T) {
	body := []byte("x") // no tarball is read
	only := func(resources ...string) map[string]any { return map[string]any{"includedResources": resources} }
	for what, c := range map[string]struct {
		all  []runs.StoredAs
		want string
	}{
		"short names of kinds": {[]runs.StoredAs{
			{Name: "short", Began: runs.HoursBefore(0), Spec: only("cl", "ma", "secrets")}, {Name: "old", Began: runs.HoursBefore(9), Objects: runs.OfEast},
		}, "short"},
		"the beginning of a group": {[]runs.StoredAs{
			{Name: "partly", Began: runs.HoursBefore(0), Spec: only("clusters.cluster", "machines.cluster.x-k8s.io")}, {Name: "old", Began: runs.HoursBefore(9), Objects: runs.OfEast},
		}, "partly"},
		"Clusters of another API group": {[]runs.StoredAs{
			{Name: "postgres", Began: runs.HoursBefore(0), Objects: `{"postgresql.cnpg.io/v1/Cluster":["tenant-alpha/alpha-prod"]}`}, {Name: "old", Began: runs.HoursBefore(9), Objects: runs.OfEast},
		}, "old"},
		"patterns of namespaces": {[]runs.StoredAs{
			{Name: "pattern", Began: runs.HoursBefore(0), Spec: map[string]any{"includedNamespaces": []string{"tenant-[a-c]*"}}}, {Name: "old", Began: runs.HoursBefore(9), Objects: runs.OfEast},
		}, "pattern"},
		"a schedule that backs up an application by now": {append(each(20, func(i int) runs.StoredAs {
			return runs.StoredAs{Name: fmt.Sprintf("nightly-202611%02d000000", 28-i), Schedule: "nightly", Began: runs.HoursBefore(24 * i), Spec: map[string]any{"ttl": "720h", "storageLocation": "new"}, Objects: runs.OfApplication}
		}), runs.StoredAs{Name: "nightly-20261101000000", Schedule: "nightly", Began: runs.HoursBefore(24 * 27), Objects: runs.OfEast}, runs.StoredAs{Name: "monthly-20261030000000", Schedule: "monthly", Began: runs.HoursBefore(24 * 29), Objects: runs.OfEast}), "nightly-20261101000000"},
		"k0rdent, without Clusters": {[]runs.StoredAs{
			{Name: "k0rdent", Began: runs.HoursBefore(0), Objects: `{"k0rdent.mirantis.com/v1beta1/ClusterDeployment":["kcm-system/a"],"v1/Secret":["a/b"]}`}, {Name: "old", Began: runs.HoursBefore(9), Objects: runs.OfEast},
		}, "k0rdent"},
		"Excluded, and the same in other words": {[]runs.StoredAs{
			{Name: "none", Began: runs.HoursBefore(0), Spec: map[string]any{"excludedResources": []string{"cl", "machine", "clusterdeployments.k0rdent.mirantis.com"}}}, {Name: "old", Began: runs.HoursBefore(9), Objects: runs.OfEast},
		}, "old"},
	} {
		t.Run(what, func(t *testing.T) {
			b := runs.NewBucket(t)
			for _, s := range c.all {
				s.Phase, s.Tarball = "Completed", body
				b.Add(s)
			}
			if doc, _ := b.List(); doc.Summary.Newest != c.want {
				for _, row := range doc.Backups {
					t.Logf("%s %t %q", row.Name, row.Empty, row.Why)
				}
				t.Errorf("newest %s, want %s", doc.Summary.Newest, c.want)
			}
			if doc, _ := b.List("--last", "1"); doc.Summary.Newest != c.want && what != "a schedule that backs up an application by now" {
				t.Errorf("--last 1: newest %s, want %s", doc.Summary.Newest, c.want)
			}
		})
	}
}

func each(n int, of func(int) runs.StoredAs) (all []runs.StoredAs) {
	for i := range n {
		all = append(all, of(i))
	}
	return all
}

// TestHostileListsCostThemselves: names that no object has, more namespaces and clusters than
// there are, and chains of them neither reach the terminal nor take the time of everything.
func TestHostileListsCostThemselves(t *testing.T) {
	b := runs.NewBucket(t)
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
		b.Add(runs.StoredAs{Name: fmt.Sprintf("n-%02d", i), Phase: "Completed", Began: runs.HoursBefore(i), Tarball: []byte("x"), Objects: lists(i), Spec: map[string]any{"ttl": fmt.Sprint(i)}})
	}
	b.Add(runs.StoredAs{Name: "filtered", Phase: "Completed", Began: runs.HoursBefore(-1), Tarball: []byte("x"), Spec: map[string]any{"includedNamespaces": []string{"shop"}}})
	began := time.Now()
	o := b.Run("backups", "s3://velero/mgmt")
	o.Demand(t, cli.ExitOK)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if strings.Contains(o.Stdout, "\x1b") || len(o.Stdout) > 20_000 || !strings.Contains(strings.Join(strings.Fields(o.Stdout), " "), "clusters are in more than 1000 namespaces") {
		t.Errorf("%d bytes: %.3000s", len(o.Stdout), o.Stdout)
	}
}

// TestBackupsBesideBackupsAreCompared: of a place that has backups at its root and below it, each
// offered command is about one of them.
func TestBackupsBesideBackupsAreCompared(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	at := func(prefix, name string, began time.Time) {
		b.Add(runs.StoredAs{Prefix: prefix, Name: name, Phase: "Completed", Began: began, Tarball: body, Objects: runs.OfEast})
	}
	b.PutAt("", "first", runs.HoursBefore(48), body)
	at("mgmt-b", "second", runs.HoursBefore(0))
	t.Chdir(t.TempDir())
	list := b.Run("backups", "s3://velero")
	list.Demand(t, cli.ExitOK)
	offered := offeredIn(t, list.Stdout)
	if len(offered) != 4 {
		t.Errorf("%d commands:\n%s", len(offered), list.Stdout)
	}
	for _, args := range offered {
		if o := runs.Run(t, append(args, w.Reach()...)...); o.Code != cli.ExitOK {
			t.Errorf("%q: status %d\n%s", args, o.Code, o.Stderr)
		}
	}
	if refused := b.Run("backups", "s3://velero", "--compare"); refused.Code != cli.ExitUsage || !strings.Contains(refused.Stderr, "backups s3://velero/backups --compare") {
		t.Errorf("status %d: %s", refused.Code, refused.Stderr)
	}
}

// TestTheNewestLacksItsTarball: it is said to be left out, and no command is offered for it.
func TestTheNewestLacksItsTarball(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	b.Add(
		runs.StoredAs{Name: "old", Phase: "Completed", Began: runs.HoursBefore(24), Tarball: body, Objects: runs.OfEast},
		runs.StoredAs{Name: "new", Phase: "Completed", Began: runs.HoursBefore(0), Objects: runs.OfEast},
	)
	for _, args := range [][]string{{}, append([]string{"--compare"}, w.Reach()...)} {
		o := b.Run(append([]string{"backups", "s3://velero/mgmt"}, args...)...)
		said, _, _ := strings.Cut(o.Stdout, "\nNAME")
		if !strings.Contains(said, "Left out: new, newer") || !strings.Contains(said, "its tarball is not in the store") || strings.Contains(said, "backups/new") {
			t.Errorf("%s: status %d\n%s", args, o.Code, o.Stdout)
		}
	}
}

// TestAClusterThatWasMoved: the management cluster that had it first is no place to restore it from,
// and one whose clusters are others is, though all are in one prefix.
func TestAClusterThatWasMoved(t *testing.T) {
	w, body := runs.WellBody(t)
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
	b := runs.NewBucket(t)
	b.Add(
		runs.StoredAs{Name: "first", Phase: "Completed", Began: runs.HoursBefore(48), Tarball: kubeSystem("one"), Objects: runs.OfEast},
		runs.StoredAs{Name: "moved", Phase: "Completed", Began: runs.HoursBefore(24), Tarball: kubeSystem("two"), Objects: runs.OfEast},
		runs.StoredAs{Name: "west", Phase: "Completed", Began: runs.HoursBefore(0), Tarball: runs.OfAnother(t, body, "west", true), Objects: runs.OfWest},
	)
	for name, newer := range map[string]string{"first": "moved is of another management cluster that has a cluster of this backup", "moved": "", "west": ""} {
		out := filepath.Join(t.TempDir(), "r.json")
		b.Run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/" + name, "-o", out}, w.Reach()...)...)
		text, _ := os.ReadFile(out)
		if has := strings.Contains(string(text), `"NewerBackup"`); has != (newer != "") || !strings.Contains(string(text), newer) {
			t.Errorf("%s: newer %t: %.300s", name, has, text)
		}
	}
	doc, _ := b.Compare(w.Reach()...)
	for _, row := range doc.Comparison.Compared {
		if (row.Safe == "yes") != (row.Name == "moved") && row.Name != "west" {
			t.Errorf("%s is %s", row.Name, row.Safe)
		}
	}
}

// TestNamesThatAreNoNames: control characters, markup and a name of 250 characters stay on their
// own lines of 80 columns.
func TestNamesThatAreNoNames(t *testing.T) {
	b := runs.NewBucket(t)
	for i, name := range []string{"a b", "x\u202ey", "<b>bold</b>", strings.Repeat("long", 60), "'; rm -rf ~;'", "-o"} {
		b.Add(runs.StoredAs{Name: name, Schedule: name, Phase: "Completed", Began: runs.HoursBefore(i), Tarball: []byte("x"), Objects: runs.OfEast})
	}
	o := b.Run("backups", "s3://velero/mgmt")
	o.Demand(t, cli.ExitOK)
	for line := range strings.Lines(o.Stdout) {
		if strings.ContainsAny(line, "\x1b\u202e") || terminal.Width(strings.TrimSpace(line)) > 80 && !strings.HasPrefix(line, "  drift-detector ") && !strings.Contains(line, "long") {
			t.Errorf("%q", line)
		}
	}
	for _, args := range offeredIn(t, o.Stdout) {
		if len(args) < 3 || args[0] != "backups" && args[0] != "detect" {
			t.Errorf("%q", args)
		}
	}
}
