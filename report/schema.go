package report

import (
	_ "embed"
	"slices"
)

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of the document, with a description
// of every field and, under x-reasons, of every reason code.
func Schema() []byte { return slices.Clone(schema) }
