package recheck

import (
	"strings"
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/report"
)

// The contexts of the management clusters are proven by the uid of kube-system, the Backup that
// is restored by when it ran, and the ConfigMap by its content; what shows neither lets nothing
// pass but what a person has compared.
func TestTheRestoreIsThatOfTheReport(t *testing.T) {
	with := func(change func(*report.Backup)) func(*report.Report, *infra.Listing) {
		return func(r *report.Report, _ *infra.Listing) {
			b := &r.Backups[0]
			b.KubeSystemUID, b.WrittenFrom = "u-old", b.WrittenTo.Add(-time.Minute)
			b.Items, b.Velero = 565, &report.Described{Name: "nightly", Started: b.WrittenFrom, Ended: b.WrittenTo.Add(-time.Second), Items: 588}
			if change != nil {
				change(b)
			}
		}
	}
	noUID := with(func(b *report.Backup) { b.KubeSystemUID = "" })
	second := func(uid string) func(*report.Report, *infra.Listing) {
		return func(r *report.Report, l *infra.Listing) {
			with(nil)(r, l)
			r.Backups = append(r.Backups, report.Backup{Path: "second", KubeSystemUID: uid, WrittenTo: r.Backups[0].WrittenTo})
		}
	}
	const (
		none      = `{"kind":"ClusterList","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{"resourceVersion":"7"},"items":[]}`
		noGroup   = `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps"},{"name":"batch"}]}`
		node      = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n-1"},"spec":{"providerID":"vsphere://11111111-1111-1111-1111-111111111111"}}`
		namespace = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"`
	)
	// space is what the lines of the plan print of a management cluster.
	space := func(uid, created string, more ...string) string {
		held := none
		if len(more) > 0 {
			held = strings.Replace(none, "[]", "["+strings.Join(more, ",")+"]", 1)
		}
		return `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[` + namespace + uid + `","creationTimestamp":"` + created + `"}},` + node + "]}\n" + held
	}
	cluster := func(title, more string) string {
		namespace, name, _ := strings.Cut(title, "/")
		return `{"metadata":{"namespace":"` + namespace + `","name":"` + name + `","creationTimestamp":"2026-11-25T12:00:00Z"` + more + `},"spec":{"paused":true}}`
	}
	holds := func(all ...string) string { return space("u-new", "2026-01-01T00:00:00Z", all...) }
	const byRestore = `,"labels":{"velero.io/restore-name":"r-1"}`
	old, now, young := space("u-old", "2026-01-01T00:00:00Z"), space("u-new", "2026-01-01T00:00:00Z"), space("u-new", "2026-11-25T00:00:00Z")
	alone := namespace + `u-old","creationTimestamp":"2026-01-01T00:00:00Z"}}`
	self := with(nil)
	isSelf := func(r *report.Report, l *infra.Listing) { self(r, l); r.Clusters[0].Self = true }
	ofNode := func(with string) string {
		return strings.Replace(now, `"spec":{"providerID":"vsphere://11111111-1111-1111-1111-111111111111"}`, with, 1)
	}
	const says = `"spec":{},"metadata":{"name":"n-2","annotations":{"cluster.x-k8s.io/cluster-namespace":"ns","cluster.x-k8s.io/cluster-name":"c"}}`
	of := func(name, started, phase string) string {
		return `{"kind":"Backup","metadata":{"name":"` + name + `","uid":"u-` + name + `"},"status":{"phase":"` + phase + `","startTimestamp":"` + started + `:00Z","completionTimestamp":"` + started + `:59Z","progress":{"itemsBackedUp":588}}}`
	}
	nightly, later := of("nightly", "2026-11-23T23:59", "Completed"), of("later", "2026-11-24T23:59", "Completed")
	byTarball := func(b *report.Backup) { b.Velero = &report.Described{Name: "nightly", Started: b.WrittenFrom} }
	inStore := func(name string) func(*report.Report, *infra.Listing) {
		return with(func(b *report.Backup) { b.Path = "s3://velero/mgmt/backups/" + name + "/" + name + ".tar.gz" })
	}
	modifiers := func(data string) string {
		return `{"kind":"ConfigMap","metadata":{"namespace":"velero","name":"restore-paused"},"data":{` + data + `}}`
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(report.Modifiers)
	for _, q := range []question{
		{"old", "management old", old, with(nil), passes},
		{"old: the namespace alone", "management old", alone, with(nil), passes},
		{"old: another", "management old", now, with(nil), stops},
		{"old: one of two", "management old", old, second("u-2"), passes},
		{"old: the uid of one is not known", "management old", now, second(""), blind},
		{"old: no uid is known", "management old", now, noUID, blind},
		{"old: it is younger than the backup", "management old", young, noUID, stops},
		{"old: no report has a backup", "management old", old, func(r *report.Report, _ *infra.Listing) { r.Backups = nil }, blind},
		{"old: compared by hand", "management old --id=u-new", now, noUID, passes},
		{"old: compared by hand, and then another", "management old --id=u-3", now, noUID, stops},
		{"old: a word does not count where the uid is known", "management old --id=u-new", now, with(nil), stops},
		{"new", "management new", now, with(nil), passes},
		{"new: the old one", "management new", old, with(nil), stops},
		{"new: the old one of two", "management new", strings.Replace(old, "u-old", "u-2", 1), second("u-2"), stops},
		{"new: the uid of one is not known", "management new", now, second(""), blind},
		{"new: no uid is known", "management new", now, noUID, blind},
		{"new: it is younger than the backup", "management new", young, noUID, passes},
		{"new: compared by hand", "management new --id=u-new", now, noUID, passes},
		{"new: compared by hand, and then another", "management new --id=u-3", now, noUID, stops},
		{"new: the old one by hand", "management new --id=u-old", old, with(nil), stops},
		{"new: no uid", "management new", space("", "2026-01-01T00:00:00Z"), with(nil), blind},
		{"new: kubectl failed", "management new", "", with(nil), blind},
		{"new: another namespace", "management new", strings.Replace(now, "kube-system", "default", 1), with(nil), blind},
		{"new: another kind", "management new", strings.Replace(now, `"Namespace"`, `"Secret"`, 1), with(nil), blind},
		{"new: two clusters", "management new", now + old, with(nil), blind},
		{"new: it ends too soon", "management new", now[:len(now)-3], with(nil), blind},
		{"new: a workload cluster, by the VM of a Node", "management new", ofNode(`"spec":{"providerID":"vsphere://` + idRuns + `"}`), with(nil), stops},
		{"new: by that of a machine that is lost", "management new", ofNode(`"spec":{"providerID":"vsphere://` + strings.ToUpper(idStale) + `"}`), with(nil), stops},
		{"new: by that of a Ghost", "management new", ofNode(`"spec":{"providerID":"vsphere://` + idGhost + `"}`), with(nil), stops},
		{"new: by the name of a Node without an id", "management new", strings.Replace(ofNode(`"spec":{}`), "n-1", "runs", 1), with(nil), stops},
		{"new: a name that two have", "management new", strings.Replace(now, "n-1", "runs", 1), with(nil), passes},
		{"new: by what a Node says", "management new", ofNode(says), with(nil), stops},
		{"new: a name of the old management cluster itself", "management new", ofNode(says), isSelf, passes},
		{"new: compared by hand, and a workload cluster", "management new --id=u-new", ofNode(says), noUID, stops},
		{"filled: a workload cluster", "management filled", ofNode(says), with(nil), stops},
		{"new: no Nodes", "management new", strings.Replace(now, ","+node, "", 1), with(nil), blind},
		{"new: Clusters were not asked for", "management new", strings.Replace(now, none, "", 1), with(nil), blind},
		{"new: of a part of them", "management new", strings.Replace(now, `"resourceVersion":"7"`, `"continue":"x"`, 1), with(nil), blind},
		{"new: kubectl's own list of none", "management new", strings.Replace(now, none, `{"kind":"List","apiVersion":"v1","items":[]}`, 1), with(nil), blind},
		{"new: Cluster API is not there", "management new", strings.Replace(now, none, noGroup, 1), with(nil), passes},
		{"new: it is there", "management new", strings.Replace(now, none, strings.Replace(noGroup, "batch", "cluster.x-k8s.io", 1), 1), with(nil), blind},
		{"new: a list of no groups", "management new", strings.Replace(now, none, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`, 1), with(nil), blind},
		{"new: it holds a Cluster of the report", "management new", holds(cluster("ns/c", "")), with(nil), stops},
		{"new: which a restore has made", "management new", holds(cluster("ns/c", byRestore)), with(nil), stops},
		{"new: of another backup of the report", "management new", holds(cluster("ns/c", byRestore)), second("u-2"), passes},
		{"new: which acts already", "management new", strings.Replace(holds(cluster("ns/c", byRestore)), "true", "false", 1), second("u-2"), stops},
		{"new: which is as old as the backup", "management new", strings.Replace(holds(cluster("ns/c", byRestore)), "2026-11-25", "2026-11-20", 1), second("u-2"), stops},
		{"new: Clusters of others", "management new", holds(cluster("prod/shop", "")), with(nil), stops},
		{"new: the same, by a restore", "management new", holds(cluster("prod/shop", byRestore)), second("u-2"), stops},
		{"filled", "management filled", holds(cluster("ns/c", "")), with(nil), passes},
		{"filled: a twin that lives", "management filled", strings.Replace(holds(cluster("ns/c", "")), "2026-11-25T12", "2026-11-20T12", 1), with(nil), stops},
		{"filled: and a restore had made it long ago", "management filled", strings.Replace(holds(cluster("ns/c", byRestore)), "2026-11-25T12", "2026-11-20T12", 1), with(nil), stops},
		{"filled: it does not say since when", "management filled", strings.Replace(holds(cluster("ns/c", "")), `,"creationTimestamp":"2026-11-25T12:00:00Z"`, "", 1), with(nil), stops},
		{"filled: of the older of two backups", "management filled", holds(cluster("ns/c", "")), func(r *report.Report, l *infra.Listing) {
			second("u-2")(r, l)
			r.Backups[1].WrittenTo, r.Clusters[0].Backup = r.Backups[1].WrittenTo.AddDate(0, 0, 3), 0
		}, passes},
		{"filled: of the younger", "management filled", holds(cluster("ns/c", "")), func(r *report.Report, l *infra.Listing) {
			second("u-2")(r, l)
			r.Backups[1].WrittenTo, r.Clusters[0].Backup = r.Backups[1].WrittenTo.AddDate(0, 0, 3), 1
		}, stops},
		{"filled: the old one", "management filled", strings.Replace(holds(cluster("ns/c", "")), "u-new", "u-old", 1), with(nil), stops},
		{"filled: it holds none", "management filled", now, with(nil), stops},
		{"filled: Clusters of others", "management filled", holds(cluster("ns/c", ""), cluster("prod/shop", "")), with(nil), stops},
		{"filled: and a report of some", "management filled", holds(cluster("ns/c", ""), cluster("ns/d", "")), func(r *report.Report, l *infra.Listing) {
			with(nil)(r, l)
			r.Options.Filter = &report.Filter{Clusters: []string{"ns/c"}}
		}, blind},
		{"filled: of what is not known", "management filled", strings.Replace(now, none, "", 1), with(nil), blind},
		{"of a report of no backup", "management new", now, func(r *report.Report, l *infra.Listing) { with(nil)(r, l); r.Backups[0].Live = true }, misuse},
		{"neither", "management young", now, with(nil), misuse},

		{"backup", "backup backup/nightly", machineList(later, nightly), with(nil), passes},
		{"backup: with errors", "backup backup/nightly", machineList(strings.Replace(nightly, "Completed", "PartiallyFailed", 1)), with(nil), passes},
		{"backup: a later one", "backup backup/later", machineList(later, nightly), with(nil), stops},
		{"backup: an earlier one", "backup backup/e", machineList(of("e", "2026-11-23T22:00", "Completed")), with(nil), stops},
		{"backup: it is not there", "backup backup/nightly", machineList(later), with(nil), stops},
		{"backup: it failed", "backup backup/nightly", machineList(of("nightly", "2026-11-23T23:59", "Failed")), with(nil), stops},
		{"backup: it is deleted", "backup backup/nightly", machineList(strings.Replace(nightly, `"uid"`, `"deletionTimestamp":"2026-11-25T12:30:00Z","uid"`, 1)), with(nil), stops},
		{"backup: it does not say when it ran", "backup backup/nightly", machineList(strings.ReplaceAll(nightly, "Timestamp", "")), with(nil), stops},
		{"backup: another ran meanwhile", "backup backup/nightly", machineList(nightly, of("of-others", "2026-11-23T23:59", "Completed")), with(nil), passes},
		{"backup: which is not it", "backup backup/of-others", machineList(nightly, of("of-others", "2026-11-23T23:59", "Completed")), with(nil), stops},
		{"backup: of that name and time, with other items", "backup backup/nightly", machineList(strings.Replace(nightly, "588", "587", 1)), with(nil), stops},
		{"backup: begun a second later", "backup backup/nightly", machineList(strings.Replace(nightly, "23:59:00Z", "23:59:01Z", 1)), with(nil), stops},
		{"backup: done a second earlier", "backup backup/nightly", machineList(strings.Replace(nightly, "23:59:59Z", "23:59:58Z", 1)), with(nil), stops},
		{"backup: which does not count", "backup backup/nightly", machineList(strings.Replace(nightly, "588", "0", 1)), with(nil), blind},
		{"backup: by the tarball alone", "backup backup/nightly", machineList(strings.Replace(nightly, "588", "565", 1)), with(byTarball), passes},
		{"backup: with other items than it", "backup backup/nightly", machineList(nightly), with(byTarball), stops},
		{"backup: nothing says which it is", "backup backup/nightly", machineList(strings.Replace(nightly, "588", "565", 1)), with(func(b *report.Backup) { b.Velero = nil }), blind},
		{"backup: and it is another", "backup backup/nightly", machineList(nightly), with(func(b *report.Backup) { b.Velero = nil }), stops},
		{"backup: that was compared by hand", "backup backup/nightly --id=u-nightly", machineList(nightly), with(func(b *report.Backup) { b.Velero = nil }), passes},
		{"backup: a year earlier, by hand", "backup backup/e --id=u-e", machineList(of("e", "2025-11-24T00:00", "Completed")), with(nil), passes}, // the tarball was packed again
		{"backup: a year later, by hand", "backup backup/e --id=u-e", machineList(of("e", "2027-11-24T00:00", "Completed")), with(nil), stops},
		{"backup: another was compared by hand", "backup backup/nightly --id=u-x", machineList(nightly), with(nil), stops},
		{"backup: the tarball was packed again", "backup backup/nightly", machineList(nightly), with(func(b *report.Backup) { b.WrittenFrom = b.WrittenFrom.Add(-time.Hour) }), stops},
		{"backup: of the folder of that name", "backup backup/nightly", machineList(nightly), inStore("nightly"), passes},
		{"backup: of another folder", "backup backup/nightly", machineList(nightly), inStore("of-others"), stops},
		{"backup: kubectl failed", "backup backup/nightly", "", with(nil), blind},
		{"backup: one alone", "backup backup/nightly", nightly, with(nil), blind},
		{"backup: no name", "backup nightly", machineList(nightly), with(nil), misuse},

		{"pauses", "pauses configmap/restore-paused", modifiers(`"modifiers.yaml":"` + quoted + `"`), nil, passes},
		{"pauses: in rows", "pauses configmap/restore-paused", modifiers(`"modifiers.yaml":"` + strings.Replace(quoted, ",", `,\n    `, 1) + `"`), nil, passes},
		{"pauses: another rule", "pauses configmap/restore-paused", modifiers(`"modifiers.yaml":"` + strings.Replace(quoted, "true", "false", 1) + `"`), nil, stops},
		{"pauses: of other kinds", "pauses configmap/restore-paused", modifiers(`"modifiers.yaml":"` + strings.Replace(quoted, "clusters.", "machines.", 1) + `"`), nil, stops},
		{"pauses: a second key, which Velero refuses", "pauses configmap/restore-paused", modifiers(`"a":"","modifiers.yaml":"` + quoted + `"`), nil, stops},
		{"pauses: nothing", "pauses configmap/restore-paused", modifiers(""), nil, stops},
		{"pauses: no JSON", "pauses configmap/restore-paused", modifiers(`"modifiers.yaml":"version: v1"`), nil, stops},
		{"pauses: another ConfigMap", "pauses configmap/restore-other", modifiers(`"modifiers.yaml":"` + quoted + `"`), nil, stops},
		{"pauses: kubectl failed", "pauses configmap/restore-paused", "", nil, blind},
	} {
		said, err := q.ask(t)
		if got := outcome(err); got != q.want || (said == "") != (err != nil) {
			t.Errorf("%s: %s (%v, %q), want %s", q.name, got, err, said, q.want)
		}
	}
}
