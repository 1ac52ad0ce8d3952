package code

// Subject is what was read, in the words of sentences about it: a backup, or a management
// cluster that runs. Who makes a sentence makes it of the one that it is about.
type Subject bool

// What can be read.
const (
	Backup            Subject = false
	ManagementCluster Subject = true
)

// Or returns the text for a backup, or that for a management cluster that runs.
func (s Subject) Or(backup, cluster string) string {
	if s == ManagementCluster {
		return cluster
	}
	return backup
}

func (s Subject) String() string { return s.Or("backup", "management cluster") }

// The names it: "the backup".
func (s Subject) The() string { return "the " + s.String() }

// Since says since when something may have changed.
func (s Subject) Since() string { return "since " + s.Or("the backup", "it was read") }

// Written says that it was: "the backup was written".
func (s Subject) Written() string {
	return s.Or("the backup was written", "the management cluster was read")
}
