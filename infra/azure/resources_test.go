package azure

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/lab/azurelab"
	"drift-detector/report/code"
)

// What CAPZ creates again where it is gone is looked for, whatever part of the AzureCluster names
// it.
func TestResourcesLookedFor(t *testing.T) {
	in, network := groupID(azurelab.Retail, "shop")+"/providers/microsoft.network/", map[string]any{}
	front := func(address string) map[string]any {
		return map[string]any{"name": "lb-" + address, "frontendIPs": []any{map[string]any{"publicIP": map[string]any{"name": address}}}}
	}
	for name, c := range map[string]struct {
		change func(spec map[string]any)
		want   []string
		not    []string
	}{
		"balancers of outgoing traffic": {func(map[string]any) {
			network["nodeOutboundLB"], network["controlPlaneOutboundLB"] = front("pip-node"), front("pip-plane")
		}, []string{"loadbalancers/lb-pip-node", "publicipaddresses/pip-node", "publicipaddresses/pip-plane"}, nil},
		"a bastion": {func(spec map[string]any) {
			spec["bastionSpec"] = map[string]any{"azureBastion": map[string]any{
				"name": "b", "subnet": map[string]any{"name": "AzureBastionSubnet"}, "publicIP": map[string]any{"name": "pip-b"},
			}}
		}, []string{"bastionhosts/b", "publicipaddresses/pip-b", "virtualnetworks/shop-vnet/subnets/azurebastionsubnet"}, nil},
		"a private API server": {func(map[string]any) {
			network["apiServerLB"].(map[string]any)["type"] = "Internal"
		}, []string{"privatednszones/shop.capz.io"}, nil},
		"a private API server, the zone is somebody's own": {func(map[string]any) {
			network["apiServerLB"].(map[string]any)["type"], network["privateDNSZone"] = "Internal", "None"
		}, nil, []string{"privatednszones/shop.capz.io"}},
		"a network of its own": {func(map[string]any) {}, []string{"networksecuritygroups/shop-node-nsg", "routetables/shop-node-routetable"}, []string{"privatednszones/shop.capz.io"}},
		"a network that it was given": {func(map[string]any) {
			network["vnet"].(map[string]any)["resourceGroup"] = "net"
		}, []string{"natgateways/shop-natgw"}, []string{"networksecuritygroups/shop-node-nsg", "routetables/shop-node-routetable"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := new(Provider)
			s, _ := azurelab.Load(t, p, azurelab.Edit(t, azurelab.Backup(t, lab), azurelab.Spec(clusterKind, "shop", func(spec map[string]any) {
				network = spec["networkSpec"].(map[string]any)
				c.change(spec)
			})))
			when := map[string]code.WhenGone{}
			for _, r := range p.Expected(s).Resources {
				when[strings.TrimPrefix(r.Keys[0].Value, in)] = r.WhenGone
			}
			for _, want := range c.want {
				if when[want] != code.MadeAgain {
					t.Errorf("%s: %q", want, when[want])
				}
			}
			if i := slices.IndexFunc(c.not, func(not string) bool { return when[not] != "" }); i >= 0 {
				t.Errorf("%s is looked for", c.not[i])
			}
		})
	}
}
