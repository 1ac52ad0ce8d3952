package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// line is one thing that decides: its code, what it is about, and what that means.
type line struct {
	mark    string
	code    code.Reason
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

// decisive are the things that decide, the most dangerous first, then those that are about
// what a narrowed report does not show, and how many further reasons and conditions are
// left to the long report.
func decisive(r *report.Report) (out []line, more int) {
	points := r.First()
	for i := range points {
		p := &points[i]
		switch {
		case p.Code == code.BackupError:
			out = append(out, checkErrors(r, points)...)
		case p.Code == code.Incomplete: // has a part of its own
		case p.Code == code.ClusterHalted && allOfChecks(r, p): // the lines of the checks say so
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
	holds := map[code.Reason]bool{}
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
	case holds[code.OldManagementCluster] && holds[code.UnpausedClusters]:
		said++
		out = append(out, line{mark: "!", code: code.OldManagementCluster, means: "keep it off; pause " + pause + ", or two act on one VM"})
	case holds[code.OldManagementCluster]:
		out = append(out, line{mark: "!", code: code.OldManagementCluster, means: "keep it off, or two act on one VM"})
	case holds[code.UnpausedClusters]:
		out = append(out, line{mark: "!", code: code.UnpausedClusters, means: pause + " to pause: else controllers act at once"})
	}
	for _, c := range a.Conditions {
		if means := code.Of(c.Code).Screen; means != "" && a.Safe == code.Yes {
			out = append(out, line{mark: "?", code: c.Code, means: means})
		}
	}
	return out, said + len(out)
}

// marks are the marks of lines, the most dangerous first.
const marks = "!?-="

// reason is the line of a reason that is said in no other way.
func reason(r *report.Report, p *report.Point) line {
	out := line{mark: code.Mark(p.Status), code: p.Code, means: code.Of(p.Code).Screen}
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
	case p.Code == code.CopiedID:
		out.mark = "!"
		if m := machineAt(r, all[0].At); m != nil && slices.ContainsFunc(m.Warnings, func(w report.Warning) bool { return w.Reason == code.DuplicateID }) {
			out.code = code.DuplicateID
		}
	case p.Code == code.ControlPlaneDown && len(all) == 1 && gone(r, all[0].At):
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
	return slices.ContainsFunc(r.Clusters[at.Index].Forecast.Notes, func(n report.Note) bool { return n.Code == code.ControlPlaneGone })
}

// checkErrors are the errors in the backup itself, one line for each code, with the
// clusters that they halt.
func checkErrors(r *report.Report, points []report.Point) []line {
	var out []line
	at := map[code.Reason]int{}
	add := func(c *report.Check, hidden bool) {
		j, known := at[c.Code]
		if !known {
			means, _, _ := strings.Cut(c.Message, "; ")
			if halted := haltedBy(points, c); len(halted) > 0 {
				means = "create it; without it no controller acts on " + english.First(1, halted)
			}
			j = len(out)
			at[c.Code], out = j, append(out, line{mark: "!", code: c.Code, means: means, hidden: hidden})
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
		if points[i].Code != code.ClusterHalted {
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
