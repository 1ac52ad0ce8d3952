package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/lazyregexp"
	"drift-detector/report/code"
)

//go:embed schema.json
var template string

// Schema returns the JSON Schema (draft 2020-12) of the document, with a description of every
// field and, under x-reasons and x-advice, of every code. What it says of codes is made
// from [code.Table].
func Schema() []byte {
	type advice struct {
		Why string `json:"why"`
		Do  string `json:"do"`
	}
	reasons, advices := map[code.Reason]string{}, map[code.Reason]advice{}
	for _, r := range code.Table {
		if !r.Is(code.OfStatus) {
			reasons[r.Code], advices[r.Code] = r.Meaning(), advice{r.Why, r.Do}
		}
	}
	machines, all := code.MachineStatuses(), code.RollUps()
	slices.Reverse(machines)
	rollUps := slices.DeleteFunc(slices.Clone(all), func(s code.Status) bool { return s == code.NeedFurtherConfirmationInfraMachines })
	return []byte(strings.NewReplacer(
		`"@x-reasons"`, inJSON(reasons), `"@x-advice"`, inJSON(advices),
		`"@machines"`, inJSON(machines), `"@machines mean"`, inJSON(means(machines)),
		`"@roll-ups"`, inJSON(rollUps), `"@roll-ups mean"`, inJSON("Worst first. "+means(rollUps[:len(rollUps)-1])+" Healthy: None of these."),
		`"@summary"`, inJSON(all), `"@summary means"`, inJSON("The worst of all clusters and scopes. "+means([]code.Status{code.NeedFurtherConfirmationInfraMachines})),
	).Replace(template))
}

// means says what statuses mean.
func means(statuses []code.Status) string {
	out := make([]string, len(statuses))
	for i, s := range statuses {
		out[i] = fmt.Sprintf("%s: %s", s, code.Of(s).Happens)
	}
	return strings.Join(out, " ")
}

// inJSON returns a value of the schema, as it stands in its second level.
func inJSON(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("  ", "  ")
	if err := e.Encode(value); err != nil {
		panic("report: a schema: " + err.Error())
	}
	return strings.TrimSpace(b.String())
}

//go:embed check_schema.json
var checkSchema []byte

// CheckSchema returns the JSON Schema of the document of the check command, [Readiness].
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
	decode(Schema(), &whole)
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

var reference = lazyregexp.New(`"#/\$defs/(\w+)"`)

func refersTo(schema []byte) []string {
	var out []string
	for _, m := range reference.FindAllSubmatch(schema, -1) {
		out = append(out, string(m[1]))
	}
	return out
}
