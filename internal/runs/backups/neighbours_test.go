package backups_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// A description that is there and can't be read says nothing of errors: that is no YES, whatever
// the backup holds.
func TestADescriptionThatCannotBeReadIsNoYES(t *testing.T) {
	w, body := runs.WellBody(t)
	for name, damage := range map[string]func([]byte) []byte{
		"whole":     func(text []byte) []byte { return text },
		"cut":       func(text []byte) []byte { return text[:len(text)/2] },
		"empty":     func([]byte) []byte { return nil },
		"no object": func([]byte) []byte { return []byte("null") },
		"nothing":   func([]byte) []byte { return []byte("{}") },
	} {
		b := runs.NewBucket(t)
		b.Add(runs.StoredAs{Name: "one", Phase: "Completed", Began: backuptest.Written, Tarball: body})
		text := damage(fmt.Appendf(nil, `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"one"},"status":{"phase":"Completed","formatVersion":"1.1.0","startTimestamp":%q}}`,
			backuptest.Written.UTC().Format(time.RFC3339)))
		b.Put("velero", "mgmt/backups/one/velero-backup.json", text)
		report, o := b.Detected(w, "one")
		if got := strings.Contains(report, `"BackupErrorsUnclear"`); got != (name != "whole") || strings.Contains(report, `"safe": "yes"`) != (name == "whole") {
			t.Errorf("%s: errors are unclear: %t\n%s", name, got, o.Stdout)
		}
		if complete := strings.Contains(report, `"complete": true`); o.Code != cli.ExitOK || !complete { // no verdict rests on it
			t.Errorf("%s: status %d, complete %t", name, o.Code, complete)
		}
		folder := t.TempDir()
		for file, content := range map[string][]byte{"one.tar.gz": body, "velero-backup.json": text} {
			if err := os.WriteFile(filepath.Join(folder, file), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := w.Run(append([]string{"--backup", filepath.Join(folder, "one.tar.gz"), "--fail-on", "unknown"}, w.Reach()...)...)
		if (r.Code == cli.ExitFailOn) != (name != "whole") {
			t.Errorf("%s: status %d with --fail-on unknown", name, r.Code)
		}
		if yes := r.Report.Summary.Answer.Safe == "yes"; yes != (name == "whole") {
			t.Errorf("%s, in a folder: %s\n%s", name, r.Report.Summary.Answer.Safe, r.Stderr)
		}
	}
}

// A newer backup that Velero does not offer is said, and one that it will offer is a newer one.
func TestNewerOnesThatVeleroDoesNotOfferAreSaid(t *testing.T) {
	w, body := runs.WellBody(t)
	for phase, counts := range map[string]bool{"Finalizing": true, "WaitingForPluginOperations": true, "Deleting": false, "InProgress": false, "Failed": false} {
		b := runs.NewBucket(t)
		b.Add(
			runs.StoredAs{Name: "old", Phase: "Completed", Began: backuptest.Written, Tarball: body},
			runs.StoredAs{Name: "new", Phase: phase, Began: backuptest.Written.Add(time.Hour), Tarball: body},
		)
		report, o := b.Detected(w, "old")
		if !strings.Contains(o.Stderr, "backups/new is newer than this backup, and Velero does not offer it: ") {
			t.Errorf("%s: it is not said:\n%s", phase, o.Stderr)
		}
		if got := strings.Contains(report, `"NewerBackup"`); got != counts {
			t.Errorf("%s: it is a newer one: %t", phase, got)
		}
	}
}

// What detect has no time to read, the comparison reads: backups of applications take no YES.
func TestManyNewerBackupsOfApplications(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	app := bareOf(t, body)
	b.Add(runs.StoredAs{Name: "mgmt", Phase: "Completed", Began: backuptest.Written, Tarball: body})
	for i := range 6 {
		b.Add(runs.StoredAs{Name: fmt.Sprintf("app-%d", i), Phase: "Completed", Began: backuptest.Written.Add(time.Duration(i+1) * time.Hour), Tarball: app})
	}
	if report, _ := b.Detected(w, "mgmt"); !strings.Contains(report, `"NewerBackup"`) {
		t.Error("those that were not read may be newer ones")
	}
	doc, o := b.Compare(append(w.Reach(), "--last", "20")...)
	c := doc.Comparison
	if c.Best != "mgmt" || strings.Contains(c.Why, "NOT CLEAR") {
		t.Errorf("%s: %s\n%s", c.Best, c.Why, o.Stderr)
	}
}

// TestTheNewestThatIsNotReadIsSaidFirst: one that is still running, or whose description may not be read,
// is newer than the best, and that is not said to be the newest.
func TestTheNewestThatIsNotReadIsSaidFirst(t *testing.T) {
	w, body := runs.WellBody(t)
	for phase, status := range map[string]cli.ExitCode{"InProgress": cli.ExitOK, "Completed": cli.ExitIncomplete} {
		b := runs.NewBucket(t)
		b.Add(
			runs.StoredAs{Name: "old", Phase: "Completed", Began: backuptest.Written.Add(-48 * time.Hour), Tarball: runs.WithoutWorkers(t, body)},
			runs.StoredAs{Name: "new", Phase: phase, Began: backuptest.Written, Tarball: body},
		)
		if phase == "Completed" {
			b.Spoil = func(rw http.ResponseWriter, r *http.Request) bool {
				denied := strings.HasSuffix(r.URL.Path, "/new/velero-backup.json")
				if denied {
					http.Error(rw, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
				}
				return denied
			}
		}
		o := b.Run(append([]string{"backups", "s3://velero/mgmt", "--compare"}, w.Reach()...)...)
		said, _, _ := strings.Cut(o.Stdout, "\nNAME")
		if said = strings.Join(strings.Fields(said), " "); o.Code != status || strings.Contains(said, "it is the newest, and") || !strings.Contains(said, "it is the newest that Velero offers") || !strings.Contains(said, "Left out: new, newer") {
			t.Errorf("%s: status %d\n%s%s", phase, o.Code, o.Stdout, o.Stderr)
		}
	}
}
