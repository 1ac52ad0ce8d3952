// Package walk is the form in which it is written what a controller asks after a
// restore: question by question, in the order of its source, with what each answer makes
// it do. A restore brings back metadata and spec and drops status and ownerReferences, so
// that all that was once true and never asked again is asked again.
//
// A [Row] is a question, a [Step] is a question that was asked of one object. Rows of
// Cluster API itself are in detector/rehearsal, those of an infrastructure provider in the
// provider's folder. docs/walks.md is made from them.
package walk

import (
	"drift-detector/backup"
	"drift-detector/report/code"
)

// Row is one question that a controller asks, or one thing that it does.
type Row struct {
	// ID names the row among all: "core.K9", "vsphere.R17".
	ID string
	// Of is the controller, by the kind of its objects: "KubeadmControlPlane".
	Of string
	// Asks is the question, as a noun or a clause: "the kubeconfig Secret, through a
	// cache of Secrets that have the cluster's label".
	Asks string
	// None, Several and Differs are what the controller does where what it asks for is
	// absent, is there more than once, or is not as it needs it. What is zero cannot be,
	// or passes.
	None, Several, Differs Does
	// Condition is the code of the condition under which a step passes that nobody can
	// see from here; empty where it can be seen.
	Condition code.Reason
	// Refused is what may be refused or left out, so that the answer is Unread: "the Node
	// list". Empty: nothing.
	Refused string
	// OnDelete is what becomes of a Machine that is deleted while the controller halts or waits here, and
	// of its instance, in a clause without its full stop; empty: both go.
	OnDelete string
	Versions string // of the controller; empty: all that are read here
	Source   string // where it is written: function and file
}

// Does is what a controller does at an answer.
type Does struct {
	Effect Effect
	// What says it in a clause without its full stop that can follow a colon:
	// "KubeadmControlPlane connects to no API server".
	What string
	// Code is the reason of the answer, where it is not the one of the Effect.
	Code code.Reason
}

// Effect is what becomes of what runs.
type Effect string

// Effects, the worst first.
const (
	Deletes       Effect = "deletes"       // deletes machines that run, with their instances
	Replaces      Effect = "replaces"      // deletes machines that run, and makes others
	RemovesMember Effect = "removesMember" // removes an etcd member that runs
	Doubles       Effect = "duplicates"    // makes an instance beside one that runs
	Halts         Effect = "halts"         // no controller acts on the cluster
	OwnerHalts    Effect = "ownerHalts"    // the owner of machines neither makes, replaces nor deletes any
	Waits         Effect = "waits"         // nothing is done for the machine, its instance runs on
	Makes         Effect = "makes"         // makes machines
	Starts        Effect = "starts"        // starts instances that are off
	Writes        Effect = "writes"        // changes something beside machines
	NotReady      Effect = "notReady"      // the Machine does not become Ready, nothing else follows
	Retries       Effect = "retries"       // tries again, nothing follows
)

// Says returns what a controller does with this effect, in a clause without its full
// stop: "KubeadmControlPlane connects to no API server".
func (e Effect) Says(what string) Does { return Does{Effect: e, What: what} }

// Found is what the question found.
type Found string

// What a question finds.
const (
	Passed  Found = "passes"
	None    Found = "none"
	Several Found = "several"
	Differs Found = "differs"
	// Unread is for what was asked for and refused, or left out by the operator's flag: the
	// answer cannot be yes.
	Unread Found = "unread"
	// Unseen is for what cannot be seen from here: the row's condition.
	Unseen Found = "unseen"
)

// Answer is what one question found.
type Answer struct {
	Found Found
	// Why says what was found, in a clause without its full stop: "Secret a/b lacks the
	// label cluster.x-k8s.io/cluster-name". Of what is Unread, what could not be looked at, and why.
	Why string
	// Until says what ends it, so that it can follow "until": "it has the label". May be empty.
	Until string
	// Objects decided, each as KIND namespace/name.
	Objects []string
}

// Step is a row that was asked of one object.
type Step struct {
	Row     *Row
	Cluster backup.ClusterID
	Subject string // of whom: "Machine tenant/a", "Cluster tenant/prod"
	Machine int    // index into Snapshot.Machines; -1: no single one
	Answer
}

// Does returns what the controller does at the step's answer; it is zero where the step
// passed or was not seen.
func (s *Step) Does() Does {
	switch s.Found {
	case None:
		return s.Row.None
	case Several:
		return s.Row.Several
	case Differs:
		return s.Row.Differs
	}
	return Does{}
}
