package releases

import (
	"fmt"
	"testing"
)

const (
	anyPod  = `"dnsPolicy":"ClusterFirst","restartPolicy":"%s","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":"i:1","imagePullPolicy":"IfNotPresent","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}]`
	aPod    = "containers: [{name: c, image: 'i:1'}]"
	ignores = `"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]}`
	cpu80   = `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`
)

// What kube-apiserver v1.35 makes of what charts write, by its own code (pkg/apis/*/v1/defaults.go
// and its types): without drift nothing is changed.
func TestWhatTheAPIServerMakes(t *testing.T) {
	never, always := fmt.Sprintf(anyPod, "Never"), fmt.Sprintf(anyPod, "Always")
	for _, c := range []struct{ name, resource, namespace, live, manifest string }{
		{"a condition's status in a Job", "jobs.batch", "shop", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"backoffLimit":6,` + ignores + `,"template":{"metadata":{},"spec":{` + never + `}}}}`, "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}, template: {spec: {restartPolicy: Never, " + aPod + "}}}}"},
		{"a CronJob's template, which has no defaults of a Job", "cronjobs.batch", "shop", `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"a"},"spec":{"schedule":"@daily","suspend":false,"concurrencyPolicy":"Allow","jobTemplate":{"metadata":{},"spec":{` + ignores + `,"template":{"metadata":{},"spec":{` + never + `}}}}}}`, "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {schedule: '@daily', suspend: null, jobTemplate: {spec: {suspend: null, parallelism: null, podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}, template: {spec: {restartPolicy: Never, " + aPod + "}}}}}}"},
		{"an emptyDir without braces", "deployments.apps", "shop", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` + always + `,"volumes":[{"name":"tmp","emptyDir":{}}]}}}}`, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + aPod + ", volumes: [{name: tmp, emptyDir: null}]}}}}"},
		{"rolling updates of a StatefulSet", "statefulsets.apps", "shop", `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"a"},"spec":{"serviceName":"a","updateStrategy":{"type":"RollingUpdate"},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` + always + `}}}}`, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {serviceName: a, updateStrategy: {type: RollingUpdate, rollingUpdate: null}, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + aPod + "}}}}"},
		{"a strategy that the server chose", "statefulsets.apps", "shop", `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"a"},"spec":{"serviceName":"a","updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":1}},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` + always + `}}}}`, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {serviceName: a, updateStrategy: null, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + aPod + "}}}}"},
		{"an autoscaler without metrics", "horizontalpodautoscalers.autoscaling", "shop", `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"minReplicas":1,"maxReplicas":5,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"},"metrics":` + cpu80 + `}}`, "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {minReplicas: 1, maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}, metrics: null}}"},
		{"configuration of an affinity that is None", "services", "shop", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"type":"ClusterIP","sessionAffinity":"None","selector":{"a":"b"},"ports":[{"port":80,"protocol":"TCP","targetPort":80}]}}`, "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {sessionAffinity: None, sessionAffinityConfig: {clientIP: {timeoutSeconds: 100}}, selector: {a: b}, ports: [{port: 80}]}}"},
		{"an external name", "services", "shop", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"type":"ExternalName","externalName":"b.example","sessionAffinity":"None"}}`, "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: ExternalName, externalName: b.example, internalTrafficPolicy: null}}"},
		{"empty selectors of a NetworkPolicy", "networkpolicies.networking.k8s.io", "shop", `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"a"},"spec":{"podSelector":{},"policyTypes":["Ingress"],"ingress":[{"from":[{"podSelector":{}}]}]}}`, "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {matchLabels: {}}, ingress: [{from: [{podSelector: {matchLabels: {}}}]}]}}"},
		{"an empty selector of a PodDisruptionBudget", "poddisruptionbudgets.policy", "shop", `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"a"},"spec":{"minAvailable":1,"selector":{}}}`, "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 1, selector: {matchLabels: {}}}}"},
		{"a StorageClass without parameters", "storageclasses.storage.k8s.io", "", `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"a"},"provisioner":"x","reclaimPolicy":"Delete","volumeBindingMode":"Immediate"}`, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}, provisioner: x, parameters: {}}"},
		{"a port without a name", "ingresses.networking.k8s.io", "shop", `{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"a"},"spec":{"rules":[{"host":"a","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}}]}}]}}`, "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {rules: [{host: a, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: {name: '', number: 80}}}}]}}]}}"},
		{"a driver without lifecycle modes", "csidrivers.storage.k8s.io", "", `{"apiVersion":"storage.k8s.io/v1","kind":"CSIDriver","metadata":{"name":"a"},"spec":{"attachRequired":true,"podInfoOnMount":false,"fsGroupPolicy":"ReadWriteOnceWithFSType","volumeLifecycleModes":["Persistent"]}}`, "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: a}, spec: {attachRequired: true, volumeLifecycleModes: null}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := upgrades(repaired(t).with(t, c.resource, c.namespace, c.live, c.manifest)); got != "; ; " {
				t.Error(got)
			}
		})
	}
}
