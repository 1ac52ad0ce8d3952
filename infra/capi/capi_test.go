package capi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

func TestOrphanOwners(t *testing.T) {
	id := backup.ClusterID{Namespace: "team", Name: "prod"}
	m := &backup.Meta{Namespace: "team", Name: "m", UID: "u", ClusterName: "prod"}
	plane := func(name string) backup.ControlPlane {
		c := backup.ControlPlane{Kind: "KubeadmControlPlane", Cluster: id}
		c.Name = name
		return c
	}
	one := (&backup.Snapshot{ControlPlanes: []backup.ControlPlane{plane("a")}}).ControlPlanesByCluster()
	two := (&backup.Snapshot{ControlPlanes: []backup.ControlPlane{plane("a"), plane("b")}}).ControlPlanesByCluster()
	for name, c := range map[string]struct {
		labels     capi.Labels
		planes     backup.ControlPlanes
		kind, want string
	}{
		"a control plane of the backup": {capi.Labels{ControlPlane: true, ControlPlaneName: "b"}, two, "KubeadmControlPlane", "b"},
		"one that it lacks":             {capi.Labels{ControlPlane: true, ControlPlaneName: "c"}, two, "", ""},
		"one that it lacks, of one":     {capi.Labels{ControlPlane: true, ControlPlaneName: "c"}, one, "KubeadmControlPlane", "a"},
		"no name":                       {capi.Labels{ControlPlane: true}, one, "KubeadmControlPlane", "a"},
		"a MachineSet":                  {capi.Labels{Set: "s", Deployment: "d"}, one, "MachineSet", "s"},
		"a MachineDeployment":           {capi.Labels{Deployment: "d"}, one, "MachineDeployment", "d"},
		"a MachinePool":                 {capi.Labels{Pool: "p"}, one, "MachinePool", "p"},
		"nobody":                        {capi.Labels{}, one, "", ""},
	} {
		o := capi.Orphan("VM", m, &c.labels, c.planes)
		want := infra.Orphan{
			Kind: "VM", Namespace: "team", Name: "m", UID: "u", Cluster: id, ControlPlane: c.labels.ControlPlane,
			Owner: infra.OwnerID{Cluster: id, Kind: c.kind, Name: c.want},
		}
		if *o != want {
			t.Errorf("%s: %+v, want %+v", name, *o, want)
		}
	}
}

func TestReferencesThatLeadAway(t *testing.T) {
	for _, c := range []struct {
		namespace string
		want      capi.Object
	}{
		{"", capi.Object{Backup: 1, Namespace: "team", Name: "m"}},
		{"team", capi.Object{Backup: 1, Namespace: "team", Name: "m"}},
		{"other", capi.Object{}},
	} {
		if got := capi.Referred(1, "team", backup.Ref{Namespace: c.namespace, Name: "m"}); got != c.want {
			t.Errorf("namespace %q: %+v, want %+v", c.namespace, got, c.want)
		}
	}
}

// Whatever holds a credential, and however that is printed or saved, no secret is shown.
func TestRedacted(t *testing.T) {
	type credential struct {
		capi.Redacted
		key string
	}
	type found struct {
		credential
		source string
	}
	f := found{credential{key: "hunter2"}, "somewhere"}
	asJSON, _ := json.Marshal(f)
	text, _ := f.MarshalText()
	for _, got := range []string{
		fmt.Sprint(f), fmt.Sprintf("%v %+v %#v %s %q %x %d", f, f, f, f, f, f, f), fmt.Sprint(&f.credential), fmt.Sprint([]credential{f.credential}),
		f.String(), f.GoString(), string(asJSON), string(text),
	} {
		if strings.Contains(got, "hunter2") || strings.Contains(got, "68756e74") || got == "" {
			t.Errorf("printed as %q", got)
		}
	}
}

func TestNumberedAndTidy(t *testing.T) {
	if first, second := capi.Numbered("x/y", 0), capi.Numbered("x/y", 1); first != "x/y" || second != "x/y#2" {
		t.Errorf("%s, %s", first, second)
	}
	a, b := backup.ClusterID{Name: "z"}, backup.ClusterID{Backup: 1, Name: "a"}
	k := infra.Key{Kind: infra.KeyKindOf("k"), Value: "1"}
	target := infra.Target{IDs: []string{"2", "1"}, Clusters: []backup.ClusterID{b, a, b}, Probes: []infra.Key{k, {Kind: infra.KeyKindOf("j"), Value: "2"}, k}, Warnings: []string{"w", "v", "w"}}
	capi.Tidy(&target)
	if got := fmt.Sprint(target.IDs, target.Clusters, target.Probes, target.Warnings); got != fmt.Sprint([]string{"1", "2"}, []backup.ClusterID{a, b}, []infra.Key{{Kind: infra.KeyKindOf("j"), Value: "2"}, k}, []string{"v", "w"}) {
		t.Error(got)
	}
}

func TestMissing(t *testing.T) {
	var m capi.Missing
	if list := m.List(); len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	at := func(n int, name string) capi.Object { return capi.Object{Backup: n, Name: name} }
	x, y := backup.ClusterID{Name: "x"}, backup.ClusterID{Name: "y"}
	m.Refer("Identity", at(1, "a"), "Cluster 2")
	m.Refer("Identity", at(0, "b"), "Cluster 3")
	m.Refer("Identity", at(0, "b"), "Cluster 1")
	m.Concern("Identity", at(0, "b"), y, x, y)
	m.Concern("Identity", at(0, "there"), x)
	line := func(a backup.Absence) string {
		return fmt.Sprintf("%d %s %s: %s %v", a.Backup, a.Kind, a.Name, a.ReferredBy, a.Clusters)
	}
	show := func() (out []string) {
		for _, a := range m.List() {
			out = append(out, line(a))
		}
		return out
	}
	want := []string{
		line(backup.Absence{Kind: "Identity", Name: "b", ReferredBy: "Cluster 3 and 1 more", Clusters: []backup.ClusterID{x, y}}),
		line(backup.Absence{Backup: 1, Kind: "Identity", Name: "a", ReferredBy: "Cluster 2"}),
	}
	if got := show(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	m.SortReferrers()
	if got := show(); !strings.Contains(got[0], "Cluster 1 and 1 more") {
		t.Errorf("%q", got)
	}
}
