package releases

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a built-in kind of one API version.
type kind struct {
	resource string // as Velero names the folder: "deployments.apps"
	cluster  bool   // cluster-scoped
	new      func() any
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
	"v1 Endpoints":             namespaced[corev1.Endpoints]("endpoints"),
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

	"autoscaling/v1 HorizontalPodAutoscaler": namespaced[autoscalingv1.HorizontalPodAutoscaler]("horizontalpodautoscalers.autoscaling"),
	"autoscaling/v2 HorizontalPodAutoscaler": namespaced[autoscalingv2.HorizontalPodAutoscaler]("horizontalpodautoscalers.autoscaling"),

	"networking.k8s.io/v1 Ingress":       namespaced[networkingv1.Ingress]("ingresses.networking.k8s.io"),
	"networking.k8s.io/v1 IngressClass":  global[networkingv1.IngressClass]("ingressclasses.networking.k8s.io"),
	"networking.k8s.io/v1 NetworkPolicy": namespaced[networkingv1.NetworkPolicy]("networkpolicies.networking.k8s.io"),
	"policy/v1 PodDisruptionBudget":      namespaced[policyv1.PodDisruptionBudget]("poddisruptionbudgets.policy"),
	"coordination.k8s.io/v1 Lease":       namespaced[coordinationv1.Lease]("leases.coordination.k8s.io"),
	"discovery.k8s.io/v1 EndpointSlice":  namespaced[discoveryv1.EndpointSlice]("endpointslices.discovery.k8s.io"),

	"rbac.authorization.k8s.io/v1 Role":               namespaced[rbacv1.Role]("roles.rbac.authorization.k8s.io"),
	"rbac.authorization.k8s.io/v1 RoleBinding":        namespaced[rbacv1.RoleBinding]("rolebindings.rbac.authorization.k8s.io"),
	"rbac.authorization.k8s.io/v1 ClusterRole":        global[rbacv1.ClusterRole]("clusterroles.rbac.authorization.k8s.io"),
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding": global[rbacv1.ClusterRoleBinding]("clusterrolebindings.rbac.authorization.k8s.io"),
	"scheduling.k8s.io/v1 PriorityClass":              global[schedulingv1.PriorityClass]("priorityclasses.scheduling.k8s.io"),
	"storage.k8s.io/v1 StorageClass":                  global[storagev1.StorageClass]("storageclasses.storage.k8s.io"),
	"storage.k8s.io/v1 CSIDriver":                     global[storagev1.CSIDriver]("csidrivers.storage.k8s.io"),

	"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration":   global[admissionv1.ValidatingWebhookConfiguration]("validatingwebhookconfigurations.admissionregistration.k8s.io"),
	"admissionregistration.k8s.io/v1 MutatingWebhookConfiguration":     global[admissionv1.MutatingWebhookConfiguration]("mutatingwebhookconfigurations.admissionregistration.k8s.io"),
	"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy":        global[admissionv1.ValidatingAdmissionPolicy]("validatingadmissionpolicies.admissionregistration.k8s.io"),
	"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding": global[admissionv1.ValidatingAdmissionPolicyBinding]("validatingadmissionpolicybindings.admissionregistration.k8s.io"),
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

// guess is the folder of a kind by the rule that nearly all follow.
func guess(id schema.GroupKind) string {
	plural, _ := meta.UnsafeGuessKindToResource(id.WithVersion("v1"))
	return plural.GroupResource().String()
}

// typeName is what client-go's schema calls a built-in type.
func typeName(apiVersion, kind string) string {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "core", apiVersion
	}
	group, _, _ = strings.Cut(group, ".")
	return "io.k8s.api." + group + "." + version + "." + kind
}
