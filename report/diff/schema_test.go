package diff

import (
	"bytes"
	"cmp"
	"reflect"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/schematest"
)

func TestDiffsAreValid(t *testing.T) {
	valid := schematest.Strict(t, Schema())
	for i, d := range diffs(t) {
		for _, s := range []*Side{&d.Old, &d.New} {
			s.Status = cmp.Or(s.Status, code.Healthy) // a report without a result has none
		}
		if err := valid([]byte(write(t, JSON, d))); err != nil {
			t.Fatalf("diff %d: %v", i, err)
		}
	}
	good := write(t, JSON, compareOK(t, fleet(machine("a", "u1", code.Healthy, vm("1", "vm-1", "a"))), fleet(machine("a", "u1", code.Stale, nil))))
	for _, swap := range [][2]string{
		{`"schemaVersion": "1"`, `"schemaVersion": "2"`},
		{`"kind": "drift-detector diff"`, `"kind": "report"`},
		{`"status": "Stale"`, `"status": "Lost"`},
		{`"different": true`, `"surplus": true`},
		{`"instance": null`, `"instance": {}`},
		{`"gone": []`, `"gone": null`},
	} {
		bad := strings.Replace(good, swap[0], swap[1], 1)
		if bad == good {
			t.Fatalf("%s: nothing to replace", swap[0])
		}
		if valid([]byte(bad)) == nil {
			t.Errorf("%s is accepted", swap[1])
		}
	}
}

// own are the Go types of the definitions that only a diff has.
var own = map[string]reflect.Type{
	"answer": reflect.TypeFor[Answer](), "answers": reflect.TypeFor[Answers](), "toSettle": reflect.TypeFor[Reason](),
	"side": reflect.TypeFor[Side](), "source": reflect.TypeFor[Backup](), "field": reflect.TypeFor[Field](),
	"item": reflect.TypeFor[Item](), "clusterOf": reflect.TypeFor[Cluster](), "place": reflect.TypeFor[Scope](),
	"items": reflect.TypeFor[Lists[Item]](), "itemsChange": reflect.TypeFor[Change[Item]](),
	"clusters": reflect.TypeFor[Lists[Cluster]](), "clustersChange": reflect.TypeFor[Change[Cluster]](),
	"scopes": reflect.TypeFor[Lists[Scope]](), "scopesChange": reflect.TypeFor[Change[Scope]](),
	"errors": reflect.TypeFor[Lists[report.Error]](), "errorsChange": reflect.TypeFor[Change[report.Error]](),
	"checks": reflect.TypeFor[Lists[report.Check]](), "checksChange": reflect.TypeFor[Change[report.Check]](),
}

// The schema has the fields of the Go types, each described, and says which may
// be absent.
func TestSchemaHasEveryFieldDescribed(t *testing.T) {
	schematest.Fields(t, schema, reflect.TypeFor[Diff](), own)
	if !bytes.Equal(Schema(), Schema()) {
		t.Error("the schema is another each time")
	}
}
