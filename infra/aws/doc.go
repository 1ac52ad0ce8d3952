// Package aws is the provider of Cluster API Provider AWS (CAPA) without its listing: it knows
// which EC2 instances the AWSMachines and machine pools of a backup expect, where they are, and what
// CAPA does after a restore. It contacts nothing; package list, below it, lists the instances of the
// regions that the clusters are in.
//
// What the backup expects (no network, no secrets):
//
//	provider.go     name, and what the program needs to know of CAPA
//	keys.go         kinds of keys
//	kinds.go        the objects that are read, and from where in them
//	objects.go      joins Machine, AWSMachine, pools and cluster
//	location.go     region, VPC and owner tag of a cluster
//	homescope.go    one place per region and identity
//	identities.go   which clusters may use which identity
//	expected.go     keys by which a machine's instance is found
//	ownership.go    keys by which other instances belong to a cluster
//	tags.go         tags of CAPA, and the keys that they give to an instance
//	restore.go      what an AWSMachine says of its restore
//	pools.go        autoscaling groups and EKS node groups
//	remedies.go     what to do about a machine that could not be decided
//	proofs.go       what shows the account of a cluster
//	balancers.go    what is in front of the API server of a cluster
//	resources.go    what else a cluster's restore depends on
//	absent.go       what the backup lacks
//	checks.go       what will not work after a restore
//
// What CAPA asks after a restore, row by row, in the order of its controllers:
//
//	walk.go           all rows, and how they are asked
//	walkcreate.go     what CAPA's webhooks refuse of a restored object
//	walksession.go    the session with AWS
//	walknetwork.go    VPC, route tables and security groups
//	walkbalancer.go   load balancers
//	walktargets.go    what is behind them
//	walkmachine.go    AWSMachine and its instance
//	walkpool.go       AWSMachinePool, its group and its template
//	walktemplate.go   what the spec says of the template
//	walkplaced.go     the subnets of a group
//	walkhooks.go      the lifecycle hooks of a group
//	walksubnets.go    which subnets are public
//	walkplane.go      the control plane of EKS
//	walkeks.go        what that has: access entries, add-ons, Fargate profiles
//	walkroles.go      IAM roles
//	walknodegroup.go  EKS node groups
//	metadata.go       options of the instance metadata service
//	facts.go          the Facts of a listing that these ask for
//
// Where to look, and with what (no network):
//
//	targets.go      one target per region and credential
//	credentials.go  finds a credential along CAPA's chain of identities
//	profile.go      reads the controller's credentials file
//	extract.go      writes the credential of a target as variables, for `extract`
//	manifests.go    makes identities again that the backup lacks, for `extract`
//	reach.go        the account that the AWS CLI is at, for another look
//
// Keys of instances and of expected machines, where tag is the name in CAPA's ownership tag:
//
//	instanceID                i-0123456789abcdef0
//	vpc                       vpc-0123
//	name                      tag Name
//	machineName               tag/vpc/namespace/name, from tag MachineName
//	owner+vpc+name            tag/vpc/tag Name, on instances without tag MachineName
//	                          that no group made
//	owner+machineNameTag      tag/namespace/name, from tag MachineName
//	owner+name                tag/tag Name, on instances without tag MachineName
//	owner+name+running        tag/tag Name, after each owner, while it is pending or running:
//	                          what CAPA's own search by name finds
//	machineNameTag            namespace/name, from tag MachineName
//	owners+machineNameTag     the same after each owner, or none: a namesake at least
//	owner+role+vpc            tag/role/vpc, on instances without tag MachineName;
//	                          this and the next never on what a group made
//	owner+role+vpc+namespace  tag/role/vpc/namespace, from tag MachineName
//	…+stem1, …+stem2          also the name without one or two random suffixes
//	role+namespace+stem…      role/namespace/name without suffixes, from tag MachineName,
//	                          in any VPC; never on what a group made
//	owner+vpc                 tag/vpc, with tag MachineName: where such an instance is
//	stem1, stem2              the name in tag MachineName or Name without suffixes
//	mark                      a cluster that any tag of CAPA, EKS or the cloud provider names
//	asg, nodegroup            target/name, on members of pools of the backup
//	pool                      on expected machines alone: of a pool that the backup lacks
//
// Expected machines have owner+machineNameTag, owner+name and machineNameTag where the backup
// does not say in which VPC their cluster is. An instance has the keys with an
// owner only when it carries exactly one ownership tag, except for owners+machineNameTag,
// which only keeps a machine from being called not provisioned, and for owner+name+running
// and mark. Probes have the kinds vpc, subnet, securityGroup, natGateway, asg, nodegroup,
// eksControlPlane, bastion (the cluster that it is of), and classicLoadBalancer and
// loadBalancer (VPC/name); vpc+cidr and natGatewayIn are what does as well in the place of a subnet
// (VPC/CIDR) and of a gateway (its subnet). Of the account they show it is: account (its number), ownVPC
// (one that CAPA made, in the credential's account), ownSecurityGroup, loadBalancerDNS,
// eksEndpoint, and nodegroup+subnet, a group that is no other account's of the same name.
package aws
