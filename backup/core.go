package backup

import (
	"cmp"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup/scan"
)

// API groups of Cluster API. Providers of infrastructure use the third, or a
// group that ends in it.
const (
	coreGroup           = "cluster.x-k8s.io"
	controlPlaneGroup   = "controlplane.cluster.x-k8s.io"
	bootstrapGroup      = "bootstrap.cluster.x-k8s.io"
	runtimeGroup        = "runtime.cluster.x-k8s.io"
	infrastructureGroup = "infrastructure.cluster.x-k8s.io"
)

const kubeadm = "KubeadmControlPlane"

// in returns the reference as an object of that namespace makes it.
func (r Ref) in(namespace string) Ref {
	if r.IsZero() {
		return Ref{}
	}
	r.Namespace = cmp.Or(r.Namespace, namespace)
	return r
}

// reference reads an object reference of any API version at a path, or where other API versions
// have it: v1alpha3 to v1beta1 have apiVersion and namespace, v1beta2 has apiGroup (Cluster API
// api/core/v1beta2/common_types.go v1.14.2).
//
//go:noinline
func reference[T any](into func(*T) *Ref, paths ...string) []Field[T] {
	member := func(name string) []string {
		var all []string
		for _, p := range paths {
			all = append(all, p+"."+name)
		}
		return all
	}
	version := Text(func(t *T) *string { return &into(t).Group }, member("apiVersion")...)
	text := version.read
	version.read = func(t *T, f scan.Found, m *memory, use *usage) error {
		group := into(t).Group
		err := text(t, f, m, use)
		into(t).Group = cmp.Or(group, groupOf(into(t).Group))
		return err
	}
	return []Field[T]{
		Text(func(t *T) *string { return &into(t).Group }, member("apiGroup")...),
		version,
		Text(func(t *T) *string { return &into(t).Kind }, member("kind")...),
		Text(func(t *T) *string { return &into(t).Namespace }, member("namespace")...),
		Text(func(t *T) *string { return &into(t).Name }, member("name")...),
	}
}

// endpointFields is spec.controlPlaneEndpoint, which Clusters and all
// infrastructure clusters have by contract.
type endpointFields struct {
	Host string
	Port Number
}

//
//go:noinline
func endpoint[T any](into func(*T) *endpointFields) []Field[T] {
	return []Field[T]{
		Text(func(t *T) *string { return &into(t).Host }, "spec.controlPlaneEndpoint.host"),
		Count(func(t *T) *Number { return &into(t).Port }, "spec.controlPlaneEndpoint.port"),
	}
}

type clusterFields struct {
	Paused                       bool
	Endpoint                     endpointFields
	Labels                       Labels
	ControlPlane, Infrastructure Ref
	Class, ClassNamespace        string // of its topology
}

var clusterKind = alone("a Cluster with the same uid", NewKind("clusters."+coreGroup, join(
	one(Flag(func(t *clusterFields) *bool { return &t.Paused }, "spec.paused")),
	one(labelsOf(func(t *clusterFields) *Labels { return &t.Labels }, "metadata.labels")),
	endpoint(func(t *clusterFields) *endpointFields { return &t.Endpoint }),
	reference(func(t *clusterFields) *Ref { return &t.ControlPlane }, "spec.controlPlaneRef"),
	reference(func(t *clusterFields) *Ref { return &t.Infrastructure }, "spec.infrastructureRef"),
	[]Field[clusterFields]{
		Text(func(t *clusterFields) *string { return &t.Class }, "spec.topology.classRef.name", "spec.topology.class"),
		Text(func(t *clusterFields) *string { return &t.ClassNamespace }, "spec.topology.classRef.namespace", "spec.topology.classNamespace"),
	},
)...))

// classFields are the templates of a ClusterClass: references, in JSON. Extensions are the
// handlers of its external patches, each with the ExtensionConfig behind its first dot.
type classFields struct {
	Templates  [7][]string
	Extensions [3][]string
}

var classKind = NewKind("clusterclasses."+coreGroup, func() (fields []Field[classFields]) {
	templates := [len(classFields{}.Templates)][2]string{
		{"infrastructure"},
		{"controlPlane"},
		{"controlPlane.machineInfrastructure"},
		{"workers.machineDeployments[]", ".bootstrap"},
		{"workers.machineDeployments[]", ".infrastructure"},
		{"workers.machinePools[]", ".bootstrap"},
		{"workers.machinePools[]", ".infrastructure"},
	}
	for i, t := range templates {
		older := "spec." + t[0] + t[1] + ".ref" // up to v1beta1
		if t[1] != "" {
			older = "spec." + t[0] + ".template" + t[1] + ".ref"
		}
		fields = append(fields, Raws(func(c *classFields) *[]string { return &c.Templates[i] }, "spec."+t[0]+t[1]+".templateRef", older))
	}
	const external = "spec.patches[].external."
	for i, paths := range [len(classFields{}.Extensions)][]string{
		{external + "generatePatchesExtension", external + "generateExtension"}, // the second of each up to v1beta1
		{external + "validateTopologyExtension", external + "validateExtension"},
		{external + "discoverVariablesExtension"},
	} {
		fields = append(fields, Texts(func(c *classFields) *[]string { return &c.Extensions[i] }, paths...))
	}
	return fields
}()...)

const expiryAnnotation = "annotation:" + clusterv1.MachineCertificatesExpiryDateAnnotation

// configFields say of a KubeadmConfig whether its machine joins with a token, when the
// certificates that it made expire, and whether it has the label of a control plane's.
type configFields struct {
	Token, ControlPlane bool
	CertificatesExpire  string
}

var configKind = NewKind("kubeadmconfigs.bootstrap."+coreGroup,
	Present(func(c *configFields) *bool { return &c.Token }, "spec.joinConfiguration.discovery.bootstrapToken.token"),
	Text(func(c *configFields) *string { return &c.CertificatesExpire }, expiryAnnotation),
	Present(func(c *configFields) *bool { return &c.ControlPlane }, "label:"+clusterv1.MachineControlPlaneLabel),
).Ownerless()

type machineFields struct {
	Created                                  time.Time
	Cluster                                  string
	ControlPlane, SkipRemediation, Remediate bool
	InPlace, K0sConfig                       bool
	Deployment, Set                          string
	ProviderID, Node, Phase, FailureDomain   string
	Labels                                   Labels
	Infrastructure, Bootstrap                Ref
	BootstrapSecret                          string
	Version                                  string
	SystemUUID                               string

	rare *rareFields // see rarely
}

// rareFields are those that few Machines have, or only those of control planes.
type rareFields struct {
	ControlPlaneName, Pool                  string
	InfraReady, UpToDate                    *Condition // nil where they hold
	CertificatesExpire, CertificatesExpired string     // as annotated, and as its status says
	Hooks, Remediated                       string
}

// rarely returns the rare fields, for one of them to be set.
func (t *machineFields) rarely() *rareFields {
	if t.rare == nil {
		t.rare = &rareFields{}
	}
	return t.rare
}

var machineKind = alone("a Machine with the same uid", NewKind("machines."+coreGroup, join(
	[]Field[machineFields]{
		{paths: []string{"metadata.creationTimestamp"}, read: func(t *machineFields, f scan.Found, m *memory, _ *usage) error {
			return m.moment(f.Values[0], &t.Created)
		}},
		Text(func(t *machineFields) *string { return &t.Cluster }, "spec.clusterName"),
		Present(func(t *machineFields) *bool { return &t.ControlPlane }, "label:"+clusterv1.MachineControlPlaneLabel),
		Text(func(t *machineFields) *string { return &t.rarely().ControlPlaneName }, "label:"+clusterv1.MachineControlPlaneNameLabel),
		Text(func(t *machineFields) *string { return &t.Deployment }, "label:"+clusterv1.MachineDeploymentNameLabel),
		Text(func(t *machineFields) *string { return &t.Set }, "label:"+clusterv1.MachineSetNameLabel),
		Text(func(t *machineFields) *string { return &t.rarely().Pool }, "label:"+clusterv1.MachinePoolNameLabel),
		Text(func(t *machineFields) *string { return &t.ProviderID }, "spec.providerID"),
		Text(func(t *machineFields) *string { return &t.Node }, "status.nodeRef.name"),
		Text(func(t *machineFields) *string { return &t.Phase }, "status.phase"),
		Text(func(t *machineFields) *string { return &t.FailureDomain }, "spec.failureDomain"),
		labelsOf(func(t *machineFields) *Labels { return &t.Labels }, "metadata.labels"),
		Present(func(t *machineFields) *bool { return &t.SkipRemediation }, "annotation:"+clusterv1.MachineSkipRemediationAnnotation),
		Failing(func(t *machineFields) *Condition { t.rarely().InfraReady = new(Condition); return t.rare.InfraReady }, "status.conditions", clusterv1.InfrastructureReadyCondition),
		Text(func(t *machineFields) *string { return &t.BootstrapSecret }, "spec.bootstrap.dataSecretName"),
		Text(func(t *machineFields) *string { return &t.Version }, "spec.version"),
		Present(func(t *machineFields) *bool { return &t.Remediate }, "annotation:"+clusterv1.RemediateMachineAnnotation),
		// Cluster API 1.9 and 1.10 write the condition below status.v1beta2.
		Failing(func(t *machineFields) *Condition { t.rarely().UpToDate = new(Condition); return t.rare.UpToDate }, "status.v1beta2.conditions", clusterv1.MachineUpToDateCondition),
		Failing(func(t *machineFields) *Condition { t.rarely().UpToDate = new(Condition); return t.rare.UpToDate }, "status.conditions", clusterv1.MachineUpToDateCondition),
		Text(func(t *machineFields) *string { return &t.rarely().CertificatesExpire }, expiryAnnotation),
		Text(func(t *machineFields) *string { return &t.rarely().CertificatesExpired }, "status.certificatesExpiryDate"),
		Present(func(t *machineFields) *bool { return &t.InPlace }, "annotation:"+clusterv1.UpdateInProgressAnnotation),
		Present(func(t *machineFields) *bool { return &t.K0sConfig }, "annotation:k0s.controlplane.cluster.x-k8s.io/k0s-config"),
		hooksOf(func(t *machineFields) *string { return &t.rarely().Hooks }),
		Text(func(t *machineFields) *string { return &t.rarely().Remediated }, "annotation:"+controlPlaneGroup+"/remediation-for"),
		Text(func(t *machineFields) *string { return &t.SystemUUID }, "status.nodeInfo.systemUUID"),
	},
	reference(func(t *machineFields) *Ref { return &t.Infrastructure }, "spec.infrastructureRef"),
	reference(func(t *machineFields) *Ref { return &t.Bootstrap }, "spec.bootstrap.configRef"),
)...))

type groupFields struct {
	Cluster, Deployment    string
	Desired, Replicas      Number
	Labels, TemplateLabels Labels
	Selector               string
	Managed, Autoscaled    bool
	Argo, Flux, Helm       bool
	Halted, Recent         bool
	Infrastructure         Ref
	Bootstrap              Ref
	Version, FailureDomain string
	Strategy, NoCreate     string

	rare *rareGroupFields // see rarely
}

// rareGroupFields are those that few groups have.
type rareGroupFields struct {
	NamingTemplate  string
	ManagedBy       string // the annotation's value, where Managed says that there is one
	Least           string // that the cluster autoscaler may set
	Installer       string
	Manager         string // the first tool among the managers of its fields
	BootstrapSecret string
	RolloutAfter    string
	SkippedChecks   string
	MaxInFlight     string // JSON: a number, or a percentage as a string
	Members         []string
}

// rarely returns the rare fields, for one of them to be set.
func (t *groupFields) rarely() *rareGroupFields {
	if t.rare == nil {
		t.rare = &rareGroupFields{}
	}
	return t.rare
}

func newGroupKind(resource string) *Kind[groupFields] {
	return alone("a machine group with the same uid", NewKind(resource, join(
		[]Field[groupFields]{
			Text(func(t *groupFields) *string { return &t.Cluster }, "spec.clusterName"),
			Text(func(t *groupFields) *string { return &t.Deployment }, "label:"+clusterv1.MachineDeploymentNameLabel),
			Text(func(t *groupFields) *string { return &t.rarely().NamingTemplate }, "spec.machineNaming.template", "spec.machineNamingStrategy.template"),
			Count(func(t *groupFields) *Number { return &t.Desired }, "spec.replicas"),
			Count(func(t *groupFields) *Number { return &t.Replicas }, "status.replicas"),
			Raw(func(t *groupFields) *string { return &t.Selector }, "spec.selector"), // before labels, see labelsOf
			labelsOf(func(t *groupFields) *Labels { return &t.Labels }, "metadata.labels"),
			labelsOf(func(t *groupFields) *Labels { return &t.TemplateLabels }, "spec.template.metadata.labels"),
			Text(func(t *groupFields) *string { return &t.rarely().ManagedBy }, "annotation:"+clusterv1.ReplicasManagedByAnnotation),
			Present(func(t *groupFields) *bool { return &t.Managed }, "annotation:"+clusterv1.ReplicasManagedByAnnotation),
			Present(func(t *groupFields) *bool { return &t.Autoscaled }, "annotation:"+clusterv1.AutoscalerMinSizeAnnotation, "annotation:"+clusterv1.AutoscalerMaxSizeAnnotation),
			Present(func(t *groupFields) *bool { return &t.Argo }, "label:argocd.argoproj.io/instance", "annotation:argocd.argoproj.io/tracking-id"),
			Present(func(t *groupFields) *bool { return &t.Flux }, "label:kustomize.toolkit.fluxcd.io/name", "label:helm.toolkit.fluxcd.io/name"),
			Present(func(t *groupFields) *bool { return &t.Helm }, "annotation:meta.helm.sh/release-name"),
			Text(func(t *groupFields) *string { return &t.rarely().Installer }, "label:app.kubernetes.io/managed-by"),
			{paths: []string{"metadata.managedFields[].manager"}, read: readManagers},
			Text(func(t *groupFields) *string { return &t.rarely().Least }, "annotation:"+clusterv1.AutoscalerMinSizeAnnotation),
			Text(func(t *groupFields) *string { return &t.Version }, "spec.template.spec.version"),
			Text(func(t *groupFields) *string { return &t.FailureDomain }, "spec.template.spec.failureDomain"),
			Text(func(t *groupFields) *string { return &t.rarely().BootstrapSecret }, "spec.template.spec.bootstrap.dataSecretName"),
			Flag(func(t *groupFields) *bool { return &t.Halted }, "spec.paused"),
			Text(func(t *groupFields) *string { return &t.Strategy }, "spec.rollout.strategy.type", "spec.strategy.type"),
			Text(func(t *groupFields) *string { return &t.rarely().RolloutAfter }, "spec.rollout.after", "spec.rolloutAfter"),
			Text(func(t *groupFields) *string { return &t.NoCreate }, "annotation:"+clusterv1.DisableMachineCreateAnnotation),
			Text(func(t *groupFields) *string { return &t.rarely().SkippedChecks }, "annotation:"+clusterv1.MachineSetSkipPreflightChecksAnnotation),
			Texts(func(t *groupFields) *[]string { return &t.rarely().Members }, "spec.providerIDList[]"),
			Raw(func(t *groupFields) *string { return &t.rarely().MaxInFlight }, "spec.remediation.maxInFlight", "spec.strategy.remediation.maxInFlight"),
			// Conditions of v1beta2 as v1.9.0 writes them, and references as v1.11.0 does.
			Present(func(t *groupFields) *bool { return &t.Recent }, "status.v1beta2", "spec.template.spec.infrastructureRef.apiGroup"),
		},
		reference(func(t *groupFields) *Ref { return &t.Infrastructure }, "spec.template.spec.infrastructureRef"),
		reference(func(t *groupFields) *Ref { return &t.Bootstrap }, "spec.template.spec.bootstrap.configRef"),
	)...))
}

// managedBy says who sets the replicas instead of the operator, or is empty. Cluster
// API takes every value of the annotation but "false" for yes, also an empty one
// (util/annotations/helpers.go v1.14.0).
func (t *groupFields) managedBy(rare *rareGroupFields) string {
	switch {
	case !t.Managed || rare.ManagedBy == "false":
		return ""
	case rare.ManagedBy == "" || rare.ManagedBy == "true":
		return "an autoscaler outside Cluster API"
	}
	return rare.ManagedBy
}

// applies are the field managers of tools that set objects to their manifests again (Argo CD
// common/common.go v3.0, kustomize-controller and helm-controller of Flux v2, Helm v3).
var applies = map[string]string{
	"argocd-controller": "Argo CD", "argocd-application-controller": "Argo CD", "kustomize-controller": "Flux", "helm-controller": "Flux", "helm": "Helm", "Helm": "Helm",
}

// appliedBy names the tool that sets the group to its manifest again, replicas too, or is empty.
func (t *groupFields) appliedBy(rare *rareGroupFields) string {
	switch {
	case t.Argo:
		return "Argo CD"
	case t.Flux:
		return "Flux"
	case t.Helm:
		return "Helm"
	}
	return cmp.Or(rare.Installer, rare.Manager)
}

// readManagers looks for the tools of [applies] among the managers of a group's fields.
func readManagers(t *groupFields, f scan.Found, m *memory, _ *usage) error {
	for _, v := range f.Values {
		if !v.IsString() {
			return errNotString
		}
		manager, err := m.content(v)
		if err != nil {
			return err
		}
		if by := applies[string(manager)]; by != "" {
			t.rarely().Manager = cmp.Or(t.rarely().Manager, by)
		}
	}
	return nil
}

// groupKinds are the kinds of machine groups. Before Cluster API v0.4 MachinePools
// had a group of their own (exp/api/v1alpha3/groupversion_info.go v0.3.25).
var groupKinds = []struct {
	name string
	kind *Kind[groupFields]
}{
	{"MachineDeployment", newGroupKind("machinedeployments." + coreGroup)},
	{"MachinePool", newGroupKind("machinepools." + coreGroup)},
	{"MachinePool", newGroupKind("machinepools.exp." + coreGroup)},
	{"MachineSet", newGroupKind("machinesets." + coreGroup)},
}

type controlPlaneFields struct {
	Kind, NamingTemplate string
	Desired, Replicas    Number
	ExternalEtcd         bool
	Infrastructure       Ref
	Version              string
	RolloutAfter         string
	CertificateDays      Number
	Updated              Number
	UpToDate             *Condition
	Generation, Observed Number
	MaxRetry             Number
	MinHealthy           string // JSON: a number of seconds, or a duration as a string
	Strategy             string
}

func newControlPlaneKind(resource string) *Kind[controlPlaneFields] {
	return alone("a control plane with the same uid", NewKind(resource, append(
		reference(func(t *controlPlaneFields) *Ref { return &t.Infrastructure },
			"spec.machineTemplate.spec.infrastructureRef", "spec.machineTemplate.infrastructureRef", "spec.infrastructureTemplate",
			"spec.infrastructureRef"), // the last one of RKE2ControlPlane up to v1beta1
		Text(func(t *controlPlaneFields) *string { return &t.Kind }, "kind"),
		Text(func(t *controlPlaneFields) *string { return &t.NamingTemplate }, "spec.machineNaming.template", "spec.machineNamingStrategy.template"),
		Count(func(t *controlPlaneFields) *Number { return &t.Desired }, "spec.replicas"),
		Count(func(t *controlPlaneFields) *Number { return &t.Replicas }, "status.replicas"),
		Present(func(t *controlPlaneFields) *bool { return &t.ExternalEtcd }, "spec.kubeadmConfigSpec.clusterConfiguration.etcd.external"),
		Text(func(t *controlPlaneFields) *string { return &t.Version }, "spec.version"),
		Text(func(t *controlPlaneFields) *string { return &t.RolloutAfter }, "spec.rollout.after", "spec.rolloutAfter"),
		Count(func(t *controlPlaneFields) *Number { return &t.CertificateDays }, "spec.rollout.before.certificatesExpiryDays", "spec.rolloutBefore.certificatesExpiryDays"),
		Count(func(t *controlPlaneFields) *Number { return &t.Updated }, "status.upToDateReplicas", "status.v1beta2.upToDateReplicas", "status.updatedReplicas"),
		Failing(func(t *controlPlaneFields) *Condition { t.UpToDate = new(Condition); return t.UpToDate }, "status.conditions", "MachinesSpecUpToDate"),
		Count(func(t *controlPlaneFields) *Number { return &t.Generation }, "metadata.generation"),
		Count(func(t *controlPlaneFields) *Number { return &t.Observed }, "status.observedGeneration"),
		Count(func(t *controlPlaneFields) *Number { return &t.MaxRetry }, "spec.remediation.maxRetry", "spec.remediationStrategy.maxRetry"),
		Text(func(t *controlPlaneFields) *string { return &t.Strategy }, "spec.updateStrategy", "spec.rolloutStrategy.type", "spec.rollout.strategy.type", "spec.upgradeStrategy"),
		Raw(func(t *controlPlaneFields) *string { return &t.MinHealthy }, "spec.remediation.minHealthyPeriodSeconds", "spec.remediationStrategy.minHealthyPeriod"),
	)...))
}

type infraClusterFields struct {
	Kind     string
	Endpoint endpointFields
	Managed  bool // by somebody else than its own controller
}

func newInfraClusterKind(resource string) *Kind[infraClusterFields] {
	return alone("an infrastructure cluster with the same uid", NewKind(resource, join(
		one(Text(func(t *infraClusterFields) *string { return &t.Kind }, "kind")),
		one(Present(func(t *infraClusterFields) *bool { return &t.Managed }, "annotation:"+clusterv1.ManagedByAnnotation)),
		endpoint(func(t *infraClusterFields) *endpointFields { return &t.Endpoint }),
	)...))
}

// namespaceKind keeps Namespace kube-system, whose uid is as good as that of
// the management cluster.
var namespaceKind = alone("Namespace kube-system with the same uid", NewKind[struct{}]("namespaces").Named("kube-system"))

func alone[T any](what string, k *Kind[T]) *Kind[T] {
	k.alone = what
	return k
}

// coreKinds are read from every backup, whatever providers want.
var coreKinds = func() []AnyKind {
	kinds := append([]AnyKind{clusterKind, classKind, configKind, machineKind, namespaceKind}, selfKinds...)
	for _, g := range groupKinds {
		kinds = append(kinds, g.kind)
	}
	return kinds
}()

// isControlPlane reports whether a resource holds control planes: everything in
// their group but templates.
func isControlPlane(resource string) bool {
	name, group, _ := strings.Cut(resource, ".")
	return group == controlPlaneGroup && !strings.HasSuffix(name, "templates")
}

// isInfraCluster reports whether a resource holds infrastructure clusters, of
// whatever provider.
func isInfraCluster(resource string) bool {
	name, group, _ := strings.Cut(resource, ".")
	return strings.HasSuffix(name, "clusters") && isInfrastructure(group)
}

func isInfrastructure(group string) bool {
	return group == infrastructureGroup || strings.HasSuffix(group, "."+infrastructureGroup)
}

// isReferredTo reports whether clusters, machines and what makes them refer to objects of
// a resource: templates, what bootstraps machines, of whatever provider, and extensions.
func isReferredTo(resource string) bool {
	name, group, _ := strings.Cut(resource, ".")
	return group == bootstrapGroup || resource == "extensionconfigs."+runtimeGroup || strings.HasSuffix(name, "templates") && (group == controlPlaneGroup || isInfrastructure(group))
}

// isClusterAPI reports whether a group is of those that describe clusters and machines.
func isClusterAPI(group string) bool {
	return group == coreGroup || group == "exp."+coreGroup || group == controlPlaneGroup || isInfrastructure(group)
}

//
//go:noinline
func one[T any](f Field[T]) []Field[T] { return []Field[T]{f} }

//
//go:noinline
func join[T any](lists ...[]Field[T]) []Field[T] {
	var all []Field[T]
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
