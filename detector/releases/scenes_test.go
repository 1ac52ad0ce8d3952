package releases

import "testing"

// Objects of other kinds, with what a server or a person made of them.
var scenes = []fieldObject{
	{
		"volumeClaimTemplates as a server has them", "statefulsets.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"p"},"spec":{"replicas":1,"podManagementPolicy":"OrderedReady","serviceName":"p","revisionHistoryLimit":10,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"},"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0}},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},"volumeClaimTemplates":[{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"creationTimestamp":null,"name":"data","labels":{"x":"z"}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"8Gi"}},"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}]}}`,
		"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: p}, spec: {replicas: null, updateStrategy: {}, serviceName: p, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}, volumeClaimTemplates: [{metadata: {name: data, labels: {x: z}, annotations: null}, spec: {accessModes: [ReadWriteOnce], storageClassName: null, resources: {requests: {storage: 8Gi}}}}]}}",
		"; ; ",
	},
	{
		"volumeClaimTemplates that grew", "statefulsets.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"p"},"spec":{"replicas":2,"serviceName":"p","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},"volumeClaimTemplates":[{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"9Gi"}},"volumeMode":"Filesystem"}}]}}`,
		"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: p}, spec: {serviceName: p, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 8Gi}}}}]}}",
		"changed; replace /spec/volumeClaimTemplates/0/spec/resources/requests/storage fails; spec.volumeClaimTemplates[0].spec.resources.requests.storage is immutable",
	},
	{
		"a CronJob that was suspended", "cronjobs.batch", "shop",
		`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"p"},"spec":{"schedule":"* * * * *","suspend":true,"concurrencyPolicy":"Allow","successfulJobsHistoryLimit":3,"failedJobsHistoryLimit":1,"jobTemplate":{"metadata":{"creationTimestamp":null},"spec":{"template":{"metadata":{"creationTimestamp":null},"spec":{"restartPolicy":"OnFailure","dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":"i","imagePullPolicy":"Always","resources":{}}]}}}}}}`,
		"{apiVersion: batch/v1, kind: CronJob, metadata: {name: p}, spec: {schedule: '* * * * *', suspend: false, concurrencyPolicy: '', successfulJobsHistoryLimit: null, startingDeadlineSeconds: null, jobTemplate: {spec: {backoffLimit: null, template: {spec: {restartPolicy: OnFailure, containers: [{name: c, image: i, env: null}]}}}}}}",
		"changed; replace /spec/suspend repairs; ",
	},
	{
		"an Ingress", "ingresses.networking.k8s.io", "shop",
		`{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"p"},"spec":{"ingressClassName":"nginx","rules":[{"host":"a","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}}]}}],"tls":[{"hosts":["a"],"secretName":"t"}]}}`,
		"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: p, annotations: null}, spec: {ingressClassName: nginx, rules: [{host: a, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: {number: 80}}}}]}}], tls: [{hosts: [a], secretName: t}]}}",
		"; ; ",
	},
	{
		"an Ingress with a backend of another sort", "ingresses.networking.k8s.io", "shop",
		`{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"p"},"spec":{"ingressClassName":"nginx","defaultBackend":{"resource":{"kind":"B","name":"b"}},"rules":[{"host":"a","http":{"paths":[{"path":"/","pathType":"Exact","backend":{"service":{"name":"s","port":{"number":80}}}}]}}]}}`,
		"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: p}, spec: {ingressClassName: null, defaultBackend: {service: {name: s, port: {number: 80}}}, rules: [{host: a, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: {number: 80}}}}]}}]}}",
		"changed; add /spec/defaultBackend/service fails, replace /spec/rules/0/http/paths/0/pathType fails, remove /spec/ingressClassName fails; spec.defaultBackend has service and resource",
	},
	{
		"behavior that the server filled", "horizontalpodautoscalers.autoscaling", "shop",
		`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"p"},"spec":{"minReplicas":1,"maxReplicas":5,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}],"behavior":{"scaleDown":{"stabilizationWindowSeconds":300,"selectPolicy":"Max","policies":[{"type":"Percent","value":100,"periodSeconds":15}]},"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[{"type":"Pods","value":4,"periodSeconds":15},{"type":"Percent","value":100,"periodSeconds":15}]}}}}`,
		"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: p}, spec: {minReplicas: null, maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}], behavior: {scaleDown: {stabilizationWindowSeconds: 300, selectPolicy: null}, scaleUp: null}}}",
		"; ; ",
	},
	{
		"a NetworkPolicy without policyTypes", "networkpolicies.networking.k8s.io", "shop",
		`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"p"},"spec":{"podSelector":{},"policyTypes":["Ingress"],"ingress":[{"from":[{"podSelector":{"matchLabels":{"a":"b"}}}],"ports":[{"port":80,"protocol":"TCP"}]}]}}`,
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: p}, spec: {podSelector: {}, policyTypes: null, egress: [], ingress: [{from: [{podSelector: {matchLabels: {a: b}}}], ports: [{port: 80}]}]}}",
		"; ; ",
	},
	{
		"a NetworkPolicy that lets all in", "networkpolicies.networking.k8s.io", "shop",
		`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"p"},"spec":{"podSelector":{},"policyTypes":["Ingress"],"ingress":[{}]}}`,
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: p}, spec: {podSelector: {}, policyTypes: [Ingress], ingress: []}}",
		"changed; remove /spec/ingress repairs; ",
	},
	{
		"a NetworkPolicy that lets all in, beside nulls", "networkpolicies.networking.k8s.io", "shop",
		`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"p"},"spec":{"podSelector":{},"policyTypes":["Ingress"],"ingress":[{}]}}`,
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: p}, spec: {podSelector: null, policyTypes: [Ingress], ingress: null}}",
		"changed; remove /spec/ingress repairs; ",
	},
	{
		"an empty list of peers", "networkpolicies.networking.k8s.io", "shop",
		`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"p"},"spec":{"podSelector":{},"policyTypes":["Ingress"],"ingress":[{}]}}`,
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: p}, spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{from: []}]}}",
		"; ; ",
	},
	{
		"a webhook's CA that a controller wrote", "mutatingwebhookconfigurations.admissionregistration.k8s.io", "",
		`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"p","managedFields":[{"manager":"cainjector","operation":"Update","fieldsV1":{"f:webhooks":{"k:{\"name\":\"a\"}":{"f:clientConfig":{"f:caBundle":{}}}}}}]},"webhooks":[{"name":"a","admissionReviewVersions":["v1"],"sideEffects":"None","failurePolicy":"Fail","matchPolicy":"Equivalent","timeoutSeconds":10,"reinvocationPolicy":"Never","namespaceSelector":{},"objectSelector":{},"clientConfig":{"caBundle":"Zm9v","service":{"name":"s","namespace":"shop","port":443,"path":"/x"}},"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"],"scope":"*"}]}]}`,
		"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: p}, webhooks: [{name: a, namespaceSelector: null, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: null, clientConfig: {caBundle: '', service: {name: s, namespace: shop, path: /x, port: null}}, rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods], scope: null}]}]}",
		"changed; remove /webhooks/0/clientConfig/caBundle repairs; ",
	},
	{
		"a webhook with a URL", "mutatingwebhookconfigurations.admissionregistration.k8s.io", "",
		`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"p"},"webhooks":[{"name":"a","admissionReviewVersions":["v1"],"sideEffects":"None","clientConfig":{"url":"https://x"}}]}`,
		"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: p}, webhooks: [{name: a, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {service: {name: s, namespace: shop, path: /x}}}]}",
		"changed; add /webhooks/0/clientConfig/service fails; clientConfig of webhook a has url and service",
	},
	{
		"a Namespace with another label", "namespaces", "",
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"p","labels":{"kubernetes.io/metadata.name":"p","pod-security.kubernetes.io/enforce":"privileged"}},"spec":{"finalizers":["kubernetes"]}}`,
		"{apiVersion: v1, kind: Namespace, metadata: {name: p, labels: {pod-security.kubernetes.io/enforce: restricted}}}",
		"changed; replace /metadata/labels/pod-security.kubernetes.io~1enforce repairs; ",
	},
	{
		"a PodDisruptionBudget of the other sort", "poddisruptionbudgets.policy", "shop",
		`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"p"},"spec":{"maxUnavailable":1,"selector":{"matchLabels":{"a":"b"}}}}`,
		"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p}, spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}}",
		"changed; add /spec/minAvailable fails; spec has minAvailable and maxUnavailable",
	},
	{
		"an env with another source", "deployments.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}]}}}}`,
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, env: [{name: A, valueFrom: {configMapKeyRef: {name: s, key: k}}}]}]}}}}",
		"changed; add /spec/template/spec/containers/0/env/0/valueFrom/configMapKeyRef fails; env A has configMapKeyRef and secretKeyRef",
	},
	{
		"a profile with a file", "deployments.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"x"}},"containers":[{"name":"c","image":"i"}]}}}}`,
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {securityContext: {seccompProfile: {type: RuntimeDefault}}, containers: [{name: c, image: i}]}}}}",
		"changed; replace /spec/template/spec/securityContext/seccompProfile/type fails; seccompProfile has type RuntimeDefault and localhostProfile",
	},
	{
		"a rolling update without a step", "deployments.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":1}},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {strategy: {rollingUpdate: {maxUnavailable: 0}}, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}",
		"changed; replace /spec/strategy/rollingUpdate/maxUnavailable fails; maxSurge and maxUnavailable are both 0",
	},
	{
		"a ServiceAccount with Secrets", "serviceaccounts", "shop",
		`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"p"},"secrets":[{"name":"p-token"}],"imagePullSecrets":[{"name":"x"},{"name":"yy"}],"automountServiceAccountToken":true}`,
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: p}, automountServiceAccountToken: false, imagePullSecrets: [{name: yy}], secrets: []}",
		"changed; replace /automountServiceAccountToken repairs, replace /imagePullSecrets repairs; ",
	},
	{
		"subjects without apiGroup", "rolebindings.rbac.authorization.k8s.io", "shop",
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"p"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"ServiceAccount","name":"a","namespace":"shop"},{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"g"}]}`,
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: p}, roleRef: {apiGroup: '', kind: Role, name: r}, subjects: [{kind: ServiceAccount, name: a, namespace: shop, apiGroup: ''}, {kind: Group, name: g, apiGroup: null}]}",
		"; ; ",
	},
	{
		"a Role without rules", "roles.rbac.authorization.k8s.io", "shop",
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"p"},"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`,
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: p}, rules: null}",
		"changed; remove /rules repairs; ",
	},
	{
		"a RoleBinding without subjects", "rolebindings.rbac.authorization.k8s.io", "shop",
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"p"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"g"}]}`,
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: p}, roleRef: {kind: Role, name: r}, subjects: []}",
		"changed; remove /subjects repairs; ",
	},
	{
		"a Secret of another type", "secrets", "shop",
		`{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/tls","metadata":{"name":"p"},"data":{"a":"Zm9v","b":"YmFy"}}`,
		"{apiVersion: v1, kind: Secret, metadata: {name: p}, type: '', data: {a: \"Zm9v\\n\", b: ''}, stringData: {b: bar}}",
		"changed; replace /type fails; type is immutable",
	},
	{
		"an empty value of a ConfigMap", "configmaps", "shop",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p"},"data":{"x":"evil"}}`,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: p}, data: {x: ''}}",
		"changed; replace /data/x repairs; ",
	},
	{
		"a LoadBalancer's fields", "services", "shop",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"p"},"spec":{"selector":{"a":"b","c":"d"},"type":"LoadBalancer","externalTrafficPolicy":"Local","allocateLoadBalancerNodePorts":false,"healthCheckNodePort":30000,"loadBalancerSourceRanges":["0.0.0.0/0"],"ports":[{"name":"x","port":80,"targetPort":"http","protocol":"TCP"}]}}`,
		"{apiVersion: v1, kind: Service, metadata: {name: p}, spec: {selector: {a: b}, type: LoadBalancer, externalTrafficPolicy: null, allocateLoadBalancerNodePorts: null, loadBalancerSourceRanges: [], ports: [{name: x, port: 80, targetPort: 80}]}}",
		"changed; replace /spec/ports/0/targetPort repairs, remove /spec/selector/c leaves, replace /spec/allocateLoadBalancerNodePorts repairs, replace /spec/externalTrafficPolicy repairs, remove /spec/loadBalancerSourceRanges repairs; ",
	},
	{
		"a LoadBalancer of another class", "services", "shop",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"p"},"spec":{"selector":{"a":"b"},"type":"LoadBalancer","loadBalancerClass":"x.io/b","ports":[{"name":"x","port":80,"targetPort":80,"protocol":"TCP"}]}}`,
		"{apiVersion: v1, kind: Service, metadata: {name: p}, spec: {selector: {a: b}, type: LoadBalancer, loadBalancerClass: x.io/a, ports: [{name: x, port: 80, targetPort: 80}]}}",
		"changed; replace /spec/loadBalancerClass fails; spec.loadBalancerClass is immutable",
	},
	{
		"a class for what was no LoadBalancer", "services", "shop",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"p"},"spec":{"selector":{"a":"b"},"type":"ClusterIP","ports":[{"name":"x","port":80,"targetPort":80,"protocol":"TCP"}]}}`,
		"{apiVersion: v1, kind: Service, metadata: {name: p}, spec: {selector: {a: b}, type: LoadBalancer, loadBalancerClass: x.io/a, ports: [{name: x, port: 80, targetPort: 80}]}}",
		"changed; add /spec/loadBalancerClass repairs, replace /spec/type repairs; ",
	},
	{
		"the other IP family first", "services", "shop",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"p"},"spec":{"selector":{"a":"b"},"type":"ClusterIP","ipFamilies":["IPv6"],"ipFamilyPolicy":"SingleStack","ports":[{"name":"x","port":80,"targetPort":80,"protocol":"TCP"}]}}`,
		"{apiVersion: v1, kind: Service, metadata: {name: p}, spec: {selector: {a: b}, ipFamilies: [IPv4], ipFamilyPolicy: SingleStack, ports: [{name: x, port: 80, targetPort: 80}]}}",
		"changed; replace /spec/ipFamilies/0 fails; spec.ipFamilies[0] is immutable",
	},
	{
		"the other IP family first, without a cluster IP", "services", "shop",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"p"},"spec":{"selector":{"a":"b"},"type":"ClusterIP","clusterIP":"None","clusterIPs":["None"],"ipFamilies":["IPv6"],"ipFamilyPolicy":"SingleStack","ports":[{"name":"x","port":80,"targetPort":80,"protocol":"TCP"}]}}`,
		"{apiVersion: v1, kind: Service, metadata: {name: p}, spec: {selector: {a: b}, clusterIP: None, ipFamilies: [IPv4], ipFamilyPolicy: SingleStack, ports: [{name: x, port: 80, targetPort: 80}]}}",
		"changed; replace /spec/ipFamilies/0 repairs; ",
	},
	{
		"an Indexed Job that was made larger", "jobs.batch", "shop",
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"p"},"spec":{"completionMode":"Indexed","completions":5,"parallelism":5,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`,
		"{apiVersion: batch/v1, kind: Job, metadata: {name: p}, spec: {completionMode: Indexed, completions: 3, parallelism: 3, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}",
		"changed; replace /spec/completions repairs, replace /spec/parallelism repairs; ",
	},
	{
		"an Indexed Job with fewer at a time", "jobs.batch", "shop",
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"p"},"spec":{"completionMode":"Indexed","completions":5,"parallelism":5,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`,
		"{apiVersion: batch/v1, kind: Job, metadata: {name: p}, spec: {completionMode: Indexed, completions: 3, parallelism: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}",
		"changed; replace /spec/completions fails, replace /spec/parallelism fails; spec.completions is immutable",
	},
	{
		"a PersistentVolumeClaim that is bound", "persistentvolumeclaims", "shop",
		`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"p","annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"accessModes":["ReadWriteOnce"],"volumeName":"pv","storageClassName":"fast","volumeMode":"Filesystem","resources":{"requests":{"storage":"1Gi"}}}}`,
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
		"; ; ",
	},
	{
		"a DaemonSet", "daemonsets.apps", "shop",
		`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"p","annotations":{"deprecated.daemonset.template.generation":"3"}},"spec":{"revisionHistoryLimit":10,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":1}},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"volumes":[{"name":"h","hostPath":{"path":"/x","type":""}},{"name":"e","emptyDir":{}},{"name":"pr","projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":3600}},{"downwardAPI":{"items":[{"path":"l","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.labels"}}]}}]}}],"containers":[{"name":"c","image":"i","securityContext":{"privileged":true}}]}}}}`,
		"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: p}, spec: {updateStrategy: null, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {volumes: [{name: h, hostPath: {path: /x, type: null}}, {name: e, emptyDir: {sizeLimit: null}}, {name: pr, projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}}]}}], containers: [{name: c, image: i, securityContext: {privileged: false}}]}}}}",
		"changed; replace /spec/template/spec/containers/0/securityContext/privileged repairs; ",
	},
}

func TestScenes(t *testing.T) {
	for _, c := range scenes {
		t.Run(c.name, func(t *testing.T) {
			if got := upgrades(repaired(t).with(t, c.resource, c.namespace, c.live, c.manifest+"\n")); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}
