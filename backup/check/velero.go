package check

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"drift-detector/backup"
	"drift-detector/report/code"
)

// VeleroBackup is velero-backup.json, the Backup object that is beside the
// tarball in the object store (Velero pkg/persistence/object_store_layout.go
// v1.18.1).
type VeleroBackup struct {
	Path string // of the file
	velerov1.Backup
}

// MaxVelero bounds velero-backup.json: an object of the API server is smaller
// than its database accepts, 1.5 MiB by default.
const MaxVelero = 4 << 20

// VeleroFile is the name of the file that Velero writes beside a tarball.
const VeleroFile = "velero-backup.json"

// ReadVelero reads velero-backup.json. The error is a [*backup.InputError]; it
// quotes nothing of the content.
func ReadVelero(path string, r io.Reader) (*VeleroBackup, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxVelero+1))
	if err != nil {
		return nil, &backup.InputError{Name: path, Problem: "can't be read", Next: nextVelero, Err: err}
	}
	if len(text) > MaxVelero {
		return nil, &backup.InputError{Name: path, Problem: fmt.Sprintf("larger than %d bytes", MaxVelero), Next: nextVelero}
	}
	v := &VeleroBackup{Path: path}
	if err := json.Unmarshal(text, &v.Backup); err != nil {
		return nil, &backup.InputError{Name: path, Problem: "not the description of a backup: " + jsonFault(err), Next: nextVelero, Err: err}
	}
	group, _, _ := strings.Cut(v.APIVersion, "/")
	if group != velerov1.SchemeGroupVersion.Group || v.Kind != "Backup" || v.Name == "" {
		return nil, &backup.InputError{Name: path, Problem: "not the description of a backup: no Backup object of Velero", Next: nextVelero}
	}
	return v, nil
}

const nextVelero = "give the " + VeleroFile + " from the backup's folder in the object store, or leave it out"

// jsonFault returns what is wrong with JSON without quoting it.
func jsonFault(err error) string {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		return typ.Field + " is not of its type"
	}
	return "no valid JSON"
}

// Of reports whether the description may be of a tarball: its items were written
// while the backup ran, by the same clock. Slack allows for the time between a
// step and its record. Of an undated tarball it is known only what it is not
// older than.
func (v *VeleroBackup) Of(b backup.Info) bool {
	const slack = time.Minute
	if b.WrittenTo.IsZero() {
		return true
	}
	started, ended := v.Status.StartTimestamp, v.Status.CompletionTimestamp
	if !b.Undated && !started.IsZero() && b.WrittenFrom.Before(started.Add(-slack)) {
		return false
	}
	return ended.IsZero() || !b.WrittenTo.After(ended.Add(slack))
}

var (
	ruleUndescribed = Rule{
		Code: "VeleroBackupUnknown", Severity: code.CheckInfo,
		Happens: "Velero's own description of the backup was not given.",
		Why:     "Whether the backup ran to its end without errors, and what it was configured to leave out, is not known: an absent object may have been filtered out.",
		Do:      "give the " + VeleroFile + " that is beside the tarball in the object store with --velero-backup FILE",
	}
	ruleOther = Rule{
		Code: "VeleroBackupOfAnother", Severity: code.CheckWarning,
		Happens: "The velero-backup.json that was given is of another backup.",
		Why:     "What it says about phase and filters is about other objects; it is not used.",
		Do:      "give the " + VeleroFile + " of this backup",
	}
	ruleIncomplete = Rule{
		Code: "BackupNotCompleted", Severity: code.CheckError,
		Happens: "The backup did not complete: it failed, or only in part.",
		Why:     "Objects are missing from it, and nothing in the tarball says which.",
		Do:      "look for the errors with 'velero backup logs', or in the -results.gz and -logs.gz files beside the tarball; take another backup",
	}
	ruleWarned = Rule{
		Code: "BackupWarnings", Severity: code.CheckWarning,
		Happens: "Velero wrote warnings while it made the backup.",
		Why:     "Velero skipped something, or could not do all that it was configured to do.",
		Do:      "look for the warnings with 'velero backup logs', or in the -results.gz file beside the tarball",
	}
	ruleExpired = Rule{
		Code: "BackupExpired", Severity: code.CheckWarning,
		Happens: "The time to live of the backup is over.",
		Why:     "Velero deletes backups whose time to live is over, from the object store, too: a new Velero with access to it may do so before the restore.",
		Do:      "keep a copy of the backup's whole folder, and make the storage location read-only for the restore",
	}
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
		s := &v.Status
		if s.Phase != velerov1.BackupPhaseCompleted || s.Errors > 0 {
			found = append(found, ruleIncomplete.On(i, what, "phase of backup %s is %s, with %s and %s",
				v.Name, cmp.Or(s.Phase, "not recorded"), count(s.Errors, "error"), count(s.Warnings, "warning")))
		} else if s.Warnings > 0 {
			found = append(found, ruleWarned.On(i, what, "backup %s completed with %s", v.Name, count(s.Warnings, "warning")))
		}
		if at := s.Expiration; !at.IsZero() && e.options.Now.After(at.Time) {
			found = append(found, ruleExpired.On(i, what, "backup %s expired on %s", v.Name, at.UTC().Format(time.DateOnly)))
		}
	}
	return found
}
