package program

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
)

// detected returns the report of a backup of the bucket, as text, and what the run printed.
func (b *inBucket) detected(w *world, name string) (string, outcome) {
	b.t.Helper()
	out := filepath.Join(b.t.TempDir(), "r.json")
	o := b.run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/" + name, "-o", out}, w.reach()...)...)
	text, err := os.ReadFile(out)
	if err != nil {
		b.t.Fatal(err, o.stderr)
	}
	return string(text), o
}

// A description that is there and can't be read says nothing of errors: that is no YES, whatever
// the backup holds.
func TestADescriptionThatCannotBeReadIsNoYES(t *testing.T) {
	w, body := wellBody(t)
	for name, damage := range map[string]func([]byte) []byte{
		"whole":     func(text []byte) []byte { return text },
		"cut":       func(text []byte) []byte { return text[:len(text)/2] },
		"empty":     func([]byte) []byte { return nil },
		"no object": func([]byte) []byte { return []byte("null") },
		"nothing":   func([]byte) []byte { return []byte("{}") },
	} {
		b := newBucket(t)
		b.store(storedAs{name: "one", phase: "Completed", began: backuptest.Written, tarball: body})
		text := damage(fmt.Appendf(nil, `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"one"},"status":{"phase":"Completed","formatVersion":"1.1.0","startTimestamp":%q}}`,
			backuptest.Written.UTC().Format(time.RFC3339)))
		b.Put("velero", "mgmt/backups/one/velero-backup.json", text)
		report, o := b.detected(w, "one")
		if got := strings.Contains(report, `"BackupErrorsUnclear"`); got != (name != "whole") || strings.Contains(report, `"safe": "yes"`) != (name == "whole") {
			t.Errorf("%s: errors are unclear: %t\n%s", name, got, o.stdout)
		}
		if complete := strings.Contains(report, `"complete": true`); o.code != cli.ExitOK || !complete { // no verdict rests on it
			t.Errorf("%s: status %d, complete %t", name, o.code, complete)
		}
		folder := t.TempDir()
		for file, content := range map[string][]byte{"one.tar.gz": body, "velero-backup.json": text} {
			if err := os.WriteFile(filepath.Join(folder, file), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := w.run(append([]string{"--backup", filepath.Join(folder, "one.tar.gz"), "--fail-on", "unknown"}, w.reach()...)...)
		if (r.code == cli.ExitFailOn) != (name != "whole") {
			t.Errorf("%s: status %d with --fail-on unknown", name, r.code)
		}
		if yes := r.report.Summary.Answer.Safe == "yes"; yes != (name == "whole") {
			t.Errorf("%s, in a folder: %s\n%s", name, r.report.Summary.Answer.Safe, r.stderr)
		}
	}
}

// A newer backup that Velero does not offer is said, and one that it will offer is a newer one.
func TestNewerOnesThatVeleroDoesNotOfferAreSaid(t *testing.T) {
	w, body := wellBody(t)
	for phase, counts := range map[string]bool{"Finalizing": true, "WaitingForPluginOperations": true, "Deleting": false, "InProgress": false, "Failed": false} {
		b := newBucket(t)
		b.store(
			storedAs{name: "old", phase: "Completed", began: backuptest.Written, tarball: body},
			storedAs{name: "new", phase: phase, began: backuptest.Written.Add(time.Hour), tarball: body},
		)
		report, o := b.detected(w, "old")
		if !strings.Contains(o.stderr, "backups/new is newer than this backup, and Velero does not offer it: ") {
			t.Errorf("%s: it is not said:\n%s", phase, o.stderr)
		}
		if got := strings.Contains(report, `"NewerBackup"`); got != counts {
			t.Errorf("%s: it is a newer one: %t", phase, got)
		}
	}
}

// What detect has no time to read, the comparison reads: backups of applications take no YES.
func TestManyNewerBackupsOfApplications(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	app := bareOf(t, body)
	b.store(storedAs{name: "mgmt", phase: "Completed", began: backuptest.Written, tarball: body})
	for i := range 6 {
		b.store(storedAs{name: fmt.Sprintf("app-%d", i), phase: "Completed", began: backuptest.Written.Add(time.Duration(i+1) * time.Hour), tarball: app})
	}
	if report, _ := b.detected(w, "mgmt"); !strings.Contains(report, `"NewerBackup"`) {
		t.Error("those that were not read may be newer ones")
	}
	doc, o := b.compare(append(w.reach(), "--last", "20")...)
	c := doc.Comparison
	if c.Best != "mgmt" || strings.Contains(c.Why, "NOT CLEAR") {
		t.Errorf("%s: %s\n%s", c.Best, c.Why, o.stderr)
	}
}

// TestTheNewestThatIsNotReadIsSaidFirst: one that is still running, or whose description may not be read,
// is newer than the best, and that is not said to be the newest.
func TestTheNewestThatIsNotReadIsSaidFirst(t *testing.T) {
	w, body := wellBody(t)
	for phase, status := range map[string]cli.ExitCode{"InProgress": cli.ExitOK, "Completed": cli.ExitIncomplete} {
		b := newBucket(t)
		b.store(
			storedAs{name: "old", phase: "Completed", began: backuptest.Written.Add(-48 * time.Hour), tarball: withoutWorkers(t, body)},
			storedAs{name: "new", phase: phase, began: backuptest.Written, tarball: body},
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
		o := b.run(append([]string{"backups", "s3://velero/mgmt", "--compare"}, w.reach()...)...)
		said, _, _ := strings.Cut(o.stdout, "\nNAME")
		if said = strings.Join(strings.Fields(said), " "); o.code != status || strings.Contains(said, "it is the newest, and") || !strings.Contains(said, "it is the newest that Velero offers") || !strings.Contains(said, "Left out: new, newer") {
			t.Errorf("%s: status %d\n%s%s", phase, o.code, o.stdout, o.stderr)
		}
	}
}
