package scene

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/backup/check"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// now is the clock of all scenes: an hour after the backup.
var now = backuptest.Written.Add(time.Hour)

// loaded is what a backup says.
type loaded struct {
	snapshot *backup.Snapshot
	secrets  *backup.Secrets
	expected infra.Expected
}

func load(r *infra.Registry, b backup.Source) (*loaded, error) {
	w := r.Want()
	for _, more := range []backup.Want{check.Want(), rehearsal.Want()} {
		w.Kinds, w.Secrets = append(w.Kinds, more.Kinds...), append(w.Secrets, more.Secrets...)
	}
	s, secrets, err := backup.Load(context.Background(), []backup.Source{b}, w)
	if err != nil {
		return nil, err
	}
	return &loaded{s, secrets, r.Expected(s)}, nil
}

// exists returns an inventory in which there is all that a backup expects and wants: an instance for
// each machine, which has its keys, a Node, and everything that is looked for.
func exists(r *infra.Registry, l *loaded) infra.Inventory {
	inv := infra.Inventory{Version: infra.InventoryVersion}
	for _, t := range r.Targets(l.snapshot, l.secrets, infra.Access{}) {
		place := infra.Listing{
			IDs: t.IDs, Provider: t.Provider, Endpoint: t.Endpoint, Location: t.Location, Account: t.Account, Identity: "of " + t.Endpoint,
			Clusters: t.Clusters, State: code.ScopeComplete, ListedAt: now, Asked: t.Probes,
		}
		place.ProbesFound = wanted(l, t.Probes)
		if isNodes(r, t.Provider) {
			place.NodeState, place.Identity = "read", ""
			place.Facts = infra.Facts{{Name: infra.FactCredential, Value: infra.OfBackup}, {Name: infra.FactNodeConditions, Value: "read"}, {Name: infra.FactKubeadmConfig, Value: infra.KubeadmConfigPresent}}
			for _, id := range t.Clusters {
				place.Nodes = append(place.Nodes, nodesOf(r, l.snapshot, id)...)
			}
			inv.Listings = append(inv.Listings, place)
			continue
		}
		place.Facts = infra.Facts{
			{Name: infra.FactCredential, Value: infra.OfBackup}, {Name: infra.FactOwn, Value: infra.OwnAccepted}, {Name: infra.FactCertificate, Value: infra.CertificateVerified},
		}
		for i := range l.expected.Machines {
			if m := &l.expected.Machines[i]; slices.Contains(t.IDs, m.Home.Target) && m.Machine >= 0 {
				place.Instances = append(place.Instances, instanceOf(m, &l.snapshot.Machines[m.Machine]))
			}
		}
		for i := range l.expected.Pools {
			p := &l.expected.Pools[i]
			if slices.Contains(t.IDs, p.Target) && p.Desired.Known {
				place.PoolSizes = append(place.PoolSizes, infra.PoolSize{Probe: p.Probe, Desired: p.Desired.N})
			}
		}
		inv.Listings = append(inv.Listings, place)
	}
	return inv
}

// wanted returns the probes but for those of what the backup wants not to be there.
func wanted(l *loaded, probes []infra.Key) []infra.Key {
	unwanted := map[infra.Key]bool{}
	for i := range l.expected.Resources {
		if r := &l.expected.Resources[i]; r.WhenGone == code.Unwanted {
			for _, k := range r.Keys {
				unwanted[k] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(probes), func(k infra.Key) bool { return unwanted[k] })
}

func isNodes(r *infra.Registry, provider string) bool {
	return slices.ContainsFunc(r.Specs(), func(s infra.Spec) bool { return s.Name == provider && s.NodesOnly })
}

// instanceOf returns the instance that a machine expects.
func instanceOf(e *infra.ExpectedMachine, m *backup.Machine) infra.Instance {
	i := infra.Instance{
		Identity: "vm of " + m.UID, ID: e.Strong.Value, Ref: e.Ref.Value, Name: m.Name, Path: "/" + m.Name, State: "running",
		Created: m.Created, Keys: slices.Concat([]infra.Key{e.Strong, e.Identity, e.Ref, e.Home.Within}, e.Weak, e.Names, e.Searches),
	}
	for _, x := range e.Expect {
		i.Keys = append(i.Keys, x.Key)
	}
	i.Keys = slices.DeleteFunc(i.Keys, infra.Key.IsZero)
	return i
}

// nodesOf returns the Nodes of a cluster's machines.
func nodesOf(r *infra.Registry, s *backup.Snapshot, id backup.ClusterID) []infra.Node {
	var out []infra.Node
	for i := range s.Machines {
		if m := &s.Machines[i]; m.Cluster == id {
			out = append(out, infra.Node{
				Cluster: id, Name: m.Name, ProviderID: m.ProviderID, Keys: r.Keys(m.ProviderID), Ready: true, Heartbeat: now, ControlPlane: m.ControlPlane,
				Machine: m.Name, ClusterName: id.Name, ClusterNamespace: id.Namespace, OwnerKind: m.Owner.Kind, OwnerName: m.Owner.Name,
			})
		}
	}
	return out
}

// change carries out lines about what exists, all on one document: to write and read that
// takes longer than all else in a scene.
func change(inv *infra.Inventory, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	text, err := json.Marshal(inv)
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	for _, line := range lines {
		if err := changeDocument(doc, line); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
	}
	if text, err = json.Marshal(doc); err != nil {
		return err
	}
	*inv, err = infra.ReadInventory(bytes.NewReader(text))
	return err
}

func changeDocument(doc map[string]any, line string) error {
	words := strings.Fields(line)
	listings, _ := doc["listings"].([]any)
	if len(words) < 2 {
		return errors.New("too few words")
	}
	done := false
	for _, l := range listings {
		place := l.(map[string]any)
		var err error
		switch _, isNodes := place["nodeState"]; {
		case words[0] == "nodes" && isNodes:
			place["nodeState"], done = words[1], true
			if words[1] != "read" {
				place["state"], place["fault"] = "failed", map[string]any{"reason": "Unreachable", "message": strings.Join(words[2:], " ")}
				delete(place, "nodes")
			}
		case words[0] == "place" && words[1] == place["provider"] && len(words) > 4 && probeVerbs[words[2]]:
			done = true
			changeProbes(place, words[2], words[3], strings.Join(words[4:], " "))
		case words[0] == "place" && words[1] == place["provider"]:
			done, err = true, changeOne(place, words[2:], line)
		case words[0] == "vm":
			done, err = changeNamed(place, "instances", words, line, done)
		case words[0] == "node":
			done, err = changeNamed(place, "nodes", words, line, done)
		}
		if err != nil {
			return err
		}
	}
	if !done && words[1] != "*" {
		return errors.New("there is no such thing")
	}
	return nil
}

// changeNamed changes the instance or Node of a name.
func changeNamed(place map[string]any, list string, words []string, line string, done bool) (bool, error) {
	all, _ := place[list].([]any)
	for i, o := range all {
		one := o.(map[string]any)
		if words[1] == "*" {
			if err := changeOne(one, words[2:], line); err != nil {
				return true, err
			}
			done = true
			continue
		}
		if one["name"] != words[1] {
			continue
		}
		switch words[2] {
		case "gone":
			place[list] = append(all[:i:i], all[i+1:]...)
		case "copy":
			copied := clone(one)
			copied["name"], copied["identity"] = words[3], "vm "+words[3]
			if list == "nodes" {
				delete(copied, "identity")
			}
			place[list] = append(all, copied)
		default:
			return true, changeOne(one, words[2:], line)
		}
		return true, nil
	}
	return done, nil
}

// probeVerbs say what became of what was looked for.
var probeVerbs = map[string]bool{"lacks": true, "finds": true, "doubts": true}

// changeProbes takes probes of a kind from what was found, adds one, or lets several things
// answer it. The value * stands for all of the kind.
func changeProbes(place map[string]any, verb, kind, value string) {
	is := func(probe any) bool {
		k := probe.(map[string]any)
		return k["kind"] == kind && (value == "*" || k["value"] == value)
	}
	found, _ := place["landmarks"].([]any)
	found = slices.DeleteFunc(found, is)
	one := map[string]any{"kind": kind, "value": value}
	if verb != "lacks" {
		found = append(found, one)
	}
	if verb == "doubts" {
		several, _ := place["ambiguous"].([]any)
		place["ambiguous"] = append(several, one)
	}
	place["landmarks"] = found
}

// changeOne sets a member, or adds a fact, before those that are there.
func changeOne(o map[string]any, words []string, line string) error {
	if len(words) < 2 {
		return errors.New("too few words")
	}
	facts := map[string]string{"fact": "facts", "refused": "factsUnread"}
	if list := facts[words[0]]; list != "" {
		all, _ := o[list].([]any)
		o[list] = append([]any{map[string]any{"name": words[1], "value": strings.Join(words[2:], " ")}}, all...)
		return nil
	}
	switch words[0] {
	case "unset":
		return set(o, words[1], nil)
	case "set":
		value, err := valueOf(line, words[1])
		if err != nil {
			return err
		}
		return set(o, words[1], value)
	}
	return fmt.Errorf("%s is no change", words[0])
}
