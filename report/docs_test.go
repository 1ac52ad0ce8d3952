package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const docs = "../docs/report.md"

var update = flag.Bool("update", false, "write the glossary in docs/report.md")

// The glossary in the docs is made from the schema, which the code is held to.
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
		t.Error("the glossary of docs/report.md is not that of report/schema.json: go test ./report -run Glossary -update")
	}
}

// topics are the parts of the glossary, by the word before a meaning's colon.
var topics = []struct{ word, title string }{
	{"Unknown", "Reasons of Unknown"},
	{"Stale", "Reasons of Stale"},
	{"To confirm", "Reasons of VMs to confirm (`infraMachines`)"},
	{"Warning", "Warnings"},
	{"Control plane", "Control planes and groups"},
	{"Scope", "Scopes that are not complete"},
	{"Node list", "Node lists"},
	{"Answer", "Reasons of the answer"},
	{"Condition", "Conditions of the answer"},
	{"Forecast", "Forecast: outcomes"},
	{"Note", "Forecast: notes"},
}

func glossary() string {
	var b strings.Builder
	b.WriteString("\n## Statuses\n\n")
	for _, def := range []string{"machine", "rollup"} {
		fmt.Fprintf(&b, "%s\n\n", describe(def))
	}
	for _, topic := range topics {
		fmt.Fprintf(&b, "## %s\n\n| code | meaning |\n|---|---|\n", topic.title)
		for _, code := range slices.Sorted(maps.Keys(reasons())) {
			if word, _, _ := strings.Cut(reasons()[code], ": "); topicOf(word) == topic.word {
				fmt.Fprintf(&b, "| `%s` | %s |\n", code, reasons()[code])
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// topicOf is the topic of "Warning, or to confirm".
func topicOf(word string) string {
	word, _, _ = strings.Cut(word, ",")
	if word == "Group" {
		return "Control plane"
	}
	return word
}

// describe is what the schema says of the status of machines, or of roll-ups.
func describe(def string) string {
	var doc struct {
		Defs map[string]struct {
			Description string
			Properties  map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &doc); err != nil {
		panic(err)
	}
	if def == "machine" {
		return "Of a machine (`status`): " + doc.Defs[def].Properties["status"].Description
	}
	return "Of control planes, groups, clusters and the summary: " + doc.Defs[def].Description
}

func TestEveryReasonHasATopic(t *testing.T) {
	for code, meaning := range reasons() {
		word, _, _ := strings.Cut(meaning, ": ")
		if !slices.ContainsFunc(topics, func(x struct{ word, title string }) bool { return x.word == topicOf(word) }) {
			t.Errorf("%s: %q has no topic, so that the docs lack it", code, meaning)
		}
	}
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
		of := map[string]any{"Summary": new(Summary), "Machine": new(Machine), "SafeAnswer": new(SafeAnswer)}[string(e[1])]
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
