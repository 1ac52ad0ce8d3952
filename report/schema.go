package report

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
)

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of the document, with a description
// of every field and, under x-reasons, of every reason code. What it says of codes is
// made from [code.Table] (make update).
func Schema() []byte { return slices.Clone(schema) }

//go:embed check_schema.json
var checkSchema []byte

// CheckSchema is the JSON Schema of the document of the check command, [Readiness].
func CheckSchema() []byte { return WithDefinitions(checkSchema) }

// WithDefinitions completes the JSON Schema of a document that holds parts of a
// report: what it refers to and does not define is copied from [Schema], so that
// a part is described once. It panics on what is no JSON and on a reference to
// nothing, for the schemas are part of the program.
func WithDefinitions(doc []byte) []byte {
	var own, whole definitions
	var root map[string]any
	decode(doc, &own)
	decode(doc, &root)
	decode(schema, &whole)
	defs := map[string]json.RawMessage{}
	for todo := refersTo(doc); len(todo) > 0; todo = todo[1:] {
		name := todo[0]
		if defs[name] != nil {
			continue
		}
		if defs[name] = own.Defs[name]; defs[name] == nil {
			defs[name] = whole.Defs[name]
		}
		if defs[name] == nil {
			panic("report: a schema refers to " + name + ", which nothing defines")
		}
		todo = append(todo, refersTo(defs[name])...)
	}
	root["$defs"] = defs
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("report: a schema: " + err.Error())
	}
	return append(out, '\n')
}

type definitions struct {
	Defs map[string]json.RawMessage `json:"$defs"`
}

func decode(schema []byte, into any) {
	if err := json.Unmarshal(schema, into); err != nil {
		panic("report: a schema: " + err.Error()) // it is part of the program
	}
}

var reference = regexp.MustCompile(`"#/\$defs/(\w+)"`)

func refersTo(schema []byte) []string {
	var out []string
	for _, m := range reference.FindAllSubmatch(schema, -1) {
		out = append(out, string(m[1]))
	}
	return out
}
