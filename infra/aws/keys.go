package aws

import (
	"drift-detector/infra"
)

// Kinds of keys, see the package documentation.
var (
	keyInstance      = infra.KeyKindOf("instanceID")
	KeyVPC           = infra.KeyKindOf("vpc")
	KeyOwnVPC        = infra.KeyKindOf("ownVPC") // a probe: VPC and the cluster that CAPA made it for, in the caller's account
	keyName          = infra.KeyKindOf("name")
	keyMachineName   = infra.KeyKindOf("machineName")
	keyOwnedName     = infra.KeyKindOf("owner+vpc+name")
	keyTag           = infra.KeyKindOf("machineNameTag")
	keyOwnedTag      = infra.KeyKindOf("owner+machineNameTag")
	keyOwnedAnywhere = infra.KeyKindOf("owner+name")
	keySearched      = infra.KeyKindOf("owner+name+running")
	keyNamesake      = infra.KeyKindOf("owners+machineNameTag")
	keyOwned         = infra.KeyKindOf("owner+role+vpc")
	keyOwnedStem1    = infra.KeyKindOf("owner+role+vpc+stem1")
	keyOwnedStem2    = infra.KeyKindOf("owner+role+vpc+stem2")
	keyOwnedNS       = infra.KeyKindOf("owner+role+vpc+namespace")
	keyOwnedNSStem1  = infra.KeyKindOf("owner+role+vpc+namespace+stem1")
	keyOwnedNSStem2  = infra.KeyKindOf("owner+role+vpc+namespace+stem2")
	keyOwnedVPC      = infra.KeyKindOf("owner+vpc")
	keyRoleStem1     = infra.KeyKindOf("role+namespace+stem1")
	keyRoleStem2     = infra.KeyKindOf("role+namespace+stem2")
	keyStem1         = infra.KeyKindOf("stem1")
	keyStem2         = infra.KeyKindOf("stem2")
	keyMark          = infra.KeyKindOf("mark")
	KeyASG           = infra.KeyKindOf("asg")
	KeyNodegroup     = infra.KeyKindOf("nodegroup")
	keyOwnNodegroup  = infra.KeyKindOf("nodegroup+subnet") // a probe: a node group in a subnet that the backup names
	keyLostPool      = infra.KeyKindOf("pool")             // of expected machines only: one that the backup lacks
	KeySubnet        = infra.KeyKindOf("subnet")
	KeySecurityGroup = infra.KeyKindOf("securityGroup")
	KeySubnetCIDR    = infra.KeyKindOf("vpc+cidr") // a probe: a subnet in the place of one that the backup names
	KeyNAT           = infra.KeyKindOf("natGateway")
	KeySubnetNAT     = infra.KeyKindOf("natGatewayIn") // a probe: a NAT gateway in a subnet
	KeyClassicLB     = infra.KeyKindOf("classicLoadBalancer")
	KeyLB            = infra.KeyKindOf("loadBalancer")
	KeyEKS           = infra.KeyKindOf("eksControlPlane")
	KeyBastion       = infra.KeyKindOf("bastion")
	// Probes that prove the account.
	KeyAccount  = infra.KeyKindOf("account")
	KeyOwnGroup = infra.KeyKindOf("ownSecurityGroup")
	KeyLBName   = infra.KeyKindOf("loadBalancerDNS")
	KeyEndpoint = infra.KeyKindOf("eksEndpoint")
)
