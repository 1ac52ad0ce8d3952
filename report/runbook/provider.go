package runbook

import "drift-detector/report"

// provider is what a plan knows of one provider of infrastructure, beside what the
// report says. A new one is a file with a provider in it, and its line below. Of one
// that is not here a plan says what to do, and makes no line for a shell.
type provider struct {
	tool
	controller   string            // its controller's name
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
	place(*report.Scope) (prefix, meaning string, ok bool)
	// identifies says that an id has the form of those of its instances.
	identifies(id string) bool
	// addresses says that commands can address an instance by its ids.
	addresses(*report.Instance) bool

	show(*vm) command // prints what there is to see
	same(*vm) command // fails unless the infrastructure shows the id again
	off(*vm) command  // fails unless it is powered off
	start(*vm) command
	stop(*vm) command
	destroy(*vm) command
	find(p *place, id string) command // prints what bears the id
	here(*place) command              // fails in another account than the report's; none where that shows otherwise

	// leaveBalancer, detach and remove are the steps that end a Ghost: out of the
	// API server's load balancer, disks that are to stay off it, then itself.
	leaveBalancer(*draft, *vm)
	detach(*draft, *vm)
	remove(*draft, *vm)
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
