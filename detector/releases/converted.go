package releases

import "encoding/json"

// converted returns an autoscaler of version 1 as one of version 2, or the reverse;
// other objects are not converted.
func converted(live Object, to string) Object {
	if text(live, "kind") != "HorizontalPodAutoscaler" {
		return nil
	}
	body, err := json.Marshal(live)
	if err != nil {
		return nil
	}
	out, err := parse(body)
	if err != nil {
		return nil
	}
	spec, _ := out["spec"].(Object)
	const target = "targetCPUUtilizationPercentage"
	switch from := text(live, "apiVersion"); {
	case from == "autoscaling/v1" && to == "autoscaling/v2":
		if v := spec[target]; v != nil {
			delete(spec, target)
			spec["metrics"] = []any{Object{"type": "Resource", "resource": Object{"name": "cpu", "target": Object{"type": "Utilization", "averageUtilization": v}}}}
		}
	case from == "autoscaling/v2" && to == "autoscaling/v1":
		metrics := list(spec, "metrics")
		delete(spec, "metrics")
		delete(spec, "behavior")
		for _, metric := range metrics {
			if at(metric, "resource", "name") == "cpu" {
				spec[target] = at(metric, "resource", "target", "averageUtilization")
			}
		}
	default:
		return nil
	}
	out["apiVersion"] = to
	return out
}
