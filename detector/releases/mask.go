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

// repeats reports whether an annotation's value repeats the object, as kubectl apply, kapp
// and Rancher have it.
func repeats(name string, v any) bool {
	s, _ := v.(string)
	return strings.Contains(name, lastApplied) || strings.HasPrefix(strings.TrimSpace(s), "{") || strings.HasPrefix(s, "H4sI")
}

// mask takes the values of a Secret out of what was found, once and for all outputs.
func mask(out *outcome) {
	for i := range out.changes {
		c := &out.changes[i]
		if strings.HasPrefix(c.Pointer, "/metadata") && !repeats(c.Pointer, c.Live) && !repeats(c.Pointer, c.Desired) {
			c.Live, c.Desired = maskApplied(c.Live), maskApplied(c.Desired)
			continue
		}
		if !holdsValues(c.Pointer) && !strings.HasPrefix(c.Pointer, "/metadata") {
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
			if repeats(a.Path, a.Value) {
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

// maskApplied takes out of annotations what repeats the object.
func maskApplied(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for k, e := range m {
		if out[k] = maskApplied(e); repeats(k, e) {
			out[k] = masked
		}
	}
	return out
}

// maxEvent is how much of a patch Domino's operator puts into an event.
const maxEvent = 500

// event returns Domino's text about an object.
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
