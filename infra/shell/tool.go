package shell

// Tool makes the lines of a provider's own command line, such as govc or the AWS CLI.
// It runs nothing. Its methods take what a report says, which may be hostile: ids are
// to be checked against their form, and names to be quoted by [Line].
//
// No method that makes a line which changes something compares ids or looks whether
// it is at the right place: whoever asks puts a recheck before each of them.
type Tool interface {
	// Variable names the variable that leads to a scope, by how it begins ("AWS"), and
	// says what belongs into it. ok is false where no line can address the scope.
	Variable(Scope) (prefix, meaning string, ok bool)
	// Identifies reports whether id has the form of the ids of its instances.
	Identifies(id string) bool
	// Addresses reports whether lines can address the instance by its ids.
	Addresses(Instance) bool
	// IsPlace reports whether identity has the form of the ids by which places say which
	// they are.
	IsPlace(identity string) bool
	// Landmark reports whether an account that sees a resource of the kind and name, as a report
	// has it, sees all instances there.
	Landmark(kind, name string) bool

	// Requires returns a check that the tool is new enough, and a sentence that says
	// so; both are zero where any release will do.
	Requires() (check Command, why string)
	Show(Instance) Command // prints what there is to see
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

// Renamer is a Tool of instances whose id can be changed while they are off.
type Renamer interface {
	// Rename gives an instance another id: a string, or a Raw that reads a variable.
	Rename(i Instance, id any) Command
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
