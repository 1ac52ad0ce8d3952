package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"drift-detector/internal/terminal"
)

// JSON writes the document itself: indented by two spaces, with a newline at
// the end, the same bytes for the same Report. Marks that could play tricks
// with a terminal are written as \u escapes, which every reader of JSON
// understands as the very same text.
//
// It is written as a stream: a fleet of 100,000 machines makes a document of more than
// 100 MB.
func JSON(w io.Writer, r *Report) error { return Document(w, r) }

// asBefore is the JSON of encoding/json, whose own encoder takes twice as long.
var asBefore = json2.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))

// Document writes the struct that doc points to, another document of this
// program, in the form of [JSON].
func Document(w io.Writer, doc any) error {
	out := bufio.NewWriterSize(w, 1<<16)
	if err := json2.MarshalEncode(jsontext.NewEncoder(&terminal.JSONWriter{To: out}, asBefore), doc); err != nil {
		return fmt.Errorf("writing the report as JSON: %w", cmp.Or(out.Flush(), err))
	}
	return out.Flush()
}

// Valid returns a string as a report that was saved as JSON gives it back: each
// invalid byte is U+FFFD. Formats print foreign text through it, so that they
// write the same of a report and of its saved form.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// Read reads a document that JSON wrote. It refuses what is cut short, followed
// by anything else, of another schema version, or no report, and one that was edited
// until a word in it means nothing. Fields that it does not know
// are skipped: a later release of schema 1 may have added them.
func Read(r io.Reader) (*Report, error) {
	// What begins as no report does is not read to its end, which may be far.
	in := bufio.NewReaderSize(r, 1<<12)
	start, err := in.Peek(1 << 12)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	if other := otherThing(start); other != "" {
		return nil, errors.New("reading the report: " + other)
	}
	if bytes.HasPrefix(start, []byte(byteOrderMark)) {
		_, _ = in.Discard(len(byteOrderMark))
	}
	doc, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	var head struct {
		SchemaVersion    string          `json:"schemaVersion"`
		InventoryVersion json.RawMessage `json:"inventoryVersion"`
	}
	if err := json.Unmarshal(doc, &head); err != nil {
		return nil, fmt.Errorf("reading the report: %w", syntax(err))
	}
	switch head.SchemaVersion {
	case SchemaVersion:
	case "":
		if head.InventoryVersion != nil {
			return nil, errors.New("reading the report: this is an inventory" + instead + ", from detect --inventory FILE")
		}
		return nil, errors.New("reading the report: no schemaVersion in it: not a report of drift-detector" + instead)
	default:
		return nil, fmt.Errorf("reading the report: it is of schema version %q, this release reads %q", head.SchemaVersion, SchemaVersion)
	}
	if err := whole(doc); err != nil {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	out := new(Report)
	if err := json.Unmarshal(doc, out); err != nil {
		return nil, fmt.Errorf("reading the report: %w", syntax(err))
	}
	if err := out.known(); err != nil {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	out.FillLists()
	return out, nil
}

// byteOrderMark is what editors of Windows put before a text in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// instead is what to do about a document that is no report.
const instead = "; give the JSON that detect -o report.json writes"

// otherThing says what a document is that is plainly no JSON, and what to give instead;
// empty when that is not known.
func otherThing(doc []byte) string {
	text := bytes.TrimSpace(bytes.TrimPrefix(doc, []byte(byteOrderMark)))
	switch {
	case len(text) == 0:
		return "the file is empty" + instead
	case bytes.HasPrefix(doc, []byte{0x1f, 0x8b}):
		return "this is compressed, as a backup is" + instead + ", from detect --backup FILE"
	case text[0] == '<':
		return "this is the report in another format, or a page" + instead
	case text[0] == '#' || bytes.HasPrefix(text, []byte("Safe to restore?")), bytes.HasPrefix(text, []byte("Drift now:")):
		return "this is the report in another format" + instead
	case text[0] == 0:
		return "this is no text" + instead
	}
	return ""
}

// whole refuses a document that lacks what a report is made of: another
// document of drift-detector, or a report that was cut by hand. It would read as
// a report without findings.
func whole(doc []byte) error {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(doc, &parts); err != nil {
		return syntax(err)
	}
	for _, name := range []string{"summary", "clusters", "infraMachines", "scopes"} {
		if v := parts[name]; len(v) == 0 || string(v) == "null" {
			return fmt.Errorf("it has no %s: not a report of detect, or not all of one", name)
		}
	}
	return nil
}

// syntax says where the document stops being one.
func syntax(err error) error {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return fmt.Errorf("not a whole JSON document, byte %d: %w%s", s.Offset, err, instead)
	}
	var k *json.UnmarshalTypeError
	if errors.As(err, &k) {
		return fmt.Errorf("%s is a JSON %s, which it is in no report of detect", cmp.Or(k.Field, "the document"), k.Value)
	}
	return err
}

// FillLists makes every list that the schema demands a list: [] and never null,
// so that scripts can loop without asking first.
func (r *Report) FillLists() {
	fill(&r.Backups)
	fill(&r.Clusters)
	fill(&r.InfraMachines)
	fill(&r.Scopes)
	fill(&r.Checks)
	fill(&r.Errors)
	for i := range r.Providers {
		fill(&r.Providers[i].MachineKinds)
	}
	if r.Summary.Excluded == nil {
		r.Summary.Excluded = map[string]int{}
	}
	if a := r.Summary.Answer; a != nil {
		fillReasons(&a.Reasons)
		fill(&a.Conditions)
	}
	if a := r.Summary.AnswerByPlan; a != nil {
		fillReasons(&a.Reasons)
		fillReasons(&a.Resolved)
	}
	for i := range r.ToDo {
		fill(&r.ToDo[i].Objects)
		fill(&r.ToDo[i].Steps)
	}
	if f := r.Summary.Forecast; f != nil {
		fill(&f.Notes)
	}
	for i := range r.Backups {
		fill(&r.Backups[i].Missing)
	}
	for i := range r.InfraMachines {
		fill(&r.InfraMachines[i].Evidence)
		fillSteps(r.InfraMachines[i].Remediation)
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Forecast != nil {
			fill(&c.Forecast.Notes)
		}
		fillMachines(&c.ControlPlane.Machines)
		fill(&c.Resources)
		fill(&c.Workers.Groups)
		for j := range c.Workers.Groups {
			g := &c.Workers.Groups[j]
			fillMachines(&g.Machines)
			if g.Pool != nil {
				fill(&g.Pool.Then)
				fill(&g.Pool.Now)
				fill(&g.Pool.Missing)
				fill(&g.Pool.Added)
			}
		}
	}
}

// FillLists makes every list of the document a list, never null.
func (r *Readiness) FillLists() {
	fill(&r.Backups)
	fill(&r.Checks)
	for i := range r.Backups {
		fill(&r.Backups[i].Missing)
	}
}

func fillMachines(ms *[]Machine) {
	fill(ms)
	for i := range *ms {
		fill(&(*ms)[i].Evidence)
		fillSteps((*ms)[i].Remediation)
	}
}

func fillSteps(steps []Step) {
	for i := range steps {
		fill(&steps[i].Commands)
	}
}

func fill[T any](s *[]T) {
	if *s == nil {
		*s = []T{}
	}
}

func fillReasons(all *[]AnswerReason) {
	fill(all)
	for i := range *all {
		fill(&(*all)[i].Objects)
	}
}
