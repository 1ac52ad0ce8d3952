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
	space := func(uid, created string) string {
		return `{"kind":"Namespace","metadata":{"name":"kube-system","uid":"` + uid + `","creationTimestamp":"` + created + `"}}`
	}
	old, now, young := space("u-old", "2026-01-01T00:00:00Z"), space("u-new", "2026-01-01T00:00:00Z"), space("u-new", "2026-11-25T00:00:00Z")
	of := func(name, started, phase string) string {
		return `{"kind":"Backup","metadata":{"name":"` + name + `","uid":"u-` + name + `"},"status":{"phase":"` + phase + `","startTimestamp":"` + started + `:00Z","completionTimestamp":"` + started + `:59Z"}}`
	}
	nightly, later := of("nightly", "2026-11-23T23:59", "Completed"), of("later", "2026-11-24T23:59", "Completed")
	inStore := func(name string) func(*report.Report, *infra.Listing) {
		return with(func(b *report.Backup) { b.Path = "s3://velero/mgmt/backups/" + name + "/" + name + ".tar.gz" })
	}
	modifiers := func(data string) string {
		return `{"kind":"ConfigMap","metadata":{"namespace":"velero","name":"restore-paused"},"data":{` + data + `}}`
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(report.Modifiers)
	for _, q := range []question{
		{"old", "management old", old, with(nil), passes},
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
		{"new: another namespace", "management new", strings.Replace(now, "kube-system", "default", 1), with(nil), stops},
		{"new: another kind", "management new", strings.Replace(now, `"Namespace"`, `"Secret"`, 1), with(nil), stops},
		{"neither", "management young", now, with(nil), misuse},

		{"backup", "backup backup/nightly", machineList(later, nightly), with(nil), passes},
		{"backup: with errors", "backup backup/nightly", machineList(strings.Replace(nightly, "Completed", "PartiallyFailed", 1)), with(nil), passes},
		{"backup: a later one", "backup backup/later", machineList(later, nightly), with(nil), stops},
		{"backup: an earlier one", "backup backup/e", machineList(of("e", "2026-11-23T22:00", "Completed")), with(nil), stops},
		{"backup: it is not there", "backup backup/nightly", machineList(later), with(nil), stops},
		{"backup: it failed", "backup backup/nightly", machineList(of("nightly", "2026-11-23T23:59", "Failed")), with(nil), stops},
		{"backup: it is deleted", "backup backup/nightly", machineList(strings.Replace(nightly, `"uid"`, `"deletionTimestamp":"2026-11-25T12:30:00Z","uid"`, 1)), with(nil), stops},
		{"backup: it does not say when it ran", "backup backup/nightly", machineList(strings.ReplaceAll(nightly, "Timestamp", "")), with(nil), stops},
		{"backup: another ran meanwhile", "backup backup/nightly", machineList(nightly, of("of-others", "2026-11-23T23:59", "Completed")), with(nil), blind},
		{"backup: a year earlier, by hand", "backup backup/e --id=u-e", machineList(of("e", "2025-11-24T00:00", "Completed")), with(nil), passes}, // the tarball was packed again
		{"backup: a year later, by hand", "backup backup/e --id=u-e", machineList(of("e", "2027-11-24T00:00", "Completed")), with(nil), stops},
		{"backup: that was compared by hand", "backup backup/nightly --id=u-nightly", machineList(nightly, of("of-others", "2026-11-23T23:59", "Completed")), with(nil), passes},
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
