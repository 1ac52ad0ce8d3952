package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"drift-detector/report/code"
)

const docs = "../docs/report.md"

var update = flag.Bool("update", false, "write the glossary in docs/report.md")

// The glossary in the docs is made from the table of codes.
func TestGlossaryIsWhatTheSchemaSays(t *testing.T) {
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "-update -->\n", "<!-- end -->\n"
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("docs/report.md has lost the marks of its generated part")
	}
	want := head + begin + glossary() + end + tail
	if *update {
		if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Error("the glossary of docs/report.md is not that of report/code: go test ./report -run Glossary -update")
	}
}

func glossary() string {
	var b strings.Builder
	b.WriteString("\n## Statuses\n\n")
	for _, def := range []string{"machine", "rollup"} {
		fmt.Fprintf(&b, "%s\n\n", describe(def))
	}
	for i, kind := range code.Kinds() {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "## %s\n\n| code | meaning |\n|---|---|\n", kind.Title())
		for _, r := range code.Listed(kind) {
			fmt.Fprintf(&b, "| `%s` | %s |\n", r.Code, r.Meaning())
		}
	}
	b.WriteString("\n")
	return b.String()
}

// describe is what the schema says of the status of machines, or of roll-ups.
func describe(def string) string {
	var doc struct {
		Defs map[string]struct {
			Description string
			Properties  map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		panic(err)
	}
	if def == "machine" {
		return "Of a machine (`status`): " + doc.Defs[def].Properties["status"].Description
	}
	return "Of control planes, groups, clusters and the summary: " + doc.Defs[def].Description
}

// The examples of the docs are pieces of a report.
func TestExamplesOfTheDocsAreReal(t *testing.T) {
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)<!-- (\\w+) -->\n```json\n(.*?)```").FindAllSubmatch(page, -1)
	if len(examples) < 2 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		of := map[string]any{"Summary": new(Summary), "Machine": new(Machine), "ToDo": new(ToDo), "SafeAnswer": new(SafeAnswer)}[string(e[1])]
		d := json.NewDecoder(bytes.NewReader(e[2]))
		d.DisallowUnknownFields()
		if err := d.Decode(of); err != nil {
			t.Errorf("example %s: %v", e[1], err)
		}
		if reflect.ValueOf(of).Elem().IsZero() {
			t.Errorf("example %s is empty", e[1])
		}
	}
}
