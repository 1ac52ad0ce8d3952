package program

import (
	"fmt"
	"io"
	"os"

	"drift-detector/infra/all"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/formats"
	"drift-detector/report/html"
	"drift-detector/report/message"
	"drift-detector/report/plan"
	"drift-detector/report/plan/runbook"
	"drift-detector/report/text"
)

// readReport reads a report of this version or of one before. It returns an error, which names
// the file, when that cannot be read or holds no report.
func readReport(path string) (*report.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	defer f.Close()
	rep, err := report.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if rep.ToDo == nil { // of a version that did not say it
		rep.ToDo = plan.ToDo(rep, describedTools(rep))
	}
	return rep, nil
}

// warnChanged says which members of a report are not as detect wrote them: what is made of it
// follows from them all the same. What narrows a report leaves it without digests, which is no
// change.
func warnChanged(s *cli.Streams, path string, rep *report.Report) {
	if members, _ := rep.Changed(); len(members) > 0 {
		s.Warn("%s is not as detect wrote it: %s changed; what follows from that is not from what was seen", cli.Quoted(path), english.First(len(members), members))
	}
}

// planOf returns the plan of a report, also of one of a release that did not describe providers.
func planOf(r *report.Report) plan.Plan { return plan.New(r, describedTools(r)) }

// describedTools returns the tools of the providers, which the report then describes.
func describedTools(r *report.Report) plan.Tools {
	registry := all.Registry()
	if r.Providers == nil {
		r.Providers = build.Providers(registry.Specs())
	}
	return registry.Tools()
}

// runbookOf returns the plan of a report for its page, with the steps of what is shown.
func runbookOf(r *report.Report, only report.Filter) (*html.Runbook, error) {
	if r.IsLive() { // of which nothing is restored
		return nil, nil
	}
	p := planOf(r)
	if len(only.Clusters)+len(only.Namespaces) > 0 {
		if err := p.Narrow(plan.Narrowing{Clusters: only.Clusters, Namespaces: only.Namespaces}); err != nil {
			return nil, err
		}
	}
	return runbook.Page(p), nil
}

// reportWriter writes a report in the format of an output. Text that goes to stdout
// takes the form that fits there, and about is for messages.
func reportWriter(r *report.Report, about message.About, s *cli.Streams) func(io.Writer, *cli.Output) error {
	return func(w io.Writer, o *cli.Output) error {
		if o.Format == "text" && o.Path == "" {
			return text.Write(w, r, textOptions(s))
		}
		if o.Format == "html" {
			book, err := runbookOf(r, report.Filter{})
			if err != nil {
				return err
			}
			return html.WriteWith(w, r, book)
		}
		if write := about.Named(o.Format); write != nil {
			return write(w, r)
		}
		write, err := formats.Report.Named(o.Format)
		if err != nil {
			return err
		}
		return write(w, r)
	}
}

// sealedWriter writes a report that was made by this run, with digests where it is JSON.
func sealedWriter(r *report.Report, about message.About, s *cli.Streams) func(io.Writer, *cli.Output) error {
	as := reportWriter(r, about, s)
	return func(w io.Writer, o *cli.Output) error {
		if o.Format == "json" {
			return report.Sealed(w, r)
		}
		return as(w, o)
	}
}
