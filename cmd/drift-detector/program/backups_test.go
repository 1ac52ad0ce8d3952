package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/infra/store/storetest"
	"drift-detector/internal/cli"
	"drift-detector/report"
	"drift-detector/report/backups"
)

// inBucket runs a command on a store that holds the files, with the credential in the
// profile of a file of the operator's.
type inBucket struct {
	*storetest.Store
	t    *testing.T
	args []string
}

func newBucket(t *testing.T) *inBucket {
	t.Helper()
	b := &inBucket{Store: storetest.Start(t, false), t: t}
	b.Now = clock // a backup without description began when it was stored: not after a run that takes minutes
	file := filepath.Join(t.TempDir(), "credentials")
	text := fmt.Sprintf("[dr]\naws_access_key_id = %s\naws_secret_access_key = %s\n", storetest.KeyID, storetest.Secret)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	b.args = []string{"--s3-profile", "dr", "--s3-endpoint", b.URL}
	return b
}

func (b *inBucket) run(args ...string) outcome {
	return runProgram(b.t, append(args, b.args...)...)
}

// put stores a backup as Velero does, with what it says of it.
func (b *inBucket) put(name, schedule, phase string, began time.Time, tarball []byte) {
	labels := map[string]string{}
	if schedule != "" {
		labels["velero.io/schedule-name"] = schedule
	}
	text, _ := json.Marshal(map[string]any{
		"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": map[string]any{"name": name, "namespace": "velero", "labels": labels},
		"status": map[string]any{"phase": phase, "formatVersion": "1.1.0", "startTimestamp": began.UTC().Format(time.RFC3339), "expiration": began.Add(30 * 24 * time.Hour).UTC().Format(time.RFC3339)},
	})
	b.Put("velero", "mgmt/backups/"+name+"/velero-backup.json", text)
	if tarball != nil {
		b.Put("velero", "mgmt/backups/"+name+"/"+name+".tar.gz", tarball)
	}
}

// piped runs the program with standard input.
func piped(t *testing.T, stdin []byte, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s := &cli.Streams{Stdin: bytes.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: clock}
	code := Run(t.Context(), append([]string{"drift-detector"}, args...), s)
	return outcome{code: code, stdout: stdout.String(), stderr: stderr.String()}
}

// TestEveryPlaceGivesOneReport: from a file, a folder, a bucket, standard input and a URL
// the report is the same, but for the name of the backup.
func TestEveryPlaceGivesOneReport(t *testing.T) {
	b := newBucket(t)
	b.PutFolder(t, "velero", "mgmt-cluster-1/", testdata+"bucket/mgmt-cluster-1")
	file := testdata + "bucket/mgmt-cluster-1/backups/mgmt-full"
	body, err := os.ReadFile(file + "/mgmt-full.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	report := func(stdin []byte, place string) string {
		out := filepath.Join(t.TempDir(), "r.json")
		args := append([]string{"check", "--backup", place, "-o", out}, b.args...)
		o := piped(t, stdin, args...)
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatalf("%s: %s", place, o.stderr)
		}
		if strings.HasPrefix(place, "s3:") && !strings.Contains(o.stderr, "reading bucket velero at "+b.URL+": with your own AWS profile dr (--s3-profile)") {
			t.Errorf("%s: who reads it is not said: %s", place, o.stderr)
		}
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		for _, named := range doc["backups"].([]any) {
			named.(map[string]any)["path"] = "x"
		}
		for _, found := range doc["checks"].([]any) {
			if f := found.(map[string]any); strings.HasPrefix(f["object"].(string), "backup ") {
				f["object"] = "backup x"
			}
		}
		delete(doc, "generatedAt")
		text, _ = json.Marshal(doc)
		return string(text)
	}
	want := report(nil, file)
	for _, place := range []string{file + "/mgmt-full.tar.gz", testdata + "bucket", "s3://velero/mgmt-cluster-1/backups/mgmt-full", "s3://velero"} {
		if got := report(nil, place); got != want {
			t.Errorf("%s: %s", place, firstDifference(want, got))
		}
	}
	// What is beside the tarball is out of reach of these two.
	url := b.URL + "/velero/mgmt-cluster-1/backups/mgmt-full/mgmt-full.tar.gz?X-Amz-Credential=" + storetest.KeyID + "&X-Amz-Signature=c4n4ry"
	in, signed := report(body, "-"), report(nil, url)
	if in != signed {
		t.Error(firstDifference(in, signed))
	}
}

// shapes makes twelve backups of the lab's fleet, the newest last: some from before the
// drift and some from after it.
func (b *inBucket) shapes(before, after []byte) {
	at := backuptest.Written
	without := func(body []byte, drop func(resource, item string) bool) []byte {
		return backuptest.Rewrite(b.t, body, func(item string, body []byte) ([]byte, bool) {
			resource, _ := itemOf(item)
			return body, !drop(resource, item)
		})
	}
	b.put("weekly-1", "weekly", "Completed", at, before)
	b.put("nightly-1", "nightly", "Completed", at.Add(1*time.Hour), before)
	b.put("nightly-2", "nightly", "PartiallyFailed", at.Add(2*time.Hour), before)
	b.put("nightly-3", "nightly", "Failed", at.Add(3*time.Hour), before)
	b.put("weekly-2", "weekly", "Completed", at.Add(24*time.Hour), after)
	b.put("nightly-4", "nightly", "Completed", at.Add(25*time.Hour), without(after, func(_, item string) bool { return strings.Contains(item, "/tenant-beta/") }))
	b.put("nightly-5", "nightly", "Completed", at.Add(26*time.Hour), without(after, func(resource, _ string) bool { return resource == "secrets" }))
	b.put("nightly-6", "nightly", "InProgress", at.Add(27*time.Hour), nil)
	b.put("nightly-7", "nightly", "Failed", at.Add(28*time.Hour), after)
	b.put("nightly-8", "nightly", "Deleting", at.Add(29*time.Hour), after)
	b.put("nightly-9", "nightly", "WaitingForPluginOperations", at.Add(30*time.Hour), after)
	b.Put("velero", "mgmt/backups/nightly-X/nightly-X.tar.gz", after)
}

func TestBackupsAreListed(t *testing.T) {
	b := newBucket(t)
	empty := backuptest.NewFormat("").Bytes()
	b.shapes(empty, empty)
	o := b.run("backups", "s3://velero/mgmt", "--format", "json")
	o.demand(t, cli.ExitOK)
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range doc.Backups {
		got = append(got, fmt.Sprintf("%s %v", s.Name, s.Restorable))
	}
	want := "nightly-X false, nightly-9 false, nightly-8 false, nightly-7 false, nightly-6 false, nightly-5 true, nightly-4 true, weekly-2 true, nightly-3 false, nightly-2 true, nightly-1 true, weekly-1 true"
	if strings.Join(got, ", ") != want || doc.Summary.Newest != "nightly-5" || doc.Summary.Restorable != 6 {
		t.Errorf("%s\n%+v", strings.Join(got, ", "), doc.Summary)
	}
	if calls := strings.Join(b.Calls(), "\n"); strings.Contains(calls, ".tar.gz") || strings.Count(calls, "LIST") != 2 {
		t.Errorf("calls:\n%s", calls)
	}
	o = b.run("backups", "s3://velero/mgmt", "--schedule", "weekly")
	o.demand(t, cli.ExitOK)
	if !strings.Contains(o.stdout, "2 backups with --schedule weekly, 2 can be restored") || strings.Contains(o.stdout, "\nnightly") {
		t.Error(o.stdout)
	}
	o = b.run("backups", "s3://velero/mgmt", "--schedule", "nope")
	if want := "--schedule nope: s3://velero/mgmt holds no backup of such a schedule; it holds those of nightly, weekly\n"; o.code != cli.ExitUsage || o.stdout != "" || !strings.Contains(o.stderr, want) {
		t.Errorf("status %d, no %q in\n%s\n%s", o.code, want, o.stderr, o.stdout)
	}
	// One that can't be read may be of the schedule.
	b.Put("velero", "mgmt/backups/nightly-9/velero-backup.json", []byte("no JSON"))
	b.run("backups", "s3://velero/mgmt", "--schedule", "nope").demand(t, cli.ExitIncomplete)
}

// TestTheRightBackupIsNamed: each row is what detect says of that backup alone, the
// infrastructure is asked once, and the newest is not the best.
func TestTheRightBackupIsNamed(t *testing.T) {
	w := restored(t)
	read := func(file string) []byte {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	b := newBucket(t)
	b.shapes(read(testdata+"fleet-data.tar.gz"), read(w.backups[0]))
	kept := filepath.Join(t.TempDir(), "kept.json")
	reach := append(w.reach(), "--aws-ambient")
	o := b.run(append([]string{"backups", "s3://velero", "--compare", "--last", "6", "--report", "nightly-1", "-o", kept}, reach...)...)
	if o.code != cli.ExitOK && o.code != cli.ExitIncomplete {
		t.Fatal(o.stderr)
	}
	t.Log(o.stdout, o.stderr)
	pages, logins := 0, w.vcenter.Logins()
	w.vcenter.Front(func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte("summary.config.vmPathName")) {
			pages++
		}
		next.ServeHTTP(rw, r)
	})
	j := b.run(append([]string{"backups", "s3://velero", "--compare", "--last", "6", "--format", "json"}, reach...)...)
	if now := w.vcenter.Logins(); now.OK != logins.OK+1 || now.Open() != 0 || pages != 1 {
		t.Errorf("six backups are compared with %d logins, %d lists of VMs, and %d sessions are open", now.OK-logins.OK, pages, now.Open())
	}
	var doc backups.Document
	if err := json.Unmarshal([]byte(j.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	c := doc.Comparison
	if c.Best != "weekly-2" || !strings.Contains(c.Why, "nightly-5") {
		t.Errorf("best %s: %s", c.Best, c.Why)
	}
	for _, row := range c.Compared {
		out := filepath.Join(t.TempDir(), "alone.json")
		alone := b.run(append([]string{"detect", "--backup", row.Place, "-o", out}, reach...)...)
		f, err := os.Open(out)
		if err != nil {
			t.Fatal(alone.stderr)
		}
		r, err := report.Read(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		borrowed := slices.Contains([]string{"nightly-5"}, row.Name) // it has no credential of its own
		if want := backups.Of(row.Name, row.Place, r); !borrowed && (want.Machines != row.Machines || want.Safe != row.Safe || want.Confirm != row.Confirm || !slices.Equal(want.Lacks, row.Lacks)) {
			t.Errorf("%s: alone %+v, compared %+v", row.Name, want, row)
		}
		if row.Name == "nightly-1" {
			// Whether a newer one is of the same management cluster, only who reads both knows.
			together, single := outcome{json: read(kept)}, outcome{json: read(out)}
			one, other := together.withoutTime(t), strings.ReplaceAll(single.withoutTime(t), " is in the same place, "+unknownCluster+", and", "")
			if one != other {
				t.Error(firstDifference(one, other))
			}
		}
	}
}

// TestADryRunOfAComparisonContactsNothing: it reads the backups, and says of each place
// once, and of a credential that an older backup has, what the comparison would do.
func TestADryRunOfAComparisonContactsNothing(t *testing.T) {
	w := fleet(t)
	b := newBucket(t)
	body, err := os.ReadFile(w.backups[0])
	if err != nil {
		t.Fatal(err)
	}
	b.put("one", "", "Completed", backuptest.Written, body)
	b.put("two", "", "Completed", backuptest.Written.Add(time.Hour), body)
	b.put("three", "", "Completed", backuptest.Written.Add(2*time.Hour), []byte("no tarball"))
	contacted := 0
	w.vcenter.Front(func(http.ResponseWriter, *http.Request, http.Handler) { contacted++ })
	dry := append([]string{"backups", "s3://velero", "--compare", "--dry-run"}, w.reach()...)
	o := b.run(dry...)
	o.demand(t, cli.ExitOK)
	if contacted != 0 || strings.Count(o.stdout, "\nvsphere ") != 1 || strings.Contains(o.stdout, "SAFE TO RESTORE") || !strings.Contains(o.stderr, "warning: three is not compared: ") {
		t.Errorf("%d calls\n%s\n%s", contacted, o.stdout, o.stderr)
	}
	if o := b.run(append(dry, "--last", "1")...); o.code != cli.ExitUsage {
		t.Errorf("no backup was read: status %d\n%s", o.code, o.stderr)
	}
	if o := b.run(append(dry, "--inventory", "inventory.json")...); o.code != cli.ExitUsage || !strings.Contains(o.stderr, "exclude each other") {
		t.Errorf("status %d\n%s", o.code, o.stderr)
	}
}

func TestPlacesThatAreNotListed(t *testing.T) {
	for _, place := range []string{"https://h/b/x.tar.gz?c4n4ry", "gs://velero/mgmt", "file:///velero"} {
		o := runProgram(t, "backups", place)
		if o.code != cli.ExitUsage || !strings.Contains(o.stderr, "s3://BUCKET, or in a folder") || strings.Contains(o.stderr, "c4n4ry") {
			t.Errorf("%s: status %d: %s", place, o.code, o.stderr)
		}
	}
}

// TestFlagsOfAComparisonAreNotIgnored: a list takes none of them, unless a variable is set
// for another command.
func TestFlagsOfAComparisonAreNotIgnored(t *testing.T) {
	place := testdata + "bucket/mgmt-cluster-1"
	for _, args := range [][]string{
		{"--inventory", "inventory.json"},
		{"--report", "mgmt-full", "-o", t.TempDir() + "/r.json"},
		{"--dry-run"},
		{"--cluster", "a"},
		{"--namespace", "a"},
		{"--selector", "a=b"},
		{"--endpoint", "a=b"},
		{"--skip-access-apiserver"},
		{"--insecure-skip-verify"},
		{"--timeout", "5s"},
		{"--aws-ambient"},
		{"--openstack-cloud", "x"},
	} {
		o := runProgram(t, append([]string{"backups", place}, args...)...)
		if o.code != cli.ExitUsage || o.stdout != "" || !strings.Contains(o.stderr, args[0]+" without --compare") {
			t.Errorf("%s: status %d\n%s%s", args, o.code, o.stdout, o.stderr)
		}
	}
	o := runProgram(t, "backups", place, "--aws-ambient", "--inventory", "i.json")
	if o.code != cli.ExitUsage || !strings.Contains(o.stderr, "--aws-ambient and --inventory without --compare") {
		t.Errorf("status %d\n%s", o.code, o.stderr)
	}
	t.Setenv("DRIFT_DETECTOR_ENDPOINT", "a=b")
	runProgram(t, "backups", place, "--quiet", "--deadline", "1m", "--since", "2020-01-01", "--format", "json").demand(t, cli.ExitOK)
}

// Where no backup can be read nothing is decided, and nothing is written.
func TestNoneCanBeRead(t *testing.T) {
	b := newBucket(t)
	b.put("one", "", "Completed", backuptest.Written, []byte("no tarball"))
	b.put("two", "", "Completed", backuptest.Written.Add(time.Hour), []byte("no tarball"))
	o := b.run("backups", "s3://velero", "--compare")
	if o.code != cli.ExitUsage || o.stdout != "" || !strings.Contains(o.stderr, "no backup that was to be compared could be read (2 in all)") {
		t.Errorf("status %d\n%s\n%s", o.code, o.stdout, o.stderr)
	}
}

// TestBackupsOfSeveralManagementClusters: two of them back up to one place. Which one is
// lost is for the operator to say: the other one runs, and must not be restored over it.
func TestBackupsOfSeveralManagementClusters(t *testing.T) {
	body, err := os.ReadFile(testdata + "fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	// Each has a cluster of its own, by its endpoint, unless it was moved.
	of := func(uid, endpoint string) []byte {
		return backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
			resource, _ := itemOf(item)
			if resource != "clusters.cluster.x-k8s.io" && !strings.HasSuffix(item, "/cluster/kube-system.json") {
				return body, true
			}
			var o map[string]any
			if err := json.Unmarshal(body, &o); err != nil {
				t.Fatal(err)
			}
			if resource == "clusters.cluster.x-k8s.io" {
				o["spec"].(map[string]any)["controlPlaneEndpoint"] = map[string]any{"host": endpoint, "port": 6443}
			} else {
				o["metadata"].(map[string]any)["uid"] = uid
			}
			body, _ = json.Marshal(o)
			return body, true
		})
	}
	b := newBucket(t)
	for i, uid := range []string{"east", "west", "east"} {
		b.put("nightly-"+string(rune('1'+i)), "nightly", "Completed", backuptest.Written.Add(time.Duration(i)*time.Hour), of(uid, uid+".corp"))
	}
	nothing := filepath.Join(t.TempDir(), "inventory.json")
	if err := os.WriteFile(nothing, []byte(`{"inventoryVersion": "1", "listings": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	compare := []string{"backups", "s3://velero", "--compare", "--inventory", nothing}
	o := b.run(append(compare, "--format", "json")...)
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		t.Fatal(err, o.stderr)
	}
	c := doc.Comparison
	if c.Best != "" || len(c.ManagementClusters) != 2 || c.ManagementClusters[0].Best != "nightly-3" || c.ManagementClusters[1].Best != "nightly-2" {
		t.Errorf("best %q, %+v", c.Best, c.ManagementClusters)
	}
	for name, want := range map[string]bool{"nightly-3": false, "nightly-2": false, "nightly-1": true} {
		out := filepath.Join(t.TempDir(), "r.json")
		b.run(append(compare, "--report", name, "-o", out)...)
		if text, _ := os.ReadFile(out); len(text) == 0 || strings.Contains(string(text), `"NewerBackup"`) != want {
			t.Errorf("%s: a newer backup of its management cluster: %t, want %t", name, !want, want)
		} else if strings.Contains(string(text), unknownCluster) {
			t.Errorf("%s: both were read, and are of one management cluster", name)
		}
	}
	if o := b.run("backups", "s3://velero", "--compare", "--inventory", testdata+"fleet-data.tar.gz"); o.code != cli.ExitUsage || !strings.Contains(o.stderr, "this is not an inventory") || strings.Contains(o.stderr, "to be compared") {
		t.Errorf("no inventory: status %d\n%s", o.code, o.stderr)
	}
	text := b.run(compare...)
	for _, want := range []string{"Restore none yet: these are of 2 management clusters", "Management cluster of nightly-3, nightly-1, with tenant-alpha/alpha-dev, tenant-alpha/alpha-prod, tenant-aws/aws-prod and 2 more: The best is nightly-3: "} {
		if !strings.Contains(strings.Join(strings.Fields(text.stdout), " "), want) {
			t.Errorf("no %q in\n%s\n%s", want, text.stdout, text.stderr)
		}
	}
	// A management cluster that was made again has the clusters of the one before.
	b.put("nightly-2", "nightly", "Completed", backuptest.Written.Add(time.Hour), of("west", "east.corp"))
	for name, args := range map[string][]string{"compared": append(compare, "--report", "nightly-2"), "alone": {"detect", "--backup", "s3://velero/mgmt/backups/nightly-2", "--inventory", nothing}} {
		out := filepath.Join(t.TempDir(), "r.json")
		b.run(append(args, "-o", out)...)
		if text, _ := os.ReadFile(out); !strings.Contains(string(text), "is of another management cluster that has a cluster of this backup, too") {
			t.Errorf("%s: a newer backup has the same clusters: %.300s", name, text)
		}
	}
}
