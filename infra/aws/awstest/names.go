package awstest

// Groups, kinds and roles of CAPA's objects, as backups write them.
const (
	Group      = "infrastructure.cluster.x-k8s.io"
	PlaneGroup = "controlplane.cluster.x-k8s.io"

	ClusterKind        = "AWSCluster"
	ManagedClusterKind = "AWSManagedCluster"
	PlaneKind          = "AWSManagedControlPlane"
	MachineKind        = "AWSMachine"
	PoolKind           = "AWSMachinePool"
	ManagedPoolKind    = "AWSManagedMachinePool"
	MachinePoolKind    = "MachinePool"
	FargateKind        = "AWSFargateProfile"
	StaticIdentity     = "AWSClusterStaticIdentity"
	RoleIdentity       = "AWSClusterRoleIdentity"

	RoleNode         = "node"
	RoleControlPlane = "control-plane"
)

// Where credentials of a backup are.
const (
	ManagerSpace  = "capa-system"
	managerSecret = "capa-manager-bootstrap-credentials"
	managerKey    = "credentials"

	AccessKey = "AccessKeyID"
	SecretKey = "SecretAccessKey"
	TokenKey  = "SessionToken"
)

// Tags of instances, beside those that name a cluster.
const (
	TagName        = "Name"
	TagMachineName = "MachineName"
	TagRole        = "sigs.k8s.io/cluster-api-provider-aws/role"
	TagGroup       = "aws:autoscaling:groupName"
	TagEKSCluster  = "eks:cluster-name"
	TagNodegroup   = "eks:nodegroup-name"
	TagKarpenter   = "karpenter.sh/nodepool"
)

// Flags that let the operator's own credentials be used.
const (
	FlagProfile = "aws-profile"
	FlagAmbient = "aws-ambient"
)
