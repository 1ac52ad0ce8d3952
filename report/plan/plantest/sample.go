// Package plantest makes samples of reports, and runs the lines of plans with programs that only
// record how they are called.
package plantest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// Ids of what a sample has.
const (
	GhostID   = "b8027b17-866e-5fe2-a015-a623c30c22ce"
	PlaneID   = "0387a2cb-fd87-5067-9296-c4bf9a88ee42"
	StaleID   = "65599f85-96e2-5f5e-8b21-b431ece5ed0d"
	LivingID  = "f9e3e854-a71d-56c5-8477-7ef7f5d85166"
	CopyID    = "d38caeee-bfd7-5c88-83f3-a5093af8d8e0"
	SecondID  = "1b6f6f0e-3a0f-5c57-9d3c-8f8e1d3f7a11"
	VCenterID = "dbed6e0c-bd88-4ef6-b594-21283e1c677f"
	EC2ID     = "i-0e09aee8835a36969"
	EC2Living = "i-0aa11bb22cc33dd44"
	EC2Stale  = "i-0888c4ded0c78e6b6"
	Account   = "123456789012"
)

// plane ends the names of what is of the control plane and has no VM, or no Machine:
// a stand-in of a program tells it from the workers by that.
const plane = "-cp"

var strong = []report.Evidence{{Kind: "node", Detail: "a Node says so", Strength: "strong"}}

// VSphereVM returns a VM in the one vCenter of a sample.
func VSphereVM(name, id string, ref int) *report.Instance {
	return &report.Instance{Provider: "vsphere", Scope: "vsphere vc.example", ID: id, Ref: fmt.Sprintf("vm-%d", ref), Name: name, Path: "/DC/vm/" + name, State: "poweredOn"}
}

// EC2VM returns an instance in the one region of a sample.
func EC2VM(name, id string) *report.Instance {
	return &report.Instance{Provider: "aws", Scope: "aws ec2.us-east-1.amazonaws.com us-east-1", ID: id, Name: name, State: "running"}
}

// Number returns a pointer to a number, as reports have those that may not be known.
func Number(n int64) *int64 { return &n }

// Sample returns a report that has one of most findings, and in which every foreign
// string is name. It describes these providers.
func Sample(name string, providers []report.Provider) *report.Report {
	foreseen := func(outcome string) *report.MachineForecast {
		return &report.MachineForecast{Outcome: code.Outcome(outcome), Message: name, Condition: name}
	}
	machine := func(status code.Status, role report.Role, providerID string) report.Machine {
		return report.Machine{Namespace: name, Name: name, Node: name, Role: role, Status: status, ProviderID: providerID, Message: name}
	}
	living := machine(code.Healthy, "control-plane", "vsphere://"+LivingID)
	living.Instance = VSphereVM(name, LivingID, 1)
	second := machine(code.Healthy, "control-plane", "vsphere://"+SecondID)
	second.Instance, second.Node = VSphereVM(name, SecondID, 8), ""
	ghostPlane := machine(code.Ghost, "control-plane", "")
	ghostPlane.Node = name + plane
	ghostPlane.Instance, ghostPlane.Evidence, ghostPlane.Forecast = VSphereVM(name, PlaneID, 2), strong, foreseen("GhostEtcdMemberKept")
	stalePlane := machine(code.Stale, "control-plane", "vsphere://"+CopyID)
	stalePlane.Name, stalePlane.Forecast = name+plane, foreseen("Stuck")
	ghost := machine(code.Ghost, "worker", "")
	ghost.Instance, ghost.Evidence, ghost.Forecast = VSphereVM(name, GhostID, 3), strong, foreseen("GhostKeepsRunning")
	stale := machine(code.Stale, "worker", "vsphere://"+StaleID)
	stale.Forecast = foreseen("StuckNodeLeft")
	unknown := machine(code.Unknown, "worker", "")
	unknown.Reason, unknown.Instance = "FoundElsewhere", VSphereVM(name, "44444444-4444-4444-4444-444444444444", 4)
	awsGhost := machine(code.Ghost, "worker", "")
	awsGhost.Node, awsGhost.Evidence, awsGhost.Instance = "", strong, EC2VM(name, EC2ID)
	awsStale := machine(code.Stale, "worker", "aws:///us-east-1a/"+EC2Stale)
	awsStale.Name = name + "-aws"
	awsLiving := machine(code.Healthy, "worker", "aws:///us-east-1a/"+EC2Living)
	awsLiving.Instance = EC2VM(name, EC2Living)

	return &report.Report{
		SchemaVersion: report.SchemaVersion,
		Providers:     providers,
		Backups:       []report.Backup{{Path: name, KubeSystemUID: OldKubeSystem, WrittenFrom: Written, WrittenTo: Written.Add(time.Minute), Items: 588, Velero: &report.Described{Name: "BACKUP", Started: Written}, Missing: []report.Missing{{Kind: "VSphereClusterIdentity", Name: name, ReferredBy: "VSphereCluster " + name + "/" + name, Why: name}, {Kind: name, Namespace: name, Name: name, ReferredBy: name, Why: name}}}},
		Summary:       report.Summary{Status: code.ManualRemediationRequired, InfraMachines: 1, Machines: report.MachineCounts{Total: 10, Healthy: 3, Stale: 3, Ghost: 3, Unknown: 1}},
		Clusters: []report.Cluster{
			{
				Namespace: name, Name: name, Provider: "vsphere", Nodes: report.Nodes{State: "read"},
				Forecast: &report.ClusterForecast{Text: name, Notes: []report.Note{{Code: code.Reason(name), Message: name}}},
				ControlPlane: report.ControlPlane{
					Kind: "KubeadmControlPlane", Name: name, Applicable: true, Desired: Number(3),
					Counts: report.MachineCounts{Total: 4, Healthy: 2, Stale: 1, Ghost: 1}, Machines: []report.Machine{living, ghostPlane, stalePlane, second},
				},
				Workers: report.Workers{Groups: []report.Group{
					{Kind: "MachineDeployment", Name: name, Desired: Number(2), Counts: report.MachineCounts{Total: 3, Stale: 1, Ghost: 1, Unknown: 1}, Machines: []report.Machine{ghost, stale, unknown}},
				}},
			},
			{
				Namespace: name, Name: name + "2", Provider: "aws", Nodes: report.Nodes{State: "denied", Error: name},
				ControlPlane: report.ControlPlane{Kind: name, Name: name},
				Workers: report.Workers{Groups: []report.Group{
					{Kind: "MachineSet", Name: name, Desired: Number(2), Counts: report.MachineCounts{Total: 3, Healthy: 1, Stale: 1, Ghost: 1}, Machines: []report.Machine{awsGhost, awsStale, awsLiving}},
				}},
			},
		},
		InfraMachines: []report.InfraMachine{{Instance: *VSphereVM(name, "55555555-5555-5555-5555-555555555555", 5), Reason: code.CloneOf, Message: name}},
		Scopes: []report.Scope{
			{Provider: "vsphere", Endpoint: "vc.example", Account: name, Identity: VCenterID, State: "complete"},
			{Provider: "aws", Endpoint: "ec2.us-east-1.amazonaws.com", Location: "us-east-1", Account: Account, Identity: Account, State: "partial", Error: &report.Fault{Reason: code.Reason(name), Message: name, Hint: name}},
			{Provider: "vsphere", Endpoint: name, State: "failed", Error: &report.Fault{Reason: code.Reason(name), Message: name, Hint: name}},
		},
		Errors: []report.Error{{Message: name}},
	}
}

// OldKubeSystem and NewKubeSystem are the uids of the management cluster that was backed up, and of
// the new one.
const OldKubeSystem, NewKubeSystem = "uid-of-the-old", "uid-of-the-new"

// Written is when the backup of a sample was begun.
var Written = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

// Group returns the first group of workers of the first cluster.
func Group(r *report.Report) *report.Group { return &r.Clusters[0].Workers.Groups[0] }

// Find returns the only machine of a status in the report's first cluster.
func Find(t *testing.T, r *report.Report, status code.Status, role report.Role) *report.Machine {
	t.Helper()
	for _, s := range r.Clusters[0].Sets() {
		for i := range s.Machines {
			if m := &s.Machines[i]; m.Status == status && m.Role == role {
				return m
			}
		}
	}
	t.Fatalf("no %s %s", status, role)
	return nil
}

// AllSteps returns the steps that the findings of a report have.
func AllSteps(r *report.Report) []report.Step {
	var out []report.Step
	for i := range r.Clusters {
		for _, s := range r.Clusters[i].Sets() {
			for j := range s.Machines {
				out = append(out, s.Machines[j].Remediation...)
			}
		}
	}
	for i := range r.InfraMachines {
		out = append(out, r.InfraMachines[i].Remediation...)
	}
	return out
}

// Destroys reports whether a command ends a VM.
func Destroys(command string) bool {
	return slices.ContainsFunc([]string{"vm.destroy", "object.destroy", "vm.power -off", "terminate-instances", "stop-instances", "disk.rm", "delete-volume"}, func(word string) bool {
		return strings.Contains(command, word)
	})
}
