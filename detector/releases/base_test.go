package releases

import (
	"strings"
	"testing"
)

// from makes the record of revision 1 the deployed one, with a manifest of its own.
func (w world) from(t testing.TB, docs string) {
	t.Helper()
	status(t, w, "deployed")
	older := world{newestRecord: reparsed(t, w[newestRecord])}
	older.more(t, docs)
	record := older[newestRecord]
	put(record, "sh.helm.release.v1.shop.v1", "metadata", "name")
	put(record, "1", "metadata", "labels", "version")
	w[[3]string{"secrets", "shop", "sh.helm.release.v1.shop.v1"}] = record
}

// After a failed upgrade the next one goes out from the deployed revision: of a custom resource
// it patches what differs between the two manifests.
func TestUpgradeAfterAFailedOne(t *testing.T) {
	pad := strings.Repeat("no two changes become one replacement of all that is around them, ", 6)
	const thing, config = "apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: a}\n", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: p}\n"
	newer := thing + "spec: {count: 2, note: x, pad: '" + pad + "', new: 1, in: {same: 1}, list: [1, 2]}\n" + config + "data: {count: '2', note: x, pad: '" + pad + "'}\n"
	older := thing + "spec: {count: 1, note: x, pad: '" + pad + "', gone: 1, in: {same: 1}, list: [1]}\n" + config + "data: {count: '1', note: x, pad: '" + pad + "'}\n"
	live := `{"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"count":1,"note":"y","pad":"` + pad + `","in":{"same":2},"list":[1,3]}}`
	const both = "ConfigMap/shop/p changed; replace /data/count repairs, replace /data/note repairs; "
	const left = "changed; replace /spec/count leaves, replace /spec/in/same leaves, replace /spec/list/1 leaves, add /spec/new leaves, replace /spec/note leaves; "
	for _, c := range []struct {
		name          string
		older, status string
		unmarked      bool
		want, do      string // the latter a part
	}{
		{"failed", older, "failed", false, "changed; replace /spec/count repairs, replace /spec/in/same leaves, replace /spec/list/1 repairs, add /spec/new repairs, replace /spec/note leaves; ", ""},
		{"unlocked by Flux", older, "pending-upgrade", false, "changed; replace /spec/count repairs, replace /spec/in/same leaves, replace /spec/list/1 repairs, add /spec/new repairs, replace /spec/note leaves; ", ""},
		{"deployed", older, "deployed", false, left, ""},
		{"no revision is deployed", "", "failed", false, left, ""},
		{"new, with Helm's marks", config, "failed", false, left, ""},
		{"new, without Helm's marks", config, "failed", true, "changed; add /metadata/annotations leaves, add /metadata/labels leaves, " + strings.TrimPrefix(left, "changed; "), "--take-ownership"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := repaired(t)
			if c.older != "" {
				w.from(t, c.older)
			}
			w.more(t, newer)
			status(t, w, c.status)
			o := w.lives(t, "things.x.io", "shop", live)
			if c.unmarked {
				delete(o["metadata"].(Object), "labels")
				delete(o["metadata"].(Object), "annotations")
			}
			w.lives(t, "configmaps", "shop", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p"},"data":{"count":"1","note":"y","pad":"`+pad+`"}}`)
			r := w.one(t)
			if got := upgrades(r.object("Thing/shop/a")); got != c.want || !strings.Contains(show(r.After.Do), c.do) || (c.do != "") != (r.After.Upgrade == Fails) {
				t.Errorf("%s\nwant %s; %s", got, c.want, show(r.After))
			}
			if got := "ConfigMap/shop/p " + upgrades(r.object("ConfigMap/shop/p")); got != both {
				t.Errorf("%s\nwant %s", got, both)
			}
		})
	}
}
