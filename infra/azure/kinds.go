package azure

import (
	"cmp"
	"encoding/json"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra/capi"
)

const (
	group           = "infrastructure.cluster.x-k8s.io"
	clusterKind     = "AzureCluster"
	machineKind     = "AzureMachine"
	memberKind      = "AzureMachinePoolMachine"
	poolKind        = "AzureMachinePool"
	managedKind     = "AzureManagedCluster"
	planeKind       = "AzureManagedControlPlane"
	managedPoolKind = "AzureManagedMachinePool"
	asoClusterKind  = "AzureASOManagedCluster"
	asoPlaneKind    = "AzureASOManagedControlPlane"
	asoPoolKind     = "AzureASOManagedMachinePool"
	identityKind    = "AzureClusterIdentity"
	machinePoolKind = "MachinePool"
)

// secretKey is the key of the Secret that an identity names (AzureSecretKey in CAPZ
// azure/scope/identity.go v1.26.0).
const secretKey = "clientSecret"

// An object holds what CAPZ writes of any kind, in API version v1beta1 (api/v1beta1 v1.26.0):
// code for a kind of record is made once for each struct, and this is one.
type object struct{ objectRecord }

type objectRecord struct {
	// Of an AzureCluster or AzureManagedControlPlane.
	Subscription, Group, Cloud, Network string // Network is spec.networkSpec, in JSON; of an object of ASO its spec
	Bastion                             string // spec.bastionSpec.azureBastion, in JSON
	Applied                             string // security rules that CAPZ applied last, in JSON
	Tags, TagsApplied                   string // spec.additionalTags, and those that CAPZ applied last, in JSON
	IdentityName, IdentityNamespace     string
	// Of an AzureMachine, an AzureMachinePoolMachine or a pool.
	ProviderID string
	Members    []string // provider ids
	OS, Image  string   // Image is in JSON
	VMSize     string
	Zones      []string // of a MachinePool: spec.failureDomains
	Template   string   // AzureMachineTemplate that it was made from
	Failure    string   // status.failureMessage
	Mode       string   // of a pool: spec.orchestrationMode
	Identity   string   // spec.identity: "SystemAssigned"
	Identities []string // spec.userAssignedIdentities, by providerID
	capi.Labels
	Min, Max backup.Number
	Policy   string // of an object of Azure Service Operator, whose id is in ProviderID
	// Of an AzureClusterIdentity.
	Type, Tenant, Client string
	Secret, SecretIn     string // name and namespace of the Secret
	CertPath             string // of a file beside CAPZ
	Allowed              string // spec.allowedNamespaces, in JSON; empty: no namespace
}

// text returns a field that holds a text.
func text(into func(*object) *string, paths ...string) backup.Field[object] {
	return backup.Text(into, paths...)
}

func raw(into func(*object) *string, paths ...string) backup.Field[object] {
	return backup.Raw(into, paths...)
}

func kind(plural string, fields ...backup.Field[object]) *backup.Kind[object] {
	return backup.NewKind(plural+"."+group, fields...)
}

func clusterFields(groupAt string) []backup.Field[object] {
	return []backup.Field[object]{
		text(func(o *object) *string { return &o.Subscription }, "spec.subscriptionID"),
		text(func(o *object) *string { return &o.Group }, groupAt),
		text(func(o *object) *string { return &o.Cloud }, "spec.azureEnvironment"),
		text(func(o *object) *string { return &o.IdentityName }, "spec.identityRef.name"),
		text(func(o *object) *string { return &o.IdentityNamespace }, "spec.identityRef.namespace"),
		raw(func(o *object) *string { return &o.Network }, "spec.networkSpec"),
		raw(func(o *object) *string { return &o.Bastion }, "spec.bastionSpec.azureBastion"),
		raw(func(o *object) *string { return &o.Tags }, "spec.additionalTags"),
		text(func(o *object) *string { return &o.Applied }, "annotation:sigs.k8s.io/cluster-api-provider-azure-last-applied-security-rules"),
	}
}

func machineFields() []backup.Field[object] {
	return append(capi.LabelFields(func(o *object) *capi.Labels { return &o.Labels }),
		text(func(o *object) *string { return &o.ProviderID }, "spec.providerID"),
		text(func(o *object) *string { return &o.OS }, "spec.osDisk.osType", "spec.template.osDisk.osType"),
		text(func(o *object) *string { return &o.Template }, "annotation:"+clusterv1.TemplateClonedFromNameAnnotation),
		text(func(o *object) *string { return &o.Failure }, "status.failureMessage"),
		raw(func(o *object) *string { return &o.Image }, "spec.image", "spec.template.image"),
		raw(func(o *object) *string { return &o.Tags }, "spec.additionalTags"),
		text(func(o *object) *string { return &o.TagsApplied }, "annotation:sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-vm", "annotation:sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-vmss"),
		text(func(o *object) *string { return &o.VMSize }, "spec.vmSize", "spec.template.vmSize"),
		text(func(o *object) *string { return &o.Mode }, "spec.orchestrationMode"),
		text(func(o *object) *string { return &o.Identity }, "spec.identity"),
		backup.Texts(func(o *object) *[]string { return &o.Identities }, "spec.userAssignedIdentities[].providerID"),
		backup.Texts(func(o *object) *[]string { return &o.Members }, "spec.providerIDList[]"),
		backup.Count(func(o *object) *backup.Number { return &o.Min }, "spec.scaling.minSize"),
		backup.Count(func(o *object) *backup.Number { return &o.Max }, "spec.scaling.maxSize"),
	)
}

var (
	clusters     = kind("azureclusters", clusterFields("spec.resourceGroup")...)
	planes       = kind("azuremanagedcontrolplanes", clusterFields("spec.resourceGroupName")...)
	machines     = kind("azuremachines", machineFields()...)
	members      = kind("azuremachinepoolmachines", machineFields()...)
	pools        = kind("azuremachinepools", machineFields()...)
	managedPools = kind("azuremanagedmachinepools", machineFields()...)
	asoPools     = kind("azureasomanagedmachinepools", machineFields()...)
	identities   = kind("azureclusteridentities",
		text(func(o *object) *string { return &o.Type }, "spec.type"),
		text(func(o *object) *string { return &o.Tenant }, "spec.tenantID"),
		text(func(o *object) *string { return &o.Client }, "spec.clientID"),
		text(func(o *object) *string { return &o.Secret }, "spec.clientSecret.name"),
		text(func(o *object) *string { return &o.SecretIn }, "spec.clientSecret.namespace"),
		text(func(o *object) *string { return &o.CertPath }, "spec.certPath"),
		raw(func(o *object) *string { return &o.Allowed }, "spec.allowedNamespaces"),
	)
	machinePools = backup.NewKind("machinepools.cluster.x-k8s.io", backup.Texts(func(o *object) *[]string { return &o.Zones }, "spec.failureDomains[]"))
	// templates are asked for the image that they name.
	templates = kind("azuremachinetemplates", raw(func(o *object) *string { return &o.Image }, "spec.template.spec.image"))
)

// network is spec.networkSpec of an AzureCluster.
type network struct {
	VNet struct {
		Name, ID, ResourceGroup string
		Tags                    map[string]string
		Peerings                []struct{ ResourceGroup, RemoteVnetName string }
	}
	Subnets []struct {
		Name, ID      string
		SecurityGroup securityGroup
		RouteTable    struct{ Name string }

		PrivateEndpoints []Named
		NATGateway       struct {
			Name string
			IP   struct{ Name string }
		}
	}
	APIServerLB, NodeOutboundLB, ControlPlaneOutboundLB balancer
	AdditionalAPIServerLBPorts                          []Named

	PrivateDNSZone, PrivateDNSZoneName, PrivateDNSZoneResourceGroup string
}

type securityGroup struct {
	Name          string
	SecurityRules []specRule
}

// specRule is a rule as an AzureCluster has it, in what CAPZ compares of it.
type specRule struct{ Name, DestinationPorts string }

type balancer struct {
	Name, Type  string
	BackendPool struct{ Name string }
	FrontendIPs []frontend
}

type frontend struct {
	Name, PrivateIP string
	PublicIP        struct{ Name string }
}

// balancers returns the load balancers of an AzureCluster: before the API server, of the nodes, of the
// control plane, and the internal one beside a public one before the API server, which feature gate
// APIServerILB makes of a frontend with a private address (LBSpecs in azure/scope/cluster.go v1.26.0).
func (n *network) balancers() [4]balancer {
	api := n.APIServerLB
	all := [...]balancer{api, n.NodeOutboundLB, n.ControlPlaneOutboundLB, {}}
	for _, ip := range api.FrontendIPs {
		if ip.PrivateIP != "" && api.Type != "Internal" {
			lb := balancer{Name: api.Name + "-internal", Type: "Internal", FrontendIPs: []frontend{ip}}
			lb.BackendPool.Name = cmp.Or(api.BackendPool.Name, api.Name+"-backendPool") + "-internal"
			all[3] = lb
		}
	}
	return all
}

// bastion is spec.bastionSpec.azureBastion of an AzureCluster.
type bastion struct {
	Name             string
	Subnet, PublicIP struct{ Name string }
}

// network reads it; where it is not as CAPZ writes it, nothing of it is known.
func (o *objectRecord) network() (n network) {
	if json.Unmarshal([]byte(o.Network), &n) != nil {
		return network{}
	}
	return n
}

// bastion reads it likewise.
func (o *objectRecord) bastion() (b bastion) {
	if json.Unmarshal([]byte(o.Bastion), &b) != nil {
		return bastion{}
	}
	return b
}

// namespaces are asked for their labels, which say who may use an identity.
type namespace struct{ Labels string }

var namespaces = backup.NewKind("namespaces", backup.Raw(func(n *namespace) *string { return &n.Labels }, "metadata.labels"))

// policySkip is the reconcile-policy of an object of ASO that writes nothing to Azure.
const policySkip = "skip"

// serviceObjects are those of Azure Service Operator (ASO) through which CAPZ makes what is around an
// AzureCluster, resource groups first.
var serviceObjects = []*backup.Kind[object]{
	serviceKind("resourcegroups.resources"), serviceKind("virtualnetworks.network", specOf), serviceKind("virtualnetworkssubnets.network", specOf),
	serviceKind("natgateways.network"), serviceKind("bastionhosts.network"), serviceKind("privateendpoints.network"),
}

// otherObjects are ASO's, too, by what people call them: of those that CAPZ lets it serve
// (--crd-pattern in config/aso/kustomization.yaml), and those that hold what machines need.
var otherObjects = map[string]*backup.Kind[object]{
	"FleetsMember": serviceKind("fleetsmembers.containerservice"), "ManagedCluster": serviceKind("managedclusters.containerservice"),
	"ManagedClustersAgentPool": serviceKind("managedclustersagentpools.containerservice"), "MaintenanceConfiguration": serviceKind("maintenanceconfigurations.containerservice"),
	"Extension": serviceKind("extensions.kubernetesconfiguration"), "UserAssignedIdentity": serviceKind("userassignedidentities.managedidentity"),
	"FederatedIdentityCredential": serviceKind("federatedidentitycredentials.managedidentity"), "RoleAssignment": serviceKind("roleassignments.authorization"),
	"VirtualMachine": serviceKind("virtualmachines.compute"), "VirtualMachineScaleSet": serviceKind("virtualmachinescalesets.compute"),
	"Disk": serviceKind("disks.compute"), "LoadBalancer": serviceKind("loadbalancers.network"), "NetworkInterface": serviceKind("networkinterfaces.network"),
	"NetworkSecurityGroup": serviceKind("networksecuritygroups.network"), "PublicIPAddress": serviceKind("publicipaddresses.network"),
	"RouteTable": serviceKind("routetables.network"), "PrivateDnsZone": serviceKind("privatednszones.network"), "StorageAccount": serviceKind("storageaccounts.storage"),
	"Vault": serviceKind("vaults.keyvault"), "Registry": serviceKind("registries.containerregistry"),
}

func serviceKind(resource string, more ...backup.Field[object]) *backup.Kind[object] {
	return backup.NewKind(resource+".azure.com", append(more,
		text(func(o *object) *string { return &o.ProviderID }, "annotation:serviceoperator.azure.com/resource-id", "status.id"),
		text(func(o *object) *string { return &o.Policy }, "annotation:serviceoperator.azure.com/reconcile-policy"))...)
}

var specOf = raw(func(o *object) *string { return &o.Network }, "spec")

func wantedObjects() (all []backup.AnyKind) {
	for _, k := range serviceObjects {
		all = append(all, k)
	}
	for _, kind := range sortedNames(otherObjects) {
		all = append(all, otherObjects[kind])
	}
	return all
}

var want = backup.Want{
	Kinds: append([]backup.AnyKind{
		clusters, planes, machines, members, pools, managedPools, asoPools, identities, machinePools, templates, namespaces,
	}, wantedObjects()...),
	Secrets: []backup.SecretRule{
		{Keys: []string{secretKey}},
		{Type: "cluster.x-k8s.io/secret"}, // whether they are there: bootstrap data
	},
}
