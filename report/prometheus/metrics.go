package prometheus

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// families returns all metrics, in the order in which they are printed: of the
// report, of its answer, of the clusters, of what else was found.
func families(r *report.Report) []*family {
	return slices.Concat(ofReport(r), ofAnswer(r), ofClusters(r), ofTheRest(r))
}

// Labels returns the labels of all metrics, and that a metric has them: a grouping key of a Pushgateway with
// one of them would overwrite it.
func Labels() map[string]string {
	out := map[string]string{}
	for _, r := range []*report.Report{{}, {Backups: []report.Backup{{Live: true}}}} {
		for _, f := range families(r) {
			for _, name := range f.labels {
				out[name] = f.name + " has"
			}
		}
	}
	return out
}

func ofReport(r *report.Report) []*family {
	info := newFamily("info", "The program that made the report; always 1.", largest, "version", "commit")
	info.add(1, r.Tool.Version, r.Tool.Commit)
	failed := failedFamily()
	failed.add(0)
	made := newFamily("report_timestamp_seconds", "When the report was made, in seconds since 1970.", largest)
	addTime(made, r.GeneratedAt)
	narrowed := newFamily("report_narrowed", "1 when the report is only of the clusters that were asked for.", largest)
	narrowed.add(one(r.Options.Filter != nil))
	written := newFamily("backup_written_timestamp_seconds",
		"When the newest entry of the "+r.Subject()+" was written, in seconds since 1970: what happened later is not in it.", largest, "backup", "path")
	stale := newFamily("backup_stale", "1 when the backup was older than --max-age when the report was made, or nobody knows how old it is.", largest, "backup")
	missing := newFamily("missing_objects", "Objects that the "+r.Subject()+" refers to and lacks.", sum, "backup")
	for i := range r.Backups {
		b := &r.Backups[i]
		addTime(written, b.WrittenTo, number(i), b.Path)
		if !b.Live {
			stale.add(one(isStale(r, i)), number(i))
		}
		missing.add(int64(len(b.Missing)), number(i))
	}
	return []*family{info, failed, made, narrowed, written, stale, missing}
}

// failedFamily returns metrics of the run and not of the report.
func failedFamily() *family {
	return newFamily("run_failed", "1 when the newest run that pushed ended without a report: what the other metrics say is of an older one.", largest)
}

// isStale reports whether a check says so of a backup, and no rule sets that aside. One without a date is,
// too, where no check says anything of its age.
func isStale(r *report.Report, backup int) bool {
	unsaid := r.Backups[backup].WrittenTo.IsZero()
	for i := range r.Checks {
		if c := &r.Checks[i]; c.Backup == backup && c.Code.IsOldBackup() {
			if c.Ignored == nil {
				return true
			}
			unsaid = false
		}
	}
	return unsaid
}

// addTime adds a time that is known.
func addTime(f *family, t time.Time, labels ...string) {
	if !t.IsZero() {
		f.add(t.Unix(), labels...)
	}
}

// number returns how people count backups: from 1.
func number(backup int) string { return strconv.Itoa(backup + 1) }

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// clusterStatuses are the statuses of clusters, worst first.
var clusterStatuses = slices.DeleteFunc(code.RollUps(), func(s code.Status) bool {
	return s == code.NeedFurtherConfirmationInfraMachines
})

func ofAnswer(r *report.Report) []*family {
	s := &r.Summary
	// Not summary_status: promtool takes that for a metric of type summary.
	status := newFamily("status", "1 for the status of the whole report, 0 for the others.", largest, "status")
	addStatus(status, code.RollUps(), s.Status)
	complete := newFamily("complete", "1 when every place was listed whole. When 0, what was not seen counts as Unknown, never as Stale.", least)
	complete.add(one(s.Complete))
	clusters := newFamily("clusters", "Clusters by status, without the management cluster itself.", sum, "status")
	n := s.Clusters
	for i, v := range []int{n.ManualRemediationRequired, n.NeedFurtherConfirmation, n.ManualRemediationNotRequired, n.Healthy} {
		clusters.add(int64(v), string(clusterStatuses[i]))
	}
	return append([]*family{status, complete, clusters}, ofSafety(r)...)
}

// ofSafety says whether it is safe to restore. Of a report without an answer that is
// not known.
func ofSafety(r *report.Report) []*family {
	if r.IsLive() { // nothing is restored
		return ofDrift(r)
	}
	safe := newFamily("safe_to_restore", "1 for the answer whether it is safe to restore the backup, 0 for the others. Only yes is yes.", largest, "answer")
	byPlan := newFamily("safe_to_restore_by_plan", "The same for a restore by the plan: Clusters restored paused, its steps done, then unpaused.", largest, "answer")
	reasons := newFamily("answer_reasons", "Machines, clusters and other things for which the answer is not yes, by the code in the list of what is to be done.", sum, "code")
	conditions := newFamily("answer_conditions", "What the answers hold only while each of them does, by code: a yes is none without them.", sum, "code")
	is, then := code.Unclear, code.Unclear
	if a := r.Summary.Answer; a != nil {
		is = a.Safe
		for _, reason := range r.ListedNow() {
			reasons.add(int64(max(1, len(reason.Objects))), string(reason.Code))
		}
	}
	if by := r.Summary.AnswerByPlan; by != nil {
		then = by.Safe
	}
	for _, c := range r.Answer().Conditions {
		conditions.add(1, string(c.Code))
	}
	addStatus(safe, code.Answers(), is)
	addStatus(byPlan, code.Answers(), then)
	return []*family{safe, byPlan, reasons, conditions}
}

// ofDrift says what has drifted of a management cluster that runs, and whether that is all.
func ofDrift(r *report.Report) []*family {
	drift := newFamily("drift", "Machines and VMs of a management cluster that runs that are not as they should be, by what is wrong. Without drift_known, others may be.", sum, "drift")
	known := newFamily("drift_known", "1 when all that drift rests on was read. When 0, no drift means nothing.", least)
	of := map[string]int64{}
	for _, d := range r.Drift() {
		of[d.Word]++
	}
	for _, word := range report.DriftWords() {
		drift.add(of[word], word)
	}
	known.add(one(r.DriftKnown()))
	return []*family{drift, known}
}

// addStatus adds a sample per status, as kube-state-metrics does for phases: so
// a query for any of them has an answer. One that this release does not know is
// added to those that it knows, and 1 of them stays 1.
func addStatus[S ~string](f *family, known []S, is S, labels ...string) {
	for _, status := range known {
		f.add(one(status == is), append(slices.Clone(labels), string(status))...)
	}
	if !slices.Contains(known, is) {
		f.add(1, append(slices.Clone(labels), string(is))...)
	}
}

func ofClusters(r *report.Report) []*family {
	labels := []string{"backup", "cluster_namespace", "cluster", "status"}
	machines := newFamily("machines",
		"Machines by verdict. Those that ignore rules set aside are counted, those of the management cluster itself are not.", sum, labels...)
	ignored := newFamily("machines_ignored", "Of drift_detector_machines, those that ignore rules set aside.", sum, labels...)
	own := newFamily("management_cluster_machines",
		"Machines of the management cluster itself by verdict. It is lost anyway: no other metric counts them.", sum, labels...)
	status := newFamily("cluster_status", "1 for the status of the cluster, 0 for the others.", largest, labels...)
	for i := range r.Clusters {
		c := &r.Clusters[i]
		id := []string{number(c.Backup), c.Namespace, c.Name}
		if c.Self {
			addMachines(own, c.Counts, id)
			continue
		}
		addMachines(machines, c.Counts, id)
		addMachines(ignored, setAside(c), id)
		addStatus(status, clusterStatuses, c.Status, id...)
	}
	return []*family{machines, ignored, own, status}
}

func addMachines(f *family, n report.MachineCounts, cluster []string) {
	for _, s := range []struct {
		status code.Status
		n      int
	}{{code.Ghost, n.Ghost}, {code.Unknown, n.Unknown}, {code.Stale, n.Stale}, {code.Healthy, n.Healthy}} {
		f.add(int64(s.n), append(slices.Clone(cluster), string(s.status))...)
	}
}

// setAside counts the machines that rules set aside. All of them are in the
// lists, also in those of a shortened report: they are findings.
func setAside(c *report.Cluster) report.MachineCounts {
	var n report.MachineCounts
	for _, s := range c.Sets() {
		for i := range s.Machines {
			if s.Machines[i].Ignored != nil {
				n.Count(s.Machines[i].Status)
			}
		}
	}
	return n
}

func ofTheRest(r *report.Report) []*family {
	s := &r.Summary
	single := func(name, help string, n int) *family {
		f := newFamily(name, help, sum)
		f.add(int64(n))
		return f
	}
	excluded := newFamily("excluded_instances", "VMs that cannot be a machine, by cause.", sum, "cause")
	for _, cause := range slices.Sorted(maps.Keys(s.Excluded)) {
		excluded.add(int64(s.Excluded[cause]), cause)
	}
	resources := newFamily("resources", "Things other than machines that a restore depends on, by whether they exist.", sum, "state")
	resources.add(int64(s.Resources.Present), string(code.Present))
	resources.add(int64(s.Resources.Absent), string(code.Absent))
	resources.add(int64(s.Resources.Unknown), string(code.Undecided))
	return slices.Concat([]*family{
		single("infra_machines", "VMs that may or may not belong to a cluster of the "+r.Subject()+". Those that ignore rules set aside are counted.", s.InfraMachines),
		single("infra_machines_ignored", "Of drift_detector_infra_machines, those that ignore rules set aside.", s.IgnoredInfraMachines),
		excluded,
		single("out_of_scope_instances", "VMs that nothing ties to any cluster of the "+r.Subject()+".", s.OutOfScope),
		resources,
		single("errors", "Errors of the run.", s.Errors),
		checks(r), rules(r),
	}, scopes(r))
}

func checks(r *report.Report) *family {
	f := newFamily("checks", "Findings on the "+r.Subject()+" alone, by severity.", sum, "severity")
	for _, severity := range code.Severities() {
		f.add(0, string(severity))
	}
	for i := range r.Checks {
		f.add(1, string(r.Checks[i].Severity))
	}
	return f
}

func rules(r *report.Report) *family {
	f := newFamily("ignore_rules", "Ignore rules by state. One that is expired sets nothing aside any more.", sum, "state")
	f.add(0, string(report.RuleActive))
	f.add(0, string(report.RuleExpired))
	for i := range r.IgnoreRules {
		f.add(1, string(r.IgnoreRules[i].State))
	}
	return f
}

func scopes(r *report.Report) []*family {
	labels := []string{"provider", "endpoint", "location", "account"}
	complete := newFamily("scope_complete", "1 when the place was listed whole.", least, labels...)
	seen := newFamily("scope_instances", "VMs that were seen in the place.", sum, labels...)
	for i := range r.Scopes {
		s := &r.Scopes[i]
		complete.add(one(s.State == code.ScopeComplete), s.Provider, s.Endpoint, s.Location, s.Account)
		seen.add(int64(s.Instances), s.Provider, s.Endpoint, s.Location, s.Account)
	}
	return []*family{complete, seen}
}
