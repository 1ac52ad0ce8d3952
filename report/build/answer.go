package build

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/backup/check"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// decide makes the one answer from everything that a restored controller does, from
// what could not be decided, and from what is wrong with the backup. Ignore rules do not
// change it: they change what people look at, not what controllers do.
func decide(p *Parts, r *report.Report) *report.SafeAnswer {
	reasons := reasonsOf(p, r, p.Forecast, func(check.Finding) bool { return true })
	if len(reasons) == 0 && r.Summary.Status != code.Healthy && r.Summary.Status != code.NeedFurtherConfirmationInfraMachines {
		reasons = []report.AnswerReason{{Code: code.StatusNotHealthy, Message: "The status is " + string(r.Summary.Status), Objects: []string{}}}
	}
	out := &report.SafeAnswer{Safe: report.SafeAfter(reasons), Reasons: reasons}
	if p.Forecast != nil {
		out.Conditions = slices.Clip(p.Forecast.Conditions)
	}
	if f := p.Options.Filter; f != nil {
		out.Conditions = append(out.Conditions, report.Note{Code: code.Narrowed, Message: "Only the clusters that were asked for are restored, or the others are looked at, too: " + f.String()})
	}
	return out
}

// decideByPlan makes the answer for what follows once the plan's steps are done. Resolved are
// the reasons of which nothing is left then: of the answer itself, and such as show only once
// the controllers act on what they were kept from. What a line of the plan has to settle stays
// until there is a plan, which has that line or not (plan.Fill).
func decideByPlan(p *Parts, r *report.Report) *report.PlanAnswer {
	if p.ByPlan == nil || r.Summary.Answer == nil {
		return nil
	}
	all := reasonsOf(p, r, p.ByPlan, func(check.Finding) bool { return true })
	left := slices.DeleteFunc(reasonsOf(p, r, p.ByPlan, func(f check.Finding) bool { return !f.Mended }), func(reason report.AnswerReason) bool { return code.Of(reason.Code).Mended })
	var out report.PlanAnswer
	var d decision
	type said struct {
		code    code.Reason
		message string
	}
	known := make(map[said]bool, len(left)+len(all))
	for i := range left {
		known[said{left[i].Code, left[i].Message}] = true
	}
	for _, reason := range slices.Concat(r.Summary.Answer.Reasons, all) {
		if is := (said{reason.Code, reason.Message}); !known[is] && reason.Code != code.StatusNotHealthy {
			known[is] = true
			if code.Of(reason.Code).ByLine {
				d.Copy(&reason, reason.Objects...)
				continue
			}
			out.Resolved = append(out.Resolved, reason)
		}
	}
	d.effects(left)
	out.Reasons = append([]report.AnswerReason{}, d.sorted()...)
	out.Safe = report.SafeAfter(out.Reasons)
	return &out
}

// reasonsOf returns the reasons that a forecast, what was seen, and those findings of the checks
// that count have for an answer that is not yes.
func reasonsOf(p *Parts, r *report.Report, future *rehearsal.Forecast, counts func(check.Finding) bool) []report.AnswerReason {
	var d decision
	d.seen(p, r)
	d.checks(p.Checks, counts)
	if future == nil {
		d.Add(code.NoForecast, "What the restored controllers will do was not forecast")
		return d.sorted()
	}
	for i := range future.Clusters {
		d.effects(future.Clusters[i].Effects)
	}
	d.effects(future.Effects)
	return d.sorted()
}

// decision gathers reasons.
type decision struct{ report.Reasons }

func (d *decision) effects(all []report.AnswerReason) {
	for i := range all {
		d.Copy(&all[i], all[i].Objects...)
	}
}

// sorted returns the reasons, the most dangerous first, each with its objects once.
func (d *decision) sorted() []report.AnswerReason {
	sorting.By(d.List, func(a, b report.AnswerReason) int {
		return cmp.Or(code.Rank(a.Code)-code.Rank(b.Code), strings.Compare(a.Message, b.Message))
	})
	for i := range d.List {
		slices.Sort(d.List[i].Objects)
		d.List[i].Objects = slices.Compact(d.List[i].Objects)
	}
	return d.List
}

// seen adds what could not be seen, or is to be confirmed.
func (d *decision) seen(p *Parts, r *report.Report) {
	res := &p.Result
	if !res.Complete {
		d.Add(code.Incomplete, "Not everything could be looked at")
		for _, s := range r.Incomplete() {
			d.Add(code.Incomplete, "Not everything could be looked at", s.Title())
		}
	}
	for i := range r.InfraMachines {
		if !res.Unattributed[i].Unlinked { // else it is a condition
			d.Add(code.InstancesToConfirm, "These instances may or may not belong to a cluster of the backup", r.InfraMachines[i].Instance.Object())
		}
	}
	for _, e := range r.OtherErrors() {
		d.Add(code.ErrorsOccurred, "Errors occurred, so that something may be missing", cmp.Or(e.Object, e.Scope, e.Message))
	}
	if r.Summary.Machines.Total == 0 && !slices.ContainsFunc(res.Clusters, hasPool) {
		d.Add(code.NothingToCompare, "The backup holds no machine that could be compared")
	}
}

func hasPool(c detector.Cluster) bool {
	return !c.Self && slices.ContainsFunc(c.WorkerGroups, func(g detector.Set) bool { return g.Pool != nil })
}

// checks adds the errors in the backup itself, one reason for each code.
func (d *decision) checks(all []check.Finding, counts func(check.Finding) bool) {
	for _, f := range all {
		if f.Code == check.RuleNewer.Code {
			d.Add(code.NewerBackup, "A newer backup is in the same place, so that this one is not to be restored without a reason: "+f.Message, f.Object)
		}
		if f.Code == check.RuleUnattributed.Code {
			d.Add(code.BackupErrorsUnclear, "Something that a cluster needs may be missing from the backup: "+f.Message, f.Object)
		}
		if f.Severity == code.CheckError && counts(f) {
			d.Add(code.BackupError, "The backup must not be restored as it is ("+string(f.Code)+"): "+strings.TrimSuffix(f.Why, "."), f.Object)
		}
	}
}
