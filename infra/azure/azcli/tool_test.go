package azcli

import (
	"strings"
	"testing"

	"drift-detector/infra/shell"
	"drift-detector/infra/shell/shelltest"
)

const subscription = "8a1f3c52-6d0e-4b7a-9c41-2f5e7d9b1a30"

var instance = shell.Instance{
	Scope: shell.Scope{Endpoint: "management.azure.com:443", Account: subscription, Identity: subscription, Variable: "SCOPE_1"},
	ID:    "/subscriptions/" + subscription + "/resourcegroups/shop/providers/microsoft.compute/virtualmachines/shop-md-0", Name: "shop-md-0",
}

func TestTool(t *testing.T) {
	shelltest.Tool(t, Tool{}, instance)
	for _, account := range append(shelltest.Hostile, shelltest.Unprintable...) {
		if _, _, ok := (Tool{}).Variable(shell.Scope{Account: account}); ok {
			t.Errorf("it addresses subscription %q", account)
		}
	}
	member := instance
	member.ID = "/subscriptions/" + subscription + "/resourcegroups/shop/providers/microsoft.compute/virtualmachinescalesets/uni/virtualmachines/12"
	shelltest.Tool(t, Tool{}, member)
	for want, line := range map[string]shell.Command{
		"az vm delete":                Tool{}.Destroy(instance),
		"--name=shop-md-0":            Tool{}.Show(instance),
		"az vmss delete-instances":    Tool{}.Destroy(member),
		"--instance-ids 12":           Tool{}.Stop(member),
		"az vmss show":                Tool{}.Show(member),
		"--resource-group=shop":       Tool{}.Start(instance),
		`--subscription "${SCOPE_1:?`: Tool{}.Stop(instance),
		"az vm disk detach":           Tool{}.Detach(instance)[0].Change,
		"networkInterfaces[].id":      Tool{}.LeaveBalancer(instance, nil)[0].Look[0],
	} {
		if !strings.Contains(line.Text(), want) {
			t.Errorf("%q lacks %q", line.Text(), want)
		}
	}
}
