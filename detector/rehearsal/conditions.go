package rehearsal

import (
	"drift-detector/report/code"
)

// Condition is what has to hold for a YES and cannot be seen from here.
type Condition struct {
	Code code.Reason
	Text string
}

// Conditions are those of the rows, the special ones first.
var Conditions = []Condition{
	{code.PoolAddressesTaken, "These addresses are excluded from their pools (spec.excludedAddresses) before a machine is created: VMs have them, and the pools believe that they are free"},
	{code.NamedInVCenter, "The tags, modules and storage policies that these objects name exist in vCenter, and are on the VMs, hosts, compute clusters and datacenters that they are for: they were not looked up, and CAPV creates and attaches again what was taken away since the backup"},
	{code.VCenterUnasked, "The names of datacenters are unique, and the VMs of machines have what CAPV asks for (an address, a network card for each device, the hardware version, a host that can be read): the inventory was saved before this was asked for"},
	{code.InfrastructureUnasked, "What AWS, Azure or OpenStack says of these is what the objects specify: the inventory was saved before that was asked for, or the backup names it by a filter, which was not followed, or not at all; or it was not compared, as what Azure Service Operator sets back, CAPZ at network interfaces, extensions, role assignments and DNS records, or CAPA and CAPO at load balancers, routes and rules"},
	{code.PoolsUncompared, "Launch template or scale set model, image, version, subnets and bootstrap data of these pools are those of the backup: they were not compared. Where one differs the controller replaces all members, and without bootstrap data it does nothing"},
	{code.OIDCProviderVerified, "The OIDC providers of IAM for these EKS clusters have one thumbprint, that of the last certificate that the issuer shows today, and sts.amazonaws.com as their one audience: CAPA verifies that again, and where it differs it does nothing for add-ons, VPC CNI, kube-proxy and aws-auth"},
	{code.SizesOffered, "Azure still offers the sizes of the VMs of these clusters to their subscriptions: CAPZ asks that before it looks for a VM, and fails where one was retired"},
	{code.ControllerLogin, "The new management cluster's CAPA, CAPV or CAPZ can log in as the old one's did, with its service account, its instance or the Secret of its own installation, and may assume the same roles: the login of these does not come with the backup"},
	{code.HostResolves, "The names of these API servers lead to their floating IPs, as the pods of the controllers look them up"},
	{code.ImagesResolved, "The controller of Images (ORC) runs on the new management cluster, with its credentials: machines of these clusters name their images as its objects"},
	{code.CredentialUntried, "The infrastructure accepts the credentials in the backup, which are what the controllers log in with: others were used here, and these were not tried"},
	{code.CertificateUnchecked, "The controllers trust the certificates of the infrastructure's servers: the check was turned off here, or an authority signed one that this machine trusts and theirs need not, and it is not the one that is pinned"},
	{code.PendingHooks, "The runtime extensions of these hooks answer and let the Clusters go on: the hooks were pending when the backup was taken, and are called again"},
	{code.ClassesUnchanged, "These ClusterClasses and templates were not changed since the Clusters were paused, or in the half day before the backup: nothing tells a topology of an edited template: it sees that hours later, and carries it out at once after a restore. Extensions compute the same templates where the uid and the labels of a Cluster are others"},
	{code.ProvidersInstalled, "Cluster API Operator is off until the restore has ended, or is not there: for these objects it installs the releases that they name again, or the latest, over what is there"},
	{code.ForeignPools, "The IPAM providers of these pools bind their claims again to the addresses that they had"},
	{code.ResourceSetsApplied, "What these hold is still what the workload clusters are to have: they write it again as the backup has it, passwords and versions of charts included, and ClusterResourceSets with ApplyOnce create again what was deleted there"},
	{code.AppliedAgain, "What applies these objects stays off until they are restored and unpaused, and applies then what the backup holds: Git and charts are not in the backup"},
	{code.APIServersAnswer, "The API servers of these clusters answer with the kubeconfigs of the backup: they were asked with others from here, or these are created again, which Secret CLUSTER-ca signs. Else their control planes count as never initialised, and health checks may delete even the last of their machines"},
	{code.WatchFilter, "The new controllers run with the watch filter of these Clusters: others leave them alone"},
	{code.CertificatesLast, "The certificates of these machines last longer than the days before which KubeadmControlPlane replaces machines: the backup does not say when they expire, or that day is within a week"},
	{code.EtcdMembers, "The etcd of these clusters has no member beside those of their Nodes: KubeadmControlPlane removes one that has no Machine"},
	{code.APIServersReached, "The new management cluster reaches the API servers of these clusters as they were reached from here, and ConfigMap kube-system/kubeadm-config is there where nobody looked for it: else their control planes count as never initialised, and health checks may delete even the last of their machines"},
}
