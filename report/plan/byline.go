package plan

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// correct makes the answer by the plan one of this plan: a reason that a line has to settle is
// resolved for those objects for which there is a line, and stays for all others.
func (pl *planner) correct(p *Plan) {
	a := pl.Summary.AnswerByPlan
	if a == nil {
		return
	}
	var left, resolved report.Reasons
	does := p.settled()
	for _, side := range []struct {
		of  []report.AnswerReason
		out *report.Reasons
	}{{a.Reasons, &left}, {a.Resolved, &resolved}} {
		for i := range side.of {
			r := &side.of[i]
			if !code.Of(r.Code).ByLine || len(r.Objects) == 0 { // of nothing there is no line
				to := side.out
				if code.Of(r.Code).ByLine {
					to = &left
				}
				to.Copy(r, r.Objects...)
				continue
			}
			for _, object := range r.Objects {
				out := &left
				if does[settled{object, r.Code}] || does[settled{object: r.Until}] || pl.staysPaused(object) || pl.isDone(code.BackupError, r.Until) ||
					r.Row == rowNode && pl.isDone(code.InstancesStopped, object) {
					out = &resolved
				}
				out.Copy(r, object)
			}
		}
	}
	for _, list := range []*report.Reasons{&left, &resolved} {
		sorting.StableBy(list.List, func(a, b report.AnswerReason) int {
			return cmp.Or(code.Rank(a.Code)-code.Rank(b.Code), strings.Compare(a.Message, b.Message))
		})
		for i := range list.List {
			slices.Sort(list.List[i].Objects)
			list.List[i].Objects = slices.Compact(list.List[i].Objects)
		}
	}
	a.Reasons, a.Resolved = append([]report.AnswerReason{}, left.List...), resolved.List
	a.Safe = report.SafeAfter(a.Reasons)
}

// Rows of docs/walks.md whose answers a step of the plan changes.
const (
	rowNode        = "core.M9"     // a machine has no Node; one that was off gets it when it is started
	rowCertificate = "vsphere.C6b" // vCenter shows a certificate that is not pinned
	rowMember      = "azure.P8"    // a restore takes the owner of a member of a pool away
)

// settled returns what the lines of the steps before clusters are unpaused settle.
func (p *Plan) settled() map[settled]bool {
	all := map[settled]bool{}
	for _, s := range p.Sections {
		for i := range s.Chapters {
			for k := range s.Chapters[i].Steps {
				for _, is := range s.Chapters[i].Steps[k].settles {
					all[is] = is.object != ""
				}
			}
		}
	}
	return all
}

// of returns the objects with the reason that a line settles of them.
func of(reason code.Reason, objects ...string) []settled {
	out := make([]settled, len(objects))
	for i, o := range objects {
		out[i] = settled{o, reason}
	}
	return out
}

// staysPaused reports whether the plan leaves each cluster that something is of paused, or out.
func (pl *planner) staysPaused(object string) bool {
	all := pl.clustersOf(object)
	return len(all) > 0 && !slices.ContainsFunc(all, func(c *report.Cluster) bool { return !pl.gone(c) && !lostControlPlane(c) })
}

// isDone reports whether a reason about an object is resolved by a step before the restore, of
// which ready demands a word: what the backup lacks is made, and what is off is started.
func (pl *planner) isDone(reason code.Reason, object string) bool {
	return object != "" && slices.ContainsFunc(pl.Summary.AnswerByPlan.Resolved, func(r report.AnswerReason) bool {
		return r.Code == reason && slices.Contains(r.Objects, object)
	})
}

// pinned gives an infrastructure cluster the thumbprint that a person has read where vCenter
// runs: the one that it shows is no proof. Nothing else changes that object (CAPV
// apis/v1beta1/vspherecluster_types.go v1.13.0).
func (pl *planner) pinned(c *report.Cluster, r *report.AnswerReason) []shell.Command {
	p := pl.providers[c.Provider]
	if p == nil || p.ClusterKind == nil || r.Row != rowCertificate {
		return nil
	}
	name, is := strings.CutPrefix(r.Until, p.ClusterKind.Kind+" "+c.Namespace+"/")
	if !is || !labelForm.MatchString(name) {
		return nil
	}
	object := p.ClusterKind.Resource + "/" + name
	return []shell.Command{
		shell.Ask("THUMBPRINT", "the thumbprint of the certificate, as the person who runs vCenter reads it there"),
		restored(c.Namespace, object).Then(manage(c.Namespace, "patch", object, "--type=merge",
			shell.Pieces{"--patch=", shell.Loose(`{"spec":{"thumbprint":"`), shell.Variable("THUMBPRINT"), shell.Loose(`"}}`)})),
	}
}
