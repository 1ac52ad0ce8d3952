package check_test

import (
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/check"
)

// What Velero says of a tarball is what its file says, or the one Backup that ran in it.
func TestDescribed(t *testing.T) {
	at := time.Date(2026, 11, 21, 4, 6, 20, 0, time.UTC)
	info := backup.Info{WrittenFrom: at, WrittenTo: at.Add(11 * time.Second)}
	object := func(name, phase, started string) string {
		return `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"` + name + `","namespace":"velero"},"status":{"phase":"` + phase + `","startTimestamp":"` + started + `"}}`
	}
	running := object("nightly", "InProgress", "2026-11-21T04:06:20Z")
	for name, c := range map[string]struct {
		file    *check.VeleroBackup
		objects []string
		want    string
	}{
		"its file":           {described(t), nil, "mgmt-full"},
		"before the tarball": {described(t), []string{running}, "mgmt-full"},
		"the file of another": {described(t, `"2026-11-21T04:06:20Z",
    "completionTimestamp": "2026-11-21T04:06:32Z"`, `"2026-11-20T04:06:20Z",
    "completionTimestamp": "2026-11-20T04:06:32Z"`), nil, ""},
		"the one that ran":    {nil, []string{object("older", "Completed", "2026-11-20T04:06:20Z"), running}, "nightly"},
		"its two copies":      {nil, []string{running, running}, "nightly"},
		"two ran":             {nil, []string{running, object("other", "InProgress", "2026-11-21T04:06:20Z")}, ""},
		"one that is younger": {nil, []string{object("later", "InProgress", "2026-11-22T04:06:20Z")}, ""},
		"one without a time":  {nil, []string{`{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"x"},"status":{"phase":"InProgress"}}`}, ""},
		"none":                {nil, []string{object("older", "Completed", "2026-11-20T04:06:20Z"), "no JSON"}, ""},
	} {
		var r check.Runs
		v := r.Visitor()
		if want, err := v.Want(&archive.Header{Resource: "backups.velero.io"}); !want || err != nil {
			t.Fatal(err)
		}
		for _, o := range c.objects {
			if err := v.Visit(&archive.Item{Body: []byte(o)}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		got := ""
		if o := check.Described(info, c.file, &r); o != nil {
			got = o.Name
			if !o.Started.Equal(at) {
				t.Errorf("%s: %s", name, o.Started)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
