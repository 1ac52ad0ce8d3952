package check

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"drift-detector/backup"
)

// VeleroBackup is velero-backup.json, the Backup object that is beside the
// tarball in the object store (Velero pkg/persistence/object_store_layout.go
// v1.18.1): what is used of it.
type VeleroBackup struct {
	Path string // of the file
	Outline
	filters filters
}

// ReadVelero reads velero-backup.json. The error is a [*backup.InputError]; it
// quotes nothing of the content, and keeps nothing of it.
func ReadVelero(path string, r io.Reader) (*VeleroBackup, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxVelero+1))
	if err != nil {
		return nil, &backup.InputError{Name: path, Problem: "can't be read", Next: nextVelero, Err: err}
	}
	v := &VeleroBackup{Path: path}
	file := struct {
		outlineFile
		Spec json.RawMessage
	}{}
	if err := decode(path, text, &file); err != nil {
		return nil, err
	}
	if v.Outline, err = file.outline(path); err != nil {
		return nil, err
	}
	v.filters, err = readFilters(path, file.Spec)
	return v, err
}

// VeleroFile is the name of the file that Velero writes beside a tarball.
const VeleroFile = "velero-backup.json"

const nextVelero = "give the " + VeleroFile + " from the backup's folder in the object store, or leave it out"

// Of reports whether the description may be of a tarball: its items were written
// while the backup ran, by the same clock. Slack allows for the time between a
// step and its record. Of an undated tarball it is known only what it is not
// older than.
func (v *Outline) Of(b backup.Info) bool {
	const slack = time.Minute
	if b.WrittenTo.IsZero() {
		return true
	}
	started, ended := v.Started, v.Ended
	if !b.Undated && !started.IsZero() && b.WrittenFrom.Before(started.Add(-slack)) {
		return false
	}
	return ended.IsZero() || !b.WrittenTo.After(ended.Add(slack))
}

var (
	ruleUndescribed = rule("undescribed")
	ruleOther       = rule("other")
	ruleIncomplete  = rule("incomplete")
	ruleWarned      = rule("warned")
	ruleExpired     = rule("expired")
)

// descriptions are about what Velero says of each backup as a whole.
func descriptions(e *examination) []Finding {
	var found []Finding
	for i, b := range e.Backups {
		v, what := e.velero(i), e.tarball(i)
		if v == nil {
			found = append(found, ruleUndescribed.On(i, what, "no %s is known", VeleroFile))
			continue
		}
		if !v.Of(b) {
			found = append(found, ruleOther.On(i, what, "%s describes backup %s, which ran at another time", v.Path, v.Name))
			continue
		}
		if v.Phase != velerov1.BackupPhaseCompleted || v.Errors > 0 {
			found = append(found, ruleIncomplete.On(i, what, "phase of backup %s is %s, with %s and %s",
				v.Name, cmp.Or(v.Phase, "not recorded"), count(v.Errors, "error"), count(v.Warnings, "warning")))
		} else if v.Warnings > 0 {
			found = append(found, ruleWarned.On(i, what, "backup %s completed with %s", v.Name, count(v.Warnings, "warning")))
		}
		if at := v.Expires; !at.IsZero() && e.options.Now.After(at) {
			found = append(found, ruleExpired.On(i, what, "backup %s expired on %s", v.Name, at.Format(time.DateOnly)))
		}
	}
	return found
}
