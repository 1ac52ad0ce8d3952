package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/formats"
)

// Of a management cluster that runs nothing is said of a backup, in any format.
func TestLiveSubject(t *testing.T) {
	t.Parallel()
	cloud, _ := openstackFleet(t, openstacklab.Options{})
	for name, w := range map[string]*world{"fleet": fleet(t), "restored": restored(t), "OpenStack": cloud} {
		_, from := management(t, w.backups[0])
		for _, more := range [][]string{nil, {"--skip-access-apiserver"}} {
			shown := w.run(slices.Concat(from, w.reach(), more, []string{"--summary"})...)
			said := map[string]string{"screen": shown.stdout, "stderr": shown.stderr}
			for _, f := range formats.Report.Names() {
				file := filepath.Join(t.TempDir(), "report")
				runProgram(t, slices.Concat([]string{"render", filepath.Join(w.dir, "report.json"), "-o", file, "--format", f})...).demand(t, exitOK)
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				said[f] = string(text)
			}
			for format, text := range said {
				text = backupFields.ReplaceAllString(text, "")
				shown := 0
				for rest := strings.ToLower(text); shown < 9; shown++ {
					before, after, found := strings.Cut(rest, "backup")
					if !found {
						break
					}
					t.Errorf("%s, %s: %q", name, format, before[max(0, len(before)-70):]+"BACKUP"+after[:min(len(after), 60)])
					rest = after
				}
			}
		}
	}
}

// backupFields are what fields, metrics, labels, properties and classes are called, and places of the labs.
var backupFields = regexp.MustCompile(`"[A-Za-z]*[bB]ackups?[A-Za-z]*":|drift_detector_backup_[a-z_]+|[{,]backup=|name="backup\.|class="backup`)
