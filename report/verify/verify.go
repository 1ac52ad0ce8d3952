package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Verdict is what became of something that was foretold.
type Verdict string

// The verdicts, the most pressing first.
const (
	Not       Verdict = "notAsForetold"
	NotYet    Verdict = "notYet"
	NotJudged Verdict = "notJudged"
	As        Verdict = "asForetold"
)

var verdicts = []Verdict{Not, NotYet, NotJudged, As}

// State is what became of all.
type State string

// The states, and the exit status of each.
const (
	AllAsForetold State = "asForetold"    // 0
	SomeNot       State = "notAsForetold" // 1
	Incomplete    State = "incomplete"    // 3
	Waiting       State = "notYet"        // 4
)

// Document is all that was compared.
type Document struct {
	SchemaVersion string    `json:"schemaVersion"`
	Kind          string    `json:"kind"`
	ReportedAt    time.Time `json:"reportedAt"`
	ByPlan        bool      `json:"byPlan"`
	Server        string    `json:"server"`
	ReadAt        time.Time `json:"readAt"`
	// StartedAt is since when controllers may act on the first of the Clusters; null where none is there.
	StartedAt *time.Time       `json:"startedAt"`
	State     State            `json:"state"`
	Summary   Summary          `json:"summary"`
	Clusters  []ClusterVerdict `json:"clusters"`
	Groups    []GroupVerdict   `json:"groups"`
	Machines  []MachineVerdict `json:"machines"`
	Made      []Made           `json:"made"` // since the report
	Gone      []Gone           `json:"gone"` // VMs, since the report
	Unread    []Unread         `json:"unread"`
}

// Summary counts machines and Ghosts.
type Summary struct {
	AsForetold    int `json:"asForetold"`
	NotYet        int `json:"notYet"`
	NotAsForetold int `json:"notAsForetold"`
	Paused        int `json:"paused"`
	NotJudged     int `json:"notJudged"`
	NoOutcome     int `json:"noOutcome"` // of those not judged, how many have no outcome that could be
}

// ErrRefused is what all input that cannot be judged wraps.
var ErrRefused = errors.New("this cannot be verified")

// Judge holds what was seen against a report. It refuses a report that does not list all machines
// with their forecasts, one of other Clusters than are seen, and the management cluster that was
// backed up.
func Judge(r *report.Report, seen *Observation) (*Document, error) {
	if err := refuse(r, seen); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	w := newWorld(r, seen)
	d := &Document{
		SchemaVersion: report.SchemaVersion, Kind: "drift-detector verify", ReportedAt: r.GeneratedAt.UTC(),
		ByPlan: seen.ByPlan, Server: seen.Server, ReadAt: seen.At.UTC(),
		Clusters: []ClusterVerdict{}, Groups: []GroupVerdict{}, Machines: []MachineVerdict{}, Unread: unreadOf(r, seen),
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Self {
			continue
		}
		w.judgeCluster(d, c)
		if at := moment(startOf(w.get(c.Namespace, c.Name).cluster)); at != nil && (d.StartedAt == nil || at.Before(*d.StartedAt)) {
			d.StartedAt = at
		}
	}
	d.Made, d.Gone = w.made(d), w.gone()
	d.blame()
	for _, s := range seen.Scopes {
		if s.State != code.ScopeComplete {
			one := Unread{Kind: s.Title(), Why: "it was not listed to the end"}
			if s.Error != nil {
				one.Why = s.Error.Message
			}
			d.Unread = append(d.Unread, one)
		}
	}
	d.conclude()
	return d, nil
}

func refuse(r *report.Report, seen *Observation) error {
	if r.Options.IgnoreHealthy || r.Options.Filter != nil && (len(r.Options.Filter.Statuses) > 0 || r.Options.Filter.View) {
		return errors.New("the report leaves machines out; give one that was made without --ignore-healthy-resources and --status")
	}
	if r.Summary.Forecast == nil {
		return errors.New("the report has no forecast; give one that this release's detect wrote")
	}
	const old = "this is the management cluster that was backed up, not the one into which it is restored: give the kubeconfig of that one"
	if is, _ := r.IsOld(seen.KubeSystemUID, seen.Created); is {
		return errors.New(old)
	}
	uids := map[string]bool{}
	ours := false
	for i := range r.Clusters {
		c := &r.Clusters[i]
		for _, s := range c.Sets() {
			for j := range s.Machines {
				uids[s.Machines[j].UID] = true
			}
		}
		for j := range seen.Clusters {
			ours = ours || seen.Clusters[j].Namespace == c.Namespace && seen.Clusters[j].Name == c.Name
		}
	}
	for i := range seen.Machines {
		if m := &seen.Machines[i]; m.UID != "" && uids[m.UID] {
			return fmt.Errorf("%s (Machine %s/%s is the very one of the report, by its uid)", old, m.Namespace, m.Name)
		}
	}
	if len(seen.Clusters) > 0 && !ours && !isUnread(seen, "Cluster") {
		return errors.New("none of the report's Clusters is there, and others are: nothing was restored yet, or the report is of another fleet")
	}
	return nil
}

// isUnread reports whether a kind was not read whole. That of a control plane is noted by its resource.
func isUnread(seen *Observation, kind string) bool {
	for i := range seen.Unread {
		if is := seen.Unread[i].Kind; is == kind || strings.HasPrefix(is, strings.ToLower(kind)+"s.controlplane.") {
			return true
		}
	}
	return false
}

// unreadOf returns the kinds that were not read whole, without those of infrastructures and control
// planes that the report does not have.
func unreadOf(r *report.Report, seen *Observation) []Unread {
	out := []Unread{}
	for _, u := range seen.Unread {
		if !isObject(u.Kind) && !isInfrastructure(u.Kind) && !strings.Contains(u.Kind, ".controlplane.") || slices.ContainsFunc(r.Clusters, func(c report.Cluster) bool {
			return slices.Contains(Kinds(c.Provider), u.Kind) || seen.refersTo(&c, u.Kind) || strings.HasPrefix(u.Kind, strings.ToLower(c.ControlPlane.Kind)+"s.")
		}) {
			out = append(out, u)
		}
	}
	return out
}

// refersTo reports whether the infrastructure of a Cluster is of a kind.
func (o *Observation) refersTo(c *report.Cluster, kind string) bool {
	return slices.ContainsFunc(o.Clusters, func(is Cluster) bool {
		return is.Namespace == c.Namespace && is.Name == c.Name && is.Infrastructure.Kind == kind
	})
}

// blame makes a group, and its Cluster, not as foretold where something was made that was not.
func (d *Document) blame() {
	for i := range d.Made {
		m := &d.Made[i]
		if m.Verdict != Not {
			continue
		}
		for j := range d.Groups {
			if g := &d.Groups[j]; g.Namespace == m.Namespace && g.Cluster == m.Cluster && g.Name == m.Group {
				g.Verdict = Not
			}
		}
		for j := range d.Clusters {
			if c := &d.Clusters[j]; c.Namespace == m.Namespace && c.Name == m.Cluster {
				c.Verdict = Not
			}
		}
	}
}

// Lost notes that the management cluster could not be read any more, and why: what was awaited is not
// known then.
func (d *Document) Lost(why string) {
	d.Unread = append(d.Unread, Unread{"management cluster", why})
	d.conclude()
}

// conclude counts and says what became of all. What was not read decides before what is awaited.
func (d *Document) conclude() {
	came, expected, unseen := 0, 0, 0 // of what controllers are to act on; of what was not listed
	d.Summary = Summary{}
	for i := range d.Machines {
		m := &d.Machines[i]
		switch m.Foretold {
		case code.UntouchedPaused, code.GhostKeepsRunning:
		default:
			expected++
			if m.Verdict == As {
				came++
			}
		}
		switch {
		case m.Paused:
			d.Summary.Paused++
		case m.Verdict == As:
			d.Summary.AsForetold++
		case m.Verdict == NotYet:
			d.Summary.NotYet++
		case m.Verdict == Not:
			d.Summary.NotAsForetold++
		default:
			d.Summary.NotJudged++
			if m.noOutcome {
				d.Summary.NoOutcome++
			}
			if m.unseen {
				unseen++
			}
		}
	}
	not, awaited := d.Summary.NotAsForetold > 0, d.Summary.NotYet > 0
	for i := range d.Made {
		not, awaited = not || d.Made[i].Verdict == Not, awaited || d.Made[i].Verdict == NotYet
	}
	for i := range d.Gone {
		not = not || d.Gone[i].Verdict == Not
	}
	for i := range d.Groups {
		awaited, not = awaited || d.Groups[i].alone == NotYet, not || d.Groups[i].alone == Not
	}
	switch {
	case not:
		d.State = SomeNot
	case len(d.Unread) > 0:
		d.State = Incomplete
	case awaited, came == 0 && expected > 0:
		d.State = Waiting // nothing that was seen is no success
	case unseen > 0:
		d.State = Incomplete
		d.Unread = append(d.Unread, Unread{"places of VMs", english.Count(unseen, "machine") + " not judged: the place of its VM was not listed, or nothing names it"})
	default:
		d.State = AllAsForetold
	}
}

// ExitStatus returns the exit status of a state.
func (s State) ExitStatus() int {
	switch s {
	case AllAsForetold:
		return 0
	case SomeNot:
		return 1
	case Incomplete:
		return 3
	}
	return 4
}

// Decided reports whether nothing is to be awaited: a thing is not as foretold, or all is judged.
func (d *Document) Decided() bool { return d.State == SomeNot || d.State == AllAsForetold }
