package diff

import (
	_ "embed"

	"drift-detector/report"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the document, with a description
// of every field.
func Schema() []byte { return report.WithDefinitions(schema) }
