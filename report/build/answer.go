package build

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/backup/check"
	"drift-detector/detector"
	"drift-detector/detector/forecast"
	"drift-detector/report"
	"drift-detector/report/code"
)

// decide makes the one answer from everything that a restored controller does, from
// what could not be decided, and from what is wrong with the backup. Ignore rules do not
// change it: they change what people look at, not what controllers do.
func decide(p *Parts, r *report.Report) *report.SafeAnswer {
	d := decision{at: map[report.Note]int{}}
	d.seen(p, r)
	d.checks(r)
	for i := range p.Result.Clusters {
		if f := forecastOf(p.Forecast, i); f != nil {
			d.effects(f.Effects)
		}
	}
	if p.Forecast != nil {
		d.effects(p.Forecast.Effects)
	} else {
		d.add(code.NoForecast, "What the restored controllers will do was not forecast")
	}
	if len(d.reasons) == 0 && r.Summary.Status != code.Healthy {
		d.add(code.StatusNotHealthy, "The status is "+string(r.Summary.Status))
	}
	out := &report.SafeAnswer{Safe: code.Yes, Reasons: d.sorted()}
	if len(out.Reasons) > 0 { // the first is the most dangerous
		out.Safe = code.SafeAfter(out.Reasons[0].Code)
	}
	if p.Forecast != nil {
		out.Conditions = notes(p.Forecast.Conditions)
	}
	if f := p.Options.Filter; f != nil {
		out.Conditions = append(out.Conditions, report.Note{Code: code.Narrowed, Message: "Only the clusters that were asked for are restored, or the others are looked at, too: " + f.String()})
	}
	return out
}

// decision gathers reasons.
type decision struct {
	reasons []report.AnswerReason
	at      map[report.Note]int // by code and message
}

func (d *decision) add(code code.Reason, message string, objects ...string) {
	key := report.Note{Code: code, Message: message}
	i, known := d.at[key]
	if !known {
		i = len(d.reasons)
		d.at[key], d.reasons = i, append(d.reasons, report.AnswerReason{Code: code, Message: message})
	}
	d.reasons[i].Objects = append(d.reasons[i].Objects, objects...)
}

func (d *decision) effects(all []forecast.Effect) {
	for i := range all {
		d.add(code.Reason(all[i].Code), all[i].Message, all[i].Objects...)
	}
}

// sorted are the reasons, the most dangerous first, each with its objects once.
func (d *decision) sorted() []report.AnswerReason {
	slices.SortFunc(d.reasons, func(a, b report.AnswerReason) int {
		return cmp.Or(code.Rank(a.Code)-code.Rank(b.Code), strings.Compare(a.Message, b.Message))
	})
	for i := range d.reasons {
		slices.Sort(d.reasons[i].Objects)
		d.reasons[i].Objects = slices.Compact(d.reasons[i].Objects)
	}
	return d.reasons
}

// seen adds what could not be seen, or is to be confirmed.
func (d *decision) seen(p *Parts, r *report.Report) {
	res := &p.Result
	if !res.Complete {
		d.add(code.Incomplete, "Not everything could be looked at")
		for _, s := range r.Incomplete() {
			d.add(code.Incomplete, "Not everything could be looked at", s.Title())
		}
	}
	for i := range r.InfraMachines {
		v := &r.InfraMachines[i].Instance
		d.add(code.InstancesToConfirm, "These instances may or may not belong to a cluster of the backup", "instance "+cmp.Or(v.Path, v.Name, v.Ref, v.ID))
	}
	for _, e := range r.OtherErrors() {
		d.add(code.ErrorsOccurred, "Errors occurred, so that something may be missing", cmp.Or(e.Object, e.Scope, e.Message))
	}
	if r.Summary.Machines.Total == 0 && !slices.ContainsFunc(res.Clusters, hasPool) {
		d.add(code.NothingToCompare, "The backup holds no machine that could be compared")
	}
}

func hasPool(c detector.Cluster) bool {
	return !c.Self && slices.ContainsFunc(c.WorkerGroups, func(g detector.Set) bool { return g.Pool != nil })
}

// checks adds the errors in the backup itself, one reason for each code.
func (d *decision) checks(r *report.Report) {
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Code == check.RuleNewer.Code {
			d.add(code.NewerBackup, "A newer backup is in the same place, so that this one is not to be restored without a reason: "+c.Message, c.Object)
		}
		if c.Error() {
			d.add(code.BackupError, "The backup must not be restored as it is ("+string(c.Code)+"): "+strings.TrimSuffix(c.Why, "."), c.Object)
		}
	}
}
