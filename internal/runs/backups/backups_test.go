package backups_test

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
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/backups"
)

// piped runs the program with standard input.
func piped(t *testing.T, stdin []byte, args ...string) runs.Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s := &cli.Streams{Stdin: bytes.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: runs.Clock}
	code := runs.Program(t.Context(), append([]string{"drift-detector"}, args...), s)
	return runs.Outcome{Code: code, Stdout: stdout.String(), Stderr: stderr.String()}
}

// TestEveryPlaceGivesOneReport: from a file, a folder, a bucket, standard input and a URL
// the report is the same, but for the name of the backup.
func TestEveryPlaceGivesOneReport(t *testing.T) {
	b := runs.NewBucket(t)
	b.PutFolder(t, "velero", "mgmt-cluster-1/", runs.Testdata+"bucket/mgmt-cluster-1")
	file := runs.Testdata + "bucket/mgmt-cluster-1/backups/mgmt-full"
	body, err := os.ReadFile(file + "/mgmt-full.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	report := func(stdin []byte, place string) string {
		out := filepath.Join(t.TempDir(), "r.json")
		args := append([]string{"check", "--backup", place, "-o", out}, b.Args...)
		o := piped(t, stdin, args...)
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatalf("%s: %s", place, o.Stderr)
		}
		if strings.HasPrefix(place, "s3:") && !strings.Contains(o.Stderr, "reading bucket velero at "+b.URL+": with your own AWS profile dr (--s3-profile)") {
			t.Errorf("%s: who reads it is not said: %s", place, o.Stderr)
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
	for _, place := range []string{file + "/mgmt-full.tar.gz", runs.Testdata + "bucket", "s3://velero/mgmt-cluster-1/backups/mgmt-full", "s3://velero"} {
		if got := report(nil, place); got != want {
			t.Errorf("%s: %s", place, runs.FirstDifference(want, got))
		}
	}
	// What is beside the tarball is out of reach of these two.
	url := b.URL + "/velero/mgmt-cluster-1/backups/mgmt-full/mgmt-full.tar.gz?X-Amz-Credential=" + storetest.KeyID + "&X-Amz-Signature=c4n4ry"
	in, signed := report(body, "-"), report(nil, url)
	if in != signed {
		t.Error(runs.FirstDifference(in, signed))
	}
}

func TestBackupsAreListed(t *testing.T) {
	b := runs.NewBucket(t)
	empty := backuptest.NewFormat("").Bytes()
	b.Shapes(empty, empty)
	o := b.Run("backups", "s3://velero/mgmt", "--format", "json")
	o.Demand(t, cli.ExitOK)
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.Stdout), &doc); err != nil {
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
	o = b.Run("backups", "s3://velero/mgmt", "--schedule", "weekly")
	o.Demand(t, cli.ExitOK)
	if !strings.Contains(o.Stdout, "2 backups with --schedule weekly, 2 can be restored") || strings.Contains(o.Stdout, "\nnightly") {
		t.Error(o.Stdout)
	}
	o = b.Run("backups", "s3://velero/mgmt", "--schedule", "nope")
	if want := "--schedule nope: s3://velero/mgmt holds no backup of such a schedule; it holds those of nightly, weekly\n"; o.Code != cli.ExitUsage || o.Stdout != "" || !strings.Contains(o.Stderr, want) {
		t.Errorf("status %d, no %q in\n%s\n%s", o.Code, want, o.Stderr, o.Stdout)
	}
	// One that can't be read may be of the schedule.
	b.Put("velero", "mgmt/backups/nightly-9/velero-backup.json", []byte("no JSON"))
	b.Run("backups", "s3://velero/mgmt", "--schedule", "nope").Demand(t, cli.ExitIncomplete)
}

// TestTheRightBackupIsNamed: each row is what detect says of that backup alone, the
// infrastructure is asked once, and the newest is not the best.
func TestTheRightBackupIsNamed(t *testing.T) {
	w := runs.Restored(t)
	read := func(file string) []byte {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	b := runs.NewBucket(t)
	b.Shapes(read(runs.Testdata+"fleet-data.tar.gz"), read(w.Backups[0]))
	kept := filepath.Join(t.TempDir(), "kept.json")
	reach := append(w.Reach(), "--aws-ambient")
	o := b.Run(append([]string{"backups", "s3://velero", "--compare", "--last", "6", "--report", "nightly-1", "-o", kept}, reach...)...)
	if o.Code != cli.ExitOK && o.Code != cli.ExitIncomplete {
		t.Fatal(o.Stderr)
	}
	t.Log(o.Stdout, o.Stderr)
	pages, logins := 0, w.VCenter.Logins()
	w.VCenter.Front(func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte("summary.config.vmPathName")) {
			pages++
		}
		next.ServeHTTP(rw, r)
	})
	j := b.Run(append([]string{"backups", "s3://velero", "--compare", "--last", "6", "--format", "json"}, reach...)...)
	if now := w.VCenter.Logins(); now.OK != logins.OK+1 || now.Open() != 0 || pages != 1 {
		t.Errorf("six backups are compared with %d logins, %d lists of VMs, and %d sessions are open", now.OK-logins.OK, pages, now.Open())
	}
	var doc backups.Document
	if err := json.Unmarshal([]byte(j.Stdout), &doc); err != nil {
		t.Fatal(err)
	}
	c := doc.Comparison
	if c.Best != "weekly-2" || !strings.Contains(c.Why, "nightly-5") {
		t.Errorf("best %s: %s", c.Best, c.Why)
	}
	for _, row := range c.Compared {
		out := filepath.Join(t.TempDir(), "alone.json")
		alone := b.Run(append([]string{"detect", "--backup", row.Place, "-o", out}, reach...)...)
		f, err := os.Open(out)
		if err != nil {
			t.Fatal(alone.Stderr)
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
			together, single := runs.Outcome{JSON: read(kept)}, runs.Outcome{JSON: read(out)}
			one, other := together.WithoutTime(t), strings.ReplaceAll(single.WithoutTime(t), " is in the same place, "+unknownCluster+", and", "")
			if one != other {
				t.Error(runs.FirstDifference(one, other))
			}
		}
	}
}

// TestADryRunOfAComparisonContactsNothing: it reads the backups, and says of each place
// once, and of a credential that an older backup has, what the comparison would do.
func TestADryRunOfAComparisonContactsNothing(t *testing.T) {
	w := runs.Fleet(t)
	b := runs.NewBucket(t)
	body, err := os.ReadFile(w.Backups[0])
	if err != nil {
		t.Fatal(err)
	}
	b.BackUp("one", "", "Completed", backuptest.Written, body)
	b.BackUp("two", "", "Completed", backuptest.Written.Add(time.Hour), body)
	b.BackUp("three", "", "Completed", backuptest.Written.Add(2*time.Hour), []byte("no tarball"))
	contacted := 0
	w.VCenter.Front(func(http.ResponseWriter, *http.Request, http.Handler) { contacted++ })
	dry := append([]string{"backups", "s3://velero", "--compare", "--dry-run"}, w.Reach()...)
	o := b.Run(dry...)
	o.Demand(t, cli.ExitOK)
	if contacted != 0 || strings.Count(o.Stdout, "\nvsphere ") != 1 || strings.Contains(o.Stdout, "SAFE TO RESTORE") || !strings.Contains(o.Stderr, "warning: three is not compared: ") {
		t.Errorf("%d calls\n%s\n%s", contacted, o.Stdout, o.Stderr)
	}
	if o := b.Run(append(dry, "--last", "1")...); o.Code != cli.ExitUsage {
		t.Errorf("no backup was read: status %d\n%s", o.Code, o.Stderr)
	}
	if o := b.Run(append(dry, "--inventory", "inventory.json")...); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "exclude each other") {
		t.Errorf("status %d\n%s", o.Code, o.Stderr)
	}
}

func TestPlacesThatAreNotListed(t *testing.T) {
	for _, place := range []string{"https://h/b/x.tar.gz?c4n4ry", "gs://velero/mgmt", "file:///velero"} {
		o := runs.Run(t, "backups", place)
		if o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "s3://BUCKET, or in a folder") || strings.Contains(o.Stderr, "c4n4ry") {
			t.Errorf("%s: status %d: %s", place, o.Code, o.Stderr)
		}
	}
}

// TestFlagsOfAComparisonAreNotIgnored: a list takes none of them, unless a variable is set
// for another command.
func TestFlagsOfAComparisonAreNotIgnored(t *testing.T) {
	place := runs.Testdata + "bucket/mgmt-cluster-1"
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
		o := runs.Run(t, append([]string{"backups", place}, args...)...)
		if o.Code != cli.ExitUsage || o.Stdout != "" || !strings.Contains(o.Stderr, args[0]+" without --compare") {
			t.Errorf("%s: status %d\n%s%s", args, o.Code, o.Stdout, o.Stderr)
		}
	}
	o := runs.Run(t, "backups", place, "--aws-ambient", "--inventory", "i.json")
	if o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "--aws-ambient and --inventory without --compare") {
		t.Errorf("status %d\n%s", o.Code, o.Stderr)
	}
	t.Setenv("DRIFT_DETECTOR_ENDPOINT", "a=b")
	runs.Run(t, "backups", place, "--quiet", "--deadline", "1m", "--since", "2020-01-01", "--format", "json").Demand(t, cli.ExitOK)
}

// Where no backup can be read nothing is decided, and nothing is written.
func TestNoneCanBeRead(t *testing.T) {
	b := runs.NewBucket(t)
	b.BackUp("one", "", "Completed", backuptest.Written, []byte("no tarball"))
	b.BackUp("two", "", "Completed", backuptest.Written.Add(time.Hour), []byte("no tarball"))
	o := b.Run("backups", "s3://velero", "--compare")
	if o.Code != cli.ExitUsage || o.Stdout != "" || !strings.Contains(o.Stderr, "no backup that was to be compared could be read (2 in all)") {
		t.Errorf("status %d\n%s\n%s", o.Code, o.Stdout, o.Stderr)
	}
}

// TestBackupsOfSeveralManagementClusters: two of them back up to one place. Which one is
// lost is for the operator to say: the other one runs, and must not be restored over it.
func TestBackupsOfSeveralManagementClusters(t *testing.T) {
	body, err := os.ReadFile(runs.Testdata + "fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	// Each has a cluster of its own, by its endpoint, unless it was moved.
	of := func(uid, endpoint string) []byte {
		return backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
			resource, _ := runs.ItemOf(item)
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
	b := runs.NewBucket(t)
	for i, uid := range []string{"east", "west", "east"} {
		b.BackUp("nightly-"+string(rune('1'+i)), "nightly", "Completed", backuptest.Written.Add(time.Duration(i)*time.Hour), of(uid, uid+".corp"))
	}
	nothing := filepath.Join(t.TempDir(), "inventory.json")
	if err := os.WriteFile(nothing, []byte(`{"inventoryVersion": "1", "listings": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	compare := []string{"backups", "s3://velero", "--compare", "--inventory", nothing}
	o := b.Run(append(compare, "--format", "json")...)
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.Stdout), &doc); err != nil {
		t.Fatal(err, o.Stderr)
	}
	c := doc.Comparison
	if c.Best != "" || len(c.ManagementClusters) != 2 || c.ManagementClusters[0].Best != "nightly-3" || c.ManagementClusters[1].Best != "nightly-2" {
		t.Errorf("best %q, %+v", c.Best, c.ManagementClusters)
	}
	for name, want := range map[string]bool{"nightly-3": false, "nightly-2": false, "nightly-1": true} {
		out := filepath.Join(t.TempDir(), "r.json")
		b.Run(append(compare, "--report", name, "-o", out)...)
		if text, _ := os.ReadFile(out); len(text) == 0 || strings.Contains(string(text), `"NewerBackup"`) != want {
			t.Errorf("%s: a newer backup of its management cluster: %t, want %t", name, !want, want)
		} else if strings.Contains(string(text), unknownCluster) {
			t.Errorf("%s: both were read, and are of one management cluster", name)
		}
	}
	if o := b.Run("backups", "s3://velero", "--compare", "--inventory", runs.Testdata+"fleet-data.tar.gz"); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "this is not an inventory") || strings.Contains(o.Stderr, "to be compared") {
		t.Errorf("no inventory: status %d\n%s", o.Code, o.Stderr)
	}
	text := b.Run(compare...)
	for _, want := range []string{"Restore none yet: these are of 2 management clusters", "Management cluster of nightly-3, nightly-1, with tenant-alpha/alpha-dev, tenant-alpha/alpha-prod, tenant-aws/aws-prod and 2 more: The best is nightly-3: "} {
		if !strings.Contains(strings.Join(strings.Fields(text.Stdout), " "), want) {
			t.Errorf("no %q in\n%s\n%s", want, text.Stdout, text.Stderr)
		}
	}
	// A management cluster that was made again has the clusters of the one before.
	b.BackUp("nightly-2", "nightly", "Completed", backuptest.Written.Add(time.Hour), of("west", "east.corp"))
	for name, args := range map[string][]string{"compared": append(compare, "--report", "nightly-2"), "alone": {"detect", "--backup", "s3://velero/mgmt/backups/nightly-2", "--inventory", nothing}} {
		out := filepath.Join(t.TempDir(), "r.json")
		b.Run(append(args, "-o", out)...)
		if text, _ := os.ReadFile(out); !strings.Contains(string(text), "is of another management cluster that has a cluster of this backup, too") {
			t.Errorf("%s: a newer backup has the same clusters: %.300s", name, text)
		}
	}
}
