package report

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"testing"
)

const docs = "../docs/report.md"

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
