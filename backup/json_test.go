package backup_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

type rawThing struct {
	Value     string
	Condition backup.Condition
}

var rawKind = backup.NewKind(things,
	backup.Raw(func(t *rawThing) *string { return &t.Value }, "spec.value", "spec.older"),
	backup.Failing(func(t *rawThing) *backup.Condition { return &t.Condition }, "status.conditions", "Ready"),
)

func readRaw(t *testing.T, all ...object) (*backup.Table[rawThing], *backup.Snapshot) {
	t.Helper()
	b := withCluster()
	for _, o := range all {
		b.Add(things, o)
	}
	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{rawKind}}, backuptest.Source("b", b.Bytes()))
	return rawKind.In(s), s
}

func TestRawKeepsTheJSONText(t *testing.T) {
	specs := []any{
		object{"value": object{"matchLabels": object{"a": "b"}}, "older": 1},
		object{"value": []any{1, "x"}},
		object{"older": 5},
		object{"value": "40%\n"},
		object{"value": "ö"},
		object{"value": true},
		object{"value": false},
		object{"value": nil},
		object{},
	}
	want := []string{`{"matchLabels":{"a":"b"}}`, `[1,"x"]`, "5", `"40%\n"`, `"ö"`, "true", "false", "", ""}
	var all []object
	for i, spec := range specs {
		all = append(all, newThing(string(rune('a'+i)), spec))
	}
	table, s := readRaw(t, all...)
	var got []string
	for r := range table.All() {
		got = append(got, r.Data.Value)
	}
	if !slices.Equal(got, want) || len(s.Problems) > 0 {
		t.Errorf("read %q, want %q; problems %v", got, want, s.Problems)
	}
}

func TestRawsKeepOneTextPerElement(t *testing.T) {
	type list struct{ Names, Values []string }
	kind := backup.NewKind(things,
		backup.Texts(func(l *list) *[]string { return &l.Names }, "spec.items[].name"),
		backup.Raws(func(l *list) *[]string { return &l.Values }, "spec.items[].value"),
	)
	b := withCluster()
	b.Add(things, newThing("t", object{"items": []any{object{"name": "a", "value": object{"x": 1}}, object{"name": "b"}, object{"name": "c", "value": "v"}}}))
	b.Add(things, newThing("u", object{"items": []any{}}))
	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{kind}}, backuptest.Source("b", b.Bytes()))
	var got []list
	for r := range kind.In(s).All() {
		got = append(got, r.Data)
	}
	want := []list{{Names: []string{"a", "b", "c"}, Values: []string{`{"x":1}`, "", `"v"`}}, {}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

func TestMembersAreOneObject(t *testing.T) {
	kind := backup.NewKind(things, backup.Members(func(s *string) *string { return s }, "spec.a", "spec.b.c", "spec.b.list"))
	b := withCluster()
	for i, spec := range []object{{"b": object{"list": []any{object{"x": 1}}, "c": "t", "d": 1}, "a": true}, {"a": 5}, {"d": 1}} {
		b.Add(things, newThing(string(rune('a'+i)), spec))
	}
	b.Add(things, newThing("long", object{"a": strings.Repeat("x", 40<<10), "b": object{"c": strings.Repeat("x", 40<<10)}}))
	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{kind}}, backuptest.Source("b", b.Bytes()))
	var got []string
	for r := range kind.In(s).All() {
		got = append(got, r.Data)
	}
	if want := []string{`{"a":true,"c":"t","list":[{"x":1}]}`, `{"a":5}`, ""}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	if got := problems(s); len(got) != 1 || !strings.Contains(got[0], "longer than 65536 bytes") {
		t.Errorf("problems %q", got)
	}
}

func TestRawIsBounded(t *testing.T) {
	table, s := readRaw(t,
		newThing("fits", object{"value": strings.Repeat("x", 64<<10-2)}),
		newThing("long", object{"value": []any{"MARKER" + strings.Repeat("x", 64<<10)}}))
	if table.Len() != 1 {
		t.Errorf("%d objects were kept", table.Len())
	}
	if got := problems(s); len(got) != 1 || !strings.HasSuffix(got[0], "/long.json: spec.value is longer than 65536 bytes") {
		t.Errorf("problems %q", got)
	}
}

func TestFailingKeepsOnlyWhatDoesNotHold(t *testing.T) {
	condition := func(kind, status string) object {
		return object{"type": kind, "status": status, "reason": kind + "Reason", "message": "about " + kind}
	}
	for name, c := range map[string]struct {
		conditions []any
		want       backup.Condition
	}{
		"holds":        {[]any{condition("Other", "False"), condition("Ready", "True")}, backup.Condition{}},
		"absent":       {[]any{condition("Other", "False")}, backup.Condition{}},
		"empty":        {[]any{}, backup.Condition{}},
		"fails":        {[]any{condition("Other", "True"), condition("Ready", "False"), condition("Last", "True")}, backup.Condition{Status: "False", Reason: "ReadyReason", Message: "about Ready"}},
		"unknown":      {[]any{condition("Ready", "Unknown")}, backup.Condition{Status: "Unknown", Reason: "ReadyReason", Message: "about Ready"}},
		"without text": {[]any{object{"type": "Ready", "status": "False"}, condition("Last", "False")}, backup.Condition{Status: "False"}},
		"no status":    {[]any{object{"type": "Ready", "message": "m"}, condition("Last", "False")}, backup.Condition{}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newThing("t", object{})
			o["status"] = object{"conditions": c.conditions}
			table, s := readRaw(t, o)
			if table.Len() != 1 || len(s.Problems) > 0 {
				t.Fatalf("%d objects, problems %v", table.Len(), s.Problems)
			}
			for r := range table.All() {
				if r.Data.Condition != c.want {
					t.Errorf("read %+v, want %+v", r.Data.Condition, c.want)
				}
			}
		})
	}
}

func TestLabelsMap(t *testing.T) {
	for text, want := range map[backup.Labels]map[string]string{
		"":                            nil,
		"{}":                          {},
		`{"a":"b","c.d/e":""}`:        {"a": "b", "c.d/e": ""},
		`{"a":5,"b":"\u0078","c":[]}`: {"b": "x"},
	} {
		if got := text.Map(); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if got := backup.Labels(`{"a":"b"}`).Get("a"); got != "b" {
		t.Errorf("label a is %q", got)
	}
}

// The machines of one MachineSet have one text of labels in memory.
func TestLabMachinesShareTheirLabels(t *testing.T) {
	s, _ := loadPath(t, lab, backup.Want{})
	texts, copies := map[string]bool{}, map[*byte]bool{}
	bySet := map[string]string{}
	for i := range s.Machines {
		m := &s.Machines[i]
		text := string(m.Labels)
		if m.Labels.Get("cluster.x-k8s.io/cluster-name") != m.Cluster.Name {
			t.Errorf("%s has labels %s", m.Name, text)
		}
		texts[text], copies[unsafe.StringData(text)] = true, true
		if other, ok := bySet[m.Set]; m.Set != "" && ok && other != text {
			t.Errorf("%s has labels %s, its MachineSet's others %s", m.Name, text, other)
		}
		bySet[m.Set] = text
	}
	// Hashes differ from run to run: a text with that of another value may be kept once more.
	if len(texts) < 5 || len(copies) > len(texts)+1 || len(s.Machines) < 2*len(texts) {
		t.Errorf("%d texts are kept %d times for %d machines", len(texts), len(copies), len(s.Machines))
	}
}

func TestLabMachineSaysWhyItIsNotProvisioned(t *testing.T) {
	s, _ := loadPath(t, lab, backup.Want{})
	said := map[string]string{}
	for _, m := range s.Machines {
		if m.InfraMessage != "" && m.Cluster.Name != "aws-prod" {
			said[m.Name] = m.InfraMessage
		}
	}
	want := map[string]string{
		"gamma-edge-md-broken-7hlgf-9hlj8": `* VirtualMachineProvisioned: unable to find template by name "/DC0/vm/no-such-template": vm '/DC0/vm/no-such-template' not found`,
	}
	if !maps.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

func TestGroupsHaveSelectorsAndLabels(t *testing.T) {
	b := withCluster()
	b.Add("machinedeployments.cluster.x-k8s.io", object{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment",
		"metadata": object{"namespace": "ns", "name": "md", "labels": object{"a": "1"}, "annotations": object{
			"cluster.x-k8s.io/replicas-managed-by": "external", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "9",
		}},
		"spec": object{
			"clusterName": "c", "selector": object{"matchLabels": object{"b": "2"}},
			"template": object{"metadata": object{"labels": object{"b": "2"}}},
		},
	})
	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
	if len(s.Groups) != 1 {
		t.Fatalf("%d groups, problems %v", len(s.Groups), s.Problems)
	}
	g := s.Groups[0]
	if g.Selector != `{"matchLabels":{"b":"2"}}` || g.Labels.Get("a") != "1" || g.TemplateLabels.Get("b") != "2" || g.ReplicasManagedBy != "external" || !g.Autoscaled {
		t.Errorf("read %+v", g)
	}
}

// Labels are read alike however they are written.
func TestLabelsAreRead(t *testing.T) {
	for text, want := range map[string]map[string]string{
		``:                                nil,
		`{}`:                              {},
		`{"a":"1"}`:                       {"a": "1"},
		`{"a":"1","b/c":"x,\u0022:{}"}`:   {"a": "1", "b/c": `x,":{}`},
		`{"a":"1","b":"","":"}"}`:         {"a": "1", "b": "", "": "}"},
		`{ "a" : "1" ,"b":"2"}`:           {"a": "1", "b": "2"},
		`{"a":"1","a":"2"}`:               {"a": "2"},
		`{"a":1,"b":"ü"}`:                 {"b": "ü"},
		"{\"a\":\"\xff\",\"b\\n\":\"c\"}": {"a": "\ufffd", "b\n": "c"},
		`{"a":"1",}`:                      nil,
		`{"a"`:                            nil,
		`{"a":`:                           nil,
		`{"a":"`:                          nil,
		`["a"]`:                           nil,
		`{"a":"1"}x`:                      nil,
		`{`:                               nil,
	} {
		if got := backup.Labels(text).Map(); len(got) != len(want) || !maps.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
