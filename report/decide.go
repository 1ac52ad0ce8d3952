package report

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/detector"
	"drift-detector/detector/forecast"
)

// Answers to the question whether it is safe to restore, worst first.
const (
	No       = "no"       // a controller ends or doubles what lives, a cluster stands still, or the backup is not fit
	Unclear  = "unknown"  // what decides could not be decided, or not be seen
	WithWork = "withWork" // nothing that lives is ended or doubled; something is made, started or deleted, or stays broken
	Yes      = "yes"      // the controllers take over what lives, and do nothing else
)

// Codes of reasons that are not effects of a forecast.
const (
	BackupError        = "BackupError"
	Incomplete         = "Incomplete"
	ErrorsOccurred     = "ErrorsOccurred"
	InstancesToConfirm = "InstancesToConfirm"
	NothingToCompare   = "NothingToCompare"
	NoForecast         = "NoForecast"
	StatusNotHealthy   = "StatusNotHealthy"
)

// Narrowed is the condition that a report of some clusters only adds.
const Narrowed = "Narrowed"

// reasonRow says what answer a reason leaves.
type reasonRow struct{ code, safe string }

// reasonRows are all reasons, the most dangerous first. The worst of those that there
// are is the answer; without any it is yes.
var reasonRows = []reasonRow{
	{forecast.ClustersFirst, No},
	{forecast.MachinesDeleted, No},
	{forecast.PoolScaledBack, No},
	{forecast.LivingReplaced, No},
	{forecast.RolloutDue, No},
	{forecast.SecondInstance, No},
	{forecast.EtcdMembersRemoved, No},
	{forecast.ControlPlaneDown, No},
	{forecast.ClusterHalted, No},
	{BackupError, No},
	{Incomplete, Unclear},
	{forecast.MachinesUnknown, Unclear},
	{forecast.CopiedID, Unclear},
	{forecast.ResourceUndecided, Unclear},
	{forecast.PoolNotDecided, Unclear},
	{forecast.OutcomeUnknown, Unclear},
	{forecast.SpecUnseen, Unclear},
	{forecast.HostedControlPlane, Unclear},
	{InstancesToConfirm, Unclear},
	{ErrorsOccurred, Unclear},
	{NothingToCompare, Unclear},
	{NoForecast, Unclear},
	{StatusNotHealthy, Unclear},
	{forecast.OwnerHalted, WithWork},
	{forecast.MachinesHalted, WithWork},
	{forecast.CannotReplace, WithWork},
	{forecast.MachinesBroken, WithWork},
	{forecast.MachinesMissing, WithWork},
	{forecast.MachinesMade, WithWork},
	{forecast.PoolGrown, WithWork},
	{forecast.InstancesStarted, WithWork},
	{forecast.InstancesStopped, WithWork},
	{forecast.StaleReplaced, WithWork},
	{forecast.GhostsLeft, WithWork},
	{forecast.FoundByNameOnly, WithWork},
	{forecast.MachinesNotReady, WithWork},
	{forecast.ResourceMade, WithWork},
	{forecast.PoolMachinesDeleted, WithWork},
	{forecast.RolloutScheduled, WithWork},
}

// rankOf is the place of a reason among all; one that is not known is as dangerous as
// the worst.
func rankOf(code string) int {
	return slices.IndexFunc(reasonRows, func(r reasonRow) bool { return r.code == code })
}

// answersWorstFirst are all answers.
var answersWorstFirst = []string{No, Unclear, WithWork, Yes}

// safeAfter is the answer that a reason leaves.
func safeAfter(code string) string {
	if i := rankOf(code); i >= 0 {
		return reasonRows[i].safe
	}
	return No
}

// decide makes the one answer from everything that a restored controller does, from
// what could not be decided, and from what is wrong with the backup. Ignore rules do not
// change it: they change what people look at, not what controllers do.
func decide(p *Parts, r *Report) *SafeAnswer {
	d := decision{at: map[[2]string]int{}}
	d.seen(p, r)
	d.checks(r)
	for i := range p.Result.Clusters {
		if f := forecastOf(p.Forecast, i); f != nil && !p.Result.Clusters[i].Self {
			d.effects(f.Effects)
		}
	}
	if p.Forecast != nil {
		d.effects(p.Forecast.Effects)
	} else {
		d.add(NoForecast, "What the restored controllers will do was not forecast")
	}
	if len(d.reasons) == 0 && r.Summary.Status != Healthy {
		d.add(StatusNotHealthy, "The status is "+r.Summary.Status)
	}
	out := &SafeAnswer{Safe: Yes, Reasons: d.sorted()}
	for _, reason := range out.Reasons {
		if s := safeAfter(reason.Code); slices.Index(answersWorstFirst, s) < slices.Index(answersWorstFirst, out.Safe) {
			out.Safe = s
		}
	}
	if p.Forecast != nil {
		out.Conditions = notes(p.Forecast.Conditions)
	}
	if f := p.Options.Filter; f != nil {
		out.Conditions = append(out.Conditions, Note{Narrowed, "Only the clusters that were asked for are restored, or the others are looked at, too: " + f.String()})
	}
	return out
}

// decision gathers reasons.
type decision struct {
	reasons []AnswerReason
	at      map[[2]string]int // by code and message
}

func (d *decision) add(code, message string, objects ...string) {
	key := [2]string{code, message}
	i, known := d.at[key]
	if !known {
		i = len(d.reasons)
		d.at[key], d.reasons = i, append(d.reasons, AnswerReason{Code: code, Message: message})
	}
	d.reasons[i].Objects = append(d.reasons[i].Objects, objects...)
}

func (d *decision) effects(all []forecast.Effect) {
	for i := range all {
		d.add(all[i].Code, all[i].Message, all[i].Objects...)
	}
}

// sorted are the reasons, the most dangerous first, each with its objects once.
func (d *decision) sorted() []AnswerReason {
	slices.SortFunc(d.reasons, func(a, b AnswerReason) int {
		return cmp.Or(rankOf(a.Code)-rankOf(b.Code), strings.Compare(a.Message, b.Message))
	})
	for i := range d.reasons {
		slices.Sort(d.reasons[i].Objects)
		d.reasons[i].Objects = slices.Compact(d.reasons[i].Objects)
	}
	return d.reasons
}

// seen adds what could not be seen, or is to be confirmed.
func (d *decision) seen(p *Parts, r *Report) {
	res := &p.Result
	if !res.Complete {
		d.add(Incomplete, "Not everything could be looked at")
		for _, s := range r.Incomplete() {
			d.add(Incomplete, "Not everything could be looked at", s.Title())
		}
	}
	for i := range r.InfraMachines {
		v := &r.InfraMachines[i].Instance
		d.add(InstancesToConfirm, "These instances may or may not belong to a cluster of the backup", "instance "+cmp.Or(v.Path, v.Name, v.Ref, v.ID))
	}
	for _, e := range r.OtherErrors() {
		d.add(ErrorsOccurred, "Errors occurred, so that something may be missing", cmp.Or(e.Object, e.Scope, e.Message))
	}
	if r.Summary.Machines.Total == 0 && !slices.ContainsFunc(res.Clusters, hasPool) {
		d.add(NothingToCompare, "The backup holds no machine that could be compared")
	}
}

func hasPool(c detector.Cluster) bool {
	return !c.Self && slices.ContainsFunc(c.WorkerGroups, func(g detector.Set) bool { return g.Pool != nil })
}

// checks adds the errors in the backup itself, one reason for each code.
func (d *decision) checks(r *Report) {
	for i := range r.Checks {
		if c := &r.Checks[i]; c.Error() {
			d.add(BackupError, "The backup is not fit to be restored as it is ("+c.Code+"): "+strings.TrimSuffix(c.Why, "."), c.Object)
		}
	}
}
