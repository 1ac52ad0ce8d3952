package check

import (
	"cmp"
	"fmt"
	"time"

	"drift-detector/backup"
	"drift-detector/report/code"
)

var (
	ruleAge = rule("age")
	ruleOld = rule("old")
	// RuleNewer is about a backup that is not the newest of its store.
	RuleNewer      = rule("newer")
	ruleFuture     = rule("future")
	ruleUndated    = rule("undated")
	ruleWindow     = rule("window")
	ruleUnreadable = rule("unreadable")
)

const (
	// oldAfter allows for a backup each day, the usual schedule, and its delay.
	oldAfter = 26 * time.Hour
	// longWindow is far more than the seconds that management objects take.
	longWindow = time.Hour
)

func ages(e *examination) []Finding {
	var found []Finding
	for i := range e.Backups {
		rule, says := age(&e.Backups[i], e.options.Now, e.options.MaxAge)
		found = append(found, rule.On(i, e.tarball(i), "%s", says))
	}
	return found
}

// age says how old a backup is; most is after how long it is old, and zero is the usual.
func age(b *backup.Info, now time.Time, most time.Duration) (Rule, string) {
	if b.WrittenTo.IsZero() {
		return ruleUndated, "nothing in it says when it was written"
	}
	age, most := now.Sub(b.WrittenTo), cmp.Or(most, oldAfter)
	if b.Undated {
		return ruleUndated, fmt.Sprintf("objects in it are younger than its entries; it may have been written at %s UTC, %s ago, or later",
			b.WrittenTo.UTC().Format("2006-01-02 15:04:05"), span(age))
	}
	rule, says := ruleAge, "it is "+span(age)+" old"
	switch {
	case age < -backup.ClockSkew:
		rule, says = ruleFuture, "that is "+span(-age)+" from now"
	case age > most:
		rule, says = ruleOld, says+", more than "+span(most)
	}
	return rule, fmt.Sprintf("written %s to %s UTC, in %s; %s",
		b.WrittenFrom.UTC().Format("2006-01-02 15:04:05"), b.WrittenTo.UTC().Format("15:04:05"), span(b.WrittenTo.Sub(b.WrittenFrom)), says)
}

// Stale says why a backup is old, or its age not known, as [Check] does; empty where neither is.
func Stale(b backup.Info, now time.Time, most time.Duration) string {
	if rule, says := age(&b, now, most); rule.Code.IsOldBackup() {
		return says
	}
	return ""
}

// NewerBackup is a backup that is younger than one that is checked.
type NewerBackup struct {
	Name     string
	Place    string // what --backup takes
	Started  time.Time
	Relation backup.Relation
	Unread   string // why its tarball, which tells the Relation, was not read; empty where it was
	Misdated string // what is wrong with the date of the one that is checked; empty where nothing is
}

// of says which management cluster a newer backup is of.
func (n *NewerBackup) of() string {
	switch {
	case n.Relation == backup.Same:
		return ""
	case n.Relation == backup.Moved:
		return " is of another management cluster that has a cluster of this backup, too: it was moved, or the management cluster was created again; it"
	case n.Unread != "":
		return " is in the same place, of the same management cluster or of another (its tarball was not read: " + n.Unread + "), and"
	}
	return " is in the same place, of the same management cluster or of another, and"
}

func newer(e *examination) []Finding {
	var found []Finding
	for i, n := range e.options.Newer {
		if n == nil {
			continue
		}
		is := "is " + span(n.Started.Sub(e.Backups[i].WrittenFrom)) + " younger"
		if n.Misdated != "" {
			is = "may be younger (of this one " + n.Misdated + ")"
		}
		found = append(found, RuleNewer.On(i, e.tarball(i), "%s%s %s: %s", n.Name, n.of(), is, n.Place))
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
	kinds := make([]bool, len(e.Backups)) // what of Cluster API is in them is not known
	for _, p := range e.Problems {
		if _, whole := e.Backups[p.Backup].Unread[p.Item]; whole && p.Decisive {
			kinds[p.Backup] = true
		}
		if problems[p.Backup]++; problems[p.Backup] == 1 {
			first[p.Backup] = p.Item + ": " + p.Reason
		}
	}
	var found []Finding
	for i, n := range problems {
		if n == 0 {
			continue
		}
		f := ruleUnreadable.On(i, e.tarball(i), "%s could not be read, first %s", count(n, "item"), first[i])
		if kinds[i] {
			f.Severity = code.CheckError
		}
		found = append(found, f)
	}
	return found
}

// span returns a duration for people, in its two largest units.
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
