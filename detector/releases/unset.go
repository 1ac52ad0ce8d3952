package releases

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// chosen are the fields that the API server fills once, and keeps where a manifest has null or
// nothing (patchAllocatedValues in pkg/registry/core/service/storage v1.35, admission of pods).
var chosen = map[string]bool{
	"spec.clusterIP": true, "spec.clusterIPs": true, "ports.nodePort": true, "spec.healthCheckNodePort": true,
	"spec.ipFamilies": true, "spec.ipFamilyPolicy": true, "spec.sessionAffinityConfig": true,
	"spec.serviceAccount": true, "spec.podReplacementPolicy": true, "spec.completions": true,
	"Pod spec.nodeName": true, "Pod spec.serviceAccountName": true, "Pod spec.tolerations": true, "Pod spec.priority": true,
	"Job spec.manualSelector": true, "StatefulSet rollingUpdate.maxUnavailable": true, "Pod spec.preemptionPolicy": true, "Pod spec.volumes": true, "Pod containers.volumeMounts": true, "Pod resources.requests": true,
}

// unsetMeans is what the API server makes of a field without a value, by the field and the one
// around it (SetDefaults of pkg/apis/*/v1/defaults.go v1.35).
var unsetMeans = map[string]any{
	"spec.replicas": int64(1), "spec.minReplicas": int64(1), "spec.revisionHistoryLimit": int64(10), "spec.progressDeadlineSeconds": int64(600),
	"spec.podManagementPolicy": "OrderedReady", "spec.strategy": rolling("25%", "25%"), "StatefulSet spec.updateStrategy": Object{"type": "RollingUpdate", "rollingUpdate": Object{"partition": int64(0)}},
	"DaemonSet spec.updateStrategy": rolling(int64(1), int64(0)), "strategy.type": "RollingUpdate", "updateStrategy.type": "RollingUpdate",
	"Deployment rollingUpdate.maxUnavailable": "25%", "Deployment rollingUpdate.maxSurge": "25%", "rollingUpdate.partition": int64(0),
	"DaemonSet rollingUpdate.maxUnavailable": int64(1), "DaemonSet rollingUpdate.maxSurge": int64(0),
	"spec.persistentVolumeClaimRetentionPolicy":        Object{"whenDeleted": "Retain", "whenScaled": "Retain"},
	"persistentVolumeClaimRetentionPolicy.whenDeleted": "Retain",
	"persistentVolumeClaimRetentionPolicy.whenScaled":  "Retain",
	"spec.concurrencyPolicy":                           "Allow",
	"spec.suspend":                                     false,
	"spec.successfulJobsHistoryLimit":                  int64(3),
	"spec.failedJobsHistoryLimit":                      int64(1),
	"Job spec.parallelism":                             int64(1),
	"Job spec.backoffLimit":                            int64(6),
	"Job spec.completionMode":                          "NonIndexed",
	"spec.dnsPolicy":                                   "ClusterFirst",
	"spec.restartPolicy":                               "Always",
	"spec.schedulerName":                               "default-scheduler",
	"spec.terminationGracePeriodSeconds":               int64(30),
	"Pod spec.enableServiceLinks":                      true,
	"secret.defaultMode":                               int64(420),
	"configMap.defaultMode":                            int64(420),
	"downwardAPI.defaultMode":                          int64(420),
	"projected.defaultMode":                            int64(420),
	"serviceAccountToken.expirationSeconds":            int64(3600),
	"httpGet.scheme":                                   "HTTP",
	"httpGet.path":                                     "/",
	"fieldRef.apiVersion":                              "v1",
	"ports.protocol":                                   "TCP",
	"Service spec.type":                                "ClusterIP",
	"spec.sessionAffinity":                             "None",
	"spec.internalTrafficPolicy":                       "Cluster",
	"clientIP.timeoutSeconds":                          int64(10800),
	"spec.volumeMode":                                  "Filesystem",
	"spec.persistentVolumeReclaimPolicy":               "Retain",
	"StorageClass .reclaimPolicy":                      "Delete",
	"StorageClass .volumeBindingMode":                  "Immediate",
	"PriorityClass .preemptionPolicy":                  "PreemptLowerPriority",
	"CSIDriver spec.attachRequired":                    true,
	"CSIDriver spec.podInfoOnMount":                    false,
	"CSIDriver spec.storageCapacity":                   false,
	"CSIDriver spec.requiresRepublish":                 false,
	"CSIDriver spec.seLinuxMount":                      false,
	"CSIDriver spec.fsGroupPolicy":                     "ReadWriteOnceWithFSType",
	"Secret .type":                                     "Opaque",
	"webhooks.failurePolicy":                           "Fail",
	"webhooks.matchPolicy":                             "Equivalent",
	"webhooks.timeoutSeconds":                          int64(10),
	"webhooks.reinvocationPolicy":                      "Never",
	"service.port":                                     int64(443),
	"spec.failurePolicy":                               "Fail",
	"hostPath.type":                                    "", "grpc.service": "",
	"queuing.queues": int64(64), "queuing.handSize": int64(8), "queuing.queueLengthLimit": int64(50), "IngressClass parameters.scope": "Cluster",
	"iscsi.iscsiInterface": "default", "rbd.pool": "rbd", "rbd.user": "admin", "rbd.keyring": "/etc/ceph/keyring",
	"CSIDriver spec.volumeLifecycleModes":                         []any{"Persistent"},
	"HorizontalPodAutoscaler spec.targetCPUUtilizationPercentage": int64(80),
	"HorizontalPodAutoscaler spec.metrics":                        []any{Object{"type": "Resource", "resource": Object{"name": "cpu", "target": Object{"type": "Utilization", "averageUtilization": int64(80)}}}},
	"behavior.scaleUp":                                            Object{"stabilizationWindowSeconds": int64(0), "selectPolicy": "Max", "policies": scaleUp}, "scaleUp.policies": scaleUp,
	"behavior.scaleDown": Object{"selectPolicy": "Max", "policies": scaleDown}, "scaleDown.policies": scaleDown,
	"scaleUp.selectPolicy":                                        "Max",
	"scaleDown.selectPolicy":                                      "Max",
	"scaleUp.stabilizationWindowSeconds":                          int64(0),
	"FlowSchema spec.matchingPrecedence":                          int64(1000),
	"PriorityLevelConfiguration limited.nominalConcurrencyShares": int64(30),
	"PriorityLevelConfiguration limited.lendablePercent":          int64(0),
}

// The steps of an autoscaler (pkg/apis/autoscaling/v2/defaults.go).
var (
	scaleUp   = []any{Object{"type": "Pods", "value": int64(4), "periodSeconds": int64(15)}, Object{"type": "Percent", "value": int64(100), "periodSeconds": int64(15)}}
	scaleDown = []any{Object{"type": "Percent", "value": int64(100), "periodSeconds": int64(15)}}
)

func rolling(unavailable, surge any) Object {
	return Object{"type": "RollingUpdate", "rollingUpdate": Object{"maxUnavailable": unavailable, "maxSurge": surge}}
}

// containerMeans is the same for a container, wherever it is.
var containerMeans = map[string]any{"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}

// probes have defaults for zero numbers, too.
var probes = map[string]int64{"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}

// unset returns what the API server makes of a field that has no value, beside others of the
// manifest: a value; nil where the field is then absent; and whether it keeps what it chose.
func unset(kind, around, field string, beside map[string]any) (means any, keeps bool) {
	id := around + "." + field
	switch {
	case chosen[id] || chosen[kind+" "+id]:
		return nil, true
	case strings.HasSuffix(around, "Probe") && probes[field] > 0:
		return probes[field], false
	case around == "containers" || around == "initContainers":
		if field == "imagePullPolicy" {
			return pullPolicy(beside), false
		}
		return containerMeans[field], false
	case id == "spec.externalTrafficPolicy":
		kind, declared := beside["type"].(string)
		if kind == "NodePort" || kind == "LoadBalancer" {
			return "Cluster", false
		}
		return nil, !declared || beside["externalIPs"] != nil
	case id == "spec.policyTypes":
		if egress, _ := beside["egress"].([]any); len(egress) > 0 {
			return []any{"Ingress", "Egress"}, false
		}
		return []any{"Ingress"}, false
	case id == "spec.allocateLoadBalancerNodePorts":
		return true, beside["type"] != "LoadBalancer"
	case id == "volumes.emptyDir" && len(beside) == 1: // a volume of nothing but a name
		return Object{}, false
	case id == "spec.internalTrafficPolicy" && beside["type"] == "ExternalName", id == "spec.suspend" && kind == "CronJob" && beside["schedule"] == nil,
		id == "updateStrategy.rollingUpdate" && kind == "StatefulSet" && beside["type"] != nil: // which have none
		return nil, false
	case field == "rollingUpdate" && beside["type"] != "Recreate" && beside["type"] != "OnDelete":
		of, _ := unsetMeans["spec."+around].(Object)
		if of == nil {
			of, _ = unsetMeans[kind+" spec."+around].(Object)
		}
		return of[field], false
	}
	if means, known := unsetMeans[kind+" "+id]; known {
		return means, false
	}
	return unsetMeans[id], false
}

// pullPolicy returns the default of a container: always for an image without a tag, and for latest.
func pullPolicy(container map[string]any) any {
	image, declared := container["image"].(string)
	if !declared {
		return nil
	}
	name := image[strings.LastIndex(image, "/")+1:]
	if _, digest, _ := strings.Cut(name, "@"); digest != "" {
		name, _, _ = strings.Cut(name, "@")
		if !strings.Contains(name, ":") {
			return "IfNotPresent"
		}
	}
	if _, tag, tagged := strings.Cut(name, ":"); !tagged || tag == "latest" {
		return "Always"
	}
	return "IfNotPresent"
}

// hasNulls reports whether a null is inside of a value.
func hasNulls(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if e == nil || hasNulls(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return e == nil || hasNulls(e) })
	}
	return false
}

// cleared returns a merged object without the fields that the manifest, raw, has null for: a merge
// takes these away, and an API server gives them their defaults, which desired has
// (pkg/util/strategicpatch of apimachinery v0.36).
func (m *merger) cleared(raw, desired, merged any, of schema.TypeRef, around string) any {
	a, ok := m.t.Schema.Resolve(of)
	if !ok {
		return merged
	}
	switch r := raw.(type) {
	case map[string]any:
		d, _ := desired.(map[string]any)
		is, ok := merged.(map[string]any)
		if !ok || a.Map == nil {
			return merged
		}
		var out map[string]any
		for k, v := range r {
			e, has := is[k]
			means, defaulted := d[k]
			defaulted = defaulted && !hollow(means)
			if !has || e == nil || v == nil && !defaulted && m.known != nil && emptied[k] && hollow(e) {
				continue
			}
			if v == nil && defaulted {
				v = m.keeping(means, e, k)
			} else if v != nil {
				next := a.Map.ElementType
				if f, known := a.Map.FindField(k); known {
					next = f.Type
				}
				v = m.cleared(v, d[k], e, next, k)
			} else if _, keeps := unset(m.kind, around, k, d); keeps && m.known != nil {
				continue
			}
			if v != nil && equal(v, e) {
				continue
			}
			if out == nil {
				out = maps.Clone(is)
			}
			if out[k] = v; v == nil {
				delete(out, k)
			}
		}
		if out != nil {
			return out
		}
	case []any:
		d, _ := desired.([]any)
		is, ok := merged.([]any)
		if !ok || a.List == nil || a.List.ElementRelationship != schema.Associative || len(a.List.Keys) == 0 || len(d) != len(r) {
			return merged
		}
		out := slices.Clone(is)
		for i := range r {
			if j := m.place(out, d[i], a.List.Keys); j >= 0 {
				out[j] = m.cleared(r[i], d[i], out[j], a.List.ElementType, around)
			}
		}
		return out
	}
	return merged
}

// keeping returns a default with what the API server chose itself inside of it.
func (m *merger) keeping(means, live any, around string) any {
	d, ok := means.(map[string]any)
	l, too := live.(map[string]any)
	if !ok || !too {
		return means
	}
	out := maps.Clone(d)
	for k, v := range l {
		if e, has := d[k]; has {
			out[k] = m.keeping(e, v, k)
		} else if _, keeps := unset(m.kind, around, k, d); keeps {
			out[k] = v
		}
	}
	return out
}

// emptied are the fields that the API server writes without anything inside.
var emptied = map[string]bool{
	"emptyDir": true, "metadata": true, "securityContext": true, "resources": true, "podSelector": true, "namespaceSelector": true, "objectSelector": true,
}

// hollow reports whether a value is nothing but empty maps and lists.
func hollow(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if !hollow(e) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}
