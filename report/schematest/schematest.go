// Package schematest holds documents against their JSON Schemas.
package schematest

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Strict returns a function that validates a document, and to which an unknown
// field is a fault. Readers of a document skip those; a test of its writer must not.
func Strict(t *testing.T, schema []byte) func(document []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	root := doc.(map[string]any)
	for _, o := range append(slices.Collect(maps.Values(root["$defs"].(map[string]any))), root) {
		if o := o.(map[string]any); o["properties"] != nil {
			o["additionalProperties"] = false
		}
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("document.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("document.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(document []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err != nil {
			return err
		}
		return compiled.Validate(v)
	}
}
