package oracle

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
)

const infraGroup = "infrastructure.cluster.x-k8s.io"

// infraKinds are the kinds of CAPV, which are not typed here: CAPV is not linked.
var infraKinds = []string{"VSphereCluster", "VSphereMachine", "VSphereVM", "VSphereMachineTemplate", "VSphereClusterTemplate"}

func infraGVK(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: infraGroup, Version: "v1beta2", Kind: kind}
}

func infraObject(kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(infraGVK(kind))
	return u
}

func infraList(kind string) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(infraGVK(kind + "List"))
	return l
}

var scheme = newScheme()

// newScheme has few kinds: the fake client makes a mapper of all of them for each apply.
func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		few(corev1.SchemeGroupVersion, &corev1.Secret{}, &corev1.SecretList{}, &corev1.ConfigMap{}, &corev1.ConfigMapList{}, &corev1.Namespace{}, &corev1.NamespaceList{},
			&corev1.Node{}, &corev1.NodeList{}, &corev1.Pod{}, &corev1.PodList{}, &corev1.PersistentVolume{}, &corev1.PersistentVolumeList{}),
		few(appsv1.SchemeGroupVersion, &appsv1.Deployment{}, &appsv1.DaemonSet{}, &appsv1.DaemonSetList{}),
		few(rbacv1.SchemeGroupVersion, &rbacv1.Role{}, &rbacv1.RoleBinding{}, &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}),
		few(storagev1.SchemeGroupVersion, &storagev1.VolumeAttachment{}, &storagev1.VolumeAttachmentList{}),
		few(policyv1.SchemeGroupVersion, &policyv1.Eviction{}), coordinationv1.AddToScheme,
		few(apiextensionsv1.SchemeGroupVersion, &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinitionList{}),
		clusterv1.AddToScheme, bootstrapv1.AddToScheme, controlplanev1.AddToScheme, addonsv1.AddToScheme, ipamv1.AddToScheme, runtimev1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	for _, k := range infraKinds {
		s.AddKnownTypeWithName(infraGVK(k), &unstructured.Unstructured{})
		s.AddKnownTypeWithName(infraGVK(k+"List"), &unstructured.UnstructuredList{})
	}
	infra := schema.GroupVersion{Group: infraGroup, Version: "v1beta2"}
	metav1.AddToGroupVersion(s, infra)
	if err := s.SetVersionPriority(infra); err != nil {
		panic(err)
	}
	return s
}

// few returns the kinds of a group of Kubernetes that are read or written here.
func few(of schema.GroupVersion, kinds ...runtime.Object) func(*runtime.Scheme) error {
	return func(s *runtime.Scheme) error {
		s.AddKnownTypes(of, kinds...)
		metav1.AddToGroupVersion(s, of)
		return nil
	}
}

var mapper = newMapper()

func newMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(scheme.PrioritizedVersionsAllGroups())
	for gvk := range scheme.AllKnownTypes() {
		if strings.HasSuffix(gvk.Kind, "Options") || gvk.Version == runtime.APIVersionInternal {
			continue
		}
		var scope meta.RESTScope = meta.RESTScopeNamespace
		switch gvk.Kind {
		case "CustomResourceDefinition", "Node", "Namespace", "ClusterRole", "ClusterRoleBinding", "ExtensionConfig", "VolumeAttachment", "PersistentVolume":
			scope = meta.RESTScopeRoot
		}
		m.Add(gvk, scope)
	}
	return m
}

// crds returns definitions that have nothing but the labels by which Cluster API finds the version of a contract.
func crds() []client.Object {
	var all []client.Object
	add := func(group, kind string) {
		plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: group, Version: "v1beta2", Kind: kind})
		all = append(all, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{
				Name: plural.Resource + "." + group, UID: uuid.NewUUID(),
				Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta2"},
			},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group:    group,
				Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural.Resource},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1beta2", Served: true, Storage: true}},
			},
		})
	}
	for _, k := range infraKinds {
		add(infraGroup, k)
	}
	for _, k := range []string{"KubeadmConfig", "KubeadmConfigTemplate"} {
		add("bootstrap.cluster.x-k8s.io", k)
	}
	for _, k := range []string{"KubeadmControlPlane", "KubeadmControlPlaneTemplate"} {
		add("controlplane.cluster.x-k8s.io", k)
	}
	return all
}

// typed returns the object as the Go type of its kind, if that is known.
func typed(o *unstructured.Unstructured) client.Object {
	t, err := scheme.New(o.GroupVersionKind())
	if err != nil {
		panic(err)
	}
	if _, is := t.(*unstructured.Unstructured); is {
		return o
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, t); err != nil {
		panic(o.GetKind() + " " + o.GetName() + ": " + err.Error())
	}
	return t.(client.Object)
}

// named returns an object by kind and name, for people.
func named(o client.Object) string { return kindOf(o) + " " + o.GetName() }

func kindOf(o runtime.Object) string { return gvkOf(o).Kind }

func gvkOf(o runtime.Object) schema.GroupVersionKind {
	gvk, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		panic(err)
	}
	return gvk
}
