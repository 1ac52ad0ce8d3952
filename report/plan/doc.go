// Package plan says what to do about each finding of a report: when, who, in
// which order, with which commands.
//
// [Fill] writes the steps of every finding into a report; [New] arranges them,
// with what the restore as a whole needs, as a [Plan], which package runbook
// prints. Both are pure functions of the report and of the providers' [Tools]:
// nothing here is ever run, and steps that a report brings along are not believed but
// made new. What a plan says of an infrastructure is in Report.Providers; lines
// that address an instance are made by the tool of its provider.
//
// What the steps rest on: the order of removing machines is Cluster API's own
// (core/reconcilers/machine/machine_controller.go v1.14.0), its etcd part that of
// KubeadmControlPlane (controlplane/kubeadm/reconcilers/kubeadmcontrolplane
// v1.14.0), and what happens to whom after a restore was observed
// (testdata/restore/outcomes.json).
//
// Findings that need the same are one step, those of workers across clusters: a [Batch], whose
// items have a number each, the same in each part of the plan. Nothing is a loop over machines
// of several clusters.
//
// Names come from a backup that may be hostile. They reach a command through
// [shell.Quote] alone; a command that would have to hold a control character is not
// made, nor any that would follow it.
//
// A line proves that it looks at the right place before it concludes anything, by
// ids: a vCenter by its instanceUuid, AWS by its account, a workload cluster by the
// Node of a machine that lives, the management cluster by what the restore labelled
// or by the id that a Machine records. That nothing has an id counts only for an
// account that finds a Healthy machine of the same cluster in the same way. Lines
// that destroy exist only for Ghosts with strong evidence whose id nothing else has,
// compare that id once more, demand that the VM is off, and never cost etcd its
// majority: see absent, guarded, evict and majority. No tool does any of that: what
// puts its lines together does it for all. Where a proof can't be made there
// is no line, and a person decides. What is pasted goes on behind a failure: each
// line holds what it depends on.
package plan
