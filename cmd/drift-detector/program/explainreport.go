package program

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan"
)

// explainedReport is what a report says of codes, and its plan.
type explainedReport struct {
	file   string
	report *report.Report
	plan   plan.Plan
}

// occurrence is a thing that a code is said of, with the steps of the plan about it.
type occurrence struct {
	Name    string   `json:"name"` // empty: the restore as a whole
	Cluster string   `json:"cluster,omitempty"`
	Steps   []string `json:"steps"`
}

// readFound reads a report and makes its plan.
func readFound(file string) (*explainedReport, error) {
	r, err := readReport(file)
	if err != nil {
		return nil, err
	}
	return &explainedReport{file, r, planOf(r)}, nil
}

// of returns the occurrences of a code; none without a report.
func (f *explainedReport) of(r code.Row) []occurrence {
	if f == nil {
		return nil
	}
	var out []occurrence
	for _, o := range f.report.Occurrences(r.Code) {
		asCheck := o.At.Part == report.InChecks && f.report.Checks[o.At.Index].Code == r.Code
		if asCheck != r.Is(code.Check) {
			continue
		}
		cluster := ""
		if o.At.Part == report.InClusters {
			cluster = f.report.Clusters[o.At.Index].Title()
		}
		out = append(out, occurrence{o.Name, cluster, append([]string{}, f.plan.About(r.Code, o)...)})
	}
	return out
}

// print lists the occurrences of a code.
func (f *explainedReport) print(b *bytes.Buffer, rows []code.Row) {
	if f == nil {
		return
	}
	var all []occurrence
	for _, r := range rows {
		for _, o := range f.of(r) {
			if !slices.ContainsFunc(all, func(have occurrence) bool { return have.Name == o.Name && have.Cluster == o.Cluster }) {
				all = append(all, o)
			}
		}
	}
	fmt.Fprintf(b, "%-16s%s\n", "In the report", english.Count(len(all), "occurrence"))
	for _, o := range all {
		const indent, room = 16, cli.HelpWidth - 16
		name, steps := terminal.Escape(cmp.Or(o.Name, "the restore as a whole")), stepsInWords(o.Steps)
		if steps != "" && terminal.Width(name)+len("   "+steps) <= room {
			name, steps = name+"   "+steps, ""
		}
		for _, row := range broken(name, room) {
			fmt.Fprintf(b, "%*s%s\n", indent, "", row)
		}
		if steps != "" {
			b.WriteString(cli.Indented(steps, indent+2, indent+2))
		}
	}
}

// stepsInWords names steps as people do: "steps 3.1 and 8 (8.2 and 8.3)", where 8 is a whole step.
func stepsInWords(steps []string) string {
	parts, words := map[string][]string{}, []string{}
	for _, s := range steps {
		if number, _, part := strings.Cut(s, "."); part && slices.Contains(steps, number) {
			parts[number] = append(parts[number], s)
		}
	}
	for _, s := range steps {
		number, _, part := strings.Cut(s, ".")
		if own := parts[number]; part && own != nil {
			continue
		} else if own != nil {
			s += " (" + english.And(own) + ")"
		}
		words = append(words, s)
	}
	switch len(words) {
	case 0:
		return ""
	case 1:
		return "step " + words[0]
	}
	return "steps " + english.And(words)
}

// broken returns a name in rows of so many columns, behind a slash where there is one: nothing of it is
// left out, because it is looked up.
func broken(name string, room int) (rows []string) {
	for terminal.Width(name) > room {
		at := len(terminal.Begin(name, room)) - len("…")
		if slash := strings.LastIndexByte(name[:at], '/'); slash > 0 {
			at = slash + 1
		}
		rows, name = append(rows, name[:at]), name[at:]
	}
	return append(rows, name)
}
