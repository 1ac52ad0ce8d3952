package aws

import (
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra/capi"
)

const (
	group              = "infrastructure.cluster.x-k8s.io"
	planeGroup         = "controlplane.cluster.x-k8s.io"
	clusterKind        = "AWSCluster"
	managedClusterKind = "AWSManagedCluster"
	planeKind          = "AWSManagedControlPlane"
	machineKind        = "AWSMachine"
	templateKind       = "AWSMachineTemplate"
	poolKind           = "AWSMachinePool"
	managedPoolKind    = "AWSManagedMachinePool"
	machinePoolKind    = "MachinePool"
	controllerIdentity = "AWSClusterControllerIdentity"
	staticIdentity     = "AWSClusterStaticIdentity"
	roleIdentity       = "AWSClusterRoleIdentity"
	defaultIdentity    = "default"
	managerSecret      = "capa-manager-bootstrap-credentials"
	managerSpace       = "capa-system"
)

// The records hold what CAPA writes at the same paths in v1beta1 and v1beta2
// (api/v1beta1 v1.5.5, api/v1beta2 v2.11.1), and in v1alpha3 and v1alpha4 where a
// second path is given.

// awsCluster is an AWSCluster or an AWSManagedControlPlane: where a cluster is.
type awsCluster struct {
	APIVersion                 string
	Region                     string
	EKSName                    string // of an AWSManagedControlPlane
	IdentityKind, IdentityName string
	VPC                        string
	// Subnets, SubnetResources and NATs run side by side. CAPA keeps the id that
	// AWS gave in SubnetResources when it made the subnet itself.
	Subnets, SubnetResources, NATs []string
	VPCTags, VPCSpec               string // in JSON
	// SecurityGroups are those that CAPA uses, by role; of them those of Overrides
	// were there before, and CAPA makes the others.
	SecurityGroups, Overrides  [len(securityGroupRoles)]string
	Endpoint                   string // host of the API server, or URL
	LB, Secondary              loadBalancer
	Bastion                    string
	BastionEnabled             bool
	NameTag                    string   // that CAPA puts on instances instead of their names
	CIDRs                      []string // beside Subnets
	Port                       backup.Number
	Scheme, SecondScheme       string    // of the load balancers, as spec asks for them
	LBSubnets                  []string  // likewise
	Listeners, SecondListeners string    // that they have beside that of the API server, in JSON
	Tags                       string    // additionalTags in JSON
	Rules                      [4]string // of security groups that spec adds, in JSON
	Network                    string    // the subnets, in JSON
	SecondaryCIDR              string    // of an AWSManagedControlPlane, as is what follows
	BootstrapAdmin             string    // spec.accessConfig.bootstrapClusterCreatorAdminPermissions, in JSON
	EKS                        eksSpec
}

// eksSpec is what an AWSManagedControlPlane says of its control plane beside awsCluster;
// what is not text is JSON.
type eksSpec struct {
	Version, UpgradePolicy, Encryption, EndpointAccess, Mode, Addons, Access, OIDC, Role string
	Associate                                                                            bool // it is to have an OIDC provider of IAM
}

// loadBalancer is one of the API server.
type loadBalancer struct{ Name, Type, ARN, DNS string }

// securityGroupRoles are the members of status.networkStatus.securityGroups
// (api/v1beta2/network_types.go v2.11.1).
var securityGroupRoles = [...]string{"bastion", "node", "node-eks-additional", "cluster", "controlplane", "apiserver-lb", "lb"}

func placement() []backup.Field[awsCluster] {
	type c = awsCluster
	fields := []backup.Field[c]{
		backup.Text(func(c *c) *string { return &c.APIVersion }, "apiVersion"),
		backup.Text(func(c *c) *string { return &c.Region }, "spec.region"),
		backup.Text(func(c *c) *string { return &c.IdentityKind }, "spec.identityRef.kind"),
		backup.Text(func(c *c) *string { return &c.IdentityName }, "spec.identityRef.name"),
		backup.Text(func(c *c) *string { return &c.VPC }, "spec.network.vpc.id", "spec.networkSpec.vpc.id"),
		backup.Texts(func(c *c) *[]string { return &c.Subnets }, "spec.network.subnets[].id", "spec.networkSpec.subnets[].id"),
		backup.Texts(func(c *c) *[]string { return &c.SubnetResources }, "spec.network.subnets[].resourceID"),
		backup.Texts(func(c *c) *[]string { return &c.NATs }, "spec.network.subnets[].natGatewayId", "spec.networkSpec.subnets[].natGatewayId"),
		backup.Raw(func(c *c) *string { return &c.VPCTags }, "spec.network.vpc.tags", "spec.networkSpec.vpc.tags"),
		backup.Raw(func(c *c) *string { return &c.VPCSpec }, "spec.network.vpc"),
		backup.Text(func(c *c) *string { return &c.Endpoint }, "spec.controlPlaneEndpoint.host"),
		backup.Text(func(c *c) *string { return &c.Bastion }, "status.bastion.id"),
		backup.Flag(func(c *c) *bool { return &c.BastionEnabled }, "spec.bastion.enabled"),
		backup.Text(func(c *c) *string { return &c.NameTag }, "spec.additionalTags.Name"),
	}
	fields = append(fields,
		backup.Texts(func(c *c) *[]string { return &c.CIDRs }, "spec.network.subnets[].cidrBlock", "spec.networkSpec.subnets[].cidrBlock"),
		backup.Count(func(c *c) *backup.Number { return &c.Port }, "spec.controlPlaneEndpoint.port"),
		backup.Text(func(c *c) *string { return &c.Scheme }, "spec.controlPlaneLoadBalancer.scheme"),
		backup.Text(func(c *c) *string { return &c.SecondScheme }, "spec.secondaryControlPlaneLoadBalancer.scheme"),
		backup.Texts(func(c *c) *[]string { return &c.LBSubnets }, "spec.controlPlaneLoadBalancer.subnets[]"),
		backup.Raw(func(c *c) *string { return &c.Listeners }, "spec.controlPlaneLoadBalancer.additionalListeners"),
		backup.Raw(func(c *c) *string { return &c.SecondListeners }, "spec.secondaryControlPlaneLoadBalancer.additionalListeners"),
		backup.Raw(func(c *c) *string { return &c.Tags }, "spec.additionalTags"),
		backup.Raw(func(c *c) *string { return &c.Network }, "spec.network.subnets", "spec.networkSpec.subnets"))
	for i, path := range []string{"spec.network.cni", "spec.network.additionalControlPlaneIngressRules", "spec.network.additionalNodeIngressRules", "spec.controlPlaneLoadBalancer.ingressRules"} {
		fields = append(fields, backup.Raw(func(c *c) *string { return &c.Rules[i] }, path))
	}
	for i, role := range securityGroupRoles {
		fields = append(fields,
			backup.Text(func(c *c) *string { return &c.SecurityGroups[i] },
				"status.networkStatus.securityGroups."+role+".id", "status.network.securityGroups."+role+".id"),
			backup.Text(func(c *c) *string { return &c.Overrides[i] }, "spec.network.securityGroupOverrides."+role))
	}
	return slices.Concat(fields,
		balancer(func(c *c) *loadBalancer { return &c.LB }, "controlPlaneLoadBalancer", "apiServerElb"),
		balancer(func(c *c) *loadBalancer { return &c.Secondary }, "secondaryControlPlaneLoadBalancer", "secondaryAPIServerELB"))
}

// balancer reads what spec asks for under one name and status says under another.
func balancer(of func(*awsCluster) *loadBalancer, spec, status string) []backup.Field[awsCluster] {
	paths := func(member, asked string) []string {
		all := []string{"status.networkStatus." + status + "." + member, "status.network." + status + "." + member}
		if asked != "" {
			all = append(all, "spec."+spec+"."+asked)
		}
		return all
	}
	return []backup.Field[awsCluster]{
		backup.Text(func(c *awsCluster) *string { return &of(c).Name }, paths("name", "name")...),
		backup.Text(func(c *awsCluster) *string { return &of(c).Type }, paths("loadBalancerType", "loadBalancerType")...),
		backup.Text(func(c *awsCluster) *string { return &of(c).ARN }, paths("arn", "")...),
		backup.Text(func(c *awsCluster) *string { return &of(c).DNS }, paths("dnsName", "")...),
	}
}

var clusters = backup.NewKind("awsclusters."+group, placement()...)

var planes = backup.NewKind("awsmanagedcontrolplanes."+planeGroup, append(placement(),
	backup.Text(func(c *awsCluster) *string { return &c.EKSName }, "spec.eksClusterName"),
	backup.Text(func(c *awsCluster) *string { return &c.EKS.Version }, "spec.version"),
	backup.Text(func(c *awsCluster) *string { return &c.EKS.UpgradePolicy }, "spec.upgradePolicy"),
	backup.Raw(func(c *awsCluster) *string { return &c.EKS.Encryption }, "spec.encryptionConfig"),
	backup.Raw(func(c *awsCluster) *string { return &c.EKS.EndpointAccess }, "spec.endpointAccess"),
	backup.Text(func(c *awsCluster) *string { return &c.EKS.Mode }, "spec.accessConfig.authenticationMode"),
	backup.Raw(func(c *awsCluster) *string { return &c.BootstrapAdmin }, "spec.accessConfig.bootstrapClusterCreatorAdminPermissions"),
	backup.Text(func(c *awsCluster) *string { return &c.SecondaryCIDR }, "spec.secondaryCidrBlock"),
	backup.Raw(func(c *awsCluster) *string { return &c.EKS.Addons }, "spec.addons"),
	backup.Raw(func(c *awsCluster) *string { return &c.EKS.Access }, "spec.accessEntries"),
	backup.Raw(func(c *awsCluster) *string { return &c.EKS.OIDC }, "spec.oidcIdentityProviderConfig"),
	backup.Text(func(c *awsCluster) *string { return &c.EKS.Role }, "spec.roleName"),
	backup.Flag(func(c *awsCluster) *bool { return &c.EKS.Associate }, "spec.associateOIDCProvider"),
)...)

type awsMachine struct {
	ProviderID, InstanceID string
	NameTag                string // as awsCluster.NameTag
	capi.Labels
	Template string            // AWSMachineTemplate that it was made from
	Unready  *backup.Condition // InstanceReady, while it does not hold; nil in most cases
	// What the walk asks for; Groups, GroupOverrides and Metadata are JSON, which equal machines share.
	Groups, GroupOverrides, Metadata, SecretPrefix string
	SecretCount                                    backup.Number
	Hosting                                        hosting
}

// unready makes room for the condition only where it does not hold.
func unready(m *awsMachine) *backup.Condition {
	if m.Unready == nil {
		m.Unready = &backup.Condition{}
	}
	return m.Unready
}

var machines = backup.NewKind("awsmachines."+group, append(slices.Concat(capi.LabelFields(func(m *awsMachine) *capi.Labels { return &m.Labels }),
	hostingFields(func(m *awsMachine) *hosting { return &m.Hosting }, "spec")),
	backup.Text(func(m *awsMachine) *string { return &m.ProviderID }, "spec.providerID"),
	backup.Text(func(m *awsMachine) *string { return &m.InstanceID }, "spec.instanceID"),
	backup.Text(func(m *awsMachine) *string { return &m.NameTag }, "spec.additionalTags.Name"),
	backup.Text(func(m *awsMachine) *string { return &m.Template }, "annotation:"+clusterv1.TemplateClonedFromNameAnnotation),
	backup.Failing(unready, "status.conditions", "InstanceReady"),
	backup.Raw(func(m *awsMachine) *string { return &m.Groups }, "spec.additionalSecurityGroups"),
	backup.Raw(func(m *awsMachine) *string { return &m.GroupOverrides }, "spec.securityGroupOverrides"),
	backup.Raw(func(m *awsMachine) *string { return &m.Metadata }, "spec.instanceMetadataOptions"),
	backup.Text(func(m *awsMachine) *string { return &m.SecretPrefix }, "spec.cloudInit.secretPrefix"),
	backup.Count(func(m *awsMachine) *backup.Number { return &m.SecretCount }, "spec.cloudInit.secretCount"),
)...)

// hosting is what an AWSMachine and an AWSMachineTemplate say of dedicated hosts.
type hosting struct{ Affinity, Tenancy, Host, Allocation string }

func hostingFields[T any](of func(*T) *hosting, spec string) []backup.Field[T] {
	return []backup.Field[T]{
		backup.Text(func(t *T) *string { return &of(t).Affinity }, spec+".hostAffinity"),
		backup.Text(func(t *T) *string { return &of(t).Tenancy }, spec+".tenancy"),
		backup.Text(func(t *T) *string { return &of(t).Host }, spec+".hostID"),
		backup.Raw(func(t *T) *string { return &of(t).Allocation }, spec+".dynamicHostAllocation"),
	}
}

var templates = backup.NewKind("awsmachinetemplates."+group, hostingFields(func(h *hosting) *hosting { return h }, "spec.template.spec")...)

// awsPool is an AWSMachinePool or an AWSManagedMachinePool.
type awsPool struct {
	ARN         string // of the autoscaling group
	Nodegroup   string // of an AWSManagedMachinePool, as are Subnets
	Subnets     []string
	ProviderIDs []string
	Instances   []string
	Min, Max    backup.Number // of an AWSMachinePool
	// What the walk asks for; what is not text is JSON.
	Template, Suspend, Tags, TagsApplied, Mixed, PoolSubnets, Zones, SubnetType string
	NoRefresh, Rebalance                                                        bool
	Hooks                                                                       string // of an AWSMachinePool
	Labels                                                                      string // of an AWSManagedMachinePool, as is all that follows
	Taints, Scaling, Update, AMIVersion, Role                                   string
	Repair                                                                      bool
}

// walkedFields returns what the walk asks of a pool.
func walkedFields() []backup.Field[awsPool] {
	return []backup.Field[awsPool]{
		backup.Raw(func(p *awsPool) *string { return &p.Template }, "spec.awsLaunchTemplate"),
		backup.Raw(func(p *awsPool) *string { return &p.Tags }, "spec.additionalTags"),
		backup.Raw(func(p *awsPool) *string { return &p.Zones }, "spec.availabilityZones"),
		backup.Text(func(p *awsPool) *string { return &p.TagsApplied }, "annotation:sigs.k8s.io/cluster-api-provider-aws-last-applied-tags"),
	}
}

var pools = backup.NewKind("awsmachinepools."+group, append(walkedFields(),
	backup.Raw(func(p *awsPool) *string { return &p.Suspend }, "spec.suspendProcesses"),
	backup.Raw(func(p *awsPool) *string { return &p.Mixed }, "spec.mixedInstancesPolicy"),
	backup.Raw(func(p *awsPool) *string { return &p.PoolSubnets }, "spec.subnets"),
	backup.Text(func(p *awsPool) *string { return &p.SubnetType }, "spec.availabilityZoneSubnetType"),
	backup.Raw(func(p *awsPool) *string { return &p.Hooks }, "spec.lifecycleHooks"),
	backup.Flag(func(p *awsPool) *bool { return &p.NoRefresh }, "spec.refreshPreferences.disable"),
	backup.Flag(func(p *awsPool) *bool { return &p.Rebalance }, "spec.capacityRebalance"),
	backup.Text(func(p *awsPool) *string { return &p.ARN }, "spec.providerID"),
	backup.Texts(func(p *awsPool) *[]string { return &p.ProviderIDs }, "spec.providerIDList[]"),
	backup.Texts(func(p *awsPool) *[]string { return &p.Instances }, "status.instances[].instanceID"),
	backup.Count(func(p *awsPool) *backup.Number { return &p.Min }, "spec.minSize"),
	backup.Count(func(p *awsPool) *backup.Number { return &p.Max }, "spec.maxSize"),
)...)

var managedPools = backup.NewKind("awsmanagedmachinepools."+group, append(walkedFields(),
	backup.Raw(func(p *awsPool) *string { return &p.Labels }, "spec.labels"),
	backup.Raw(func(p *awsPool) *string { return &p.Taints }, "spec.taints"),
	backup.Raw(func(p *awsPool) *string { return &p.Scaling }, "spec.scaling"),
	backup.Raw(func(p *awsPool) *string { return &p.Update }, "spec.updateConfig"),
	backup.Flag(func(p *awsPool) *bool { return &p.Repair }, "spec.nodeRepairConfig.enabled"),
	backup.Text(func(p *awsPool) *string { return &p.AMIVersion }, "spec.amiVersion"),
	backup.Text(func(p *awsPool) *string { return &p.Role }, "spec.roleName"),
	backup.Text(func(p *awsPool) *string { return &p.Nodegroup }, "spec.eksNodegroupName"),
	backup.Texts(func(p *awsPool) *[]string { return &p.Subnets }, "spec.subnetIDs[]"),
	backup.Texts(func(p *awsPool) *[]string { return &p.ProviderIDs }, "spec.providerIDList[]"),
)...)

// machinePool is what Cluster API's own MachinePool says beside a backup.Group.
type machinePool struct {
	Zones string // in JSON
}

var machinePools = backup.NewKind("machinepools.cluster.x-k8s.io",
	backup.Raw(func(p *machinePool) *string { return &p.Zones }, "spec.failureDomains"),
)

// fargate is an AWSFargateProfile (exp/api/v1beta2 v2.13.0).
type fargate struct{ Name, Role string }

var fargates = backup.NewKind("awsfargateprofiles."+group,
	backup.Text(func(f *fargate) *string { return &f.Name }, "spec.profileName"),
	backup.Text(func(f *fargate) *string { return &f.Role }, "spec.roleName"),
)

// Each identity has its spec.allowedNamespaces in JSON, see Allows.
type static struct{ Secret, Allowed string }

var statics = backup.NewKind("awsclusterstaticidentities."+group,
	backup.Text(func(s *static) *string { return &s.Secret }, "spec.secretRef"),
	backup.Raw(func(s *static) *string { return &s.Allowed }, "spec.allowedNamespaces"),
)

type controller struct{ Allowed string }

var controllers = backup.NewKind("awsclustercontrolleridentities."+group,
	backup.Raw(func(c *controller) *string { return &c.Allowed }, "spec.allowedNamespaces"),
)

// namespaces are asked for their labels, which say who may use an identity.
type namespace struct{ Labels string }

var namespaces = backup.NewKind("namespaces",
	backup.Raw(func(n *namespace) *string { return &n.Labels }, "metadata.labels"),
)

// Role is an AWSClusterRoleIdentity: a role, and the identity that it is assumed with.
type Role struct {
	ARN, ExternalID, Session string
	SourceKind, SourceName   string
	Allowed                  string
}

var roles = backup.NewKind("awsclusterroleidentities."+group,
	backup.Text(func(r *Role) *string { return &r.ARN }, "spec.roleARN"),
	backup.Text(func(r *Role) *string { return &r.ExternalID }, "spec.externalID"),
	backup.Text(func(r *Role) *string { return &r.Session }, "spec.sessionName"),
	backup.Text(func(r *Role) *string { return &r.SourceKind }, "spec.sourceIdentityRef.kind"),
	backup.Text(func(r *Role) *string { return &r.SourceName }, "spec.sourceIdentityRef.name"),
	backup.Raw(func(r *Role) *string { return &r.Allowed }, "spec.allowedNamespaces"),
)

// Keys of the credentials' Secrets (CAPA pkg/cloud/identity/identity.go and
// config/default/credentials.yaml v2.11.1).
const (
	accessKey  = "AccessKeyID"
	secretKey  = "SecretAccessKey"
	tokenKey   = "SessionToken"
	managerKey = "credentials"
)

var versionedKinds = []*check.VersionKind{
	check.NewVersionKind("awsclusters." + group),
	check.NewVersionKind("awsmanagedcontrolplanes." + planeGroup),
}

var want = backup.Want{
	Kinds: slices.Concat([]backup.AnyKind{clusters, planes, machines, templates, pools, managedPools, machinePools, fargates, statics, roles, controllers, namespaces, capi.Deployments}, check.InstalledKinds(), check.Kinds(versionedKinds)),
	Secrets: []backup.SecretRule{
		{Keys: []string{accessKey, secretKey}, Optional: []string{tokenKey}},
		{Name: managerSecret, Keys: []string{managerKey}},
		{Type: "cluster.x-k8s.io/secret"}, // whether they are there: kubeconfigs, bootstrap data
	},
}
