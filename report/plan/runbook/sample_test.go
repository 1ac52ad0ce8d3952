package runbook

import (
	"io"
	"strings"
	"testing"

	"drift-detector/infra/all"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/plan"
	"drift-detector/report/plan/plantest"
)

// Most tests look for commands as single lines.
func init() { widest = 1 << 20 }

// providerTools and described are what every provider of this release brings.
var (
	providerTools = plan.Tools(all.Registry().Tools())
	described     = build.Providers(all.Registry().Specs())
)

// sample returns a report that has one of most findings, and in which every foreign
// string is name.
func sample(name string) *report.Report { return plantest.Sample(name, described) }

// threefold returns a sample with three of each finding.
func threefold(name string) *report.Report { return plantest.Threefold(sample(name)) }

// asShell returns the script of a report's plan, and asMarkdown its Markdown.
func asShell(t *testing.T, r *report.Report) string {
	t.Helper()
	return printed(t, Shell, plan.New(r, providerTools))
}

func asMarkdown(t *testing.T, r *report.Report) string {
	t.Helper()
	return printed(t, Markdown, plan.New(r, providerTools))
}

func printed(t *testing.T, form func(io.Writer, plan.Plan) error, p plan.Plan) string {
	t.Helper()
	var b strings.Builder
	if err := form(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
