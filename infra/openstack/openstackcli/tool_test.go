package openstackcli

import (
	"strings"
	"testing"

	"drift-detector/infra/shell"
	"drift-detector/infra/shell/shelltest"
)

var instance = shell.Instance{
	Scope: shell.Scope{
		Endpoint: "keystone.example:5000", Region: "RegionOne", Account: "tenant-os", Identity: "40efb056b07944ce8207023157ab1cea", Variable: "SCOPE_1",
	},
	ID: "77058bb1-700b-4234-9c68-ca11aa6a4856", Name: "alpha",
}

func TestTool(t *testing.T) {
	shelltest.Tool(t, Tool{}, instance)
	for _, region := range append(shelltest.Hostile, shelltest.Unprintable...) {
		if _, _, ok := (Tool{}).Variable(shell.Scope{Region: region}); ok && region != "" {
			t.Errorf("it addresses region %q", region)
		}
	}
}

// Without a server one of the cluster's subnets shows that the project is the right one.
func TestASubnetIsALandmark(t *testing.T) {
	const subnet = "7ce62685-a449-40d3-9be9-5352ac6d89b8"
	if !(Tool{}).Landmark("subnet", subnet) || (Tool{}).Landmark("network", subnet) || (Tool{}).Landmark("subnet", "corp") {
		t.Error("a subnet is none, or something else is one")
	}
}

func TestLeaveBalancer(t *testing.T) {
	for says, lbs := range map[string][]shell.LoadBalancer{
		"no load balancer of CAPO's": {{Type: "disabled"}},
		"load balancer k8s-a-b:":     {{Type: "octavia", Name: "k8s-a-b"}},
	} {
		steps := Tool{}.LeaveBalancer(instance, lbs)
		if len(steps) != 1 || !strings.Contains(steps[0].Text, says) || (lbs[0].Name == "") != steps[0].Change.IsZero() {
			t.Errorf("%s: %+v", says, steps)
		}
	}
}

// What is not running has more states than stopped, and Nova wakes each of them by
// another command.
func TestStart(t *testing.T) {
	for state, verb := range map[string]string{"SHUTOFF": "start", "": "start", "PAUSED": "unpause", "SUSPENDED": "resume", "SHELVED_OFFLOADED": "unshelve", "RESCUE": "unrescue"} {
		i := instance
		i.State = state
		if line := (Tool{}).Start(i).Text(); !strings.HasSuffix(line, "server "+verb+" "+instance.ID) {
			t.Errorf("%s: %s", state, line)
		}
	}
}
