package program

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/internal/runs"
	"drift-detector/report/build"
	"drift-detector/report/code"
	"drift-detector/report/plan"
)

// tinyMachine is what the tiny provider reads of its own kind.
type tinyMachine struct{ Serial string }

var tinyMachines = backup.NewKind("tinymachines.infrastructure.cluster.x-k8s.io",
	backup.Text(func(m *tinyMachine) *string { return &m.Serial }, "spec.serial"))

// tiny is a provider of boxes that carry a serial number. It is all that a third
// provider needs: this test touches no other file.
type tiny struct{ boxes map[string]string } // name by serial

const tinyScope = "tiny/rack-1"

func serial(s string) infra.Key { return infra.Key{Kind: infra.KeyKindOf("serial"), Value: s} }

func (p tiny) Spec() infra.Spec {
	return infra.Spec{
		Name:       "tiny",
		Want:       backup.Want{Kinds: []backup.AnyKind{tinyMachines}},
		Controller: infra.Controller{Name: "CAPT", ID: infra.IDInSpec},
		Keys: func(id string) []infra.Key {
			if s, ok := strings.CutPrefix(id, "tiny://"); ok {
				return []infra.Key{serial(s)}
			}
			return nil
		},
	}
}

func (p tiny) Targets(*backup.Snapshot, *backup.Secrets, infra.Access) []infra.Target {
	return []infra.Target{{IDs: []string{tinyScope}, Provider: "tiny", Endpoint: "rack-1.example:443"}}
}

func (p tiny) Expected(s *backup.Snapshot) infra.Expected {
	c := infra.Expected{Providers: map[backup.ClusterID]string{}}
	bySerial := map[string]string{}
	for m := range tinyMachines.In(s).All() {
		bySerial[m.Name] = m.Data.Serial
	}
	for i := range s.Machines {
		m := &s.Machines[i]
		if m.Infrastructure.Kind != "TinyMachine" {
			continue
		}
		key := serial(bySerial[m.Infrastructure.Name])
		c.Providers[m.Cluster] = "tiny"
		c.Machines = append(c.Machines, infra.ExpectedMachine{
			Machine: i, Provider: "tiny", Home: infra.HomeScope{Target: tinyScope}, Strong: key, Source: "TinyMachine.spec.serial", Reads: "TinyMachine.spec.serial", ReadsID: true,
		})
		c.Proofs = append(c.Proofs, infra.VisibilityProof{Cluster: m.Cluster, Target: tinyScope, Any: []infra.Key{{Kind: infra.KeyKindOf("rack"), Value: "1"}}})
		c.OwnershipHints = append(c.OwnershipHints, infra.OwnershipHint{
			Grade: infra.Strong, Key: infra.Key{Kind: infra.KeyKindOf("sticker"), Value: m.Cluster.Name},
			Owner: &infra.OwnerID{Cluster: m.Cluster, Kind: "MachineSet", Name: m.Set}, Detail: "its sticker names the cluster",
		})
	}
	return c
}

func (p tiny) List(context.Context, infra.Target) infra.Listing {
	l := infra.Listing{State: code.ScopeComplete, ProbesFound: []infra.Key{{Kind: infra.KeyKindOf("rack"), Value: "1"}}}
	for s, name := range p.boxes {
		l.Instances = append(l.Instances, infra.Instance{
			Identity: "rack-1/" + s, ID: s, Name: name, Keys: []infra.Key{serial(s), {Kind: infra.KeyKindOf("sticker"), Value: "edge"}},
		})
	}
	return l
}

func TestAThirdProviderNeedsNothingButItself(t *testing.T) {
	object := func(kind, name string, spec, more map[string]any) map[string]any {
		group := "cluster.x-k8s.io/v1beta2"
		if kind == "TinyMachine" {
			group = "infrastructure.cluster.x-k8s.io/v1"
		}
		o := map[string]any{
			"apiVersion": group, "kind": kind, "spec": spec,
			"metadata": map[string]any{"namespace": "shop", "name": name, "labels": map[string]any{
				"cluster.x-k8s.io/cluster-name": "edge", "cluster.x-k8s.io/set-name": "edge-md",
			}},
		}
		maps.Copy(o, more)
		return o
	}
	tarball := backuptest.New().
		Add("clusters.cluster.x-k8s.io", object("Cluster", "edge", map[string]any{}, nil)).
		Add("machinesets.cluster.x-k8s.io", object("MachineSet", "edge-md", map[string]any{"clusterName": "edge", "replicas": 2}, map[string]any{"status": map[string]any{"replicas": 2}}))
	for name, sn := range map[string]string{"edge-md-a": "1001", "edge-md-b": "1002"} {
		tarball.
			Add("machines.cluster.x-k8s.io", object("Machine", name, map[string]any{
				"clusterName": "edge", "infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "TinyMachine", "name": name},
			}, nil)).
			Add("tinymachines.infrastructure.cluster.x-k8s.io", object("TinyMachine", name, map[string]any{"serial": sn}, nil))
	}

	registry := infra.NewRegistry(tiny{boxes: map[string]string{"1001": "box-a", "1003": "box-c"}})
	snapshot, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("tiny.tar.gz", tarball.Bytes())}, registry.Want())
	if err != nil {
		t.Fatal(err)
	}
	expected := registry.Expected(snapshot)
	inventory := registry.Collect(t.Context(), registry.Targets(snapshot, secrets, infra.Access{}), nil)
	result := detector.Detect(snapshot, expected, inventory, detector.Options{Now: time.Now()})
	future := rehearsal.Rehearse(rehearsal.Inputs{Snapshot: snapshot, Expected: expected, Inventory: inventory, Result: result, Controllers: registry.Controllers(), Now: time.Now()})
	r := build.New(build.Parts{Result: result, Forecast: future.Forecast, Snapshot: snapshot, Inventory: inventory, Providers: registry.Specs()})
	plan.Fill(r, registry.Tools())

	got := map[string]string{}
	for _, c := range r.Clusters {
		for _, m := range runs.MachinesOf(c) {
			got[m.Name] = string(m.Status) + " " + string(m.Forecast.Outcome)
			if m.Status == code.Stale && !strings.HasPrefix(m.Forecast.Message, "CAPT never creates a new instance") {
				t.Errorf("%s: %s", m.Name, m.Forecast.Message)
			}
			if m.Status != code.Healthy && len(m.Remediation) == 0 {
				t.Errorf("%s: nothing says what to do", m.Name)
			}
		}
	}
	want := map[string]string{"edge-md-a": "Healthy Adopted", "edge-md-b": "Stale Stuck", "box-c": "Ghost GhostKeepsRunning"}
	if !maps.Equal(got, want) || !r.Summary.Complete {
		t.Errorf("verdicts %v (complete %v), want %v", got, r.Summary.Complete, want)
	}
}
