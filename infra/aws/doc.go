// Package aws is the provider of Cluster API Provider AWS (CAPA): it knows which
// EC2 instances the AWSMachines and machine pools of a backup expect, and lists
// the instances of the regions that its clusters are in.
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
//	walksession.go    the session with AWS
//	walknetwork.go    VPC, route tables and security groups
//	walkbalancer.go   load balancers
//	walktargets.go    what is behind them
//	walkmachine.go    AWSMachine and its instance
//	walkpool.go       AWSMachinePool, its group and its template
//	walktemplate.go   what it wants of the template
//	walkplaced.go     the subnets of a group
//	walkhooks.go      the lifecycle hooks of a group
//	walksubnets.go    which subnets are public
//	walkplane.go      the control plane of EKS
//	walkeks.go        what that has: access entries, add-ons, Fargate profiles
//	walkroles.go      IAM roles
//	walknodegroup.go  EKS node groups
//	metadata.go       options of the instance metadata service
//
// Where to look, and what there is:
//
//	targets.go      one target per region and credential
//	credentials.go  finds a credential along CAPA's chain of identities
//	profile.go      reads the controller's credentials file
//	extract.go      writes the credential of a target as variables, for `extract`
//	manifests.go    makes identities again that the backup lacks, for `extract`
//	session.go      builds the calls, assumes roles
//	logins.go       counts the logins that a key has failed at
//	transport.go    bounds on rate, time and size
//	answers.go      what an answer must hold to be believed
//	list.go         reads pages of instances
//	instance.go     one instance as EC2 shows it
//	groups.go       autoscaling groups
//	networks.go     what is in the VPCs that the backup names
//	templates.go    launch templates and EKS node groups
//	planes.go       what a control plane of EKS has
//	parts.go        what a load balancer and a group have, and IAM roles
//	facts.go        the Facts of a listing: how they are called, and what is in them
//	notes.go        writes them
//	probes.go       VPCs, subnets, security groups, gateways, load balancers, EKS
//	faults.go       what went wrong, and what to do
//	reach.go        the account that the AWS CLI is at, for another look
//	operator.go     what errors about the operator's own configuration leave out
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
//
// # Calls
//
// Listing n instances in a region, where m that the backup names were not
// among them, costs
//
//	r + 1                          STS: one per role to assume, and who we are
//	max(1, ⌈n/1000⌉)               DescribeInstances
//	⌈m/200⌉                        DescribeInstances by id, until EC2 has denied or given each
//	max(1, ⌈g/100⌉) if any pool    DescribeAutoScalingGroups, g groups in the region
//	⌈v/200⌉                        DescribeVpcs, v VPCs
//	⌈v/25⌉ for each of four kinds   Subnets, SecurityGroups, NatGateways, RouteTables of VPCs
//	⌈k/200⌉ for each of three kinds Subnets, SecurityGroups, NatGateways, k not seen by then
//	max(1, ⌈t/200⌉) if any pool has one  DescribeLaunchTemplateVersions, t in the region
//	1 for each load balancer, each control plane and each node group of EKS
//	1 + a for each control plane, a add-ons       ListAddons, DescribeAddon
//	1 + 2e for each one with access entries       ListAccessEntries and two more for each of e
//	2 for each one with an identity provider      IdentityProviderConfigs of EKS
//	3 + t for each load balancer of the newer generation   its tags, listeners, t target groups
//	1 for each group of an AWSMachinePool that is there    DescribeLifecycleHooks
//	1 for each IAM role and each Fargate profile that the backup names
//
// and retries, at no more than 20 calls a second in a region. Instances that have no
// key of the backup are kept packed (infra.Unrelated), so that memory is a matter of
// the backup and of one page, not of n.
package aws
