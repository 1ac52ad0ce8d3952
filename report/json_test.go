package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/reporttest"
	"drift-detector/report/text"
)

func TestReadGivesBackWhatJSONWrote(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		r := reporttest.Filled(g)
		first := reporttest.JSON(t, r)
		back, err := report.Read(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("reading back: %v\n%s", err, first)
		}
		if second := reporttest.JSON(t, back); !bytes.Equal(first, second) {
			t.Fatalf("written:\n%s\nread and written:\n%s", first, second)
		}
	}
}

// TestJSONIsWhatTheLibraryWrites: list by list makes the document that one
// call of encoding/json makes.
func TestJSONIsWhatTheLibraryWrites(t *testing.T) {
	g := rand.New(rand.NewPCG(9, 10))
	for _, r := range []*report.Report{build.New(buildtest.Sample()), build.New(build.Parts{}), reporttest.Filled(g), reporttest.Filled(g), reporttest.Filled(g)} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
		if got := reporttest.JSON(t, r); !bytes.Equal(got, terminal.JSON(want.Bytes())) {
			t.Fatalf("got\n%s\nwant\n%s", got, want.Bytes())
		}
	}
}

func TestJSONIsSafeAndTheSame(t *testing.T) {
	nasty := "\x1b[31m\x7f\u0085\u202e\u2028\U000e0041\ufffd<&>机"
	p := buildtest.Sample()
	p.Result.Clusters[0].ControlPlane.Machines[0].Name = nasty
	doc := reporttest.JSON(t, build.New(p))
	if got := string(doc); terminal.Escape(got) != strings.ReplaceAll(got, "\n", `\x0a`) {
		t.Error("the document holds characters that a terminal may act on")
	}
	if !bytes.Contains(doc, []byte("<&>机")) || !bytes.HasSuffix(doc, []byte("\n}\n")) {
		t.Error("the document escapes what needs no escape, or does not end in a newline")
	}
	r, err := report.Read(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Clusters[0].ControlPlane.Machines[0].Name; got != nasty {
		t.Errorf("name is %q after a round trip, want %q", got, nasty)
	}
	if !bytes.Equal(doc, reporttest.JSON(t, build.New(p))) {
		t.Error("two documents of the same parts differ")
	}
}

func TestReadRefuses(t *testing.T) {
	p := buildtest.Sample()
	p.Options.IgnoreHealthy = true // a short document is cut sooner
	doc := reporttest.JSON(t, build.New(p))
	for name, tt := range map[string]struct{ doc, want string }{
		"empty":          {"", "the file is empty; give the JSON"},
		"spaces":         {" \n", "the file is empty; give the JSON"},
		"backup":         {"\x1f\x8b\x08\x00", "this is compressed, as a backup is; give the JSON that detect -o report.json writes, from detect --backup FILE"},
		"page":           {"<!DOCTYPE html>", "in another format, or a page; give"},
		"metrics":        {"# HELP drift_detector_info", "this is the report in another format; give"},
		"text":           {"Safe to restore? NO", "this is the report in another format; give"},
		"not JSON":       {"hello", "not a whole JSON document"},
		"null":           {"null", "no schemaVersion"},
		"other document": {`{"kind":"Backup"}`, "no schemaVersion"},
		"inventory":      {`{"inventoryVersion":"1","listings":[]}`, "this is an inventory; give the JSON that detect -o report.json writes, from detect --inventory FILE"},
		"newer schema":   {`{"schemaVersion":"2","clusters":7}`, `schema version "2"`},
		"older schema":   {`{"schemaVersion":"0"}`, `schema version "0"`},
		"version number": {`{"schemaVersion":1}`, "schemaVersion"},
		"wrong type":     {`{"schemaVersion":"1","summary":{},"clusters":7,"infraMachines":[],"scopes":[]}`, "clusters"},
		"of check":       {`{"schemaVersion":"1","backups":[],"summary":{},"checks":[]}`, "it has no clusters"},
		"no summary":     {`{"schemaVersion":"1","clusters":[],"infraMachines":[],"scopes":[]}`, "it has no summary"},
		"null scopes":    {`{"schemaVersion":"1","summary":{},"clusters":[],"infraMachines":[],"scopes":null}`, "it has no scopes"},
		"trailing text":  {string(doc) + "x", "not a whole JSON document"},
		"two documents":  {string(doc) + string(doc), "not a whole JSON document"},
	} {
		if _, err := report.Read(strings.NewReader(tt.doc)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
	whole := bytes.TrimSpace(doc)
	for cut := 0; cut < len(whole); cut += 1 + len(whole)/200 {
		if _, err := report.Read(bytes.NewReader(whole[:cut])); err == nil {
			t.Errorf("accepted the first %d of %d bytes", cut, len(whole))
		}
	}
}

func TestReadSkipsNewFieldsAndFillsLists(t *testing.T) {
	r, err := report.Read(strings.NewReader(`{"schemaVersion":"1","later":{"x":[1]},"summary":{},"infraMachines":[],"scopes":[],"clusters":[{"controlPlane":{"machines":[{"status":"Healthy"}]},"workers":{"groups":[{}]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if doc := reporttest.JSON(t, r); bytes.Count(doc, []byte("null")) != bytes.Count(doc, []byte(`"instance": null`)) {
		t.Errorf("null where a list belongs:\n%s", doc)
	}
}

// TestReadRefusesUnknownWords: a word that decides, and that the schema does not have, is
// an error in every place that has one.
func TestReadRefusesUnknownWords(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(20) {
		doc := string(reporttest.JSON(t, reporttest.Random(seed)))
		if _, err := report.Read(strings.NewReader(doc)); err != nil {
			t.Fatal(err)
		}
		for _, at := range regexp.MustCompile(`(?m)^( *)"(status|safe|phase|severity|statusWithoutRules)": "([a-zA-Z]+)"`).FindAllStringSubmatchIndex(doc, -1) {
			field := doc[at[2]:at[3]] + doc[at[4]:at[5]]
			if seen[field] {
				continue
			}
			seen[field] = true
			for _, word := range []string{"Broken", "Healthy ", "\\u202eghost"} {
				bad := doc[:at[6]] + word + doc[at[7]:]
				_, err := report.Read(strings.NewReader(bad))
				if err == nil || !strings.Contains(err.Error(), "as in no report of detect: it is one of ") || strings.Contains(err.Error(), "\u202e") {
					t.Errorf("%s %q: %v", field, word, err)
				}
			}
		}
	}
	if len(seen) < 6 {
		t.Errorf("only %v", seen)
	}
	for doc, want := range map[string]string{
		`{"schemaVersion":"1","summary":{},"infraMachines":[],"scopes":[],"clusters":[{"namespace":"a","name":"b","controlPlane":{"machines":[{"namespace":"a","name":"m"}]}}]}`: "machine a/m has no status",
		`{"schemaVersion":"1","summary":{},"infraMachines":[],"scopes":[{"endpoint":"vc.corp","state":"whole"}],"clusters":[]}`:                                                  `scope vc.corp has state "whole"`,
		`{"schemaVersion":"1","summary":{"answer":{"safe":"maybe"}},"infraMachines":[],"scopes":[],"clusters":[]}`:                                                               `the answer has safe "maybe"`,
		`{"schemaVersion":"1","summary":{"answerByPlan":{"safe":"maybe"}},"infraMachines":[],"scopes":[],"clusters":[]}`:                                                         `the answer by the plan has safe "maybe"`,
		`{"schemaVersion":"1","summary":{},"toDo":[{"code":"X","phase":"soon"}],"infraMachines":[],"scopes":[],"clusters":[]}`:                                                   `what is to be done X has phase "soon"`,
		`{"schemaVersion":"1","summary":{},"toDo":[{"phase":"before","safe":"so"}],"infraMachines":[],"scopes":[],"clusters":[]}`:                                                `what is to be done has safe "so"`,
		`{"schemaVersion":"1","summary":{},"infraMachines":[],"scopes":[],"clusters":[{"resources":[{"kind":"VPC","name":"v","state":"gone"}]}]}`:                                `VPC v has state "gone"`,
		`{"schemaVersion":"1","summary":{},"infraMachines":[],"scopes":[],"clusters":[{"workers":{"groups":[{"kind":"MachinePool","name":"p","pool":{"state":"gone"}}]}}]}`:      `the pool of MachinePool /p has state "gone"`,
	} {
		if _, err := report.Read(strings.NewReader(doc)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

type brokenWriter struct{}

var errBroken = errors.New("no space left")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestFormatsTellTheWritersError(t *testing.T) {
	r := build.New(buildtest.Sample())
	for name, err := range map[string]error{"JSON": report.JSON(brokenWriter{}, r), "Text": text.Write(brokenWriter{}, r, text.Options{})} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: error %v, want %v", name, err, errBroken)
		}
	}
}
