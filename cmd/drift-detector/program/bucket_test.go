package program

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/report/backups"
)

// storedAs is a backup as Velero stores it: what is not set is left out.
type storedAs struct {
	prefix, name, schedule, phase string
	began                         time.Time
	errors                        int
	spec, status                  map[string]any // status may replace the rest
	tarball                       []byte
	results, objects              string // JSON of the files beside the tarball
}

func (b *inBucket) store(all ...storedAs) {
	b.t.Helper()
	for _, s := range all {
		if s.prefix == "" {
			s.prefix = "mgmt"
		}
		at := s.prefix + "/backups/" + s.name + "/"
		labels := map[string]string{}
		if s.schedule != "" {
			labels["velero.io/schedule-name"] = s.schedule
		}
		status := map[string]any{"phase": s.phase, "errors": s.errors, "formatVersion": "1.1.0", "startTimestamp": s.began.UTC().Format(time.RFC3339)}
		maps.Copy(status, s.status)
		text, err := json.Marshal(map[string]any{
			"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": map[string]any{"name": s.name, "labels": labels}, "spec": s.spec, "status": status,
		})
		if err != nil {
			b.t.Fatal(err)
		}
		if s.phase != "" {
			b.Put("velero", at+"velero-backup.json", text)
		}
		for file, text := range map[string]string{"-results.gz": s.results, "-resource-list.json.gz": s.objects} {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			_, _ = w.Write([]byte(text))
			if err := w.Close(); err != nil {
				b.t.Fatal(err)
			}
			if text != "" {
				b.Put("velero", at+s.name+file, z.Bytes())
			}
		}
		if s.tarball != nil {
			b.Put("velero", at+s.name+".tar.gz", s.tarball)
		}
	}
}

const (
	// ofApplication and ofClusters are lists of objects.
	ofApplication = `{"apps/v1/Deployment":["shop/web"],"v1/Secret":["shop/1","shop/2","shop/3","shop/4","shop/5","shop/6","shop/7","shop/8","shop/9"]}`
	ofClusters    = `{"cluster.x-k8s.io/v1beta2/Cluster":["tenant-alpha/alpha-prod"],"v1/PersistentVolumeClaim":["logging/data"]}`
	// volumeFailed are the results of a backup in which a snapshot of a volume failed.
	volumeFailed = `{"errors":{"velero":[" name: /data message: /Error backing up item error: /error executing custom action (groupResource=persistentvolumeclaims, namespace=logging, name=data): rpc error: code = Unknown desc = snapshot failed"]},"warnings":{}}`
)

// compare returns the document of backups --compare.
func (b *inBucket) compare(args ...string) (*backups.Document, outcome) {
	b.t.Helper()
	o := b.run(append([]string{"backups", "s3://velero/mgmt", "--compare", "--format", "json"}, args...)...)
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		b.t.Fatalf("status %d: %s", o.code, o.stderr)
	}
	return &doc, o
}

// withoutWorkers returns the backup without two of the workers of alpha-prod.
func withoutWorkers(t *testing.T, body []byte) []byte {
	left := map[string]bool{}
	return backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
		resource, name := itemOf(item)
		if resource != "machines.cluster.x-k8s.io" || !strings.HasPrefix(name, "alpha-prod-md-0-") {
			return body, true
		}
		if len(left) < 2 {
			left[name] = true
		}
		return body, !left[name]
	})
}

// bareOf returns a backup without the objects of Cluster API.
func bareOf(t *testing.T, body []byte) []byte {
	return backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
		resource, _ := itemOf(item)
		return body, !strings.Contains(resource, "cluster.x-k8s.io")
	})
}

func wellBody(t *testing.T) (*world, []byte) {
	t.Helper()
	w := well(t)
	body, err := os.ReadFile(w.backups[0])
	if err != nil {
		t.Fatal(err)
	}
	return w, body
}

// TestAVolumeThatFailedIsNoLostCluster: the newest holds every object; Velero calls it
// PartiallyFailed, for a snapshot of another namespace.
func TestAVolumeThatFailedIsNoLostCluster(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	began := backuptest.Written
	b.store(
		storedAs{name: "old", phase: "Completed", began: began.Add(-48 * time.Hour), tarball: withoutWorkers(t, body)},
		storedAs{name: "new", phase: "PartiallyFailed", errors: 1, began: began, tarball: body, results: volumeFailed, objects: ofClusters},
	)
	doc, o := b.compare(w.reach()...)
	c := doc.Comparison
	if c.Best != "new" || len(c.Clusters) > 0 {
		t.Errorf("best %s: %s, %+v\n%s", c.Best, c.Why, c.Clusters, o.stderr)
	}
	out := filepath.Join(t.TempDir(), "r.json")
	b.run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/new", "-o", out}, w.reach()...)...).demand(t, cli.ExitOK)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); strings.Contains(s, "BackupNotCompleted") || !strings.Contains(s, "BackupErrorsElsewhere") || !strings.Contains(s, `"safe": "yes"`) {
		t.Errorf("%.2000s", s)
	}
}

// TestBackupsOfApplicationsAreOthers: they are rows of their own, whatever says that no
// cluster is in them, and take nothing from the backup of the clusters.
func TestBackupsOfApplicationsAreOthers(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	began, app := backuptest.Written, bareOf(t, body)
	b.store(
		storedAs{name: "mgmt-1", phase: "Completed", began: began.Add(-time.Hour), tarball: body, objects: ofClusters},
		storedAs{name: "mgmt-2", phase: "Completed", began: began, tarball: body, objects: ofClusters},
	)
	for i := range 6 {
		s := storedAs{name: fmt.Sprintf("app-%d", i), schedule: "app", phase: "Completed", began: began.Add(time.Duration(i+1) * time.Hour), tarball: app}
		switch i % 3 {
		case 0:
			s.objects = ofApplication
		case 1:
			s.spec = map[string]any{"includedNamespaces": []string{"shop"}}
		case 2:
			s.spec = map[string]any{"includedResources": []string{"deployments"}}
		}
		b.store(s)
	}
	doc, o := b.compare(w.reach()...)
	if c := doc.Comparison; c.Best != "mgmt-2" || !c.Complete || o.code != cli.ExitOK || len(c.Compared) != 2 {
		t.Errorf("status %d, best %s: %s, %d compared\n%s", o.code, c.Best, c.Why, len(c.Compared), o.stderr)
	}
	empty := 0
	for _, row := range doc.Backups {
		if row.Empty && row.Restorable {
			empty++
		}
	}
	if empty != 5 || doc.Summary.Left != 1 || doc.Summary.Newest != "mgmt-2" { // of each schedule the newest five
		t.Errorf("%d rows hold no cluster, newest %s", empty, doc.Summary.Newest)
	}
	b.store(storedAs{name: "bare", phase: "Completed", began: began.Add(10 * time.Hour), tarball: app}) // nothing but its tarball says so
	if doc, o := b.compare(append(w.reach(), "--last", "1")...); doc.Comparison.Best != "mgmt-2" || o.code != cli.ExitOK || doc.Summary.Newest != "mgmt-2" {
		t.Errorf("status %d, best %s, newest %s\n%s", o.code, doc.Comparison.Best, doc.Summary.Newest, o.stderr)
	}
	// One of a management cluster whose clusters are gone or were moved is a newer one.
	moved := storedAs{name: "moved", phase: "Completed", began: began.Add(11 * time.Hour), tarball: app, objects: `{"apps/v1/Deployment":["capi-system/capi-controller-manager"]}`}
	out := filepath.Join(t.TempDir(), "r.json")
	detect := append([]string{"detect", "--backup", "s3://velero/mgmt/backups/mgmt-2", "-o", out}, w.reach()...)
	b.store(moved)
	b.run(detect...).demand(t, cli.ExitOK)
	if text, _ := os.ReadFile(out); !strings.Contains(string(text), `"NewerBackup"`) {
		t.Error("a management cluster that has lost its clusters is no application")
	}
	moved.began = began.Add(-11 * time.Hour)
	b.store(moved)
	b.store(storedAs{name: "bare", phase: "Completed", began: began.Add(-10 * time.Hour), tarball: app})
	b.run(detect...).demand(t, cli.ExitOK)
	if text, _ := os.ReadFile(out); strings.Contains(string(text), `"NewerBackup"`) || !strings.Contains(string(text), `"safe": "yes"`) {
		t.Errorf("a backup of an application is no newer one:\n%.1500s", text)
	}
}

// TestWhatVeleroDoesNotOfferIsSaidFirst: the newest is left out, for a reason that is said
// before all else, with what it holds and how to take it.
func TestWhatVeleroDoesNotOfferIsSaidFirst(t *testing.T) {
	w, body := wellBody(t)
	began := backuptest.Written
	for phase, want := range map[string]string{
		"Finalizing": "set status.phase to Completed", "WaitingForPluginOperations": "set status.phase to Completed", "FinalizingPartiallyFailed": "set status.phase to Completed",
		"Deleting": "set status.phase to Completed", "Failed": "velero restore create --from-backup", "": "put the velero-backup.json of another backup",
	} {
		b := newBucket(t)
		errors := 0
		if phase == "FinalizingPartiallyFailed" {
			errors = 1
		}
		b.store(
			storedAs{name: "old", phase: "Completed", began: began.Add(-48 * time.Hour), tarball: withoutWorkers(t, body)},
			storedAs{name: "new", phase: phase, began: began, tarball: body, errors: errors, results: volumeFailed},
		)
		doc, o := b.compare(w.reach()...)
		c := doc.Comparison
		if c.Best != "old" || len(c.Skipped) != 1 || c.Skipped[0].Name != "new" || strings.Contains(c.Why, "it is the newest, and") || !strings.Contains(c.Skipped[0].TakeAll, want) {
			t.Errorf("%q: %s: %s, %+v\n%s", phase, c.Best, c.Why, c.Skipped, o.stderr)
			continue
		}
		if phase != "Failed" && c.Skipped[0].Holds != "better" {
			t.Errorf("%q: %+v", phase, c.Skipped[0])
		}
		text := b.run(append([]string{"backups", "s3://velero/mgmt", "--compare"}, w.reach()...)...)
		said, _, _ := strings.Cut(text.stdout, "\nNAME")
		if !strings.Contains(said, "Left out: new, newer") {
			t.Errorf("%q: not said before the tables:\n%s", phase, text.stdout)
		}
		list := b.run("backups", "s3://velero/mgmt")
		said, _, _ = strings.Cut(list.stdout, "\nNAME")
		if !strings.Contains(said, "Left out: new, newer") || !strings.Contains(said, "is old;") {
			t.Errorf("%q: not said before the list:\n%s", phase, list.stdout)
		}
	}
}

// TestFailedBackupsHaveAWayOut: Velero offers none, and what they hold is said.
func TestFailedBackupsHaveAWayOut(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	for i, name := range []string{"one", "two"} {
		b.store(storedAs{name: name, phase: "Failed", began: backuptest.Written.Add(time.Duration(i) * time.Hour), tarball: body})
	}
	doc, o := b.compare(w.reach()...)
	if c := doc.Comparison; o.code != cli.ExitOK || c.Best != "" || len(c.Compared) != 2 || c.Compared[0].Machines.Healthy == 0 || len(c.Skipped) != 2 {
		t.Errorf("status %d, %+v\n%s", o.code, c, o.stderr)
	}
	for _, args := range [][]string{{}, append([]string{"--compare"}, w.reach()...)} {
		o := b.run(append([]string{"backups", "s3://velero/mgmt"}, args...)...)
		if text := strings.Join(strings.Fields(o.stdout), " "); !strings.Contains(text, "velero restore create --from-backup NAME") || !strings.Contains(text, "detect --backup s3://velero/mgmt/backups/two") {
			t.Errorf("%s: no way out:\n%s", args, o.stdout)
		}
	}
}

// TestAWrongClockChoosesNothing: a backup that began after now is said to be misdated, and is
// not the newest.
func TestAWrongClockChoosesNothing(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	b.store(
		storedAs{name: "right", phase: "Completed", began: backuptest.Written, tarball: body, objects: ofClusters},
		storedAs{name: "skewed", phase: "Completed", began: time.Now().Add(1000 * time.Hour), tarball: body, objects: ofClusters},
	)
	doc, _ := b.compare(w.reach()...)
	if doc.Summary.Newest != "right" || doc.Comparison.Best != "right" {
		t.Errorf("newest %s, best %s: %s", doc.Summary.Newest, doc.Comparison.Best, doc.Comparison.Why)
	}
	for _, row := range doc.Backups {
		if row.Misdated != (row.Name == "skewed") || row.Misdated && !strings.Contains(strings.Join(row.Why, " "), "after it was stored") {
			t.Errorf("%+v", row)
		}
	}
}

// offeredIn returns those that a text offers, as a shell takes them apart.
func offeredIn(t *testing.T, text string) [][]string {
	t.Helper()
	var all [][]string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "drift-detector "); ok && strings.HasPrefix(line, "  ") {
			words, err := exec.Command("sh", "-c", `printf '%s\n' `+rest).Output()
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			all = append(all, strings.Split(strings.TrimSpace(string(words)), "\n"))
		}
	}
	return all
}

// TestOfferedCommandsRun: each as it is pasted, with the flags of the run, for each of two
// prefixes, one of which a shell would take apart.
func TestOfferedCommandsRun(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	for _, prefix := range []string{"mgmt", "b's two"} {
		b.store(
			storedAs{prefix: prefix, name: "one", phase: "Completed", began: backuptest.Written, tarball: body, objects: ofClusters},
			storedAs{prefix: prefix, name: "two", phase: "Finalizing", began: backuptest.Written.Add(time.Hour), tarball: body, objects: ofClusters},
		)
	}
	t.Chdir(t.TempDir())
	list := b.run("backups", "s3://velero")
	list.demand(t, cli.ExitOK)
	offered := offeredIn(t, list.stdout)
	if len(offered) != 6 || !strings.Contains(list.stdout, "\ns3://velero/mgmt:\n") || !strings.Contains(list.stdout, "s3://velero/b's two:") {
		t.Errorf("%d commands\n%s", len(offered), list.stdout)
	}
	for _, args := range offered {
		if o := runProgram(t, append(args, w.reach()...)...); o.code != cli.ExitOK { // the lab in place of its servers
			t.Errorf("%q: status %d\n%s", args, o.code, o.stderr)
		}
	}
	compared := b.run(append([]string{"backups", "s3://velero/b%27s%20two", "--compare"}, w.reach()...)...)
	compared.demand(t, cli.ExitOK)
	offered = offeredIn(t, compared.stdout)
	if len(offered) == 0 {
		t.Errorf("no command in\n%s", compared.stdout)
	}
	for _, args := range offered {
		if o := runProgram(t, args...); o.code != cli.ExitOK {
			t.Errorf("%q: status %d\n%s", args, o.code, o.stderr)
		}
	}
	several := b.run("detect", "--backup", "s3://velero/mgmt", "-o", "r.json")
	if want := "'drift-detector backups s3://velero/mgmt --s3-profile dr --s3-endpoint " + b.URL + "' lists them"; !strings.Contains(several.stderr, want) {
		t.Errorf("no %q in %s", want, several.stderr)
	}
	refused := b.run("backups", "s3://velero", "--compare")
	if refused.code != cli.ExitUsage || !strings.Contains(refused.stderr, "--compare --s3-profile dr --s3-endpoint "+b.URL) {
		t.Errorf("status %d: %s", refused.code, refused.stderr)
	}
}

// TestNoMoreIsDescribedThanIsShown: of 300 backups those that are older than what is asked for
// cost no request.
func TestNoMoreIsDescribedThanIsShown(t *testing.T) {
	b := newBucket(t)
	began := time.Now().Add(-300 * time.Hour)
	for i := range 300 {
		b.store(storedAs{name: fmt.Sprintf("n-%03d", i), phase: "Completed", began: began.Add(time.Duration(i) * time.Hour), tarball: []byte("x"), objects: ofClusters})
	}
	b.Dated(func(key string) time.Time { // stored when it was made, as it is unless a bucket is copied
		var i int
		_, _ = fmt.Sscanf(key, "mgmt/backups/n-%d/", &i)
		return began.Add(time.Duration(i) * time.Hour)
	})
	for args, want := range map[string][2]int{"": {300, 300}, "--last 3": {3, 60}, "--since 10h": {10, 15}} {
		b.Calls()
		o := b.run(append([]string{"backups", "s3://velero/mgmt", "--format", "json"}, strings.Fields(args)...)...)
		var doc backups.Document
		if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
			t.Fatal(o.stderr)
		}
		described := 0
		for _, call := range b.Calls() {
			if strings.HasSuffix(call, "velero-backup.json") {
				described++
			}
		}
		if n := len(doc.Backups); n < want[0]-1 || n > want[0] || described > want[1] || n+doc.Summary.Left != 300 {
			t.Errorf("%q: %d shown, %d left, %d descriptions read", args, n, doc.Summary.Left, described)
		}
	}
}
