package report

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"
)

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of the document, with a description
// of every field and, under x-reasons, of every reason code.
func Schema() []byte { return slices.Clone(schema) }

var reasons = sync.OnceValue(func() map[string]string {
	var doc struct {
		Reasons map[string]string `json:"x-reasons"`
	}
	if err := json.Unmarshal(schema, &doc); err != nil {
		panic("report: schema.json: " + err.Error()) // it is part of the program
	}
	return doc.Reasons
})

// Explain says what a reason code means: "Warning: the VM has another name than
// the backup records." It is empty for a code that this release does not know.
func Explain(reason string) string { return reasons()[reason] }
