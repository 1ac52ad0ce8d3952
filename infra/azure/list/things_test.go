package list

import (
	"strings"
	"testing"

	"drift-detector/infra/azure"
	"drift-detector/internal/lab/azurelab"
)

// What CAPZ compares of security groups, load balancers, peerings and scale sets is in the answers
// that say whether they are there.
func TestThingsAreRead(t *testing.T) {
	data := azurelab.Backup(t, lab)
	server := azurelab.Serve(t, lab, azurelab.Options{})
	set := groupID("c47e9b06-12d5-4f38-8ab3-6e0f91d7c254", "rg-ml-train") + "/providers/microsoft.compute/virtualmachinescalesets/train-uni"
	in := groupID(azurelab.Retail, "shop") + "/providers/microsoft.network/"
	server.Edit(func(id string, o azurelab.Object) bool {
		if strings.EqualFold(id, in+"virtualnetworks/shop-vnet") {
			o["properties"].(azurelab.Object)["virtualNetworkPeerings"] = []any{azurelab.Object{"name": "shop-vnet-To-hub"}}
		}
		if strings.EqualFold(id, set+"/virtualMachines/1") {
			o["properties"].(azurelab.Object)["storageProfile"] = azurelab.Object{"imageReference": azurelab.Object{"id": "another"}}
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
		azure.FactNetwork + ":" + in + "virtualnetworks/shop-vnet":                    `{"Peerings":[{"Name":"shop-vnet-To-hub"}],"Words":["address prefix 10.0.0.0/8","tag costcenter=r-100"`,
		azure.FactSet + ":" + set: `"/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-2404/Versions/1.34.2"},"Tags":{`,
	} {
		if !strings.Contains(facts[name], says) {
			t.Errorf("%s is %s, want %s", name, facts[name], says)
		}
	}
	if text := facts[azure.FactSet+":"+set]; !strings.HasSuffix(text, `"Others":1}`) {
		t.Errorf("of %s one member runs another image", text)
	}
}
