package backup_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

type thing struct {
	First  string
	Label  string
	List   []string
	Names  []string
	Flag   bool
	Has    bool
	Number backup.Number
}

const things = "things.infrastructure.cluster.x-k8s.io"

var thingKind = backup.NewKind(things,
	backup.Text(func(t *thing) *string { return &t.First }, "spec.new", "spec.old.path"),
	backup.Text(func(t *thing) *string { return &t.Label }, "label:example.com/dotted"),
	backup.Texts(func(t *thing) *[]string { return &t.List }, "spec.list[]"),
	backup.Texts(func(t *thing) *[]string { return &t.Names }, "spec.items[].name"),
	backup.Flag(func(t *thing) *bool { return &t.Flag }, "spec.flag"),
	backup.Present(func(t *thing) *bool { return &t.Has }, "annotation:example.com/mark"),
	backup.Count(func(t *thing) *backup.Number { return &t.Number }, "spec.number"),
)

func newThing(name string, spec any) object {
	return object{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1", "kind": "Thing", "spec": spec,
		"metadata": object{"namespace": "ns", "name": name},
	}
}

// readThings reads one object per spec; the names are the specs' numbers.
func readThings(t *testing.T, specs ...any) (*backup.Table[thing], *backup.Snapshot) {
	t.Helper()
	b := withCluster()
	for i, spec := range specs {
		b.Add(things, newThing(fmt.Sprintf("t%03d", i), spec))
	}
	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{thingKind, thingKind}}, backuptest.Source("b", b.Bytes()))
	return thingKind.In(s), s
}

func TestFields(t *testing.T) {
	specs := []any{
		object{"new": "n", "old": object{"path": "o"}, "list": []any{"a", "b"}, "flag": true, "number": 7},
		object{"old": object{"path": "ö\n"}, "items": []any{object{"name": "x"}, object{}, object{"name": "z"}}, "flag": false, "number": -1},
		object{"new": "", "old": object{"path": "o"}},
		object{"new": nil, "old": nil, "list": nil, "items": []any{}, "flag": nil, "number": nil},
		nil,
	}
	table, s := readThings(t, specs...)
	want := []thing{
		{First: "n", List: []string{"a", "b"}, Flag: true, Number: backup.Number{N: 7, Known: true}},
		{First: "ö\n", Names: []string{"x", "", "z"}, Number: backup.Number{N: -1, Known: true}},
		{},
		{},
		{},
	}
	var got []thing
	for r := range table.All() {
		got = append(got, r.Data)
	}
	if !reflect.DeepEqual(got, want) || len(s.Problems) > 0 {
		t.Errorf("read %+v\nwant %+v\nproblems %v", got, want, s.Problems)
	}
}

func TestLabelsAndAnnotations(t *testing.T) {
	o := newThing("t", object{})
	o["metadata"].(object)["labels"] = object{"example.com/dotted": "l"}
	o["metadata"].(object)["annotations"] = object{"example.com/mark": ""}
	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{thingKind}}, backuptest.Source("b", withCluster().Add(things, o).Bytes()))
	for r := range thingKind.In(s).All() {
		if r.Data.Label != "l" || !r.Data.Has {
			t.Errorf("read %+v", r.Data)
		}
	}
	if thingKind.In(s).Len() != 1 {
		t.Error("the object was not read")
	}
}

// A wrong type costs the item, is reported, and is not quoted.
func TestWrongTypes(t *testing.T) {
	bad := []any{
		object{"new": 5},
		object{"old": "MARKER"},
		object{"old": []any{}},
		object{"list": "MARKER"},
		object{"list": []any{1}},
		object{"items": object{}},
		object{"items": []any{"MARKER"}},
		object{"flag": "true"},
		object{"number": "1"},
		object{"number": 1.5},
		object{"number": 1e30},
		"MARKER",
	}
	table, s := readThings(t, append(bad, object{"new": "good"})...)
	if table.Len() != 1 {
		t.Errorf("%d objects were kept", table.Len())
	}
	want := []string{
		"spec.new is not a string", "a member is not an object", "a member is not an object", "a member is not an array", "spec.list[] is not a string",
		"a member is not an array", "a member is not an object", "spec.flag is not a boolean", "spec.number is not an integer", "spec.number is not an integer",
		"spec.number is not an integer", "a member is not an object",
	}
	for i := range want {
		want[i] = fmt.Sprintf("resources/%s/namespaces/ns/t%03d.json: %s", things, i, want[i])
	}
	if got := problems(s); !slices.Equal(got, want) {
		t.Errorf("problems %q", got)
	}
}

func TestSharing(t *testing.T) {
	type part struct{ A, B string }
	type record struct{ *part }
	k := backup.Sharing(backup.NewKind(things,
		backup.Text(func(r *record) *string { return &r.A }, "spec.a"), backup.Text(func(r *record) *string { return &r.B }, "spec.b"),
	), func(r *record) **part { return &r.part }, func(a, b *part) bool { return *a == *b })
	b := withCluster()
	for i, spec := range []object{{"a": "1"}, {"a": "1"}, {"a": "2", "b": 7}, {"a": "1"}, {"b": "1"}, {}} { // the third is left out
		b.Add(things, newThing(fmt.Sprintf("t%d", i), spec))
	}
	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{k}}, backuptest.Source("b", b.Bytes()))
	var got []part
	of := map[*part]bool{}
	for r := range k.In(s).All() {
		got, of[r.Data.part] = append(got, *r.Data.part), true
	}
	if want := []part{{A: "1"}, {A: "1"}, {A: "1"}, {B: "1"}, {}}; !slices.Equal(got, want) || len(of) != 3 {
		t.Errorf("%v in %d parts", got, len(of))
	}
}

func TestManyRecordsStayInOrder(t *testing.T) {
	const n = 10000 // more than two blocks
	b := withCluster()
	for i := range n {
		name := fmt.Sprintf("t%05d", (i*7919)%n)
		b.AddAt(things, "", newThing(name, object{"new": name, "list": []any{"same", name}}))
	}
	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{thingKind}}, backuptest.Source("b", b.Bytes()))
	i := 0
	for r := range thingKind.In(s).All() {
		if want := fmt.Sprintf("t%05d", i); r.Name != want || r.Data.First != want || r.Data.List[1] != want || r.UID != backuptest.UID(things, "ns", want) {
			t.Fatalf("record %d is %+v", i, r)
		}
		i++
	}
	if i != n {
		t.Errorf("%d records", i)
	}
}

func TestBadKindsPanic(t *testing.T) {
	text := func(paths ...string) func() {
		return func() { backup.NewKind("x", backup.Text(func(t *thing) *string { return &t.First }, paths...)) }
	}
	for name, f := range map[string]func(){
		"no path": text(), "empty path": text(""), "empty member": text("spec..x"), "array and object": text("spec.a[]", "spec.a.b"),
		"object and array": text("spec.a.b", "spec.a[]"), "empty label": text("label:"),
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestEmptyTable(t *testing.T) {
	var none *backup.Snapshot
	for _, s := range []*backup.Snapshot{none, {}} {
		if thingKind.In(s) == nil || thingKind.In(s).Len() != 0 {
			t.Error("no empty table")
		}
		for range thingKind.In(s).All() {
			t.Error("a record in an empty table")
		}
	}
}
