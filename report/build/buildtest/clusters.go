package buildtest

import (
	"fmt"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

func Drifted() detector.Cluster {
	ghost := detector.Verdict{
		Status: code.Ghost, Namespace: "tenant-alpha", Name: "alpha-prod-md-0-cjzhw-68lpw", RoleKnown: true,
		Instance: VM(101, "/DC0/vm/capi/tenant-alpha", "alpha-prod-md-0-cjzhw-68lpw"), Scope: HomeTarget,
		Message: "it belongs to the cluster, but the backup has no Machine for it",
		Evidence: []report.Evidence{
			{Kind: "folder", Detail: "folder /DC0/vm/capi/tenant-alpha", Strength: code.Weak},
			{Kind: "name", Detail: "name is MachineSet alpha-prod-md-0-cjzhw + 5 characters", Strength: code.Medium},
		},
	}
	ghostCP := ghost
	ghostCP.Name, ghostCP.ControlPlane = "alpha-prod-868sk", true
	ghostCP.Instance = VM(102, "/DC0/vm/capi/tenant-alpha", "alpha-prod-868sk")
	ambiguous := &detector.Verdict{
		Status: code.Unknown, Reason: code.AmbiguousMatch, Namespace: "tenant-alpha", Name: "alpha-prod-md-0-cjzhw-zk8zm",
		RoleKnown: true, ProviderID: "vsphere://" + sampleID(4), Scope: HomeTarget, Message: "two VMs carry the BIOS UUID and nothing tells which is the machine",
		Others: []infra.Instance{
			*VM(4, "/DC0/vm/capi/tenant-alpha", "alpha-prod-md-0-cjzhw-zk8zm"), *VM(4, "/DC0/vm/restored", "copy of zk8zm"),
		},
	}
	stale := StaleMachine(15, "alpha-prod-md-1-jqqjv-dgmm9", false)
	stale.Warnings = []report.Warning{{Reason: code.SameNameElsewhere, Message: "a VM of this name and another BIOS UUID is in /DC0/vm/restored"}}
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-alpha", Name: "alpha-prod"}, Provider: "vsphere",
		Status: code.ManualRemediationRequired, Endpoint: "192.0.2.10:6443", Applicable: true, Paused: true,
		Nodes: report.Nodes{State: "unreachable", Error: "dial tcp 192.0.2.10:6443: i/o timeout"},
		ControlPlane: detector.Set{
			Kind: "KubeadmControlPlane", Name: "alpha-prod", Status: code.ManualRemediationRequired, Desired: backup.Number{N: 3, Known: true},
			Machines: []*detector.Verdict{
				&ghostCP, HealthyMachine(1, "alpha-prod-jzxnt", true, report.Warning{Reason: code.DuplicateID, Message: "another VM has the same BIOS UUID"}),
				HealthyMachine(2, "alpha-prod-kcn2q", true),
			},
		},
		Workers: code.ManualRemediationRequired,
		WorkerGroups: []detector.Set{
			{
				Kind: "MachineDeployment", Name: "alpha-prod-md-0", Status: code.ManualRemediationRequired, Desired: backup.Number{N: 4, Known: true},
				Machines: []*detector.Verdict{&ghost, HealthyMachine(3, "alpha-prod-md-0-cjzhw-7z9bm", false), ambiguous},
			},
			{
				Kind: "MachineDeployment", Name: "alpha-prod-md-1", Status: code.ManualRemediationNotRequired, Reason: code.MachinesNotInBackup,
				Machines: []*detector.Verdict{stale},
			},
		},
	}
}

func Lost() detector.Cluster {
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-alpha", Name: "alpha-dev"}, Provider: "vsphere",
		Status: code.NeedFurtherConfirmation, Applicable: true, Derived: true, Nodes: report.Nodes{State: "noKubeconfig"},
		ControlPlane: detector.Set{
			Kind: "KubeadmControlPlane", Name: "alpha-dev", Status: code.NeedFurtherConfirmation, Reason: code.ControlPlaneLost,
			Machines: []*detector.Verdict{StaleMachine(20, "alpha-dev-nzj74", true)},
		},
		Workers: code.ManualRemediationNotRequired,
		WorkerGroups: []detector.Set{{
			Kind: "MachineSet", Name: "alpha-dev-md-0-pjr48", Status: code.ManualRemediationNotRequired,
			Machines: []*detector.Verdict{StaleMachine(21, "alpha-dev-md-0-pjr48-m4vlc", false), StaleMachine(22, "alpha-dev-md-0-pjr48-tc6jr", false)},
		}},
	}
}

func Unsupported() detector.Cluster {
	unknown := func(name string) *detector.Verdict {
		return &detector.Verdict{
			Status: code.Unknown, Reason: code.UnsupportedProvider, Namespace: "tenant-aws", Name: name, RoleKnown: true,
			Message: "AWSMachine is of no provider that is supported",
		}
	}
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-aws", Name: "aws-prod"}, Status: code.NeedFurtherConfirmation, Applicable: true,
		ControlPlane: detector.Set{Kind: "KubeadmControlPlane", Name: "aws-prod", Status: code.NeedFurtherConfirmation},
		Workers:      code.NeedFurtherConfirmation,
		WorkerGroups: []detector.Set{{
			Kind: "MachineDeployment", Name: "aws-prod-md-0", Status: code.NeedFurtherConfirmation,
			Machines: []*detector.Verdict{unknown("aws-prod-md-0-1"), unknown("aws-prod-md-0-2")},
		}},
	}
}

// Blind returns a cluster whose vCenter is down.
func Blind() detector.Cluster {
	var ms []*detector.Verdict
	for i := range 12 {
		ms = append(ms, &detector.Verdict{
			Status: code.Unknown, Reason: code.ScopeIncomplete, Namespace: "tenant-beta", Name: fmt.Sprintf("beta-prod-md-0-%02d", i),
			RoleKnown: true, ProviderID: "vsphere://" + sampleID(300+i), Scope: OtherTarget, Message: "vc2.example:443 could not be listed: connection refused",
		})
	}
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-beta", Name: "beta-prod"}, Provider: "vsphere", Status: code.NeedFurtherConfirmation,
		Nodes:        report.Nodes{State: "read", Count: 12},
		ControlPlane: detector.Set{Reason: code.HostedInManagementCluster, Status: code.NeedFurtherConfirmation},
		Workers:      code.NeedFurtherConfirmation,
		WorkerGroups: []detector.Set{{
			Kind: "MachineDeployment", Name: "beta-prod-md-0", Status: code.NeedFurtherConfirmation,
			Desired: backup.Number{N: 12, Known: true}, Machines: ms,
		}},
	}
}

// samplePools returns a cluster without machines of its own: of three pools one changed,
// one is gone and one could not be read.
func samplePools() detector.Cluster {
	pool := func(name string, s detector.PoolState, reason code.Reason) detector.Set {
		g := detector.Set{Kind: "MachinePool", Name: name, Status: code.Healthy, Reason: reason, Desired: backup.Number{N: 2, Known: true}, Pool: &s}
		if reason != "" {
			g.Status = code.NeedFurtherConfirmation
		}
		return g
	}
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-aws", Name: "eks"}, Provider: "aws", Status: code.NeedFurtherConfirmation,
		ControlPlane: detector.Set{Kind: "AWSManagedControlPlane", Name: "eks", Status: code.Healthy},
		Workers:      code.NeedFurtherConfirmation,
		WorkerGroups: []detector.Set{
			pool("mp-0", detector.PoolState{
				State: code.Present, Then: []string{"i-1", "i-2"}, Now: []string{"i-2", "i-3", "i-4"}, ManagedBy: "external-autoscaler",
				Desired: backup.Number{N: 2, Known: true}, Message: "its members changed since the backup, as those of a pool do: 1 gone, 2 new",
			}, ""),
			pool("mp-1", detector.PoolState{State: code.Absent, Then: []string{"i-5"}, Message: "it was not found"}, "PoolMissing"),
			pool("mp-2", detector.PoolState{State: code.Undecided, Message: "whether it exists is not known: AccessDenied"}, "PoolUndecided"),
		},
		Resources: []report.Resource{
			{Kind: "VPC", Name: "vpc-1", State: code.Present, UsedBy: "AWSCluster tenant-aws/eks"},
			{Kind: "load balancer", Name: "eks-apiserver", State: code.Undecided, UsedBy: "AWSCluster tenant-aws/eks", Message: "whether it exists is not known: AccessDenied"},
			{Kind: "subnet", Name: "subnet-1", State: code.Absent, UsedBy: "AWSCluster tenant-aws/eks", Message: "replacing a machine will fail: subnet subnet-1 was not found"},
		},
	}
}

func Self() detector.Cluster {
	return detector.Cluster{
		ID: backup.ClusterID{Namespace: "tkg-system", Name: "mgmt"}, Provider: "vsphere", Self: true, Applicable: true,
		Status: code.ManualRemediationNotRequired, Nodes: report.Nodes{State: "unreachable", Error: "connection refused"},
		ControlPlane: detector.Set{
			Kind: "KubeadmControlPlane", Name: "mgmt", Status: code.ManualRemediationNotRequired,
			Machines: []*detector.Verdict{StaleMachine(30, "mgmt-abcde", true)},
		},
		Workers: code.Healthy,
	}
}

func Big(workers int) detector.Cluster {
	c := detector.Cluster{
		ID: backup.ClusterID{Namespace: "tenant-zeta", Name: "zeta"}, Provider: "vsphere", Status: code.Healthy, Applicable: true,
		Nodes: report.Nodes{State: "read", Count: workers + 1}, Endpoint: "192.0.2.11:6443",
		ControlPlane: detector.Set{
			Kind: "KubeadmControlPlane", Name: "zeta", Status: code.Healthy, Machines: []*detector.Verdict{HealthyMachine(9999, "zeta-abcde", true)},
		},
		Workers:      code.Healthy,
		WorkerGroups: []detector.Set{{Kind: "MachineDeployment", Name: "zeta-md-0", Status: code.Healthy}},
	}
	for i := range workers {
		g := &c.WorkerGroups[0]
		g.Machines = append(g.Machines, HealthyMachine(10000+i, fmt.Sprintf("zeta-md-0-%04d", i), false))
	}
	return c
}
