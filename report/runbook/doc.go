// Package runbook says what to do about each finding of a report: when, who, in
// which order, with which commands.
//
// [Fill] writes the steps of every finding into a report; [New] arranges them,
// with what the restore as a whole needs, as a [Plan], which [Markdown] and
// [Shell] print. All are pure functions of the report: nothing here is ever run,
// and steps that a report brings along are not believed but made anew.
//
// What the steps rest on: the order of removing machines is Cluster API's own
// (core/reconcilers/machine/machine_controller.go v1.14.0), its etcd part that of
// KubeadmControlPlane (controlplane/kubeadm/reconcilers/kubeadmcontrolplane
// v1.14.0), and what happens to whom after a restore was observed
// (testdata/restore/outcomes.json).
//
// Names come from a backup that may be hostile. They reach a command through
// [Quote] alone; a command that would have to hold a control character is not
// made, nor any that would follow it. Lines that destroy exist only for Ghosts
// with strong evidence whose id nothing else bears, compare that id once more, and
// demand that the VM is off. What is pasted goes on behind a failure: each line
// holds what it depends on, and [Markdown] makes one block of one step.
package runbook
