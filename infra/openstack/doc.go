// Package openstack is the provider of Cluster API Provider OpenStack (CAPO) without its listing: it
// knows which Nova servers the OpenStackMachines and OpenStackServers of a backup expect, where
// they are, and what CAPO does after a restore. It contacts nothing; package list, below it,
// lists the servers of the projects that the clusters are in.
//
// What the backup expects (no network, no secrets):
//
//	provider.go     name, kinds of keys, and what the program needs to know of CAPO
//	installed.go    which release of CAPO ran
//	controller.go   what CAPO does after a restore, by its releases
//	kinds.go        the objects that are read, and from where in them
//	objects.go      joins Machine, OpenStackMachine, OpenStackServer and OpenStackCluster
//	homescope.go    one place per identity, cloud and region
//	identities.go   which namespaces may use which identity, and which identities lack
//	expected.go     keys by which a machine's server is found
//	ownership.go    keys by which other servers belong to a cluster, and the keys that a server has
//	restore.go      what the objects of a machine say of its restore
//	proofs.go       what shows the project of a cluster
//	images.go       images by name and tags
//	twins.go        ports that CAPO looks for by name
//	balancers.go    the load balancer of the API server
//	managed.go      what CAPO made and looks for by name
//	floating.go     where the floating IPs of the API server and the bastion lead
//	external.go     what keeps a cluster from being ready
//	resources.go    what else a cluster's restore depends on
//	param.go        how objects say which thing of OpenStack they mean
//	floatingpools.go  what floating IPs from a pool need
//	checks.go       what will not work after a restore
//	walk.go         the steps of CAPO's controllers, and how a listing answers them
//	walklogin.go    identity, login, certificate, services
//	walkcluster.go  what the cluster was given
//	walkmanaged.go  what CAPO made for it
//	walkbalancer.go load balancer and floating IP of the API server
//	walkbehind.go   what is behind that load balancer, availability zones and trunks
//	walkrules.go    rules of security groups
//	walktags.go     tags that CAPO replaces
//	walkbastion.go  the bastion
//	walkserver.go   what a server is made of
//	walkfound.go    the same of a server that exists
//
// Where to look, and with what (no network; the operator's own clouds.yaml is opened):
//
//	targets.go      one target per project, region and credential
//	credentials.go  finds a credential as CAPO does
//	clouds.go       reads an entry of clouds.yaml
//	operator.go     the operator's own clouds.yaml and variables
//	reach.go        the project that the openstack command is at, for another look
//	extract.go      writes the credential of a target as variables, for `extract`
//	manifests.go    makes identities again that the backup lacks, for `extract`
//
// Keys of instances and of expected machines, where cluster is the name in the description
// of a port that CAPO made ("Created by cluster-api-provider-openstack cluster prod"), and
// a group is a security group that CAPO made and the backup records by its id:
//
//	serverID       UUID of the server, lower case
//	name           its name: what CAPO's search by name finds
//	standIn        its name, unless CAPO's port of that name is another's, or free
//	soughtName     name of a machine by which Nova finds a server of another name
//	cluster+name   cluster/name, on servers with a port that CAPO made under that name
//	group+port     cluster/group, on servers with CAPO's port in the group
//	group+stem1,   cluster/group/the name that CAPO gave the port's server, without one
//	group+stem2    or two random suffixes
//	lentPort       cluster, on servers with a port that CAPO made for another server of the backup
//	cluster+network  cluster/network, on servers with CAPO's port there, under any name
//	network+stem1, cluster/network/the same
//	network+stem2
//	group+named1,  group/the server's own name without suffixes, also where CAPO made no port of it
//	group+named2
//	stem1, stem2   the server's own name without suffixes
//	network        id of a network that CAPO made and it has a port in; as a probe, id or
//	               "name=" and the name, as are subnet, router, securityGroup,
//	               loadBalancer, image, flavor and serverGroup
//	mark           namespace-cluster, in the name of a security group or network
//	hostName       the host name that it was made with, in lower case, which a rename does
//	               not change; Nova says it from microversion 2.90 on
//	nameless       a server of a cell that is down: only its id is known
//	port           id of a port that the backup records; a probe, as are:
//	twinPorts      network/name, where several ports of the network have the name
//	takenPort      network/name of a port that a server of another name has, or one that is gone
//	twinImages     a filter that several images pass
//	externalNetwork "one", where the project sees any, and "several", where more than one
//	managed        kind/name of what CAPO makes, where there is any
//	usedGroup      name of a security group that ports are in
//	heldPort       network/name of a port that is attached
//	portTags       network/name of a port whose tags were read
//	subnetsOf      id of a network whose subnets were counted
//	renamed        kind/id/name of what CAPO made and no longer has its name
//	namesakes      kind/name of several things; CAPO made one of them
//	stuckBastion   name of a server in ERROR or BUILD
//	portless       network/name/address of a port that is not there, while a server has
//	               the address
//	elsewhere      floating IP of an API server or a bastion that another server has
//	lostFloatingIP server/address of a floating IP that the server is to have and has not
//	floatingIP     address
//	keyPair        name
//	bastion        name of a server that CAPO made under it
//	own            kind/id of one of these that the project owns
//
// A server never gets another id, not by a rebuild either. One of the same name is
// therefore another one, and only as long as nothing shows what became of the machine's
// own port it may be the machine: then the machine is not called Stale.
package openstack
