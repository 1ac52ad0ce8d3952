package plan

import (
	"drift-detector/internal/english"
	"drift-detector/report"
)

func key(c *report.Cluster) string { return c.Namespace + "/" + c.Name }

// keys returns the names of clusters.
func keys(all []*report.Cluster) []string {
	var out []string
	for _, c := range all {
		out = append(out, key(c))
	}
	return out
}

func names(cs []*report.Cluster) string { return listed(keys(cs)) }

// listed names the first that a sentence is about, as errors do; the report has all.
func listed(names []string) string {
	return english.First(3, names)
}

// shown is how many names a sentence lists.
const shown = 10

var labelForm = report.LabelForm
