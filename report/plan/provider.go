package plan

import "drift-detector/report"

// provider is what a plan knows of one provider of infrastructure, beside what the
// report says. A new one is a file with a provider in it, and its line below. Of one
// that is not here a plan says what to do, and makes no line for a shell.
type provider struct {
	tool
	noun         string            // what a place of it is called
	controller   string            // its controller's name
	deletes      string            // what the controller does to instances when a Machine is deleted: a sentence
	accounts     bool              // accounts do not see each other's instances at one endpoint
	powersOn     bool              // the controller starts what is off, unless it is suspended
	machineKinds []string          // resources of its infrastructure machines
	clusterKind  string            // resource of its infrastructure clusters, which are touched to hasten a retry
	planeKinds   map[string]string // the same of control planes that stand for them, by kind
	clusterFirst string            // what it does when Clusters are restored before Machines; empty: nothing known
	identities   map[string]string // resource of each kind that leads a cluster to its credential
}

// providers are those that commands are known for, by their names in reports.
var providers = map[string]*provider{
	"aws":     &aws,
	"vsphere": &vsphere,
}

// tool makes the commands of a provider's own command line. None of those that
// change something compares ids: vm does that for all.
type tool interface {
	// place names the variable for a scope, by how it begins, and says what belongs
	// into it; it is false where no command can address the scope.
	scope(*report.Scope) (prefix, meaning string, ok bool)
	// identifies says that an id has the form of those of its instances.
	identifies(id string) bool
	// addresses says that commands can address an instance by its ids.
	addresses(*report.Instance) bool

	// requires fails when the tool is too old, and says so in a sentence; none where
	// any release will do.
	requires() (check command, why string)
	// here fails at any other place than the report's; it is empty where the report
	// does not say which that is.
	here(*scope) command
	show(*vm) command // prints what there is to see
	same(*vm) command // fails unless that place shows the id again
	off(*vm) command  // fails unless it is powered off
	on(*vm) command   // fails unless it runs
	start(*vm) command
	stop(*vm) command
	destroy(*vm) command
	find(p *scope, id string) command // prints what has the id
	// sees fails unless whoever asks finds an instance of the cluster, in the way in
	// which find looks. Where the report has none, i is nil: then it is something else
	// of the cluster, or empty. what names it.
	sees(p *scope, c *report.Cluster, i *report.Instance) (check command, what string)

	// leaveBalancer, detach and remove are the steps that end a Ghost: out of the
	// API server's load balancer, disks that are to stay off it, then itself, which
	// first has to allow.
	leaveBalancer(*draft, *report.Cluster, *vm)
	detach(*draft, *vm)
	remove(d *draft, v *vm, first command)
}

// sizer is a tool of places that make machines by themselves, in groups.
type sizer interface {
	// groupSize prints how many members the group of an instance is set to have.
	groupSize(p *scope, member string) command
}

// renamer is a tool of instances whose id can be changed, while they are off.
type renamer interface {
	rename(v *vm, id any) command
}

// controllerOf names the infrastructure controller of a cluster.
func controllerOf(c *report.Cluster) string {
	if p := providers[c.Provider]; p != nil {
		return p.controller
	}
	return "The controller of provider " + c.Provider
}

// renames says that the instance can be given another id.
func (v *vm) renames() bool {
	_, ok := v.tool.(renamer)
	return ok
}

// identityKinds are the cluster-scoped kinds that lead to credentials, with their
// resources.
var identityKinds = func() map[string]string {
	all := map[string]string{}
	for _, p := range providers {
		for kind, resource := range p.identities {
			all[kind] = resource + "/"
		}
	}
	return all
}()
