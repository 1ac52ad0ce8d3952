package vsphere

import (
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra/capi"
)

const (
	group         = "infrastructure.cluster.x-k8s.io"
	machineKind   = "VSphereMachine"
	vmKind        = "VSphereVM"
	clusterKind   = "VSphereCluster"
	identityKind  = "VSphereClusterIdentity"
	templateKind  = "VSphereMachineTemplate"
	zoneKind      = "VSphereDeploymentZone"
	domainKind    = "VSphereFailureDomain"
	claimKind     = "IPAddressClaim"
	secretKind    = "Secret"
	managerSecret = "capv-manager-bootstrap-credentials"
	managerSpace  = "capv-system"
)

// The records hold what CAPV writes at the same paths from v1alpha3 to v1beta2
// (CAPV api/govmomi/v1beta1 and v1beta2 v1.16.1), unless two paths are given.

// cloneSpec is where a VM is to be, as far as the object says it.
type cloneSpec struct {
	Server, Thumbprint, Datacenter, Folder string
}

func placement[T any](of func(*T) *cloneSpec, at string) []backup.Field[T] {
	return []backup.Field[T]{
		backup.Text(func(t *T) *string { return &of(t).Server }, at+"server"),
		backup.Text(func(t *T) *string { return &of(t).Thumbprint }, at+"thumbprint"),
		backup.Text(func(t *T) *string { return &of(t).Datacenter }, at+"datacenter"),
		backup.Text(func(t *T) *string { return &of(t).Folder }, at+"folder"),
	}
}

// needs is what must exist in addition to the server for a VM to be cloned, as the
// object writes it.
type needs struct {
	Pool, Datastore, Template string
	Networks                  []string
	Policy                    string // storage policy
	Zoned                     bool   // pool and datastore are the failure domain's
}

func (n *needs) equal(other needs) bool {
	return n.Pool == other.Pool && n.Datastore == other.Datastore && n.Template == other.Template && n.Zoned == other.Zoned && n.Policy == other.Policy && slices.Equal(n.Networks, other.Networks)
}

// clone is what machines of a cluster mostly have in common; their records share it.
type clone struct {
	Spec    cloneSpec
	Needs   needs
	Devices string // in JSON: network devices
}

func (c *clone) equal(other *clone) bool {
	return c.Spec == other.Spec && c.Devices == other.Devices && c.Needs.equal(other.Needs)
}

func sharingClone[T any](k *backup.Kind[T], of func(*T) **clone) *backup.Kind[T] {
	return backup.Sharing(k, of, (*clone).equal)
}

func dependencies[T any](of func(*T) *needs, at string) []backup.Field[T] {
	return []backup.Field[T]{
		backup.Text(func(t *T) *string { return &of(t).Pool }, at+"resourcePool"),
		backup.Text(func(t *T) *string { return &of(t).Datastore }, at+"datastore"),
		backup.Text(func(t *T) *string { return &of(t).Template }, at+"template"),
		backup.Texts(func(t *T) *[]string { return &of(t).Networks }, at+"network.devices[].networkName"),
		backup.Text(func(t *T) *string { return &of(t).Policy }, at+"storagePolicyName"),
	}
}

type vsphereCluster struct {
	APIVersion                 string
	Server, Thumbprint         string
	IdentityKind, IdentityName string
	Zones                      string // failureDomainSelector in JSON
	Insecure                   bool   // v1alpha3 only
	Modules                    string // clusterModules in JSON
	Moduleless                 bool   // CAPV leaves modules alone
	// Available reports whether CAPV has logged in to the server with the identity.
	Available backup.ConditionState
}

var clusters = backup.NewKind("vsphereclusters."+group,
	backup.Text(func(c *vsphereCluster) *string { return &c.APIVersion }, "apiVersion"),
	backup.Text(func(c *vsphereCluster) *string { return &c.Server }, "spec.server"),
	backup.Text(func(c *vsphereCluster) *string { return &c.Thumbprint }, "spec.thumbprint"),
	backup.Text(func(c *vsphereCluster) *string { return &c.IdentityKind }, "spec.identityRef.kind"),
	backup.Text(func(c *vsphereCluster) *string { return &c.IdentityName }, "spec.identityRef.name"),
	backup.Raw(func(c *vsphereCluster) *string { return &c.Zones }, "spec.failureDomainSelector"),
	backup.Flag(func(c *vsphereCluster) *bool { return &c.Insecure }, "spec.insecure"),
	backup.Raw(func(c *vsphereCluster) *string { return &c.Modules }, "spec.clusterModules"),
	backup.Flag(func(c *vsphereCluster) *bool { return &c.Moduleless }, "spec.disableClusterModule"),
	// CAPV v1.13 to v1.15 serve v1beta1 and write the condition twice: only
	// status.v1beta2 knows the generation (VSphereClusterVCenterAvailableV1Beta2Condition,
	// apis/v1beta1/vspherecluster_types.go v1.15.0).
	backup.HasCondition(func(c *vsphereCluster) *backup.ConditionState { return &c.Available }, "VCenterAvailable", "status.v1beta2.conditions", "status.conditions"),
)

type vsphereMachine struct {
	*clone
	*siblings
	ProviderID string
}

// siblings is what machines of an owner mostly have in common; their records share it.
type siblings struct {
	FailureDomain string
	OS            string
	Naming        string // template of the VM's name
	Template      string // VSphereMachineTemplate that it was cloned from
	Rest          string // in JSON: fixed members of the clone spec
	capi.Labels
}

// fixed returns the members of a clone spec, beside those that have fields here, that CAPV's
// webhook lets nobody change in a VSphereVM (internal/webhooks/vspherevm.go v1.5.8 to
// v1.16.1; api/govmomi/v1beta1/types.go).
func fixed(at string) []string {
	var paths []string
	for _, m := range []string{
		"cloneMode", "snapshot", "storagePolicyName", "numCPUs", "numCoresPerSocket", "resources", "memoryMiB", "diskGiB", "additionalDisksGiB",
		"customVMXKeys", "tagIDs", "pciDevices", "os", "hardwareVersion", "dataDisks", "nestedHV", "ftEncryptionMode", "migrateEncryption",
		"cryptoKeyID", "cryptoProfile", "network.routes", "network.preferredAPIServerCidr",
	} {
		paths = append(paths, at+m)
	}
	return paths
}

const networkDevices = "network.devices"

var machines = sharingClone(backup.Sharing(backup.NewKind("vspheremachines."+group, append(slices.Concat(
	placement(func(m *vsphereMachine) *cloneSpec { return &m.Spec }, "spec."),
	dependencies(func(m *vsphereMachine) *needs { return &m.Needs }, "spec."),
	capi.LabelFields(func(m *vsphereMachine) *capi.Labels { return &m.Labels })),
	backup.Text(func(m *vsphereMachine) *string { return &m.ProviderID }, "spec.providerID"),
	backup.Text(func(m *vsphereMachine) *string { return &m.FailureDomain }, "spec.failureDomain"),
	backup.Text(func(m *vsphereMachine) *string { return &m.OS }, "spec.os"),
	backup.Text(func(m *vsphereMachine) *string { return &m.Naming }, "spec.naming.template", "spec.namingStrategy.template"),
	backup.Text(func(m *vsphereMachine) *string { return &m.Template }, "annotation:"+clusterv1.TemplateClonedFromNameAnnotation),
	backup.Members(func(m *vsphereMachine) *string { return &m.Rest }, fixed("spec.")...),
	backup.Members(func(m *vsphereMachine) *string { return &m.Devices }, "spec."+networkDevices),
)...).Ownerless(), func(m *vsphereMachine) **siblings { return &m.siblings }, func(a, b *siblings) bool { return *a == *b }), func(m *vsphereMachine) **clone { return &m.clone })

type vsphereVM struct {
	*clone
	BIOSUUID     string
	Bootstrap    string // name of the bootstrap data's object, which is the Machine's
	VMRef        string // "VirtualMachine:vm-136"
	ControlPlane bool
	Addresses    []string          // of the VM, as its guest said
	Rest         string            // in JSON: fixed members of the clone spec
	Missing      *backup.Condition // that the VM is there, while it does not hold; nil in most cases
}

// missing makes room for the condition only where it does not hold.
func missing(v *vsphereVM) *backup.Condition {
	if v.Missing == nil {
		v.Missing = &backup.Condition{}
	}
	return v.Missing
}

var vms = sharingClone(backup.NewKind("vspherevms."+group, append(slices.Concat(
	placement(func(v *vsphereVM) *cloneSpec { return &v.Spec }, "spec."),
	dependencies(func(v *vsphereVM) *needs { return &v.Needs }, "spec.")),
	backup.Text(func(v *vsphereVM) *string { return &v.BIOSUUID }, "spec.biosUUID"),
	backup.Text(func(v *vsphereVM) *string { return &v.Bootstrap }, "spec.bootstrapRef.name"),
	backup.Text(func(v *vsphereVM) *string { return &v.VMRef }, "status.vmRef"),
	backup.Present(func(v *vsphereVM) *bool { return &v.ControlPlane }, "label:"+clusterv1.MachineControlPlaneLabel),
	backup.Texts(func(v *vsphereVM) *[]string { return &v.Addresses }, "status.addresses[]"),
	backup.Members(func(v *vsphereVM) *string { return &v.Rest }, fixed("spec.")...),
	backup.Members(func(v *vsphereVM) *string { return &v.Devices }, "spec."+networkDevices),
	// VMProvisioned up to CAPV v1.15, VirtualMachineProvisioned from v1.16 on.
	backup.Failing(missing, "status.conditions", "VMProvisioned"),
	backup.Failing(missing, "status.conditions", "VirtualMachineProvisioned"),
)...), func(v *vsphereVM) **clone { return &v.clone })

// poolRef names a pool; its group is what its kind says.
type poolRef struct{ Kind, Name string }

var addressClaims = backup.NewKind("ipaddressclaims.ipam.cluster.x-k8s.io",
	backup.Text(func(p *poolRef) *string { return &p.Kind }, "spec.poolRef.kind"),
	backup.Text(func(p *poolRef) *string { return &p.Name }, "spec.poolRef.name"),
).Ownerless()

type ipAddress struct {
	Claim, Address, Pool, Gateway string
	Prefix                        backup.Number
}

var addresses = backup.NewKind("ipaddresses.ipam.cluster.x-k8s.io",
	backup.Text(func(a *ipAddress) *string { return &a.Claim }, "spec.claimRef.name"),
	backup.Text(func(a *ipAddress) *string { return &a.Address }, "spec.address"),
	backup.Text(func(a *ipAddress) *string { return &a.Pool }, "spec.poolRef.name"),
	backup.Text(func(a *ipAddress) *string { return &a.Gateway }, "spec.gateway"),
	backup.Count(func(a *ipAddress) *backup.Number { return &a.Prefix }, "spec.prefix"),
).Ownerless()

// ipPool is a pool of the in-cluster IPAM provider (api/v1alpha2 v1.1.0).
type ipPool struct{ Ranges, Excluded []string }

var ipPoolFields = []backup.Field[ipPool]{
	backup.Texts(func(p *ipPool) *[]string { return &p.Ranges }, "spec.addresses[]"),
	backup.Texts(func(p *ipPool) *[]string { return &p.Excluded }, "spec.excludedAddresses[]"),
}

var (
	ipPools       = backup.NewKind("inclusterippools.ipam.cluster.x-k8s.io", ipPoolFields...)
	globalIPPools = backup.NewKind("globalinclusterippools.ipam.cluster.x-k8s.io", ipPoolFields...)
)

type vsphereTemplate struct {
	*clone
	OS, Naming string
}

var templates = sharingClone(backup.NewKind("vspheremachinetemplates."+group, append(slices.Concat(
	placement(func(t *vsphereTemplate) *cloneSpec { return &t.Spec }, "spec.template.spec."),
	dependencies(func(t *vsphereTemplate) *needs { return &t.Needs }, "spec.template.spec.")),
	backup.Text(func(t *vsphereTemplate) *string { return &t.OS }, "spec.template.spec.os"),
	backup.Text(func(t *vsphereTemplate) *string { return &t.Naming },
		"spec.template.spec.naming.template", "spec.template.spec.namingStrategy.template"),
)...).Ownerless(), func(t *vsphereTemplate) **clone { return &t.clone })

type vsphereIdentity struct {
	Secret string
	// Allowed is allowedNamespaces in JSON: CAPV lets no cluster use an
	// identity without it (docs/identity_management.md v1.16.1).
	Allowed string
}

var identities = backup.NewKind("vsphereclusteridentities."+group,
	backup.Text(func(i *vsphereIdentity) *string { return &i.Secret }, "spec.secretName"),
	backup.Raw(func(i *vsphereIdentity) *string { return &i.Allowed }, "spec.allowedNamespaces"),
)

// namespaces are asked for their labels, which say who may use an identity.
type namespace struct{ Labels string }

var namespaces = backup.NewKind("namespaces",
	backup.Raw(func(n *namespace) *string { return &n.Labels }, "metadata.labels"),
)

type vsphereZone struct{ Server, Domain, Folder, Pool, Labels string }

var zones = backup.NewKind("vspheredeploymentzones."+group,
	backup.Text(func(z *vsphereZone) *string { return &z.Server }, "spec.server"),
	backup.Text(func(z *vsphereZone) *string { return &z.Domain }, "spec.failureDomain"),
	backup.Text(func(z *vsphereZone) *string { return &z.Folder }, "spec.placementConstraint.folder"),
	backup.Text(func(z *vsphereZone) *string { return &z.Pool }, "spec.placementConstraint.resourcePool"),
	backup.Raw(func(z *vsphereZone) *string { return &z.Labels }, "metadata.labels"),
)

type vsphereDomain struct {
	Datacenter, Datastore string
	Cluster, Group        string // compute cluster, and VM group of its hosts
	Networks              string // in JSON: networks or networkConfigurations
	Region, Zone          bool   // autoConfigure: CAPV makes and attaches the tag
}

var domains = backup.NewKind("vspherefailuredomains."+group,
	backup.Text(func(d *vsphereDomain) *string { return &d.Datacenter }, "spec.topology.datacenter"),
	backup.Text(func(d *vsphereDomain) *string { return &d.Datastore }, "spec.topology.datastore"),
	backup.Text(func(d *vsphereDomain) *string { return &d.Cluster }, "spec.topology.computeCluster"),
	backup.Text(func(d *vsphereDomain) *string { return &d.Group }, "spec.topology.hosts.vmGroupName"),
	backup.Raw(func(d *vsphereDomain) *string { return &d.Networks }, "spec.topology.networkConfigurations", "spec.topology.networks"),
	backup.Flag(func(d *vsphereDomain) *bool { return &d.Region }, "spec.region.autoConfigure"),
	backup.Flag(func(d *vsphereDomain) *bool { return &d.Zone }, "spec.zone.autoConfigure"),
)

// Keys of the credentials' Secrets (CAPV pkg/identity/identity.go and
// config/base/credentials.yaml v1.16.1).
const (
	userKey    = "username"
	passKey    = "password"
	managerKey = "credentials.yaml"
)

var want = backup.Want{
	Kinds: []backup.AnyKind{clusters, machines, vms, templates, identities, namespaces, zones, domains, addressClaims, addresses, ipPools, globalIPPools, capi.Deployments, versionedKinds[0]},
	Secrets: []backup.SecretRule{
		{Keys: []string{userKey, passKey}},
		{Name: managerSecret, Keys: []string{managerKey}},
		{Type: "cluster.x-k8s.io/secret"}, // whether they are there: bootstrap data
	},
}
