package azure

import (
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

// The records hold what CAPZ writes, in API version v1beta1 (api/v1beta1 v1.26.0).

// azCluster is what an AzureCluster or AzureManagedControlPlane says.
type azCluster struct{ clusterRecord }

type clusterRecord struct {
	Subscription, Group, Location, Cloud string
	IdentityName, IdentityNamespace      string
	IdentityKind                         string
	NodeGroup                            string // of AKS
	VNet, VNetID, VNetGroup              string
	Subnets, SubnetIDs, SubnetRoles      []string
	SecurityGroups, RouteTables          []string // of the subnets
	NATGateways, NATAddresses            []string
	LB, LBType, NodeLB, PlaneLB          string
	LBAddresses                          []string // names of the public addresses of its frontends
	PrivateZone                          string
	Endpoint                             string
}

func clusterFields(more ...backup.Field[azCluster]) []backup.Field[azCluster] {
	type c = azCluster
	return append([]backup.Field[c]{
		backup.Text(func(c *c) *string { return &c.Subscription }, "spec.subscriptionID"),
		backup.Text(func(c *c) *string { return &c.Location }, "spec.location"),
		backup.Text(func(c *c) *string { return &c.Cloud }, "spec.azureEnvironment"),
		backup.Text(func(c *c) *string { return &c.IdentityName }, "spec.identityRef.name"),
		backup.Text(func(c *c) *string { return &c.IdentityNamespace }, "spec.identityRef.namespace"),
		backup.Text(func(c *c) *string { return &c.IdentityKind }, "spec.identityRef.kind"),
		backup.Text(func(c *c) *string { return &c.Endpoint }, "spec.controlPlaneEndpoint.host"),
	}, more...)
}

var clusters = backup.NewKind("azureclusters."+group, clusterFields(
	backup.Text(func(c *azCluster) *string { return &c.Group }, "spec.resourceGroup"),
	backup.Text(func(c *azCluster) *string { return &c.VNet }, "spec.networkSpec.vnet.name"),
	backup.Text(func(c *azCluster) *string { return &c.VNetID }, "spec.networkSpec.vnet.id"),
	backup.Text(func(c *azCluster) *string { return &c.VNetGroup }, "spec.networkSpec.vnet.resourceGroup"),
	backup.Texts(func(c *azCluster) *[]string { return &c.Subnets }, "spec.networkSpec.subnets[].name"),
	backup.Texts(func(c *azCluster) *[]string { return &c.SubnetIDs }, "spec.networkSpec.subnets[].id"),
	backup.Texts(func(c *azCluster) *[]string { return &c.SubnetRoles }, "spec.networkSpec.subnets[].role"),
	backup.Texts(func(c *azCluster) *[]string { return &c.SecurityGroups }, "spec.networkSpec.subnets[].securityGroup.name"),
	backup.Texts(func(c *azCluster) *[]string { return &c.RouteTables }, "spec.networkSpec.subnets[].routeTable.name"),
	backup.Texts(func(c *azCluster) *[]string { return &c.NATGateways }, "spec.networkSpec.subnets[].natGateway.name"),
	backup.Texts(func(c *azCluster) *[]string { return &c.NATAddresses }, "spec.networkSpec.subnets[].natGateway.ip.name"),
	backup.Text(func(c *azCluster) *string { return &c.LB }, "spec.networkSpec.apiServerLB.name"),
	backup.Text(func(c *azCluster) *string { return &c.LBType }, "spec.networkSpec.apiServerLB.type"),
	backup.Texts(func(c *azCluster) *[]string { return &c.LBAddresses }, "spec.networkSpec.apiServerLB.frontendIPs[].publicIP.name"),
	backup.Text(func(c *azCluster) *string { return &c.NodeLB }, "spec.networkSpec.nodeOutboundLB.name"),
	backup.Text(func(c *azCluster) *string { return &c.PlaneLB }, "spec.networkSpec.controlPlaneOutboundLB.name"),
	backup.Text(func(c *azCluster) *string { return &c.PrivateZone }, "spec.networkSpec.privateDNSZoneName"),
)...)

var planes = backup.NewKind("azuremanagedcontrolplanes."+group, clusterFields(
	backup.Text(func(c *azCluster) *string { return &c.Group }, "spec.resourceGroupName"),
	backup.Text(func(c *azCluster) *string { return &c.NodeGroup }, "spec.nodeResourceGroupName"),
)...)

// azMachine is an AzureMachine, or an AzureMachinePoolMachine.
type azMachine struct{ machineRecord }

type machineRecord struct {
	ProviderID string
	OS         string // spec.osDisk.osType
	Image      string // spec.image, in JSON
	capi.Labels
	Template   string   // AzureMachineTemplate that it was made from
	Failure    string   // status.failureMessage
	Identities []string // spec.userAssignedIdentities, by providerID
}

var machines = backup.NewKind("azuremachines."+group, append(capi.LabelFields(func(m *azMachine) *capi.Labels { return &m.Labels }),
	backup.Text(func(m *azMachine) *string { return &m.ProviderID }, "spec.providerID"),
	backup.Text(func(m *azMachine) *string { return &m.OS }, "spec.osDisk.osType"),
	backup.Raw(func(m *azMachine) *string { return &m.Image }, "spec.image"),
	backup.Text(func(m *azMachine) *string { return &m.Template }, "annotation:"+clusterv1.TemplateClonedFromNameAnnotation),
	backup.Text(func(m *azMachine) *string { return &m.Failure }, "status.failureMessage"),
	backup.Texts(func(m *azMachine) *[]string { return &m.Identities }, "spec.userAssignedIdentities[].providerID"),
)...)

var members = backup.NewKind("azuremachinepoolmachines."+group, append(capi.LabelFields(func(m *azMachine) *capi.Labels { return &m.Labels }),
	backup.Text(func(m *azMachine) *string { return &m.ProviderID }, "spec.providerID"),
)...)

// azPool is an AzureMachinePool, or a pool of AKS.
type azPool struct{ poolRecord }

type poolRecord struct {
	ProviderID string   // of the scale set
	Members    []string // provider ids
	Mode       string   // spec.orchestrationMode
	Identity   string   // spec.identity
	OS         string
	Name       string // of an agent pool
	Image      string // in JSON
	Min, Max   backup.Number
}

func poolFields(more ...backup.Field[azPool]) []backup.Field[azPool] {
	return append([]backup.Field[azPool]{
		backup.Text(func(p *azPool) *string { return &p.ProviderID }, "spec.providerID"),
		backup.Texts(func(p *azPool) *[]string { return &p.Members }, "spec.providerIDList[]"),
	}, more...)
}

var (
	pools = backup.NewKind("azuremachinepools."+group, poolFields(
		backup.Text(func(p *azPool) *string { return &p.Mode }, "spec.orchestrationMode"),
		backup.Text(func(p *azPool) *string { return &p.Identity }, "spec.identity"),
		backup.Text(func(p *azPool) *string { return &p.OS }, "spec.template.osDisk.osType"),
		backup.Raw(func(p *azPool) *string { return &p.Image }, "spec.template.image"),
	)...)
	managedPools = backup.NewKind("azuremanagedmachinepools."+group, poolFields(
		backup.Text(func(p *azPool) *string { return &p.Name }, "spec.name"),
		backup.Count(func(p *azPool) *backup.Number { return &p.Min }, "spec.scaling.minSize"),
		backup.Count(func(p *azPool) *backup.Number { return &p.Max }, "spec.scaling.maxSize"),
	)...)
	asoPools = backup.NewKind("azureasomanagedmachinepools."+group, poolFields()...)
)

// azIdentity is an AzureClusterIdentity: what CAPZ logs in with.
type azIdentity struct{ identityRecord }

type identityRecord struct {
	Type, Tenant, Client string
	Secret, SecretIn     string // name and namespace of the Secret
	CertPath             string // of a file beside CAPZ
	Allowed              string // spec.allowedNamespaces, in JSON; empty: no namespace
}

var identities = backup.NewKind("azureclusteridentities."+group,
	backup.Text(func(i *azIdentity) *string { return &i.Type }, "spec.type"),
	backup.Text(func(i *azIdentity) *string { return &i.Tenant }, "spec.tenantID"),
	backup.Text(func(i *azIdentity) *string { return &i.Client }, "spec.clientID"),
	backup.Text(func(i *azIdentity) *string { return &i.Secret }, "spec.clientSecret.name"),
	backup.Text(func(i *azIdentity) *string { return &i.SecretIn }, "spec.clientSecret.namespace"),
	backup.Text(func(i *azIdentity) *string { return &i.CertPath }, "spec.certPath"),
	backup.Raw(func(i *azIdentity) *string { return &i.Allowed }, "spec.allowedNamespaces"),
)

// asoObject is an object of Azure Service Operator (ASO), through which CAPZ makes resource
// groups, networks, subnets and NAT gateways: it says which resource it stands for.
type asoObject struct {
	ID     string // annotation serviceoperator.azure.com/resource-id
	Policy string // annotation serviceoperator.azure.com/reconcile-policy
}

func newASO(resource string) *backup.Kind[asoObject] {
	return backup.NewKind(resource,
		backup.Text(func(o *asoObject) *string { return &o.ID }, "annotation:serviceoperator.azure.com/resource-id", "status.id"),
		backup.Text(func(o *asoObject) *string { return &o.Policy }, "annotation:serviceoperator.azure.com/reconcile-policy"),
	)
}

var (
	asoGroups   = newASO("resourcegroups.resources.azure.com")
	asoNetworks = newASO("virtualnetworks.network.azure.com")
	asoSubnets  = newASO("virtualnetworkssubnets.network.azure.com")
	asoGateways = newASO("natgateways.network.azure.com")
	asoClusters = newASO("managedclusters.containerservice.azure.com")
)

// namespaces are asked for their labels, which say who may use an identity.
type namespace struct{ Labels string }

var namespaces = backup.NewKind("namespaces", backup.Raw(func(n *namespace) *string { return &n.Labels }, "metadata.labels"))

// templates are asked whether they are there, and for the image that they name.
var templates = backup.NewKind("azuremachinetemplates."+group,
	backup.Raw(func(m *azMachine) *string { return &m.Image }, "spec.template.spec.image"),
)

var want = backup.Want{
	Kinds: []backup.AnyKind{
		clusters, planes, machines, members, pools, managedPools, asoPools, identities,
		asoGroups, asoNetworks, asoSubnets, asoGateways, asoClusters, templates, namespaces,
	},
	Secrets: []backup.SecretRule{
		{Keys: []string{secretKey}},
		{Type: "cluster.x-k8s.io/secret"}, // whether they are there: bootstrap data
	},
}
