package releases

import (
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Admission is why a value does not count that an admission webhook wrote in Helm's own
// request. The next upgrade passes the same webhook, and so does the dry run by which Flux
// looks for drift (kubernetes.io "Dynamic Admission Control", side effects): nothing repairs it.
const Admission = "changed at admission, in Helm's own request: no upgrade repairs it"

// aroundUpgrade reports whether Helm wrote at a time for the newest revision: from the time that
// an upgrade may take before its record says that it is done, to a moment after that.
func (r *Release) aroundUpgrade(at *time.Time) bool {
	const takes, moment = 15 * time.Minute, time.Minute
	return at != nil && r.modified != nil && r.HelmStatus == "deployed" && at.After(r.modified.Add(-takes)) && at.Before(r.modified.Add(moment))
}

// isAdmitted reports whether a declared value lives as another one although nobody but Helm has
// ever owned the field, and Helm only at the time of the record: its own request was changed on
// the way. A server-side apply keeps such a value under another entry, and is left alone.
func (w *wanted) isAdmitted(ch *Change) bool {
	method, _ := w.release.method()
	return method != "ssa" && ch.Op == "replace" && ch.Benign == "" && len(ch.Owners) > 0 && !slices.ContainsFunc(ch.Owners, func(o Owner) bool {
		return !o.own || o.Operation != "Update" || o.Subresource != "" || !w.release.aroundUpgrade(o.Time)
	})
}

// since are declared fields that a server drops whose minor version is older, for there they are
// not known or their feature is off by default (kubernetes.io "Feature Gates", and the release
// notes of the versions).
var since = []struct {
	kind  string // empty for all that have Pods
	field *regexp.Regexp
	minor int
}{
	{kind: "Service", field: regexp.MustCompile(`^/spec/trafficDistribution$`), minor: 31},
	{kind: "StatefulSet", field: regexp.MustCompile(`^/spec/(persistentVolumeClaimRetentionPolicy|ordinals)(/|$)`), minor: 27},
	{kind: "PodDisruptionBudget", field: regexp.MustCompile(`^/spec/unhealthyPodEvictionPolicy$`), minor: 27},
	{kind: "Job", field: regexp.MustCompile(`^/spec/(backoffLimitPerIndex|maxFailedIndexes|podReplacementPolicy)$`), minor: 29},
	{kind: "Job", field: regexp.MustCompile(`^/spec/successPolicy(/|$)`), minor: 31},
	{kind: "Job", field: regexp.MustCompile(`^/spec/managedBy$`), minor: 32},
	{field: regexp.MustCompile(`/initContainers/\d+/restartPolicy$`), minor: 29},
	{field: regexp.MustCompile(`/lifecycle/(preStop|postStart)/sleep(/|$)`), minor: 30},
	{field: regexp.MustCompile(`/topologySpreadConstraints/\d+/matchLabelKeys(/|$)`), minor: 27},
	{field: regexp.MustCompile(`/securityContext/appArmorProfile(/|$)`), minor: 30},
}

var minorForm = regexp.MustCompile(`^v?1\.(\d{1,3})\b`)

// minorOf returns the minor version of a Kubernetes version, or 0.
func minorOf(version string) int {
	m := minorForm.FindStringSubmatch(version)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// dropped says that the server that was backed up drops a field that is declared and absent; ""
// where it does not, or its version is not known.
func dropped(server, kind string, ch *Change) string {
	minor := minorOf(server)
	if minor == 0 || ch.Op != "add" {
		return ""
	}
	for _, row := range since {
		if minor < row.minor && (row.kind == "" || row.kind == kind) && row.field.MatchString(ch.Pointer) {
			return "dropped by the server, " + server + ": it has the field since 1." + strconv.Itoa(row.minor) + ", and no upgrade repairs it"
		}
	}
	return ""
}

// keep names the changes that no upgrade repairs although nobody made them: they do not count,
// and Flux does not see them.
func (w *wanted) keep(changes []Change, server string) {
	for i := range changes {
		ch := &changes[i]
		why := dropped(server, w.compared.Kind, ch)
		if why == "" && w.isAdmitted(ch) {
			why = Admission
			ch.Admitted = true
		}
		if why != "" && ch.Benign == "" {
			ch.Benign, ch.Unseen, ch.kept = why, true, true
		}
	}
}
