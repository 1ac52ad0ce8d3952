package check

import (
	"fmt"
	"time"

	"drift-detector/report/code"
)

var (
	ruleAge = Rule{
		Code: "BackupAge", Severity: code.CheckInfo,
		Happens: "The backup is some hours or days old.",
		Why:     "What happened since is not in it: machines that were replaced meanwhile are Stale, their successors Ghosts.",
		Do:      "run drift-detector detect right before the restore",
	}
	ruleOld = Rule{
		Code: "BackupOld", Severity: code.CheckWarning,
		Happens: "The backup is old.",
		Why:     ruleAge.Why,
		Do:      "look for a newer backup; with this one, expect drift and run drift-detector detect right before the restore",
	}
	// RuleNewer is about a backup that is not the newest of its store.
	RuleNewer = Rule{
		Code: code.NewerBackup, Severity: code.CheckWarning,
		Happens: "The same place has a newer backup that can be restored.",
		Why:     "What was made, replaced or deleted after this backup is right in a newer one of the same management cluster: with this one it comes back as Stale, and as Ghosts.",
		Do:      "give the newer one, if it is of the same management cluster; 'drift-detector backups PLACE --compare' tells management clusters apart, and says which of the newest is the best",
	}
	ruleFuture = Rule{
		Code: "BackupFromFuture", Severity: code.CheckWarning,
		Happens: "The backup is dated after now.",
		Why:     "The clock of this machine or that of the backup's cluster is wrong: ages and expiry dates here are not to be trusted.",
		Do:      "set the clock and run again",
	}
	ruleUndated = Rule{
		Code: "BackupUndated", Severity: code.CheckWarning,
		Happens: "When the backup was written is not known.",
		Why:     "It was packed again under another time, or a clock was wrong. No VM is known to be younger than the backup: one that it lacks is a Ghost only where the backup is known to hold all machines.",
		Do:      "give the file as Velero wrote it",
	}
	ruleWindow = Rule{
		Code: "BackupWindowLong", Severity: code.CheckWarning,
		Happens: "It took long to write the backup.",
		Why:     "Its objects are not of one moment: what changed meanwhile may be there half, or twice, under the old and the new name.",
		Do:      "look closely at rollouts and scaling at that time; back up management objects apart from volumes",
	}
	ruleUnreadable = Rule{
		Code: "ItemsUnreadable", Severity: code.CheckWarning,
		Happens: "Items of the backup could not be read.",
		Why:     "What could not be read here was not compared either; Velero may restore it as it is, or fail on it.",
		Do:      "see errors in the report of drift-detector detect for each item; take another backup if they matter",
	}
)

const (
	// oldAfter allows for a backup each day, the usual schedule, and its delay.
	oldAfter = 26 * time.Hour
	// longWindow is far more than the seconds that management objects take.
	longWindow = time.Hour
	// skew is how far two clocks may be apart.
	skew = 5 * time.Minute
)

func ages(e *examination) []Finding {
	var found []Finding
	for i, b := range e.Backups {
		if b.WrittenTo.IsZero() {
			continue
		}
		age := e.options.Now.Sub(b.WrittenTo)
		if b.Undated {
			found = append(found, ruleUndated.On(i, e.tarball(i), "objects in it are younger than its entries; it may have been written at %s UTC, %s ago, or later",
				b.WrittenTo.UTC().Format("2006-01-02 15:04:05"), span(age)))
			continue
		}
		rule, says := ruleAge, "it is "+span(age)+" old"
		switch {
		case age < -skew:
			rule, says = ruleFuture, "that is "+span(-age)+" from now"
		case age > oldAfter:
			rule = ruleOld
		}
		found = append(found, rule.On(i, e.tarball(i), "written %s to %s UTC, in %s; %s",
			b.WrittenFrom.UTC().Format("2006-01-02 15:04:05"), b.WrittenTo.UTC().Format("15:04:05"), span(b.WrittenTo.Sub(b.WrittenFrom)), says))
	}
	return found
}

// NewerBackup is a backup that is younger than one that is checked.
type NewerBackup struct {
	Name    string
	Place   string // what --backup takes
	Started time.Time
	// SameCluster says that both are known to be of one management cluster: nobody knows
	// before both are read.
	SameCluster bool
}

func newer(e *examination) []Finding {
	var found []Finding
	for i, n := range e.options.Newer {
		if n == nil {
			continue
		}
		of := " is in the same place, of the same management cluster or of another, and"
		if n.SameCluster {
			of = ""
		}
		found = append(found, RuleNewer.On(i, e.tarball(i), "%s%s is %s younger: %s", n.Name, of, span(n.Started.Sub(e.Backups[i].WrittenFrom)), n.Place))
	}
	return found
}

func windows(e *examination) []Finding {
	var found []Finding
	for i, b := range e.Backups {
		if took := b.WrittenTo.Sub(b.WrittenFrom); took > longWindow {
			found = append(found, ruleWindow.On(i, e.tarball(i), "it took %s to write", span(took)))
		}
	}
	return found
}

func unreadable(e *examination) []Finding {
	problems := make([]int, len(e.Backups))
	first := make([]string, len(e.Backups))
	for _, p := range e.Problems {
		if problems[p.Backup]++; problems[p.Backup] == 1 {
			first[p.Backup] = p.Item + ": " + p.Reason
		}
	}
	var found []Finding
	for i, n := range problems {
		if n > 0 {
			found = append(found, ruleUnreadable.On(i, e.tarball(i), "%s could not be read, first %s", count(n, "item"), first[i]))
		}
	}
	return found
}

// span is a duration for people, in its two largest units.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0); {
	case d >= 3*day:
		return fmt.Sprintf("%d days", d/day)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}
