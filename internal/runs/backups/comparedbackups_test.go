package backups_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report/backups"
)

// TestStoresOfSeveralClustersAreNotCompared: what another cluster has, a backup does not
// lack, and a name that two of them share names none.
func TestStoresOfSeveralClustersAreNotCompared(t *testing.T) {
	b := runs.NewBucket(t)
	body := backuptest.NewFormat("").Bytes()
	for i, prefix := range []string{"mgmt-a/", "mgmt-b/"} {
		b.PutAt(prefix, "nightly-1", backuptest.Written.Add(time.Duration(i)*time.Hour), body)
	}
	o := b.Run("backups", "s3://velero", "--compare", "--report", "nightly-1", "-o", filepath.Join(t.TempDir(), "r.json"))
	if o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "backups s3://velero/mgmt-a --compare") || !strings.Contains(o.Stderr, "backups s3://velero/mgmt-b --compare") {
		t.Errorf("%d: %s", o.Code, o.Stderr)
	}
	o = b.Run("backups", "s3://velero")
	for _, prefix := range []string{"mgmt-a", "mgmt-b"} {
		if !strings.Contains(o.Stdout, "\ns3://velero/"+prefix+":\nNAME ") {
			t.Errorf("which is whose? %s", o.Stdout)
		}
	}
	// Each is the newest of its store.
	o = b.Run("backups", "s3://velero/mgmt-a", "--compare")
	if strings.Contains(o.Stdout+o.Stderr, "mgmt-b") {
		t.Error(o.Stdout, o.Stderr)
	}
}

// TestEmptyTarballIsNoBackup: a copy that was cut off has one.
func TestEmptyTarballIsNoBackup(t *testing.T) {
	b := runs.NewBucket(t)
	b.BackUp("nightly-1", "", "Completed", backuptest.Written, []byte{})
	o := b.Run("backups", "s3://velero/mgmt", "--format", "json")
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.Stdout), &doc); err != nil {
		t.Fatal(o.Stderr)
	}
	if s := doc.Backups[0]; s.Restorable || !strings.Contains(strings.Join(s.Why, " "), "is empty") {
		t.Errorf("%+v", s)
	}
}

// TestDeadlineWithinADescription: what was cut off by --deadline is no fault of the backup.
func TestDeadlineWithinADescription(t *testing.T) {
	b := runs.NewBucket(t)
	b.BackUp("nightly-1", "", "Completed", backuptest.Written, []byte("x"))
	b.Spoil = func(_ http.ResponseWriter, r *http.Request) bool {
		hangs := strings.HasSuffix(r.URL.Path, "/velero-backup.json")
		if hangs {
			<-r.Context().Done()
		}
		return hangs
	}
	o := b.Run("detect", "--backup", "s3://velero/mgmt/backups/nightly-1", "--deadline", "500ms", "--quiet")
	if o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "the 500ms of --deadline are over before the backup was read") || strings.Contains(o.Stderr, "it is not used") {
		t.Errorf("exit status %d: %s", o.Code, o.Stderr)
	}
}

// TestDeadlineOfAPlace: a store whose listing, description or tarball goes on and on is cut
// off, and what has no --deadline of its own is cut off by a bound.
func TestDeadlineOfAPlace(t *testing.T) {
	b := runs.NewBucket(t)
	b.BackUp("nightly-1", "", "Completed", backuptest.Written, []byte("x"))
	n := 0
	fresh, drips := false, ""
	b.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case drips != "" && strings.HasSuffix(r.URL.Path, drips):
			w.Header().Set("ETag", `"e"`)
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(20 * time.Millisecond)
			}
			return true
		case drips != "" || r.URL.Query().Get("list-type") == "" || r.URL.Query().Get("delimiter") != "":
			return false
		}
		n++
		key := ""
		if fresh {
			key = fmt.Sprintf("<Contents><Key>mgmt/backups/n/%d</Key></Contents>", n)
			time.Sleep(time.Millisecond)
		}
		fmt.Fprintf(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>%s</ListBucketResult>", n, key)
		return true
	}
	o := b.Run("backups", "s3://velero/mgmt")
	if o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "does not end: 100 pages in a row hold nothing new") || n != 101 {
		t.Errorf("%d pages: exit status %d: %s", n, o.Code, o.Stderr)
	}
	fresh = true
	over := func(args ...string) {
		t.Helper()
		began := time.Now()
		o := b.Run(append(args, "--deadline", "700ms")...)
		if o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "the 700ms of --deadline are over") || time.Since(began) > 20*time.Second {
			t.Errorf("%s %s: exit status %d after %s: %s", args, drips, o.Code, time.Since(began), o.Stderr)
		}
	}
	over("backups", "s3://velero/mgmt")
	over("backups", "s3://velero/mgmt", "--compare")
	const at = "s3://velero/mgmt/backups/nightly-1"
	for _, drips = range []string{"/velero-backup.json", ".tar.gz"} {
		over("detect", "--backup", at)
		over("check", "--backup", at)
		over("releases", "--backup", at)
		over("inventory", "--backup", at, "--output", filepath.Join(t.TempDir(), "i.json"))
	}
}

// TestNoYesBesideAYoungerBackup: Velero has stored the tarball again after the younger
// one, or it is a copy in a folder.
func TestNoYesBesideAYoungerBackup(t *testing.T) {
	w := runs.Well(t)
	body, err := os.ReadFile(w.Backups[0])
	if err != nil {
		t.Fatal(err)
	}
	b := runs.NewBucket(t)
	began := backuptest.Written
	b.BackUp("n2", "", "Completed", began.Add(time.Hour), body)
	time.Sleep(1100 * time.Millisecond) // times of S3 are whole seconds
	b.BackUp("n1", "", "Completed", began, body)
	dir := t.TempDir()
	for _, name := range []string{"n1", "n2"} {
		at := filepath.Join(dir, "backups", name)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		velero := bytes.ReplaceAll([]byte(`{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"NAME"},"status":{"phase":"Completed","startTimestamp":"TIME"}}`), []byte("NAME"), []byte(name))
		at1 := began
		if name == "n2" {
			at1 = began.Add(time.Hour)
		}
		velero = bytes.ReplaceAll(velero, []byte("TIME"), []byte(at1.UTC().Format(time.RFC3339)))
		for file, text := range map[string][]byte{"velero-backup.json": velero, name + ".tar.gz": body} {
			if err := os.WriteFile(filepath.Join(at, file), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, place := range []string{"s3://velero/mgmt/backups/n1", filepath.Join(dir, "backups", "n1")} {
		out := filepath.Join(t.TempDir(), "r.json")
		o := b.Run("check", "--backup", place, "-o", out)
		text, _ := os.ReadFile(out)
		if !strings.Contains(string(text), `"NewerBackup"`) || strings.Contains(string(text), unknownCluster) {
			t.Errorf("%s: %s %s", place, text[:min(len(text), 500)], o.Stderr)
		}
	}
}

// unknownCluster is said of a newer backup that was not read.
const unknownCluster = "of the same management cluster or of another"

// TestOpenStackIsListedOnce: a token is a credential that differs at each login.
func TestOpenStackIsListedOnce(t *testing.T) {
	w, cloud := runs.OpenStackFleet(t, openstacklab.Options{})
	body, err := os.ReadFile(w.Backups[0])
	if err != nil {
		t.Fatal(err)
	}
	b := runs.NewBucket(t)
	for i, name := range []string{"n1", "n2", "n3"} {
		b.BackUp(name, "", "Completed", backuptest.Written.Add(time.Duration(i)*time.Hour), body)
	}
	o := b.Run(append([]string{"backups", "s3://velero/mgmt", "--compare", "--format", "json"}, w.WithOpenStackNodes()...)...)
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.Stdout), &doc); err != nil {
		t.Fatal(o.Stderr)
	}
	for _, row := range doc.Comparison.Compared {
		if first := doc.Comparison.Compared[0]; row.Machines != first.Machines || row.Machines.Healthy == 0 {
			t.Errorf("%s: %+v, %+v", row.Name, row.Machines, first.Machines)
		}
	}
	if given, refused := cloud.Logins(); given != 1 || refused != 0 {
		t.Errorf("%d logins, %d refused", given, refused)
	}
	revoked := 0
	for call, n := range cloud.Calls() {
		if strings.Contains(call, "DELETE") {
			revoked += n
		}
	}
	if revoked != 1 {
		t.Errorf("%d tokens revoked of %v", revoked, cloud.Calls())
	}
}
