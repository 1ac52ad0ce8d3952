package aws

import (
	capi "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
)

const (
	group              = "infrastructure.cluster.x-k8s.io"
	planeGroup         = "controlplane.cluster.x-k8s.io"
	clusterKind        = "AWSCluster"
	managedClusterKind = "AWSManagedCluster"
	planeKind          = "AWSManagedControlPlane"
	machineKind        = "AWSMachine"
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
	Region                     string
	EKSName                    string // of an AWSManagedControlPlane
	IdentityKind, IdentityName string
	VPC                        string
	// Subnets, SubnetResources and NATs run side by side. CAPA keeps the id that
	// AWS gave in SubnetResources when it made the subnet itself.
	Subnets, SubnetResources, NATs []string
	SecurityGroups                 [len(securityGroupRoles)]string
	LBName, LBType, LBARN          string
	Bastion                        string
}

// securityGroupRoles are the members of status.networkStatus.securityGroups
// (api/v1beta2/network_types.go v2.11.1).
var securityGroupRoles = [...]string{"bastion", "node", "node-eks-additional", "controlplane", "apiserver-lb", "lb"}

func placement() []backup.Field[awsCluster] {
	type c = awsCluster
	fields := []backup.Field[c]{
		backup.Text(func(c *c) *string { return &c.Region }, "spec.region"),
		backup.Text(func(c *c) *string { return &c.IdentityKind }, "spec.identityRef.kind"),
		backup.Text(func(c *c) *string { return &c.IdentityName }, "spec.identityRef.name"),
		backup.Text(func(c *c) *string { return &c.VPC }, "spec.network.vpc.id", "spec.networkSpec.vpc.id"),
		backup.Texts(func(c *c) *[]string { return &c.Subnets }, "spec.network.subnets[].id", "spec.networkSpec.subnets[].id"),
		backup.Texts(func(c *c) *[]string { return &c.SubnetResources }, "spec.network.subnets[].resourceID"),
		backup.Texts(func(c *c) *[]string { return &c.NATs }, "spec.network.subnets[].natGatewayId", "spec.networkSpec.subnets[].natGatewayId"),
		backup.Text(func(c *c) *string { return &c.LBName },
			"status.networkStatus.apiServerElb.name", "status.network.apiServerElb.name", "spec.controlPlaneLoadBalancer.name"),
		backup.Text(func(c *c) *string { return &c.LBType },
			"status.networkStatus.apiServerElb.loadBalancerType", "spec.controlPlaneLoadBalancer.loadBalancerType"),
		backup.Text(func(c *c) *string { return &c.LBARN }, "status.networkStatus.apiServerElb.arn"),
		backup.Text(func(c *c) *string { return &c.Bastion }, "status.bastion.id"),
	}
	for i, role := range securityGroupRoles {
		fields = append(fields, backup.Text(func(c *c) *string { return &c.SecurityGroups[i] },
			"status.networkStatus.securityGroups."+role+".id", "status.network.securityGroups."+role+".id"))
	}
	return fields
}

var clusters = backup.NewKind("awsclusters."+group, placement()...)

var planes = backup.NewKind("awsmanagedcontrolplanes."+planeGroup, append(placement(),
	backup.Text(func(c *awsCluster) *string { return &c.EKSName }, "spec.eksClusterName"),
)...)

type awsMachine struct {
	ProviderID, InstanceID string
	ControlPlane           bool
	// Names of the owners, from labels.
	ControlPlaneName, Set, Deployment, Pool string
	Template                                string            // AWSMachineTemplate that it was made from
	Unready                                 *backup.Condition // InstanceReady, while it does not hold; nil in most cases
}

// unready makes room for the condition only where it does not hold.
func unready(m *awsMachine) *backup.Condition {
	if m.Unready == nil {
		m.Unready = &backup.Condition{}
	}
	return m.Unready
}

var machines = backup.NewKind("awsmachines."+group,
	backup.Text(func(m *awsMachine) *string { return &m.ProviderID }, "spec.providerID"),
	backup.Text(func(m *awsMachine) *string { return &m.InstanceID }, "spec.instanceID"),
	backup.Present(func(m *awsMachine) *bool { return &m.ControlPlane }, "label:"+capi.MachineControlPlaneLabel),
	backup.Text(func(m *awsMachine) *string { return &m.ControlPlaneName }, "label:"+capi.MachineControlPlaneNameLabel),
	backup.Text(func(m *awsMachine) *string { return &m.Set }, "label:"+capi.MachineSetNameLabel),
	backup.Text(func(m *awsMachine) *string { return &m.Deployment }, "label:"+capi.MachineDeploymentNameLabel),
	backup.Text(func(m *awsMachine) *string { return &m.Pool }, "label:"+capi.MachinePoolNameLabel),
	backup.Text(func(m *awsMachine) *string { return &m.Template }, "annotation:"+capi.TemplateClonedFromNameAnnotation),
	backup.Failing(unready, "status.conditions", "InstanceReady"),
)

// awsPool is an AWSMachinePool or an AWSManagedMachinePool.
type awsPool struct {
	ARN         string // of the autoscaling group
	Nodegroup   string // of an AWSManagedMachinePool, as are Subnets
	Subnets     []string
	ProviderIDs []string
	Instances   []string
}

var pools = backup.NewKind("awsmachinepools."+group,
	backup.Text(func(p *awsPool) *string { return &p.ARN }, "spec.providerID"),
	backup.Texts(func(p *awsPool) *[]string { return &p.ProviderIDs }, "spec.providerIDList[]"),
	backup.Texts(func(p *awsPool) *[]string { return &p.Instances }, "status.instances[].instanceID"),
)

var managedPools = backup.NewKind("awsmanagedmachinepools."+group,
	backup.Text(func(p *awsPool) *string { return &p.Nodegroup }, "spec.eksNodegroupName"),
	backup.Texts(func(p *awsPool) *[]string { return &p.Subnets }, "spec.subnetIDs[]"),
	backup.Texts(func(p *awsPool) *[]string { return &p.ProviderIDs }, "spec.providerIDList[]"),
)

// machinePool is what Cluster API's own MachinePool says beside a backup.Group.
type machinePool struct {
	ManagedBy   string
	ProviderIDs []string
}

var machinePools = backup.NewKind("machinepools.cluster.x-k8s.io",
	backup.Text(func(p *machinePool) *string { return &p.ManagedBy }, "annotation:"+capi.ReplicasManagedByAnnotation),
	backup.Texts(func(p *machinePool) *[]string { return &p.ProviderIDs }, "spec.providerIDList[]"),
)

type static struct{ Secret string }

var statics = backup.NewKind("awsclusterstaticidentities."+group,
	backup.Text(func(s *static) *string { return &s.Secret }, "spec.secretRef"),
)

type role struct {
	ARN, ExternalID, Session string
	SourceKind, SourceName   string
}

var roles = backup.NewKind("awsclusterroleidentities."+group,
	backup.Text(func(r *role) *string { return &r.ARN }, "spec.roleARN"),
	backup.Text(func(r *role) *string { return &r.ExternalID }, "spec.externalID"),
	backup.Text(func(r *role) *string { return &r.Session }, "spec.sessionName"),
	backup.Text(func(r *role) *string { return &r.SourceKind }, "spec.sourceIdentityRef.kind"),
	backup.Text(func(r *role) *string { return &r.SourceName }, "spec.sourceIdentityRef.name"),
)

// Keys of the credentials' Secrets (CAPA pkg/cloud/identity/identity.go and
// config/default/credentials.yaml v2.11.1).
const (
	accessKey  = "AccessKeyID"
	secretKey  = "SecretAccessKey"
	tokenKey   = "SessionToken"
	managerKey = "credentials"
)

var want = backup.Want{
	Kinds: []backup.AnyKind{clusters, planes, machines, pools, managedPools, machinePools, statics, roles},
	Secrets: []backup.SecretRule{
		{Keys: []string{accessKey, secretKey}, Optional: []string{tokenKey}},
		{Name: managerSecret, Keys: []string{managerKey}},
	},
}
