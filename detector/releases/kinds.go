package releases

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a built-in kind of one API version.
type kind struct {
	resource string // as Velero names the folder: "deployments.apps"
	cluster  bool   // cluster-scoped
	// new makes one of Kubernetes' type, which makes quantities canonical. It is nil for
	// kinds without any, of which the schema is enough: a package of types is up to
	// 400 kB of the program.
	new func() any
}

func namespaced[T any](resource string) kind {
	return kind{resource, false, func() any { return new(T) }}
}

func global[T any](resource string) kind { return kind{resource, true, func() any { return new(T) }} }

// builtin is by API version and kind.
var builtin = map[string]kind{
	"v1 ConfigMap":             namespaced[corev1.ConfigMap]("configmaps"),
	"v1 Secret":                namespaced[corev1.Secret]("secrets"),
	"v1 Service":               namespaced[corev1.Service]("services"),
	"v1 ServiceAccount":        namespaced[corev1.ServiceAccount]("serviceaccounts"),
	"v1 PersistentVolumeClaim": namespaced[corev1.PersistentVolumeClaim]("persistentvolumeclaims"),
	"v1 PersistentVolume":      global[corev1.PersistentVolume]("persistentvolumes"),
	"v1 Pod":                   namespaced[corev1.Pod]("pods"),
	"v1 Namespace":             global[corev1.Namespace]("namespaces"),
	"v1 Endpoints":             {resource: "endpoints"},
	"v1 LimitRange":            namespaced[corev1.LimitRange]("limitranges"),
	"v1 ResourceQuota":         namespaced[corev1.ResourceQuota]("resourcequotas"),
	"v1 ReplicationController": namespaced[corev1.ReplicationController]("replicationcontrollers"),
	"v1 PodTemplate":           namespaced[corev1.PodTemplate]("podtemplates"),

	"apps/v1 Deployment":  namespaced[appsv1.Deployment]("deployments.apps"),
	"apps/v1 StatefulSet": namespaced[appsv1.StatefulSet]("statefulsets.apps"),
	"apps/v1 DaemonSet":   namespaced[appsv1.DaemonSet]("daemonsets.apps"),
	"apps/v1 ReplicaSet":  namespaced[appsv1.ReplicaSet]("replicasets.apps"),
	"batch/v1 Job":        namespaced[batchv1.Job]("jobs.batch"),
	"batch/v1 CronJob":    namespaced[batchv1.CronJob]("cronjobs.batch"),

	"autoscaling/v1 HorizontalPodAutoscaler": {resource: "horizontalpodautoscalers.autoscaling"},
	"autoscaling/v2 HorizontalPodAutoscaler": {resource: "horizontalpodautoscalers.autoscaling"},

	"networking.k8s.io/v1 Ingress":       {resource: "ingresses.networking.k8s.io"},
	"networking.k8s.io/v1 IngressClass":  {resource: "ingressclasses.networking.k8s.io", cluster: true},
	"networking.k8s.io/v1 NetworkPolicy": {resource: "networkpolicies.networking.k8s.io"},
	"policy/v1 PodDisruptionBudget":      {resource: "poddisruptionbudgets.policy"},
	"coordination.k8s.io/v1 Lease":       {resource: "leases.coordination.k8s.io"},
	"discovery.k8s.io/v1 EndpointSlice":  {resource: "endpointslices.discovery.k8s.io"},

	"rbac.authorization.k8s.io/v1 Role":               {resource: "roles.rbac.authorization.k8s.io"},
	"rbac.authorization.k8s.io/v1 RoleBinding":        {resource: "rolebindings.rbac.authorization.k8s.io"},
	"rbac.authorization.k8s.io/v1 ClusterRole":        {resource: "clusterroles.rbac.authorization.k8s.io", cluster: true},
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding": {resource: "clusterrolebindings.rbac.authorization.k8s.io", cluster: true},
	"scheduling.k8s.io/v1 PriorityClass":              {resource: "priorityclasses.scheduling.k8s.io", cluster: true},
	"storage.k8s.io/v1 StorageClass":                  {resource: "storageclasses.storage.k8s.io", cluster: true},
	"storage.k8s.io/v1 CSIDriver":                     {resource: "csidrivers.storage.k8s.io", cluster: true},

	"storage.k8s.io/v1 VolumeAttributesClass": {resource: "volumeattributesclasses.storage.k8s.io", cluster: true},
	"node.k8s.io/v1 RuntimeClass":             {resource: "runtimeclasses.node.k8s.io", cluster: true},

	"flowcontrol.apiserver.k8s.io/v1 FlowSchema":                 {resource: "flowschemas.flowcontrol.apiserver.k8s.io", cluster: true},
	"flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration": {resource: "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", cluster: true},
	"certificates.k8s.io/v1 CertificateSigningRequest":           {resource: "certificatesigningrequests.certificates.k8s.io", cluster: true},

	"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration":   {resource: "validatingwebhookconfigurations.admissionregistration.k8s.io", cluster: true},
	"admissionregistration.k8s.io/v1 MutatingWebhookConfiguration":     {resource: "mutatingwebhookconfigurations.admissionregistration.k8s.io", cluster: true},
	"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy":        {resource: "validatingadmissionpolicies.admissionregistration.k8s.io", cluster: true},
	"admissionregistration.k8s.io/v1 MutatingAdmissionPolicy":          {resource: "mutatingadmissionpolicies.admissionregistration.k8s.io", cluster: true},
	"admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding":   {resource: "mutatingadmissionpolicybindings.admissionregistration.k8s.io", cluster: true},
	"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding": {resource: "validatingadmissionpolicybindings.admissionregistration.k8s.io", cluster: true},
}

// builtinResource says where Velero keeps a kind whatever its version, by group and kind.
var builtinResource = func() map[schema.GroupKind]kind {
	out := map[schema.GroupKind]kind{}
	for id, k := range builtin {
		version, name, _ := strings.Cut(id, " ")
		out[schema.FromAPIVersionAndKind(version, name).GroupKind()] = k
	}
	for _, id := range []schema.GroupKind{{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, {Group: "apiregistration.k8s.io", Kind: "APIService"}} {
		out[id] = kind{resource: guess(id), cluster: true}
	}
	return out
}()

// unknownTypes are the kinds of Kubernetes that it serves as custom resources are.
var unknownTypes = map[string]bool{"CustomResourceDefinition": true, "APIService": true}

// guess returns the folder of a kind by the rule that nearly all follow.
func guess(id schema.GroupKind) string {
	plural, _ := meta.UnsafeGuessKindToResource(id.WithVersion("v1"))
	return plural.GroupResource().String()
}

// builtinGroups are the groups of which nothing is a custom resource.
var builtinGroups = func() map[string]bool {
	out := map[string]bool{"resource.k8s.io": true}
	for id := range builtinResource {
		out[id.Group] = true
	}
	return out
}()

// guessed returns the folder of a kind without a definition: of those that its plural could be, the
// one that the backup has.
func (c *Collector) guessed(id schema.GroupKind) string {
	first := guess(id)
	for _, ending := range []string{"s", "es", ""} {
		if plural := (schema.GroupResource{Group: id.Group, Resource: strings.ToLower(id.Kind) + ending}).String(); !c.resources[first] && c.resources[plural] {
			return plural
		}
	}
	return first
}

// typeName returns what client-go's schema calls a built-in type.
func typeName(apiVersion, kind string) string {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "core", apiVersion
	}
	group, _, _ = strings.Cut(group, ".")
	return "io.k8s.api." + group + "." + version + "." + kind
}
