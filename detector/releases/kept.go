package releases

import (
	"slices"
	"strconv"
	"time"

	"drift-detector/internal/lazyregexp"
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

// row is a declared field that a server drops whose minor version is older: there it is not
// known, or its feature gate is off by default, and the registry's strategy takes it out.
type row struct {
	kind  string // empty for all that have Pods
	field *lazyregexp.Regexp
	minor int
}

// pods leads to the spec of Pods.
const pods = `^/spec/(jobTemplate/spec/)?(template/spec/)?`

func field(kind, pattern string, minor int) row {
	return row{kind, lazyregexp.New(pattern + `(/|$)`), minor}
}

// since are those fields, each with the first version that has its gate on (Kubernetes
// pkg/features/kube_features.go v1.35, versioned_kube_features.go v1.32; what is dropped:
// pkg/api/pod/util.go:dropDisabledFields, and dropDisabledFields, PrepareForCreate and
// dropStatefulSetDisabledFields of pkg/registry/{core/service,apps/statefulset,batch/job,policy/
// poddisruptionbudget,autoscaling/horizontalpodautoscaler}/strategy.go). A server whose gates
// somebody has set is none of these.
var since = []row{
	field("Service", `^/spec/trafficDistribution`, 31),                                                     // ServiceTrafficDistribution: 1.30 off, 1.31 on
	field("StatefulSet", `^/spec/persistentVolumeClaimRetentionPolicy`, 27),                                // StatefulSetAutoDeletePVC: 1.23 off, 1.27 on
	field("StatefulSet", `^/spec/ordinals`, 27),                                                            // StatefulSetStartOrdinal: 1.26 off, 1.27 on
	field("StatefulSet", `^/spec/updateStrategy/rollingUpdate/maxUnavailable`, 35),                         // MaxUnavailableStatefulSet: 1.24 off, 1.35 on
	field("PodDisruptionBudget", `^/spec/unhealthyPodEvictionPolicy`, 27),                                  // PDBUnhealthyPodEvictionPolicy: 1.26 off, 1.27 on
	field("HorizontalPodAutoscaler", `^/spec/behavior/scale(Up|Down)/tolerance`, 35),                       // HPAConfigurableTolerance: 1.33 off, 1.35 on
	field("Job", `^/spec/(backoffLimitPerIndex|maxFailedIndexes)`, 29),                                     // JobBackoffLimitPerIndex: 1.28 off, 1.29 on
	field("Job", `^/spec/podReplacementPolicy`, 29),                                                        // JobPodReplacementPolicy: 1.28 off, 1.29 on
	field("Job", `^/spec/successPolicy`, 31),                                                               // JobSuccessPolicy: 1.30 off, 1.31 on
	field("Job", `^/spec/managedBy`, 32),                                                                   // JobManagedBy: 1.30 off, 1.32 on
	field("", pods+`initContainers/\d+/restartPolicy`, 29),                                                 // SidecarContainers: 1.28 off, 1.29 on
	field("", pods+`(initC|c)ontainers/\d+/lifecycle/(preStop|postStart)/sleep`, 30),                       // PodLifecycleSleepAction: 1.29 off, 1.30 on
	field("", pods+`(initC|c)ontainers/\d+/resizePolicy`, 33),                                              // InPlacePodVerticalScaling: 1.27 off, 1.33 on
	field("", pods+`(initC|c)ontainers/\d+/volumeMounts/\d+/recursiveReadOnly`, 31),                        // RecursiveReadOnlyMounts: 1.30 off, 1.31 on
	field("", pods+`((initC|c)ontainers/\d+/)?securityContext/appArmorProfile`, 30),                        // the field is of 1.30, AppArmorFields on
	field("", pods+`securityContext/supplementalGroupsPolicy`, 33),                                         // SupplementalGroupsPolicy: 1.31 off, 1.33 on
	field("", pods+`hostUsers`, 33),                                                                        // UserNamespacesSupport: 1.25 off, 1.33 on
	field("", pods+`topologySpreadConstraints/\d+/matchLabelKeys`, 27),                                     // MatchLabelKeysInPodTopologySpread: 1.25 off, 1.27 on
	field("", pods+`topologySpreadConstraints/\d+/node(Affinity|Taints)Policy`, 26),                        // NodeInclusionPolicyInPodTopologySpread: 1.25 off, 1.26 on
	field("", pods+`affinity/pod(Anti)?Affinity/\w+/\d+/(podAffinityTerm/)?(match|mismatch)LabelKeys`, 31), // MatchLabelKeysInPodAffinity: 1.29 off, 1.31 on
}

var minorForm = lazyregexp.New(`^v?1\.(\d{1,3})\b`)

// minorOf returns the minor version of a Kubernetes version, or 0.
func minorOf(version string) int {
	m := minorForm.FindStringSubmatch(version)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// declaredBelow returns the pointers to the values below one that are no maps or lists.
func declaredBelow(pointer string, value any) []string {
	var all []string
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			all = append(all, declaredBelow(pointer+"/"+escaped.Replace(key), below)...)
		}
	case []any:
		for i, below := range v {
			all = append(all, declaredBelow(pointer+"/"+strconv.Itoa(i), below)...)
		}
	}
	if len(all) == 0 {
		return []string{pointer}
	}
	return all
}

// dropped says that the server that was backed up drops what is declared and absent, all of it;
// "" where it does not, or its version is not known.
func dropped(server string, c *Compared, ch *Change) string {
	minor, first := minorOf(server), 0
	if _, known := builtin[c.APIVersion+" "+c.Kind]; minor == 0 || ch.Op != "add" || !known {
		return ""
	}
	for _, pointer := range declaredBelow(ch.Pointer, ch.Desired) {
		i := slices.IndexFunc(since, func(r row) bool {
			return minor < r.minor && (r.kind == "" || r.kind == c.Kind) && r.field.MatchString(pointer)
		})
		if i < 0 {
			return ""
		}
		first = max(first, since[i].minor)
	}
	return "dropped by the server, " + server + ": it has the field since 1." + strconv.Itoa(first) + ", and no upgrade repairs it"
}

// keep names the changes that no upgrade repairs although nobody made them: they do not count,
// and Flux does not see them.
func (w *wanted) keep(changes []Change, server string) {
	for i := range changes {
		ch := &changes[i]
		why := dropped(server, w.compared, ch)
		if why == "" && w.isAdmitted(ch) {
			why = Admission
			ch.Admitted = true
		}
		if why != "" && ch.Benign == "" {
			ch.Benign, ch.Unseen, ch.kept = why, true, true
		}
	}
}
