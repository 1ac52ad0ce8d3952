package releases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
)

// BenchmarkReleases compares 20,000 objects of 1,000 releases: the shop, a thousand times.
func BenchmarkReleases(b *testing.B) {
	const many = 1000
	w := shop(b)
	var manifest string
	w.edit(b, func(r Object) { manifest = text(r, "manifest") })
	type item struct {
		resource, namespace, name string
		body                      []byte
	}
	var records, objects []item
	for i := range many {
		namespace := fmt.Sprintf("shop-%d", i)
		var doc strings.Builder
		for j := range 3 {
			doc.WriteString(strings.ReplaceAll(manifest, "name: shop-", fmt.Sprintf("name: n%d-", j)))
			for k, o := range w {
				if rest, ok := strings.CutPrefix(k[2], "shop-"); ok && ownedByController(o) == false {
					body, _ := json.Marshal(o)
					name := fmt.Sprintf("n%d-%s", j, rest)
					body = bytes.ReplaceAll(body, []byte(`"shop-`), []byte(fmt.Sprintf(`"n%d-`, j)))
					body = bytes.ReplaceAll(body, []byte(`"namespace":"shop"`), []byte(`"namespace":"`+namespace+`"`))
					objects = append(objects, item{k[0], namespace, name, body})
				}
			}
		}
		release, _ := json.Marshal(Object{"name": "shop", "version": 1, "info": Object{"status": "deployed"}, "manifest": doc.String()})
		body, _ := json.Marshal(Object{"kind": "Secret", "type": "helm.sh/release.v1", "metadata": Object{"name": "sh.helm.release.v1.shop.v1", "namespace": namespace}, "data": Object{"release": backuptest.PackRelease(release)}})
		records = append(records, item{"secrets", namespace, "sh.helm.release.v1.shop.v1", body})
	}
	b.ReportAllocs()
	for b.Loop() {
		c := New(Options{})
		for _, all := range [][]item{records, objects} {
			for _, i := range all {
				if c.First(i.resource, i.namespace) {
					c.Read(i.resource, i.body)
				}
			}
		}
		c.Plan(nil)
		for _, i := range objects {
			c.See(i.resource, "", i.namespace, i.name, i.body)
		}
		if r := c.Result(); len(r.Releases) != many {
			b.Fatal(len(r.Releases))
		}
	}
	b.ReportMetric(float64(len(objects)), "objects")
}
