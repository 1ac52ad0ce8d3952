package live_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report/formats"
)

// subjects returns the fleets of all labs.
func subjects(t *testing.T) map[string]*runs.World {
	cloud, _ := runs.OpenStackFleet(t, openstacklab.Options{})
	return map[string]*runs.World{"vSphere and AWS": runs.Fleet(t), "restored": runs.Restored(t), "OpenStack": cloud, "Azure": runs.AzureFleet(t, azurelab.Options{})}
}

// Of a management cluster that runs nothing is said of a backup, in any format.
func TestLiveSubject(t *testing.T) {
	t.Parallel()
	for name, w := range subjects(t) {
		_, from := runs.Management(t, w.Backups[0])
		for _, more := range [][]string{nil, {"--skip-access-apiserver"}} {
			shown := w.Run(slices.Concat(from, w.Reach(), more, []string{"--summary"})...)
			said := map[string]string{"screen": shown.Stdout, "stderr": shown.Stderr}
			said["dry run"] = runs.Run(t, slices.Concat([]string{"detect", "--dry-run"}, from, w.Reach(), more)...).Stdout
			for _, f := range formats.Report.Names() {
				file := filepath.Join(t.TempDir(), "report")
				runs.Run(t, slices.Concat([]string{"render", filepath.Join(w.Dir, "report.json"), "-o", file, "--format", f})...).Demand(t, cli.ExitOK)
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				said[f] = string(text)
			}
			for format, text := range said {
				for _, wrong := range sayBackup(backupFields.ReplaceAllString(text, "")) {
					t.Errorf("%s, %s: %q", name, format, wrong)
				}
			}
		}
	}
}

// sayBackup returns the first parts of a text that hold the word.
func sayBackup(text string) (all []string) {
	for rest := strings.ToLower(text); len(all) < 9; {
		before, after, found := strings.Cut(rest, "backup")
		if !found {
			break
		}
		all = append(all, before[max(0, len(before)-70):]+"BACKUP"+after[:min(len(after), 60)])
		rest = after
	}
	return all
}

// backupFields are what fields, metrics, labels, properties, classes and reasons are called, and what
// a VM is restored from.
var backupFields = regexp.MustCompile(`VM backup|\bMachines?NotInBackup\b|"[A-Za-z]*[bB]ackups?[A-Za-z]*":|drift_detector_backup_[a-z_]+|[{,]backup=|name="backup\.|class="backup`)

// ofOtherBackups is what check says of backups that are not read: they are older, or yet to be taken.
var ofOtherBackups = regexp.MustCompile(`[Oo]lder backup\b|\b[Tt]ake backups (then|that hold)\b|\bbefore backups are taken\b|\b[Aa] backup taken now\b|\bleaves Cluster objects out of its backups\b|"backups?":`)

func withoutOtherBackups(text string) string {
	return ofOtherBackups.ReplaceAllString(strings.Join(strings.Fields(text), " "), "")
}

// After any kind could not be read no sentence says that one of its objects is not there, and none
// speaks of the backup.
func TestLiveUnreadIsNotAbsentOfAnyKind(t *testing.T) {
	t.Parallel()
	all := subjects(t)
	delete(all, "restored") // its kinds are those of the other of vSphere
	for name, w := range all {
		t.Run(name, func(t *testing.T) {
			inventory := w.Saved(t)
			m, from := runs.Management(t, w.Backups[0])
			refused, unread := "", 0
			m.Before = func(w http.ResponseWriter, r *http.Request) bool {
				resource, group, _ := strings.Cut(refused, ".")
				if !strings.HasSuffix(r.URL.Path, "/"+resource) || !strings.Contains(r.URL.Path, group) {
					return false
				}
				unread++
				lab.Refuse(w, http.StatusForbidden, "no")
				return true
			}
			for _, refused = range m.Kinds() {
				kind := m.Kind(refused).Kind
				if unread = 0; kind == "" {
					continue
				}
				o := w.Run(slices.Concat(from, []string{"--inventory", inventory})...)
				if unread == 0 {
					continue // nobody asks for it
				}
				text := o.Stdout + o.Stderr + string(o.JSON)
				text += runs.Run(t, slices.Concat([]string{"detect", "--dry-run"}, from)...).Stdout
				o = runs.Run(t, slices.Concat([]string{"check", "--format", "text"}, from)...)
				text = backupFields.ReplaceAllString(text+withoutOtherBackups(o.Stdout+o.Stderr), "")
				absent := regexp.MustCompile(`\b` + kind + `\b[^;,.()\n]*\bnot in the management cluster|(holds no|lacks|lacks the) ` + kind + `\b`)
				for _, wrong := range slices.Concat(sayBackup(text), absent.FindAllString(text, 3)) {
					t.Errorf("without %s: %q", refused, wrong)
				}
			}
		})
	}
}
