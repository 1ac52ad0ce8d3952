package infra

import (
	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra/shell"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Spec describes a provider. It is plain data, and all that the rest of the program
// knows of one: a provider needs no line outside its folder but that in infra/all.
type Spec struct {
	Name     string // in reports and on the command line: "vsphere", "aws"
	Title    string // for people: "vSphere"
	Supports string // what of it, for the README: "CAPV v1alpha3 to v1beta2"
	Scope    string // what one place is called that is listed: "vCenter", "AWS account"

	// NodesOnly says that it lists Nodes, which are evidence on the instances of other
	// providers: it has neither machines nor a controller.
	NodesOnly bool
	// Want is what it reads of a backup.
	Want backup.Want
	// Keys turns a provider id as Nodes and Machines carry it into the keys
	// that the provider's instances have. It returns nil for ids of others.
	Keys func(providerID string) []Key

	// MachineKinds are its infrastructure machines, the one that a Machine refers to
	// first.
	MachineKinds []Kind
	// ClusterKind is its infrastructure cluster, whose controller tries again when
	// somebody touches an object of the kind.
	ClusterKind Kind
	// ManagedPlanes are the control planes that the infrastructure runs itself: they
	// have no machines, and stand for the infrastructure cluster.
	ManagedPlanes []Kind
	// IdentityKinds are cluster-scoped, and lead a cluster to its credential.
	IdentityKinds []Kind

	// Controller is what makes and deletes the instances, for forecasts of a restore.
	Controller Controller
	// OnDelete says what the controller does to instances when a Machine is deleted:
	// "deleting a Machine makes CAPA terminate the instance that has its id".
	OnDelete string
	// SeparateAccounts says that accounts do not see each other's instances at one
	// endpoint.
	SeparateAccounts bool

	// Tool makes the lines of a plan that address an instance. Without one a plan says
	// what to do, and leaves how to people.
	Tool shell.Tool

	// Words are what people call a kind of key ("biosUUID": "BIOS UUID") and what a
	// warning of an instance means ("Disconnected": "the host of the VM is
	// disconnected"). One without an entry stands for itself.
	Words map[string]string
	// Rules are what its Check can find in a backup, for people who ask for a code.
	Rules []check.Rule
	// Walk is what its controllers ask after a restore, row by row.
	Walk []walk.Row
	// Permissions says what an account must be allowed.
	Permissions Permissions
	// Flags are the options of the command line that only this provider reads, in
	// Access.Options.
	Flags []Flag
	// Remedies are what to do about a machine that could not be decided, and as DuplicateID
	// about an instance with the id of one, by the code of the reason, where it is not what plans say of all providers: whole sentences.
	Remedies map[code.Reason]string
	// Environment is the credential that the variables of the provider's own tool
	// hold; zero when there is no such tool.
	Environment Environment
}

// Kind is a kind of API objects.
type Kind struct {
	Group  string // "infrastructure.cluster.x-k8s.io"
	Kind   string // "VSphereMachine"
	Plural string // "vspheremachines"
}

// Resource returns the name of the resource with its group, as kubectl and Velero
// write it: "vspheremachines.infrastructure.cluster.x-k8s.io".
func (k Kind) Resource() string {
	if k.Group == "" {
		return k.Plural
	}
	return k.Plural + "." + k.Group
}

// Permissions is what an account must be allowed to list an infrastructure, as people
// apply it.
type Permissions struct {
	About string // the end of "For NAME it …": "is an IAM policy"
	Text  string
	File  string // of the provider's folder that holds the text: "permissions.json"
	Save  string // file that people save the text as; empty: they read it
}

// Flag is an option of the command line that one provider has.
type Flag struct {
	Name     string
	Usage    string // with the name of its value in back quotes; one without is a switch
	Excludes string // name of the flag that cannot be given beside it; empty: any can
}

// Environment is how the variables of a tool hold a credential.
type Environment struct {
	About string // for the manual: "GOVC_URL, … are used for the vCenter that GOVC_URL names"
	// Read returns the credential, and false when the variables name none.
	Read func(getenv func(string) string) (Credential, bool)
}
