package detector

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/detector/match"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// whenGone explains the absence of a resource in a sentence.
var whenGone = map[code.WhenGone]string{
	code.FailsReplacement: "replacing a machine will fail",
	code.HaltsCluster:     "the restored controllers do nothing for the cluster until it is back",
	code.MadeAgain:        "the restored controllers create a new one",
}

// resources returns the states of what the clusters' machines depend on, by cluster.
func resources(ix *match.Index, all []infra.Resource, clusters int) map[backup.ClusterID][]report.Resource {
	out := make(map[backup.ClusterID][]report.Resource, clusters)
	for i := range all {
		r := &all[i]
		s := report.Resource{Kind: r.Kind, Name: r.Name, UsedBy: r.UsedBy, WhenGone: cmp.Or(r.WhenGone, code.FailsReplacement)}
		var why string
		s.State, why = ix.Presence(r.Cluster, r.Target, r.Keys...)
		if s.Several = s.State == code.Present && ix.Several(r.Cluster, r.Target, r.Keys); s.Several {
			s.State = code.Absent
		}
		switch s.State {
		case code.Present:
			if s.WhenGone == code.Unwanted {
				s.Message = r.Consequence
			}
		case code.Absent:
			if s.WhenGone == code.Unwanted {
				continue
			}
			s.Message = fmt.Sprintf("%s: %s %s was not found", cmp.Or(r.Consequence, whenGone[s.WhenGone]), r.Kind, r.Name)
			if s.Several {
				s.Message = fmt.Sprintf("%s: several answer to %s %s", cmp.Or(r.Consequence, whenGone[s.WhenGone]), r.Kind, r.Name)
			}
		case code.Undecided:
			s.Message = "whether it exists is not known: " + why
			switch s.WhenGone {
			case code.Unwanted:
				s.Message += "; if it does: " + r.Consequence
			case code.HaltsCluster:
				s.Message += "; if it is gone: " + cmp.Or(r.Consequence, whenGone[s.WhenGone])
			}
		}
		list := out[r.Cluster]
		if list == nil { // most are one after the other
			n := 1
			for i+n < len(all) && all[i+n].Cluster == r.Cluster {
				n++
			}
			list = make([]report.Resource, 0, n)
		}
		out[r.Cluster] = append(list, s)
	}
	for id, list := range out {
		sorting.By(list, func(a, b report.Resource) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UsedBy, b.UsedBy),
				b.State.Severity()-a.State.Severity(), cmp.Compare(a.Message, b.Message))
		})
		out[id] = slices.Compact(list)
	}
	return out
}

// haltsOf returns the expected machines' Halts by cluster, in order.
func haltsOf(all []infra.Halt) map[backup.ClusterID][]infra.Halt {
	out := map[backup.ClusterID][]infra.Halt{}
	for _, h := range all {
		out[h.Cluster] = append(out[h.Cluster], h)
	}
	for id, list := range out {
		sorting.By(list, func(a, b infra.Halt) int {
			return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
		})
		out[id] = slices.Compact(list)
	}
	return out
}
