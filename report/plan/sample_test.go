package plan

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra/all"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/plan/plantest"
)

// providerTools and described are what every provider of this release brings.
var (
	providerTools = Tools(all.Registry().Tools())
	described     = build.Providers(all.Registry().Specs())
)

// sample returns a report that has one of most findings, and in which every foreign
// string is name.
func sample(name string) *report.Report { return plantest.Sample(name, described) }

func commands[S Step | report.Step](steps []S) []string {
	var out []string
	for _, s := range steps {
		out = append(out, reported(s).Commands...)
	}
	return out
}

// everyStep returns each step of a plan: of findings, and of the restore as a whole.
func everyStep(r *report.Report) []report.Step {
	out := plantest.AllSteps(r)
	for _, s := range New(r, providerTools).Sections {
		for _, c := range s.Chapters {
			out = append(out, plain(c.Steps)...)
		}
	}
	return out
}

// planText returns all that a plan says and has run, in its order.
func planText(p Plan) string {
	out := slices.Concat(p.Answer, p.Unknown)
	for _, r := range p.Checklist {
		out = append(out, fmt.Sprint(r.Number, " ", r.Phase, " ", r.Cluster, ": ", r.What))
	}
	for _, v := range p.Variables {
		out = append(out, v.Name+"="+v.Value, v.Meaning)
	}
	for _, s := range p.Sections {
		out = append(out, sectionText(s))
	}
	return inOneRow(out)
}

func sectionText(s Section) string {
	out := []string{s.Title}
	for _, c := range s.Chapters {
		out = append(append(append(out, c.Title), c.Notes...), lines(c.Steps)...)
		for _, b := range c.Batches {
			out = append(out, b.Title, b.Note, b.Forecast)
			for _, item := range b.Items {
				out = append(out, item.Name, item.Detail, item.Forecast)
				out = append(out, item.machines...)
				for _, c := range slices.Concat(item.Commands...) {
					out = append(out, c.Text())
				}
			}
			out = append(out, lines(b.Steps)...)
		}
	}
	return inOneRow(out)
}

// inOneRow joins texts, with one space between any two words.
func inOneRow(texts []string) string {
	return strings.Join(strings.Fields(strings.Join(texts, "\n")), " ")
}
