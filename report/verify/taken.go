package verify

import (
	"strings"

	"drift-detector/report"
)

// sight is what an infrastructure's controller has made of a machine.
type sight string

const (
	silent  sight = "silent"  // it has said nothing of an instance yet
	found   sight = "found"   // it has an instance that is ready
	off     sight = "off"     // it has an instance, which does not run
	broken  sight = "broken"  // it has an instance in a state with which it does nothing
	absent  sight = "absent"  // it has looked, and found none
	refused sight = "refused" // it could not create one
)

// taken is that with the instance and the words of the controller.
type taken struct {
	is  sight
	id  string // of an instance that it took; empty where it took none
	say *Condition
}

// about returns what the controller has made of a machine, by the objects of the machine, the one
// that knows more first.
func about(provider string, objects []*Object) taken {
	p, known := providers[provider]
	for _, o := range objects {
		if !known {
			break
		}
		if t := p.reads(o); t.is != silent || t.id != "" || t.say.Status == "False" {
			return t // what the other repeats may be of before
		}
	}
	return taken{is: silent, say: &none}
}

// provider is the kinds of objects in which a controller says what it has made of a machine, and
// how it says it.
type provider struct {
	kinds    []string
	clusters []string // the kinds to which its Clusters refer
	reads    func(*Object) taken
	// listed is set where the controller does not say whether an instance runs: the listing does.
	listed bool
}

// providers are those whose controllers are known. Of others nothing is judged.
var providers = map[string]provider{
	"vsphere":   {[]string{"VSphereMachine", "VSphereVM"}, []string{"VSphereCluster"}, ofVSphere, false},
	"openstack": {[]string{"OpenStackMachine", "OpenStackServer"}, []string{"OpenStackCluster"}, ofOpenStack, false},
	"aws":       {[]string{"AWSMachine"}, []string{"AWSCluster", "AWSManagedCluster"}, ofAWS, false},
	"azure":     {[]string{"AzureMachine"}, []string{"AzureCluster", "AzureManagedCluster"}, ofAzure, true},
}

// Kinds returns the kinds of the infrastructure's objects that an [Observation] of a provider has, or
// names as unread.
func Kinds(name string) []string { return providers[name].kinds }

// ofVSphere reads a VSphereVM, or a VSphereMachine, which repeats its condition (CAPV v1.16.1,
// as in the recorded restore). The id in its spec is the backup's until the condition holds.
func ofVSphere(o *Object) taken {
	c := condition(o.Conditions, "VirtualMachineProvisioned")
	if c == &none {
		c = condition(o.Conditions, "VMProvisioned") // of v1beta1
	}
	switch {
	case c.Status == "True" && o.ID != "":
		return taken{found, report.InstanceID(o.ID), c}
	case c.Status == "False" && c.Reason == "NotFoundByBIOSUUID":
		return taken{is: absent, say: c}
	case c.Status == "False" && c.Reason == "CloningFailed":
		return taken{is: refused, say: c}
	}
	return taken{is: silent, say: c}
}

// ofOpenStack reads an OpenStackServer, or an OpenStackMachine, which had the same condition
// before there were OpenStackServers (CAPO v0.14.7 api/v1beta1/conditions_consts.go,
// controllers/openstackserver_controller.go). OpenStackError and DependencyFailed may be gone
// at the next try.
func ofOpenStack(o *Object) taken {
	c := condition(o.Conditions, "InstanceReady")
	switch {
	case c.Status == "True" && o.ID != "":
		return taken{found, report.InstanceID(o.ID), c}
	case c.Reason == "InstanceStateError" && o.ID != "":
		return taken{broken, report.InstanceID(o.ID), c}
	case c.Reason == "InstanceNotReady" && o.ID != "" && isOff(o.State):
		return taken{off, report.InstanceID(o.ID), c}
	case c.Reason == "InstanceNotFound" || c.Reason == "InstanceDeleted":
		return taken{is: absent, say: c}
	case c.Reason == "InstanceCreateFailed" || c.Reason == "InvalidMachineSpec":
		return taken{is: refused, say: c}
	}
	return taken{silent, report.InstanceID(o.ID), c} // the id is of the status, which no restore brings back
}

// ofAWS reads an AWSMachine (CAPA v2.13.0 api/v1beta2/conditions_consts.go,
// controllers/awsmachine_controller.go). The id in its spec is the backup's until the condition
// holds. InstanceNotFound is also what it writes when AWS does not answer.
func ofAWS(o *Object) taken {
	c := condition(o.Conditions, "InstanceReady")
	switch {
	case c.Status == "True" && o.ID != "":
		return taken{found, report.InstanceID(o.ID), c}
	case c.Reason == "InstanceStopped" && o.ID != "":
		return taken{off, report.InstanceID(o.ID), c}
	case c.Reason == "InstanceTerminated":
		return taken{is: absent, say: c}
	case c.Reason == "InstanceProvisionFailed":
		return taken{is: refused, say: c}
	}
	return taken{is: silent, say: c}
}

// ofAzure reads an AzureMachine (CAPZ v1.26.0, as in the recorded restore). The id in its spec is
// the backup's until the condition holds, which does not say whether the VM runs. That it failed
// may be of the moment.
func ofAzure(o *Object) taken {
	c := condition(o.Conditions, "VMRunning")
	switch {
	case strings.EqualFold(o.State, "Deleted"):
		return taken{is: absent, say: condition(o.Conditions, "Ready")}
	case c.Status == "True" && o.ID != "":
		return taken{found, report.InstanceID(o.ID), c}
	}
	return taken{is: silent, say: c}
}

// isOff reports whether an instance in a state is known not to run, in the words of vSphere,
// OpenStack, AWS and Azure.
func isOff(state string) bool {
	switch strings.ToLower(state) {
	case "poweredoff", "suspended", "shutoff", "paused", "shelved", "shelved_offloaded", "stopping", "stopped", "deallocating", "deallocated", "deallocated (spot)":
		return true
	}
	return false
}

// hasEnded reports whether an instance is listed that is none any more.
func hasEnded(state string) bool {
	switch strings.ToLower(state) {
	case "terminated", "shutting-down", "deleted", "soft_deleted":
		return true
	}
	return false
}
