package openstack

import (
	"encoding/json"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra/capi"
)

const (
	group        = "infrastructure.cluster.x-k8s.io"
	clusterKind  = "OpenStackCluster"
	machineKind  = "OpenStackMachine"
	serverKind   = "OpenStackServer"
	templateKind = "OpenStackMachineTemplate"
	poolKind     = "OpenStackFloatingIPPool"
	identityKind = "OpenStackClusterIdentity"
	secretKind   = "Secret"
)

// Keys of the Secret that an identityRef leads to (CAPO pkg/scope/provider.go v0.14.7).
const (
	cloudsKey = "clouds.yaml"
	caKey     = "cacert"
)

// The records hold what CAPO writes, in the API versions v1alpha6 to v1beta2 (api v0.9.0,
// v0.14.7 and v0.15.0-beta.0). What is a text in one of them and an object in another is
// kept as JSON, and read in resources.go.

// identityRef is how an object says which credential CAPO is to use.
type identityRef struct{ Type, Name, Cloud, Region string }

func identityFields[T any](of func(*T) *identityRef) []backup.Field[T] {
	return []backup.Field[T]{
		backup.Text(func(t *T) *string { return &of(t).Type }, "spec.identityRef.type", "spec.identityRef.kind"),
		backup.Text(func(t *T) *string { return &of(t).Name }, "spec.identityRef.name"),
		backup.Text(func(t *T) *string { return &of(t).Cloud }, "spec.identityRef.cloudName", "spec.cloudName"),
		backup.Text(func(t *T) *string { return &of(t).Region }, "spec.identityRef.region"),
	}
}

// named is an object of OpenStack that a status records.
type named struct{ ID, Name string }

// Roles of security groups that CAPO makes, as the names of the groups have them.
const (
	roleControlPlane = "controlplane"
	roleWorker       = "worker"
	roleBastion      = "bastion"
)

// groupRoles are the members of an OpenStackCluster's status for those groups.
var groupRoles = [...]struct{ role, member string }{
	{roleControlPlane, "controlPlaneSecurityGroup"}, {roleWorker, "workerSecurityGroup"}, {roleBastion, "bastionSecurityGroup"},
}

// A record is a struct of one struct, and one serves several kinds: the name of every
// function that the compiler makes for a kind of record spells its members out, and there
// are hundreds of functions.
type (
	osCluster struct{ clusterRecord }
	// osServer is what an OpenStackMachine, its OpenStackServer, or an
	// OpenStackMachineTemplate says of a server.
	osServer struct{ serverRecord }
)

type clusterRecord struct {
	APIVersion string
	Identity   identityRef
	// What the cluster was given, in JSON: by id, by a filter, or not at all.
	SpecNetwork, SpecRouter, SpecExternal, SpecSubnets, SpecSubnet string
	PrimarySubnet                                                  string // in JSON, from v0.15 on
	// What CAPO found or made.
	Network, Router, External, LB named
	Subnets, CIDRs                []string // ids, and addresses
	Groups                        [len(groupRoles)]named
	ManagedSubnets, NodeCIDR      string // in JSON; one of them says that CAPO made the network
	FloatingIP, FixedIP, Endpoint string
	NoFloatingIP, LBEnabled       bool
	LBGiven, LBSaid               bool   // a load balancer, and whether it is enabled
	LBNetwork, LBSubnets          string // that the load balancer was given, in JSON
	RouterIPs                     string // spec.externalRouterIPs, in JSON
	LBMonitor                     bool   // its health monitor is given
	LBAddress                     string // of the API server, as CAPO last knew it
	LBPorts                       string // beside that of the API server, in JSON
	LBAllows, LBAllowed           string // allowed CIDRs of spec, and those that CAPO last set, in JSON
	Port                          backup.Number
	ManagedGroups                 string // in JSON; whether CAPO makes security groups
	NoExternal                    bool
	// What says the same in v1beta2 the other way round, in JSON: where it is absent, they are wanted.
	WantFloatingIP, WantExternal string
	Bastion                      named
	BastionEnabled               bool
	BastionGiven, BastionSaid    bool   // a bastion, and whether it is enabled
	BastionAddress               string // floating IP that spec asks for
	BastionIP, BastionFloatingIP string // that it had
	BastionSpec                  string // what its server is to be made of, in JSON
	BastionZone                  string
	Tags                         []string
}

// balanced reports whether the API server has a load balancer, and bastioned whether the cluster has a
// bastion: from v1beta1 on both are enabled where they are given and nothing says so (IsEnabled in
// api/v1beta1/types.go v0.10.0 to v0.14.7).
func (c *clusterRecord) balanced() bool {
	return c.LBEnabled || c.LBGiven && !c.LBSaid && !strings.Contains(c.APIVersion, "/v1alpha")
}

func (c *clusterRecord) bastioned() bool {
	return c.BastionEnabled || c.BastionGiven && !c.BastionSaid && !strings.Contains(c.APIVersion, "/v1alpha")
}

// noFloatingIP reports whether CAPO gives the API server no floating IP, and noExternal
// whether it looks for no external network, without which there is none.
func (c *clusterRecord) noFloatingIP() bool {
	return c.NoFloatingIP || c.WantFloatingIP == "false" || c.noExternal()
}

func (c *clusterRecord) noExternal() bool { return c.NoExternal || c.WantExternal == "false" }

var clusters = backup.NewKind("openstackclusters."+group, func() []backup.Field[osCluster] {
	type c = osCluster
	fields := append(identityFields(func(c *c) *identityRef { return &c.Identity }),
		backup.Text(func(c *c) *string { return &c.APIVersion }, "apiVersion"),
		backup.Raw(func(c *c) *string { return &c.SpecNetwork }, "spec.network"),
		backup.Raw(func(c *c) *string { return &c.SpecRouter }, "spec.router"),
		backup.Raw(func(c *c) *string { return &c.SpecExternal }, "spec.externalNetwork", "spec.externalNetworkId"),
		backup.Raw(func(c *c) *string { return &c.SpecSubnets }, "spec.subnets"),
		backup.Raw(func(c *c) *string { return &c.SpecSubnet }, "spec.subnet"),
		backup.Raw(func(c *c) *string { return &c.PrimarySubnet }, "spec.primarySubnet"),
		backup.Raw(func(c *c) *string { return &c.ManagedSubnets }, "spec.managedSubnets"),
		backup.Text(func(c *c) *string { return &c.NodeCIDR }, "spec.nodeCidr"),
		backup.Texts(func(c *c) *[]string { return &c.Subnets }, "status.network.subnets[].id"),
		backup.Texts(func(c *c) *[]string { return &c.CIDRs }, "status.network.subnets[].cidr"),
		backup.Text(func(c *c) *string { return &c.FloatingIP }, "spec.apiServerFloatingIP", "spec.apiServer.floatingIP"),
		backup.Text(func(c *c) *string { return &c.FixedIP }, "spec.apiServerFixedIP", "spec.apiServer.fixedIP"),
		backup.Text(func(c *c) *string { return &c.Endpoint }, "spec.controlPlaneEndpoint.host"),
		backup.Flag(func(c *c) *bool { return &c.NoFloatingIP }, "spec.disableAPIServerFloatingIP"),
		backup.Flag(func(c *c) *bool { return &c.LBEnabled }, "spec.apiServerLoadBalancer.enabled", "spec.apiServer.managedLoadBalancer.enabled"),
		backup.Present(func(c *c) *bool { return &c.LBGiven }, "spec.apiServerLoadBalancer", "spec.apiServer.managedLoadBalancer"),
		backup.Present(func(c *c) *bool { return &c.LBSaid }, "spec.apiServerLoadBalancer.enabled", "spec.apiServer.managedLoadBalancer.enabled"),
		backup.Raw(func(c *c) *string { return &c.LBNetwork }, "spec.apiServerLoadBalancer.network", "spec.apiServer.managedLoadBalancer.network"),
		backup.Raw(func(c *c) *string { return &c.LBSubnets }, "spec.apiServerLoadBalancer.subnets", "spec.apiServer.managedLoadBalancer.subnets"),
		backup.Present(func(c *c) *bool { return &c.LBMonitor }, "spec.apiServerLoadBalancer.monitor", "spec.apiServer.managedLoadBalancer.monitor"),
		backup.Text(func(c *c) *string { return &c.LBAddress }, "status.apiServerLoadBalancer.ip", "status.apiServerManagedLoadBalancer.ip"),
		backup.Raw(func(c *c) *string { return &c.LBPorts }, "spec.apiServerLoadBalancer.additionalPorts", "spec.apiServer.managedLoadBalancer.additionalPorts"),
		backup.Raw(func(c *c) *string { return &c.LBAllows }, "spec.apiServerLoadBalancer.allowedCIDRs", "spec.apiServer.managedLoadBalancer.allowedCIDRs"),
		backup.Raw(func(c *c) *string { return &c.LBAllowed }, "status.apiServerLoadBalancer.allowedCIDRs", "status.apiServerManagedLoadBalancer.allowedCIDRs"),
		backup.Count(func(c *c) *backup.Number { return &c.Port }, "spec.controlPlaneEndpoint.port"),
		backup.Raw(func(c *c) *string { return &c.RouterIPs }, "spec.externalRouterIPs", "spec.managedRouter.externalIPs"),
		backup.Raw(func(c *c) *string { return &c.ManagedGroups }, "spec.managedSecurityGroups"),
		backup.Flag(func(c *c) *bool { return &c.NoExternal }, "spec.disableExternalNetwork"),
		backup.Raw(func(c *c) *string { return &c.WantFloatingIP }, "spec.apiServer.enableFloatingIP"),
		backup.Raw(func(c *c) *string { return &c.WantExternal }, "spec.enableExternalNetwork"),
		backup.Flag(func(c *c) *bool { return &c.BastionEnabled }, "spec.bastion.enabled"),
		backup.Present(func(c *c) *bool { return &c.BastionGiven }, "spec.bastion"),
		backup.Present(func(c *c) *bool { return &c.BastionSaid }, "spec.bastion.enabled"),
		backup.Raw(func(c *c) *string { return &c.BastionSpec }, "spec.bastion.spec"),
		backup.Text(func(c *c) *string { return &c.BastionIP }, "status.bastion.ip"),
		backup.Text(func(c *c) *string { return &c.BastionFloatingIP }, "status.bastion.floatingIP"),
		backup.Text(func(c *c) *string { return &c.BastionZone }, "spec.bastion.availabilityZone"),
		backup.Texts(func(c *c) *[]string { return &c.Tags }, "spec.tags[]"),
		backup.Text(func(c *c) *string { return &c.BastionAddress }, "spec.bastion.floatingIP", "spec.bastion.instance.floatingIP"),
	)
	both := func(of func(*c) *named, path ...string) {
		id, name := make([]string, len(path)), make([]string, len(path))
		for i, p := range path {
			id[i], name[i] = p+".id", p+".name"
		}
		fields = append(fields, backup.Text(func(c *c) *string { return &of(c).ID }, id...), backup.Text(func(c *c) *string { return &of(c).Name }, name...))
	}
	both(func(c *c) *named { return &c.Network }, "status.network")
	both(func(c *c) *named { return &c.Router }, "status.router")
	both(func(c *c) *named { return &c.External }, "status.externalNetwork")
	both(func(c *c) *named { return &c.LB }, "status.apiServerLoadBalancer", "status.apiServerManagedLoadBalancer")
	both(func(c *c) *named { return &c.Bastion }, "status.bastion")
	for i, r := range groupRoles {
		both(func(c *c) *named { return &c.Groups[i] }, "status."+r.member)
	}
	return fields
}()...)

// manages reports whether CAPO makes network and subnet, whatever spec.network and spec.subnets say
// (reconcileNetworkComponents in controllers/openstackcluster_controller.go v0.9.0 to
// v0.15.0-beta.0), and makesGroups whether it makes security groups.
func (c *clusterRecord) manages() bool {
	return given(c.ManagedSubnets) || c.NodeCIDR != ""
}

func (c *clusterRecord) makesGroups() bool {
	return c.ManagedGroups != "" && c.ManagedGroups != "null" && c.ManagedGroups != "false"
}

// givenSubnets returns the subnets that the cluster was given, in JSON.
func (c *clusterRecord) givenSubnets() []json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal([]byte(c.SpecSubnets), &all) != nil || len(all) == 0 {
		return []json.RawMessage{json.RawMessage(c.SpecSubnet)}
	}
	return all
}

// wish is what a machine is to be made of, in JSON where API versions differ.
type wish struct {
	Flavor, FlavorID, Image, ImageUUID string
	ServerGroup, ServerGroupID         string
	KeyPair, Ports, Groups             string
	FloatingPool, FloatingPoolKind     string // that a floating IP comes from
	Trunk                              bool   // of every port that says nothing of it
	Tags                               []string
}

func wishFields(spec string) []backup.Field[osServer] {
	type s = osServer
	return []backup.Field[s]{
		backup.Raw(func(s *s) *string { return &s.Wish.Flavor }, spec+".flavor"),
		backup.Text(func(s *s) *string { return &s.Wish.FlavorID }, spec+".flavorID"),
		backup.Raw(func(s *s) *string { return &s.Wish.Image }, spec+".image"),
		backup.Text(func(s *s) *string { return &s.Wish.ImageUUID }, spec+".imageUUID"),
		backup.Raw(func(s *s) *string { return &s.Wish.ServerGroup }, spec+".serverGroup"),
		backup.Text(func(s *s) *string { return &s.Wish.ServerGroupID }, spec+".serverGroupID"),
		backup.Text(func(s *s) *string { return &s.Wish.KeyPair }, spec+".sshKeyName"),
		backup.Raw(func(s *s) *string { return &s.Wish.Ports }, spec+".ports"),
		backup.Raw(func(s *s) *string { return &s.Wish.Groups }, spec+".securityGroups"),
		backup.Text(func(s *s) *string { return &s.Wish.FloatingPool }, spec+".floatingIPPoolRef.name"),
		backup.Text(func(s *s) *string { return &s.Wish.FloatingPoolKind }, spec+".floatingIPPoolRef.kind"),
		backup.Flag(func(s *s) *bool { return &s.Wish.Trunk }, spec+".trunk"),
		backup.Texts(func(s *s) *[]string { return &s.Wish.Tags }, spec+".tags[]"),
	}
}

type serverRecord struct {
	Identity   identityRef
	InstanceID string
	Wish       wish
	Unready    *backup.Condition // InstanceReady, while it does not hold; nil in most cases
	Networks   []string          // of its ports, as CAPO found them: in an OpenStackMachine up to release 0.10
	// Of an OpenStackServer.
	PortIDs  []string
	Rest     string // more of spec, which a bastion is compared by, in JSON
	UserData bool
	// Of an OpenStackMachine.
	APIVersion, ProviderID string
	capi.Labels
	Template string // OpenStackMachineTemplate that it was made from
	Failure  string // status.failureMessage
}

// unready makes room for the condition only where it does not hold.
func (s *osServer) unready() *backup.Condition {
	if s.Unready == nil {
		s.Unready = &backup.Condition{}
	}
	return s.Unready
}

// serverFields returns those that both an OpenStackMachine and an OpenStackServer have.
func serverFields(more ...backup.Field[osServer]) []backup.Field[osServer] {
	type s = osServer
	fields := append(identityFields(func(s *s) *identityRef { return &s.Identity }), wishFields("spec")...)
	fields = append(fields,
		backup.Text(func(s *s) *string { return &s.InstanceID }, "status.instanceID", "spec.instanceID"),
		backup.Failing((*osServer).unready, "status.conditions", "InstanceReady"),
		backup.Texts(func(s *s) *[]string { return &s.Networks }, "status.resolved.ports[].networkID"),
	)
	return append(fields, more...)
}

var machines = backup.NewKind("openstackmachines."+group, append(capi.LabelFields(func(s *osServer) *capi.Labels { return &s.Labels }), serverFields(
	backup.Text(func(s *osServer) *string { return &s.APIVersion }, "apiVersion"),
	backup.Text(func(s *osServer) *string { return &s.ProviderID }, "spec.providerID"),
	backup.Text(func(s *osServer) *string { return &s.Template }, "annotation:"+clusterv1.TemplateClonedFromNameAnnotation),
	backup.Text(func(s *osServer) *string { return &s.Failure }, "status.failureMessage"),
)...)...)

var servers = backup.NewKind("openstackservers."+group, serverFields(
	backup.Texts(func(s *osServer) *[]string { return &s.PortIDs }, "status.resources.ports[].id"),
	backup.Members(func(s *osServer) *string { return &s.Rest }, restOf("spec.")...),
	backup.Present(func(s *osServer) *bool { return &s.UserData }, "spec.userDataRef"),
)...)

var templates = backup.NewKind("openstackmachinetemplates."+group, wishFields("spec.template.spec")...)

// referredImage is an Image of the OpenStack Resource Controller (ORC), which a machine may
// name in the place of Glance's: which image of Glance's that is, and with which login ORC asks.
type referredImage = orcObject

var referredImages = orcKind("images",
	backup.Raw(func(o *orcObject) *string { return &o.Import }, "spec.import"),
	backup.Members(func(o *orcObject) *string { return &o.Resource }, "spec.resource.name", "spec.resource.tags", "spec.resource.visibility"),
	backup.Text(func(o *orcObject) *string { return &o.Secret }, "spec.cloudCredentialsRef.secretName"),
	backup.Text(func(o *orcObject) *string { return &o.Cloud }, "spec.cloudCredentialsRef.cloudName"),
)

// orcObject is an object of ORC, which makes what it says again unless its policy is unmanaged.
type orcObject struct {
	Policy string
	// Of an Image.
	Import, Resource string // in JSON
	Secret, Cloud    string
}

const (
	orcGroup  = ".openstack.k-orc.cloud"
	unmanaged = "unmanaged"
)

func orcKind(resource string, more ...backup.Field[orcObject]) *backup.Kind[orcObject] {
	return backup.NewKind(resource+orcGroup, append(more, backup.Text(func(o *orcObject) *string { return &o.Policy }, "spec.managementPolicy"))...)
}

// orcKinds are the others of ORC's kinds, by what people call them (config/crd/bases of
// k-orc/openstack-resource-controller).
var orcKinds = func() map[string]*backup.Kind[orcObject] {
	all := map[string]*backup.Kind[orcObject]{}
	for _, kind := range []string{
		"AddressScope", "ApplicationCredential", "Domain", "Endpoint", "Flavor", "FloatingIP", "Group", "KeyPair", "Network", "Port", "Project",
		"RoleAssignment", "Role", "RouterInterface", "Router", "SecurityGroup", "ServerGroup", "Server", "Service", "ShareNetwork", "Subnet", "Trunk", "User", "Volume", "VolumeType",
	} {
		all[kind] = orcKind(strings.ToLower(kind) + "s")
	}
	return all
}()

func wantedOrc() (all []backup.AnyKind) {
	for _, kind := range sortedNames(orcKinds) {
		all = append(all, orcKinds[kind])
	}
	return all
}

type clusterIdentity struct {
	Secret, Namespace string
	Selector          string // spec.namespaceSelector in JSON; empty: every namespace
}

var identities = backup.NewKind("openstackclusteridentities."+group,
	backup.Text(func(i *clusterIdentity) *string { return &i.Secret }, "spec.secretRef.name"),
	backup.Text(func(i *clusterIdentity) *string { return &i.Namespace }, "spec.secretRef.namespace"),
	backup.Raw(func(i *clusterIdentity) *string { return &i.Selector }, "spec.namespaceSelector"),
)

// namespaces are asked for their labels, which say who may use an identity.
type namespace struct{ Labels string }

var namespaces = backup.NewKind("namespaces", backup.Raw(func(n *namespace) *string { return &n.Labels }, "metadata.labels"))

var versionedKinds = []*check.VersionKind{check.NewVersionKind("openstackclusters." + group)}

var want = backup.Want{
	Kinds: slices.Concat([]backup.AnyKind{clusters, machines, servers, templates, identities, referredImages, floatingPools, floatingAddresses, floatingClaims, namespaces, deployments, inventories}, check.Kinds(versionedKinds), wantedOrc()),
	Secrets: []backup.SecretRule{
		{Keys: []string{cloudsKey}, Optional: []string{caKey}},
		{Type: "cluster.x-k8s.io/secret"}, // whether they are there: bootstrap data
	},
}

// rest are the members of spec of an OpenStackServer that are compared as they are, beside those
// that other rows ask for.
var rest = []string{"additionalBlockDevices", "availabilityZone", "configDrive", "floatingIPPoolRef", "rootVolume", "schedulerHintAdditionalProperties", "securityGroups", "serverMetadata", "tags", "trunk"}

func restOf(prefix string) []string {
	all := make([]string, len(rest))
	for i, member := range rest {
		all[i] = prefix + member
	}
	return all
}
