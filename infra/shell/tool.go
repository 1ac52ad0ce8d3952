package shell

// Tool makes the lines of a provider's own command line, such as govc or the AWS CLI.
// It runs nothing. Its methods take what a report says, which may be hostile: ids are
// to be checked against their form, and names to be quoted by [Line].
//
// No method that makes a line which changes something compares ids or looks whether
// it is at the right place: whoever asks puts Here, Same and Off before each of them.
type Tool interface {
	// Variable names the variable that leads to a scope, by how it begins ("AWS"), and
	// says what belongs into it. ok is false where no line can address the scope.
	Variable(Scope) (prefix, meaning string, ok bool)
	// Identifies reports whether id has the form of the ids of its instances.
	Identifies(id string) bool
	// Addresses reports whether lines can address the instance by its ids.
	Addresses(Instance) bool

	// Requires returns a check that the tool is new enough, and a sentence that says
	// so; both are zero where any release will do.
	Requires() (check Command, why string)
	// Here fails at any other place than that of the report. It is zero where the
	// report does not say which that is.
	Here(Scope) Command
	// Sees fails unless whoever asks finds an instance of a cluster, in the way in
	// which Find looks: then it proves something that Find finds nothing. what names
	// what is looked for. Where no instance is known, i is nil: then it is one of the
	// resources that are known to be present, or both results are zero.
	Sees(s Scope, i *Instance, present []Resource) (check Command, what string)
	Find(s Scope, id string) Command // prints what has the id

	Show(Instance) Command // prints what there is to see
	Same(Instance) Command // fails unless the place of the report shows the id again
	Off(Instance) Command  // fails unless it is powered off
	On(Instance) Command   // fails unless it runs
	Start(Instance) Command
	Stop(Instance) Command
	Destroy(Instance) Command

	// LeaveBalancer takes a control-plane instance out of what is before the API
	// server. Nobody else does: an instance without a Machine stays where it is.
	LeaveBalancer(Instance, []LoadBalancer) []Step
	// Detach saves the disks that are to outlive the instance.
	Detach(Instance) []Step
	Remove(Instance) Removal
}

// Sizer is a Tool of places that make machines by themselves, in groups.
type Sizer interface {
	// GroupSize prints how many members the group of an instance is set to have.
	GroupSize(s Scope, member string) Command
}

// Renamer is a Tool of instances whose id can be changed while they are off.
type Renamer interface {
	// Rename gives an instance another id: a string, or a Raw that reads a variable.
	Rename(i Instance, id any) Command
}

// Namer is a Tool of controllers that look for an instance by its name, and delete with a
// Machine whichever has it.
type Namer interface {
	// Named fails when an instance that the controller did not make has the name, which
	// the variable NAME holds, or when several have it.
	Named(Scope) Command
}

// Scope is a place that was listed, such as a vCenter, or an AWS account and region.
type Scope struct {
	Endpoint, Region, Account string // as the report has them
	Identity                  string // what the place says of itself; empty: not known
	Variable                  string // what leads to it, see Tool.Variable
}

// Instance is a VM at a place.
type Instance struct {
	Scope
	ID, Ref, Name string // as in the report
	State         string // as its infrastructure calls it
}

// Resource is something beside instances that is known to be present: a VPC.
type Resource struct{ Kind, Name string }

// LoadBalancer is what is before an API server, as the backup records it.
type LoadBalancer struct {
	Type string // as the provider's controller calls it; empty: its default
	Name string
	ARN  string // empty where it has none, or none is recorded
}

// Step is something to do after a restore.
type Step struct {
	Text   string
	Look   []Command // change nothing
	Change Command   // changes something; zero where nothing does
}

// Removal ends an instance: the steps before, and what is said of the line that
// powers it off and of the one that destroys it then.
type Removal struct {
	Before        []Step
	Stop, Destroy string
}
