package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"drift-detector/report/code"
)

// IsLive reports whether the report is of a management cluster that runs. Nothing is restored
// then: there is no answer, no forecast and no plan, but what has drifted now.
func (r *Report) IsLive() bool { return isLive(r.Backups) }

// Subject returns what the report is of, in words: a backup, or a management cluster that runs.
func (r *Report) Subject() string { return code.Subject(r.IsLive()).String() }

func isLive(all []Backup) bool {
	return slices.ContainsFunc(all, func(b Backup) bool { return b.Live })
}

// IsMoved reports whether clusterctl restores what the report is of, which unpauses all Clusters at
// its end.
func (r *Report) IsMoved() bool {
	return slices.ContainsFunc(r.Backups, func(b Backup) bool { return b.RestoreMode == "clusterctl" })
}

// Drift is one machine, or one VM without a Machine, of a management cluster that runs, that is
// not as it should be.
type Drift struct {
	Word    string // one of driftWords
	Cluster *Cluster
	Machine *Machine
}

// driftWords are in the order of what is to be looked at first.
var driftWords = []string{"LEAKED", "LOST", "STUCK", "TWIN", "DELETING", "UNKNOWN"}

// DriftWords returns all words of a Drift.
func DriftWords() []string { return slices.Clone(driftWords) }

// patience is how long the deletion of a machine may take: a VM is gone within minutes.
const patience = 10 * time.Minute

// driftWord says what a machine is that has not healthy written on it; empty for one that has.
func (r *Report) driftWord(m *Machine) string {
	switch {
	case m.IsLeaked():
		return "LEAKED"
	case m.Status == code.Stale:
		return "LOST"
	case m.Deleting != nil && r.GeneratedAt.Sub(*m.Deleting) > patience, m.warned(code.NotRunning):
		return "STUCK"
	case m.warned(code.DuplicateID):
		return "TWIN"
	case m.Reason == code.BeingDeleted:
		return "DELETING"
	case m.Status == code.Unknown:
		return "UNKNOWN"
	}
	return ""
}

// IsLeaked reports whether the VM of a management cluster that runs belongs to no Machine: none has
// it, or its infrastructure machine is left without one, which nobody deletes.
func (m *Machine) IsLeaked() bool {
	return m.Status == code.Ghost || m.Status == code.Healthy && m.warned(code.MachineMissing)
}

func (m *Machine) warned(reason code.Reason) bool { return m.warning(reason) != "" }

func (m *Machine) warning(reason code.Reason) string {
	for i := range m.Warnings {
		if m.Warnings[i].Reason == reason {
			return m.Warnings[i].Message
		}
	}
	return ""
}

// Drift lists what has drifted and no rule sets aside: what leaks first, in the order of the
// clusters.
func (r *Report) Drift() []Drift {
	var out []Drift
	for _, word := range driftWords {
		for i := range r.Clusters {
			c := &r.Clusters[i]
			for _, s := range c.Sets() {
				for j := range s.Machines {
					if m := &s.Machines[j]; m.Ignored == nil && r.driftWord(m) == word {
						out = append(out, Drift{word, c, m})
					}
				}
			}
		}
	}
	return out
}

// Means says in a clause what a drift is.
func (d *Drift) Means() string {
	none := "no Machine has it"
	if d.Machine.warned(code.MachineMissing) {
		none = d.Machine.orphan() + " is left without its Machine: nobody deletes it"
	}
	switch i := d.Machine.Instance; {
	case d.Word == "TWIN":
		return d.Machine.warning(code.DuplicateID)
	case d.Word == "STUCK" && d.Machine.Deleting == nil:
		return d.Machine.warning(code.NotRunning)
	case d.Word == "STUCK":
		return "is being deleted since " + d.Machine.Deleting.Format("2006-01-02 15:04Z")
	case d.Word != "LEAKED":
		return strings.TrimSuffix(d.Machine.Message, ".")
	case i == nil:
		return "its VM runs, and " + none
	case i.Created != nil:
		return "its VM" + i.Size.brief() + " runs since " + i.Created.UTC().Format("2006-01-02") + ", and " + none
	default:
		return "its VM" + i.Size.brief() + " runs, and " + none
	}
}

// orphan names the infrastructure machine.
func (m *Machine) orphan() string {
	if o := m.Infrastructure; o != nil {
		return o.Kind + " " + o.Namespace + "/" + o.Name
	}
	return "what has it"
}

// driftNow says how much of each there is: "2 LEAKED, 1 LOST"; NONE where there is nothing. Of what
// was not read nobody knows whether it has drifted: what was found is the least of it, and nothing
// found is not NONE.
func (r *Report) driftNow() string {
	of := map[string]int{}
	for _, d := range r.Drift() {
		of[d.Word]++
	}
	var parts []string
	for _, word := range driftWords {
		if of[word] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of[word], word))
		}
	}
	counts := strings.Join(parts, ", ")
	switch whole := r.Summary.Complete; {
	case r.isEmpty():
		return "NOT KNOWN, no Cluster is there"
	case whole && counts == "":
		return "NONE"
	case whole:
		return counts
	case counts == "":
		return "NOT KNOWN"
	case len(parts) == 1 && of["UNKNOWN"] > 0:
		return "NOT KNOWN, " + counts
	default:
		return "at least " + counts
	}
}

// DriftKnown reports whether all that decides was read, so that what has drifted is all that has.
func (r *Report) DriftKnown() bool { return r.Summary.Complete && !r.isEmpty() }

// isEmpty reports whether all was read and no Cluster is there.
func (r *Report) isEmpty() bool {
	return len(r.Clusters) == 0 && r.Options.Filter == nil &&
		!slices.ContainsFunc(r.Errors, func(e Error) bool { return e.Scope != "" || e.Object != "" })
}
