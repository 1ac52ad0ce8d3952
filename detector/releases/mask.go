package releases

import (
	"encoding/json"
	"strings"
)

const (
	masked       = "***"
	maskedBefore = "*** (before)"
	maskedAfter  = "*** (after)"
	lastApplied  = "last-applied-configuration"
)

// mask takes the values of a Secret out of what was found, once and for all outputs.
func mask(out *outcome) {
	for i := range out.changes {
		c := &out.changes[i]
		if strings.HasPrefix(c.Pointer, "/metadata") && !strings.Contains(c.Pointer, lastApplied) {
			c.Live, c.Desired = maskApplied(c.Live), maskApplied(c.Desired)
			continue
		}
		if !holdsValues(c.Pointer) && !strings.Contains(c.Pointer, lastApplied) {
			continue
		}
		if c.Op == "replace" {
			c.Live, c.Desired = maskAll(c.Live, maskedBefore), maskAll(c.Desired, maskedAfter)
			continue
		}
		c.Live, c.Desired = maskAll(c.Live, masked), maskAll(c.Desired, masked)
	}
	for i := range out.added {
		a := &out.added[i]
		if len(a.path) > 0 && a.path[0].FieldName != nil && *a.path[0].FieldName == "metadata" {
			a.Value = maskApplied(a.Value)
			if strings.Contains(a.Path, lastApplied) {
				a.Value = masked
			}
			continue
		}
		a.Value = maskAll(a.Value, masked)
	}
}

func holdsValues(pointer string) bool {
	return strings.HasPrefix(pointer, "/data") || strings.HasPrefix(pointer, "/stringData") || pointer == "" || pointer == "/"
}

// maskAll keeps the keys of a map, and nothing of its values.
func maskAll(v any, with string) any {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = with
		}
		return out
	}
	return with
}

// maskApplied takes out of annotations what kubectl apply repeats of the object.
func maskApplied(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for k, e := range m {
		if out[k] = maskApplied(e); strings.Contains(k, lastApplied) {
			out[k] = masked
		}
	}
	return out
}

// maxEvent is how much of a patch Domino's operator puts into an event.
const maxEvent = 500

// event is Domino's text about an object.
func event(c *Compared) string {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	var patch []operation
	for _, ch := range c.Patch {
		patch = append(patch, operation{ch.Op, ch.Pointer, ch.Desired})
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return ""
	}
	text := []rune(string(body))
	if len(text) > maxEvent {
		text = append(text[:maxEvent], '…')
	}
	return c.Subject() + " has drifted: update " + string(text)
}
