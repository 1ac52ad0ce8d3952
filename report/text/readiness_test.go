package text

import (
	"bytes"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/build/buildtest"
)

func TestReadinessText(t *testing.T) {
	var out bytes.Buffer
	if err := Readiness(&out, buildtest.Readiness(), Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	want := `Can it be restored? NOT WITHOUT MANUAL WORK
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

// On a terminal, why and what to do are not a thousand lines away from the code.
func TestReadinessOfManyIsShort(t *testing.T) {
	r := buildtest.Readiness()
	for _, c := range []struct {
		most int
		want string
	}{
		{1, "  Secret a/b: not there  in a.tar.gz\n  and 1 more; -o FILE lists all\n  Why: it matters\n"},
		{2, " either  in b.tar.gz\n  Why: it matters\n"},
		{0, " either  in b.tar.gz\n  Why: it matters\n"},
	} {
		var out bytes.Buffer
		if err := Readiness(&out, r, Options{Most: c.most}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("at most %d:\n%s", c.most, &out)
		}
	}
}

// The answer is that of the worst finding.
func TestReadinessAnswer(t *testing.T) {
	r := buildtest.Readiness()
	for _, test := range []struct {
		from int
		want string
	}{{0, "NOT WITHOUT MANUAL WORK"}, {2, "YES, WITH CARE"}, {3, "YES"}, {4, "YES"}} {
		part := *r
		part.Checks = r.Checks[test.from:]
		part.Summary = report.CountChecks(part.Checks)
		var out bytes.Buffer
		if err := Readiness(&out, &part, Options{}); err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(out.String(), "\n"); first != "Can it be restored? "+test.want {
			t.Errorf("from %d: %s", test.from, first)
		}
	}
}
