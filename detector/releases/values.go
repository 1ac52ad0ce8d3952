package releases

import (
	"slices"
	"strings"
)

// chartGroups are the API groups of objects that hold values of charts. These may be
// passwords as the values in Helm's own records, and are printed as little.
var chartGroups = []string{
	"helm.toolkit.fluxcd.io", "config.projectsveltos.io", "k0rdent.mirantis.com", "addons.cluster.x-k8s.io", "helm.cattle.io", "argoproj.io",
}

// holdsCharts reports whether an object may hold values of charts.
func holdsCharts(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return slices.Contains(chartGroups, group)
}

// isValues reports whether a field holds values of charts: values, valuesObject,
// valuesTemplate, valuesContent, set, parameters, and config of a k0rdent ClusterDeployment.
func isValues(field string) bool {
	return strings.HasPrefix(field, "values") && field != "valuesFrom" || field == "set" || field == "parameters" || field == "config" || strings.Contains(field, lastApplied)
}

// maskValues takes the values of charts out of what was found.
func maskValues(out *outcome) {
	for i := range out.changes {
		c := &out.changes[i]
		before, after := masked, masked
		if c.Op == "replace" {
			before, after = maskedBefore, maskedAfter
		}
		within := slices.ContainsFunc(segmentsOf(c.Pointer), isValues)
		c.Live, c.Desired = maskFields(c.Live, within, before), maskFields(c.Desired, within, after)
	}
	for i := range out.added {
		a := &out.added[i]
		within := false
		for _, pe := range a.path {
			within = within || pe.FieldName != nil && isValues(*pe.FieldName)
		}
		a.Value = maskFields(a.Value, within, masked)
	}
}

// maskFields replaces a value, or the fields inside of it that hold values of charts.
func maskFields(v any, whole bool, with string) any {
	if whole && v != nil {
		return with
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = maskFields(e, isValues(k), with)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = maskFields(e, false, with)
		}
		return out
	}
	return v
}
