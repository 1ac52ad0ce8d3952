// Package buildtest makes outcomes as the detector gives them, for the tests of
// reports and of their text.
package buildtest

import (
	"fmt"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/code"
)

// Ids of targets.
const (
	HomeTarget  = "vsphere/vc1.example:443/Secret/tenant-alpha/alpha-prod"
	OtherTarget = "vsphere/vc2.example:443/Secret/tenant-beta/beta-prod"
)

var Moment = time.Date(2026, 11, 20, 9, 30, 0, 123456789, time.FixedZone("CET", 3600))

// Checks returns findings with a kind that is folded in the text, and one that is left out.
func Checks() []check.Finding {
	paused := check.Rule{Code: "ClusterNotPaused", Severity: code.CheckWarning, Why: "Controllers act at once.", Do: "pause it"}
	identity := check.Rule{Code: code.IdentityAbsent, Severity: code.CheckError, Why: "Its clusters are not reconciled.", Do: "create it"}
	age := check.Rule{Code: "BackupAge", Severity: code.CheckInfo, Why: "What happened since is not in it.", Do: "run detect"}
	all := []check.Finding{identity.On(0, "VSphereClusterIdentity shared", "not in the backup; referred to by VSphereCluster tenant-beta/beta-prod")}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		all = append(all, paused.On(0, "Cluster tenant/"+name, "not paused"))
	}
	return append(all, age.On(0, "backup mgmt-data.tar.gz", "it is 1h00m old"))
}

func Sample() build.Parts {
	return build.Parts{
		Result: detector.Result{
			Status: code.ManualRemediationRequired,
			Clusters: []detector.Cluster{
				Lost(), Drifted(), Unsupported(), Blind(), Self(), Big(20),
			},
			Unattributed: Unattributed(),
			Excluded:     map[string]int{"template": 10, "vCLS": 2},
			OutOfScope:   4,
			ForeignTags:  map[string]int{"beta-new": 1},
			Scopes: []report.Scope{
				{Provider: "vsphere", Endpoint: "vc1.example:443", Account: "svc-capv@vsphere.local", State: code.ScopeComplete, Instances: 73},
				{
					Provider: "vsphere", Endpoint: "vc2.example:443", Account: "svc-capv@vsphere.local", State: code.ScopeFailed,
					Error: &infra.Fault{
						Reason: code.Unreachable, Message: "dial tcp 192.0.2.7:443: connect: connection refused",
						Hint: "open the way to vc2.example:443, or give --endpoint vc2.example:443=HOST:PORT",
					},
				},
			},
			Errors: []detector.Error{{
				Scope: "vsphere vc2.example:443", Message: "dial tcp 192.0.2.7:443: connect: connection refused",
			}, {
				Object:  "resources/machines.cluster.x-k8s.io/namespaces/tenant-alpha/broken.json",
				Message: "invalid JSON at byte 17", Hint: "take another backup, or go on without this machine",
			}},
		},
		Snapshot: &backup.Snapshot{
			Backups: []backup.Info{{
				Path: "mgmt-data.tar.gz", SHA256: "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
				FormatVersion: "1.1.0", WrittenFrom: Moment, WrittenTo: Moment.Add(4 * time.Second), Items: 588,
			}},
			Absent: []backup.Absence{{
				Kind: "VSphereClusterIdentity", Name: "shared", ReferredBy: "VSphereCluster tenant-beta/beta-prod",
				Why: "a default backup leaves cluster-scoped objects out: apply it again before the restored controllers start",
			}},
		},
		Checks: Checks(),
		Inventory: infra.Inventory{Listings: []infra.Listing{
			{IDs: []string{HomeTarget}, Provider: "vsphere", Endpoint: "vc1.example:443"},
			{IDs: []string{OtherTarget}, Provider: "vsphere", Endpoint: "vc2.example:443"},
		}},
		Tool:        report.Tool{Name: "drift-detector", Version: "v0.1.0", Commit: "0123abc"},
		GeneratedAt: Moment,
	}
}

func sampleID(n int) string { return fmt.Sprintf("42010000-0000-4000-8000-%012d", n) }

func VM(n int, folder, name string) *infra.Instance {
	return &infra.Instance{
		Identity: fmt.Sprintf("vc1/vm-%d", n), ID: sampleID(n), Ref: fmt.Sprintf("vm-%d", n), Name: name,
		Path: folder + "/" + name, State: "poweredOn", Created: Moment, Addresses: []string{"192.0.2.100"},
	}
}

func HealthyMachine(n int, name string, controlPlane bool, ws ...report.Warning) *detector.Verdict {
	return &detector.Verdict{
		Status: code.Healthy, Namespace: "tenant-alpha", Name: name, UID: "uid-" + name,
		RoleKnown: true, ControlPlane: controlPlane, ProviderID: "vsphere://" + sampleID(n), Node: name,
		Instance: VM(n, "/DC0/vm/capi/tenant-alpha", name), Scope: HomeTarget, Warnings: ws,
		Evidence: []report.Evidence{{Kind: "biosUUID", Detail: "VSphereVM.spec.biosUUID " + sampleID(n), Strength: code.Strong}},
	}
}

func StaleMachine(n int, name string, controlPlane bool) *detector.Verdict {
	return &detector.Verdict{
		Status: code.Stale, Reason: code.InstanceNotFound, Namespace: "tenant-alpha", Name: name, UID: "uid-" + name,
		RoleKnown: true, ControlPlane: controlPlane, ProviderID: "vsphere://" + sampleID(n), Scope: HomeTarget,
		Message: "no VM with this BIOS UUID in vCenter vc1.example:443; 73 VMs listed",
	}
}

func Unattributed() []detector.Unattributed {
	return []detector.Unattributed{
		{
			Instance: *VM(201, "/DC0/vm/capi/tenant-alpha", "jumphost-01"), Scope: HomeTarget,
			Clusters: []backup.ClusterID{{Namespace: "tenant-alpha", Name: "alpha-prod"}}, Reason: code.InClusterFolder,
			Message: "is in a folder of the cluster; nothing else links it to the cluster",
		},
		{
			Instance: *VM(202, "/DC0/vm/capi/tenant-beta", "beta-new-4sf74"), Scope: HomeTarget,
			Foreign: "beta-new", Reason: code.ForeignNode, Message: "belongs to a cluster that is not in the backup",
		},
	}
}

func Healthy() build.Parts {
	p := Sample()
	p.Checks = nil
	p.Result = detector.Result{
		Status: code.Healthy, Complete: true, Clusters: []detector.Cluster{Big(27)}, Scopes: p.Result.Scopes[:1],
	}
	p.Snapshot.Absent = nil
	p.Options.SkipNodes = true
	p.Result.Clusters[0].Nodes = report.Nodes{State: "skipped"}
	return Foreseen(p)
}

// Foreseen gives parts a forecast of which each cluster has those effects.
func Foreseen(p build.Parts, effects ...report.AnswerReason) build.Parts {
	order := []report.Note{{Code: code.RestoreOrder, Message: "All objects are back before a controller acts"}}
	f := &rehearsal.Forecast{GeneralForecast: report.GeneralForecast{Outcomes: map[code.Outcome]int{}, Notes: order}, Conditions: order}
	for i := range p.Result.Clusters {
		f.Clusters = append(f.Clusters, rehearsal.Cluster{ClusterForecast: report.ClusterForecast{Text: "all adopted", Outcomes: map[code.Outcome]int{}}, Groups: make([]rehearsal.Group, len(p.Result.Clusters[i].WorkerGroups)), Effects: effects})
	}
	p.Forecast = f
	return p
}

func ToConfirm() build.Parts {
	p := Healthy()
	p.Checks = nil
	p.Result.Status, p.Result.Unattributed = code.NeedFurtherConfirmationInfraMachines, Unattributed()
	return Foreseen(p)
}

func Stale() build.Parts {
	p := Healthy()
	p.Checks = nil
	c := Lost()
	c.Status, c.ControlPlane.Reason = code.ManualRemediationNotRequired, ""
	p.Result.Status, p.Result.Clusters = code.ManualRemediationNotRequired, []detector.Cluster{c}
	return Foreseen(p, report.AnswerReason{Code: code.MachinesBroken, Message: "These machines stay broken", Objects: []string{"Machine a/b"}})
}

// Pools returns a cluster whose pools and other infrastructure changed, and one
// of which all is as it was.
func Pools() build.Parts {
	p := Healthy()
	p.Checks = nil
	c, same := samplePools(), Big(2)
	same.Resources = []report.Resource{{Kind: "VPC", Name: "vpc-1", State: code.Present, UsedBy: "AWSCluster tenant-zeta/zeta"}}
	same.WorkerGroups = append(same.WorkerGroups, detector.Set{
		Kind: "MachinePool", Name: "zeta-mp", Status: code.Healthy,
		Pool: &detector.PoolState{State: code.Present, Then: []string{"i-1"}, Now: []string{"i-1"}},
	})
	p.Result.Status, p.Result.Clusters = code.NeedFurtherConfirmation, []detector.Cluster{c, same}
	return Foreseen(p)
}

// Hostile returns a fleet whose every name wants to be something else.
func Hostile() build.Parts {
	p := Sample()
	const evil = "x\x1b[2J\u202eyhtlaeH\n= Healthy all\u009b31m\xff"
	c := Drifted()
	c.ID.Name, c.ID.Namespace, c.Endpoint, c.Nodes.Error = evil, evil, evil, evil
	c.ControlPlane.Kind, c.ControlPlane.Name, c.ControlPlane.Reason = evil, evil, evil
	v := c.ControlPlane.Machines[0]
	v.Name, v.Message, v.Evidence[1].Detail, v.ProviderID = evil, evil, evil, evil
	v.Instance.Name, v.Instance.Path, v.Instance.ID, v.Instance.Ref = evil, evil, evil, evil
	p.Result.Clusters = []detector.Cluster{c}
	u := &p.Result.Unattributed[0]
	u.Instance.Name, u.Instance.Path, u.Foreign, u.Message, u.Reason = evil, evil, evil, evil, evil
	p.Result.ForeignTags, p.Result.Excluded = map[string]int{evil: 1}, map[string]int{evil: 1}
	p.Result.Scopes[1].Endpoint, p.Result.Scopes[1].Account, p.Result.Scopes[1].Error.Message = evil, evil, evil
	p.Result.Errors = []detector.Error{{Scope: evil, Object: evil, Message: evil, Hint: evil}}
	p.Snapshot.Backups[0].Path = evil
	p.Snapshot.Absent[0].Name, p.Snapshot.Absent[0].Why = evil, evil
	return p
}

// Foretold returns the sample with a forecast that has every part.
func Foretold() build.Parts {
	p := Sample()
	f := &rehearsal.Forecast{GeneralForecast: report.GeneralForecast{
		Outcomes: map[code.Outcome]int{code.Adopted: 23, code.Stuck: 4}, NotHealing: 4,
		Notes: []report.Note{{Code: code.AssumedOrder, Message: "the forecast assumes an order"}},
	}}
	for i := range p.Result.Clusters {
		c := &p.Result.Clusters[i]
		one := rehearsal.Cluster{
			ClusterForecast: report.ClusterForecast{
				Text: "1 adopted, 2 broken until\nsomebody acts", Outcomes: map[code.Outcome]int{code.Stuck: 1}, NotHealing: 1,
				Notes: []report.Note{{Code: code.ControlPlaneGone, Message: "gone"}},
			},
			ControlPlane: rehearsal.ControlPlane{Machines: Forecasts(c.ControlPlane.Machines), ControlPlaneForecast: report.ControlPlaneForecast{
				Why: "no MachineHealthCheck", Rollout: &report.Rollout{Stale: 3, Ghosts: 3, Message: "rolled out"},
				Replicas: report.Replicas{Recorded: 1, Working: 2, Created: 3, Deleted: 4, Running: 5, Unknown: 6, Surplus: 7, Missing: 8},
				Etcd:     &report.Etcd{Quorum: code.QuorumStands, Recorded: 1, Existing: 2, Removed: 3, After: 4, Message: "stands"},
			}},
		}
		for j := range c.WorkerGroups {
			one.Groups = append(one.Groups, rehearsal.Group{Machines: Forecasts(c.WorkerGroups[j].Machines), GroupForecast: report.GroupForecast{ManagedBy: "cluster autoscaler"}})
		}
		f.Clusters = append(f.Clusters, one)
	}
	p.Forecast = f
	return p
}

// Forecasts names each machine in its own forecast.
func Forecasts(vs []*detector.Verdict) []rehearsal.Machine {
	out := make([]rehearsal.Machine, len(vs))
	for i, v := range vs {
		out[i] = rehearsal.Machine{MachineForecast: report.MachineForecast{Outcome: code.Stuck, Message: "of " + v.Name}}
	}
	return out
}

// Readiness has two errors, a warning and a note, of two backups.
func Readiness() *report.Readiness {
	gone := check.Rule{Code: "Gone", Severity: code.CheckError, Why: "it matters", Do: "bring it back"}
	late := check.Rule{Code: "Late", Severity: code.CheckWarning, Why: "time flies", Do: "hurry"}
	note := check.Rule{Code: "Note", Severity: code.CheckInfo, Why: "good to know", Do: "nothing"}
	return build.Readiness(
		&backup.Snapshot{Backups: []backup.Info{{Path: "a.tar.gz"}, {Path: "b.tar.gz"}}}, nil,
		[]check.Finding{
			gone.On(0, "Secret a/b", "not there"), gone.On(1, "Secret a/c", "not there\x1b[31m either"),
			late.On(0, "Cluster a/b", "too late"), note.On(1, "backup b.tar.gz", "3 days old"),
		},
		nil, report.Tool{Name: "drift-detector"}, time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC))
}
