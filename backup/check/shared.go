package check

import "drift-detector/backup"

// Shared gathers findings on what several clusters use: one for each object, with all
// of its users. The zero value is ready for use.
type Shared struct {
	all []Finding
	at  map[sharedObject]int
}

type sharedObject struct {
	backup int
	object string
}

// Add adds a finding, or its users to the one on the same object.
func (s *Shared) Add(f Finding, users ...backup.ClusterID) {
	k := sharedObject{f.Backup, f.Object}
	i, known := s.at[k]
	if !known {
		if s.at == nil {
			s.at = map[sharedObject]int{}
		}
		i, s.at[k] = len(s.all), len(s.all)
		s.all = append(s.all, f)
	}
	s.all[i].Clusters = append(s.all[i].Clusters, users...)
}

// Findings returns those that were added; their messages say how many clusters they concern.
func (s *Shared) Findings() []Finding {
	out := make([]Finding, len(s.all))
	for i := range s.all {
		f := s.all[i].Of()
		out[i] = f.And("used by " + count(len(f.Clusters), "cluster"))
	}
	return out
}
