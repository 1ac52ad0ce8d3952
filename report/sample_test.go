package report

import (
	"fmt"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/readiness"
	"drift-detector/detector"
	"drift-detector/infra"
)

// The fixtures of this package: outcomes as the detector gives them.

const (
	homeTarget  = "vsphere/vc1.example:443/Secret/tenant-alpha/alpha-prod"
	otherTarget = "vsphere/vc2.example:443/Secret/tenant-beta/beta-prod"
)

var moment = time.Date(2026, 11, 20, 9, 30, 0, 123456789, time.FixedZone("CET", 3600))

// sampleChecks have a kind that is folded in the text, and one that is left out.
func sampleChecks() []readiness.Finding {
	paused := readiness.Rule{Code: "ClusterNotPaused", Severity: readiness.Warning, Why: "Controllers act at once.", Do: "pause it"}
	identity := readiness.Rule{Code: "IdentityAbsent", Severity: readiness.Error, Why: "Its clusters stand still.", Do: "create it"}
	age := readiness.Rule{Code: "BackupAge", Severity: readiness.Info, Why: "What happened since is not in it.", Do: "run detect"}
	all := []readiness.Finding{identity.On(0, "VSphereClusterIdentity shared", "not in the backup; referred to by VSphereCluster tenant-beta/beta-prod")}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		all = append(all, paused.On(0, "Cluster tenant/"+name, "not paused"))
	}
	return append(all, age.On(0, "backup mgmt-data.tar.gz", "it is 1h00m old"))
}

func sampleParts() Parts {
	return Parts{
		Result: detector.Result{
			Status: detector.ManualRemediationRequired,
			Clusters: []detector.Cluster{
				sampleLost(), sampleDrifted(), sampleUnsupported(), sampleBlind(), sampleSelf(), sampleBig(20),
			},
			Unattributed: sampleUnattributed(),
			Excluded:     map[string]int{"template": 10, "vCLS": 2},
			OutOfScope:   4,
			ForeignTags:  map[string]int{"beta-new": 1},
			Scopes: []detector.Scope{
				{Provider: "vsphere", Endpoint: "vc1.example:443", Account: "svc-capv@vsphere.local", State: infra.Complete, Instances: 73},
				{
					Provider: "vsphere", Endpoint: "vc2.example:443", Account: "svc-capv@vsphere.local", State: infra.Failed,
					Fault: &infra.Fault{
						Reason: "Unreachable", Message: "dial tcp 192.0.2.7:443: connect: connection refused",
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
				FormatVersion: "1.1.0", WrittenFrom: moment, WrittenTo: moment.Add(4 * time.Second), Items: 588,
			}},
			Absent: []backup.Absence{{
				Kind: "VSphereClusterIdentity", Name: "shared", ReferredBy: "VSphereCluster tenant-beta/beta-prod",
				Why: "a default backup leaves cluster-scoped objects out: apply it again before the restored controllers start",
			}},
		},
		Checks: sampleChecks(),
		Inventory: infra.Inventory{Listings: []infra.Listing{
			{IDs: []string{homeTarget}, Provider: "vsphere", Endpoint: "vc1.example:443"},
			{IDs: []string{otherTarget}, Provider: "vsphere", Endpoint: "vc2.example:443"},
		}},
		Tool:        Tool{Name: "drift-detector", Version: "v0.1.0", Commit: "0123abc"},
		GeneratedAt: moment,
	}
}

func sampleID(n int) string { return fmt.Sprintf("42010000-0000-4000-8000-%012d", n) }

func sampleVM(n int, folder, name string) *infra.Instance {
	return &infra.Instance{
		Identity: fmt.Sprintf("vc1/vm-%d", n), ID: sampleID(n), Ref: fmt.Sprintf("vm-%d", n), Name: name,
		Path: folder + "/" + name, State: "poweredOn", Created: moment, Addresses: []string{"192.0.2.100"},
	}
}

func sampleHealthy(n int, name string, controlPlane bool, ws ...detector.Warning) detector.Verdict {
	return detector.Verdict{
		Status: detector.Healthy, Namespace: "tenant-alpha", Name: name, UID: "uid-" + name,
		RoleKnown: true, ControlPlane: controlPlane, ProviderID: "vsphere://" + sampleID(n), Node: name,
		Instance: sampleVM(n, "/DC0/vm/capi/tenant-alpha", name), Scope: homeTarget, Warnings: ws,
		Evidence: []detector.Evidence{{Kind: "biosUUID", Detail: "VSphereVM.spec.biosUUID " + sampleID(n), Strength: detector.StrengthStrong}},
	}
}

func sampleStale(n int, name string, controlPlane bool) detector.Verdict {
	return detector.Verdict{
		Status: detector.Stale, Reason: "InstanceNotFound", Namespace: "tenant-alpha", Name: name, UID: "uid-" + name,
		RoleKnown: true, ControlPlane: controlPlane, ProviderID: "vsphere://" + sampleID(n), Scope: homeTarget,
		Message: "no VM with this BIOS UUID in vCenter vc1.example:443; 73 VMs listed",
	}
}

func sampleDrifted() detector.Cluster {
	ghost := detector.Verdict{
		Status: detector.Ghost, Namespace: "tenant-alpha", Name: "alpha-prod-md-0-cjzhw-68lpw", RoleKnown: true,
		Instance: sampleVM(101, "/DC0/vm/capi/tenant-alpha", "alpha-prod-md-0-cjzhw-68lpw"), Scope: homeTarget,
		Message: "it belongs to the cluster, and the backup knows no machine for it",
		Evidence: []detector.Evidence{
			{Kind: "folder", Detail: "folder /DC0/vm/capi/tenant-alpha", Strength: detector.StrengthWeak},
			{Kind: "name", Detail: "name is MachineSet alpha-prod-md-0-cjzhw + 5 characters", Strength: detector.StrengthMedium},
		},
	}
	ghostCP := ghost
	ghostCP.Name, ghostCP.ControlPlane = "alpha-prod-868sk", true
	ghostCP.Instance = sampleVM(102, "/DC0/vm/capi/tenant-alpha", "alpha-prod-868sk")
	ambiguous := detector.Verdict{
		Status: detector.Unknown, Reason: "AmbiguousMatch", Namespace: "tenant-alpha", Name: "alpha-prod-md-0-cjzhw-zk8zm",
		RoleKnown: true, ProviderID: "vsphere://" + sampleID(4), Scope: homeTarget, Message: "two VMs carry the BIOS UUID and nothing tells which is the machine",
		Others: []infra.Instance{
			*sampleVM(4, "/DC0/vm/capi/tenant-alpha", "alpha-prod-md-0-cjzhw-zk8zm"), *sampleVM(4, "/DC0/vm/restored", "copy of zk8zm"),
		},
	}
	stale := sampleStale(15, "alpha-prod-md-1-jqqjv-dgmm9", false)
	stale.Warnings = []detector.Warning{{Reason: "SameNameElsewhere", Message: "a VM of this name and another BIOS UUID is in /DC0/vm/restored"}}
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-alpha", Name: "alpha-prod"}, Provider: "vsphere",
		Status: detector.ManualRemediationRequired, Endpoint: "192.0.2.10:6443", Applicable: true, Paused: true,
		Nodes: detector.NodeList{State: "unreachable", Error: "dial tcp 192.0.2.10:6443: i/o timeout"},
		ControlPlane: detector.Set{
			Kind: "KubeadmControlPlane", Name: "alpha-prod", Status: detector.ManualRemediationRequired, Desired: backup.Number{N: 3, Known: true},
			Machines: []detector.Verdict{
				ghostCP, sampleHealthy(1, "alpha-prod-jzxnt", true, detector.Warning{Reason: "DuplicateID", Message: "another VM has the same BIOS UUID"}),
				sampleHealthy(2, "alpha-prod-kcn2q", true),
			},
		},
		Workers: detector.ManualRemediationRequired,
		WorkerGroups: []detector.Set{
			{
				Kind: "MachineDeployment", Name: "alpha-prod-md-0", Status: detector.ManualRemediationRequired, Desired: backup.Number{N: 4, Known: true},
				Machines: []detector.Verdict{ghost, sampleHealthy(3, "alpha-prod-md-0-cjzhw-7z9bm", false), ambiguous},
			},
			{
				Kind: "MachineDeployment", Name: "alpha-prod-md-1", Status: detector.ManualRemediationNotRequired, Reason: "MachinesNotInBackup",
				Machines: []detector.Verdict{stale},
			},
		},
	}
}

func sampleLost() detector.Cluster {
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-alpha", Name: "alpha-dev"}, Provider: "vsphere",
		Status: detector.NeedFurtherConfirmation, Applicable: true, Derived: true, Nodes: detector.NodeList{State: "noKubeconfig"},
		ControlPlane: detector.Set{
			Kind: "KubeadmControlPlane", Name: "alpha-dev", Status: detector.NeedFurtherConfirmation, Reason: "ControlPlaneLost",
			Machines: []detector.Verdict{sampleStale(20, "alpha-dev-nzj74", true)},
		},
		Workers: detector.ManualRemediationNotRequired,
		WorkerGroups: []detector.Set{{
			Kind: "MachineSet", Name: "alpha-dev-md-0-pjr48", Status: detector.ManualRemediationNotRequired,
			Machines: []detector.Verdict{sampleStale(21, "alpha-dev-md-0-pjr48-m4vlc", false), sampleStale(22, "alpha-dev-md-0-pjr48-tc6jr", false)},
		}},
	}
}

func sampleUnsupported() detector.Cluster {
	unknown := func(name string) detector.Verdict {
		return detector.Verdict{
			Status: detector.Unknown, Reason: "UnsupportedProvider", Namespace: "tenant-aws", Name: name, RoleKnown: true,
			Message: "AWSMachine is of no provider that is supported",
		}
	}
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-aws", Name: "aws-prod"}, Status: detector.NeedFurtherConfirmation, Applicable: true,
		ControlPlane: detector.Set{Kind: "KubeadmControlPlane", Name: "aws-prod", Status: detector.NeedFurtherConfirmation},
		Workers:      detector.NeedFurtherConfirmation,
		WorkerGroups: []detector.Set{{
			Kind: "MachineDeployment", Name: "aws-prod-md-0", Status: detector.NeedFurtherConfirmation,
			Machines: []detector.Verdict{unknown("aws-prod-md-0-1"), unknown("aws-prod-md-0-2")},
		}},
	}
}

// sampleBlind is a cluster whose vCenter is down.
func sampleBlind() detector.Cluster {
	var ms []detector.Verdict
	for i := range 12 {
		ms = append(ms, detector.Verdict{
			Status: detector.Unknown, Reason: "ScopeIncomplete", Namespace: "tenant-beta", Name: fmt.Sprintf("beta-prod-md-0-%02d", i),
			RoleKnown: true, ProviderID: "vsphere://" + sampleID(300+i), Scope: otherTarget, Message: "vc2.example:443 could not be listed: connection refused",
		})
	}
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-beta", Name: "beta-prod"}, Provider: "vsphere", Status: detector.NeedFurtherConfirmation,
		Nodes:        detector.NodeList{State: "read", Count: 12},
		ControlPlane: detector.Set{Reason: "HostedInManagementCluster", Status: detector.NeedFurtherConfirmation},
		Workers:      detector.NeedFurtherConfirmation,
		WorkerGroups: []detector.Set{{
			Kind: "MachineDeployment", Name: "beta-prod-md-0", Status: detector.NeedFurtherConfirmation,
			Desired: backup.Number{N: 12, Known: true}, Machines: ms,
		}},
	}
}

// samplePools is a cluster without machines of its own: of three pools one changed,
// one is gone and one could not be read.
func samplePools() detector.Cluster {
	pool := func(name string, s detector.PoolState, reason string) detector.Set {
		g := detector.Set{Kind: "MachinePool", Name: name, Status: detector.AllHealthy, Reason: reason, Desired: backup.Number{N: 2, Known: true}, Pool: &s}
		if reason != "" {
			g.Status = detector.NeedFurtherConfirmation
		}
		return g
	}
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-aws", Name: "eks"}, Provider: "aws", Status: detector.NeedFurtherConfirmation,
		ControlPlane: detector.Set{Kind: "AWSManagedControlPlane", Name: "eks", Status: detector.AllHealthy},
		Workers:      detector.NeedFurtherConfirmation,
		WorkerGroups: []detector.Set{
			pool("mp-0", detector.PoolState{
				State: detector.Present, Then: []string{"i-1", "i-2"}, Now: []string{"i-2", "i-3", "i-4"}, ManagedBy: "external-autoscaler",
				Desired: backup.Number{N: 2, Known: true}, Message: "its members changed since the backup, as those of a pool do: 1 gone, 2 new",
			}, ""),
			pool("mp-1", detector.PoolState{State: detector.Absent, Then: []string{"i-5"}, Message: "it was not found"}, "PoolMissing"),
			pool("mp-2", detector.PoolState{State: detector.Undecided, Message: "whether it exists cannot be told: AccessDenied"}, "PoolUndecided"),
		},
		Resources: []detector.ResourceState{
			{Kind: "VPC", Name: "vpc-1", State: detector.Present, UsedBy: "AWSCluster tenant-aws/eks"},
			{Kind: "load balancer", Name: "eks-apiserver", State: detector.Undecided, UsedBy: "AWSCluster tenant-aws/eks", Message: "whether it exists cannot be told: AccessDenied"},
			{Kind: "subnet", Name: "subnet-1", State: detector.Absent, UsedBy: "AWSCluster tenant-aws/eks", Message: "replacing a machine will fail: subnet subnet-1 was not found"},
		},
	}
}

func sampleSelf() detector.Cluster {
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tkg-system", Name: "mgmt"}, Provider: "vsphere", Self: true, Applicable: true,
		Status: detector.ManualRemediationNotRequired, Nodes: detector.NodeList{State: "unreachable", Error: "connection refused"},
		ControlPlane: detector.Set{
			Kind: "KubeadmControlPlane", Name: "mgmt", Status: detector.ManualRemediationNotRequired,
			Machines: []detector.Verdict{sampleStale(30, "mgmt-abcde", true)},
		},
		Workers: detector.AllHealthy,
	}
}

func sampleBig(workers int) detector.Cluster {
	c := detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-zeta", Name: "zeta"}, Provider: "vsphere", Status: detector.AllHealthy, Applicable: true,
		Nodes: detector.NodeList{State: "read", Count: workers + 1}, Endpoint: "192.0.2.11:6443",
		ControlPlane: detector.Set{
			Kind: "KubeadmControlPlane", Name: "zeta", Status: detector.AllHealthy, Machines: []detector.Verdict{sampleHealthy(9999, "zeta-abcde", true)},
		},
		Workers:      detector.AllHealthy,
		WorkerGroups: []detector.Set{{Kind: "MachineDeployment", Name: "zeta-md-0", Status: detector.AllHealthy}},
	}
	for i := range workers {
		g := &c.WorkerGroups[0]
		g.Machines = append(g.Machines, sampleHealthy(10000+i, fmt.Sprintf("zeta-md-0-%04d", i), false))
	}
	return c
}

func sampleUnattributed() []detector.Unattributed {
	return []detector.Unattributed{
		{
			Instance: *sampleVM(201, "/DC0/vm/capi/tenant-alpha", "jumphost-01"), Scope: homeTarget,
			Cluster: &backup.ClusterID{Namespace: "tenant-alpha", Name: "alpha-prod"}, Reason: "InClusterFolder",
			Message: "lies in a folder of the cluster and nothing else ties it",
		},
		{
			Instance: *sampleVM(202, "/DC0/vm/capi/tenant-beta", "beta-new-4sf74"), Scope: homeTarget,
			Foreign: "beta-new", Reason: "ForeignNode", Message: "belongs to a cluster that is not in the backup",
		},
	}
}
