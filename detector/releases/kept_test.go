package releases

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestWhatIsChangedAtAdmissionIsNoDrift: a webhook rewrote a declared value in Helm's own
// request; where anything speaks against that, the difference counts as it always did.
func TestWhatIsChangedAtAdmissionIsNoDrift(t *testing.T) {
	wrote := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	live := func(entries string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p","managedFields":[` + entries + `]},"data":{"image":"mirror.corp/web"}}`
	}
	entry := func(manager string, at time.Time, fields string) string {
		return fmt.Sprintf(`{"manager":%q,"operation":"Update","apiVersion":"v1","time":%q,"fieldsType":"FieldsV1","fieldsV1":%s}`, manager, at.Format(time.RFC3339), fields)
	}
	const marks, data = `"f:metadata":{"f:annotations":{"f:meta.helm.sh/release-name":{}}}`, `"f:data":{"f:image":{}}`
	helms := entry("helm", wrote, "{"+marks+","+data+"}")
	for what, c := range map[string]struct {
		live, status, method string
		at                   time.Time
		admitted             bool
	}{
		"by Helm, at the time of the record": {helms, "deployed", "", wrote.Add(20 * time.Second), true},
		"by Helm, long before the record":    {helms, "deployed", "", wrote.Add(20 * time.Hour), false},
		"by Helm, after the record":          {helms, "deployed", "", wrote.Add(-time.Hour), false},
		"the record failed":                  {helms, "failed", "", wrote.Add(20 * time.Second), false},
		"by another":                         {entry("helm", wrote, "{"+marks+"}") + "," + entry("kubectl-edit", wrote, "{"+data+"}"), "deployed", "", wrote.Add(20 * time.Second), false},
		"by both":                            {helms + "," + entry("kubectl-edit", wrote, "{"+data+"}"), "deployed", "", wrote.Add(20 * time.Second), false},
		"applied":                            {helms, "deployed", "ssa", wrote.Add(20 * time.Second), false},
		"nobody knows":                       {"", "deployed", "", wrote.Add(20 * time.Second), false},
	} {
		t.Run(what, func(t *testing.T) {
			w := repaired(t)
			status(t, w, c.status)
			put(w[newestRecord], fmt.Sprint(c.at.Unix()), "metadata", "labels", "modifiedAt")
			w.edit(t, func(r Object) { r["apply_method"] = c.method })
			o := w.with(t, "configmaps", "shop", live(c.live), "{apiVersion: v1, kind: ConfigMap, metadata: {name: p}, data: {image: registry.io/web}}\n")
			if len(o.Patch) != 1 {
				t.Fatalf("%+v", o)
			}
			ch := o.Patch[0]
			if ch.Admitted != c.admitted || (o.Verdict == Unchanged) != c.admitted || c.admitted && (ch.Upgrade != Leaves || ch.Benign != Admission) {
				t.Errorf("%s %+v", o.Verdict, ch)
			}
		})
	}
}

// TestWhatTheServerDropsIsNoDrift: a field that the server of the backup did not know yet.
func TestWhatTheServerDropsIsNoDrift(t *testing.T) {
	for server, drops := range map[string]bool{"v1.29.4": true, "v1.30.0-eks-1": true, "v1.31.0": false, "v1.35.4": false, "": false, "1": false} {
		w := repaired(t)
		w.lives(t, "services", "shop", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"p"},"spec":{"selector":{"a":"b"},"ports":[{"port":80,"targetPort":80,"protocol":"TCP"}]}}`)
		w.more(t, "{apiVersion: v1, kind: Service, metadata: {name: p}, spec: {selector: {a: b}, trafficDistribution: PreferClose, ports: [{port: 80}]}}\n")
		r := w.collect(t, New(Options{Server: server}), func(string, string) string { return "" })
		o := r.Releases[len(r.Releases)-1].object("Service/shop/p")
		if o == nil || len(o.Patch) != 1 || (o.Verdict == Unchanged) != drops || (o.Patch[0].Upgrade == Leaves) != drops {
			t.Errorf("%s: %+v", server, o)
		}
	}
}

// TestWhichFieldsAServerDrops: each row at the version before its own and at its own; what is above
// a field counts where nothing else is declared there, and kinds of others never do.
func TestWhichFieldsAServerDrops(t *testing.T) {
	const deployment = "apps/v1 Deployment"
	sleep := map[string]any{"preStop": map[string]any{"sleep": map[string]any{"seconds": int64(5)}}}
	for _, c := range []struct {
		kind, pointer string
		value         any
		minor         int // the first that does not
	}{
		{"v1 Service", "/spec/trafficDistribution", "PreferClose", 31},
		{"apps/v1 StatefulSet", "/spec/persistentVolumeClaimRetentionPolicy", map[string]any{"whenDeleted": "Delete"}, 27},
		{"apps/v1 StatefulSet", "/spec/ordinals/start", int64(1), 27},
		{"apps/v1 StatefulSet", "/spec/updateStrategy/rollingUpdate/maxUnavailable", int64(2), 35},
		{"apps/v1 StatefulSet", "/spec/updateStrategy/rollingUpdate", map[string]any{"maxUnavailable": int64(2), "partition": int64(1)}, 0},
		{"policy/v1 PodDisruptionBudget", "/spec/unhealthyPodEvictionPolicy", "AlwaysAllow", 27},
		{"autoscaling/v2 HorizontalPodAutoscaler", "/spec/behavior/scaleUp/tolerance", "0", 35},
		{"batch/v1 Job", "/spec/backoffLimitPerIndex", int64(1), 29},
		{"batch/v1 Job", "/spec/maxFailedIndexes", int64(1), 29},
		{"batch/v1 Job", "/spec/podReplacementPolicy", "Failed", 29},
		{"batch/v1 Job", "/spec/successPolicy/rules/0/succeededCount", int64(1), 31},
		{"batch/v1 Job", "/spec/managedBy", "x", 32},
		{deployment, "/spec/template/spec/initContainers/0/restartPolicy", "Always", 29},
		{deployment, "/spec/template/spec/containers/0/restartPolicy", "Always", 0},
		{deployment, "/spec/template/spec/containers/0/lifecycle/preStop/sleep", map[string]any{"seconds": int64(5)}, 30},
		{deployment, "/spec/template/spec/containers/0/lifecycle", sleep, 30},
		{deployment, "/spec/template/spec/containers/0/resizePolicy/0/restartPolicy", "x", 33},
		{deployment, "/spec/template/spec/containers/0/volumeMounts/1/recursiveReadOnly", "Enabled", 31},
		{deployment, "/spec/template/spec/containers/0/securityContext/appArmorProfile", map[string]any{"type": "Unconfined"}, 30},
		{"batch/v1 CronJob", "/spec/jobTemplate/spec/template/spec/securityContext/appArmorProfile/type", "Unconfined", 30},
		{"v1 Pod", "/spec/securityContext/supplementalGroupsPolicy", "Strict", 33},
		{deployment, "/spec/template/spec/hostUsers", false, 33},
		{deployment, "/spec/template/spec/topologySpreadConstraints/0/matchLabelKeys", []any{"a"}, 27},
		{deployment, "/spec/template/spec/topologySpreadConstraints/0/nodeTaintsPolicy", "Honor", 26},
		{deployment, "/spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/0/podAffinityTerm/mismatchLabelKeys/0", "a", 31},
		{"v1 ConfigMap", "/data/hostUsers", "x", 0},
		{"monitoring.coreos.com/v1 Prometheus", "/spec/initContainers/0/restartPolicy", "Always", 0},
	} {
		api, kind, _ := strings.Cut(c.kind, " ")
		drops := func(minor int) bool {
			return dropped(fmt.Sprintf("v1.%d.3+x", minor), &Compared{APIVersion: api, Kind: kind}, &Change{Op: "add", Pointer: c.pointer, Desired: c.value}) != ""
		}
		if c.minor == 0 && drops(20) || c.minor > 0 && (!drops(c.minor-1) || drops(c.minor)) {
			t.Errorf("%s %s: before 1.%d: %t, from then on: %t", c.kind, c.pointer, c.minor, drops(c.minor-1), drops(c.minor))
		}
	}
}
