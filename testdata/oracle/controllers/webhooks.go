package oracle

import (
	"context"
	"net/http"
	"strings"
	"sync"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	kcpwebhooks "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks"
	"sigs.k8s.io/cluster-api/webhooks"
)

// webhookServer serves nothing: it only keeps what is to be served.
type webhookServer struct {
	webhook.Server
	hooks map[string]*admission.Webhook // by path
}

func (s *webhookServer) Register(path string, h http.Handler) {
	if w, is := h.(*admission.Webhook); is {
		s.hooks[path] = w
	}
}

func (s *webhookServer) WebhookMux() *http.ServeMux { return nil }

func (m *recordingManager) GetWebhookServer() webhook.Server { return m.hooks }

// hooks are Cluster API's own webhooks for objects that others than users write. Those
// of Clusters and classes are not among them: they need the API server.
var hooks = sync.OnceValue(func() map[string]*admission.Webhook {
	m, err := (&Engine{}).newManager()
	if err != nil {
		panic(err)
	}
	for _, h := range []interface{ SetupWebhookWithManager(ctrl.Manager) error }{
		&webhooks.Machine{}, &webhooks.MachineSet{}, &webhooks.MachineDeployment{}, &webhooks.MachineHealthCheck{}, &kcpwebhooks.KubeadmControlPlane{},
	} {
		if err := h.SetupWebhookWithManager(m); err != nil {
			panic(err)
		}
	}
	return m.hooks.hooks
})

func hook(verb string, o *unstructured.Unstructured) *admission.Webhook {
	gvk := o.GroupVersionKind()
	return hooks()["/"+verb+"-"+strings.ReplaceAll(gvk.Group, ".", "-")+"-"+gvk.Version+"-"+strings.ToLower(gvk.Kind)]
}

func admissionOf(o, before *unstructured.Unstructured) admission.Request {
	gvk := o.GroupVersionKind()
	r := admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Kind: metav1.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind},
		Namespace: o.GetNamespace(), Name: o.GetName(), Object: runtime.RawExtension{Raw: asJSON(o.Object)},
	}
	if before != nil {
		r.Operation, r.OldObject = admissionv1.Update, runtime.RawExtension{Raw: asJSON(before.Object)}
	}
	return admission.Request{AdmissionRequest: r}
}

// defaulted sets what the webhooks set in an object that is written. before is the object
// as it was, nil where there was none.
func defaulted(o, before *unstructured.Unstructured) {
	h := hook("mutate", o)
	if h == nil {
		return
	}
	resp := h.Handle(context.Background(), admissionOf(o, before))
	if !resp.Allowed || len(resp.Patch) == 0 {
		return
	}
	patch, err := jsonpatch.DecodePatch(resp.Patch)
	if err != nil {
		panic(err)
	}
	data, err := patch.Apply(asJSON(o.Object))
	if err != nil {
		panic(err)
	}
	o.Object = nil
	if err := unmarshal(data, &o.Object); err != nil {
		panic(err)
	}
}

// invalid returns why the webhooks refuse an object that is created, "" where they do not.
func invalid(o *unstructured.Unstructured) string {
	h := hook("validate", o)
	if h == nil {
		return ""
	}
	resp := h.Handle(context.Background(), admissionOf(o, nil))
	if resp.Allowed {
		return ""
	}
	return resp.Result.Message
}
