package list

import (
	"strings"
	"testing"

	"drift-detector/infra/azure"
	"drift-detector/internal/lab/azurelab"
)

// What CAPZ compares of security groups, load balancers and peerings is in the answers that say
// whether they are there.
func TestThingsAreRead(t *testing.T) {
	data := azurelab.Backup(t, lab)
	server := azurelab.Serve(t, lab, azurelab.Options{})
	in := groupID(azurelab.Retail, "shop") + "/providers/microsoft.network/"
	server.Edit(func(id string, o azurelab.Object) bool {
		if strings.EqualFold(id, in+"virtualnetworks/shop-vnet") {
			o["properties"].(azurelab.Object)["virtualNetworkPeerings"] = []any{azurelab.Object{"name": "shop-vnet-To-hub"}}
		}
		return true
	})
	facts := map[string]string{}
	for _, l := range decide(t, data, access(server)).listings {
		for _, f := range l.Facts {
			facts[f.Name] = f.Value
		}
	}
	for name, says := range map[string]string{
		azure.FactSecurity + ":" + in + "networksecuritygroups/shop-controlplane-nsg": `"Name":"allow_ssh","Properties":{"Protocol":"Tcp"`,
		azure.FactSecurity + ":" + in + "networksecuritygroups/shop-node-nsg":         `[]`,
		azure.FactBalancer + ":" + in + "loadbalancers/shop-public-lb":                `"loadBalancingRules":[{"Name":"LBRuleHTTPS"}]`,
		azure.FactPeerings + ":" + in + "virtualnetworks/shop-vnet":                   `[{"Name":"shop-vnet-To-hub"}]`,
	} {
		if !strings.Contains(facts[name], says) {
			t.Errorf("%s is %s, want %s", name, facts[name], says)
		}
	}
}
