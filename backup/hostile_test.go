package backup_test

import (
	"archive/tar"
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

// Items that are wrong in themselves cost only themselves.
func TestHostileItems(t *testing.T) {
	path := func(name string) string { return backuptest.Path(machines, "", "ns", name) }
	other := func(change func(object)) []byte {
		m := machine("v1beta2", "x", "")
		change(m)
		return marshal(m)
	}
	meta := func(o object) object { return o["metadata"].(object) }
	b := withCluster()
	want := map[string]string{}
	raw := func(name string, body []byte, reason string) {
		b.Raw(path(name), body)
		want[path(name)] = reason
	}
	raw("empty", nil, "invalid JSON")
	raw("text", []byte("hello"), "invalid JSON")
	raw("list", []byte("[]"), "not an object")
	raw("cut", []byte(`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Mach`), "invalid JSON")
	raw("two", []byte(`{}{}`), "invalid JSON")
	raw("deep", []byte(strings.Repeat(`{"a":`, 101)+"1"+strings.Repeat("}", 101)), "deeper than 100")
	raw("twice", []byte(`{"metadata":{"name":"a","name":"b"}}`), "twice")
	raw("no-meta", []byte(`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine"}`), "metadata.name is missing")
	raw("no-version", other(func(o object) { delete(o, "apiVersion") }), "apiVersion is missing")
	raw("no-kind", other(func(o object) { delete(o, "kind") }), "kind is missing")
	raw("no-uid", other(func(o object) { meta(o)["name"] = "no-uid"; delete(meta(o), "uid") }), "metadata.uid is missing")
	raw("bad-uid", other(func(o object) { meta(o)["name"] = "bad-uid"; meta(o)["uid"] = 1 }), "metadata.uid is not a string")
	raw("bad-time", other(func(o object) { meta(o)["name"] = "bad-time"; meta(o)["creationTimestamp"] = "soon" }), "creationTimestamp is not a time")
	raw("bad-owner", other(func(o object) { meta(o)["name"] = "bad-owner"; meta(o)["ownerReferences"] = []any{object{"kind": 1}} }), "not a string")
	raw("bad-owners", other(func(o object) { meta(o)["name"] = "bad-owners"; meta(o)["ownerReferences"] = "x" }), "not an array")
	raw("bad-flag", other(func(o object) {
		meta(o)["name"] = "bad-flag"
		meta(o)["ownerReferences"] = []any{object{"kind": "K", "controller": "yes"}}
	}), "not a boolean")
	raw("name", other(func(object) {}), "disagree about the object's name")
	raw("namespace", other(func(o object) { meta(o)["name"] = "namespace"; meta(o)["namespace"] = "elsewhere" }), "disagree about the object's namespace")
	raw("group", other(func(o object) { meta(o)["name"] = "group"; o["apiVersion"] = "infrastructure.cluster.x-k8s.io/v1beta2" }), "disagree about the object's API group")
	raw("no-cluster", other(func(o object) { meta(o)["name"] = "no-cluster"; delete(o, "spec") }), "spec.clusterName is missing")
	b.Add(machines, machine("v1beta2", "good", ""))

	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
	if got := names(s); !slices.Equal(got, []string{"good"}) || len(s.Clusters) != 1 {
		t.Errorf("machines %q, clusters %v", got, s.Clusters)
	}
	for _, p := range s.Problems {
		if reason, ok := want[p.Item]; !ok || !strings.Contains(p.Reason, reason) {
			t.Errorf("%s: %s, want %s", p.Item, p.Reason, reason)
		}
		delete(want, p.Item)
	}
	if len(want) > 0 {
		t.Errorf("no problem reported about %v", want)
	}
}

// What is too long costs the item, and is reported: nothing is cut. The longest that
// is allowed is kept whole.
func TestTooLongItems(t *testing.T) {
	const most = 64 << 10
	long := strings.Repeat("x", most+1)
	array := func(n int, element any) []any { return slices.Repeat([]any{element}, n) }
	meta := func(o object) object { return o["metadata"].(object) }
	spec := func(o object) object { return o["spec"].(object) }
	b := withCluster()
	want := map[string]string{}
	add := func(resource string, o object, change func(o object), reason string) {
		change(o)
		b.AddAt(resource, "", o)
		if reason != "" {
			name := meta(o)["name"].(string)
			want[backuptest.Path(resource, "", "ns", name)] = reason
		}
	}
	addMachine := func(name string, change func(object), reason string) {
		add(machines, machine("v1beta2", name, ""), change, reason)
	}
	const tooLong = " is longer than 65536 bytes"
	addMachine("provider", func(o object) { spec(o)["providerID"] = long }, "spec.providerID"+tooLong)
	addMachine("escaped", func(o object) { spec(o)["providerID"] = strings.Repeat("ü", most/2+1) }, "spec.providerID"+tooLong)
	addMachine("uid", func(o object) { meta(o)["uid"] = long }, "metadata.uid"+tooLong)
	addMachine("owner", func(o object) { meta(o)["ownerReferences"] = []any{object{"kind": "K", "name": long}} }, "metadata.ownerReferences[].name"+tooLong)
	addMachine("owners", func(o object) { meta(o)["ownerReferences"] = array(10001, object{}) }, "an array has more than 10000 elements")
	addMachine("labels", func(o object) { meta(o)["labels"] = object{"a": long} }, "metadata.labels"+tooLong)
	addMachine("condition", func(o object) {
		o["status"] = object{"conditions": []any{object{"type": "InfrastructureReady", "status": "False", "message": long}}}
	}, "status.conditions[].message"+tooLong)
	addMachine("conditions", func(o object) { o["status"] = object{"conditions": array(10001, object{"type": "x"})} }, "an array has more than 10000 elements")
	addMachine("whole", func(o object) {
		spec(o)["providerID"] = long[:most]
		meta(o)["ownerReferences"] = array(10000, object{"kind": "K"})
	}, "")
	addThing := func(name string, s object, reason string) { add(things, newThing(name, s), func(object) {}, reason) }
	addThing("element", object{"list": []any{"a", long}}, "spec.list[]"+tooLong)
	addThing("list", object{"list": array(10001, "a")}, "an array has more than 10000 elements")
	addThing("whole", object{"list": array(10000, "a")}, "")

	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{thingKind}}, backuptest.Source("b", b.Bytes()))
	if got := names(s); !slices.Equal(got, []string{"whole"}) || len(s.Machines[0].ProviderID) != most || len(s.Machines[0].Owners) != 10000 {
		t.Errorf("machines %q", got)
	}
	for r := range thingKind.In(s).All() {
		if r.Name != "whole" || len(r.Data.List) != 10000 {
			t.Errorf("thing %s with %d elements", r.Name, len(r.Data.List))
		}
	}
	for _, p := range s.Problems {
		if p.Reason != want[p.Item] {
			t.Errorf("%s: %s, want %s", p.Item, p.Reason, want[p.Item])
		}
		delete(want, p.Item)
	}
	if len(want) > 0 {
		t.Errorf("no problem reported about %v", want)
	}
}

// Entries that are no files of a backup are passed over, and reported.
func TestHostileEntries(t *testing.T) {
	body := marshal(machine("v1beta2", "evil", ""))
	file := func(name string) *tar.Header {
		return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(body)), Mode: 0o644}
	}
	b := withCluster()
	var want []string
	entry := func(h *tar.Header, body []byte, reason string) {
		b.Entry(h, body)
		want = append(want, h.Name[:min(len(h.Name), 512)]+": "+reason)
	}
	const escapes = "the path leads out of the archive"
	entry(file("../../etc/passwd"), body, escapes)
	entry(file("resources/machines.cluster.x-k8s.io/namespaces/../evil.json"), body, escapes)
	entry(file("/resources/machines.cluster.x-k8s.io/namespaces/ns/evil.json"), body, escapes)
	entry(&tar.Header{Typeflag: tar.TypeSymlink, Name: backuptest.Path(machines, "", "ns", "link"), Linkname: "/etc/passwd"}, nil, "not a regular file")
	entry(&tar.Header{Typeflag: tar.TypeLink, Name: backuptest.Path(machines, "", "ns", "hard"), Linkname: "evil"}, nil, "not a regular file")
	entry(&tar.Header{Typeflag: tar.TypeFifo, Name: "resources/pipe"}, nil, "not a regular file")
	entry(&tar.Header{Typeflag: tar.TypeChar, Name: "resources/device"}, nil, "not a regular file")
	entry(file("resources/x/namespaces/ns/"+strings.Repeat("n", 5000)+".json"), body, "the name is longer than 4096 bytes")
	entry(file("resources/x/namespaces/ns/"+strings.Repeat("n", 70000)+".json"), body, "")
	b.Entry(&tar.Header{Typeflag: tar.TypeDir, Name: "resources/", Mode: 0o755}, nil)
	b.Add(machines, machine("v1beta2", "good", ""))

	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
	if got := names(s); !slices.Equal(got, []string{"good"}) {
		t.Errorf("machines %q", got)
	}
	got := problems(s)
	if len(got) != len(want) {
		t.Fatalf("problems %q", got)
	}
	for i := range want[:len(want)-1] {
		if got[i] != want[i] {
			t.Errorf("problem %.200q, want %.200q", got[i], want[i])
		}
	}
	if last := got[len(got)-1]; !strings.HasSuffix(last, "the name is longer than 4096 bytes") {
		t.Errorf("problem %.200q", last)
	}
}

// Long names in the forms that writers of tar use.
func TestLongNames(t *testing.T) {
	for _, format := range []tar.Format{tar.FormatUSTAR, tar.FormatPAX, tar.FormatGNU} {
		b := withCluster()
		var want []string
		for _, length := range []int{1, 40, 49, 60, 99, 140} {
			if format == tar.FormatUSTAR && length > 90 {
				continue // does not fit 100 bytes behind the last slash
			}
			name := strings.Repeat("n", length)
			want = append(want, name)
			body := marshal(machine("v1beta2", name, ""))
			b.Entry(&tar.Header{Typeflag: tar.TypeReg, Name: backuptest.Path(machines, "", "ns", name), Size: int64(len(body)), Format: format}, body)
		}
		s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
		if got := names(s); !slices.Equal(got, want) || len(s.Problems) > 0 {
			t.Errorf("%v: machines %q, problems %v", format, got, s.Problems)
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	b := withCluster()
	for i := range 1500 {
		b.Raw(fmt.Sprintf("resources/bad-%d", i), nil)
	}
	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
	if n := len(s.Problems); n != 1001 || !strings.HasSuffix(s.Problems[1000].Reason, "that are not listed: 500") {
		t.Errorf("%d problems, the last %v", n, s.Problems[n-1])
	}
}

// Clusters times the absent templates of their class would be more than any memory holds.
func TestAbsentObjectsOfAClassAreBounded(t *testing.T) {
	const class = "clusterclasses.cluster.x-k8s.io"
	var pools []object
	for i := range 150 {
		pools = append(pools, object{"infrastructure": object{"templateRef": object{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "VSphereMachineTemplate", "name": fmt.Sprint("t", i),
		}}})
	}
	b := backuptest.New().Add(class, object{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass", "metadata": object{"namespace": "ns", "name": "k"},
		"spec": object{"workers": object{"machineDeployments": pools}},
	})
	template := object{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "VSphereMachineTemplate", "metadata": object{"namespace": "ns", "name": "other"}}
	b.Add("vspheremachinetemplates.infrastructure.cluster.x-k8s.io", template)
	for _, name := range []string{"a", "b"} {
		b.Add("clusters.cluster.x-k8s.io", object{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": object{"namespace": "ns", "name": name},
			"spec": object{"topology": object{"classRef": object{"name": "k"}}},
		})
	}
	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
	if len(s.Absent) != 100 || len(s.Absent[0].Clusters) != 2 || !s.Absent[0].HaltsTopology {
		t.Errorf("%d absent objects, first %+v", len(s.Absent), s.Absent[0])
	}
}
