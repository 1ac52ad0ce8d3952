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

	"drift-detector/report/code"
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

func glossary() string {
	var b strings.Builder
	b.WriteString("\n## Statuses\n\n")
	for _, def := range []string{"machine", "rollup"} {
		fmt.Fprintf(&b, "%s\n\n", describe(def))
	}
	kind := ""
	for _, c := range Codes() {
		if c.Kind == "Statuses" {
			continue
		}
		if c.Kind != kind {
			if kind != "" {
				b.WriteString("\n")
			}
			kind = c.Kind
			fmt.Fprintf(&b, "## %s\n\n| code | meaning |\n|---|---|\n", kind)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.Code, c.Meaning)
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
	if err := json.Unmarshal(schema, &doc); err != nil {
		panic(err)
	}
	if def == "machine" {
		return "Of a machine (`status`): " + doc.Defs[def].Properties["status"].Description
	}
	return "Of control planes, groups, clusters and the summary: " + doc.Defs[def].Description
}

// Every code of the schema is in one kind, and has a reason to care and something to do.
func TestEveryCodeIsExplained(t *testing.T) {
	kinds := map[string]string{}
	for _, c := range Codes() {
		if kinds[c.Code] != "" {
			t.Errorf("%s is listed twice", c.Code)
		}
		kinds[c.Code] = c.Kind
		for what, text := range map[string]string{"meaning": c.Meaning, "why": c.Why, "do": c.Do} {
			if text == "" || !strings.HasSuffix(text, ".") {
				t.Errorf("%s has no %s that is a sentence: %q", c.Code, what, text)
			}
		}
	}
	for _, r := range code.Table {
		if kinds[string(r.Code)] == "" {
			t.Errorf("%s has no kind, so that the docs lack it", r.Code)
		}
	}
	for _, status := range []code.Status{code.Healthy, code.Stale, code.Ghost, code.Unknown, code.ManualRemediationRequired, code.NeedFurtherConfirmation, code.ManualRemediationNotRequired} {
		if kinds[string(status)] == "" {
			t.Errorf("%s is not explained", status)
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

// The schema has each code of the table, with what it means and what to do.
func TestSchemaHasTheTable(t *testing.T) {
	reasons, advice := map[string]string{}, map[string]string{}
	for _, r := range code.Table {
		if r.Is(code.OfStatus) {
			continue
		}
		reasons[string(r.Code)] = quoted(t, Explain(r.Code))
		advice[string(r.Code)] = fmt.Sprintf(`{ "why": %s, "do": %s }`, quoted(t, r.Why), quoted(t, r.Do))
	}
	want := members.ReplaceAllStringFunc(string(schema), func(old string) string {
		of := reasons
		if strings.HasPrefix(old, `"x-advice"`) {
			of = advice
		}
		var b strings.Builder
		b.WriteString(old[:strings.IndexByte(old, '{')+2])
		for i, name := range slices.Sorted(maps.Keys(of)) {
			if i > 0 {
				b.WriteString(",\n")
			}
			fmt.Fprintf(&b, "    %q: %s", name, of[name])
		}
		return b.String() + "\n  },\n"
	})
	if *update {
		if err := os.WriteFile("schema.json", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(schema) {
		t.Error("schema.json does not have the codes of report/code: make update")
	}
}

var members = regexp.MustCompile(`(?s)"x-(?:reasons|advice)": \{\n.*?\n  \},\n`)

func quoted(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}
