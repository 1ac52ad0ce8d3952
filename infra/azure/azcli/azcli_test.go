package azcli

import (
	"strings"
	"testing"

	"drift-detector/infra/shell"
	"drift-detector/infra/shell/shelltest"
)

const ml = "/subscriptions/8a1f3c52-6d0e-4b7a-9c41-2f5e7d9b1a30/resourceGroups/RG-ML_(1).a"

var instance = shell.Instance{
	Scope: shell.Scope{Endpoint: "management.azure.com", Account: "8a1f3c52-6d0e-4b7a-9c41-2f5e7d9b1a30", Identity: "8a1f3c52-6d0e-4b7a-9c41-2f5e7d9b1a30", Variable: "SCOPE_1"},
	ID:    ml + "/providers/Microsoft.Compute/virtualMachines/shop-md-0-w66kl-djmng", Name: "shop-md-0-w66kl-djmng",
}

func TestTool(t *testing.T) { shelltest.Tool(t, Tool{}, instance) }

func TestIDs(t *testing.T) {
	const member = ml + "/providers/Microsoft.Compute/virtualMachineScaleSets/p/virtualMachines/12"
	if !(Tool{}).Identifies(member) || (Tool{}).Addresses(shell.Instance{ID: member}) {
		t.Error("a member of a scale set is not known, or addressed as a VM")
	}
	if lower := strings.ToLower(instance.ID); !(Tool{}).Identifies(lower) {
		t.Errorf("%s is no id", lower)
	}
	for _, name := range append(shelltest.Hostile, shelltest.Unprintable...) {
		for _, id := range []string{ml + "/providers/Microsoft.Compute/virtualMachines/" + name, strings.Replace(instance.ID, "RG-ML_(1).a", name, 1), strings.Replace(member, "/p/", "/"+name+"/", 1)} {
			if (Tool{}).Identifies(id) && name != "-rf" && name != "--all" {
				t.Errorf("%q is an id", id)
			}
		}
	}
}

// Without a VM the resource group shows that the subscription is the right one.
func TestAResourceGroupIsALandmark(t *testing.T) {
	if !(Tool{}).Landmark("resource group", ml) || (Tool{}).Landmark("virtual network", ml) || (Tool{}).Landmark("resource group", "shop") {
		t.Error("a resource group is none, or something else is one")
	}
}

func TestLines(t *testing.T) {
	for want, line := range map[string]shell.Command{
		"vm start '--ids=": Tool{}.Start(instance), "vm stop '--ids=": Tool{}.Stop(instance), "vm delete --yes '--ids=": Tool{}.Destroy(instance),
		"--resource-group=RG-ML_(1).a": Tool{}.Detach(instance)[0].Change,
	} {
		if text := line.Text(); !strings.HasPrefix(text, `AZURE_CONFIG_DIR="${SCOPE_1:?}" az vm `) || !strings.Contains(text, want) {
			t.Errorf("%s: %s", want, text)
		}
	}
	if step := (Tool{}).LeaveBalancer(instance, []shell.LoadBalancer{{Name: "shop-public-lb"}}); len(step) != 1 || !strings.Contains(step[0].Text, "API server shop-public-lb by itself") {
		t.Errorf("%+v", step)
	}
}
