package report

import (
	"slices"

	"drift-detector/internal/english"
	"drift-detector/report/code"
)

// What the restored controllers will do. All of it is absent from a report that
// was made without a forecast.

// GeneralForecast is of the restore as a whole; the management cluster itself is
// not counted.
type GeneralForecast struct {
	Outcomes   map[code.Outcome]int `json:"outcomes"`   // machines and ghosts by outcome
	NotHealing int                  `json:"notHealing"` // Stale machines that no controller replaces
	Notes      []Note               `json:"notes"`
}

// ClusterForecast is of one cluster.
type ClusterForecast struct {
	Text       string               `json:"text"` // all of it in one line
	Outcomes   map[code.Outcome]int `json:"outcomes"`
	NotHealing int                  `json:"notHealing"`
	Notes      []Note               `json:"notes"`
}

// Note is something to know before the restore that is not of a single machine.
type Note struct {
	Code    code.Reason `json:"code"`
	Message string      `json:"message"`           // sentences, without the last full stop
	Objects []string    `json:"objects,omitempty"` // what it is about, beside a cluster that it is of
}

// Sentence returns the message with its last full stop.
func (n *Note) Sentence() string { return english.Sentence(n.Message) }

// ClusterNote is a note with all clusters that have it.
type ClusterNote struct {
	Note
	Clusters []string // titles, those of the most urgent first
}

// ClusterNotes returns the notes on clusters, those of the most urgent first, and
// one that several clusters have once. Of the management cluster itself there
// are none, nor of a cluster of which nothing is known.
func (r *Report) ClusterNotes() []ClusterNote {
	clusters := make([]*Cluster, 0, len(r.Clusters))
	for i := range r.Clusters {
		if c := &r.Clusters[i]; c.Forecast != nil && !c.Self && (c.Unsupported() == 0 || c.Unsupported() < c.Counts.Total) {
			clusters = append(clusters, c)
		}
	}
	slices.SortStableFunc(clusters, func(a, b *Cluster) int { return code.Urgency(a.Status) - code.Urgency(b.Status) })
	var out []ClusterNote
	at := map[[2]string]int{} // by code and message
	for _, c := range clusters {
		for _, n := range c.Forecast.Notes {
			as := [2]string{string(n.Code), n.Message}
			i, ok := at[as]
			if !ok {
				i = len(out)
				at[as], out = i, append(out, ClusterNote{Note: n})
			}
			out[i].Clusters = append(out[i].Clusters, c.Title())
		}
	}
	return out
}

// MachineForecast is what will become of one machine or ghost.
type MachineForecast struct {
	Outcome   code.Outcome `json:"outcome"`
	ByPlan    code.Outcome `json:"byPlan,omitempty"`    // of a restore by the plan; absent where it is the same
	Condition string       `json:"condition,omitempty"` // when the outcome holds, or when it does not
	Message   string       `json:"message"`
	RolledOut bool         `json:"rolledOut,omitempty"` // is part of the rollout of its group
	// Row is the row of docs/walks.md for which its controller does nothing; absent for none.
	Row string `json:"row,omitempty"`
	// ExpectedBy is when a health check calls the machine unhealthy. Absent where none does.
	ExpectedBy ExpectedBy `json:"expectedBy,omitzero"`
}

// ExpectedBy is how long after an event something is expected.
type ExpectedBy struct {
	Event   Event `json:"event"`
	Seconds int64 `json:"seconds"`
}

// Event is what a time is counted from.
type Event string

// Events that a health check counts from (needsRemediation and nodeChecks in
// internal/controllers/machinehealthcheck/machinehealthcheck_targets.go, Cluster API v1.13.6).
const (
	ControllersStart Event = "controllersStart"
	// NodeStartup is the latest of these: the Machine is created, its Cluster's
	// ControlPlaneInitialized and InfrastructureReady and its own InfrastructureReady become
	// True.
	NodeStartup      Event = "nodeStartup"
	MachineCondition Event = "machineCondition" // a condition of the Machine changes
	NodeCondition    Event = "nodeCondition"    // a condition of its Node changes
)

// Heals reports whether a Stale machine is sound again without help.
func (f *MachineForecast) Heals() bool { return f != nil && f.Outcome.Heals() }

// ControlPlaneForecast is what will become of a control plane.
type ControlPlaneForecast struct {
	Replicas   Replicas `json:"replicas"`
	Etcd       *Etcd    `json:"etcd,omitempty"` // absent when the control plane has no machines
	Remediates bool     `json:"remediates"`     // whether it would replace a broken member by itself
	Why        string   `json:"why,omitempty"`
	Rollout    *Rollout `json:"rollout,omitempty"`
}

// GroupForecast is what will become of a group of workers.
type GroupForecast struct {
	Replicas  Replicas `json:"replicas"`
	ManagedBy string   `json:"managedBy,omitempty"` // who sets the replicas instead of the operator
	Rollout   *Rollout `json:"rollout,omitempty"`
}

// Replicas compares what an owner wants with what it will have.
type Replicas struct {
	Recorded int `json:"recorded"` // Machines in the backup
	Working  int `json:"working"`  // of those, with an instance after the restore
	Created  int `json:"created"`  // further Machines that the owner makes
	Deleted  int `json:"deleted"`  // Machines that the owner deletes
	Running  int `json:"running"`  // instances afterwards, ghosts included
	Unknown  int `json:"unknown"`  // Machines of which nothing certain is known
	Surplus  int `json:"surplus"`  // instances beyond what is desired
	Missing  int `json:"missing"`  // how far working Machines stay below it
}

// Etcd is the members on a control plane's machines before and after the restore.
type Etcd struct {
	Quorum   code.Quorum `json:"quorum"`
	Recorded int         `json:"recorded"`
	Existing int         `json:"existing"`
	Removed  int         `json:"removed"`
	After    int         `json:"after"`
	Message  string      `json:"message"`
}

// Rollout is a generation of machines that was replaced after the backup.
type Rollout struct {
	Stale   int    `json:"stale"`
	Ghosts  int    `json:"ghosts"`
	Message string `json:"message"` // sentences, without the last full stop
}

// Sentence returns the message with its last full stop.
func (r *Rollout) Sentence() string { return english.Sentence(r.Message) }

func (f *ControlPlaneForecast) rollout() *Rollout {
	if f == nil {
		return nil
	}
	return f.Rollout
}

func (f *GroupForecast) rollout() *Rollout {
	if f == nil {
		return nil
	}
	return f.Rollout
}
