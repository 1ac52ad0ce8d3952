// Package schematest holds documents against their JSON Schemas.
package schematest

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
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

type object struct {
	Properties map[string]struct {
		Description string
		Ref         string `json:"$ref"`
	}
	Required []string
}

// Fields holds a schema against the Go types of the document and of its definitions, by
// name: it has their fields, each described, and says which may be absent.
func Fields(t *testing.T, schema []byte, document reflect.Type, definitions map[string]reflect.Type) {
	t.Helper()
	var s struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(s.Defs)), slices.Sorted(maps.Keys(definitions)); !slices.Equal(got, want) {
		t.Errorf("the schema defines %q, want %q", got, want)
	}
	s.check(t, document)
	for name, of := range definitions {
		s.Defs[name].check(t, of)
	}
}

func (o object) check(t *testing.T, of reflect.Type) {
	t.Helper()
	var have, want []string
	for field, p := range o.Properties {
		if p.Description == "" && p.Ref == "" {
			t.Errorf("%s.%s has no description", of, field)
		}
		if !slices.Contains(o.Required, field) {
			field += ",omitempty"
		}
		have = append(have, field)
	}
	for i := range of.NumField() {
		if tag := of.Field(i).Tag.Get("json"); tag != "" {
			want = append(want, tag)
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("schema of %s has\n%q, want\n%q", of, have, want)
	}
}
