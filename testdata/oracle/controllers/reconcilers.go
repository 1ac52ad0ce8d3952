package oracle

import (
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	runtimecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrapcontrollers "sigs.k8s.io/cluster-api/bootstrap/kubeadm/controllers"
	"sigs.k8s.io/cluster-api/controllers"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/internal"
	kcpcontrollers "sigs.k8s.io/cluster-api/controlplane/kubeadm/internal/controllers"
)

var clusterResource = schema.GroupResource{Group: clusterv1.GroupVersion.Group, Resource: "clusters"}

// start serves the objects, and makes all controllers again, as a manager does that
// starts: their caches are empty.
func (e *Engine) start(objs []client.Object) error {
	e.memory, e.answers = newMemory(), answers{}
	e.client = e.newClient(objs)
	m, err := e.newManager()
	if err != nil {
		return err
	}
	e.controllers = nil
	for _, s := range e.setups(m) {
		m.added = nil
		if err := s.setup(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, r := range m.added {
			if r, is := r.(reconcile.Reconciler); is {
				e.controllers = append(e.controllers, controller{s.name, s.kind, r})
			}
		}
		if n := len(e.controllers); n == 0 || e.controllers[n-1].name != s.name {
			return fmt.Errorf("%s: it started nothing", s.name)
		}
		// Cluster API has a switch for the fake client, which is not exported. The
		// controller of MachineSets is made inside of another type.
		if s.name == "machineset" && !setDeep(reflect.ValueOf(e.controllers[len(e.controllers)-1].r), fakeClientSwitch, 0) {
			return fmt.Errorf("%s: it has no switch for the fake client", s.name)
		}
	}
	return nil
}

const fakeClientSwitch = "disableRemoveManagedFieldsForLabelsAndAnnotations"

type setup struct {
	name  string
	kind  client.ObjectList
	setup func() error
}

// setups returns the controllers of Cluster API with the options of its own main functions.
func (e *Engine) setups(m *recordingManager) []setup {
	c, ctx, cc, opts := e.client, e.ctx, e.cache, runtimecontroller.Options{}
	return []setup{
		{"cluster", &clusterv1.ClusterList{}, func() error {
			return (&controllers.ClusterReconciler{Client: c, APIReader: c, ClusterCache: cc, RemoteConnectionGracePeriod: 50 * time.Second}).SetupWithManager(ctx, m, opts)
		}},
		{"clusterclass", &clusterv1.ClusterClassList{}, func() error {
			return (&controllers.ClusterClassReconciler{Client: c}).SetupWithManager(ctx, m, opts)
		}},
		{"topology", &clusterv1.ClusterList{}, func() error {
			return (&controllers.ClusterTopologyReconciler{Client: c, APIReader: c, ClusterCache: cc}).SetupWithManager(ctx, m, opts)
		}},
		{"machinedeployment topology", &clusterv1.MachineDeploymentList{}, func() error {
			return (&controllers.MachineDeploymentTopologyReconciler{Client: c, APIReader: c}).SetupWithManager(ctx, m, opts)
		}},
		{"machineset topology", &clusterv1.MachineSetList{}, func() error {
			return (&controllers.MachineSetTopologyReconciler{Client: c, APIReader: c}).SetupWithManager(ctx, m, opts)
		}},
		{"kubeadmcontrolplane", &controlplanev1.KubeadmControlPlaneList{}, func() error {
			r := e.kubeadmControlPlane()
			return r.SetupWithManager(ctx, m, opts)
		}},
		{"machinedeployment", &clusterv1.MachineDeploymentList{}, func() error {
			return (&controllers.MachineDeploymentReconciler{Client: c, APIReader: c}).SetupWithManager(ctx, m, opts)
		}},
		{"machineset", &clusterv1.MachineSetList{}, func() error {
			return (&controllers.MachineSetReconciler{Client: c, APIReader: c, ClusterCache: cc, PreflightChecks: sets.New(clusterv1.MachineSetPreflightCheckAll)}).SetupWithManager(ctx, m, opts)
		}},
		{"machinepool", &clusterv1.MachinePoolList{}, func() error {
			return (&controllers.MachinePoolReconciler{Client: c, APIReader: c, ClusterCache: cc}).SetupWithManager(ctx, m, opts)
		}},
		{"machine", &clusterv1.MachineList{}, func() error {
			return (&controllers.MachineReconciler{Client: c, APIReader: c, ClusterCache: cc, RemoteConditionsGracePeriod: 5 * time.Minute}).SetupWithManager(ctx, m, opts)
		}},
		{"kubeadmconfig", &bootstrapv1.KubeadmConfigList{}, func() error {
			return (&bootstrapcontrollers.KubeadmConfigReconciler{Client: c, SecretCachingClient: e.throughCache(secretsOfClusters(), true), ClusterCache: cc, TokenTTL: 15 * time.Minute}).SetupWithManager(ctx, m, opts)
		}},
		{"machinehealthcheck", &clusterv1.MachineHealthCheckList{}, func() error {
			return (&controllers.MachineHealthCheckReconciler{Client: c, ClusterCache: cc}).SetupWithManager(ctx, m, opts)
		}},
	}
}

func (e *Engine) kubeadmControlPlane() *kcpcontrollers.KubeadmControlPlaneReconciler {
	c, secrets := e.throughCache(planeCache(), false), e.throughCache(planeCache(), true)
	r := &kcpcontrollers.KubeadmControlPlaneReconciler{
		Client: c, APIReader: e.client, SecretCachingClient: secrets, ClusterCache: e.cache,
		EtcdDialTimeout: time.Second, EtcdCallTimeout: time.Second, RemoteConditionsGracePeriod: 5 * time.Minute,
	}
	m := &management{&internal.Management{Client: c, SecretCachingClient: secrets, ClusterCache: e.cache, ClientCertCache: clientCerts{}}, e}
	for _, field := range managementFields {
		setUnexported(r, field, internal.ManagementCluster(m))
	}
	setUnexported(r, fakeClientSwitch, true)
	return r
}

// recordingManager starts nothing: it only keeps what is to be started.
type recordingManager struct {
	manager.Manager
	e     *Engine
	added []manager.Runnable
	hooks *webhookServer
}

func (m *recordingManager) Add(r manager.Runnable) error { m.added = append(m.added, r); return nil }

func (m *recordingManager) GetEventRecorderFor(string) record.EventRecorder { return recorder{m.e} }

func (e *Engine) newManager() (*recordingManager, error) {
	skip := true
	m, err := manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, manager.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", Logger: logr.Discard(),
		Controller:     config.Controller{SkipNameValidation: &skip},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
		NewClient:      func(*rest.Config, client.Options) (client.Client, error) { return e.client, nil },
		NewCache: func(*rest.Config, cache.Options) (cache.Cache, error) {
			return &informertest.FakeInformers{Scheme: scheme}, nil
		},
	})
	return &recordingManager{Manager: m, e: e, hooks: &webhookServer{hooks: map[string]*admission.Webhook{}}}, err
}

// recorder logs events that say what a controller decided.
type recorder struct{ e *Engine }

func (r recorder) Event(o runtime.Object, _, reason, message string) {
	switch reason {
	case "SuccessfulCreate", "SuccessfulDelete", "MachineMarkedUnhealthy", "FailedCreate", "FailedDelete", "ControlPlaneUnhealthy", "RemediationRestricted":
		r.e.trace("event %s: %s: %.200s", named(o.(client.Object)), reason, message)
	}
}

func (r recorder) Eventf(o runtime.Object, kind, reason, format string, a ...any) {
	r.Event(o, kind, reason, fmt.Sprintf(format, a...))
}

func (r recorder) AnnotatedEventf(o runtime.Object, _ map[string]string, kind, reason, format string, a ...any) {
	r.Event(o, kind, reason, fmt.Sprintf(format, a...))
}
