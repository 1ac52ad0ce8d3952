package report_test

import (
	"strings"
	"testing"

	"drift-detector/infra/all"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
	"drift-detector/report/schematest"
)

func TestReportsAreValid(t *testing.T) {
	valid := schematest.Strict(t, report.Schema())
	small := buildtest.Sample()
	small.Options.IgnoreHealthy = true
	described := buildtest.Sample()
	described.Providers = all.Registry().Specs()
	for name, r := range map[string]*report.Report{"sample": build.New(buildtest.Sample()), "ignoring": build.New(small), "providers": build.New(described), "pools": build.New(buildtest.Pools()), "empty": withStatus(build.New(build.Parts{}), code.Healthy)} {
		if err := valid(reporttest.JSON(t, r)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// withStatus gives a report without a result the status that a result has.
func withStatus(r *report.Report, status code.Status) *report.Report {
	r.Summary.Status = status
	return r
}

func TestSchemaRefuses(t *testing.T) {
	valid := schematest.Strict(t, report.Schema())
	good := string(reporttest.JSON(t, build.New(buildtest.Sample())))
	for name, swap := range map[string][2]string{
		"other version":       {`"schemaVersion": "1"`, `"schemaVersion": "2"`},
		"unknown status":      {`"status": "Ghost"`, `"status": "Lost"`},
		"unknown field":       {`"errors": [`, `"surplus": 1, "errors": [`},
		"missing field":       {`"outOfScope": 4,`, ``},
		"null for a list":     {`"evidence": [],`, `"evidence": null,`},
		"time without a zone": {`"generatedAt": "2026-11-20T08:30:00Z"`, `"generatedAt": "2026-11-20T08:30:00"`},
	} {
		bad := strings.Replace(good, swap[0], swap[1], 1)
		if bad == good {
			t.Fatalf("%s: nothing to replace", name)
		}
		if valid([]byte(bad)) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
