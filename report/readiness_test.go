package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/readiness"
	"drift-detector/report/schematest"
)

func sampleReadiness() *Readiness {
	gone := readiness.Rule{Code: "Gone", Severity: readiness.Error, Why: "it matters", Do: "bring it back"}
	late := readiness.Rule{Code: "Late", Severity: readiness.Warning, Why: "time flies", Do: "hurry"}
	note := readiness.Rule{Code: "Note", Severity: readiness.Info, Why: "good to know", Do: "nothing"}
	return NewReadiness(
		&backup.Snapshot{Backups: []backup.Info{{Path: "a.tar.gz"}, {Path: "b.tar.gz"}}}, nil,
		[]readiness.Finding{
			gone.On(0, "Secret a/b", "not there"), gone.On(1, "Secret a/c", "not there\x1b[31m either"),
			late.On(0, "Cluster a/b", "too late"), note.On(1, "backup b.tar.gz", "3 days old"),
		},
		Tool{Name: "drift-detector"}, time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC))
}

func TestReadinessText(t *testing.T) {
	var out bytes.Buffer
	if err := ReadinessText(&out, sampleReadiness(), TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	want := `Fit to be restored? NOT WITHOUT MANUAL WORK
Found: 2 errors, 1 warning, 1 note
Backup: a.tar.gz
Backup: b.tar.gz

! Gone  (error, 2)
  Secret a/b: not there  in a.tar.gz
  Secret a/c: not there\x1b[31m either  in b.tar.gz
  Why: it matters
  Do: bring it back

? Late  (warning, 1)
  Cluster a/b: too late  in a.tar.gz
  Why: time flies
  Do: hurry

= Note  (info, 1)
  backup b.tar.gz: 3 days old  in b.tar.gz
  Why: good to know
  Do: nothing
`
	if out.String() != want {
		t.Errorf("text\n%s\nwant\n%s", &out, want)
	}
}

// The answer is that of the worst finding.
func TestReadinessAnswer(t *testing.T) {
	r := sampleReadiness()
	for _, test := range []struct {
		from int
		want string
	}{{0, "NOT WITHOUT MANUAL WORK"}, {2, "YES, WITH CARE"}, {3, "YES"}, {4, "YES"}} {
		part := *r
		part.Checks = r.Checks[test.from:]
		part.Summary = countChecks(part.Checks)
		var out bytes.Buffer
		if err := ReadinessText(&out, &part, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(out.String(), "\n"); first != "Fit to be restored? "+test.want {
			t.Errorf("from %d: %s", test.from, first)
		}
	}
}

func TestReadinessIsValid(t *testing.T) {
	valid := schematest.Strict(t, CheckSchema())
	var out bytes.Buffer
	if err := ReadinessJSON(&out, sampleReadiness()); err != nil {
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
	if err := ReadinessJSON(&out, sampleReadiness()); err != nil {
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
	if err := ReadinessJSON(&out, NewReadiness(nil, nil, nil, Tool{}, time.Time{})); err != nil || strings.Contains(out.String(), "null") {
		t.Errorf("%v: %s", err, &out)
	}
}

func TestReadinessTellsWriteErrors(t *testing.T) {
	full := errors.New("disk full")
	for _, err := range []error{
		ReadinessText(failing{full}, sampleReadiness(), TextOptions{}), ReadinessJSON(failing{full}, sampleReadiness()),
	} {
		if !errors.Is(err, full) {
			t.Errorf("error %v", err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Groups keep the order and lose nothing.
func TestGroups(t *testing.T) {
	all := sampleReadiness().Checks
	var back []Check
	sizes := []int{}
	for g := range groups(all) {
		back, sizes = append(back, g...), append(sizes, len(g))
	}
	if !reflect.DeepEqual(back, all) || !slices.Equal(sizes, []int{2, 1, 1}) {
		t.Errorf("sizes %v", sizes)
	}
}
