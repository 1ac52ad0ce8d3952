package backup_test

import (
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

// Two kinds of one resource are read by one scan, and find what each alone would: also
// where they contradict each other, and of an object that one of them refuses.
func TestKindsOfOneResource(t *testing.T) {
	type fields struct {
		Name  string
		Texts []string
	}
	text := func(path string) *backup.Kind[fields] {
		return backup.NewKind("things.cluster.x-k8s.io", backup.Text(func(f *fields) *string { return &f.Name }, path))
	}
	name, deep, list := text("spec.name"), text("spec.name.first"), backup.NewKind("things.cluster.x-k8s.io",
		backup.Texts(func(f *fields) *[]string { return &f.Texts }, "spec.list[].name", "status.list[].name"),
		backup.Text(func(f *fields) *string { return &f.Name }, "spec.name"))
	thing := func(called string, spec object) object {
		return object{"apiVersion": "cluster.x-k8s.io/v1", "kind": "Thing", "metadata": object{"namespace": "a", "name": called}, "spec": spec}
	}
	b := backuptest.New().
		Add("things.cluster.x-k8s.io", thing("plain", object{"name": "n", "list": []any{object{"name": "x"}, object{}, object{"name": "y"}}})).
		Add("things.cluster.x-k8s.io", thing("bad", object{"name": "m", "list": "none"})).Bytes()
	for _, kinds := range [][]backup.AnyKind{{name, list}, {list, name}, {name, list, deep}} {
		s, _ := loadAll(t, backup.Want{Kinds: kinds}, backuptest.Source("b", b))
		if n := name.In(s).Len(); n != 2 && len(kinds) == 2 && kinds[0] == backup.AnyKind(name) {
			t.Errorf("%d of 2 objects of the kind that takes both", n)
		}
		for r := range list.In(s).All() {
			if r.Name != "plain" || r.Data.Name != "n" || len(r.Data.Texts) != 3 || r.Data.Texts[0] != "x" || r.Data.Texts[2] != "y" {
				t.Errorf("%+v", r)
			}
		}
		if list.In(s).Len() != 1 || len(s.Problems) == 0 {
			t.Errorf("%d objects with lists, problems %v", list.In(s).Len(), s.Problems)
		}
	}
}
