package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/schematest"
	"drift-detector/report/text"
)

func TestReadinessIsValid(t *testing.T) {
	valid := schematest.Strict(t, report.CheckSchema())
	var out bytes.Buffer
	if err := report.ReadinessJSON(&out, buildtest.Readiness()); err != nil {
		t.Fatal(err)
	}
	if err := valid(out.Bytes()); err != nil {
		t.Error(err)
	}
	if bad := strings.Replace(out.String(), `"severity": "error"`, `"severity": "fatal"`, 1); valid([]byte(bad)) == nil {
		t.Error("an unknown severity is accepted")
	}
}

// TestReadinessJSON pins the document, and that a list is never null.
func TestReadinessJSON(t *testing.T) {
	members := func(text json.RawMessage) []string {
		var names []string
		d := json.NewDecoder(bytes.NewReader(text))
		for depth := 0; ; {
			token, err := d.Token()
			if err != nil {
				return names
			}
			switch v := token.(type) {
			case json.Delim:
				if v == '{' || v == '[' {
					depth++
				} else {
					depth--
				}
			case string:
				if depth == 1 {
					names = append(names, v)
					var skip json.RawMessage
					if err := d.Decode(&skip); err != nil {
						return nil
					}
				}
			}
		}
	}
	var out bytes.Buffer
	if err := report.ReadinessJSON(&out, buildtest.Readiness()); err != nil {
		t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(members(out.Bytes()), " "); got != "schemaVersion tool generatedAt backups summary checks" {
		t.Errorf("members %s", got)
	}
	if got := strings.Join(members(doc["summary"]), " "); got != "errors warnings infos" {
		t.Errorf("summary %s", got)
	}
	var checks []json.RawMessage
	if err := json.Unmarshal(doc["checks"], &checks); err != nil || len(checks) != 4 {
		t.Fatalf("%d checks, %v", len(checks), err)
	}
	if got := strings.Join(members(checks[0]), " "); got != "severity code backup object message why do" {
		t.Errorf("check %s", got)
	}
	out.Reset()
	if err := report.ReadinessJSON(&out, build.Readiness(nil, nil, nil, nil, report.Tool{}, time.Time{})); err != nil || strings.Contains(out.String(), "null") {
		t.Errorf("%v: %s", err, &out)
	}
}

func TestReadinessTellsWriteErrors(t *testing.T) {
	full := errors.New("disk full")
	for _, err := range []error{
		text.Readiness(failing{full}, buildtest.Readiness(), text.Options{}), report.ReadinessJSON(failing{full}, buildtest.Readiness()),
	} {
		if !errors.Is(err, full) {
			t.Errorf("error %v", err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
