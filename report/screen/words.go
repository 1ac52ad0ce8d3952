package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
)

// line is one thing that decides: its code, what it is about, and what that means.
type line struct {
	mark    string
	code    report.Reason
	objects []string
	means   string
	hidden  bool // of a report that was narrowed: about what it does not show
}

// text is the line after its code; a name takes at most so many columns.
func (l *line) text(width int) string {
	if len(l.objects) == 0 {
		return l.means
	}
	about := shorten(l.objects[0], width)
	if n := len(l.objects) - 1; n > 0 {
		about += fmt.Sprintf(" and %d more", n)
	}
	return about + ": " + l.means
}

// consequences are what reasons mean for their objects.
var consequences = map[report.Reason]string{
	report.ClustersFirst:       "Clusters come back first, which ends running workers",
	report.MachinesDeleted:     "deleted, with running VMs",
	report.PoolScaledBack:      "scaled down, running VMs end",
	report.LivingReplaced:      "a health check deletes running VMs",
	report.RolloutDue:          "running machines are replaced, one by one",
	report.SecondInstance:      "a second VM is made beside the running one",
	report.OtherInstance:       "its controller takes over another VM",
	report.EtcdMembersRemoved:  "running etcd members are removed",
	report.ControlPlaneDown:    "its control plane is down, and no controller repairs it",
	report.ClusterHalted:       "no controller acts on it",
	report.MachinesUnknown:     "whether the VM exists, or which it is, is not known",
	report.CopiedID:            "a delete may end 2 VMs",
	report.ResourceUndecided:   "whether what it needs exists is not known",
	report.PoolNotDecided:      "its pool could not be seen",
	report.OutcomeUnknown:      "what controllers do with it is not known",
	report.SpecUnseen:          "changed just before the backup; what follows is not known",
	report.HostedControlPlane:  "its control plane was in the lost management cluster",
	report.InstancesToConfirm:  "ask their owners",
	report.ErrorsOccurred:      "an error; something may be missing",
	report.NothingToCompare:    "the backup has no machine to compare",
	report.NoForecast:          "the report has no forecast; run detect again",
	report.StatusNotHealthy:    "not everything is Healthy",
	report.OwnerHalted:         "nobody manages it: its MachineSet is not in the backup",
	report.MachinesHalted:      "its controller does nothing for it; the VM runs on",
	report.CannotReplace:       "has to make machines and cannot",
	report.NewerBackup:         "a newer backup is in the same place",
	report.MachinesBroken:      "no VM, and nothing replaces it",
	report.MachinesMissing:     "not in the backup; its VM runs on unmanaged",
	report.InstancesNeverJoin:  "its new VM never joins, and nobody deletes it",
	report.MachinesMade:        "new VMs are made",
	report.PoolGrown:           "its pool grows: new VMs are made",
	report.InstancesStarted:    "its VM is powered on",
	report.InstancesStopped:    "its VM is off, and no controller starts it",
	report.StaleReplaced:       "no VM; a new one is made",
	report.GhostsLeft:          "runs on, and nobody manages it",
	report.FoundByNameOnly:     "found by name alone, which is no proof",
	report.MachinesNotReady:    "does not become Ready: its bootstrap object is not in the backup",
	report.ResourceMade:        "made again",
	report.PoolMachinesDeleted: "the Machine is deleted; its VM is gone already",
	report.RolloutScheduled:    "all its machines are replaced later",
}

// oldCluster and unpaused are the conditions that are as dangerous as a reason for no.
const (
	oldCluster = "OldManagementCluster"
	unpaused   = "UnpausedClusters"
)

// conditions are what others mean that matter at every restore.
var conditions = map[report.Reason]string{
	report.RestoreOrder:     "Clusters are restored last, as Velero does by default",
	"WebhooksDuringRestore": "webhooks of Cluster API are absent, or answer",
	"NewestBackup":          "there is no newer backup",
}

// decisive are the things that decide, the most dangerous first, then those that are about
// what a narrowed report does not show, and how many further reasons and conditions are
// left to the long report.
func decisive(r *report.Report) (out []line, more int) {
	points := r.First()
	for i := range points {
		p := &points[i]
		switch {
		case p.Code == report.BackupError:
			out = append(out, checkErrors(r, points)...)
		case p.Code == report.Incomplete: // has a part of its own
		case p.Code == report.ClusterHalted && allOfChecks(r, p): // the lines of the checks say so
		default:
			out = append(out, reason(r, p))
		}
	}
	if a := r.Summary.Answer; a != nil {
		lines, said := underConditions(r, a)
		out, more = append(out, lines...), len(a.Conditions)-said
	}
	slices.SortStableFunc(out, func(a, b line) int { return cmp.Compare(a.rank(), b.rank()) })
	return out, more
}

func (l *line) rank() int {
	if l.hidden {
		return len(marks)
	}
	return strings.Index(marks, l.mark)
}

// isView reports whether only a part of what the answer is about is shown.
func isView(r *report.Report) bool { return r.Options.Filter != nil && r.Options.Filter.View }

// underConditions are the lines of the conditions that a person has to see to, those of
// the others only where nothing else decides, and how many conditions they say.
func underConditions(r *report.Report, a *report.SafeAnswer) (out []line, said int) {
	holds := map[report.Reason]bool{}
	for i := range a.Conditions {
		holds[a.Conditions[i].Code] = true
	}
	n := 0
	for i := range r.Clusters {
		if c := &r.Clusters[i]; !c.Paused && !c.Self {
			n++
		}
	}
	pause := english.Count(n, "Cluster")
	if r.Options.Filter != nil { // the others are restored, too
		pause = "every Cluster"
	}
	switch {
	case holds[oldCluster] && holds[unpaused]:
		said++
		out = append(out, line{mark: "!", code: oldCluster, means: "keep it off; pause " + pause + ", or two act on one VM"})
	case holds[oldCluster]:
		out = append(out, line{mark: "!", code: oldCluster, means: "keep it off, or two act on one VM"})
	case holds[unpaused]:
		out = append(out, line{mark: "!", code: unpaused, means: pause + " to pause: else controllers act at once"})
	}
	for _, c := range a.Conditions {
		if means := conditions[c.Code]; means != "" && a.Safe == report.Yes {
			out = append(out, line{mark: "?", code: c.Code, means: means})
		}
	}
	return out, said + len(out)
}

// marks are the marks of lines, the most dangerous first.
const marks = "!?-="

// reason is the line of a reason that is said in no other way.
func reason(r *report.Report, p *report.Point) line {
	out := line{mark: report.Mark(p.Status), code: p.Code, means: consequences[p.Code]}
	all := p.Objects
	for i := range p.Likes {
		all = append(all[:len(all):len(all)], p.Likes[i].Objects...)
	}
	if isView(r) && len(all) > 0 {
		shown := slices.DeleteFunc(slices.Clone(all), func(o report.Object) bool { return o.At.Part == report.InWhole })
		if out.hidden = len(shown) == 0; !out.hidden {
			all = shown
		}
	}
	for _, o := range all {
		out.objects = append(out.objects, named(r, o))
	}
	switch {
	case out.means == "":
		out.means = p.Text
	case p.Code == report.CopiedID:
		out.mark = "!"
		if m := machineAt(r, all[0].At); m != nil && slices.ContainsFunc(m.Warnings, func(w report.Warning) bool { return w.Reason == report.DuplicateID }) {
			out.code = report.DuplicateID
		}
	case p.Code == report.ControlPlaneDown && len(all) == 1 && gone(r, all[0].At):
		out.means = "its control plane is lost: leave the cluster out, or recover etcd"
	}
	return out
}

// named is the short name of an object: what is in the clusters by its namespace and
// name, a VM to confirm by its name.
func named(r *report.Report, o report.Object) string {
	switch o.At.Part {
	case report.InVMs:
		return cmp.Or(r.InfraMachines[o.At.Index].Instance.Name, o.Name)
	case report.InClusters:
		if kind, name, ok := strings.Cut(o.Name, " "); ok && !strings.Contains(name, " ") && kind != "" {
			return name
		}
	}
	return o.Name
}

func machineAt(r *report.Report, at report.Place) *report.Machine {
	if at.Part != report.InClusters || at.Set < 0 || at.Machine < 0 {
		return nil
	}
	return &r.Clusters[at.Index].Sets()[at.Set].Machines[at.Machine]
}

// gone reports whether nothing is left of the cluster's control plane.
func gone(r *report.Report, at report.Place) bool {
	if at.Part != report.InClusters || r.Clusters[at.Index].Forecast == nil {
		return false
	}
	return slices.ContainsFunc(r.Clusters[at.Index].Forecast.Notes, func(n report.Note) bool { return n.Code == report.ControlPlaneGone })
}

// checkErrors are the errors in the backup itself, one line for each code, with the
// clusters that they halt.
func checkErrors(r *report.Report, points []report.Point) []line {
	var out []line
	at := map[string]int{}
	add := func(c *report.Check, hidden bool) {
		j, known := at[c.Code]
		if !known {
			means, _, _ := strings.Cut(c.Message, "; ")
			if halted := haltedBy(points, c); len(halted) > 0 {
				means = "create it; without it no controller acts on " + english.First(1, halted)
			}
			j = len(out)
			at[c.Code], out = j, append(out, line{mark: "!", code: report.Reason(c.Code), means: means, hidden: hidden})
		}
		if out[j].hidden == hidden {
			out[j].objects = append(out[j].objects, c.Object)
		}
	}
	for _, hidden := range []bool{false, true} {
		for i := range r.Checks {
			if c := &r.Checks[i]; c.Error() && hidden == (isView(r) && !concernsShown(r, c)) {
				add(c, hidden)
			}
		}
	}
	return out
}

// concernsShown reports whether a check is about a cluster of the report, or the backup as a whole.
func concernsShown(r *report.Report, c *report.Check) bool {
	return len(c.Clusters) == 0 || slices.ContainsFunc(r.Clusters, func(k report.Cluster) bool { return slices.Contains(c.Clusters, k.Title()) })
}

// haltedBy are the clusters that no controller acts on because of a check's object.
func haltedBy(points []report.Point, c *report.Check) []string {
	var out []string
	for i := range points {
		if points[i].Code != report.ClusterHalted {
			continue
		}
		for _, p := range append([]report.Point{points[i]}, points[i].Likes...) {
			if names(&p, c) {
				for _, o := range p.Objects {
					out = append(out, strings.TrimPrefix(o.Name, "Cluster "))
				}
			}
		}
	}
	return out
}

// names reports whether a point says that it is because of a check's object.
func names(p *report.Point, c *report.Check) bool {
	return c.Error() && c.Object != "" && strings.Contains(p.Text, c.Object)
}

// allOfChecks reports whether each of a point's likes is because of some error in the backup.
func allOfChecks(r *report.Report, p *report.Point) bool {
	of := func(p *report.Point) bool {
		return slices.ContainsFunc(r.Checks, func(c report.Check) bool { return names(p, &c) })
	}
	return of(p) && !slices.ContainsFunc(p.Likes, func(l report.Point) bool { return !of(&l) })
}
