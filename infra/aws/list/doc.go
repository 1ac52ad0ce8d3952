// Package list is the provider of Cluster API Provider AWS (CAPA) with its listing: it logs in with
// the credential that package aws finds, and reads the instances of a region and what else the backup
// names there. All that the provider asks of AWS is asked here. Package aws is called capa in it, as
// aws is the SDK's.
//
// A listing, from the target to its Instances:
//
//	list.go       reads pages of instances
//	instance.go   one instance as EC2 shows it
//	groups.go     autoscaling groups
//	templates.go  launch templates and EKS node groups
//	networks.go   what is in the VPCs that the backup names
//	probes.go     VPCs, subnets, security groups, gateways, load balancers, EKS
//	planes.go     what a control plane of EKS has
//	parts.go      what a load balancer and a group have, and IAM roles
//	notes.go      writes the Facts of a listing
//
// How AWS is asked:
//
//	session.go    builds the calls, assumes roles
//	logins.go     counts the logins that a key has failed at
//	transport.go  bounds on rate, time and size
//	answers.go    what an answer must hold to be believed
//
// What is said of it:
//
//	faults.go     what went wrong, and what to do
//	operator.go   what errors about the operator's own configuration leave out
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
package list
