// Package list is the provider of Cluster API Provider OpenStack (CAPO) with its listing: it logs in
// where package openstack says, and reads the servers of a project and what else the backup
// names there. All that the provider asks of a server is asked here.
//
// A listing, from the target to its Instances:
//
//	list.go       reads pages of servers
//	instance.go   one server as Nova shows it
//	ports.go      reads ports: which servers CAPO made
//	twins.go      ports of names that are looked for
//	probes.go     networks, images and other things that the backup names
//	names.go      what of them has which name, and whose rules security groups have
//	images.go     images by name and tags
//	floating.go   where the floating IPs of API servers lead
//	behind.go     listeners and pools of load balancers, and their members
//
// How OpenStack is asked:
//
//	transport.go  bounds, certificates, and which servers may be contacted
//	session.go    logs in, finds the services in the catalogue, logs out
//	accounts.go   which accounts may be one, so that none is locked
//
// What is said of it:
//
//	access.go     which credential is accepted, which certificate is shown
//	faults.go     what went wrong, and what to do
//
// # Calls
//
// Listing a project of n servers costs
//
//	1                 login
//	1                 ports, with the members that are read
//	⌈n/1000⌉          pages of servers, one more where the last is the first or full
//	m                 in more than one page: of servers that the backup records and the
//	                  list lacks
//	1 for each kind   networks, external networks, subnets, routers, security groups,
//	                  floating IPs, flavors, server groups, key pairs, load balancers,
//	                  availability zones, extensions, trunks; by id and by name, and one
//	                  for each image, as far as the backup names any
//	3 for each        port of a load balancer: its listener, its pool, and that one's members
//	1 for each        filter that is more than a name, managed subnet, and network whose subnets
//	                  the cluster does not name
//	1                 login with each credential of the backup, where another one lists
//	1                 ports that floating IPs of API servers are attached to
//	1                 logout
//
// and retries. Servers that have no key of the backup are kept packed (infra.Unrelated),
// so that memory is a matter of the backup and of one page, not of n.
package list
