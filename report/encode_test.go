package report_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"drift-detector/internal/terminal"
	"drift-detector/report"
)

// written returns what encoding/json makes of a value, in the form of documents.
func written(t *testing.T, doc any) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		t.Fatal(err)
	}
	return string(terminal.JSON(out.Bytes()))
}

func isWritten(t *testing.T, doc any) {
	t.Helper()
	var got bytes.Buffer
	if err := report.Document(&got, doc); err != nil {
		t.Fatal(err)
	}
	if want := written(t, doc); got.String() != want {
		t.Fatalf("it writes %s, want %s", &got, want)
	}
}

// Each byte, at any place of a text, is written as the library writes it, and so is what is behind it.
func TestDocumentOfAnyText(t *testing.T) {
	var all []string
	for c := range 256 {
		for n := range 18 {
			text := append(bytes.Repeat([]byte("a"), n), byte(c))
			all = append(all, string(text), string(text)+"z\"", string(text)+" \\<&>zzzzzzzz~", string(text)+"é\u2028\n")
		}
	}
	isWritten(t, &all)
}

type named struct {
	Name string `json:"name"`
	own  int
}

type own struct{ n int }

func (o *own) MarshalText() ([]byte, error) { return []byte("own"), nil }

func (o own) IsZero() bool { return o.n == 7 }

type everything struct {
	Text    string            `json:"text"`
	None    string            `json:"none,omitempty"`
	Yes     bool              `json:"yes"`
	No      bool              `json:"no,omitempty"`
	Number  int               `json:"number"`
	Less    int64             `json:"less"`
	Few     int8              `json:"few,omitempty"`
	Part    float64           `json:"part"`
	Raw     []byte            `json:"raw"`
	Array   [2]int            `json:"array,omitempty"`
	List    []named           `json:"list"`
	Empty   []named           `json:"empty"`
	Nothing []named           `json:"nothing"`
	Zero    []named           `json:"zero,omitzero"`
	Gone    []named           `json:"gone,omitempty"`
	Lists   [][]*string       `json:"lists"`
	At      time.Time         `json:"at"`
	Never   time.Time         `json:"never,omitempty"`
	Then    *time.Time        `json:"then"`
	By      map[string]int    `json:"by"`
	Words   map[string]string `json:"words,omitempty"`
	Any     any               `json:"any"`
	Own     own               `json:"own"`
	Owns    []own             `json:"owns"`
	Hidden  string            `json:"-"`
	More    *everything       `json:"more,omitempty"`
	Inside  struct{}          `json:"inside"`
	Zeroes  named             `json:"zeroes,omitzero"`
	hidden  string
}

type ends struct {
	First everything `json:"first"`
	Until own        `json:"until,omitzero"`
}

type untagged struct {
	named
	Bare string
	Text int `json:"text,string"`
}

func TestDocumentOfAnyShape(t *testing.T) {
	a, at := "a", time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	some := everything{
		Text: "<\x7f>", Yes: true, Number: -3, Less: 1 << 60, Few: 3, Part: 0.5, Raw: []byte("raw"), List: []named{{Name: "b"}, {own: 1}}, Empty: []named{}, Zero: []named{},
		Lists: [][]*string{nil, {}, {&a, nil}}, At: at, Then: &at, By: map[string]int{"z": 1, "a": 2}, Words: map[string]string{}, Any: []any{1, "x"},
		Owns: []own{{}}, Hidden: "h", Zeroes: named{own: 1}, hidden: "h",
	}
	whole := some
	whole.More = &some
	for _, doc := range []any{&whole, whole, &everything{}, &[]everything{}, &ends{First: whole}, &ends{First: some, Until: own{7}}, &untagged{named{Name: "n"}, "b", 3}, (*everything)(nil), "text", &at} {
		isWritten(t, doc)
	}
}
