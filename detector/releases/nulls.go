package releases

// nullsOf returns a value of a custom resource with the nulls that the API server keeps: of what
// its schema says nullable, and of what no schema describes. Other nulls are defaults
// (apiextensions-apiserver pkg/apiserver/schema/defaulting/prunenulls.go v0.36).
func nullsOf(v any, s Object) any {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			of, described := at(s, "properties", k).(Object)
			if !described {
				of, described = at(s, "additionalProperties").(Object)
			}
			if e == nil && described && at(of, "nullable") != true {
				if e = of["default"]; e == nil {
					continue
				}
			}
			out[k] = nullsOf(e, of)
		}
		return out
	case []any:
		of, _ := at(s, "items").(Object)
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = nullsOf(e, of)
		}
		return out
	}
	return v
}

// custom returns a custom resource in the form that is compared, its nulls as a server has them.
func (c *Collector) custom(o Object) Object {
	id := kindOf(o)
	if known := c.crds[id.GroupKind()]; known != nil && known.versions[id.Version] != nil {
		o, _ = nullsOf(withNulls(o), known.versions[id.Version]).(Object)
		return o
	}
	return bare(o)
}
