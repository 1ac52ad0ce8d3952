package azuresdk

import (
	"context"
	"net/http"
	"path"
	"strings"

	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	compute "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"
	network "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	resources "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armsubscriptions"
	subscriptions "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armsubscriptions/fake"
)

const (
	computeIn = "/providers/Microsoft.Compute/"
	networkIn = "/providers/Microsoft.Network/"
	anyOf     = "/subscriptions/*"
	groupIn   = anyOf + "/resourceGroups/*"
)

// calls are the methods of the SDK's clients that ask what drift-detector asks, by their paths.
var calls = []struct {
	path, method string
	of           func(*cloud, string) service // for a subscription
}{
	{anyOf, "Client.Get", subscriptionFake},
	{groupIn, "ResourceGroupsClient.Get", groupFake},
	{anyOf + computeIn + "virtualMachines", "VirtualMachinesClient.NewListAllPager", computeFake},
	{groupIn + computeIn + "virtualMachines", "VirtualMachinesClient.NewListPager", computeFake},
	{groupIn + computeIn + "virtualMachines/*", "VirtualMachinesClient.Get", computeFake},
	{groupIn + computeIn + "virtualMachines/*/instanceView", "VirtualMachinesClient.InstanceView", computeFake},
	{anyOf + computeIn + "virtualMachineScaleSets", "VirtualMachineScaleSetsClient.NewListAllPager", computeFake},
	{groupIn + computeIn + "virtualMachineScaleSets", "VirtualMachineScaleSetsClient.NewListPager", computeFake},
	{groupIn + computeIn + "virtualMachineScaleSets/*", "VirtualMachineScaleSetsClient.Get", computeFake},
	{groupIn + computeIn + "virtualMachineScaleSets/*/virtualMachines", "VirtualMachineScaleSetVMsClient.NewListPager", computeFake},
	{groupIn + computeIn + "virtualMachineScaleSets/*/virtualMachines/*", "VirtualMachineScaleSetVMsClient.Get", computeFake},
	{groupIn + networkIn + "virtualNetworks/*", "VirtualNetworksClient.Get", networkFake},
	{groupIn + networkIn + "virtualNetworks/*/subnets/*", "SubnetsClient.Get", networkFake},
	{groupIn + networkIn + "natGateways/*", "NatGatewaysClient.Get", networkFake},
	{groupIn + networkIn + "loadBalancers/*", "LoadBalancersClient.Get", networkFake},
	{groupIn + networkIn + "publicIPAddresses/*", "PublicIPAddressesClient.Get", networkFake},
	{groupIn + networkIn + "networkSecurityGroups/*", "SecurityGroupsClient.Get", networkFake},
	{groupIn + networkIn + "routeTables/*", "RouteTablesClient.Get", networkFake},
}

// call returns the method for a path, and the fake that answers it; "" where there is none.
func (c *cloud) call(at string) (method string, to service) {
	for _, one := range calls {
		if ok, err := path.Match(one.path, at); err != nil || !ok {
			continue
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		subscription := subscriptionIn(at)
		key := serviceKey(one.method, subscription)
		if c.services[key] == nil {
			c.services[key] = one.of(c, subscription)
		}
		return one.method, c.services[key]
	}
	return "", nil
}

func subscriptionIn(path string) string { return strings.Join(strings.Split(path, "/")[:3], "/") }

func serviceKey(method, subscription string) string {
	client, _, _ := strings.Cut(method, ".")
	return client + subscription
}

// forget has a fake begin again: it keeps the lists that are under way.
func (c *cloud) forget(method, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.services, serviceKey(method, subscriptionIn(path)))
}

func subscriptionFake(c *cloud, subscription string) service {
	return subscriptions.NewServerFactoryTransport(&subscriptions.ServerFactory{Server: subscriptions.Server{
		Get: func(_ context.Context, id string, _ *armsubscriptions.ClientGetOptions) (resp azfake.Responder[armsubscriptions.ClientGetResponse], errResp azfake.ErrorResponder) {
			if no := c.may(subscription); no != nil {
				errResp.SetResponseError(no.StatusCode, no.ErrorCode)
				return resp, errResp
			}
			state := armsubscriptions.SubscriptionStateEnabled
			resp.SetResponse(http.StatusOK, armsubscriptions.ClientGetResponse{Subscription: armsubscriptions.Subscription{ID: &subscription, SubscriptionID: &id, State: &state}}, nil)
			return resp, errResp
		},
	}})
}

func groupFake(c *cloud, subscription string) service {
	return resources.NewServerFactoryTransport(&resources.ServerFactory{ResourceGroupsServer: resources.ResourceGroupsServer{
		Get: func(_ context.Context, group string, _ *armresources.ResourceGroupsClientGetOptions) (resp azfake.Responder[armresources.ResourceGroupsClientGetResponse], errResp azfake.ErrorResponder) {
			id := subscription + "/resourceGroups/" + group
			if no := c.may(strings.ToLower(id)); no != nil {
				errResp.SetResponseError(no.StatusCode, no.ErrorCode)
				return resp, errResp
			}
			resp.SetResponse(http.StatusOK, armresources.ResourceGroupsClientGetResponse{ResourceGroup: armresources.ResourceGroup{ID: &id, Name: &group}}, nil)
			return resp, errResp
		},
	}})
}

// idIn returns the id of a resource of a subscription.
func idIn(subscription, group, kind, name string) string {
	return subscription + "/resourceGroups/" + group + "/providers/" + kind + "/" + name
}

func networkFake(c *cloud, subscription string) service {
	return network.NewServerFactoryTransport(&network.ServerFactory{
		VirtualNetworksServer: network.VirtualNetworksServer{
			Get: func(_ context.Context, group, name string, _ *armnetwork.VirtualNetworksClientGetOptions) (azfake.Responder[armnetwork.VirtualNetworksClientGetResponse], azfake.ErrorResponder) {
				id := idIn(subscription, group, "Microsoft.Network/virtualNetworks", name)
				return single(c, id, func(v armnetwork.VirtualNetwork) (r armnetwork.VirtualNetworksClientGetResponse) {
					v.Properties.Subnets = nil
					for _, s := range c.find(id, "Microsoft.Network/virtualNetworks/subnets") {
						v.Properties.Subnets = append(v.Properties.Subnets, read[armnetwork.Subnet](c, s))
					}
					r.VirtualNetwork = v
					return r
				})
			},
		},
		SubnetsServer: network.SubnetsServer{
			Get: func(_ context.Context, group, of, name string, _ *armnetwork.SubnetsClientGetOptions) (azfake.Responder[armnetwork.SubnetsClientGetResponse], azfake.ErrorResponder) {
				return single(c, idIn(subscription, group, "Microsoft.Network/virtualNetworks", of)+"/subnets/"+name, func(v armnetwork.Subnet) armnetwork.SubnetsClientGetResponse {
					return armnetwork.SubnetsClientGetResponse{Subnet: v}
				})
			},
		},
		NatGatewaysServer: network.NatGatewaysServer{
			Get: func(_ context.Context, group, name string, _ *armnetwork.NatGatewaysClientGetOptions) (azfake.Responder[armnetwork.NatGatewaysClientGetResponse], azfake.ErrorResponder) {
				return single(c, idIn(subscription, group, "Microsoft.Network/natGateways", name), func(v armnetwork.NatGateway) armnetwork.NatGatewaysClientGetResponse {
					return armnetwork.NatGatewaysClientGetResponse{NatGateway: v}
				})
			},
		},
		LoadBalancersServer: network.LoadBalancersServer{
			Get: func(_ context.Context, group, name string, _ *armnetwork.LoadBalancersClientGetOptions) (azfake.Responder[armnetwork.LoadBalancersClientGetResponse], azfake.ErrorResponder) {
				return single(c, idIn(subscription, group, "Microsoft.Network/loadBalancers", name), func(v armnetwork.LoadBalancer) armnetwork.LoadBalancersClientGetResponse {
					return armnetwork.LoadBalancersClientGetResponse{LoadBalancer: v}
				})
			},
		},
		PublicIPAddressesServer: network.PublicIPAddressesServer{
			Get: func(_ context.Context, group, name string, _ *armnetwork.PublicIPAddressesClientGetOptions) (azfake.Responder[armnetwork.PublicIPAddressesClientGetResponse], azfake.ErrorResponder) {
				return single(c, idIn(subscription, group, "Microsoft.Network/publicIPAddresses", name), func(v armnetwork.PublicIPAddress) armnetwork.PublicIPAddressesClientGetResponse {
					return armnetwork.PublicIPAddressesClientGetResponse{PublicIPAddress: v}
				})
			},
		},
		SecurityGroupsServer: network.SecurityGroupsServer{
			Get: func(_ context.Context, group, name string, _ *armnetwork.SecurityGroupsClientGetOptions) (azfake.Responder[armnetwork.SecurityGroupsClientGetResponse], azfake.ErrorResponder) {
				return single(c, idIn(subscription, group, "Microsoft.Network/networkSecurityGroups", name), func(v armnetwork.SecurityGroup) armnetwork.SecurityGroupsClientGetResponse {
					return armnetwork.SecurityGroupsClientGetResponse{SecurityGroup: v}
				})
			},
		},
		RouteTablesServer: network.RouteTablesServer{
			Get: func(_ context.Context, group, name string, _ *armnetwork.RouteTablesClientGetOptions) (azfake.Responder[armnetwork.RouteTablesClientGetResponse], azfake.ErrorResponder) {
				return single(c, idIn(subscription, group, "Microsoft.Network/routeTables", name), func(v armnetwork.RouteTable) armnetwork.RouteTablesClientGetResponse {
					return armnetwork.RouteTablesClientGetResponse{RouteTable: v}
				})
			},
		},
	})
}

func computeFake(c *cloud, subscription string) service {
	m := &machines{c, subscription}
	return compute.NewServerFactoryTransport(&compute.ServerFactory{
		VirtualMachinesServer: compute.VirtualMachinesServer{
			Get: m.get, InstanceView: m.instanceView, NewListPager: m.listGroup, NewListAllPager: m.listAll,
		},
		VirtualMachineScaleSetsServer:   compute.VirtualMachineScaleSetsServer{Get: m.getSet, NewListPager: m.listGroupSets, NewListAllPager: m.listSets},
		VirtualMachineScaleSetVMsServer: compute.VirtualMachineScaleSetVMsServer{Get: m.getMember, NewListPager: m.listMembers},
	})
}
