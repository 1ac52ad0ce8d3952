package check

import (
	"io"
	"time"

	"drift-detector/backup"
)

// VeleroBackup is velero-backup.json, the Backup object that is beside the
// tarball in the object store (Velero pkg/persistence/object_store_layout.go
// v1.18.1): what is used of it.
type VeleroBackup struct {
	Path string // of the file
	Outline
	Results  *Results  // what went wrong; nil where nothing beside the tarball was read
	Contents *Contents // nil where Velero's list of objects is not known
	filters  filters

	sought      map[string][]*sought // by name, see Referrers
	controllers map[string]bool      // namespaces in which controllers of Cluster API are
}

// ReadVelero reads velero-backup.json. The error is a [*backup.InputError]; it
// quotes nothing of the content, and keeps nothing of it.
func ReadVelero(path string, r io.Reader) (*VeleroBackup, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxVelero+1))
	if err != nil {
		return nil, &backup.InputError{Name: path, Problem: "can't be read", Next: nextVelero, Err: err}
	}
	v := &VeleroBackup{Path: path}
	var file outlineFile
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
	ruleElsewhere   = rule("errors elsewhere")
	ruleUnfinished  = rule("unfinished")
	// RuleUnattributed is about errors of which nothing says whether they concern a cluster.
	RuleUnattributed = rule("errors unattributed")
	ruleWarned       = rule("warned")
	ruleExpired      = rule("expired")
)

// descriptions checks what Velero says of each backup as a whole.
func descriptions(e *examination) []Finding {
	var found []Finding
	for i, b := range e.Backups {
		v, what := e.velero(i), e.tarball(i)
		if i < len(e.options.Unread) && e.options.Unread[i] != "" {
			found = append(found, RuleUnattributed.On(i, what, "whether Velero counted errors is not known: %s", e.options.Unread[i]))
			continue
		}
		if v == nil {
			found = append(found, ruleUndescribed.On(i, what, "no %s is known", VeleroFile))
			continue
		}
		if !v.Of(b) {
			found = append(found, ruleOther.On(i, what, "%s describes backup %s, which ran at another time", v.Path, v.Name))
			continue
		}
		found = append(found, e.ending(i, v)...)
		if at := v.Expires; !at.IsZero() && e.options.Now.After(at) {
			found = append(found, ruleExpired.On(i, what, "backup %s expired on %s", v.Name, at.Format(time.DateOnly)))
		}
	}
	return found
}
